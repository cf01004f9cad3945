use std::time::Duration;

use serde_json::{Value, json};

use crate::browser::call::{CallError, Script};
use crate::browser::element::{Attempts, Halt};
use crate::browser::state::{Phase, State};
use crate::{ErrorCode, Failure, Time};

/// How long an answer waits for the navigation that the input started (contract section 8).
const NAVIGATION: Duration = Duration::from_millis(5000);

/// How long a look at what the input led to may take: the page may be busy with that input.
const GLANCE: Duration = Duration::from_millis(1000);

/// How far the tab was before the input.
pub(super) struct Mark {
    commits: u32,
    failures: u32,
}

impl Script {
    pub(super) async fn click(&self) -> Result<Value, Failure> {
        let mut attempts = Attempts::default();
        let mark = loop {
            let mark = self.mark();
            match self.click_once(attempts.shifts()).await {
                Ok(()) => break mark,
                Err(halt) => attempts.again(self, halt).await?,
            }
        };
        Ok(self.aftermath(mark).await)
    }

    async fn click_once(&self, shift: usize) -> Result<(), Halt> {
        let place = self.locate(Some(shift)).await?;
        let aimed = self.aim(&place, &json!(["visible", "enabled"]), shift, true).await;
        let (x, y, embeds) = match aimed {
            Ok(aimed) => aimed,
            Err(halt) => {
                self.disarm(&place).await;
                return Err(halt);
            }
        };
        self.enter(Phase::Acting);
        let (_, session) = self.tab()?;
        let button = self.job.text("button").unwrap_or("left");
        let held = match button {
            "right" => 2,
            "middle" => 4,
            _ => 1,
        };
        let modifiers = self.modifiers();
        let event = |kind: &str, count: u64, buttons: u64| {
            json!({ "type": kind, "x": x, "y": y, "button": if kind == "mouseMoved" { "none" } else { button },
                "buttons": buttons, "clickCount": count, "modifiers": modifiers, "pointerType": "mouse" })
        };
        let mut replies = vec![self.begin(&session, "Input.dispatchMouseEvent", event("mouseMoved", 0, 0))];
        let clicks = self.job.params.get("click_count").and_then(Value::as_u64).unwrap_or(1);
        for count in 1..=clicks.min(3) {
            replies.push(self.begin(
                &session,
                "Input.dispatchMouseEvent",
                event("mousePressed", count, held),
            ));
            replies.push(self.begin(&session, "Input.dispatchMouseEvent", event("mouseReleased", count, 0)));
        }
        for reply in replies {
            match reply.await {
                // The input took the page away: it was delivered.
                Err(CallError::Detached | CallError::ContextGone) => return Ok(()),
                Err(error) => return Err(error.into()),
                Ok(_) => {}
            }
        }
        let Some(seen) = self.disarm(&place).await else { return Ok(()) };
        match (seen.pressed, seen.reached) {
            (true, true) => Ok(()),
            // A frame's input goes to the document inside.
            (false, _) if embeds => Ok(()),
            // Something came between; the guard stopped the click.
            (true, false) => Err(Halt::Miss("covered")),
            (false, _) => Err(Halt::Fail(
                Failure::new(
                    ErrorCode::CmdExecutionFailed,
                    "the click did not arrive in the element's document",
                )
                .with_reason("not_delivered"),
            )),
        }
    }

    pub(super) async fn hover(&self) -> Result<Value, Failure> {
        let mut attempts = Attempts::default();
        loop {
            match self.hover_once(attempts.shifts()).await {
                Ok(()) => return Ok(json!({})),
                Err(halt) => attempts.again(self, halt).await?,
            }
        }
    }

    async fn hover_once(&self, shift: usize) -> Result<(), Halt> {
        let place = self.locate(Some(shift)).await?;
        let (x, y, _) = self.aim(&place, &json!(["visible"]), shift, false).await?;
        self.enter(Phase::Acting);
        let (_, session) = self.tab()?;
        let event = json!({ "type": "mouseMoved", "x": x, "y": y, "button": "none", "pointerType": "mouse" });
        self.call(&session, "Input.dispatchMouseEvent", event).await?;
        Ok(())
    }

    fn modifiers(&self) -> u64 {
        let names = self.job.params.get("modifiers").and_then(Value::as_array);
        names.into_iter().flatten().filter_map(Value::as_str).fold(0, |mask, name| mask | modifier(name))
    }

    pub(super) fn mark(&self) -> Mark {
        self.with(|state| {
            let progress = tab_of_run(state).map(|tab| &tab.progress);
            Mark {
                commits: progress.map_or(0, |progress| progress.commits),
                failures: progress.map_or(0, |progress| progress.failures),
            }
        })
    }

    /// What input led to: a navigation, a tab, dialogs.
    pub(super) async fn aftermath(&self, mark: Mark) -> Value {
        // A round trip through the page and one through the browser: what the input set off in
        // either has been told by then.
        if let Ok((tab, session)) = self.tab() {
            let look = async {
                if let Ok(world) = self.world(&session, &tab).await {
                    let _ = self.ask(&world, "settle", json!({})).await;
                }
                let _ = self.call_browser("Target.getTargets", json!({})).await;
            };
            self.within(GLANCE, self.unless_navigating(look)).await;
        }
        let soon = self.now().after(GLANCE).min(self.soft_deadline());
        self.until(soon, |state| {
            let run = state.run.as_ref()?;
            (run.windows == 0 || !run.opened.is_empty()).then_some(())
        })
        .await;
        let navigation =
            self.navigation_since(&mark, self.now().after(NAVIGATION).min(self.soft_deadline())).await;
        self.with(|state| {
            let mut data = serde_json::Map::new();
            if let Some(navigation) = navigation {
                data.insert("navigation".to_owned(), navigation.into());
            }
            if let Some(run) = state.run.as_mut() {
                if let Some(opened) = run.opened.first() {
                    data.insert("opened_tab".to_owned(), opened.as_str().into());
                }
                if !run.dialogs.is_empty() {
                    data.insert("dialogs".to_owned(), std::mem::take(&mut run.dialogs).into());
                }
            }
            data.into()
        })
    }

    async fn navigation_since(&self, mark: &Mark, end: Time) -> Option<&'static str> {
        let outcome = |state: &State| -> Option<Option<&'static str>> {
            let Some(tab) = tab_of_run(state) else { return Some(None) };
            let progress = &tab.progress;
            if progress.requested {
                return None;
            }
            Some(if progress.commits > mark.commits {
                Some(if progress.error_page { "failed" } else { "committed" })
            } else if progress.failures > mark.failures {
                Some("failed")
            } else {
                None
            })
        };
        self.until(end, |state| outcome(state)).await.unwrap_or(Some("pending"))
    }
}

fn tab_of_run(state: &State) -> Option<&crate::browser::state::Tab> {
    state.tab(state.run.as_ref()?.tab.as_deref()?)
}

/// The bit of a modifier in an input event.
pub(super) fn modifier(name: &str) -> u64 {
    match name {
        "Alt" => 1,
        "Control" => 2,
        "Meta" => 4,
        "Shift" => 8,
        _ => 0,
    }
}
