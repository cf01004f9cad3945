//! What executes the commands of a session: Chromium, or the page in memory.

use std::os::fd::BorrowedFd;
use std::path::PathBuf;
use std::sync::Arc;

use sgclaw::{Authorized, Domain, Failure, JsonObject, Policy, Time, WhatwgUrlParser};

use crate::clock::Clock;
use crate::memory::MemoryBrowser;
use crate::platform::Interest;

/// What a browser reports to the session.
#[derive(Debug)]
pub enum BrowserEvent {
    /// The document of the tab is on this domain now; `None` where it has no host.
    PageChanged(Option<Domain>),
    /// A command is done.
    Completed { seq: u64, outcome: Result<JsonObject, Failure> },
    /// The browser is gone; commands fail from now on.
    Gone,
}

/// `--browser`
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BrowserChoice {
    /// The Chromium that is installed.
    Auto,
    /// The page in memory.
    Memory,
    /// This Chromium.
    Path(PathBuf),
}

impl std::str::FromStr for BrowserChoice {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(match text {
            "auto" => BrowserChoice::Auto,
            "memory" => BrowserChoice::Memory,
            path => BrowserChoice::Path(path.into()),
        })
    }
}

/// One of the browsers.
pub enum Browser {
    /// The page in memory.
    Memory(MemoryBrowser),
}

impl Browser {
    /// Starts a browser and waits until it takes commands.
    ///
    /// # Errors
    /// One readable line: what is missing and how to install it.
    pub fn start(
        choice: &BrowserChoice,
        url: Option<&str>,
        _headful: bool,
        _policy: Arc<Policy>,
        _clock: &Clock,
    ) -> Result<Self, String> {
        match choice {
            BrowserChoice::Memory => Ok(Browser::Memory(MemoryBrowser::new(url, Arc::new(WhatwgUrlParser)))),
            BrowserChoice::Auto | BrowserChoice::Path(_) => Err(format!("{choice:?}: apt-get install")),
        }
    }

    /// Runs a command; it ends with [`BrowserEvent::Completed`] unless it is cancelled.
    pub fn execute(&mut self, command: Authorized, now: Time) {
        match self {
            Browser::Memory(memory) => memory.execute(command, now),
        }
    }

    /// Leaves a command.
    pub fn cancel(&mut self, seq: u64, _now: Time) {
        match self {
            Browser::Memory(memory) => memory.cancel(seq),
        }
    }

    /// Another policy is in force.
    pub fn set_policy(&mut self, _policy: Arc<Policy>) {
        match self {
            Browser::Memory(_) => {}
        }
    }

    /// The next event.
    pub fn poll_event(&mut self) -> Option<BrowserEvent> {
        match self {
            Browser::Memory(memory) => memory.poll_event(),
        }
    }

    /// When to call [`Browser::handle_timeout`].
    pub fn poll_timeout(&self) -> Option<Time> {
        match self {
            Browser::Memory(memory) => memory.poll_timeout(),
        }
    }

    /// The time has come.
    pub fn handle_timeout(&mut self, now: Time) {
        match self {
            Browser::Memory(memory) => memory.handle_timeout(now),
        }
    }

    /// What to wait for; then call [`Browser::exchange`].
    pub fn fds(&self) -> Vec<(BorrowedFd<'_>, Interest)> {
        match self {
            Browser::Memory(_) => Vec::new(),
        }
    }

    /// Writes and reads what can be written and read without waiting.
    pub fn exchange(&mut self, _now: Time) {
        match self {
            Browser::Memory(_) => {}
        }
    }
}
