use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use zeroize::Zeroizing;

use crate::contract::{ActionName, Domain, ErrorCode, Failure, UrlParser, VERSION};
use crate::json::{JsonObject, MAX_SAFE_INTEGER};
use crate::pipe::outbox::Outbox;
use crate::pipe::{KeyDerivation, SessionKey};
use crate::time::Time;
use crate::wire::{
    Command, Envelope, Frame, Init, InitAck, LineDecoder, MAX_MESSAGE_BYTES, Message, Response,
};

/// What an agent says of itself.
#[derive(Clone, Debug)]
pub struct AgentConfig {
    /// A UUID of version 4.
    pub agent_id: String,
    /// The actions that it may ask for; not empty.
    pub supported_actions: Vec<ActionName>,
    /// How the key comes from the seed; both sides must agree.
    pub key_derivation: KeyDerivation,
}

/// A request of the agent: one command and its retries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallId(u64);

impl CallId {
    /// Its number: 1 for the first request of a session, and one more for each.
    pub fn as_u64(self) -> u64 {
        self.0
    }
}

/// What happened at the agent.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AgentEvent {
    /// The handshake is done; [`Agent::request`] works.
    Ready,
    /// A request was answered, for good: retries are over.
    Done {
        /// Which.
        call: CallId,
        /// The seq of the last attempt.
        seq: u64,
        /// How many commands it took.
        attempts: u32,
        /// The data, or the failure of the last attempt.
        outcome: Result<Option<JsonObject>, Failure>,
    },
    /// An action failed with `INTERNAL_*` after its retry and is refused until
    /// [`Agent::reset_action`].
    ActionStopped {
        /// Which.
        action: ActionName,
    },
    /// Something worth a line in the agent's log; it concerns no request.
    Log(String),
    /// The session is over; requests that waited were answered with `PIPE_CLOSED`.
    Ended {
        /// `None`: the host closed the pipe and nothing waited, exit with 0. Else exit with another
        /// status.
        failure: Option<Failure>,
    },
}

/// Why a request was not taken. Nothing was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AgentError {
    /// The handshake is not done, or the session is over.
    NotRunning,
    /// The action was stopped after `INTERNAL_*` failures; see [`Agent::reset_action`].
    ActionStopped,
    /// The command would be longer than 1,048,576 bytes.
    TooLarge,
    /// The params nest deeper than 63 levels: the message would pass 64.
    TooDeep,
    /// All seqs are used.
    SeqExhausted,
}

/// The agent's side of a session: numbers, signs, correlates and retries (contract sections 4, 5
/// and 10).
///
/// After each call that changes something, drain [`Agent::poll_event`] and [`Agent::output`], then
/// ask [`Agent::poll_timeout`].
pub struct Agent {
    config: AgentConfig,
    urls: Arc<dyn UrlParser>,
    state: AgentState,
    decoder: LineDecoder,
    next_seq: u64,
    next_call: u64,
    /// By the seq of the attempt that waits for its answer.
    pending: BTreeMap<u64, Call>,
    /// By the time of the next attempt; with the failure of the last one.
    retries: BTreeMap<(Time, CallId), (Call, Failure)>,
    stopped: BTreeSet<ActionName>,
    outbox: Outbox,
    events: VecDeque<AgentEvent>,
}

#[derive(Debug)]
enum AgentState {
    AwaitingInit,
    Running(SessionKey),
    Ended,
}

#[derive(Debug)]
struct Call {
    id: CallId,
    action: ActionName,
    params: JsonObject,
    expected_domain: Domain,
    /// Commands sent so far.
    attempts: u32,
    last_seq: u64,
}

impl Agent {
    /// An agent that waits for `init`.
    pub fn new(config: AgentConfig, urls: Arc<dyn UrlParser>) -> Self {
        Agent {
            config,
            urls,
            state: AgentState::AwaitingInit,
            decoder: LineDecoder::new(MAX_MESSAGE_BYTES),
            next_seq: 1,
            next_call: 1,
            pending: BTreeMap::new(),
            retries: BTreeMap::new(),
            stopped: BTreeSet::new(),
            outbox: Outbox::default(),
            events: VecDeque::new(),
        }
    }

    /// Asks for an action. Answered by one [`AgentEvent::Done`].
    ///
    /// # Errors
    /// Why nothing was sent.
    pub fn request(
        &mut self,
        action: ActionName,
        params: JsonObject,
        expected_domain: Domain,
        _now: Time,
    ) -> Result<CallId, AgentError> {
        if !matches!(self.state, AgentState::Running(_)) {
            return Err(AgentError::NotRunning);
        }
        if self.stopped.contains(&action) {
            return Err(AgentError::ActionStopped);
        }
        if params.depth() >= crate::json::MAX_DEPTH {
            return Err(AgentError::TooDeep);
        }
        let id = CallId(self.next_call);
        let call = Call { id, action, params, expected_domain, attempts: 0, last_seq: 0 };
        self.send(call).map_err(|(_, error)| error)?;
        self.next_call = self.next_call.saturating_add(1);
        Ok(id)
    }

