use std::sync::Arc;

use cxx::SharedPtr;

use super::contract::{RegistryCore, number, text, time, until, url_parser};
use super::ffi::{self, AgentEventKind, RequestStatus};
use super::host::derivation;
use crate::contract::{Domain, UrlParser};
use crate::pipe::{Agent, AgentConfig, AgentError, AgentEvent};
use crate::{Failure, JsonObject};

pub(super) struct AgentCore {
    agent: Agent,
    urls: Arc<dyn UrlParser>,
    /// What [`AgentCore::next_event`] gave last.
    event: Option<AgentEvent>,
}

pub(super) fn agent_new(
    agent_id: &[u8],
    actions: &RegistryCore,
    seed_is_key: bool,
    urls: SharedPtr<ffi::UrlParser>,
) -> Box<AgentCore> {
    let config = AgentConfig {
        agent_id: text(agent_id).into_owned(),
        supported_actions: actions.0.names().cloned().collect(),
        key_derivation: derivation(seed_is_key),
    };
    let urls = url_parser(urls);
    Box::new(AgentCore { agent: Agent::new(config, Arc::clone(&urls)), urls, event: None })
}

impl AgentCore {
    pub(super) fn request(
        &mut self,
        action: &[u8],
        params: &[u8],
        domain: &[u8],
        now: u64,
        call: &mut u64,
    ) -> RequestStatus {
        let Ok(action) = text(action).parse() else { return RequestStatus::InvalidAction };
        let Ok(params) = JsonObject::parse(params) else { return RequestStatus::InvalidParams };
        let Ok(domain) = Domain::parse(&text(domain), self.urls.as_ref()) else {
            return RequestStatus::InvalidDomain;
        };
        match self.agent.request(action, params, domain, time(now)) {
            Ok(id) => {
                *call = id.as_u64();
                RequestStatus::Sent
            }
            Err(AgentError::NotRunning) => RequestStatus::NotRunning,
            Err(AgentError::ActionStopped) => RequestStatus::ActionStopped,
            Err(AgentError::TooLarge) => RequestStatus::TooLarge,
            Err(AgentError::TooDeep) => RequestStatus::TooDeep,
            Err(AgentError::SeqExhausted) => RequestStatus::SeqExhausted,
        }
    }

    pub(super) fn handle_input(&mut self, bytes: &[u8], now: u64) {
        self.agent.handle_input(bytes, time(now));
    }

    pub(super) fn handle_end_of_input(&mut self, now: u64) {
        self.agent.handle_end_of_input(time(now));
    }

    pub(super) fn handle_timeout(&mut self, now: u64) {
        self.agent.handle_timeout(time(now));
    }

    pub(super) fn poll_timeout(&self) -> u64 {
        until(self.agent.poll_timeout())
    }

    pub(super) fn next_event(&mut self) -> AgentEventKind {
        self.event = self.agent.poll_event();
        match &self.event {
            None => AgentEventKind::None,
            Some(AgentEvent::Ready) => AgentEventKind::Ready,
            Some(AgentEvent::Done { .. }) => AgentEventKind::Done,
            Some(AgentEvent::ActionStopped { .. }) => AgentEventKind::ActionStopped,
            Some(AgentEvent::Log(_)) => AgentEventKind::Log,
            Some(AgentEvent::Ended { .. }) => AgentEventKind::Ended,
        }
    }

    pub(super) fn event_call(&self) -> u64 {
        match &self.event {
            Some(AgentEvent::Done { call, .. }) => call.as_u64(),
            _ => 0,
        }
    }

    pub(super) fn event_seq(&self) -> u64 {
        match &self.event {
            Some(AgentEvent::Done { seq, .. }) => *seq,
            _ => 0,
        }
    }

    pub(super) fn event_attempts(&self) -> u32 {
        match &self.event {
            Some(AgentEvent::Done { attempts, .. }) => *attempts,
            _ => 0,
        }
    }

    fn event_failure(&self) -> Option<&Failure> {
        match &self.event {
            Some(AgentEvent::Done { outcome, .. }) => outcome.as_ref().err(),
            Some(AgentEvent::Ended { failure }) => failure.as_ref(),
            _ => None,
        }
    }

    pub(super) fn event_code(&self) -> u8 {
        number(self.event_failure().map(|failure| failure.code))
    }

    pub(super) fn event_text(&self) -> &str {
        match &self.event {
            Some(AgentEvent::ActionStopped { action }) => action.as_str(),
            Some(AgentEvent::Log(line)) => line,
            _ => self.event_failure().map_or("", |failure| &failure.message),
        }
    }

    pub(super) fn event_json(&self) -> &str {
        let json = match &self.event {
            Some(AgentEvent::Done { outcome: Ok(data), .. }) => data.as_ref(),
            _ => self.event_failure().and_then(|failure| failure.details.as_ref()),
        };
        json.map_or("", JsonObject::as_str)
    }

    pub(super) fn output(&self) -> &[u8] {
        self.agent.output()
    }

    pub(super) fn output_written(&mut self, count: usize) {
        self.agent.output_written(count);
    }

    pub(super) fn reset_action(&mut self, action: &[u8]) {
        self.agent.reset_action(&text(action));
    }

    pub(super) fn in_flight(&self) -> usize {
        self.agent.in_flight()
    }
}
