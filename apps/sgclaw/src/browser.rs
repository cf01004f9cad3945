//! What executes the commands of a session: Chromium, or the page in memory.

use std::os::fd::BorrowedFd;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use sgclaw::browser::{Executor, ExecutorConfig, ExecutorEvent};
use sgclaw::{Authorized, Domain, Failure, JsonObject, Policy, Time, WhatwgUrlParser};

use crate::chromium::{Chromium, LaunchOptions};
use crate::clock::Clock;
use crate::memory::MemoryBrowser;
use crate::platform::{self, Interest, Signals};

/// How long a browser may take until it takes commands.
const START: Duration = Duration::from_secs(30);
/// How long the first page may take until it has a domain; then the agent starts all the same.
const FIRST_PAGE: Duration = Duration::from_secs(10);

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
    /// A Chromium and the executor on its DevTools pipe.
    Chromium { chromium: Box<Chromium>, executor: Box<Executor> },
}

impl Browser {
    /// Starts a browser and waits until it takes commands; says on which domain its page is then.
    ///
    /// # Errors
    /// One readable line: what is missing and how to install it.
    pub fn start(
        choice: &BrowserChoice,
        url: Option<&str>,
        headful: bool,
        policy: Arc<Policy>,
        clock: &Clock,
        signals: &mut Signals,
    ) -> Result<(Self, Option<Domain>), String> {
        let program = match choice {
            BrowserChoice::Memory => {
                let memory = MemoryBrowser::new(url, Arc::new(WhatwgUrlParser));
                let page = memory.page();
                return Ok((Browser::Memory(memory), page));
            }
            BrowserChoice::Auto => None,
            BrowserChoice::Path(path) => Some(path.clone()),
        };
        let options = LaunchOptions { program, headful, url: url.map(str::to_owned), arguments: Vec::new() };
        let chromium = Chromium::launch(&options).map_err(|error| error.to_string())?;
        let executor = Executor::new(ExecutorConfig::new(Arc::new(WhatwgUrlParser), policy));
        let mut browser = Browser::Chromium { chromium: Box::new(chromium), executor: Box::new(executor) };
        let page = browser.wait_until_ready(url.is_some(), clock, signals)?;
        Ok((browser, page))
    }

    fn wait_until_ready(
        &mut self,
        wait_for_page: bool,
        clock: &Clock,
        signals: &mut Signals,
    ) -> Result<Option<Domain>, String> {
        let start = clock.now();
        let (mut ready, mut page) = (false, None);
        if let Browser::Chromium { executor, .. } = self {
            executor.start(start);
        }
        loop {
            let now = clock.now();
            self.exchange(now);
            self.handle_timeout(now);
            if let Browser::Chromium { executor, .. } = self {
                while let Some(event) = executor.poll_event() {
                    match event {
                        ExecutorEvent::Ready => ready = true,
                        ExecutorEvent::PageChanged { domain } => page = domain,
                        ExecutorEvent::Disconnected => {
                            return Err("the browser ended while it was starting".into());
                        }
                        _ => {}
                    }
                }
            }
            let waited = now.since(start);
            if ready && (!wait_for_page || page.is_some() || waited >= FIRST_PAGE) {
                return Ok(page);
            }
            if waited >= START {
                return Err(format!("the browser did not answer within {} s", START.as_secs()));
            }
            let mut fds = self.fds();
            fds.extend(signals.fds().map(|fd| (fd, Interest::Read)));
            platform::wait(&fds, Some(Duration::from_millis(20)))
                .map_err(|error| format!("cannot wait for the browser: {error}"))?;
            if signals.take().0 {
                return Err("a signal asked to stop while the browser was starting".into());
            }
        }
    }

    /// Runs a command; it ends with [`BrowserEvent::Completed`] unless it is cancelled.
    pub fn execute(&mut self, command: Authorized, now: Time) {
        match self {
            Browser::Memory(memory) => memory.execute(command, now),
            Browser::Chromium { executor, .. } => executor.execute(command, now),
        }
    }

    /// Leaves a command.
    pub fn cancel(&mut self, seq: u64, now: Time) {
        match self {
            Browser::Memory(memory) => memory.cancel(seq),
            Browser::Chromium { executor, .. } => executor.cancel(seq, now),
        }
    }

    /// Another policy is in force.
    pub fn set_policy(&mut self, policy: Arc<Policy>) {
        match self {
            Browser::Memory(_) => {}
            Browser::Chromium { executor, .. } => executor.set_policy(policy),
        }
    }

    /// The next event.
    pub fn poll_event(&mut self) -> Option<BrowserEvent> {
        match self {
            Browser::Memory(memory) => memory.poll_event(),
            Browser::Chromium { executor, .. } => loop {
                return Some(match executor.poll_event()? {
                    ExecutorEvent::PageChanged { domain } => BrowserEvent::PageChanged(domain),
                    ExecutorEvent::Completed { seq, outcome } => BrowserEvent::Completed { seq, outcome },
                    ExecutorEvent::Disconnected => BrowserEvent::Gone,
                    _ => continue,
                });
            },
        }
    }

    /// When to call [`Browser::handle_timeout`].
    pub fn poll_timeout(&self) -> Option<Time> {
        match self {
            Browser::Memory(memory) => memory.poll_timeout(),
            Browser::Chromium { executor, .. } => executor.poll_timeout(),
        }
    }

    /// The time has come.
    pub fn handle_timeout(&mut self, now: Time) {
        match self {
            Browser::Memory(memory) => memory.handle_timeout(now),
            Browser::Chromium { executor, .. } => executor.handle_timeout(now),
        }
    }

    /// What to wait for; then call [`Browser::exchange`].
    pub fn fds(&self) -> Vec<(BorrowedFd<'_>, Interest)> {
        match self {
            Browser::Chromium { chromium, .. } if !chromium.has_ended() => {
                let writer = chromium.writer_fd().filter(|_| chromium.wants_write());
                let reader = (chromium.reader_fd(), Interest::Read);
                writer.map(|fd| (fd, Interest::Write)).into_iter().chain([reader]).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Writes and reads what can be written and read without waiting, until nothing moves: what is
    /// read may ask for an answer, and what waits here wakes nobody. Whether anything was read.
    pub fn exchange(&mut self, now: Time) -> bool {
        let Browser::Chromium { chromium, executor } = self else { return false };
        let mut any = false;
        while !chromium.has_ended() {
            while let Some(message) = executor.poll_message() {
                chromium.queue(message);
            }
            chromium.flush();
            let read = chromium.read_messages();
            if read.is_err() {
                chromium.close();
            }
            for message in read.iter().flatten() {
                executor.handle_message(message, now);
            }
            if chromium.has_ended() {
                executor.handle_disconnect(now);
            } else if read.iter().flatten().next().is_none() {
                break;
            }
            any = true;
        }
        any
    }
}
