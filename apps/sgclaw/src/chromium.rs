//! Finds and starts a Chromium with its DevTools pipe.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use command_fds::{CommandFdExt, FdMapping};
use nix::fcntl::OFlag;
use nix::sys::signal::{Signal, killpg};
use nix::unistd::{Pid, pipe2};

use crate::platform::{self, ReadOutcome, WriteOutcome};

/// A longer message of the browser means that something has gone wrong there.
const MAX_MESSAGE: usize = 256 * 1024 * 1024;

/// How much one call of [`Chromium::read_messages`] reads at most, so that the caller's loop turns.
const MAX_READ: usize = 4 * 1024 * 1024;

const HEADLESS_NAMES: &[&str] = &["chromium-headless-shell", "chrome-headless-shell"];
const NAMES: &[&str] =
    &["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "microsoft-edge"];

const FLAGS: &[&str] = &[
    "--remote-debugging-pipe",
    "--disable-background-networking",
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-breakpad",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-dev-shm-usage",
    "--disable-extensions",
    // Pages restored from it or rendered ahead would be documents that no navigation was seen for.
    "--disable-features=BackForwardCache,Prerender2,HttpsUpgrades,Translate",
    "--disable-hang-monitor",
    "--disable-quic",
    "--disable-renderer-backgrounding",
    "--disable-sync",
    "--no-default-browser-check",
    "--no-first-run",
    "--password-store=basic",
    "--use-mock-keychain",
    // The same on every machine, and no less than pages are made for.
    "--window-size=1280,900",
    // A frame of another site is a process and a session of its own, always.
    "--site-per-process",
];

/// Why there is no browser.
#[derive(Debug)]
pub enum BrowserError {
    /// None of the known programs is on PATH.
    NotFound,
    /// The program that was asked for is not there.
    NoSuchProgram(PathBuf),
    /// It could not be started.
    Start(PathBuf, io::Error),
}

impl std::fmt::Display for BrowserError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            BrowserError::NotFound => f.write_str(
                "no Chromium on PATH: install one (Debian: apt-get install chromium), or name one with --browser",
            ),
            BrowserError::NoSuchProgram(path) => write!(
                f,
                "there is no program {}: name a Chromium with --browser, or install one (Debian: apt-get install chromium)",
                path.display()
            ),
            BrowserError::Start(path, error) => write!(f, "cannot start {}: {error}", path.display()),
        }
    }
}

impl std::error::Error for BrowserError {}

/// How to start the browser.
#[derive(Clone, Debug, Default)]
pub struct LaunchOptions {
    /// The program; found on PATH where it is not given.
    pub program: Option<PathBuf>,
    /// Show the window.
    pub headful: bool,
    /// What to show first; `about:blank` where it is not given.
    pub url: Option<String>,
    /// More command-line arguments.
    pub arguments: Vec<OsString>,
}

/// A running Chromium, spoken to over its DevTools pipe. Both ends are non-blocking: poll
/// [`Self::reader_fd`] for input always, and [`Self::writer_fd`] for output while
/// [`Self::wants_write`].
///
/// Dropping it kills the browser's process group, waits for the browser and removes its profile.
pub struct Chromium {
    child: Child,
    reader: File,
    writer: Option<File>,
    read: Vec<u8>,
    /// How much of `read` holds no NUL.
    scanned: usize,
    unwritten: VecDeque<Vec<u8>>,
    /// How much of the first of `unwritten` is written.
    written: usize,
    ended: bool,
    _profile: Profile,
}

impl Chromium {
    /// The browser to use: `program`, or the first known one on PATH, headless shells first.
    ///
    /// # Errors
    /// [`BrowserError::NotFound`], [`BrowserError::NoSuchProgram`].
    pub fn find(program: Option<&Path>) -> Result<PathBuf, BrowserError> {
        Self::find_for(program, false)
    }

    fn find_for(program: Option<&Path>, headful: bool) -> Result<PathBuf, BrowserError> {
        if let Some(program) = program {
            let found = if program.components().count() > 1 {
                program.is_file().then(|| program.to_owned())
            } else {
                program.to_str().and_then(on_path)
            };
            return found.ok_or_else(|| BrowserError::NoSuchProgram(program.to_owned()));
        }
        // A headless shell starts four times faster, and has no window to show.
        let shells = if headful { &[] } else { HEADLESS_NAMES };
        shells.iter().chain(NAMES).find_map(|name| on_path(name)).ok_or(BrowserError::NotFound)
    }

    /// Starts a browser with a fresh profile, in a process group of its own.
    ///
    /// # Errors
    /// [`BrowserError`]
    pub fn launch(options: &LaunchOptions) -> Result<Chromium, BrowserError> {
        let program = Self::find_for(options.program.as_deref(), options.headful)?;
        Self::start(&program, options).map_err(|error| BrowserError::Start(program, error))
    }

    fn start(program: &Path, options: &LaunchOptions) -> io::Result<Chromium> {
        let profile = Profile::new()?;
        // Close-on-exec, so that no other child of ours holds the pipe open.
        let (commands, writer) = pipe2(OFlag::O_CLOEXEC)?;
        let (reader, messages) = pipe2(OFlag::O_CLOEXEC)?;
        platform::set_nonblocking(writer.as_fd())?;
        platform::set_nonblocking(reader.as_fd())?;
        let mut data = OsString::from("--user-data-dir=");
        data.push(&profile.path);
        let mut command = Command::new(program);
        command.args(FLAGS).arg(data);
        if !options.headful {
            command.args(["--headless", "--disable-gpu", "--hide-scrollbars", "--mute-audio"]);
        }
        if nix::unistd::geteuid().is_root() {
            command.arg("--no-sandbox");
        }
        command.args(&options.arguments).arg(options.url.as_deref().unwrap_or("about:blank"));
        // Its stderr has no bound and nobody reads it.
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.process_group(0);
        command
            .fd_mappings(vec![fd_mapping(commands, 3), fd_mapping(messages, 4)])
            .map_err(|_| io::Error::other("two mappings for one descriptor"))?;
        let child = command.spawn()?;
        Ok(Chromium {
            child,
            reader: File::from(reader),
            writer: Some(File::from(writer)),
            read: Vec::new(),
            scanned: 0,
            unwritten: VecDeque::new(),
            written: 0,
            ended: false,
            _profile: profile,
        })
    }

