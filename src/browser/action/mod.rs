//! The actions of contract section 8, one script each.

mod click;
mod navigate;
mod press;
mod read;
mod screenshot;
mod select;
mod tab;
mod text;
mod wait;

use std::time::Duration;

use serde_json::{Value, json};

use super::call::Script;
use crate::{ErrorCode, Failure};

pub(super) use navigate::navigation_failed;

/// Runs the command of `script`.
pub(super) async fn run(script: Script) -> Result<Value, Failure> {
    match script.job.action.as_str() {
        "click" => script.click().await,
        "hover" => script.hover().await,
        "type" => script.type_text().await,
        "pressKey" => script.press_key().await,
        "select" => script.select().await,
        "scroll" => script.scroll().await,
        "getText" => script.get_text().await,
        "getHtml" => script.get_html().await,
        "getAttribute" => script.get_attribute().await,
        "waitFor" => script.wait_for().await,
        "screenshot" => script.screenshot().await,
        "navigate" => script.navigate().await,
        "goBack" => script.go_in_history(-1).await,
        "goForward" => script.go_in_history(1).await,
        "reload" => script.reload().await,
        "listTabs" => script.list_tabs().await,
        "activateTab" => script.activate_tab().await,
        _ => Err(Failure::new(ErrorCode::CmdActionUnknown, "this executor has no such action")),
    }
}

/// Attaches to the first tab, or opens one.
pub(super) async fn boot(script: Script) {
    script.with(|state| {
        state.send(
            None,
            "Target.setDiscoverTargets",
            json!({ "discover": true, "filter": [{ "type": "page" }] }),
        );
        state.send(
            None,
            "Browser.setDownloadBehavior",
            json!({ "behavior": "deny", "eventsEnabled": false }),
        );
    });
    let attach = json!({ "autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true,
        "filter": [{ "type": "page" }] });
    let _ = script.call_browser("Target.setAutoAttach", attach).await;
    // A browser that has just been started shows its first tab a moment later, or never.
    let soon = script.now().after(Duration::from_millis(200));
    if script.until(soon, |state| (!state.tabs.is_empty()).then_some(())).await.is_none() {
        let _ = script.call_browser("Target.createTarget", json!({ "url": "about:blank" })).await;
    }
    let late = script.now().after(Duration::from_secs(30));
    script
        .until(late, |state| {
            let tab = state.tabs.iter().find(|tab| tab.session.is_some() && tab.known)?;
            state.active = Some(tab.id.clone());
            Some(())
        })
        .await;
}
