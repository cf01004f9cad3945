use std::sync::Arc;
use std::time::Duration;

use cxx::SharedPtr;

use super::contract::{PolicyCore, RegistryCore, failure, hmac, number, text, time, until, url_parser};
use super::ffi::{self, HostEventKind, HostState, TraceStage};
use crate::JsonObject;
use crate::contract::{ActionName, Domain, ErrorCode, Failure, UrlParser};
use crate::pipe::{
    Authorized, ChildExit, Host, HostConfig, HostEvent, HostSettings, KeyDerivation, Stage, State,
    TraceRecord,
};
use crate::time::micros;
use crate::wire::HmacSeed;

pub(super) struct HostCore {
    host: Host,
    urls: Arc<dyn UrlParser>,
    /// What [`HostCore::next_event`] gave last.
    event: Option<HostEvent>,
    /// What [`HostCore::next_trace`] gave last.
    trace: Option<TraceRecord>,
}

/// A command on its way through C++; empty where there was none to take.
pub(super) struct CommandCore(pub(super) Option<Authorized>);

pub(super) fn host_new(
    setup: &ffi::HostSetup<'_>,
    registry: &RegistryCore,
    policy: &PolicyCore,
    urls: SharedPtr<ffi::UrlParser>,
    hmac_of_embedder: SharedPtr<ffi::HmacSha256>,
) -> Box<HostCore> {
    let config = HostConfig {
        session: text(setup.session).into_owned(),
        seed: HmacSeed::from_array(&setup.seed),
        key_derivation: derivation(setup.seed_is_key),
        registry: registry.0.clone(),
        policy: policy.0.as_ref().clone(),
        settings: HostSettings {
            handshake_timeout: Duration::from_micros(setup.handshake_timeout),
            contiguous_seq: setup.contiguous_seq,
            max_rejections: setup.max_rejections,
            capacity: setup.capacity,
            concurrency: setup.concurrency,
            confirmation_timeout: Duration::from_micros(setup.confirmation_timeout),
            grace: Duration::from_micros(setup.grace),
            stop_grace: Duration::from_micros(setup.stop_grace),
            terminate_grace: Duration::from_micros(setup.terminate_grace),
            max_output_bytes: setup.max_output_bytes,
        },
    };
    let urls = url_parser(urls);
    let host = match hmac(hmac_of_embedder) {
        Some(hmac) => Host::with_hmac(config, Arc::clone(&urls), hmac),
        None => Host::new(config, Arc::clone(&urls)),
    };
    Box::new(HostCore { host, urls, event: None, trace: None })
}

pub(super) fn derivation(seed_is_key: bool) -> KeyDerivation {
    if seed_is_key { KeyDerivation::Seed } else { KeyDerivation::Hkdf }
}

impl HostCore {
    pub(super) fn start(&mut self, now: u64) {
        self.host.start(time(now));
    }

    pub(super) fn handle_input(&mut self, bytes: &[u8], now: u64) {
        self.host.handle_input(bytes, time(now));
    }

    pub(super) fn handle_end_of_input(&mut self, now: u64) {
        self.host.handle_end_of_input(time(now));
    }

    pub(super) fn handle_output_closed(&mut self, now: u64) {
        self.host.handle_output_closed(time(now));
    }

    pub(super) fn handle_exit_code(&mut self, code: i32, now: u64) {
        self.host.handle_child_exit(ChildExit::Code(code), time(now));
    }

    pub(super) fn handle_exit_signal(&mut self, signal: i32, now: u64) {
        self.host.handle_child_exit(ChildExit::Signal(signal), time(now));
    }

    pub(super) fn handle_timeout(&mut self, now: u64) {
        self.host.handle_timeout(time(now));
    }

    pub(super) fn poll_timeout(&self) -> u64 {
        until(self.host.poll_timeout())
    }

