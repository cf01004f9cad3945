//! The state machine against a scripted browser: whatever goes away, each command completes once.
#![allow(clippy::expect_used, clippy::indexing_slicing, clippy::panic, clippy::unwrap_used)]

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::executor::Job;
use super::{Executor, ExecutorConfig, ExecutorEvent, Scope};
use crate::{Domain, ErrorCode, Failure, Policy, Time, WhatwgUrlParser};

const TAB: &str = "T";
const SESSION: &str = "S";

/// Answers the executor as a browser with one page would.
struct Fake {
    executor: Executor,
    scope: Scope,
    now: Time,
    /// Calls of this method, or of this method of the injected script, are not answered.
    held: &'static str,
    origin: &'static str,
    /// The methods called, and of the injected script the method's name.
    called: Vec<String>,
    completed: Vec<(u64, Result<Value, Failure>)>,
    events: Vec<ExecutorEvent>,
}

impl Fake {
    fn new() -> Fake {
        Fake::of(Scope::Browser)
    }

    fn of(scope: Scope) -> Fake {
        let urls = Arc::new(WhatwgUrlParser);
        let policy = Arc::new(Policy::loopback(urls.as_ref()));
        let mut fake = Fake {
            executor: Executor::new(ExecutorConfig { scope, ..ExecutorConfig::new(urls, policy) }),
            scope,
            now: Time::from_micros(1_000_000),
            held: "",
            origin: "http://127.0.0.1:8080",
            called: Vec::new(),
            completed: Vec::new(),
            events: Vec::new(),
        };
        fake.executor.start(fake.now);
        fake.turn();
        fake
    }

    fn holding(held: &'static str) -> Fake {
        let mut fake = Fake::new();
        fake.held = held;
        fake
    }

    fn execute(&mut self, seq: u64, action: &str, params: Value) {
        let job = Job {
            seq,
            action: action.to_owned(),
            params,
            domain: "127.0.0.1".to_owned(),
            timeout: Duration::from_secs(5),
        };
        self.executor.run(job, self.now);
        self.turn();
    }

    fn say(&mut self, message: &Value) {
        self.executor.handle_message(message.to_string().as_bytes(), self.now);
    }

    fn event(&mut self, method: &str, params: Value) {
        let mut event = json!({ "method": method, "params": params });
        if self.scope == Scope::Browser {
            event["sessionId"] = SESSION.into();
        }
        self.say(&event);
        self.turn();
    }

    fn pass(&mut self, ms: u64) {
        self.now = self.now.after(Duration::from_millis(ms));
        self.executor.handle_timeout(self.now);
        self.turn();
    }

    /// Answers until there is nothing to answer.
    fn turn(&mut self) {
        while let Some(message) = self.executor.poll_message() {
            let message: Value = serde_json::from_slice(&message).expect("JSON");
            let method = message["method"].as_str().expect("a method").to_owned();
            let to_page = self.scope == Scope::Page || message.get("sessionId").is_some();
            let script = message.pointer("/params/arguments/0/value").and_then(Value::as_str);
            let name = script.unwrap_or(&method).to_owned();
            self.called.push(name.clone());
            if name == self.held {
                continue;
            }
            let result = self.result(&method, &name);
            let mut reply = json!({ "id": message["id"], "result": result });
            if let Some(session) = message.get("sessionId") {
                reply["sessionId"] = session.clone();
            }
            self.say(&reply);
            if method == "Target.setAutoAttach" && !to_page {
                self.say(&json!({ "method": "Target.attachedToTarget", "params": { "sessionId": SESSION,
                    "waitingForDebugger": false,
                    "targetInfo": { "targetId": TAB, "type": "page", "url": "http://127.0.0.1:8080/", "title": "" } } }));
            }
        }
        while let Some(event) = self.executor.poll_event() {
            if let ExecutorEvent::Completed { seq, outcome } = &event {
                let outcome = outcome.clone().map(|data| serde_json::from_str(data.as_str()).expect("JSON"));
                self.completed.push((*seq, outcome));
            }
            self.events.push(event);
        }
    }

    fn result(&self, method: &str, name: &str) -> Value {
        match method {
            "Page.getFrameTree" => json!({ "frameTree": { "frame": { "id": TAB, "loaderId": "L",
                "url": "http://127.0.0.1:8080/", "securityOrigin": "http://127.0.0.1:8080" } } }),
            // An embedder's own type, which is none of the executor's business.
            "Target.getTargetInfo" => json!({ "targetInfo": { "targetId": TAB, "type": "webview",
                "url": "http://127.0.0.1:8080/", "title": "now" } }),
            "Page.createIsolatedWorld" => json!({ "executionContextId": 7 }),
            "Runtime.evaluate" => json!({ "result": { "objectId": "api" } }),
            "Runtime.callFunctionOn" => {
                let value = match name {
                    "text" => json!({ "ok": true, "text": "hi", "truncated": false }),
                    "aim" => json!({ "ok": true, "x": 5, "y": 6, "width": 800, "height": 600 }),
                    "disarm" => json!({ "seen": true, "reached": true }),
                    _ => Value::Null,
                };
                let href = format!("{}/", self.origin);
                json!({ "result": { "value": { "value": value, "origin": self.origin, "href": href, "now": 1.5 } } })
            }
            _ => json!({}),
        }
    }