    /// Bytes of the host, split anywhere.
    pub fn handle_input(&mut self, bytes: &[u8], now: Time) {
        let mut decoder = std::mem::replace(&mut self.decoder, LineDecoder::new(MAX_MESSAGE_BYTES));
        let mut input = bytes;
        while let Some(frame) = decoder.next(&mut input) {
            if matches!(self.state, AgentState::Ended) {
                break;
            }
            let outcome = match frame {
                Frame::Line(line) => self.handle_line(line, now),
                Frame::TooLarge => Err(Failure::new(
                    ErrorCode::PipeMessageTooLarge,
                    format!("the host sent a message longer than {MAX_MESSAGE_BYTES} bytes"),
                )),
            };
            if let Err(failure) = outcome {
                self.end(Some(failure));
            }
        }
        self.decoder = decoder;
    }

    /// The host closed the pipe.
    pub fn handle_end_of_input(&mut self, _now: Time) {
        let failure = if self.decoder.finish() {
            Some(Failure::new(ErrorCode::PipeInvalidJson, "the host's stream ended inside a line"))
        } else if matches!(self.state, AgentState::AwaitingInit) {
            Some(Failure::new(ErrorCode::PipeClosed, "the host closed the pipe before init"))
        } else if self.pending.is_empty() && self.retries.is_empty() {
            None
        } else {
            Some(Failure::new(ErrorCode::PipeClosed, "the host closed the pipe while requests waited"))
        };
        self.end(failure);
    }

    /// The time that [`Agent::poll_timeout`] named has come: sends the retries that are due.
    pub fn handle_timeout(&mut self, now: Time) {
        while let Some(entry) = self.retries.first_entry() {
            if entry.key().0 > now {
                break;
            }
            let (call, _) = entry.remove();
            if let Err((call, error)) = self.send(call) {
                let failure =
                    Failure::new(ErrorCode::InternalUnknown, format!("the retry was not sent: {error}"));
                self.done(&call, Err(failure));
            }
        }
    }