    pub(super) fn next_event(&mut self) -> HostEventKind {
        self.event = self.host.poll_event();
        match &self.event {
            None => HostEventKind::None,
            Some(HostEvent::StateChanged { .. }) => HostEventKind::StateChanged,
            Some(HostEvent::Execute(_)) => HostEventKind::Execute,
            Some(HostEvent::Cancel { .. }) => HostEventKind::Cancel,
            Some(HostEvent::ConfirmationAsked { .. }) => HostEventKind::ConfirmationAsked,
            Some(HostEvent::ConfirmationOver { .. }) => HostEventKind::ConfirmationOver,
            Some(HostEvent::BreakerOpened { .. }) => HostEventKind::BreakerOpened,
            Some(HostEvent::CloseStdin) => HostEventKind::CloseStdin,
            Some(HostEvent::Terminate) => HostEventKind::Terminate,
            Some(HostEvent::Kill) => HostEventKind::Kill,
        }
    }

    pub(super) fn event_seq(&self) -> u64 {
        match &self.event {
            Some(
                HostEvent::Cancel { seq }
                | HostEvent::ConfirmationAsked { seq, .. }
                | HostEvent::ConfirmationOver { seq },
            ) => *seq,
            _ => 0,
        }
    }

    pub(super) fn event_state(&self) -> HostState {
        match &self.event {
            Some(HostEvent::StateChanged { state, .. }) => host_state(*state),
            _ => self.state(),
        }
    }

    pub(super) fn event_code(&self) -> u8 {
        match &self.event {
            Some(HostEvent::StateChanged { code, .. }) => number(*code),
            _ => 0,
        }
    }

    pub(super) fn event_message(&self) -> &str {
        match &self.event {
            Some(HostEvent::StateChanged { message, .. }) => message,
            _ => "",
        }
    }

    pub(super) fn event_action(&self) -> &str {
        match &self.event {
            Some(HostEvent::ConfirmationAsked { action, .. } | HostEvent::BreakerOpened { action }) => {
                action.as_str()
            }
            _ => "",
        }
    }

    pub(super) fn event_domain(&self) -> &str {
        match &self.event {
            Some(HostEvent::ConfirmationAsked { expected_domain, .. }) => expected_domain.as_str(),
            _ => "",
        }
    }

    pub(super) fn event_params(&self) -> &str {
        match &self.event {
            Some(HostEvent::ConfirmationAsked { params, .. }) => params.as_str(),
            _ => "",
        }
    }

    pub(super) fn take_command(&mut self) -> Box<CommandCore> {
        Box::new(CommandCore(match self.event.take() {
            Some(HostEvent::Execute(command)) => Some(command),
            other => {
                self.event = other;
                None
            }
        }))
    }

    pub(super) fn next_trace(&mut self) -> bool {
        self.trace = self.host.poll_trace();
        self.trace.is_some()
    }

    pub(super) fn trace_time(&self) -> u64 {
        self.trace.as_ref().map_or(0, |record| record.time.as_micros())
    }

    pub(super) fn trace_seq(&self) -> u64 {
        self.trace.as_ref().map_or(0, |record| record.seq)
    }

    pub(super) fn trace_stage(&self) -> TraceStage {
        match self.trace.as_ref().map(|record| record.stage) {
            None | Some(Stage::State) => TraceStage::State,
            Some(Stage::Received) => TraceStage::Received,
            Some(Stage::Verified) => TraceStage::Verified,
            Some(Stage::Authorized) => TraceStage::Authorized,
            Some(Stage::Confirming) => TraceStage::Confirming,
            Some(Stage::Dispatched) => TraceStage::Dispatched,
            Some(Stage::Completed) => TraceStage::Completed,
            Some(Stage::Responded) => TraceStage::Responded,
            Some(Stage::Rejected) => TraceStage::Rejected,
            Some(Stage::Dropped) => TraceStage::Dropped,
            Some(Stage::Cancelled) => TraceStage::Cancelled,
            Some(Stage::BreakerOpened) => TraceStage::BreakerOpened,
        }
    }

