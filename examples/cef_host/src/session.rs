//! A session on the browser's UI thread: the host's state machine, the executor on the page's DevTools
//! session, the agent's process. Nothing here waits; each turn is a task of that thread.

use std::cell::RefCell;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use sgclaw::browser::{Executor, ExecutorEvent};
use sgclaw::pipe::ChildExit;
use sgclaw::{ErrorCode, Host, HostEvent, State, Time};
use sgclaw_cli::clock::Clock;
use sgclaw_cli::host::Log;
use sgclaw_cli::session::{AgentStderr, Ended, Observer};

use crate::agent::{Agent, AgentEvent, Stream};
use crate::cef::{self, Cef, Page, PageEvent};

/// How long the page may take until it takes commands.
const START: Duration = Duration::from_secs(30);
/// How long the first document may take until it has a domain; then the agent starts all the same.
const FIRST_DOCUMENT: Duration = Duration::from_secs(10);
/// How long the output that waits may take when the child is about to be killed, and what a child has
/// left in its pipes when it has ended.
const LAST_WORDS: Duration = Duration::from_millis(100);
/// A child that exits closes its stdin a moment before its stdout.
const EXITING: Duration = Duration::from_millis(50);

thread_local! {
    /// Where the tasks of the UI thread find its session.
    static SESSION: RefCell<Option<Session>> = const { RefCell::new(None) };
}

/// What comes from outside.
pub enum Event {
    Page(PageEvent),
    Agent(AgentEvent),
    /// A signal asks to stop.
    Stop,
    /// A signal asks to read the policy again.
    Reload,
}

/// Takes events on any thread, and in the middle of any call of CEF: each has a turn of its own later.
#[derive(Clone)]
pub struct Mailbox(Sender<Event>);

impl Mailbox {
    pub fn new() -> (Self, Receiver<Event>) {
        let (sender, receiver) = channel();
        (Mailbox(sender), receiver)
    }

    pub fn send(&self, event: Event) {
        if self.0.send(event).is_ok() {
            cef::post(turn);
        }
    }
}

/// The task that each event is posted with.
fn turn() {
    with_session(|session| {
        if let Ok(event) = session.events.try_recv() {
            session.take(event);
        }
        session.proceed();
    });
}

/// The task that is posted for the next deadline.
fn alarm() {
    with_session(|session| {
        session.progress.alarm = None;
        session.proceed();
    });
}

fn with_session(work: impl FnOnce(&mut Session)) {
    SESSION.with_borrow_mut(|session| session.as_mut().map(work));
}

/// A session, and what it acts on.
pub struct Session {
    pub host: Host,
    pub executor: Executor,
    pub page: Page,
    pub agent: Agent,
    pub clock: Clock,
    pub mailbox: Mailbox,
    pub events: Receiver<Event>,
    pub log: Log,
    pub progress: Progress,
}

/// How far a session has come.
#[derive(Default)]
pub struct Progress {
    began: Time,
    /// The page takes commands.
    ready: bool,
    /// A document of the page has had a domain.
    arrived: bool,
    /// The handshake has begun.
    started: bool,
    stderr: AgentStderr,
    stdin_fault_at: Option<Time>,
    kill_at: Option<Time>,
    /// How the child ended, and until when what it left in its pipes is read.
    exit: Option<(ChildExit, Time)>,
    page_closed: bool,
    over: bool,
    /// The last state that the host entered.
    ended: Option<Ended>,
    /// The delayed task that is on its way.
    alarm: Option<Time>,
}

impl Session {
    /// Runs a session to its end: the page is closed then, the agent gone and reaped.
    pub fn run(mut self, cef: &Cef) -> Ended {
        self.progress.began = self.clock.now();
        self.executor.start(self.progress.began);
        SESSION.set(Some(self));
        cef::post(turn);
        cef.run();
        // Outside `SESSION`, since what is dropped with it may still post a turn.
        let session = SESSION.take();
        session.and_then(|session| session.progress.ended).unwrap_or_else(|| Ended {
            state: State::Crashed,
            code: Some(ErrorCode::InternalUnknown),
            message: "Chromium ended the loop".to_owned(),
        })
    }