    fn code(&self, seq: u64) -> ErrorCode {
        let mut found = self.completed.iter().filter(|(completed, _)| *completed == seq);
        let (_, outcome) = found.next().expect("completed");
        assert!(found.next().is_none(), "completed twice");
        outcome.as_ref().expect_err("a failure").code
    }

    fn pressed(&self) -> bool {
        self.called.iter().any(|method| method.starts_with("Input."))
    }
}

#[test]
fn it_is_ready_once_the_page_is_known_and_tells_its_domain() {
    let fake = Fake::new();
    let domain = Domain::parse("127.0.0.1", &WhatwgUrlParser).ok();
    assert_eq!(fake.events, [ExecutorEvent::Ready, ExecutorEvent::PageChanged { domain }]);
}

#[test]
fn commands_run_in_the_order_they_came() {
    let mut fake = Fake::holding("text");
    fake.execute(1, "getText", json!({ "selector": "p" }));
    fake.execute(2, "click", json!({ "selector": "p" }));
    assert!(fake.completed.is_empty() && !fake.pressed());
    fake.held = "";
    fake.event("Runtime.executionContextsCleared", json!({}));
    fake.pass(20);
    assert_eq!(fake.completed[0], (1, Ok(json!({ "text": "hi", "truncated": false }))));
    assert_eq!(fake.completed[1], (2, Ok(json!({}))));
    assert_eq!(fake.completed.len(), 2);
}

#[test]
fn a_call_whose_document_went_away_is_made_again_in_the_next_one() {
    for event in [
        ("Runtime.executionContextsCleared", json!({})),
        ("Runtime.executionContextDestroyed", json!({ "executionContextId": 7 })),
        (
            "Page.frameNavigated",
            json!({ "frame": { "id": TAB, "loaderId": "M", "url": "http://127.0.0.1:8080/",
                "securityOrigin": "http://127.0.0.1:8080" } }),
        ),
    ] {
        let mut fake = Fake::holding("text");
        fake.execute(1, "getText", json!({ "selector": "p" }));
        fake.held = "";
        fake.event(event.0, event.1);
        fake.pass(20);
        assert_eq!(fake.completed, [(1, Ok(json!({ "text": "hi", "truncated": false })))], "{}", event.0);
    }
}

#[test]
fn a_command_that_is_never_answered_ends_at_its_deadline_whatever_it_waits_for() {
    for held in
        ["Page.createIsolatedWorld", "Runtime.evaluate", "facts", "aim", "Input.dispatchMouseEvent", "disarm"]
    {
        let mut fake = Fake::holding(held);
        fake.execute(1, "click", json!({ "selector": "p" }));
        fake.pass(5399);
        assert_eq!(fake.completed, [], "{held}");
        fake.pass(1);
        assert_eq!(fake.code(1), ErrorCode::CmdTimeout, "{held}");
        // A late answer changes nothing.
        for id in 1..60 {
            fake.say(&json!({ "id": id, "result": {} }));
        }
        fake.pass(60_000);
        assert_eq!(fake.completed.len(), 1, "{held}");
        assert_eq!(fake.executor.poll_timeout(), None, "{held}");
    }
}

#[test]
fn a_navigation_that_is_never_answered_is_stopped() {
    let mut fake = Fake::holding("Page.navigate");
    fake.execute(1, "navigate", json!({ "url": "http://127.0.0.1:8080/b" }));
    fake.pass(5000);
    assert_eq!(fake.code(1), ErrorCode::CmdNavigationFailed);
    for method in ["Page.stopLoading", "Fetch.disable", "Network.disable"] {
        assert!(fake.called.iter().any(|called| called == method), "{method}");
    }
}

#[test]
fn the_end_of_the_browser_completes_everything_once() {
    let mut fake = Fake::holding("text");
    fake.execute(1, "getText", json!({ "selector": "p" }));
    fake.execute(2, "getText", json!({ "selector": "p" }));
    fake.executor.handle_disconnect(fake.now);
    fake.executor.handle_disconnect(fake.now);
    fake.turn();
    fake.execute(3, "getText", json!({ "selector": "p" }));
    fake.pass(60_000);
    for seq in 1..=3 {
        assert_eq!(fake.code(seq), ErrorCode::InternalExecutorGone);
    }
    assert_eq!(fake.events.iter().filter(|event| **event == ExecutorEvent::Disconnected).count(), 1);
    assert_eq!(fake.executor.poll_timeout(), None);
}