    pub(super) fn trace_code(&self) -> u8 {
        number(self.trace.as_ref().and_then(|record| record.code))
    }

    pub(super) fn trace_action(&self) -> &str {
        let action = self.trace.as_ref().and_then(|record| record.action.as_ref());
        action.map_or("", ActionName::as_str)
    }

    pub(super) fn trace_line(&self) -> String {
        self.trace.as_ref().map_or_else(String::new, TraceRecord::to_line)
    }

    pub(super) fn output(&self) -> &[u8] {
        self.host.output()
    }

    pub(super) fn output_written(&mut self, count: usize) {
        self.host.output_written(count);
    }

    pub(super) fn wants_input(&self) -> bool {
        self.host.wants_input()
    }

    pub(super) fn succeed(&mut self, seq: u64, data: &[u8], now: u64) {
        let outcome = JsonObject::parse(data).map_err(|error| {
            let message = format!("the executor's data is not a JSON object: {error}");
            Failure::new(ErrorCode::InternalUnknown, message)
        });
        self.host.complete(seq, outcome, time(now));
    }

    pub(super) fn fail(&mut self, seq: u64, code: ffi::ErrorCode, message: &[u8], details: &[u8], now: u64) {
        self.host.complete(seq, Err(failure(code, message, details)), time(now));
    }

    pub(super) fn abandon(&mut self, seq: u64, now: u64) {
        self.host.abandon(seq, time(now));
    }

    pub(super) fn confirm(&mut self, seq: u64, allow: bool, now: u64) {
        self.host.confirm(seq, allow, time(now));
    }

    pub(super) fn cancel(&mut self, seq: u64, now: u64) {
        self.host.cancel(seq, time(now));
    }

    pub(super) fn set_policy(&mut self, policy: &PolicyCore) {
        self.host.set_policy(policy.0.as_ref().clone());
    }

    pub(super) fn clear_page(&mut self) {
        self.host.set_page(None);
    }

    pub(super) fn set_page(&mut self, domain: &[u8]) -> bool {
        let domain = Domain::parse(&text(domain), self.urls.as_ref()).ok();
        let valid = domain.is_some();
        self.host.set_page(domain);
        valid
    }

    pub(super) fn reset_breaker(&mut self, action: &[u8]) {
        self.host.reset_breaker(&text(action));
    }

    pub(super) fn stop(&mut self, now: u64) {
        self.host.stop(time(now));
    }

    pub(super) fn state(&self) -> HostState {
        host_state(self.host.state())
    }

    pub(super) fn in_flight(&self) -> usize {
        self.host.in_flight()
    }

    pub(super) fn negotiated_actions(&self) -> Vec<String> {
        self.host.negotiated_actions().map(|name| name.as_str().to_owned()).collect()
    }
}

fn host_state(state: State) -> HostState {
    match state {
        State::Idle => HostState::Idle,
        State::Handshaking => HostState::Handshaking,
        State::Running => HostState::Running,
        State::Stopping => HostState::Stopping,
        State::Stopped => HostState::Stopped,
        State::Crashed => HostState::Crashed,
    }
}

impl CommandCore {
    pub(super) fn seq(&self) -> u64 {
        self.0.as_ref().map_or(0, Authorized::seq)
    }

    pub(super) fn action(&self) -> &str {
        self.0.as_ref().map_or("", |command| command.action().as_str())
    }

    pub(super) fn params(&self) -> &str {
        self.0.as_ref().map_or("{}", |command| command.params().as_str())
    }

    pub(super) fn expected_domain(&self) -> &str {
        self.0.as_ref().map_or("", |command| command.expected_domain().as_str())
    }

    pub(super) fn timeout_us(&self) -> u64 {
        self.0.as_ref().map_or(0, |command| micros(command.timeout()))
    }
}
