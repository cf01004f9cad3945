use std::time::Duration;

use serde_json::{Value, json};

use crate::browser::call::{CallError, Script};
use crate::browser::state::{Phase, Policed, State, Tab};
use crate::{ErrorCode, Failure};

/// How long a page may take to answer before it counts as stuck in a script. It is about to go away.
const PATIENCE: Duration = Duration::from_millis(400);

/// How long a page may hold a navigation up, in the handlers that say farewell to it, before it is
/// left behind; and no more than a third of the time that the command has left.
const FAREWELL: Duration = Duration::from_secs(3);

/// How long a failed navigation's error page may take to show up.
const ERROR_PAGE: Duration = Duration::from_millis(500);

/// The counters of a tab before a navigation.
#[derive(Clone, Copy, Default)]
struct Before {
    commits: u32,
    failures: u32,
    within: u32,
    downloads: u32,
}

/// How a navigation ended.
enum End {
    Committed,
    WithinDocument,
    Failed,
}

pub(in crate::browser) fn navigation_failed(reason: &str, why: &str) -> Failure {
    Failure::new(ErrorCode::CmdNavigationFailed, why).with_reason(reason)
}

impl Script {
    pub(super) async fn navigate(&self) -> Result<Value, Failure> {
        let url = self.job.text("url").unwrap_or_default().to_owned();
        self.judge_target(&url)?;
        self.survive_crash();
        self.unstick().await?;
        // Again, with the newest policy: getting a page out of its script takes time.
        self.judge_target(&url)?;
        if let Some(arrived) = self.go(&url, true).await? {
            return Ok(arrived);
        }
        if self.now() >= self.soft_deadline() {
            return Err(self.stop_navigation("timeout", "the page did not answer in time"));
        }
        self.end_page().await?;
        self.judge_target(&url)?;
        let arrived = self.go(&url, false).await?;
        arrived.ok_or_else(|| self.stop_navigation("timeout", "the page did not answer in time"))
    }

    /// Navigates. `None` where the old page does not let the tab go; where `leave` is false it is given
    /// all the time there is.
    async fn go(&self, url: &str, leave: bool) -> Result<Option<Value>, Failure> {
        let session = self.begin_navigation()?;
        let before = self.counters();
        let mut navigating = self.begin(&session, "Page.navigate", json!({ "url": url }));
        let mut reply = self.within(self.farewell(leave), &mut navigating).await;
        if reply.is_none() {
            // The document is requested once the page has nothing against it, so now it is the server's
            // turn.
            if leave && !self.with(|state| tab_of_run(state).is_some_and(|tab| tab.progress.asked)) {
                return Ok(None);
            }
            reply = self.within(self.soft_deadline().since(self.now()), navigating).await;
        }
        let reply = match reply {
            None => return Err(self.stop_navigation("timeout", "the page did not answer in time")),
            Some(Err(CallError::Refused(_))) => {
                return Err(navigation_failed("network", "the browser does not navigate there"));
            }
            Some(reply) => reply?,
        };
        self.refused()?;
        if let Some(error) = reply.get("errorText").and_then(Value::as_str).filter(|error| !error.is_empty())
        {
            let download = reply.get("isDownload").and_then(Value::as_bool).unwrap_or_default();
            return Err(self.explain_failure(before, error, download).await);
        }
        let Some(loader) = reply.get("loaderId").and_then(Value::as_str).map(str::to_owned) else {
            // Only the fragment changed. The document, and its status, are the old ones.
            let soon = self.now().after(ERROR_PAGE);
            self.until(soon, |state| {
                tab_of_run(state).is_none_or(|tab| tab.progress.within > before.within).then_some(())
            })
            .await;
            return Ok(Some(self.arrived(false)));
        };
        // The response is there. An older navigation's late error page is told apart by its loader. A
        // page that moves on by itself may have replaced the document before this was read.
        let committed = self
            .until(self.now().after(self.farewell(leave)), |state| {
                let progress = &tab_of_run(state)?.progress;
                (progress.loader == loader || progress.commits > before.commits.saturating_add(1))
                    .then_some(())
            })
            .await;
        if committed.is_none() {
            return Ok(None);
        }
        self.wait_until().await?;
        Ok(Some(self.arrived(true)))
    }

