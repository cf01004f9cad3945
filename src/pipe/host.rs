use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use zeroize::Zeroizing;

use crate::contract::{ActionName, Domain, ErrorCode, Failure, Registry, UrlParser, VERSION};
use crate::json::JsonObject;
use crate::pipe::breaker::Breaker;
use crate::pipe::checks::{Authentic, Authorized, Negotiated, Sequenced};
use crate::pipe::outbox::Outbox;
use crate::pipe::router::{InFlight, Router};
use crate::pipe::trace::{Stage, TraceRecord};
use crate::pipe::{HmacSha256, KeyDerivation, Policy, SeqUse, Sequence, SessionKey};
use crate::time::Time;
use crate::wire::{
    Envelope, Frame, HmacSeed, Init, InitAck, LineDecoder, MAX_MESSAGE_BYTES, Message, Response, Timing,
};

/// Where a session stands (contract section 4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Not started.
    Idle,
    /// `init` is written; a valid `init_ack` is awaited.
    Handshaking,
    /// Commands are taken.
    Running,
    /// The end is on its way; lines that come are dropped.
    Stopping,
    /// Ended as it should.
    Stopped,
    /// Ended otherwise.
    Crashed,
}

impl State {
    /// The name as it stands in the trace.
    pub fn as_str(self) -> &'static str {
        match self {
            State::Idle => "Idle",
            State::Handshaking => "Handshaking",
            State::Running => "Running",
            State::Stopping => "Stopping",
            State::Stopped => "Stopped",
            State::Crashed => "Crashed",
        }
    }
}

/// What a session is made with.
#[derive(Debug)]
pub struct HostConfig {
    /// The session's name in the trace: letters, digits, `_`, `-`, at most 64; others are left out.
    pub session: String,
    /// 32 bytes of the system's random source, new for each session.
    pub seed: HmacSeed,
    /// How the key comes from the seed.
    pub key_derivation: KeyDerivation,
    /// The actions of this host.
    pub registry: Registry,
    /// What the agent may do.
    pub policy: Policy,
    /// The times and limits.
    pub settings: HostSettings,
}

/// Times and limits; the defaults are those of the contract.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostSettings {
    /// From `init` to a valid `init_ack`: 5000 ms (section 4).
    pub handshake_timeout: Duration,
    /// Refuse a seq that is not the last one + 1 (section 6): no.
    pub contiguous_seq: bool,
    /// Rejections at steps 1 to 6 in a row that end the session: 16 (section 4).
    pub max_rejections: u32,
    /// Commands in flight, waiting for confirmation included: 64 (section 6).
    pub capacity: usize,
    /// Commands that the executor has at a time: 1, since one tab runs one at a time (section 6).
    pub concurrency: usize,
    /// How long a person may take to confirm: 60,000 ms (section 9).
    pub confirmation_timeout: Duration,
    /// What the executor gets beyond `timeout_ms`: 1000 ms (section 7).
    pub grace: Duration,
    /// From the end of stdin to the next step of a stop: 2000 ms (section 4).
    pub stop_grace: Duration,
    /// From the request to terminate to the kill: 1000 ms (section 4).
    pub terminate_grace: Duration,
    /// Answers that may wait before the host stops reading: 4 MiB (section 7).
    pub max_output_bytes: usize,
}

impl Default for HostSettings {
    fn default() -> Self {
        HostSettings {
            handshake_timeout: Duration::from_millis(5_000),
            contiguous_seq: false,
            max_rejections: 16,
            capacity: 64,
            concurrency: 1,
            confirmation_timeout: Duration::from_millis(60_000),
            grace: Duration::from_millis(1_000),
            stop_grace: Duration::from_millis(2_000),
            terminate_grace: Duration::from_millis(1_000),
            max_output_bytes: 4 * 1_048_576,
        }
    }
}

