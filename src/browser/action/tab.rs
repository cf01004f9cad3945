use std::time::Duration;

use serde_json::{Value, json};

use crate::browser::call::Script;
use crate::browser::state::State;
use crate::{ErrorCode, Failure};

/// How long `activateTab` waits for a tab that has no host yet.
const ARRIVAL: Duration = Duration::from_millis(2000);

impl Script {
    /// Checks the page that the tab shows, for actions that act on no element.
    pub(super) fn judge_page(&self) -> Result<(), Failure> {
        let host = self.with(|state| state.active_tab().and_then(|tab| tab.host.clone()));
        self.judge_host(host.as_deref())
    }

    pub(super) async fn list_tabs(&self) -> Result<Value, Failure> {
        self.judge_page()?;
        // The browser does not tell every change of a title.
        let targets = self.call_browser("Target.getTargets", json!({})).await?;
        self.judge_page()?;
        let targets = targets.get("targetInfos").and_then(Value::as_array);
        let title = |id: &str| {
            let target =
                targets?.iter().find(|target| target.get("targetId").and_then(Value::as_str) == Some(id));
            target?.get("title").and_then(Value::as_str)
        };
        let tabs: Vec<Value> = self.with(|state| {
            let allowed =
                |host: &Option<String>| host.as_deref().is_some_and(|host| state.policy.domain_allowed(host));
            let shown = state.tabs.iter().filter(|tab| allowed(&tab.host));
            shown
                .map(|tab| {
                    json!({ "id": tab.id, "url": tab.url, "title": title(&tab.id).unwrap_or(&tab.title),
                        "active": state.active.as_deref() == Some(tab.id.as_str()) })
                })
                .collect()
        });
        Ok(json!({ "tabs": tabs }))
    }

    pub(super) async fn activate_tab(&self) -> Result<Value, Failure> {
        let id = self.job.text("tab_id").unwrap_or_default();
        // A tab that was just opened shows an empty document first: it is given a moment to arrive.
        let arrival = self.now().after(ARRIVAL).min(self.soft_deadline());
        let _: Option<()> = self
            .until(arrival, |state| state.tab(id).is_none_or(|tab| tab.host.is_some()).then_some(()))
            .await;
        let host = self.with(|state| state.tab(id).map(|tab| tab.host.clone()));
        let Some(host) = host else {
            return Err(Failure::new(ErrorCode::CmdExecutionFailed, "there is no such tab")
                .with_reason("no_such_tab"));
        };
        self.judge_host(host.as_deref())?;
        self.call_browser("Target.activateTarget", json!({ "targetId": id })).await?;
        self.with(|state: &mut State| {
            state.active = Some(id.to_owned());
            state.announce();
        });
        Ok(json!({}))
    }
}
