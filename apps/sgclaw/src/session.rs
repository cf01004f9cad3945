//! A session on real processes: one loop that waits for the agent's pipes, the browser, signals and
//! deadlines, and drives the host's state machine with them. Nothing in it blocks.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, IsTerminal};
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

use sgclaw::json::Value;
use sgclaw::pipe::TraceRecord;
use sgclaw::{ErrorCode, Host, HostEvent, JsonObject, Policy, State};

use crate::browser::{Browser, BrowserEvent};
use crate::clock::Clock;
use crate::platform::{self, AgentProcess, Interest, ReadOutcome, Signals, WriteOutcome};

/// How much of the agent's stderr is passed on at once, and how much more a second; the rest is read
/// and counted. A long session keeps its log, and a flood does not fill the disk.
const AGENT_STDERR_BURST: u64 = 1_048_576;
const AGENT_STDERR_PER_SECOND: u64 = 65_536;
/// What a pipe holds at most by default. A process that escaped the group must not keep the host
/// reading for ever.
const MAX_LEFT_IN_PIPE: usize = 1_048_576;
/// How long the output that waits may take when the child is about to be killed.
const LAST_WORDS: Duration = Duration::from_millis(100);
/// A child that exits closes its stdin a moment before its stdout. Only where the stdout stays open
/// for so long is a closed stdin a fault of its own.
const EXITING: Duration = Duration::from_millis(50);
const READ_BUFFER: usize = 65_536;

/// Who confirms where the policy asks for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Confirm {
    /// Ask on the terminal; deny where there is none.
    Ask,
    /// Allow everything.
    Allow,
    /// Deny everything.
    Deny,
}

/// What a session tells while it runs.
pub trait Observer {
    /// One readable line of the host.
    fn log(&mut self, line: &str);
    /// One line of the agent's stderr, made harmless.
    fn agent_line(&mut self, line: &str);
    /// A record of the trace.
    fn trace(&mut self, record: &TraceRecord);
    /// Everything that was told has to be on disk or screen before a wait.
    fn flush(&mut self) {}
    /// The policy is to be read again; `None` keeps the old one.
    fn reload_policy(&mut self) -> Option<Policy> {
        None
    }
}

/// How a session ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// `Stopped` or `Crashed`.
    pub state: State,
    /// Why it crashed.
    pub code: Option<ErrorCode>,
    /// One readable line.
    pub message: String,
}

/// A session in the making.
pub struct Session {
    pub host: Host,
    pub browser: Browser,
    pub confirm: Confirm,
    pub clock: Clock,
    pub signals: Signals,
}

impl Session {
    /// Runs the session to its end. The agent is gone then, and reaped.
    pub fn run(self, agent: AgentProcess, observer: &mut dyn Observer) -> io::Result<Ended> {
        let confirmations = Confirmations::new(self.confirm);
        let ended = Ended { state: State::Idle, code: None, message: String::new() };
        let mut running = Running {
            host: self.host,
            browser: self.browser,
            clock: self.clock,
            agent,
            signals: self.signals,
            confirmations,
            stderr: AgentStderr::default(),
            close_stdin: false,
            kill_at: None,
            stdin_fault_at: None,
            exited: false,
            ended,
            observer,
        };
        running.host.start(running.clock.now());
        running.run()?;
        Ok(running.ended)
    }
}

struct Running<'a> {
    host: Host,
    browser: Browser,
    clock: Clock,
    agent: AgentProcess,
    signals: Signals,
    confirmations: Confirmations,
    stderr: AgentStderr,
    close_stdin: bool,
    kill_at: Option<sgclaw::Time>,
    stdin_fault_at: Option<sgclaw::Time>,
    exited: bool,
    ended: Ended,
    observer: &'a mut dyn Observer,
}

