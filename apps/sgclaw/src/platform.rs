//! Everything of the process host that is specific to POSIX: spawning, pipes that never block,
//! process groups, signals, reaping.

use std::ffi::OsString;
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::poll::{PollFd, PollFlags, PollTimeout};
use nix::sys::signal::{Signal, killpg};
use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid};
use nix::unistd::Pid;
use sgclaw::pipe::ChildExit;

/// What one read gave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadOutcome {
    /// This many bytes.
    Data(usize),
    /// Nothing now.
    WouldBlock,
    /// Nothing any more.
    End,
}

/// What one write did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteOutcome {
    /// This many bytes went.
    Wrote(usize),
    /// No room now.
    WouldBlock,
    /// Nobody reads any more.
    Closed,
}

/// A child in a process group of its own, with pipes that do not block. Whatever happens, the group
/// is killed and the child reaped when this is dropped.
pub struct AgentProcess {
    child: Child,
    pub stdin: Option<ChildStdin>,
    pub stdout: Option<ChildStdout>,
    pub stderr: Option<ChildStderr>,
    reaped: bool,
}

impl AgentProcess {
    /// Starts `command` with `arguments`. It inherits the environment.
    pub fn spawn(command: &OsString, arguments: &[OsString]) -> io::Result<Self> {
        let mut child = Command::new(command)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()?;
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let process = AgentProcess { child, stdin, stdout, stderr, reaped: false };
        for fd in [
            process.stdin.as_ref().map(AsFd::as_fd),
            process.stdout.as_ref().map(AsFd::as_fd),
            process.stderr.as_ref().map(AsFd::as_fd),
        ]
        .into_iter()
        .flatten()
        {
            set_nonblocking(fd)?;
        }
        Ok(process)
    }

    /// Writes to the child's stdin.
    pub fn write(&mut self, bytes: &[u8]) -> WriteOutcome {
        match &mut self.stdin {
            Some(stdin) => write(stdin, bytes),
            None => WriteOutcome::Closed,
        }
    }

    /// Closes the child's stdin.
    pub fn close_stdin(&mut self) {
        self.stdin = None;
    }

    /// Asks the child's group to end.
    pub fn terminate(&self) {
        self.signal_group(Signal::SIGTERM);
    }

    /// Kills the child's group.
    pub fn kill(&self) {
        self.signal_group(Signal::SIGKILL);
    }

    fn signal_group(&self, signal: Signal) {
        // Until the leader is reaped its group keeps the number; afterwards it might be another's.
        if !self.reaped {
            let _gone_already = killpg(self.pid(), signal);
        }
    }

    fn pid(&self) -> Pid {
        Pid::from_raw(self.child.id().cast_signed())
    }

    /// What waits, on a thread of its own, until the child has exited; then it is to be reaped. For hosts
    /// whose loop cannot wait for `SIGCHLD`.
    pub fn waiter(&self) -> impl FnOnce() + Send + 'static {
        let child = self.pid();
        let flags = WaitPidFlag::WEXITED | WaitPidFlag::WNOWAIT;
        move || while waitid(Id::Pid(child), flags) == Err(Errno::EINTR) {}
    }

    /// Where the child has exited: kills what is left of its group, reaps it, and says how it ended.
    pub fn try_reap(&mut self) -> Option<ChildExit> {
        if self.reaped {
            return None;
        }
        // Look without reaping, so that the group's number stays ours until the rest is killed.
        let flags = WaitPidFlag::WEXITED | WaitPidFlag::WNOWAIT | WaitPidFlag::WNOHANG;
        let exit = match waitid(Id::Pid(self.pid()), flags) {
            Ok(WaitStatus::Exited(_, code)) => ChildExit::Code(code),
            Ok(WaitStatus::Signaled(_, signal, _)) => ChildExit::Signal(signal as i32),
            _ => return None,
        };
        self.kill();
        let _status = self.child.wait();
        self.reaped = true;
        Some(exit)
    }
}

impl Drop for AgentProcess {
    fn drop(&mut self) {
        self.kill();
        if !self.reaped {
            let _status = self.child.wait();
        }
    }
}

/// Whether a process of this group still runs. What is dead and waits for init to reap it does not.
pub fn group_is_alive(group: Pid) -> bool {
    if killpg(group, None) == Err(Errno::ESRCH) {
        return false;
    }
    let Ok(processes) = std::fs::read_dir("/proc") else { return true };
    processes.flatten().any(|process| {
        let stat = std::fs::read_to_string(process.path().join("stat")).unwrap_or_default();
        // `pid (name) state ppid pgrp …`; a name may hold anything, a parenthesis too.
        let mut fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
        let alive = fields.next().is_some_and(|state| !matches!(state, "Z" | "X"));
        alive && fields.nth(1) == Some(&group.to_string())
    })
}