    fn farewell(&self, leave: bool) -> Duration {
        let left = self.soft_deadline().since(self.now());
        if leave { FAREWELL.min(left.checked_div(3).unwrap_or_default()) } else { left }
    }

    pub(super) async fn reload(&self) -> Result<Value, Failure> {
        self.judge_page()?;
        self.survive_crash();
        let session = self.begin_navigation()?;
        let before = self.counters();
        self.judge_page()?;
        self.call(&session, "Page.reload", json!({})).await?;
        self.finish_navigation(before).await
    }

    pub(super) async fn go_in_history(&self, step: i64) -> Result<Value, Failure> {
        self.judge_page()?;
        let (_, session) = self.tab()?;
        let history = self.call(&session, "Page.getNavigationHistory", json!({})).await?;
        let current = history.get("currentIndex").and_then(Value::as_i64).unwrap_or_default();
        let entry = usize::try_from(current.saturating_add(step))
            .ok()
            .and_then(|index| history.get("entries").and_then(|entries| entries.get(index)));
        let Some(entry) = entry else {
            return Err(navigation_failed("no_history", "the history has no such entry"));
        };
        let url = entry.get("url").and_then(Value::as_str).unwrap_or_default();
        if let Some(refused) = self.with(|state| state.refuse_url(url, Policed::History)) {
            return Err(refused);
        }
        let session = self.begin_navigation()?;
        let before = self.counters();
        self.judge_page()?;
        let params = json!({ "entryId": entry.get("id") });
        self.call(&session, "Page.navigateToHistoryEntry", params).await?;
        self.finish_navigation(before).await
    }

    /// Checks the target of `navigate` where other actions check the page (contract section 9).
    fn judge_target(&self, url: &str) -> Result<(), Failure> {
        let parsed = self.with(|state| state.urls.parse(url));
        if let Some(parsed) = &parsed {
            self.with(|state| state.policy.check_scheme(parsed))?;
        }
        self.judge_host(parsed.and_then(|parsed| parsed.host).as_deref())
    }

    fn survive_crash(&self) {
        self.with(|state| {
            if let Some(run) = state.run.as_mut() {
                run.survives_crash = true;
            }
        });
    }

    fn counters(&self) -> Before {
        self.with(|state| {
            tab_of_run(state).map(|tab| &tab.progress).map_or(Before::default(), |progress| Before {
                commits: progress.commits,
                failures: progress.failures,
                within: progress.within,
                downloads: progress.downloads,
            })
        })
    }

    /// The session of the tab, crashed or not.
    fn any_session(&self) -> Result<String, Failure> {
        self.with(|state| tab_of_run(state).and_then(|tab| tab.session.clone()))
            .ok_or_else(crate::browser::call::tab_closed)
    }

    /// Watches and checks what the tab requests until the command ends.
    fn begin_navigation(&self) -> Result<String, Failure> {
        let session = self.any_session()?;
        let policed = if self.job.action == "navigate" { Policed::Navigate } else { Policed::History };
        self.enter(Phase::Navigating);
        self.with(|state| {
            state.send(
                Some(&session),
                "Network.enable",
                json!({ "maxTotalBufferSize": 0, "maxResourceBufferSize": 0 }),
            );
            let documents = json!([{ "resourceType": "Document", "requestStage": "Request" }]);
            state.send(Some(&session), "Fetch.enable", json!({ "patterns": documents }));
            if let Some(tab) = state.run.as_ref().and_then(|run| run.tab.clone())
                && let Some(tab) = state.tab_mut(&tab)
            {
                tab.progress.asked = false;
                tab.progress.response = None;
                tab.progress.failure = None;
            }
            if let Some(run) = state.run.as_mut() {
                run.policed = Some(policed);
                run.denied = None;
                run.cleanup.push((session.clone(), "Fetch.disable", json!({})));
                run.cleanup.push((session.clone(), "Network.disable", json!({})));
                // Until it commits, a navigation does not outlive its command.
                run.cleanup.push((session.clone(), "Page.stopLoading", json!({})));
            }
        });
        Ok(session)
    }

