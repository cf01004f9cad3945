use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use serde_json::Value;

use super::executor::Job;
use super::state::{Phase, Shared, State};
use crate::{ErrorCode, Failure, Time};

/// How long an answer of the page may take after a navigation has begun. It may still come: the
/// browser holds back only what is said after that.
const HELD_BACK: Duration = Duration::from_millis(50);

/// Why a call to the browser has no result.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum CallError {
    /// The browser said no.
    Refused(String),
    /// The injected script threw. What it threw is the page's to choose, so it is told to nobody.
    Thrown,
    /// The document in which it ran is no more.
    ContextGone,
    /// The tab or frame is no more.
    Detached,
    /// The renderer died.
    Crashed,
    /// The browser is no more.
    Gone,
}

impl From<CallError> for Failure {
    fn from(error: CallError) -> Self {
        match error {
            CallError::Refused(why) => {
                Failure::new(ErrorCode::CmdExecutionFailed, format!("the browser refused: {why}"))
            }
            CallError::Thrown => {
                Failure::new(ErrorCode::CmdExecutionFailed, "the page's document could not be examined")
                    .with_reason("script_failed")
            }
            CallError::ContextGone => {
                Failure::new(ErrorCode::CmdExecutionFailed, "the document went away meanwhile")
                    .with_reason("document_changed")
            }
            CallError::Detached => tab_closed(),
            CallError::Crashed => page_crashed(),
            CallError::Gone => executor_gone(),
        }
    }
}

pub(super) fn tab_closed() -> Failure {
    Failure::new(ErrorCode::CmdExecutionFailed, "the tab was closed").with_reason("tab_closed")
}

pub(super) fn page_crashed() -> Failure {
    Failure::new(ErrorCode::CmdPageCrashed, "the page's renderer died; navigate brings the tab back")
}

pub(super) fn executor_gone() -> Failure {
    Failure::new(ErrorCode::InternalExecutorGone, "the browser is gone")
}

/// What a script of a command works with.
#[derive(Clone)]
pub(super) struct Script {
    shared: Arc<Shared>,
    pub(super) job: Arc<Job>,
}

impl Script {
    pub(super) fn new(shared: Arc<Shared>, job: Arc<Job>) -> Self {
        Script { shared, job }
    }

    pub(super) fn with<R>(&self, use_it: impl FnOnce(&mut State) -> R) -> R {
        self.shared.with(use_it)
    }

    pub(super) fn now(&self) -> Time {
        self.with(|state| state.now)
    }

    /// When waiting ends.
    pub(super) fn soft_deadline(&self) -> Time {
        self.with(|state| state.run.as_ref().map_or(state.now, |run| run.soft_deadline))
    }

    /// When the command is dropped. Nothing may act later.
    pub(super) fn hard_deadline(&self) -> Time {
        self.with(|state| state.run.as_ref().map_or(state.now, |run| run.hard_deadline))
    }

    pub(super) fn enter(&self, phase: Phase) {
        self.with(|state| {
            if let Some(run) = state.run.as_mut() {
                run.phase = phase;
            }
        });
    }

    /// Sends a call now; the reply is awaited when the caller likes.
    pub(super) fn begin(&self, session: &str, method: &str, params: Value) -> Reply {
        let id = self.with(|state| state.call(Some(session), None, method, params));
        Reply { shared: Arc::clone(&self.shared), id }
    }

    pub(super) async fn call(&self, session: &str, method: &str, params: Value) -> Result<Value, CallError> {
        self.begin(session, method, params).await
    }

    /// A call that dies with the document of `context`.
    pub(super) async fn call_in(
        &self,
        session: &str,
        context: i64,
        method: &str,
        params: Value,
    ) -> Result<Value, CallError> {
        let id = self.with(|state| state.call(Some(session), Some(context), method, params));
        Reply { shared: Arc::clone(&self.shared), id }.await
    }

    /// A call to the browser itself.
    pub(super) async fn call_browser(&self, method: &str, params: Value) -> Result<Value, CallError> {
        let id = self.with(|state| state.call(None, None, method, params));
        Reply { shared: Arc::clone(&self.shared), id }.await
    }

    /// Waits until `test` finds what it looks for; `None` where it is `end` before that.
    pub(super) async fn until<T>(
        &self,
        end: Time,
        mut test: impl FnMut(&mut State) -> Option<T>,
    ) -> Option<T> {
        poll_fn(|_| {
            self.with(|state| match test(state) {
                Some(found) => Poll::Ready(Some(found)),
                None if state.now >= end => Poll::Ready(None),
                None => {
                    state.wake_at(end);
                    Poll::Pending
                }
            })
        })
        .await
    }

    pub(super) async fn sleep(&self, span: Duration) {
        let end = self.now().after(span);
        let _: Option<()> = self.until(end, |_| None).await;
    }

    /// Waits for a look at the page, unless a navigation of the tab is under way: until that is over
    /// the browser holds back what is said to the page. `None` then.
    pub(super) async fn unless_navigating<F: Future>(&self, future: F) -> Option<F::Output> {
        let mut future = std::pin::pin!(future);
        let mut since = None;
        poll_fn(|cx| match future.as_mut().poll(cx) {
            Poll::Ready(output) => Poll::Ready(Some(output)),
            Poll::Pending => self.with(|state| {
                let tab = state.run.as_ref().and_then(|run| run.tab.as_deref()).and_then(|id| state.tab(id));
                if !tab.is_some_and(|tab| tab.progress.requested) {
                    since = None;
                    return Poll::Pending;
                }
                let end = since.get_or_insert(state.now).after(HELD_BACK);
                if state.now >= end {
                    return Poll::Ready(None);
                }
                state.wake_at(end);
                Poll::Pending
            }),
        })
        .await
    }

    /// Gives `future` at most `span`.
    pub(super) async fn within<F: Future>(&self, span: Duration, future: F) -> Option<F::Output> {
        let end = self.now().after(span);
        let mut future = std::pin::pin!(future);
        poll_fn(|cx| match future.as_mut().poll(cx) {
            Poll::Ready(output) => Poll::Ready(Some(output)),
            Poll::Pending => self.with(|state| {
                if state.now >= end {
                    return Poll::Ready(None);
                }
                state.wake_at(end);
                Poll::Pending
            }),
        })
        .await
    }
}

/// The reply to one call. Dropping it forgets the call.
pub(super) struct Reply {
    shared: Arc<Shared>,
    id: u64,
}

impl Future for Reply {
    type Output = Result<Value, CallError>;

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Self::Output> {
        self.shared.with(|state| match state.calls.get_mut(&self.id) {
            Some(call) => call.reply.take().map_or(Poll::Pending, Poll::Ready),
            None => Poll::Ready(Err(CallError::Gone)),
        })
    }
}

impl Drop for Reply {
    fn drop(&mut self) {
        self.shared.with(|state| state.calls.remove(&self.id));
    }
}
