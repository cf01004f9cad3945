use serde_json::{Value, json};

use crate::Failure;
use crate::browser::call::Script;
use crate::browser::element::{Attempts, Halt, settled};

impl Script {
    pub(super) async fn wait_for(&self) -> Result<Value, Failure> {
        let wanted = self.job.text("state").unwrap_or("visible");
        let mut attempts = Attempts::default();
        loop {
            match self.look(wanted).await {
                Ok(()) => return Ok(json!({})),
                Err(halt) => attempts.again(self, halt).await?,
            }
        }
    }

    async fn look(&self, wanted: &str) -> Result<(), Halt> {
        let place = match self.locate(None).await {
            Ok(place) => place,
            // An element in a frame that is not there is not there. The page itself still counts.
            Err(Halt::Miss("not_found")) if matches!(wanted, "hidden" | "detached") => return Ok(()),
            Err(halt) => return Err(halt),
        };
        let seen = self.ask(&place.world, "state", json!({ "selector": self.job.selector() })).await?;
        self.judge(&seen, place.is_top())?;
        settled(&seen)?;
        match (wanted, seen.flag("attached"), seen.flag("visible")) {
            ("attached", true, _)
            | ("visible", true, true)
            | ("hidden", _, false)
            | ("detached", false, _) => Ok(()),
            ("attached" | "visible", false, _) => Err(Halt::Miss("not_found")),
            ("hidden", ..) => Err(Halt::Miss("visible")),
            ("detached", ..) => Err(Halt::Miss("attached")),
            _ => Err(Halt::Miss("hidden")),
        }
    }

    pub(super) async fn scroll(&self) -> Result<Value, Failure> {
        let until = self.hard_deadline();
        let dx = self.job.number("dx").unwrap_or_default();
        let dy = self.job.number("dy").unwrap_or_default();
        let (name, selector) = match self.job.text("selector") {
            Some(selector) => ("scrollTo", selector),
            None => ("scrollBy", ""),
        };
        let (_, at) = self
            .ask_patiently(
                name,
                |world| json!({ "selector": selector, "dx": dx, "dy": dy, "until": world.page_time(until) }),
            )
            .await?;
        Ok(json!({ "x": at.number("x"), "y": at.number("y") }))
    }
}