    fn stop_navigation(&self, reason: &str, why: &str) -> Failure {
        self.with(|state| state.run.as_mut().and_then(|run| run.denied.take()))
            .unwrap_or_else(|| navigation_failed(reason, why))
    }

    fn refused(&self) -> Result<(), Failure> {
        self.with(|state| state.run.as_mut().and_then(|run| run.denied.take())).map_or(Ok(()), Err)
    }

    /// Waits for a navigation whose call was answered before it began.
    async fn finish_navigation(&self, before: Before) -> Result<Value, Failure> {
        let end = self
            .until(self.soft_deadline(), |state| {
                let progress = &tab_of_run(state)?.progress;
                let denied = state.run.as_ref().is_some_and(|run| run.denied.is_some());
                if progress.commits > before.commits {
                    Some(if progress.error_page { End::Failed } else { End::Committed })
                } else if progress.within > before.within && progress.loading.is_none() {
                    Some(End::WithinDocument)
                } else if denied || progress.failures > before.failures {
                    Some(End::Failed)
                } else {
                    None
                }
            })
            .await;
        match end {
            None => Err(self.stop_navigation("timeout", "the page did not answer in time")),
            Some(End::WithinDocument) => Ok(self.arrived(false)),
            Some(End::Committed) => {
                self.wait_until().await?;
                Ok(self.arrived(true))
            }
            Some(End::Failed) => {
                self.refused()?;
                let error = self.with(|state| {
                    tab_of_run(state).and_then(|tab| tab.progress.failure.clone()).map(|(_, error)| error)
                });
                Err(self.explain_failure(before, error.as_deref().unwrap_or("net::ERR_ABORTED"), false).await)
            }
        }
    }

    /// Names the reason of a navigation that ended without a document.
    async fn explain_failure(&self, before: Before, error: &str, download: bool) -> Failure {
        let soon = self.now().after(ERROR_PAGE);
        if error != "net::ERR_ABORTED" {
            // The next command is to see the error page, not to be surprised by it.
            self.until(soon, |state| {
                tab_of_run(state).is_none_or(|tab| tab.progress.commits > before.commits).then_some(())
            })
            .await;
            let name = error.strip_prefix("net::").unwrap_or(error);
            return Failure::new(
                ErrorCode::CmdNavigationFailed,
                format!("the page could not be loaded: {name}"),
            )
            .with_details(&json!({ "reason": "network", "net_error": name }));
        }
        let empty = self.with(|state| {
            tab_of_run(state)
                .and_then(|tab| tab.progress.response.as_ref())
                .is_some_and(|(_, status)| matches!(status, 204 | 205))
        });
        if empty {
            return navigation_failed("no_content", "the server has no page to show there");
        }
        let soon = if download { self.now() } else { soon };
        let told = self
            .until(soon, |state| {
                tab_of_run(state).is_none_or(|tab| tab.progress.downloads > before.downloads).then_some(())
            })
            .await;
        if download || told.is_some() {
            return navigation_failed("download", "the target is a download, which is refused");
        }
        Failure::new(ErrorCode::CmdNavigationFailed, "the navigation was aborted")
            .with_details(&json!({ "reason": "network", "net_error": "ERR_ABORTED" }))
    }