impl Running<'_> {
    fn run(&mut self) -> io::Result<()> {
        loop {
            self.settle();
            self.observer.flush();
            if self.exited {
                self.stderr.finish(self.observer);
                return Ok(());
            }
            self.wait()?;
            let now = self.clock.now();
            self.browser.exchange(now);
            self.read_agent();
            while let Some((seq, allow)) = self.confirmations.read() {
                self.host.confirm(seq, allow, now);
                self.settle();
            }
            let (stop, reload) = self.signals.take();
            if stop {
                self.observer.log("a signal asks to stop");
                self.host.stop(now);
            }
            if reload && let Some(policy) = self.observer.reload_policy() {
                self.host.set_policy(policy);
                self.browser.set_policy(self.host.policy().clone());
            }
            let now = self.clock.now();
            if self.stdin_fault_at.is_some_and(|at| at <= now) {
                self.stdin_fault_at = None;
                self.host.handle_output_closed(now);
            }
            self.host.handle_timeout(now);
            self.browser.handle_timeout(now);
            self.reap();
        }
    }

    /// Moves everything that can move without waiting: events, trace, output.
    fn settle(&mut self) {
        loop {
            let now = self.clock.now();
            let mut moved = false;
            while let Some(event) = self.browser.poll_event() {
                moved = true;
                match event {
                    BrowserEvent::PageChanged(domain) => self.host.set_page(domain),
                    BrowserEvent::Completed { seq, outcome } => self.host.complete(seq, outcome, now),
                    BrowserEvent::Gone => {
                        self.observer
                            .log("INTERNAL_EXECUTOR_GONE: the browser is gone; commands fail from now on");
                    }
                }
            }
            while let Some(event) = self.host.poll_event() {
                moved = true;
                self.handle(event);
            }
            while let Some(record) = self.host.poll_trace() {
                self.observer.trace(&record);
            }
            moved |= self.write_agent();
            moved |= self.browser.exchange(now);
            if !moved {
                return;
            }
        }
    }

    fn handle(&mut self, event: HostEvent) {
        let now = self.clock.now();
        match event {
            HostEvent::StateChanged { state, code, message } => {
                let code_text = code.map(|code| format!("{code}: ")).unwrap_or_default();
                self.observer.log(&format!("{}: {code_text}{message}", state.as_str()));
                self.ended = Ended { state, code, message };
            }
            HostEvent::Execute(command) => self.browser.execute(command, now),
            HostEvent::Cancel { seq } => self.browser.cancel(seq, now),
            HostEvent::ConfirmationAsked { seq, action, expected_domain, params } => {
                let question = format!("seq {seq}: allow {action} on {expected_domain}?");
                let asked = format!("{question}{}", objects(&params));
                if let Some(allow) = self.confirmations.ask(seq, asked, self.observer) {
                    let answer = if allow { "allowed" } else { "denied" };
                    self.observer.log(&format!("{question} {answer} without asking"));
                    self.host.confirm(seq, allow, now);
                }
            }
            HostEvent::ConfirmationOver { seq } => self.confirmations.withdraw(seq, self.observer),
            HostEvent::BreakerOpened { action } => self.observer.log(&format!(
                "the breaker of {action} is open: more than 10 failures in a row; the action is refused in this session"
            )),
            HostEvent::CloseStdin => self.close_stdin = true,
            HostEvent::Terminate => self.agent.terminate(),
            // What is written already may still be read: the answer that says why.
            HostEvent::Kill => self.kill_at = Some(now.after(LAST_WORDS)),
            other => self.observer.log(&format!("an event that this host does not know: {other:?}")),
        }
    }

    fn write_agent(&mut self) -> bool {
        let mut moved = false;
        loop {
            let bytes = self.host.output();
            if bytes.is_empty() || self.agent.stdin.is_none() {
                break;
            }
            match self.agent.write(bytes) {
                WriteOutcome::Wrote(count) => self.host.output_written(count),
                WriteOutcome::WouldBlock => break,
                WriteOutcome::Closed => {
                    self.agent.close_stdin();
                    self.stdin_fault_at = Some(self.clock.now().after(EXITING));
                }
            }
            moved = true;
        }
        if self.close_stdin && self.host.output().is_empty() {
            self.agent.close_stdin();
        }
        if self.kill_at.is_some() && self.host.output().is_empty() {
            self.agent.close_stdin();
        }
        moved
    }

    fn wait(&self) -> io::Result<()> {
        let mut fds: Vec<_> = self.signals.fds().into_iter().map(|fd| (fd, Interest::Read)).collect();
        if let Some(stdout) = &self.agent.stdout
            && self.host.wants_input()
        {
            fds.push((stdout.as_fd(), Interest::Read));
        }
        if let Some(stderr) = &self.agent.stderr {
            fds.push((stderr.as_fd(), Interest::Read));
        }
        if let Some(stdin) = &self.agent.stdin
            && !self.host.output().is_empty()
        {
            fds.push((stdin.as_fd(), Interest::Write));
        }
        fds.extend(self.confirmations.fd().map(|fd| (fd, Interest::Read)));
        fds.extend(self.browser.fds());
        let deadlines =
            [self.host.poll_timeout(), self.browser.poll_timeout(), self.kill_at, self.stdin_fault_at];
        let next = deadlines.into_iter().flatten().min();
        platform::wait(&fds, next.map(|at| self.clock.until(at)))?;
        Ok(())
    }

    fn read_agent(&mut self) {
        let mut buffer = [0; READ_BUFFER];
        // One read, so that a flood leaves room for deadlines and signals.
        if self.host.wants_input()
            && let Some(stdout) = &mut self.agent.stdout
        {
            match platform::read(stdout, &mut buffer) {
                ReadOutcome::Data(count) => {
                    self.host.handle_input(buffer.get(..count).unwrap_or_default(), self.clock.now());
                }
                ReadOutcome::WouldBlock => {}
                ReadOutcome::End => {
                    self.agent.stdout = None;
                    self.stdin_fault_at = None;
                    self.host.handle_end_of_input(self.clock.now());
                }
            }
        }
        if let Some(stderr) = &mut self.agent.stderr {
            match platform::read(stderr, &mut buffer) {
                ReadOutcome::Data(count) => {
                    self.stderr.take(
                        buffer.get(..count).unwrap_or_default(),
                        self.clock.now(),
                        self.observer,
                    );
                }
                ReadOutcome::WouldBlock => {}
                ReadOutcome::End => self.agent.stderr = None,
            }
        }
    }

    /// Sees whether the child has exited, and kills it when its time is over.
    fn reap(&mut self) {
        if self.kill_at.is_some_and(|at| at <= self.clock.now()) {
            self.kill_at = None;
            self.agent.kill();
        }
        let Some(exit) = self.agent.try_reap() else { return };
        // What it wrote before it exited still counts, and no more than that: the pipes' content.
        for _ in 0..MAX_LEFT_IN_PIPE / READ_BUFFER {
            self.read_agent();
        }
        self.agent.stdout = None;
        self.agent.stderr = None;
        self.host.handle_child_exit(exit, self.clock.now());
        self.settle();
        // A crash is told at once; how the agent ended is known only now.
        if self.ended.state == State::Crashed && !self.ended.message.contains(&exit.to_string()) {
            self.observer.log(&format!("the agent {exit}"));
            self.ended.message = format!("{}; the agent {exit}", self.ended.message);
        }
        self.exited = true;
    }
}