/// Makes reads and writes return instead of waiting.
pub fn set_nonblocking(fd: BorrowedFd<'_>) -> io::Result<()> {
    let flags = OFlag::from_bits_truncate(fcntl(fd, FcntlArg::F_GETFL)?);
    fcntl(fd, FcntlArg::F_SETFL(flags | OFlag::O_NONBLOCK))?;
    Ok(())
}

/// Forgets what was typed on a terminal and not read yet.
pub fn discard_typed(terminal: BorrowedFd<'_>) {
    let _no_terminal = nix::sys::termios::tcflush(terminal, nix::sys::termios::FlushArg::TCIFLUSH);
}

/// Reads once. An error of the pipe is its end.
pub fn read(from: &mut impl Read, buffer: &mut [u8]) -> ReadOutcome {
    loop {
        return match from.read(buffer) {
            Ok(0) => ReadOutcome::End,
            Ok(count) => ReadOutcome::Data(count),
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) if error.kind() == ErrorKind::WouldBlock => ReadOutcome::WouldBlock,
            Err(_) => ReadOutcome::End,
        };
    }
}

/// Writes once. An error of the pipe means that nobody reads. (Rust's runtime ignores `SIGPIPE`.)
pub fn write(to: &mut impl Write, bytes: &[u8]) -> WriteOutcome {
    loop {
        return match to.write(bytes) {
            Ok(count) => WriteOutcome::Wrote(count),
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) if error.kind() == ErrorKind::WouldBlock => WriteOutcome::WouldBlock,
            Err(_) => WriteOutcome::Closed,
        };
    }
}

/// Waits until one of `fds` is ready or `timeout` is over; says which are ready (also: at their end).
pub fn wait(fds: &[(BorrowedFd<'_>, Interest)], timeout: Option<Duration>) -> io::Result<Vec<bool>> {
    let mut polled: Vec<PollFd<'_>> = fds
        .iter()
        .map(|(fd, interest)| {
            let flags = match interest {
                Interest::Read => PollFlags::POLLIN,
                Interest::Write => PollFlags::POLLOUT,
            };
            PollFd::new(*fd, flags)
        })
        .collect();
    // Rounded up, so that a deadline has come when poll returns, and not almost.
    let timeout = match timeout {
        None => PollTimeout::NONE,
        Some(span) => {
            let millis = span.as_micros().div_ceil(1000).min(60_000);
            PollTimeout::try_from(i32::try_from(millis).unwrap_or(60_000)).unwrap_or(PollTimeout::NONE)
        }
    };
    match nix::poll::poll(&mut polled, timeout) {
        Ok(_) => Ok(polled.iter().map(|fd| fd.revents().is_some_and(|events| !events.is_empty())).collect()),
        Err(Errno::EINTR) => Ok(vec![false; fds.len()]),
        Err(error) => Err(error.into()),
    }
}

/// What to wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interest {
    Read,
    Write,
}

/// The signals that a host cares for, as bytes in pipes that poll can wait for.
pub struct Signals {
    child: UnixStream,
    stop: UnixStream,
    reload: UnixStream,
}

impl Signals {
    /// From now on SIGINT and SIGTERM ask to stop, SIGHUP to read the policy again, and SIGCHLD
    /// wakes.
    pub fn register() -> io::Result<Self> {
        use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGTERM};
        Ok(Signals {
            child: signal_pipe(&[SIGCHLD])?,
            stop: signal_pipe(&[SIGINT, SIGTERM])?,
            reload: signal_pipe(&[SIGHUP])?,
        })
    }

    /// What to wait for.
    pub fn fds(&self) -> [BorrowedFd<'_>; 3] {
        [self.child.as_fd(), self.stop.as_fd(), self.reload.as_fd()]
    }

    /// Which came: stop, reload.
    pub fn take(&mut self) -> (bool, bool) {
        drain(&mut self.child);
        (drain(&mut self.stop), drain(&mut self.reload))
    }
}

fn signal_pipe(signals: &[i32]) -> io::Result<UnixStream> {
    let (reader, writer) = UnixStream::pair()?;
    reader.set_nonblocking(true)?;
    for signal in signals {
        signal_hook::low_level::pipe::register(*signal, writer.try_clone()?)?;
    }
    Ok(reader)
}

fn drain(stream: &mut UnixStream) -> bool {
    let mut buffer = [0; 64];
    let mut any = false;
    while let ReadOutcome::Data(_) = read(stream, &mut buffer) {
        any = true;
    }
    any
}