/// What the embedder has to do, in order.
#[derive(Debug)]
#[non_exhaustive]
pub enum HostEvent {
    /// The session entered a state. Worth a line in the log.
    StateChanged {
        /// The state.
        state: State,
        /// The reason of a crash.
        code: Option<ErrorCode>,
        /// One readable line.
        message: String,
    },
    /// Give this to the executor; its answer goes to [`Host::complete`].
    Execute(Authorized),
    /// Tell the executor to leave this command; its completion would be dropped.
    Cancel {
        /// Which.
        seq: u64,
    },
    /// Ask a person; the answer goes to [`Host::confirm`].
    ConfirmationAsked {
        /// Which.
        seq: u64,
        /// What the agent wants to do.
        action: ActionName,
        /// Where.
        expected_domain: Domain,
        /// With what. For a person's eyes: they may hold typed text.
        params: JsonObject,
    },
    /// Take the question down: it was answered, cancelled, or nobody came.
    ConfirmationOver {
        /// Which.
        seq: u64,
    },
    /// An action failed more than 10 times in a row and is off until [`Host::reset_breaker`].
    BreakerOpened {
        /// Which.
        action: ActionName,
    },
    /// Close the child's stdin once the output is written.
    CloseStdin,
    /// Ask the child's process group to terminate.
    Terminate,
    /// Write what output can be written without waiting, then kill the child's process group.
    Kill,
}

/// How a child ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChildExit {
    /// By this exit status.
    Code(i32),
    /// By this signal.
    Signal(i32),
}

impl std::fmt::Display for ChildExit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ChildExit::Code(code) => write!(f, "exited with status {code}"),
            ChildExit::Signal(signal) => write!(f, "was ended by signal {signal}"),
        }
    }
}

/// The host's side of a session (contract section 4): bytes of an untrusted process go in, commands
/// that have earned their execution come out.
///
/// After each call that changes something, drain [`Host::poll_event`], [`Host::poll_trace`] and
/// [`Host::output`] until they are empty, then ask [`Host::poll_timeout`].
pub struct Host {
    urls: Arc<dyn UrlParser>,
    settings: HostSettings,
    session: Arc<str>,
    /// Until `init` is written.
    seed: Option<HmacSeed>,
    key: SessionKey,
    policy: Arc<Policy>,
    page: Option<Domain>,
    negotiated: Negotiated,
    sequence: Sequence,
    breaker: Breaker,
    router: Router,
    decoder: LineDecoder,
    rejections: u32,
    state: State,
    handshake_until: Option<Time>,
    shutdown: Option<Shutdown>,
    stop_requested: bool,
    end_of_input: bool,
    outbox: Outbox,
    events: VecDeque<HostEvent>,
    trace: VecDeque<TraceRecord>,
}

/// What is done next, and when, with a child that should end and has not.
#[derive(Clone, Copy, Debug)]
struct Shutdown {
    at: Time,
    step: Step,
}

/// Who ended a command that the executor had.
#[derive(Clone, Copy, Debug, PartialEq)]
enum EndedBy {
    Executor,
    /// The executor is told to leave it.
    Host,
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Terminate,
    Kill,
}

impl Host {
    /// A session that is not started. `urls` is the browser's own URL parser.
    pub fn new(config: HostConfig, urls: Arc<dyn UrlParser>) -> Self {
        let key = SessionKey::derive(&config.seed, config.key_derivation);
        Host::with_key(config, urls, key)
    }

    /// The same with the HMAC of the embedder's own crypto library.
    pub fn with_hmac(config: HostConfig, urls: Arc<dyn UrlParser>, hmac: Arc<dyn HmacSha256>) -> Self {
        let key = SessionKey::derive_with(&config.seed, config.key_derivation, hmac);
        Host::with_key(config, urls, key)
    }

    fn with_key(config: HostConfig, urls: Arc<dyn UrlParser>, key: SessionKey) -> Self {
        let settings = config.settings;
        let harmless = |character: &char| character.is_ascii_alphanumeric() || matches!(character, '_' | '-');
        let session: String = config.session.chars().filter(harmless).take(64).collect();
        Host {
            urls,
            session: if session.is_empty() { "session".into() } else { session.into() },
            key,
            seed: Some(config.seed),
            policy: Arc::new(config.policy),
            page: None,
            negotiated: Negotiated::new(config.registry, &[]),
            sequence: Sequence::new(settings.contiguous_seq),
            breaker: Breaker::default(),
            router: Router::new(settings.capacity, settings.concurrency),
            decoder: LineDecoder::new(MAX_MESSAGE_BYTES),
            rejections: 0,
            state: State::Idle,
            handshake_until: None,
            shutdown: None,
            stop_requested: false,
            end_of_input: false,
            outbox: Outbox::default(),
            events: VecDeque::new(),
            trace: VecDeque::new(),
            settings,
        }
    }