/// What a person who is asked should see of the params: the URL or the element, not a typed text.
fn objects(params: &JsonObject) -> String {
    let params = params.view();
    let shown = ["url", "selector"].iter().filter_map(|name| params.get(name).and_then(Value::as_str));
    shown.map(|text| format!(" ({})", harmless(&text.chars().take(200).collect::<String>()))).collect()
}

/// Without characters that a terminal would obey.
fn harmless(text: &str) -> String {
    text.chars().map(|c| if c.is_control() && c != '\t' { '\u{fffd}' } else { c }).collect()
}

/// The agent's stderr, line by line, bounded, without control characters: a terminal must not obey
/// an untrusted process.
#[derive(Default)]
pub struct AgentStderr {
    line: Vec<u8>,
    /// Bytes that were passed on and are not made up for by time.
    owed: u64,
    since: sgclaw::Time,
    dropped: usize,
}

impl AgentStderr {
    const MAX_LINE: usize = 4096;

    pub fn take(&mut self, bytes: &[u8], now: sgclaw::Time, observer: &mut dyn Observer) {
        let earned = now.since(self.since).as_micros() * u128::from(AGENT_STDERR_PER_SECOND) / 1_000_000;
        self.owed = self.owed.saturating_sub(u64::try_from(earned).unwrap_or(u64::MAX));
        self.since = now;
        for byte in bytes {
            if self.owed >= AGENT_STDERR_BURST {
                self.dropped = self.dropped.saturating_add(1);
                continue;
            }
            self.owed = self.owed.saturating_add(1);
            if *byte != b'\n' {
                self.line.push(*byte);
            }
            if *byte == b'\n' || self.line.len() >= Self::MAX_LINE {
                self.pass(observer);
            }
        }
    }

