use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use serde_json::{Value, json};

use super::action;
use super::call::{Script, executor_gone};
use super::scope::Scope;
use super::state::{Phase, Run, Shared, State};
use crate::json::parse_lenient;
use crate::{Authorized, Domain, ErrorCode, Failure, JsonObject, Policy, Time, UrlParser};

/// What a command may overrun its time by to end what it has begun, such as the release of a pressed
/// button. Well within the host's grace of 1,000 ms (contract section 7).
const OVERRUN: Duration = Duration::from_millis(400);

type Outcome = Result<Value, Failure>;
type Running = Pin<Box<dyn Future<Output = Outcome> + Send>>;

/// What an [`Executor`] is made from.
#[derive(Clone)]
pub struct ExecutorConfig {
    /// The browser's own URL parser where there is one (contract section 9).
    pub urls: Arc<dyn UrlParser>,
    /// The policy in force until [`Executor::set_policy`].
    pub policy: Arc<Policy>,
    /// Commands that wait for their turn, at most; one more is answered `INTERNAL_OVERLOADED`.
    pub max_waiting: usize,
    /// Whether the messages go to the browser's DevTools session or to that of one page.
    pub scope: Scope,
}

impl ExecutorConfig {
    /// The defaults: 64 waiting commands, the browser's own session.
    pub fn new(urls: Arc<dyn UrlParser>, policy: Arc<Policy>) -> Self {
        ExecutorConfig { urls, policy, max_waiting: 64, scope: Scope::Browser }
    }
}

/// What happened in an [`Executor`].
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ExecutorEvent {
    /// The first tab is attached; commands that waited begin.
    Ready,
    /// The top document of the tab that commands act on is on another host, or has none that a
    /// policy could allow: `about:blank`, `file:`, an opaque origin, an error page. A crash leaves it
    /// as it was: commands are answered `CMD_PAGE_CRASHED`.
    PageChanged {
        /// The host.
        domain: Option<Domain>,
    },
    /// A command is done. Each `execute` without a `cancel` gives exactly one.
    Completed {
        /// The seq of the command.
        seq: u64,
        /// The data of the response, or why it failed.
        outcome: Result<JsonObject, Failure>,
    },
    /// The browser is gone; nothing will be executed any more.
    Disconnected,
}

/// A command, as the scripts see it.
pub(super) struct Job {
    pub(super) seq: u64,
    pub(super) action: String,
    pub(super) params: Value,
    /// `expected_domain`.
    pub(super) domain: String,
    pub(super) timeout: Duration,
}

impl From<&Authorized> for Job {
    fn from(command: &Authorized) -> Self {
        Job {
            seq: command.seq(),
            action: command.action().as_str().to_owned(),
            params: serde_json::from_str(command.params().as_str()).unwrap_or_default(),
            domain: command.expected_domain().as_str().to_owned(),
            timeout: command.timeout(),
        }
    }
}

struct Waiting {
    job: Arc<Job>,
    since: Time,
}

impl Waiting {
    fn expiry(&self) -> Time {
        self.since.after(self.job.timeout).after(OVERRUN)
    }
}

struct Current {
    job: Arc<Job>,
    deadline: Time,
    running: Running,
}

/// Runs authorized commands in a Chromium, over DevTools protocol messages (contract section 8).
///
/// Sans-IO: it reads no clock and owns no transport. After every call drain [`Self::poll_message`]
/// and [`Self::poll_event`] to `None`. Commands run one at a time, in the order they came.
pub struct Executor {
    shared: Arc<Shared>,
    boot: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
    ready: bool,
    current: Option<Current>,
    waiting: VecDeque<Waiting>,
    max_waiting: usize,
}

impl Executor {
    /// An executor that has not said anything to the browser yet.
    pub fn new(config: ExecutorConfig) -> Self {
        Executor {
            shared: Shared::new(State::new(config.urls, config.policy, config.scope)),
            boot: None,
            ready: false,
            current: None,
            waiting: VecDeque::new(),
            max_waiting: config.max_waiting,
        }
    }

    /// Attaches to the first tab, or opens one; [`ExecutorEvent::Ready`] follows.
    pub fn start(&mut self, now: Time) {
        if self.ready || self.boot.is_some() {
            return;
        }
        self.shared.with(|state| state.now = now);
        self.boot = Some(Box::pin(action::boot(self.script(Arc::new(Job::nothing())))));
        self.drive();
    }