    /// Waits for as much of the page as `wait_until` asks.
    async fn wait_until(&self) -> Result<(), Failure> {
        self.with(|state| {
            if let Some(run) = state.run.as_mut() {
                run.phase = Phase::Loading;
                run.survives_crash = false;
                run.cleanup.retain(|(_, method, _)| *method != "Page.stopLoading");
            }
        });
        let event = match self.job.text("wait_until").unwrap_or("load") {
            "commit" => return Ok(()),
            "domcontentloaded" => "DOMContentLoaded",
            "networkidle" => "networkIdle",
            _ => "load",
        };
        let end = self
            .until(self.soft_deadline(), |state| {
                let progress = &tab_of_run(state)?.progress;
                let denied = state.run.as_ref().is_some_and(|run| run.denied.is_some());
                (denied || (progress.loading.is_none() && progress.reached(event))).then_some(())
            })
            .await;
        self.refused()?;
        match end {
            Some(()) => Ok(()),
            None => Err(navigation_failed("timeout", "the page did not load in time")),
        }
    }

    fn arrived(&self, with_status: bool) -> Value {
        self.with(|state| {
            if let Some(run) = state.run.as_mut() {
                run.cleanup.retain(|(_, method, _)| *method != "Page.stopLoading");
            }
            let tab = tab_of_run(state);
            let status = tab.filter(|_| with_status).and_then(|tab| tab.progress.status());
            let mut data =
                json!({ "url": tab.map(|tab| tab.url.as_str()).unwrap_or_default(), "status": status });
            if let Some(dialogs) = state.run.as_mut().map(|run| std::mem::take(&mut run.dialogs))
                && let Some(data) = data.as_object_mut()
                && !dialogs.is_empty()
                && self.job.action == "navigate"
            {
                data.insert("dialogs".to_owned(), dialogs.into());
            }
            data
        })
    }

    /// Gets the tab out of an endless script: ends the script, or else the tab.
    async fn unstick(&self) -> Result<(), Failure> {
        if self.any_session().is_err() {
            // The last tab was closed.
            return self.replace_tab().await;
        }
        let Ok((_, session)) = self.tab() else { return Ok(()) };
        // While another navigation is under way the page would not hear us.
        self.with(|state| {
            if tab_of_run(state).is_some_and(|tab| tab.progress.requested) {
                state.send(Some(&session), "Page.stopLoading", json!({}));
            }
        });
        let look = json!({ "expression": "0", "returnByValue": true });
        if self.within(PATIENCE, self.call(&session, "Runtime.evaluate", look.clone())).await.is_some() {
            return Ok(());
        }
        self.with(|state| state.send(Some(&session), "Runtime.terminateExecution", json!({})));
        if self.within(PATIENCE, self.call(&session, "Runtime.evaluate", look)).await.is_some() {
            return Ok(());
        }
        self.replace_tab().await
    }

    /// Ends the renderer of a page that holds up its own navigation: what is said to the page is held
    /// back until that is over, and a handler that was ended would run again for the next one.
    async fn end_page(&self) -> Result<(), Failure> {
        let session = self.any_session()?;
        self.with(|state| state.send(Some(&session), "Page.crash", json!({})));
        let soon = self.now().after(PATIENCE);
        match self.until(soon, |state| tab_of_run(state).is_none_or(|tab| tab.crashed).then_some(())).await {
            Some(()) => Ok(()),
            None => self.replace_tab().await,
        }
    }

    async fn replace_tab(&self) -> Result<(), Failure> {
        let made = self.call_browser("Target.createTarget", json!({ "url": "about:blank" })).await?;
        let Some(new) = made.get("targetId").and_then(Value::as_str) else {
            return Err(Failure::new(ErrorCode::CmdExecutionFailed, "the browser opens no tab"));
        };
        self.until(self.soft_deadline(), |state| state.tab(new).filter(|tab| tab.known).map(drop)).await;
        let old = self.with(|state| {
            let run = state.run.as_mut()?;
            run.opened.retain(|opened| opened != new);
            let old = run.tab.replace(new.to_owned());
            state.active = Some(new.to_owned());
            old
        });
        self.with(|state| state.send(None, "Target.activateTarget", json!({ "targetId": new })));
        if let Some(old) = old {
            let _ = self.call_browser("Target.closeTarget", json!({ "targetId": old })).await;
        }
        Ok(())
    }
}

fn tab_of_run(state: &State) -> Option<&Tab> {
    state.tab(state.run.as_ref()?.tab.as_deref()?)
}