    /// When to call [`Agent::handle_timeout`] at the latest.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Time> {
        self.retries.first_key_value().map(|((at, _), _)| *at)
    }

    /// The next thing that happened. Call until `None`.
    #[must_use]
    pub fn poll_event(&mut self) -> Option<AgentEvent> {
        self.events.pop_front()
    }

    /// Bytes for the host; empty where none wait.
    #[must_use]
    pub fn output(&self) -> &[u8] {
        self.outbox.bytes()
    }

    /// `count` bytes of [`Agent::output`] are written.
    pub fn output_written(&mut self, count: usize) {
        self.outbox.advance(count);
    }

    /// Lets an action be asked for again that was stopped.
    pub fn reset_action(&mut self, action: &str) {
        self.stopped.remove(action);
    }

    /// How many requests wait for their answer or their retry.
    pub fn in_flight(&self) -> usize {
        self.pending.len().saturating_add(self.retries.len())
    }

    /// Every attempt is a new command with a new seq and a new HMAC (contract section 10).
    fn send(&mut self, mut call: Call) -> Result<(), (Call, AgentError)> {
        let AgentState::Running(key) = &self.state else { return Err((call, AgentError::NotRunning)) };
        if self.next_seq > MAX_SAFE_INTEGER {
            return Err((call, AgentError::SeqExhausted));
        }
        let mut command = Command {
            seq: self.next_seq,
            action: call.action.clone(),
            params: call.params.clone(),
            expected_domain: call.expected_domain.clone(),
            hmac: [b'0'; 64],
        };
        command.hmac = key.sign(&command);
        let line = command.to_line();
        if line.len() > MAX_MESSAGE_BYTES.saturating_add(1) {
            return Err((call, AgentError::TooLarge));
        }
        self.outbox.push(Zeroizing::new(line));
        self.next_seq = self.next_seq.saturating_add(1);
        call.attempts = call.attempts.saturating_add(1);
        call.last_seq = command.seq;
        self.pending.insert(command.seq, call);
        Ok(())
    }

    fn handle_line(&mut self, line: &[u8], now: Time) -> Result<(), Failure> {
        let envelope = Envelope::read(line)?;
        if matches!(self.state, AgentState::AwaitingInit)
            && let Some(theirs) = envelope.foreign_version("init")
        {
            let message = format!("the agent speaks version {VERSION}, the host {theirs}");
            return Err(Failure::new(ErrorCode::PipeVersionMismatch, message));
        }
        match (envelope.message(self.urls.as_ref())?, &self.state) {
            (Message::Init(init), AgentState::AwaitingInit) => {
                self.start(&init);
                Ok(())
            }
            (Message::Response(response), AgentState::Running(_)) => {
                self.handle_response(response, now);
                Ok(())
            }
            _ => Err(Failure::new(
                ErrorCode::PipeUnexpectedMessage,
                "the host sent a message that does not belong here",
            )),
        }
    }

    fn start(&mut self, init: &Init) {
        let ack = InitAck {
            version: VERSION.into(),
            agent_id: self.config.agent_id.clone(),
            supported_actions: self
                .config
                .supported_actions
                .iter()
                .map(|name| name.as_str().to_owned())
                .collect(),
        };
        self.outbox.push(Zeroizing::new(ack.to_line()));
        self.state = AgentState::Running(SessionKey::derive(&init.seed, self.config.key_derivation));
        self.events.push_back(AgentEvent::Ready);
    }

    fn handle_response(&mut self, response: Response, now: Time) {
        let seq = response.seq;
        let code = response.outcome.as_ref().err().map(|failure| failure.code);
        if code == Some(ErrorCode::PipeSeqDuplicate) {
            // It speaks of a duplicate, never of the original (contract section 6).
            return self.log(format!("a duplicate of seq {seq} was refused; the original is still awaited"));
        }
        let Some(call) = self.pending.remove(&seq) else {
            let what = match code {
                Some(code) => format!("a failure with {code}"),
                None => "a success".into(),
            };
            return self.log(if seq == 0 {
                format!("the host rejected a line whose seq it could not tell: {what}")
            } else if seq >= self.next_seq {
                format!("ignored {what} for seq {seq}, which was never sent")
            } else {
                format!("dropped {what} for seq {seq}, which was answered before")
            });
        };
        match response.outcome {
            Err(failure) => self.handle_failure(call, failure, now),
            outcome => self.done(&call, outcome),
        }
    }

    /// The retry matrix of contract section 10.
    fn handle_failure(&mut self, call: Call, failure: Failure, now: Time) {
        let code = failure.code;
        let retried = call.attempts.saturating_sub(1);
        let delay =
            usize::try_from(retried).ok().and_then(|retried| code.retry_after_ms().get(retried)).copied();
        match delay.filter(|_| !self.stopped.contains(&call.action)) {
            Some(delay) => {
                self.retries.insert((now.after(Duration::from_millis(delay)), call.id), (call, failure));
            }
            None => {
                if code.agent_breaks() {
                    self.stop_action(&call.action);
                }
                self.done(&call, Err(failure));
            }
        }
    }

    /// No command of `action` is sent from now on: what waits for its retry fails as it last did.
    fn stop_action(&mut self, action: &ActionName) {
        if self.stopped.insert(action.clone()) {
            self.events.push_back(AgentEvent::ActionStopped { action: action.clone() });
        }
        let waiting = std::mem::take(&mut self.retries);
        for (due, (call, failure)) in waiting {
            if call.action == *action {
                self.done(&call, Err(failure));
            } else {
                self.retries.insert(due, (call, failure));
            }
        }
    }

    fn done(&mut self, call: &Call, outcome: Result<Option<JsonObject>, Failure>) {
        let Call { id, last_seq, attempts, .. } = *call;
        self.events.push_back(AgentEvent::Done { call: id, seq: last_seq, attempts, outcome });
    }

    fn end(&mut self, failure: Option<Failure>) {
        if matches!(self.state, AgentState::Ended) {
            return;
        }
        self.state = AgentState::Ended;
        let pending = std::mem::take(&mut self.pending);
        let retries = std::mem::take(&mut self.retries);
        for call in pending.into_values().chain(retries.into_values().map(|(call, _)| call)) {
            self.done(&call, Err(Failure::new(ErrorCode::PipeClosed, "the session ended before the answer")));
        }
        self.events.push_back(AgentEvent::Ended { failure });
    }

    fn log(&mut self, line: String) {
        self.events.push_back(AgentEvent::Log(line));
    }
}

impl std::fmt::Debug for Agent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Agent")
            .field("next_seq", &self.next_seq)
            .field("in_flight", &self.in_flight())
            .finish_non_exhaustive()
    }
}

impl std::fmt::Display for AgentError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            AgentError::NotRunning => "the session is not running",
            AgentError::ActionStopped => "the action was stopped after INTERNAL_* failures; reset it first",
            AgentError::TooLarge => "the command would be longer than 1,048,576 bytes",
            AgentError::TooDeep => "the params nest deeper than 63 levels",
            AgentError::SeqExhausted => "all seqs of the session are used",
        })
    }
}

impl std::error::Error for AgentError {}