#[test]
fn a_crash_ends_the_command_and_every_later_one_until_a_navigation() {
    let mut fake = Fake::holding("text");
    fake.execute(1, "getText", json!({ "selector": "p" }));
    fake.event("Inspector.targetCrashed", json!({}));
    assert_eq!(fake.code(1), ErrorCode::CmdPageCrashed);
    fake.held = "";
    fake.execute(2, "getText", json!({ "selector": "p" }));
    assert_eq!(fake.code(2), ErrorCode::CmdPageCrashed);
    let frame = json!({ "id": TAB, "loaderId": "M", "url": "http://127.0.0.1:8080/",
        "securityOrigin": "http://127.0.0.1:8080" });
    fake.event("Page.frameNavigated", json!({ "frame": frame }));
    fake.execute(3, "getText", json!({ "selector": "p" }));
    assert!(fake.completed[2].1.is_ok());
}

#[test]
fn a_tab_that_closes_ends_the_command_and_clears_the_page() {
    let mut fake = Fake::holding("text");
    fake.execute(1, "getText", json!({ "selector": "p" }));
    fake.say(&json!({ "method": "Target.targetDestroyed", "params": { "targetId": TAB } }));
    fake.turn();
    assert_eq!(fake.code(1), ErrorCode::CmdExecutionFailed);
    assert!(fake.events.contains(&ExecutorEvent::PageChanged { domain: None }));
    fake.execute(2, "click", json!({ "selector": "p" }));
    assert_eq!(fake.code(2), ErrorCode::CmdExecutionFailed);
}

#[test]
fn a_cancelled_command_does_nothing_more_and_makes_room_for_the_next() {
    let mut fake = Fake::holding("aim");
    fake.execute(1, "click", json!({ "selector": "p" }));
    fake.execute(2, "getText", json!({ "selector": "p" }));
    fake.execute(3, "getText", json!({ "selector": "p" }));
    fake.executor.cancel(3, fake.now);
    fake.executor.cancel(1, fake.now);
    fake.executor.cancel(99, fake.now);
    fake.turn();
    fake.pass(60_000);
    assert_eq!(fake.completed, [(2, Ok(json!({ "text": "hi", "truncated": false })))]);
    assert!(!fake.pressed());
}

#[test]
fn no_input_goes_to_a_document_on_another_domain() {
    for (origin, code) in [
        ("http://localhost:8080", ErrorCode::MacDomainMismatch),
        ("null", ErrorCode::MacDomainMismatch),
        ("https://other.example", ErrorCode::MacDomainMismatch),
    ] {
        for action in ["click", "hover", "type", "select", "pressKey", "scroll", "getText", "waitFor"] {
            let mut fake = Fake::new();
            fake.origin = origin;
            fake.execute(1, action, json!({ "selector": "p", "text": "x", "key": "Enter", "value": "v" }));
            assert_eq!(fake.code(1), code, "{action} {origin}");
            let acted = ["prepare", "focus", "select", "scrollTo", "text"];
            assert!(!fake.called.iter().any(|called| acted.contains(&called.as_str())), "{action} {origin}");
            assert!(!fake.pressed(), "{action} {origin}");
        }
    }
}

#[test]
fn a_policy_that_changed_while_the_element_was_waited_for_counts() {
    let mut fake = Fake::holding("aim");
    fake.execute(1, "click", json!({ "selector": "p" }));
    fake.executor.set_policy(Arc::new(Policy::deny_all()));
    fake.held = "";
    fake.event("Runtime.executionContextsCleared", json!({}));
    fake.pass(20);
    assert_eq!(fake.code(1), ErrorCode::MacDomainDenied);
    assert!(!fake.pressed());
}

#[test]
fn a_dialog_is_answered_at_once_and_told() {
    let mut fake = Fake::holding("Input.dispatchMouseEvent");
    fake.execute(1, "click", json!({ "selector": "p" }));
    fake.event("Page.javascriptDialogOpening", json!({ "type": "alert", "message": "m", "url": "" }));
    assert_eq!(fake.called.last().map(String::as_str), Some("Page.handleJavaScriptDialog"));
    fake.executor.handle_disconnect(fake.now);
}

