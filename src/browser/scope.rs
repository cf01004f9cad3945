use serde_json::{Value, json};

use super::call::CallError;
use super::event::owned;
use super::state::State;
use crate::json::{self, Value as Message};

/// Which DevTools session carries the executor's messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scope {
    /// The browser's own session, as `--remote-debugging-pipe` gives it: every tab is in reach, and
    /// a tab that is beyond help is replaced.
    #[default]
    Browser,
    /// The session of one page, as `content::DevToolsAgentHost` gives it for a `WebContents`. That
    /// page is the only tab there is, and nothing is asked of the browser around it.
    ///
    /// The embedder answers for the rest: it keeps the page from opening windows and refuses its
    /// downloads, and calls `Executor::handle_disconnect` when the page is closed.
    Page,
}

/// The name that the page's own session goes by inside; on the wire it has none.
const PAGE: &str = "page";

/// What the page's session was asked in place of the browser.
#[derive(Clone, Copy)]
pub(super) enum Asked {
    /// `Target.setAutoAttach`
    Attach,
    /// `Target.getTargets`
    Targets,
}

impl Scope {
    /// The `sessionId` on the wire for a session's name.
    pub(super) fn outward(self, session: Option<&str>) -> Option<&str> {
        session.filter(|session| self == Scope::Browser || *session != PAGE)
    }

    /// The session's name for the `sessionId` of a message.
    pub(super) fn inward(self, session: Option<&str>) -> Option<&str> {
        session.or((self == Scope::Page).then_some(PAGE))
    }

    /// The answer to a call that is not for the page: beside it there is nothing to ask.
    pub(super) fn answer(self, session: Option<&str>, method: &str) -> Option<Result<Value, CallError>> {
        if self == Scope::Browser || session.is_some() || Self::stand_in(method).is_some() {
            return None;
        }
        Some(match method {
            "Target.setDiscoverTargets" | "Target.activateTarget" | "Browser.setDownloadBehavior" => {
                Ok(json!({}))
            }
            _ => Err(CallError::Refused("this page is the only tab".to_owned())),
        })
    }

    /// What a call to the browser wants to know that the page can tell.
    pub(super) fn stand_in(method: &str) -> Option<Asked> {
        match method {
            "Target.setAutoAttach" => Some(Asked::Attach),
            "Target.getTargets" => Some(Asked::Targets),
            _ => None,
        }
    }
}

impl State {
    /// What the browser would have answered, made from what the page's session told of itself.
    pub(super) fn stood_in(&mut self, asked: Asked, told: &Message<'_>) -> Value {
        let info = told.get("targetInfo").map_or(Value::Null, owned);
        match asked {
            Asked::Targets => json!({ "targetInfos": [info] }),
            Asked::Attach => {
                // An embedder may name its pages' type as it likes.
                let info = json!({ "targetId": info.get("targetId"), "type": "page",
                    "url": info.get("url"), "title": info.get("title") });
                let attached = json!({ "sessionId": PAGE, "targetInfo": info }).to_string();
                if let Ok(attached) = json::parse_lenient(attached.as_bytes()) {
                    self.attached(None, &attached);
                }
                json!({})
            }
        }
    }
}
