use std::sync::Arc;

use cxx::SharedPtr;

use super::contract::{PolicyCore, number, time, until, url_parser};
use super::ffi::{self, ExecutorEventKind};
use super::host::CommandCore;
use crate::browser::{Executor, ExecutorConfig, ExecutorEvent, Scope};
use crate::contract::Domain;
use crate::{Failure, JsonObject};

pub(super) struct ExecutorCore {
    executor: Executor,
    /// What [`ExecutorCore::next_event`] gave last.
    event: Option<ExecutorEvent>,
    /// What [`ExecutorCore::next_message`] gave last.
    message: Vec<u8>,
}

pub(super) fn executor_new(
    policy: &PolicyCore,
    urls: SharedPtr<ffi::UrlParser>,
    max_waiting: usize,
    one_page: bool,
) -> Box<ExecutorCore> {
    let scope = if one_page { Scope::Page } else { Scope::Browser };
    let defaults = ExecutorConfig::new(url_parser(urls), Arc::clone(&policy.0));
    let config = ExecutorConfig { max_waiting, scope, ..defaults };
    Box::new(ExecutorCore { executor: Executor::new(config), event: None, message: Vec::new() })
}

impl ExecutorCore {
    pub(super) fn start(&mut self, now: u64) {
        self.executor.start(time(now));
    }

    pub(super) fn handle_message(&mut self, message: &[u8], now: u64) {
        self.executor.handle_message(message, time(now));
    }

    pub(super) fn handle_disconnect(&mut self, now: u64) {
        self.executor.handle_disconnect(time(now));
    }

    pub(super) fn handle_timeout(&mut self, now: u64) {
        self.executor.handle_timeout(time(now));
    }

    pub(super) fn poll_timeout(&self) -> u64 {
        until(self.executor.poll_timeout())
    }

    pub(super) fn next_message(&mut self) -> bool {
        let message = self.executor.poll_message();
        let found = message.is_some();
        self.message = message.unwrap_or_default();
        found
    }

    pub(super) fn message(&self) -> &[u8] {
        &self.message
    }

    pub(super) fn next_event(&mut self) -> ExecutorEventKind {
        self.event = self.executor.poll_event();
        match &self.event {
            None => ExecutorEventKind::None,
            Some(ExecutorEvent::Ready) => ExecutorEventKind::Ready,
            Some(ExecutorEvent::PageChanged { .. }) => ExecutorEventKind::PageChanged,
            Some(ExecutorEvent::Completed { .. }) => ExecutorEventKind::Completed,
            Some(ExecutorEvent::Disconnected) => ExecutorEventKind::Disconnected,
        }
    }

    pub(super) fn event_seq(&self) -> u64 {
        match &self.event {
            Some(ExecutorEvent::Completed { seq, .. }) => *seq,
            _ => 0,
        }
    }

    fn event_failure(&self) -> Option<&Failure> {
        match &self.event {
            Some(ExecutorEvent::Completed { outcome, .. }) => outcome.as_ref().err(),
            _ => None,
        }
    }

    pub(super) fn event_code(&self) -> u8 {
        number(self.event_failure().map(|failure| failure.code))
    }

    pub(super) fn event_text(&self) -> &str {
        match &self.event {
            Some(ExecutorEvent::PageChanged { domain }) => domain.as_ref().map_or("", Domain::as_str),
            _ => self.event_failure().map_or("", |failure| &failure.message),
        }
    }

    pub(super) fn event_json(&self) -> &str {
        let json = match &self.event {
            Some(ExecutorEvent::Completed { outcome: Ok(data), .. }) => Some(data),
            _ => self.event_failure().and_then(|failure| failure.details.as_ref()),
        };
        json.map_or("", JsonObject::as_str)
    }

    #[expect(clippy::boxed_local, reason = "it comes boxed out of C++")]
    pub(super) fn execute(&mut self, command: Box<CommandCore>, now: u64) {
        if let Some(command) = command.0 {
            self.executor.execute(command, time(now));
        }
    }

    pub(super) fn cancel(&mut self, seq: u64, now: u64) {
        self.executor.cancel(seq, time(now));
    }

    pub(super) fn set_policy(&mut self, policy: &PolicyCore) {
        self.executor.set_policy(Arc::clone(&policy.0));
    }
}
