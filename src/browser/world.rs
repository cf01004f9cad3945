use serde_json::{Value, json};

use super::call::{CallError, Script};
use super::script::{INJECTED, WORLD};
use crate::{ErrorCode, Failure, Time};

/// The group of the element handles that a command takes; let go at its end.
const HANDLES: &str = "sgclaw";

/// The isolated world of one document.
#[derive(Clone)]
pub(super) struct World {
    pub(super) session: String,
    pub(super) context: i64,
    api: String,
    /// What the page's clock showed, in ms, no later than the executor's clock showed this.
    clock: (f64, Time),
}

/// What the injected script answered, and from where.
pub(super) struct Answer {
    pub(super) value: Value,
    origin: String,
    href: String,
}

impl Answer {
    pub(super) fn number(&self, key: &str) -> f64 {
        self.value.get(key).and_then(Value::as_f64).unwrap_or_default()
    }

    pub(super) fn flag(&self, key: &str) -> bool {
        self.value.get(key).and_then(Value::as_bool).unwrap_or_default()
    }

    pub(super) fn text(&self, key: &str) -> Option<&str> {
        self.value.get(key).and_then(Value::as_str)
    }
}

impl World {
    /// A time of the executor on the page's clock, in ms. Errs on the early side.
    pub(super) fn page_time(&self, time: Time) -> f64 {
        let (page, ours) = self.clock;
        page + time.since(ours).as_secs_f64() * 1000.0
    }
}

impl Script {
    /// The tab that the command acts on, and its session.
    pub(super) fn tab(&self) -> Result<(String, String), Failure> {
        self.with(|state| {
            let tab = state.run.as_ref().and_then(|run| run.tab.as_deref()).and_then(|id| state.tab(id));
            match tab {
                None => Err(super::call::tab_closed()),
                Some(tab) if tab.crashed => Err(super::call::page_crashed()),
                Some(tab) => match &tab.session {
                    Some(session) => Ok((tab.id.clone(), session.clone())),
                    None => Err(super::call::tab_closed()),
                },
            }
        })
    }

    /// The isolated world of the document that `frame` holds now.
    pub(super) async fn world(&self, session: &str, frame: &str) -> Result<World, CallError> {
        let key = (session.to_owned(), frame.to_owned());
        if let Some(world) = self.with(|state| state.worlds.get(&key).cloned()) {
            return Ok(world);
        }
        let params = json!({ "frameId": frame, "worldName": WORLD });
        let made = self.call(session, "Page.createIsolatedWorld", params).await?;
        let context = made.get("executionContextId").and_then(Value::as_i64).ok_or(CallError::ContextGone)?;
        let params = json!({ "expression": INJECTED, "contextId": context });
        let loaded = self.call_in(session, context, "Runtime.evaluate", params).await?;
        let api = loaded.pointer("/result/objectId").and_then(Value::as_str).ok_or(CallError::ContextGone)?;
        let mut world =
            World { session: session.to_owned(), context, api: api.to_owned(), clock: (0.0, self.now()) };
        let result = self.invoke(&world, "facts", json!({})).await?;
        world.clock = (result.pointer("/now").and_then(Value::as_f64).unwrap_or_default(), self.now());
        self.with(|state| state.worlds.insert(key, world.clone()));
        Ok(world)
    }

    /// A call that runs script in a world.
    async fn evaluated(&self, world: &World, method: &str, params: Value) -> Result<Value, CallError> {
        let reply = self.call_in(&world.session, world.context, method, params).await?;
        if reply.get("exceptionDetails").is_some() { Err(CallError::Thrown) } else { Ok(reply) }
    }

    async fn invoke(&self, world: &World, name: &str, params: Value) -> Result<Value, CallError> {
        let params = json!({
            "objectId": world.api,
            "functionDeclaration": "function(name, parameters) { return this.answer(name, parameters) }",
            "arguments": [{ "value": name }, { "value": params }],
            "returnByValue": true,
            "awaitPromise": true,
        });
        let mut reply = self.evaluated(world, "Runtime.callFunctionOn", params).await?;
        Ok(reply.pointer_mut("/result/value").map(Value::take).unwrap_or_default())
    }

    /// Calls one method of the injected script.
    pub(super) async fn ask(&self, world: &World, name: &str, params: Value) -> Result<Answer, CallError> {
        let mut result = self.invoke(world, name, params).await?;
        let text = |key: &str| result.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let (origin, href) = (text("origin"), text("href"));
        Ok(Answer { value: result.get_mut("value").map(Value::take).unwrap_or_default(), origin, href })
    }

    /// Calls a method of the injected script that finds a frame element; the element's handle and
    /// the id of the frame it holds.
    pub(super) async fn frame_owner(
        &self,
        world: &World,
        method: &str,
        selector: &str,
    ) -> Result<Option<(String, String)>, CallError> {
        let params = json!({
            "objectId": world.api,
            "functionDeclaration": "function(name, selector) { return this[name](selector) }",
            "arguments": [{ "value": method }, { "value": selector }],
            "objectGroup": HANDLES,
        });
        self.with(|state| {
            let Some(run) = state.run.as_mut() else { return };
            let release =
                (world.session.clone(), "Runtime.releaseObjectGroup", json!({ "objectGroup": HANDLES }));
            if !run.cleanup.contains(&release) {
                run.cleanup.push(release);
            }
        });
        let reply = self.evaluated(world, "Runtime.callFunctionOn", params).await?;
        let Some(object) = reply.pointer("/result/objectId").and_then(Value::as_str) else { return Ok(None) };
        let node = self
            .call_in(&world.session, world.context, "DOM.describeNode", json!({ "objectId": object }))
            .await?;
        let frame = node.pointer("/node/frameId").and_then(Value::as_str);
        Ok(frame.map(|frame| (object.to_owned(), frame.to_owned())))
    }

    /// The host of the document that answered. Its origin decides, which an `about:blank` or
    /// `srcdoc` frame inherits; a top document must also have that host in its URL.
    fn host(&self, answer: &Answer, top: bool) -> Option<String> {
        self.with(|state| {
            let host = state.host_of_url(&answer.origin)?;
            (!top || state.host_of_url(&answer.href).as_ref() == Some(&host)).then_some(host)
        })
    }

    /// Checks the document that is acted upon against `expected_domain` and the newest policy
    /// (contract sections 8 and 9).
    pub(super) fn judge(&self, answer: &Answer, top: bool) -> Result<(), Failure> {
        self.judge_host(self.host(answer, top).as_deref())
    }

    pub(super) fn judge_host(&self, host: Option<&str>) -> Result<(), Failure> {
        let expected = self.job.domain.as_str();
        let action = self.job.action.as_str();
        self.with(|state| state.policy.check_domain(expected, action))?;
        if host == Some(expected) {
            return Ok(());
        }
        // Which one is not told: the agent may not know it.
        let found = if host.is_some() { "is on another domain" } else { "has no host, or an opaque origin" };
        Err(Failure::new(
            ErrorCode::MacDomainMismatch,
            format!("expected a document on {expected}; this one {found}"),
        ))
    }

    /// Checks a document around the one that is acted upon.
    pub(super) fn judge_around(&self, answer: &Answer, top: bool) -> Result<(), Failure> {
        let host = self.host(answer, top);
        let allowed =
            self.with(|state| host.as_deref().is_some_and(|host| state.policy.domain_allowed(host)));
        if allowed {
            return Ok(());
        }
        Err(Failure::new(ErrorCode::MacDomainDenied, "the page around the frame is not on an allowed domain"))
    }
}