#[test]
fn what_the_browser_should_not_say_is_ignored() {
    let mut fake = Fake::new();
    for message in [
        "",
        "{",
        "[]",
        "null",
        "{}",
        "{\"id\":1}",
        "{\"id\":-1,\"result\":{}}",
        "{\"id\":1e300}",
        "{\"method\":7}",
        "{\"method\":\"Page.frameNavigated\"}",
        "{\"method\":\"Page.frameNavigated\",\"sessionId\":\"S\",\"params\":{}}",
        "{\"method\":\"Target.attachedToTarget\",\"params\":{\"targetInfo\":[]}}",
        "{\"method\":\"Target.detachedFromTarget\",\"params\":{}}",
        "{\"method\":\"Fetch.requestPaused\",\"sessionId\":\"?\"}",
        "{\"method\":\"Inspector.targetCrashed\",\"sessionId\":\"?\"}",
        "{\"method\":\"nonsense\",\"sessionId\":\"S\"}",
    ] {
        fake.executor.handle_message(message.as_bytes(), fake.now);
    }
    fake.turn();
    fake.execute(1, "getText", json!({ "selector": "p" }));
    assert_eq!(fake.completed, [(1, Ok(json!({ "text": "hi", "truncated": false })))]);
}

#[test]
fn too_many_waiting_commands_are_refused() {
    let mut fake = Fake::holding("text");
    for seq in 1..=66 {
        fake.execute(seq, "getText", json!({ "selector": "p" }));
    }
    assert_eq!(fake.code(66), ErrorCode::InternalOverloaded);
    assert_eq!(fake.completed.len(), 1);
}

#[test]
fn the_session_of_one_page_is_asked_for_nothing_of_the_browser_around_it() {
    let mut fake = Fake::of(Scope::Page);
    let domain = Domain::parse("127.0.0.1", &WhatwgUrlParser).ok();
    assert_eq!(fake.events, [ExecutorEvent::Ready, ExecutorEvent::PageChanged { domain }]);
    fake.execute(1, "click", json!({ "selector": "p" }));
    fake.execute(2, "listTabs", json!({}));
    fake.execute(3, "activateTab", json!({ "tab_id": TAB }));
    fake.execute(4, "activateTab", json!({ "tab_id": "another" }));
    let tab = json!({ "id": TAB, "url": "http://127.0.0.1:8080/", "title": "now", "active": true });
    assert_eq!(
        fake.completed[..3],
        [(1, Ok(json!({}))), (2, Ok(json!({ "tabs": [tab] }))), (3, Ok(json!({}))),]
    );
    assert_eq!(fake.code(4), ErrorCode::CmdExecutionFailed);
    let beyond = ["Target.getTargetInfo", "Target.setAutoAttach"];
    let asked = fake.called.iter().filter(|method| {
        (method.starts_with("Target.") || method.starts_with("Browser."))
            && !beyond.contains(&method.as_str())
    });
    assert_eq!(asked.count(), 0, "{:?}", fake.called);
    // What the page's session says of itself carries no session's id.
    fake.event("Inspector.targetCrashed", json!({}));
    fake.execute(5, "click", json!({ "selector": "p" }));
    assert_eq!(fake.code(5), ErrorCode::CmdPageCrashed);
}

#[test]
fn the_session_of_one_page_has_the_sessions_of_its_frames_below_it() {
    let mut fake = Fake::of(Scope::Page);
    fake.event(
        "Target.attachedToTarget",
        json!({ "sessionId": "F", "targetInfo": { "targetId": "frame", "type": "iframe", "url": "", "title": "" } }),
    );
    let message = json!({ "method": "Target.attachedToTarget", "sessionId": "F", "params": { "sessionId": "W",
        "targetInfo": { "targetId": "worker", "type": "worker", "url": "", "title": "" } } });
    fake.executor.handle_message(message.to_string().as_bytes(), fake.now);
    let mut said = Vec::new();
    while let Some(message) = fake.executor.poll_message() {
        said.push(serde_json::from_slice::<Value>(&message).expect("JSON"));
    }
    let last = said.last().expect("a message");
    assert_eq!((&last["method"], &last["sessionId"]), (&json!("Target.detachFromTarget"), &json!("F")));
}

#[test]
fn a_page_that_opens_a_window_is_not_waited_for_where_it_is_the_only_one() {
    for (scope, at_once) in [(Scope::Page, true), (Scope::Browser, false)] {
        let mut fake = Fake::of(scope);
        fake.held = "settle";
        fake.execute(1, "click", json!({ "selector": "p" }));
        fake.event("Page.windowOpen", json!({ "url": "http://127.0.0.1:8080/b" }));
        fake.pass(1000);
        assert_eq!(!fake.completed.is_empty(), at_once, "{scope:?}");
        fake.pass(1000);
        assert_eq!(fake.completed, [(1, Ok(json!({})))], "{scope:?}");
    }
}