    /// The child runs: writes `init`. Once; later calls do nothing.
    pub fn start(&mut self, now: Time) {
        if self.state != State::Idle {
            return;
        }
        let Some(seed) = self.seed.take() else { return };
        self.outbox.push(Init { version: VERSION.into(), seed }.to_line());
        self.handshake_until = Some(now.after(self.settings.handshake_timeout));
        self.enter(State::Handshaking, None, "init is written; waiting for init_ack".into(), now);
    }

    /// Bytes of the child's stdout, split anywhere. Linear in their number.
    pub fn handle_input(&mut self, bytes: &[u8], now: Time) {
        // Deadlines that have passed come first, in whatever order the embedder calls: what comes
        // after them is late.
        self.handle_timeout(now);
        // Taken out, so that a line can borrow from it while the session changes.
        let mut decoder = std::mem::replace(&mut self.decoder, LineDecoder::new(MAX_MESSAGE_BYTES));
        let mut input = bytes;
        while let Some(frame) = decoder.next(&mut input) {
            match frame {
                Frame::Line(line) => self.handle_line(line, now),
                Frame::TooLarge => self.handle_too_large(now),
            }
            // After each line, so that reads with several lines give the same as reads with one.
            self.dispatch(now);
        }
        self.decoder = decoder;
    }

    /// The child's stdout has ended. Once; later calls do nothing.
    pub fn handle_end_of_input(&mut self, now: Time) {
        if self.end_of_input || self.state == State::Idle {
            return;
        }
        self.end_of_input = true;
        if self.decoder.finish() && self.takes_lines() {
            let failure = Failure::new(
                ErrorCode::PipeInvalidJson,
                "the stream ended inside a line; it was not executed",
            );
            self.reject(None, failure, 0, now);
        }
        match self.state {
            State::Handshaking => {
                self.crash(ErrorCode::PipeClosed, "the agent closed its stdout before init_ack".into(), now);
            }
            State::Running if self.router.len() > 0 => {
                let message =
                    format!("the agent closed its stdout with {} commands in flight", self.router.len());
                self.crash(ErrorCode::PipeClosed, message, now);
            }
            State::Running => {
                self.enter(
                    State::Stopping,
                    None,
                    "the agent closed its stdout; waiting for it to exit".into(),
                    now,
                );
                self.close_stdin(Step::Kill, now);
            }
            State::Idle | State::Stopping | State::Stopped | State::Crashed => {}
        }
    }

    /// Writing to the child's stdin failed: it is closed (`EPIPE`). Output that waits is lost.
    pub fn handle_output_closed(&mut self, now: Time) {
        if self.takes_lines() {
            self.crash(ErrorCode::PipeClosed, "the agent closed its stdin".into(), now);
        }
    }

    /// The child has exited and was reaped; what its stdout still held was handed in before.
    pub fn handle_child_exit(&mut self, exit: ChildExit, now: Time) {
        self.handle_end_of_input(now);
        self.shutdown = None;
        let how = format!("the agent {exit}");
        if self.state == State::Stopping {
            if self.stop_requested || exit == ChildExit::Code(0) {
                self.enter(State::Stopped, None, how, now);
            } else {
                self.enter(State::Crashed, Some(ErrorCode::PipeClosed), how, now);
            }
        }
    }

    /// The time that [`Host::poll_timeout`] named has come.
    pub fn handle_timeout(&mut self, now: Time) {
        if self.state == State::Handshaking && self.handshake_until.is_some_and(|until| until <= now) {
            let limit = self.settings.handshake_timeout.as_millis();
            let message = format!("no valid init_ack within {limit} ms");
            self.crash(ErrorCode::PipeHandshakeTimeout, message, now);
            self.kill();
        }
        if let Some(Shutdown { step, .. }) = self.shutdown.filter(|shutdown| shutdown.at <= now) {
            match step {
                Step::Terminate => {
                    self.events.push_back(HostEvent::Terminate);
                    self.shutdown =
                        Some(Shutdown { at: now.after(self.settings.terminate_grace), step: Step::Kill });
                }
                Step::Kill => self.kill(),
            }
        }
        while let Some(seq) = self.router.expired(now) {
            let confirming = self.router.get(seq).is_some_and(InFlight::is_confirming);
            let failure = if confirming {
                let limit = self.settings.confirmation_timeout.as_millis();
                Failure::new(
                    ErrorCode::MacConfirmationTimeout,
                    format!("nobody confirmed the command within {limit} ms"),
                )
            } else {
                Failure::new(ErrorCode::CmdTimeout, "the command was not completed by its deadline")
            };
            self.finish(seq, Err(failure), EndedBy::Host, now);
        }
        self.dispatch(now);
    }