    fn take(&mut self, event: Event) {
        let now = self.clock.now();
        match event {
            Event::Page(PageEvent::Message(message)) => self.executor.handle_message(&message, now),
            Event::Page(PageEvent::Detached) => self.executor.handle_disconnect(now),
            Event::Page(PageEvent::Closed) => {
                self.progress.page_closed = true;
                self.executor.handle_disconnect(now);
            }
            Event::Agent(event) => self.take_from_agent(event, now),
            Event::Stop => {
                self.log.log("a signal asks to stop");
                self.host.stop(now);
            }
            Event::Reload => {
                if let Some(policy) = self.log.reload_policy() {
                    self.host.set_policy(policy);
                    self.executor.set_policy(self.host.policy().clone());
                }
            }
        }
    }

    fn take_from_agent(&mut self, event: AgentEvent, now: Time) {
        self.agent.note(&event);
        match event {
            AgentEvent::Read(Stream::Stdout, bytes) => self.host.handle_input(&bytes, now),
            AgentEvent::Read(Stream::Stderr, bytes) => {
                self.progress.stderr.take(&bytes, now, &mut self.log);
            }
            AgentEvent::End(Stream::Stdout) => {
                self.progress.stdin_fault_at = None;
                self.host.handle_end_of_input(now);
            }
            AgentEvent::End(Stream::Stderr) => {}
            AgentEvent::Written(count) => self.host.output_written(count),
            AgentEvent::Closed => self.progress.stdin_fault_at = Some(now.after(EXITING)),
            AgentEvent::Exited => {
                self.progress.exit = self.agent.reap().map(|exit| (exit, now.after(LAST_WORDS)));
            }
        }
    }

    /// Does what can be done now, and sees to it that there is a turn when there is more.
    fn proceed(&mut self) {
        if !self.progress.over {
            self.handle_timeout();
            self.settle();
            self.start_when_ready();
            self.settle();
        }
        self.log.flush();
        if self.progress.over {
            if self.progress.page_closed {
                cef::quit();
            } else {
                self.page.close();
            }
            return;
        }
        self.set_alarm();
    }

    fn handle_timeout(&mut self) {
        let now = self.clock.now();
        let due = |at: &mut Option<Time>| at.take_if(|at| *at <= now).is_some();
        if due(&mut self.progress.stdin_fault_at) {
            self.host.handle_output_closed(now);
        }
        if due(&mut self.progress.kill_at) {
            self.agent.kill();
        }
        self.host.handle_timeout(now);
        self.executor.handle_timeout(now);
        if let Some((exit, until)) = self.progress.exit
            && (self.agent.is_read() || until <= now)
        {
            self.host.handle_child_exit(exit, now);
            self.settle();
            self.conclude(exit);
        }
    }

    /// A crash is told at once; how the agent ended is known only now.
    fn conclude(&mut self, exit: ChildExit) {
        self.progress.stderr.finish(&mut self.log);
        if let Some(ended) = &mut self.progress.ended
            && ended.state == State::Crashed
            && !ended.message.contains(&exit.to_string())
        {
            self.log.log(&format!("the agent {exit}"));
            ended.message = format!("{}; the agent {exit}", ended.message);
        }
        self.progress.over = true;
    }

    /// Begins the handshake once the page takes commands.
    fn start_when_ready(&mut self) {
        if self.progress.started || self.progress.over {
            return;
        }
        let now = self.clock.now();
        let waited = now.since(self.progress.began);
        if self.progress.ready && (self.progress.arrived || waited >= FIRST_DOCUMENT) {
            self.progress.started = true;
            let mailbox = self.mailbox.clone();
            if let Err(error) = self.agent.listen(move |event| mailbox.send(Event::Agent(event))) {
                return self.fail(ErrorCode::InternalUnknown, format!("no thread for the agent: {error}"));
            }
            self.host.start(now);
        } else if waited >= START {
            let message = format!("the page did not answer within {} s", START.as_secs());
            self.fail(ErrorCode::InternalExecutorGone, message);
        }
    }