    /// Takes one message of the browser: the JSON text, without framing. What is not JSON, or not
    /// an answer to anything, is ignored.
    pub fn handle_message(&mut self, message: &[u8], now: Time) {
        let Ok(message) = parse_lenient(message) else { return };
        self.shared.with(|state| {
            state.now = state.now.max(now);
            state.receive(&message);
        });
        self.drive();
    }

    /// The browser is gone. Every pending command completes with `INTERNAL_EXECUTOR_GONE`, and so
    /// does every later one.
    pub fn handle_disconnect(&mut self, now: Time) {
        let first = self.shared.with(|state| {
            state.now = state.now.max(now);
            !std::mem::replace(&mut state.gone, true)
        });
        if !first {
            return;
        }
        self.boot = None;
        let current = self.current.take();
        let pending = current.map(|current| current.job).into_iter();
        let pending: Vec<_> = pending.chain(self.waiting.drain(..).map(|waiting| waiting.job)).collect();
        self.shared.with(|state| {
            state.run = None;
            state.messages.clear();
            for job in pending {
                state.complete(job.seq, Err(executor_gone()));
            }
            state.events.push_back(ExecutorEvent::Disconnected);
        });
    }

    /// Call at [`Self::poll_timeout`]; calling it earlier does no harm.
    pub fn handle_timeout(&mut self, now: Time) {
        self.shared.with(|state| state.now = state.now.max(now));
        self.drive();
    }

    /// When [`Self::handle_timeout`] wants to be called, if at all.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Time> {
        let wake = self.shared.with(|state| state.wake);
        let deadline = self.current.as_ref().map(|current| current.deadline);
        let queued = self.waiting.iter().map(Waiting::expiry).min();
        [wake, deadline, queued].into_iter().flatten().min()
    }

    /// The next message for the browser: one JSON text, without framing.
    #[must_use]
    pub fn poll_message(&mut self) -> Option<Vec<u8>> {
        self.shared.with(|state| state.messages.pop_front())
    }

    /// What happened since.
    #[must_use]
    pub fn poll_event(&mut self) -> Option<ExecutorEvent> {
        self.shared.with(|state| state.events.pop_front())
    }

    /// Runs a command when its turn comes. Its time runs from now; it completes no later than
    /// 400 ms after that.
    pub fn execute(&mut self, command: Authorized, now: Time) {
        self.run(Job::from(&command), now);
    }

    pub(super) fn run(&mut self, job: Job, now: Time) {
        self.shared.with(|state| state.now = state.now.max(now));
        let refusal = if self.shared.with(|state| state.gone) {
            Some(executor_gone())
        } else if self.waiting.len() >= self.max_waiting {
            Some(Failure::new(ErrorCode::InternalOverloaded, "too many commands wait for the tab"))
        } else {
            None
        };
        match refusal {
            Some(failure) => self.shared.with(|state| state.complete(job.seq, Err(failure))),
            None => self.waiting.push_back(Waiting { job: Arc::new(job), since: now }),
        }
        self.drive();
    }

    /// Drops a command: what it has not done yet it will not do, and no
    /// [`ExecutorEvent::Completed`] follows. A seq that is not here is ignored.
    pub fn cancel(&mut self, seq: u64, now: Time) {
        self.shared.with(|state| state.now = state.now.max(now));
        self.waiting.retain(|waiting| waiting.job.seq != seq);
        if self.current.as_ref().is_some_and(|current| current.job.seq == seq) {
            self.current = None;
            self.shared.with(State::end_run);
        }
        self.shared.with(|state| {
            state.events.retain(
                |event| !matches!(event, ExecutorEvent::Completed { seq: completed, .. } if *completed == seq),
            );
        });
        self.drive();
    }

    /// Replaces the policy; it is what a command that runs is checked against from now on.
    pub fn set_policy(&mut self, policy: Arc<Policy>) {
        self.shared.with(|state| state.policy = policy);
    }

    fn script(&self, job: Arc<Job>) -> Script {
        Script::new(Arc::clone(&self.shared), job)
    }

    /// Runs whatever can run now.
    fn drive(&mut self) {
        let mut cx = Context::from_waker(Waker::noop());
        self.shared.with(|state| state.wake = None);
        if let Some(boot) = self.boot.as_mut()
            && boot.as_mut().poll(&mut cx).is_ready()
        {
            self.boot = None;
            self.ready = true;
            self.shared.with(|state| state.events.push_back(ExecutorEvent::Ready));
            self.shared.with(State::announce);
        }
        let now = self.shared.with(|state| state.now);
        let shared = &self.shared;
        self.waiting.retain(|waiting| {
            let expired = now >= waiting.expiry();
            if expired {
                let late =
                    Failure::new(ErrorCode::CmdTimeout, "the command's time passed before its turn came");
                shared.with(|state| state.complete(waiting.job.seq, Err(late)));
            }
            !expired
        });
        while self.ready {
            let Some(current) = self.current.as_mut() else {
                let Some(next) = self.waiting.pop_front() else { break };
                self.begin(next);
                continue;
            };
            let outcome = match current.running.as_mut().poll(&mut cx) {
                Poll::Ready(outcome) => outcome,
                Poll::Pending => {
                    match self.shared.with(|state| state.interrupted(&current.job, current.deadline)) {
                        Some(failure) => Err(failure),
                        None => break,
                    }
                }
            };
            let seq = current.job.seq;
            // The script goes first: it must not see the state of the next command.
            self.current = None;
            self.shared.with(|state| {
                state.end_run();
                state.complete(seq, outcome);
            });
        }
    }

    fn begin(&mut self, next: Waiting) {
        let soft = next.since.after(next.job.timeout);
        let deadline = soft.after(OVERRUN);
        self.shared.with(|state| {
            let mut run = Run::new(soft, deadline);
            run.tab = state.active.clone();
            state.run = Some(run);
        });
        let running = Box::pin(action::run(self.script(Arc::clone(&next.job))));
        self.current = Some(Current { job: next.job, deadline, running });
    }
}