    fn pass(&mut self, observer: &mut dyn Observer) {
        let line = harmless(&String::from_utf8_lossy(&self.line));
        observer.agent_line(line.trim_end_matches('\u{fffd}'));
        self.line.clear();
    }

    pub fn finish(&mut self, observer: &mut dyn Observer) {
        if !self.line.is_empty() {
            self.pass(observer);
        }
        if self.dropped > 0 {
            observer.log(&format!("{} more bytes of the agent's stderr were read and dropped", self.dropped));
        }
    }
}

/// The questions to the person at the terminal, one at a time, in the order in which they came.
struct Confirmations {
    mode: Confirm,
    terminal: Option<File>,
    /// The first one is on the screen.
    asked: VecDeque<(u64, String)>,
    line: Vec<u8>,
}

impl Confirmations {
    fn new(mode: Confirm) -> Self {
        let stdin = io::stdin();
        // A handle of its own, without the buffer of `Stdin`, so that poll sees all there is.
        let terminal = (mode == Confirm::Ask && stdin.is_terminal())
            .then(|| stdin.as_fd().try_clone_to_owned().map(File::from).ok())
            .flatten();
        Confirmations { mode, terminal, asked: VecDeque::new(), line: Vec::new() }
    }

    /// Takes a question; the answer, where nobody needs to be asked.
    fn ask(&mut self, seq: u64, question: String, observer: &mut dyn Observer) -> Option<bool> {
        match self.mode {
            Confirm::Allow => Some(true),
            Confirm::Ask if self.terminal.is_some() => {
                self.asked.push_back((seq, question));
                if self.asked.len() == 1 {
                    self.show(observer);
                }
                None
            }
            Confirm::Ask | Confirm::Deny => Some(false),
        }
    }

    /// Puts the next question on the screen. What was typed before is no answer to it.
    fn show(&mut self, observer: &mut dyn Observer) {
        if let (Some((_, question)), Some(terminal)) = (self.asked.front(), &self.terminal) {
            self.line.clear();
            platform::discard_typed(terminal.as_fd());
            observer.log(&format!("{question} Type y and Enter to allow, anything else denies."));
        }
    }

    fn withdraw(&mut self, seq: u64, observer: &mut dyn Observer) {
        let shown = self.asked.front().is_some_and(|(first, _)| *first == seq);
        self.asked.retain(|(asked, _)| *asked != seq);
        if shown {
            self.show(observer);
        }
    }

    /// What to wait for while a question is on the screen.
    fn fd(&self) -> Option<BorrowedFd<'_>> {
        self.terminal.as_ref().filter(|_| !self.asked.is_empty()).map(AsFd::as_fd)
    }

    /// Reads what was typed; the answer to the question on the screen, where the line is whole.
    fn read(&mut self) -> Option<(u64, bool)> {
        let ready = platform::wait(&[(self.fd()?, Interest::Read)], Some(Duration::ZERO));
        if !ready.is_ok_and(|ready| ready.contains(&true)) {
            return None;
        }
        // The terminal hands out whole lines.
        let mut buffer = [0; 256];
        let ended = match platform::read(self.terminal.as_mut()?, &mut buffer) {
            ReadOutcome::Data(count) => {
                self.line.extend_from_slice(buffer.get(..count).unwrap_or_default());
                self.line.contains(&b'\n')
            }
            ReadOutcome::WouldBlock => false,
            ReadOutcome::End => true,
        };
        if !ended {
            return None;
        }
        let answer = String::from_utf8_lossy(&self.line).trim().to_lowercase();
        self.line.clear();
        Some((self.asked.front()?.0, answer == "y" || answer == "yes"))
    }
}
