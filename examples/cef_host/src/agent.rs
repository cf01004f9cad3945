//! The agent's process, away from the UI thread: what blocks are small threads, one for each pipe and
//! one for the end of the process, that post what they have to the session.

use std::ffi::OsString;
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::process::ChildStdin;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use sgclaw::Host;
use sgclaw::pipe::ChildExit;
use sgclaw_cli::platform::{self, AgentProcess, Interest, ReadOutcome, WriteOutcome};
use zeroize::Zeroizing;

/// What a thread hands over at a time.
const CHUNK: usize = 65_536;

/// One of the two pipes that the agent writes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    Stdout,
    Stderr,
}

/// What the agent's process did.
pub enum AgentEvent {
    /// These bytes came.
    Read(Stream, Vec<u8>),
    /// Nothing comes from there any more.
    End(Stream),
    /// This much of the host's output is written.
    Written(usize),
    /// The agent reads no more.
    Closed,
    /// The process has ended: [`Agent::reap`].
    Exited,
}

/// The agent's process and the threads around it. Each pipe has one chunk under way at a time, so that
/// neither an agent that writes without end nor one that does not read makes memory grow.
pub struct Agent {
    process: AgentProcess,
    threads: Option<Threads>,
    /// A chunk of stdout was asked for and has not come.
    reading: bool,
    /// A chunk of output was handed over and is not written.
    writing: bool,
    /// Stdin is to be closed once the output is written.
    closing: bool,
    /// Pipes that the agent may still write to.
    open: u8,
}

struct Threads {
    /// `None` once stdin is closed, or closes after what was handed over.
    stdin: Option<Sender<Zeroizing<Vec<u8>>>>,
    stdout: Sender<()>,
    stderr: Sender<()>,
}

impl Agent {
    /// Starts the process. Nobody speaks with it before [`Agent::listen`].
    pub fn spawn(command: &OsString, arguments: &[OsString]) -> io::Result<Self> {
        let process = AgentProcess::spawn(command, arguments)?;
        Ok(Agent { process, threads: None, reading: false, writing: false, closing: false, open: 2 })
    }

    /// Starts the threads, which call `notify`.
    pub fn listen(&mut self, notify: impl Fn(AgentEvent) + Clone + Send + 'static) -> io::Result<()> {
        let process = &mut self.process;
        let pipes = (process.stdin.take(), process.stdout.take(), process.stderr.take());
        let (Some(stdin), Some(stdout), Some(stderr)) = pipes else { return Ok(()) };
        let (output, waiting) = channel();
        let tell = notify.clone();
        spawn("agent stdin", move || write_all(stdin, &waiting, &tell))?;
        let (stdout_permits, permits) = channel();
        let tell = notify.clone();
        spawn("agent stdout", move || read_all(Stream::Stdout, stdout, &permits, &tell))?;
        let (stderr_permits, permits) = channel();
        let tell = notify.clone();
        spawn("agent stderr", move || read_all(Stream::Stderr, stderr, &permits, &tell))?;
        let wait = self.process.waiter();
        spawn("agent exit", move || {
            wait();
            notify(AgentEvent::Exited);
        })?;
        let _first = stderr_permits.send(());
        self.threads = Some(Threads { stdin: Some(output), stdout: stdout_permits, stderr: stderr_permits });
        Ok(())
    }

    /// Keeps the books. After each event, before [`Agent::exchange`].
    pub fn note(&mut self, event: &AgentEvent) {
        match event {
            AgentEvent::Read(Stream::Stdout, _) => self.reading = false,
            AgentEvent::Read(Stream::Stderr, _) => {
                if let Some(threads) = &self.threads {
                    let _next = threads.stderr.send(());
                }
            }
            AgentEvent::Written(_) => self.writing = false,
            AgentEvent::Closed => self.hang_up(),
            AgentEvent::End(_) => self.open = self.open.saturating_sub(1),
            AgentEvent::Exited => {}
        }
    }

    /// Hands the host's output to the threads, and asks them for the agent's where the host wants it.
    pub fn exchange(&mut self, host: &Host) {
        let Some(threads) = &self.threads else { return };
        if !self.reading && host.wants_input() {
            self.reading = threads.stdout.send(()).is_ok();
        }
        if self.writing {
            return;
        }
        let output = host.output();
        let chunk = output.get(..CHUNK).unwrap_or(output);
        if chunk.is_empty() {
            if self.closing {
                self.hang_up();
            }
        } else if let Some(stdin) = &threads.stdin {
            self.writing = stdin.send(Zeroizing::new(chunk.to_vec())).is_ok();
        }
    }

    fn hang_up(&mut self) {
        if let Some(threads) = &mut self.threads {
            threads.stdin = None;
        }
    }

    /// Closes the agent's stdin, once the host's output is written.
    pub fn close_stdin(&mut self) {
        self.closing = true;
    }

    /// Whether everything that the agent wrote was read.
    pub fn is_read(&self) -> bool {
        self.open == 0
    }

    /// Asks the agent's process group to end.
    pub fn terminate(&self) {
        self.process.terminate();
    }

    /// Kills the agent's process group.
    pub fn kill(&self) {
        self.process.kill();
    }

    /// After [`AgentEvent::Exited`]: kills what is left of the group, and how the process ended.
    pub fn reap(&mut self) -> Option<ChildExit> {
        self.process.try_reap()
    }
}

fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    // Not joined: where a process that left the agent's group holds a pipe open a thread ends with us.
    thread::Builder::new().name(name.to_owned()).spawn(work).map(drop)
}

fn read_all(stream: Stream, mut pipe: impl Read + AsFd, permits: &Receiver<()>, tell: &dyn Fn(AgentEvent)) {
    let mut buffer = vec![0; CHUNK];
    while permits.recv().is_ok() {
        let count = loop {
            match platform::read(&mut pipe, &mut buffer) {
                ReadOutcome::Data(count) => break count,
                ReadOutcome::End => return tell(AgentEvent::End(stream)),
                ReadOutcome::WouldBlock => {
                    let _again = platform::wait(&[(pipe.as_fd(), Interest::Read)], None);
                }
            }
        };
        tell(AgentEvent::Read(stream, buffer.get(..count).unwrap_or_default().to_vec()));
    }
}

fn write_all(mut pipe: ChildStdin, waiting: &Receiver<Zeroizing<Vec<u8>>>, tell: &dyn Fn(AgentEvent)) {
    while let Ok(bytes) = waiting.recv() {
        let mut rest = bytes.as_slice();
        while !rest.is_empty() {
            match platform::write(&mut pipe, rest) {
                WriteOutcome::Wrote(count) => rest = rest.get(count..).unwrap_or_default(),
                WriteOutcome::Closed => return tell(AgentEvent::Closed),
                WriteOutcome::WouldBlock => {
                    let _again = platform::wait(&[(pipe.as_fd(), Interest::Write)], None);
                }
            }
        }
        tell(AgentEvent::Written(bytes.len()));
    }
}
