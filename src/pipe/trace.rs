use std::time::Duration;

use crate::contract::{ActionName, ErrorCode, Failure, REASONS};
use crate::json::Value;
use crate::pipe::State;
use crate::time::{Time, micros};

/// One stage of a seq, or of the session (contract section 11).
///
/// Its fields are numbers, names that the host registered and words of the contract: nothing that a
/// peer or a page wrote has a place here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceRecord {
    /// When.
    pub time: Time,
    /// The session's name.
    pub session: std::sync::Arc<str>,
    /// Which seq; 0 where the line's seq cannot be told and for the session itself.
    pub seq: u64,
    /// What happened.
    pub stage: Stage,
    /// The action, where the host has registered it.
    pub action: Option<ActionName>,
    /// The code of a failure.
    pub code: Option<ErrorCode>,
    /// `details.reason` of a failure, where it is one of the contract.
    pub reason: Option<&'static str>,
    /// The state that was entered.
    pub state: Option<State>,
    /// The length of the line received, or of the response with its LF.
    pub bytes: Option<usize>,
    /// How many seqs were skipped before this one, where any were.
    pub seq_gap: Option<u64>,
    /// From the line to the dispatch.
    pub queue: Option<Duration>,
    /// From the dispatch to the completion.
    pub exec: Option<Duration>,
}

/// What happened to a seq.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The session entered a state.
    State,
    /// A line came.
    Received,
    /// Its HMAC and its seq are good.
    Verified,
    /// Its action, params and the policy are good.
    Authorized,
    /// A person is asked.
    Confirming,
    /// It was given to the executor.
    Dispatched,
    /// The executor is done with it.
    Completed,
    /// A response was written.
    Responded,
    /// A line failed at steps 1 to 6.
    Rejected,
    /// A line or a completion that came too late changed nothing.
    Dropped,
    /// The executor was told to leave it.
    Cancelled,
    /// The breaker of its action opened.
    BreakerOpened,
}

impl Stage {
    /// The stage as it stands in the trace.
    pub fn as_str(self) -> &'static str {
        match self {
            Stage::State => "state",
            Stage::Received => "received",
            Stage::Verified => "verified",
            Stage::Authorized => "authorized",
            Stage::Confirming => "confirming",
            Stage::Dispatched => "dispatched",
            Stage::Completed => "completed",
            Stage::Responded => "responded",
            Stage::Rejected => "rejected",
            Stage::Dropped => "dropped",
            Stage::Cancelled => "cancelled",
            Stage::BreakerOpened => "breaker_opened",
        }
    }
}

impl TraceRecord {
    pub(super) fn new(time: Time, session: std::sync::Arc<str>, seq: u64, stage: Stage) -> Self {
        TraceRecord {
            time,
            session,
            seq,
            stage,
            action: None,
            code: None,
            reason: None,
            state: None,
            bytes: None,
            seq_gap: None,
            queue: None,
            exec: None,
        }
    }

    pub(super) fn failed(mut self, failure: &Failure) -> Self {
        self.code = Some(failure.code);
        self.reason = reason(failure);
        self
    }

    /// The record as a line of the trace with its LF (`schemas/pipe/1.0/trace.schema.json`).
    pub fn to_line(&self) -> String {
        let mut line = format!(
            "{{\"time_us\":{},\"session\":\"{}\",\"seq\":{},\"stage\":\"{}\"",
            self.time.as_micros(),
            self.session,
            self.seq,
            self.stage.as_str()
        );
        let mut text = |name: &str, value: Option<&str>| {
            if let Some(value) = value {
                line.push_str(&format!(",\"{name}\":\"{value}\""));
            }
        };
        text("action", self.action.as_ref().map(ActionName::as_str));
        text("code", self.code.map(ErrorCode::as_str));
        text("reason", self.reason);
        text("state", self.state.map(State::as_str));
        let mut number = |name: &str, value: Option<u64>| {
            if let Some(value) = value {
                line.push_str(&format!(",\"{name}\":{value}"));
            }
        };
        number("bytes", self.bytes.and_then(|bytes| u64::try_from(bytes).ok()));
        number("seq_gap", self.seq_gap);
        number("queue_us", self.queue.map(micros));
        number("exec_us", self.exec.map(micros));
        line.push_str("}\n");
        line
    }
}

/// A failure's reason, where it is one of the contract: any other text could be anything.
fn reason(failure: &Failure) -> Option<&'static str> {
    let details = failure.details.as_ref()?.view();
    let told = details.get("reason").and_then(Value::as_str)?;
    REASONS.iter().find(|reason| **reason == told).copied()
}
