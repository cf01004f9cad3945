use serde_json::json;

use super::call::{CallError, page_crashed, tab_closed};
use super::scope::Scope;
use super::script::{INJECTED, WORLD};
use super::state::{Policed, Session, State, Tab};
use crate::json::Value;
use crate::{ErrorCode, Failure};

/// A text member of an event's params; "" where there is none, which names nothing.
fn text<'v>(params: &'v Value<'_>, key: &str) -> &'v str {
    params.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// An owned copy of a browser's value.
pub(super) fn owned(value: &Value<'_>) -> serde_json::Value {
    match value {
        Value::Null => serde_json::Value::Null,
        Value::Bool(truth) => (*truth).into(),
        Value::Number(number) => match value.as_integer() {
            Some(whole) => whole.into(),
            None => (*number).into(),
        },
        Value::String(text) => text.as_ref().into(),
        Value::Array(elements) => elements.iter().map(owned).collect(),
        Value::Object(object) => object
            .iter()
            .map(|(key, value)| (key.to_owned(), owned(value)))
            .collect::<serde_json::Map<_, _>>()
            .into(),
    }
}

impl State {
    /// Takes one message of the browser.
    pub(super) fn receive(&mut self, message: &Value<'_>) {
        if let Some(id) = message.get("id").and_then(Value::as_integer).and_then(|id| u64::try_from(id).ok())
        {
            self.receive_reply(id, message);
            return;
        }
        let Some(method) = message.get("method").and_then(Value::as_str) else { return };
        let session = self.scope.inward(message.get("sessionId").and_then(Value::as_str));
        let nothing = Value::Null;
        let params = message.get("params").unwrap_or(&nothing);
        match (session, method.split_once('.')) {
            (_, Some(("Target", event))) => self.target_event(session, event, params),
            (Some(session), Some(("Page", event))) => self.page_event(session, event, params),
            (Some(session), Some(("Runtime", event))) => self.runtime_event(session, event, params),
            (Some(session), Some(("Network", event))) => self.network_event(session, event, params),
            (Some(session), Some(("Fetch", "requestPaused"))) => self.request_paused(session, params),
            (Some(session), Some(("Inspector", "targetCrashed"))) => self.crashed(session),
            (Some(session), Some(("Inspector", "targetReloadedAfterCrash"))) => {
                if let Some(live) = self.sessions.get_mut(session) {
                    live.crashed = false;
                }
            }
            _ => {}
        }
    }

    fn receive_reply(&mut self, id: u64, message: &Value<'_>) {
        if let Some(tab) = self.trees.remove(&id) {
            if let Some(frame) =
                message.get("result").and_then(|r| r.get("frameTree")).and_then(|t| t.get("frame"))
            {
                self.committed(&tab, frame, false);
            } else if let Some(tab) = self.tab_mut(&tab) {
                tab.known = true;
            }
            return;
        }
        let stood_in = self.asked.remove(&id).zip(message.get("result"));
        let stood_in = stood_in.map(|(asked, told)| self.stood_in(asked, told));
        // A reply to a call that was given up, or that we never made.
        let Some(call) = self.calls.get_mut(&id).filter(|call| call.reply.is_none()) else { return };
        call.reply = Some(match message.get("error") {
            None => {
                Ok(stood_in.unwrap_or_else(|| message.get("result").map_or(serde_json::Value::Null, owned)))
            }
            Some(error) => {
                let why = text(error, "message");
                let document_gone = [
                    "Cannot find context",
                    "Execution context was destroyed",
                    "uniqueContextId not found",
                    "Could not find object",
                    "Inspected target navigated or closed",
                    "Cannot find object",
                    "No frame for given id",
                    "No frame with given id",
                    "Frame with the given",
                    "Could not compute box model",
                    "Could not find node",
                ];
                if document_gone.iter().any(|known| why.contains(known)) {
                    Err(CallError::ContextGone)
                } else if why.contains("Session with given id not found") || why.contains("Target closed") {
                    Err(CallError::Detached)
                } else if why.contains("Target crashed") {
                    Err(CallError::Crashed)
                } else {
                    Err(CallError::Refused(why.chars().take(200).collect()))
                }
            }
        });
    }

    // ---- targets ----

    fn target_event(&mut self, parent: Option<&str>, event: &str, params: &Value<'_>) {
        match event {
            "attachedToTarget" => self.attached(parent, params),
            "detachedFromTarget" => self.detached(text(params, "sessionId")),
            "targetCreated" | "targetInfoChanged" => {
                if let Some(info) = params.get("targetInfo") {
                    self.note_tab(info);
                }
            }
            "targetDestroyed" => self.tab_gone(text(params, "targetId")),
            "targetCrashed" => {
                let target = text(params, "targetId");
                let sessions: Vec<String> = self
                    .sessions
                    .iter()
                    .filter(|(_, session)| session.target == target)
                    .map(|(id, _)| id.clone())
                    .collect();
                for session in sessions {
                    self.crashed(&session);
                }
            }
            _ => {}
        }
    }

    fn note_tab(&mut self, info: &Value<'_>) {
        // A prerendered page is not a tab until it is shown, and then it takes the tab's place.
        if text(info, "type") != "page" || !text(info, "subtype").is_empty() {
            return;
        }
        let id = text(info, "targetId");
        if self.tab(id).is_none() {
            let opener = info.get("openerId").and_then(Value::as_str).map(str::to_owned);
            self.tabs.push(Tab { id: id.to_owned(), opener, ..Tab::default() });
            let active = self.active.clone();
            if let Some(run) = self.run.as_mut() {
                run.opened.push(id.to_owned());
                if let Some(active) = active {
                    self.send(None, "Target.activateTarget", json!({ "targetId": active }));
                }
            }
        }
        if let Some(tab) = self.tab_mut(id) {
            tab.url = text(info, "url").to_owned();
            tab.title = text(info, "title").to_owned();
        }
    }

    pub(super) fn attached(&mut self, parent: Option<&str>, params: &Value<'_>) {
        let session = text(params, "sessionId").to_owned();
        let Some(info) = params.get("targetInfo") else { return };
        let target = text(info, "targetId").to_owned();
        let kind = text(info, "type");
        let tab = match (kind, parent.and_then(|parent| self.sessions.get(parent))) {
            ("page", _) => Some(target.clone()),
            ("iframe", Some(parent)) => Some(parent.tab.clone()),
            _ => None,
        };
        let Some(tab) = tab else {
            self.send(Some(&session), "Runtime.runIfWaitingForDebugger", json!({}));
            self.send(parent, "Target.detachFromTarget", json!({ "sessionId": session }));
            return;
        };
        self.note_tab(info);
        let parent = parent.map(str::to_owned);
        self.sessions
            .insert(session.clone(), Session { target: target.clone(), tab, parent, crashed: false });
        let session = session.as_str();
        // A frame that waits has no document yet to run the script in, and Chromium 131 dies of the try.
        let waits = matches!(params.get("waitingForDebugger"), Some(Value::Bool(true)));
        let auto = json!({ "autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true,
            "filter": [{ "type": "iframe" }] });
        self.send(Some(session), "Inspector.enable", json!({}));
        self.send(Some(session), "Page.enable", json!({}));
        self.send(Some(session), "Runtime.enable", json!({}));
        self.send(Some(session), "Target.setAutoAttach", auto);
        self.send(
            Some(session),
            "Page.addScriptToEvaluateOnNewDocument",
            json!({ "source": INJECTED, "worldName": WORLD,
                "runImmediately": kind == "page" || !waits }),
        );
        self.send(
            Some(session),
            "Page.setInterceptFileChooserDialog",
            json!({ "enabled": true, "cancel": true }),
        );
        if kind == "page" {
            self.send(Some(session), "Page.setLifecycleEventsEnabled", json!({ "enabled": true }));
            self.send(Some(session), "Emulation.setFocusEmulationEnabled", json!({ "enabled": true }));
            if let Some(id) = self.send(Some(session), "Page.getFrameTree", json!({})) {
                self.trees.insert(id, target.clone());
            }
            if let Some(tab) = self.tab_mut(&target) {
                tab.session = Some(session.to_owned());
            }
        }
        self.send(Some(session), "Runtime.runIfWaitingForDebugger", json!({}));
    }

    fn detached(&mut self, session: &str) {
        let Some(gone) = self.sessions.remove(session) else { return };
        let children: Vec<String> = self
            .sessions
            .iter()
            .filter(|(_, child)| child.parent.as_deref() == Some(session))
            .map(|(id, _)| id.clone())
            .collect();
        for child in children {
            self.detached(&child);
        }
        self.worlds.retain(|(of, _), _| of != session);
        self.fail_calls(&CallError::Detached, |call| call.session.as_deref() == Some(session));
        if gone.target == gone.tab {
            self.tab_gone(&gone.tab);
        }
    }

    fn tab_gone(&mut self, id: &str) {
        if self.tab(id).is_none() {
            return;
        }
        let opener = self.tab(id).and_then(|tab| tab.opener.clone());
        self.tabs.retain(|tab| tab.id != id);
        if let Some(run) = self.run.as_mut() {
            run.opened.retain(|opened| opened != id);
            if run.tab.as_deref() == Some(id) && run.fatal.is_none() {
                run.fatal = Some(tab_closed());
            }
        }
        if self.active.as_deref() == Some(id) {
            let next = opener.filter(|opener| self.tab(opener).is_some());
            self.active = next.or_else(|| self.tabs.last().map(|tab| tab.id.clone()));
            if let Some(active) = self.active.clone() {
                self.send(None, "Target.activateTarget", json!({ "targetId": active }));
            }
            self.announce();
        }
    }

    fn crashed(&mut self, session: &str) {
        let Some(live) = self.sessions.get_mut(session) else { return };
        live.crashed = true;
        let (target, of) = (live.target.clone(), live.tab.clone());
        self.worlds.retain(|(of, _), _| of != session);
        self.fail_calls(&CallError::Crashed, |call| {
            call.session.as_deref() == Some(session) && !call.outlives_page
        });
        if target != of {
            return;
        }
        // The tab keeps its host, so that the command which finds it dead is told so.
        if let Some(tab) = self.tab_mut(&of) {
            tab.crashed = true;
        }
        if let Some(run) =
            self.run.as_mut().filter(|run| run.tab.as_deref() == Some(&of) && !run.survives_crash)
        {
            run.fatal.get_or_insert_with(page_crashed);
        }
    }

    // ---- documents ----

    fn page_event(&mut self, session: &str, event: &str, params: &Value<'_>) {
        let frame = text(params, "frameId");
        match event {
            "javascriptDialogOpening" => {
                let kind = text(params, "type");
                let accept = kind == "beforeunload";
                self.send(Some(session), "Page.handleJavaScriptDialog", json!({ "accept": accept }));
                if let Some(tab) = self.sessions.get(session).map(|live| live.tab.clone()) {
                    self.note_dialog(&tab, kind, text(params, "message"));
                }
            }
            "frameRequestedNavigation" if text(params, "disposition") == "currentTab" => {
                if let Some(tab) = self.tab_of_top_frame(session, frame) {
                    tab.progress.requested = true;
                }
            }
            "frameStartedNavigating" => {
                let within = matches!(text(params, "navigationType"), "sameDocument" | "historySameDocument");
                if let Some(tab) = self.tab_of_top_frame(session, frame).filter(|_| !within) {
                    tab.progress.started(text(params, "loaderId"));
                }
            }
            "frameStoppedLoading" => {
                if let Some(tab) = self.tab_of_top_frame(session, frame) {
                    tab.progress.stopped();
                }
            }
            "frameNavigated" => {
                let Some(frame) = params.get("frame") else { return };
                let id = text(frame, "id").to_owned();
                let restored = text(params, "type") == "BackForwardCacheRestore";
                self.forget_worlds(|of, frame, _| of == session && frame == id);
                if self.tab_of_top_frame(session, &id).is_some() {
                    self.committed(&id, frame, restored);
                }
            }
            "navigatedWithinDocument" => {
                let url = text(params, "url");
                if let Some(tab) = self.tab_of_top_frame(session, frame) {
                    tab.url = url.to_owned();
                    tab.progress.moved_within(url);
                }
            }
            "frameDetached" => self.forget_worlds(|of, gone, _| of == session && gone == frame),
            "lifecycleEvent" => {
                if let Some(tab) = self.tab_of_top_frame(session, frame) {
                    tab.progress.lifecycle(text(params, "loaderId"), text(params, "name"));
                }
            }
            "downloadWillBegin" => {
                if let Some(tab) = self.tab_of_top_frame(session, frame) {
                    tab.progress.downloads = tab.progress.downloads.saturating_add(1);
                }
            }
            // Where the page is all there is no tab will follow.
            "windowOpen" if self.scope == Scope::Browser => {
                if let Some(run) = self.run.as_mut() {
                    run.windows = run.windows.saturating_add(1);
                }
            }
            _ => {}
        }
    }

    /// The top document of `tab` is another one now.
    fn committed(&mut self, tab: &str, frame: &Value<'_>, restored: bool) {
        let url = format!("{}{}", text(frame, "url"), text(frame, "urlFragment"));
        let failed = !text(frame, "unreachableUrl").is_empty();
        // A sandboxed document has a URL with a host, but not that host's origin.
        let origin = self.host_of_url(text(frame, "securityOrigin"));
        let host = self.host_of_url(&url).filter(|host| !failed && origin.as_ref() == Some(host));
        let Some(tab) = self.tab_mut(tab) else { return };
        tab.url = url.clone();
        tab.host = host;
        tab.known = true;
        tab.crashed = false;
        tab.progress.committed(text(frame, "loaderId"), &url, failed, restored);
        if let Some(session) = tab.session.clone().and_then(|id| self.sessions.get_mut(&id)) {
            session.crashed = false;
        }
        self.announce();
    }

    fn runtime_event(&mut self, session: &str, event: &str, params: &Value<'_>) {
        match event {
            "executionContextsCleared" => {
                self.forget_worlds(|of, _, _| of == session);
                self.fail_calls(&CallError::ContextGone, |call| {
                    call.session.as_deref() == Some(session) && call.context.is_some()
                });
            }
            "executionContextDestroyed" => {
                let gone = params.get("executionContextId").and_then(Value::as_integer);
                self.forget_worlds(|of, _, context| of == session && Some(context) == gone);
                self.fail_calls(&CallError::ContextGone, |call| {
                    call.session.as_deref() == Some(session) && call.context.is_some() && call.context == gone
                });
            }
            _ => {}
        }
    }

    // ---- the network, while a navigation runs ----

    fn network_event(&mut self, session: &str, event: &str, params: &Value<'_>) {
        let Some(tab) = self.sessions.get(session).map(|live| live.tab.clone()) else { return };
        let request = text(params, "requestId");
        let frame = text(params, "frameId").to_owned();
        let Some(tab) = self.tab_mut(&tab) else { return };
        match event {
            "requestWillBeSent" if text(params, "type") == "Document" && frame == tab.id => {
                tab.progress.asked = true;
            }
            "responseReceived" if text(params, "type") == "Document" && frame == tab.id => {
                let status = params.get("response").and_then(|r| r.get("status")).and_then(Value::as_integer);
                tab.progress.response = status.map(|status| (request.to_owned(), status));
            }
            "loadingFailed" if text(params, "type") == "Document" => {
                tab.progress.failure = Some((request.to_owned(), text(params, "errorText").to_owned()));
            }
            _ => {}
        }
    }

    fn request_paused(&mut self, session: &str, params: &Value<'_>) {
        let request = text(params, "requestId").to_owned();
        let of_top = self.tab_of_top_frame(session, text(params, "frameId")).is_some();
        let url = params.get("request").map(|request| text(request, "url")).unwrap_or_default();
        let policed = self.run.as_ref().filter(|_| of_top).and_then(|run| run.policed);
        let refused = policed.and_then(|policed| self.refuse_url(url, policed));
        match refused {
            None => {
                self.send(Some(session), "Fetch.continueRequest", json!({ "requestId": request }));
            }
            Some(failure) => {
                // "Aborted" leaves the old page where it is, without an error page.
                let params = json!({ "requestId": request, "errorReason": "Aborted" });
                self.send(Some(session), "Fetch.failRequest", params);
                if let Some(run) = self.run.as_mut() {
                    run.denied.get_or_insert(failure);
                }
            }
        }
    }

    /// Why the policy does not let a tab go to `url` (contract section 9).
    pub(super) fn refuse_url(&self, url: &str, policed: Policed) -> Option<Failure> {
        let refused = match self.urls.parse(url) {
            Some(parsed) if policed == Policed::Navigate => self.policy.check_navigation(&parsed),
            Some(parsed) if parsed.host.as_deref().is_some_and(|host| self.policy.domain_allowed(host)) => {
                self.policy.check_scheme(&parsed)
            }
            Some(_) => {
                Err(Failure::new(ErrorCode::MacDomainDenied, "the target is not on an allowed domain"))
            }
            None => Err(Failure::new(
                ErrorCode::MacUrlDenied,
                "the URL parser refuses the target of the navigation",
            )),
        };
        // Where a host is allowed, but not to go to, it is the domain that is refused.
        refused.err().map(|failure| match failure.code {
            ErrorCode::MacActionDenied => Failure { code: ErrorCode::MacDomainDenied, ..failure },
            _ => failure,
        })
    }
}