    /// When to call [`Host::handle_timeout`] at the latest.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Time> {
        let handshake = self.handshake_until.filter(|_| self.state == State::Handshaking);
        let shutdown = self.shutdown.map(|shutdown| shutdown.at);
        [handshake, shutdown, self.router.next_deadline()].into_iter().flatten().min()
    }

    /// The next thing to do. Call until `None`.
    #[must_use]
    pub fn poll_event(&mut self) -> Option<HostEvent> {
        self.events.pop_front()
    }

    /// The next record of the trace. Call until `None`.
    #[must_use]
    pub fn poll_trace(&mut self) -> Option<TraceRecord> {
        self.trace.pop_front()
    }

    /// Bytes for the child's stdin; empty where none wait. Tell what was written with
    /// [`Host::output_written`].
    #[must_use]
    pub fn output(&self) -> &[u8] {
        self.outbox.bytes()
    }

    /// `count` bytes of [`Host::output`] are written.
    pub fn output_written(&mut self, count: usize) {
        self.outbox.advance(count);
    }

    /// Whether to read from the child's stdout. No while more than 4 MiB of answers wait (contract
    /// section 7): an agent that does not read cannot make the host's memory grow.
    #[must_use]
    pub fn wants_input(&self) -> bool {
        self.outbox.waiting() <= self.settings.max_output_bytes
    }

    /// The executor is done with `seq`. For a seq that is not in flight this changes nothing and is
    /// recorded as `INTERNAL_UNKNOWN`.
    pub fn complete(&mut self, seq: u64, outcome: Result<JsonObject, Failure>, now: Time) {
        self.handle_timeout(now);
        if self.router.get(seq).and_then(InFlight::dispatched_at).is_none() {
            let mut record = self.record(seq, Stage::Dropped, now);
            record.code = Some(ErrorCode::InternalUnknown);
            self.trace.push_back(record);
            return;
        }
        self.finish(seq, outcome, EndedBy::Executor, now);
        self.dispatch(now);
    }

    /// The executor will not answer `seq`: it dropped it, or is gone. Answered with
    /// `INTERNAL_EXECUTOR_GONE`. For a seq that is not in flight this changes nothing.
    pub fn abandon(&mut self, seq: u64, now: Time) {
        self.handle_timeout(now);
        if self.router.get(seq).and_then(InFlight::dispatched_at).is_some() {
            let failure = Failure::new(
                ErrorCode::InternalExecutorGone,
                "the executor dropped the command without an answer",
            );
            self.complete(seq, Err(failure), now);
        }
    }

    /// A person answered [`HostEvent::ConfirmationAsked`]. For a seq of which nobody is asked this
    /// changes nothing.
    pub fn confirm(&mut self, seq: u64, allow: bool, now: Time) {
        self.handle_timeout(now);
        if !self.router.get(seq).is_some_and(InFlight::is_confirming) {
            return;
        }
        if allow {
            self.router.allow(seq);
            self.events.push_back(HostEvent::ConfirmationOver { seq });
        } else {
            let failure = Failure::new(
                ErrorCode::MacConfirmationDenied,
                "the command needs confirmation and was refused",
            );
            self.finish(seq, Err(failure), EndedBy::Host, now);
        }
        self.dispatch(now);
    }

    /// Cancels a command: a person stopped it, or its tab closed. Answered with `CMD_CANCELLED`.
    /// For a seq that is not in flight this changes nothing.
    pub fn cancel(&mut self, seq: u64, now: Time) {
        let failure = Failure::new(ErrorCode::CmdCancelled, "the host cancelled the command");
        self.finish(seq, Err(failure), EndedBy::Host, now);
        self.dispatch(now);
    }

    /// Puts another policy in force, for the next command and for those that wait.
    pub fn set_policy(&mut self, policy: Policy) {
        self.policy = Arc::new(policy);
    }

    /// The policy in force.
    pub fn policy(&self) -> &Arc<Policy> {
        &self.policy
    }

    /// The domain of the document that the tab shows now; `None` where that has no host.
    pub fn set_page(&mut self, domain: Option<Domain>) {
        self.page = domain;
    }

    /// Lets an action work again whose breaker opened.
    pub fn reset_breaker(&mut self, action: &str) {
        self.breaker.reset(action);
    }

    /// Ends the session: answers what is in flight with `CMD_CANCELLED`, closes the child's stdin,
    /// terminates it after 2000 ms, kills it after 1000 ms more, and is `Stopped` when it has exited.
    pub fn stop(&mut self, now: Time) {
        match self.state {
            State::Idle => self.enter(State::Stopped, None, "stopped before it was started".into(), now),
            State::Handshaking | State::Running => {
                for seq in self.router.seqs() {
                    let failure = Failure::new(ErrorCode::CmdCancelled, "the host stops the session");
                    self.finish(seq, Err(failure), EndedBy::Host, now);
                }
                self.stop_requested = true;
                self.enter(State::Stopping, None, "the host stops the session".into(), now);
                self.close_stdin(Step::Terminate, now);
            }
            State::Stopping => self.stop_requested = true,
            State::Stopped | State::Crashed => {}
        }
    }

    /// Where the session stands.
    pub fn state(&self) -> State {
        self.state
    }

    /// How many commands are in flight.
    pub fn in_flight(&self) -> usize {
        self.router.len()
    }

    /// The actions that both sides know; none before `Running`.
    pub fn negotiated_actions(&self) -> impl Iterator<Item = &ActionName> {
        self.negotiated.actions()
    }

    fn takes_lines(&self) -> bool {
        matches!(self.state, State::Handshaking | State::Running)
    }

    fn handle_too_large(&mut self, now: Time) {
        if !self.takes_lines() {
            return self.drop_line(0, now);
        }
        let message =
            format!("a message is longer than {MAX_MESSAGE_BYTES} bytes; it was skipped up to its LF");
        self.reject(None, Failure::new(ErrorCode::PipeMessageTooLarge, message), 0, now);
    }

    fn handle_line(&mut self, line: &[u8], now: Time) {
        if !self.takes_lines() {
            return self.drop_line(line.len(), now);
        }
        let envelope = match Envelope::read(line) {
            Ok(envelope) => envelope,
            Err(failure) => return self.reject(None, failure, line.len(), now),
        };
        let seq = envelope.seq();
        let mut received = self.record(seq.unwrap_or_default(), Stage::Received, now);
        received.bytes = Some(line.len());
        self.trace.push_back(received);

        if self.state == State::Handshaking
            && let Some(theirs) = envelope.foreign_version("init_ack")
        {
            let message = format!("the host speaks version {VERSION}, the agent {theirs}");
            self.reject(seq, Failure::new(ErrorCode::PipeVersionMismatch, &message), line.len(), now);
            if self.state != State::Crashed {
                self.crash(ErrorCode::PipeVersionMismatch, message, now);
                self.kill();
            }
            return;
        }
        if let Err(failure) = self.handle_message(&envelope, now) {
            self.reject(seq, failure, line.len(), now);
        }
    }

    /// Steps 3 to 6; an error is a rejection.
    fn handle_message(&mut self, envelope: &Envelope<'_>, now: Time) -> Result<(), Failure> {
        let message = envelope.message(self.urls.as_ref())?;
        let unexpected = |why: &str| Err(Failure::new(ErrorCode::PipeUnexpectedMessage, why));
        match message {
            Message::InitAck(ack) if self.state == State::Handshaking => {
                self.run(&ack, now);
                Ok(())
            }
            Message::InitAck(_) => unexpected("init_ack came a second time; send it once"),
            Message::Command(_) if self.state == State::Handshaking => {
                unexpected("a command came before init_ack; send init_ack first")
            }
            Message::Command(command) => {
                let authentic = Authentic::check(command, &self.key)?;
                let sequenced = authentic.take_seq(&mut self.sequence)?;
                self.rejections = 0;
                self.handle_sequenced(sequenced, now);
                Ok(())
            }
            Message::Init(_) | Message::Response(_) => {
                unexpected("this message goes from the host to the agent, never back")
            }
        }
    }

    fn run(&mut self, ack: &InitAck, now: Time) {
        let registry = self.negotiated.registry().clone();
        self.negotiated = Negotiated::new(registry, &ack.supported_actions);
        let count = self.negotiated.actions().count();
        let message = format!("agent {} is ready; {count} actions are negotiated", ack.agent_id);
        self.enter(State::Running, None, message, now);
    }

    /// Steps 7 to 12: from here on the command gets exactly one response.
    fn handle_sequenced(&mut self, command: Sequenced, now: Time) {
        let seq = command.seq();
        let known = self.negotiated.registry().get(command.action().as_str());
        let action = known.map(|action| action.name().clone());
        let mut verified = self.record(seq, Stage::Verified, now);
        verified.action.clone_from(&action);
        verified.seq_gap = Some(command.skipped()).filter(|skipped| *skipped > 0);
        self.trace.push_back(verified);

        if let Err(failure) = self.admit(command, now) {
            self.respond(seq, action.as_ref(), Err(failure), None, now);
        }
    }

    fn admit(&mut self, command: Sequenced, now: Time) -> Result<(), Failure> {
        let valid = command.validate(&self.negotiated, self.urls.as_ref())?;
        let authorized = valid.authorize(&self.policy, self.page.as_ref())?;
        let (seq, action) = (authorized.seq(), authorized.action().clone());
        let mut record = self.record(seq, Stage::Authorized, now);
        record.action = Some(action.clone());
        self.trace.push_back(record);

        if self.breaker.is_open(&action) {
            return Err(Failure::new(
                ErrorCode::InternalCircuitOpen,
                format!("{action} failed more than 10 times in a row and is off until the host resets it"),
            ));
        }
        let confirm = self.policy.needs_confirmation(action.as_str());
        let until = confirm.then(|| now.after(self.settings.confirmation_timeout));
        let expected_domain = authorized.expected_domain().clone();
        let params = authorized.params().clone();
        self.router.admit(authorized, now, until)?;
        if confirm {
            let mut record = self.record(seq, Stage::Confirming, now);
            record.action = Some(action.clone());
            self.trace.push_back(record);
            self.events.push_back(HostEvent::ConfirmationAsked { seq, action, expected_domain, params });
        }
        Ok(())
    }

    /// Step 13, for every command whose turn it is. The page and the policy may have changed while
    /// it waited.
    fn dispatch(&mut self, now: Time) {
        if self.state != State::Running {
            return;
        }
        while let Some((command, received)) = self.router.dispatch(now, self.settings.grace) {
            let seq = command.seq();
            if let Err(failure) = command.recheck(&self.policy, self.page.as_ref()) {
                let entry = self.router.remove(seq);
                self.respond(seq, entry.as_ref().map(|entry| &entry.action), Err(failure), None, now);
                continue;
            }
            let mut record = self.record(seq, Stage::Dispatched, now);
            record.action = Some(command.action().clone());
            record.queue = Some(now.since(received));
            self.trace.push_back(record);
            self.events.push_back(HostEvent::Execute(command));
        }
    }

    /// Answers a command that is in flight, and tells the executor where it did not end the command
    /// itself.
    fn finish(&mut self, seq: u64, outcome: Result<JsonObject, Failure>, by: EndedBy, now: Time) {
        let Some(entry) = self.router.remove(seq) else { return };
        if entry.is_confirming() {
            self.events.push_back(HostEvent::ConfirmationOver { seq });
        }
        let mut timing = None;
        if let Some(at) = entry.dispatched_at() {
            let (queue, exec) = (at.since(entry.received), now.since(at));
            timing = Some(Timing { queue, exec });
            let stage = match by {
                EndedBy::Host => Stage::Cancelled,
                EndedBy::Executor => Stage::Completed,
            };
            let mut record = self.record(seq, stage, now);
            record.action = Some(entry.action.clone());
            record.exec = Some(exec);
            if let Err(failure) = &outcome {
                record = record.failed(failure);
            }
            self.trace.push_back(record);
            if by == EndedBy::Host {
                self.events.push_back(HostEvent::Cancel { seq });
            }
        }
        self.respond(seq, Some(&entry.action), outcome.map(Some), timing, now);
    }

    /// Writes the one response of a command and counts it.
    fn respond(
        &mut self,
        seq: u64,
        action: Option<&ActionName>,
        outcome: Result<Option<JsonObject>, Failure>,
        timing: Option<Timing>,
        now: Time,
    ) {
        let mut response = Response { seq, outcome, timing };
        let mut line = response.to_line();
        if line.len() > MAX_MESSAGE_BYTES.saturating_add(1) || response.is_too_deep() {
            let message =
                format!("the result does not fit into a message of {MAX_MESSAGE_BYTES} bytes and 64 levels");
            response.outcome = Err(Failure::new(ErrorCode::CmdResultTooLarge, message));
            line = response.to_line();
        }
        let mut record = self.record(seq, Stage::Responded, now);
        record.action = action.cloned();
        record.bytes = Some(line.len());
        let code = response.outcome.as_ref().err().map(|failure| failure.code);
        if let Err(failure) = &response.outcome {
            record = record.failed(failure);
        }
        self.trace.push_back(record);
        self.outbox.push(Zeroizing::new(line));

        if let Some(action) = action
            && self.breaker.record(action, code.map_or(Ok(()), Err))
        {
            let mut record = self.record(seq, Stage::BreakerOpened, now);
            record.action = Some(action.clone());
            self.trace.push_back(record);
            self.events.push_back(HostEvent::BreakerOpened { action: action.clone() });
        }
    }

    /// Answers a line that failed at steps 1 to 6 and counts it. Nothing else changes.
    fn reject(&mut self, seq: Option<u64>, failure: Failure, bytes: usize, now: Time) {
        let code = failure.code;
        // A seq that may be in use is told for a duplicate alone: else a stray line would look like
        // the answer to a command that the host is working on.
        let told = seq.filter(|seq| match self.sequence.usage(*seq) {
            SeqUse::Unused => true,
            SeqUse::Used => code == ErrorCode::PipeSeqDuplicate,
            SeqUse::Unknown => false,
        });
        let seq = told.unwrap_or_default();
        let mut record = self.record(seq, Stage::Rejected, now).failed(&failure);
        record.bytes = Some(bytes);
        self.trace.push_back(record);
        self.outbox.push(Zeroizing::new(Response { seq, outcome: Err(failure), timing: None }.to_line()));

        self.rejections = self.rejections.saturating_add(1);
        if self.rejections >= self.settings.max_rejections {
            let message =
                format!("{} lines in a row were rejected, the last one with {code}", self.rejections);
            self.crash(code, message, now);
            self.kill();
        }
    }

    fn drop_line(&mut self, bytes: usize, now: Time) {
        let mut record = self.record(0, Stage::Dropped, now);
        record.bytes = Some(bytes);
        self.trace.push_back(record);
    }

    /// Ends the session; commands in flight are cancelled with the executor and get no response. The
    /// child has 2000 ms to exit by itself, unless [`Host::kill`] follows.
    fn crash(&mut self, code: ErrorCode, message: String, now: Time) {
        for seq in self.router.seqs() {
            let Some(entry) = self.router.remove(seq) else { continue };
            let mut record = self.record(seq, Stage::Cancelled, now);
            record.action = Some(entry.action.clone());
            record.code = Some(code);
            self.trace.push_back(record);
            if entry.is_confirming() {
                self.events.push_back(HostEvent::ConfirmationOver { seq });
            }
            if entry.dispatched_at().is_some() {
                self.events.push_back(HostEvent::Cancel { seq });
            }
        }
        self.enter(State::Crashed, Some(code), message, now);
        self.close_stdin(Step::Kill, now);
    }

    fn close_stdin(&mut self, next: Step, now: Time) {
        self.events.push_back(HostEvent::CloseStdin);
        self.shutdown = Some(Shutdown { at: now.after(self.settings.stop_grace), step: next });
    }

    fn kill(&mut self) {
        self.shutdown = None;
        self.events.push_back(HostEvent::Kill);
    }

    fn enter(&mut self, state: State, code: Option<ErrorCode>, message: String, now: Time) {
        self.state = state;
        let mut record = self.record(0, Stage::State, now);
        record.state = Some(state);
        record.code = code;
        self.trace.push_back(record);
        self.events.push_back(HostEvent::StateChanged { state, code, message });
    }

    fn record(&self, seq: u64, stage: Stage, now: Time) -> TraceRecord {
        TraceRecord::new(now, Arc::clone(&self.session), seq, stage)
    }
}

impl std::fmt::Debug for Host {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Host")
            .field("session", &self.session)
            .field("state", &self.state)
            .field("in_flight", &self.router.len())
            .finish_non_exhaustive()
    }
}