    /// The id of the browser's process, which leads its process group.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Readable when [`Self::read_messages`] has something to do.
    pub fn reader_fd(&self) -> BorrowedFd<'_> {
        self.reader.as_fd()
    }

    /// Writable when [`Self::flush`] has something to do; `None` once the browser takes no more.
    pub fn writer_fd(&self) -> Option<BorrowedFd<'_>> {
        self.writer.as_ref().map(AsFd::as_fd)
    }

    /// Reads what is there, at most 4 MiB, and returns the messages that are complete. Never blocks.
    /// After an empty answer ask [`Self::has_ended`].
    ///
    /// # Errors
    /// A message above 256 MiB.
    pub fn read_messages(&mut self) -> io::Result<Vec<Vec<u8>>> {
        let mut chunk = vec![0; 64 * 1024];
        let mut total: usize = 0;
        while total < MAX_READ && !self.ended {
            match platform::read(&mut self.reader, &mut chunk) {
                ReadOutcome::Data(length) => {
                    total = total.saturating_add(length);
                    self.read.extend_from_slice(chunk.get(..length).unwrap_or_default());
                }
                ReadOutcome::WouldBlock => break,
                ReadOutcome::End => self.ended = true,
            }
        }
        let mut messages = Vec::new();
        let unseen = self.read.get(self.scanned..).unwrap_or_default();
        if let Some(last) = unseen.iter().rposition(|byte| *byte == 0) {
            let end = self.scanned.saturating_add(last);
            let rest = self.read.split_off(end.saturating_add(1));
            let mut whole = std::mem::replace(&mut self.read, rest);
            whole.truncate(end);
            messages.extend(whole.split(|byte| *byte == 0).map(<[u8]>::to_vec));
        }
        self.scanned = self.read.len();
        if self.read.len() > MAX_MESSAGE {
            return Err(io::Error::other("a message of the browser is longer than 256 MiB"));
        }
        Ok(messages)
    }

    /// Whether the browser has closed its side. Nothing will be read any more.
    pub fn has_ended(&self) -> bool {
        self.ended
    }

    /// The pipe is broken: nothing is read or written any more.
    pub fn close(&mut self) {
        self.ended = true;
        self.writer = None;
    }

    /// Takes a message for the browser; [`Self::flush`] writes it.
    pub fn queue(&mut self, mut message: Vec<u8>) {
        message.push(0);
        self.unwritten.push_back(message);
    }

    /// Whether something waits to be written.
    pub fn wants_write(&self) -> bool {
        self.writer.is_some() && !self.unwritten.is_empty()
    }

    /// Writes as much as the pipe takes. Never blocks. Where the browser reads no more the rest is
    /// dropped: its end is told by [`Self::has_ended`].
    pub fn flush(&mut self) {
        while let (Some(writer), Some(message)) = (self.writer.as_mut(), self.unwritten.front()) {
            match platform::write(writer, message.get(self.written..).unwrap_or_default()) {
                WriteOutcome::Wrote(length) => {
                    self.written = self.written.saturating_add(length);
                    if self.written >= message.len() {
                        self.unwritten.pop_front();
                        self.written = 0;
                    }
                }
                WriteOutcome::WouldBlock => break,
                WriteOutcome::Closed => {
                    self.writer = None;
                    self.unwritten.clear();
                }
            }
        }
    }
}

impl Drop for Chromium {
    fn drop(&mut self) {
        self.writer = None;
        if let Ok(id) = i32::try_from(self.child.id()) {
            let group = Pid::from_raw(id);
            let _ = killpg(group, Signal::SIGKILL);
            let _ = self.child.wait();
            // The rest of the group dies a moment later, and until then writes to the profile.
            let end = Instant::now() + Duration::from_secs(2);
            while platform::group_is_alive(group) && Instant::now() < end {
                let _ = killpg(group, Signal::SIGKILL);
                std::thread::sleep(Duration::from_millis(5));
            }
        }
    }
}

fn fd_mapping(parent_fd: OwnedFd, child_fd: i32) -> FdMapping {
    FdMapping { parent_fd, child_fd }
}

fn on_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|directory| directory.join(name)).find(|program| program.is_file())
}

/// A directory that goes when this goes.
struct Profile {
    path: PathBuf,
}

impl Profile {
    fn new() -> io::Result<Profile> {
        let mut random = [0; 8];
        getrandom::fill(&mut random).map_err(io::Error::other)?;
        let name = format!("sgclaw-chromium-{:016x}", u64::from_le_bytes(random));
        let path = std::env::temp_dir().join(name);
        // Cookies lie in it: for this user's eyes only.
        std::fs::DirBuilder::new().mode(0o700).create(&path)?;
        Ok(Profile { path })
    }
}

impl Drop for Profile {
    fn drop(&mut self) {
        for _ in 0..20 {
            match std::fs::remove_dir_all(&self.path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    std::thread::sleep(Duration::from_millis(25));
                }
                _ => return,
            }
        }
    }
}