    /// Ends a session that has not begun.
    fn fail(&mut self, code: ErrorCode, message: String) {
        self.progress.ended = Some(Ended { state: State::Crashed, code: Some(code), message });
        self.progress.over = true;
    }

    /// Moves everything that can move.
    fn settle(&mut self) {
        let mut moved = true;
        while moved {
            moved = false;
            let now = self.clock.now();
            while let Some(message) = self.executor.poll_message() {
                if !self.page.send(&message) {
                    self.executor.handle_disconnect(now);
                }
                moved = true;
            }
            while let Some(event) = self.executor.poll_event() {
                self.handle_executor(event, now);
                moved = true;
            }
            while let Some(event) = self.host.poll_event() {
                self.handle_host(event, now);
                moved = true;
            }
        }
        while let Some(record) = self.host.poll_trace() {
            self.log.trace(&record);
        }
        self.agent.exchange(&self.host);
    }

    fn handle_executor(&mut self, event: ExecutorEvent, now: Time) {
        match event {
            ExecutorEvent::Ready => self.progress.ready = true,
            ExecutorEvent::PageChanged { domain } => {
                self.progress.arrived |= domain.is_some();
                self.host.set_page(domain);
            }
            ExecutorEvent::Completed { seq, outcome } => self.host.complete(seq, outcome, now),
            ExecutorEvent::Disconnected if !self.progress.started => {
                self.fail(ErrorCode::InternalExecutorGone, "the page ended while it was starting".to_owned());
            }
            ExecutorEvent::Disconnected => {
                self.log.log("INTERNAL_EXECUTOR_GONE: the page is gone; commands fail from now on");
            }
            _ => {}
        }
    }

    fn handle_host(&mut self, event: HostEvent, now: Time) {
        match event {
            HostEvent::StateChanged { state, code, message } => {
                let code_text = code.map(|code| format!("{code}: ")).unwrap_or_default();
                self.log.log(&format!("{}: {code_text}{message}", state.as_str()));
                // Stopped before there was a child to wait for.
                self.progress.over |= state == State::Stopped && !self.progress.started;
                self.progress.ended = Some(Ended { state, code, message });
            }
            HostEvent::Execute(command) => self.executor.execute(command, now),
            HostEvent::Cancel { seq } => self.executor.cancel(seq, now),
            HostEvent::ConfirmationAsked { seq, action, expected_domain, .. } => {
                // There is nobody to ask; a browser would show its own dialog here.
                self.log.log(&format!("seq {seq}: {action} on {expected_domain} denied without asking"));
                self.host.confirm(seq, false, now);
            }
            HostEvent::BreakerOpened { action } => {
                self.log.log(&format!("the breaker of {action} is open: more than 10 failures in a row"));
            }
            HostEvent::CloseStdin => self.agent.close_stdin(),
            HostEvent::Terminate => self.agent.terminate(),
            // What is written already may still be read: the answer that says why.
            HostEvent::Kill => {
                self.agent.close_stdin();
                self.progress.kill_at = Some(now.after(LAST_WORDS));
            }
            _ => {}
        }
    }

    fn set_alarm(&mut self) {
        let progress = &self.progress;
        let starting = (!progress.started).then(|| {
            let patience = if progress.ready { FIRST_DOCUMENT } else { START };
            progress.began.after(patience)
        });
        let next = [
            self.host.poll_timeout(),
            self.executor.poll_timeout(),
            progress.stdin_fault_at,
            progress.kill_at,
            progress.exit.map(|(_, until)| until),
            starting,
        ]
        .into_iter()
        .flatten()
        .min();
        // A task cannot be taken back. One that comes too early does no harm.
        if let Some(next) = next
            && progress.alarm.is_none_or(|alarm| next < alarm)
        {
            self.progress.alarm = Some(next);
            cef::post_delayed(alarm, self.clock.until(next));
        }
    }
}