impl Job {
    /// For the script that starts the executor, which serves no command.
    fn nothing() -> Self {
        Job {
            seq: 0,
            action: String::new(),
            params: Value::Null,
            domain: String::new(),
            timeout: Duration::ZERO,
        }
    }

    pub(super) fn text(&self, key: &str) -> Option<&str> {
        self.params.get(key).and_then(Value::as_str)
    }

    pub(super) fn selector(&self) -> &str {
        self.text("selector").unwrap_or_default()
    }

    pub(super) fn flag(&self, key: &str) -> bool {
        self.params.get(key).and_then(Value::as_bool).unwrap_or_default()
    }

    pub(super) fn number(&self, key: &str) -> Option<f64> {
        self.params.get(key).and_then(Value::as_f64)
    }

    /// The selectors of the frames that lead to the document, outermost first.
    pub(super) fn frames(&self) -> Vec<String> {
        let frames = self.params.get("frame").and_then(Value::as_array);
        frames.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
    }
}

impl State {
    fn complete(&mut self, seq: u64, outcome: Outcome) {
        let outcome = outcome.and_then(|data| {
            JsonObject::from_serde(&data)
                .ok_or_else(|| Failure::new(ErrorCode::InternalUnknown, "the result is no message"))
        });
        self.events.push_back(ExecutorEvent::Completed { seq, outcome });
    }

    fn end_run(&mut self) {
        let Some(run) = self.run.take() else { return };
        for (session, method, params) in run.cleanup {
            if self.sessions.contains_key(&session) {
                self.send(Some(&session), method, params);
            }
        }
    }

    /// Why a command that is still waiting for something must end now.
    fn interrupted(&self, job: &Job, deadline: Time) -> Option<Failure> {
        let run = self.run.as_ref()?;
        if let Some(fatal) = &run.fatal {
            return Some(fatal.clone());
        }
        if self.now < deadline {
            return None;
        }
        let failure = match run.phase {
            Phase::Waiting(reason) => super::element::waited(reason, job.timeout),
            Phase::Navigating => action::navigation_failed("timeout", "the page did not answer in time"),
            Phase::Loading => action::navigation_failed("timeout", "the page did not load in time"),
            Phase::Starting | Phase::Acting => {
                Failure::new(ErrorCode::CmdTimeout, "the page did not answer in time")
            }
        };
        Some(match run.typed {
            Some(typed) if run.phase == Phase::Acting => failure.with_details(&json!({ "typed": typed })),
            _ => failure,
        })
    }
}
