use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};

use super::call::CallError;
use super::executor::ExecutorEvent;
use super::navigation::Progress;
use super::scope::{Asked, Scope};
use super::world::World;
use crate::{Domain, Failure, Policy, Time, UrlParser};

/// Chromium blocks the writer for ever on messages of about 100 MiB; nothing we say comes near.
const MAX_OUTGOING: usize = 16 * 1024 * 1024;

/// Dialogs reported of one command, and code points of each one's message: a page can open more
/// than an answer holds.
const MAX_DIALOGS: usize = 16;
const MAX_DIALOG_TEXT: usize = 1000;

/// The state that the scripts and the executor share. The borrow ends inside `with`, so it can
/// neither be held over an `await` nor be taken twice.
pub(super) struct Shared(Mutex<State>);

impl Shared {
    pub(super) fn new(state: State) -> Arc<Self> {
        Arc::new(Shared(Mutex::new(state)))
    }

    pub(super) fn with<R>(&self, use_it: impl FnOnce(&mut State) -> R) -> R {
        use_it(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// A call to the browser that waits for its reply.
pub(super) struct Call {
    pub(super) session: Option<String>,
    pub(super) context: Option<i64>,
    /// Answered by the browser process, so that it survives the death of the page.
    pub(super) outlives_page: bool,
    pub(super) reply: Option<Result<Value, CallError>>,
}

/// A session with a tab or with an out-of-process frame.
pub(super) struct Session {
    pub(super) target: String,
    /// The tab that the target belongs to.
    pub(super) tab: String,
    pub(super) parent: Option<String>,
    pub(super) crashed: bool,
}

/// A top-level page.
#[derive(Default)]
pub(super) struct Tab {
    pub(super) id: String,
    pub(super) opener: Option<String>,
    pub(super) session: Option<String>,
    pub(super) url: String,
    pub(super) title: String,
    /// The host of the top document; `None` where it has none, or an opaque origin.
    pub(super) host: Option<String>,
    /// Known once the frame tree was read.
    pub(super) known: bool,
    pub(super) crashed: bool,
    pub(super) progress: Progress,
}

/// What the deadline means at this moment of a command.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Phase {
    /// Nothing was learnt from the page yet.
    Starting,
    /// An element is waited for; the last reason why it would not do.
    Waiting(&'static str),
    /// Input is on its way.
    Acting,
    /// A navigation has not committed.
    Navigating,
    /// It committed; the page is not loaded as far as `wait_until` asks.
    Loading,
}

/// Which rule holds for the document requests of a navigation (contract sections 8 and 9).
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Policed {
    /// `navigate`: the host must allow that action, and so must each redirect's.
    Navigate,
    /// `goBack`, `goForward`, `reload`: the host must be allowed.
    History,
}

/// What belongs to the command that runs.
pub(super) struct Run {
    pub(super) tab: Option<String>,
    pub(super) phase: Phase,
    pub(super) soft_deadline: Time,
    pub(super) hard_deadline: Time,
    pub(super) dialogs: Vec<Value>,
    pub(super) opened: Vec<String>,
    pub(super) windows: u32,
    pub(super) typed: Option<usize>,
    /// Sent when the command ends, however it ends.
    pub(super) cleanup: Vec<(String, &'static str, Value)>,
    /// How document requests of this tab are checked against the policy, where they are.
    pub(super) policed: Option<Policed>,
    pub(super) denied: Option<Failure>,
    /// The page is gone; ends the command unless it has a result already.
    pub(super) fatal: Option<Failure>,
    pub(super) survives_crash: bool,
}

impl Run {
    pub(super) fn new(soft_deadline: Time, hard_deadline: Time) -> Self {
        Run {
            tab: None,
            phase: Phase::Starting,
            soft_deadline,
            hard_deadline,
            dialogs: Vec::new(),
            opened: Vec::new(),
            windows: 0,
            typed: None,
            cleanup: Vec::new(),
            policed: None,
            denied: None,
            fatal: None,
            survives_crash: false,
        }
    }
}

pub(super) struct State {
    pub(super) now: Time,
    pub(super) wake: Option<Time>,
    pub(super) gone: bool,
    pub(super) policy: Arc<Policy>,
    pub(super) urls: Arc<dyn UrlParser>,
    pub(super) messages: VecDeque<Vec<u8>>,
    pub(super) events: VecDeque<ExecutorEvent>,
    next_id: u64,
    pub(super) scope: Scope,
    /// Calls to the browser that the page's session answers.
    pub(super) asked: BTreeMap<u64, Asked>,
    pub(super) calls: BTreeMap<u64, Call>,
    /// Calls for the frame tree of a tab, made when it was attached.
    pub(super) trees: BTreeMap<u64, String>,
    pub(super) sessions: BTreeMap<String, Session>,
    pub(super) tabs: Vec<Tab>,
    pub(super) active: Option<String>,
    announced: Option<Option<Domain>>,
    pub(super) worlds: BTreeMap<(String, String), World>,
    pub(super) run: Option<Run>,
}

impl State {
    pub(super) fn new(urls: Arc<dyn UrlParser>, policy: Arc<Policy>, scope: Scope) -> Self {
        State {
            now: Time::default(),
            wake: None,
            gone: false,
            policy,
            urls,
            messages: VecDeque::new(),
            events: VecDeque::new(),
            next_id: 0,
            scope,
            asked: BTreeMap::new(),
            calls: BTreeMap::new(),
            trees: BTreeMap::new(),
            sessions: BTreeMap::new(),
            tabs: Vec::new(),
            active: None,
            announced: None,
            worlds: BTreeMap::new(),
            run: None,
        }
    }

    pub(super) fn wake_at(&mut self, time: Time) {
        self.wake = Some(self.wake.map_or(time, |earlier| earlier.min(time)));
    }

    /// Queues a message for the browser whose reply nobody waits for. `None` where it is too large.
    pub(super) fn send(&mut self, session: Option<&str>, method: &str, params: Value) -> Option<u64> {
        self.next_id = self.next_id.saturating_add(1);
        if self.scope.answer(session, method).is_some() {
            return Some(self.next_id);
        }
        let mut message = json!({ "id": self.next_id, "method": method, "params": params });
        if self.scope == Scope::Page
            && session.is_none()
            && let Some(asked) = Scope::stand_in(method)
        {
            self.asked.insert(self.next_id, asked);
            message = json!({ "id": self.next_id, "method": "Target.getTargetInfo", "params": {} });
        }
        if let (Some(session), Some(fields)) = (self.scope.outward(session), message.as_object_mut()) {
            fields.insert("sessionId".to_owned(), Value::from(session));
        }
        let text = message.to_string().into_bytes();
        if text.len() > MAX_OUTGOING {
            return None;
        }
        self.messages.push_back(text);
        Some(self.next_id)
    }

    /// Queues a message and keeps a place for its reply. A call that cannot be answered any more is
    /// answered here, so that no caller waits for ever.
    pub(super) fn call(
        &mut self,
        session: Option<&str>,
        context: Option<i64>,
        method: &str,
        params: Value,
    ) -> u64 {
        let outlives_page = session.is_none()
            || method.starts_with("Fetch.")
            || method.starts_with("Network.")
            || method.starts_with("Target.")
            || matches!(
                method,
                "Page.navigate" | "Page.reload" | "Page.getNavigationHistory" | "Page.navigateToHistoryEntry"
            );
        let hopeless = if self.gone {
            Some(CallError::Gone)
        } else {
            session.and_then(|session| match self.sessions.get(session) {
                None => Some(CallError::Detached),
                Some(live) if live.crashed && !outlives_page => Some(CallError::Crashed),
                Some(_) => None,
            })
        };
        let sent = if hopeless.is_none() { self.send(session, method, params) } else { None };
        let id = sent.unwrap_or_else(|| {
            self.next_id = self.next_id.saturating_add(1);
            self.next_id
        });
        let reply = match (hopeless, sent) {
            (Some(error), _) => Some(Err(error)),
            (None, None) => Some(Err(CallError::Refused("the message is too large".to_owned()))),
            (None, Some(_)) => self.scope.answer(session, method),
        };
        self.calls.insert(id, Call { session: session.map(str::to_owned), context, outlives_page, reply });
        id
    }

    /// Answers every waiting call that `which` picks out with `error`.
    pub(super) fn fail_calls(&mut self, error: &CallError, which: impl Fn(&Call) -> bool) {
        for call in self.calls.values_mut().filter(|call| call.reply.is_none()) {
            if which(call) {
                call.reply = Some(Err(error.clone()));
            }
        }
    }

    pub(super) fn tab(&self, id: &str) -> Option<&Tab> {
        self.tabs.iter().find(|tab| tab.id == id)
    }

    pub(super) fn tab_mut(&mut self, id: &str) -> Option<&mut Tab> {
        self.tabs.iter_mut().find(|tab| tab.id == id)
    }

    pub(super) fn active_tab(&self) -> Option<&Tab> {
        self.tab(self.active.as_deref()?)
    }

    /// The tab whose top document `frame` is, where the message came from that tab's own session.
    pub(super) fn tab_of_top_frame(&mut self, session: &str, frame: &str) -> Option<&mut Tab> {
        let live = self.sessions.get(session)?;
        if live.target != frame || live.tab != frame {
            return None;
        }
        self.tab_mut(frame)
    }

    /// The session of an out-of-process frame.
    pub(super) fn session_of_frame(&self, frame: &str) -> Option<String> {
        self.sessions.iter().find(|(_, session)| session.target == frame).map(|(id, _)| id.clone())
    }

    pub(super) fn host_of_url(&self, url: &str) -> Option<String> {
        self.urls.parse(url).and_then(|url| url.host)
    }

    /// Tells the embedder which page the commands act on, where that changed.
    pub(super) fn announce(&mut self) {
        let host = match (&self.active, self.active_tab()) {
            (Some(_), Some(tab)) if tab.known => tab.host.clone(),
            // Before the first tab, and while a tab's document is not known, there is nothing to tell.
            (Some(_), _) => return,
            (None, _) if self.announced.is_none() => return,
            (None, _) => None,
        };
        let domain = host.and_then(|host| Domain::parse(&host, self.urls.as_ref()).ok());
        if self.announced.as_ref() != Some(&domain) {
            self.announced = Some(domain.clone());
            self.events.push_back(ExecutorEvent::PageChanged { domain });
        }
    }

    pub(super) fn note_dialog(&mut self, tab: &str, kind: &str, message: &str) {
        let Some(run) = self.run.as_mut().filter(|run| run.tab.as_deref() == Some(tab)) else { return };
        if run.dialogs.len() < MAX_DIALOGS {
            let message: String = message.chars().take(MAX_DIALOG_TEXT).collect();
            run.dialogs.push(json!({ "type": kind, "message": message }));
        }
    }

    /// Forgets the worlds that `which` picks out and answers the calls that ran in them.
    pub(super) fn forget_worlds(&mut self, which: impl Fn(&str, &str, i64) -> bool) {
        let mut contexts = BTreeSet::new();
        self.worlds.retain(|(session, frame), world| {
            let dropped = which(session, frame, world.context);
            if dropped {
                contexts.insert((session.clone(), world.context));
            }
            !dropped
        });
        self.fail_calls(&CallError::ContextGone, |call| match (&call.session, call.context) {
            (Some(session), Some(context)) => contexts.contains(&(session.clone(), context)),
            _ => false,
        });
    }
}
