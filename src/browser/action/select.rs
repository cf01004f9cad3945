use serde_json::{Value, json};

use crate::Failure;
use crate::browser::call::Script;

impl Script {
    pub(super) async fn select(&self) -> Result<Value, Failure> {
        let until = self.hard_deadline();
        let by = if self.job.params.get("value").is_some() { "value" } else { "label" };
        let wanted = self.job.params.get(by).cloned().unwrap_or_default();
        let (_, chosen) = self
            .ask_patiently("select", |world| {
                json!({ "selector": self.job.selector(), "by": by, "wanted": wanted,
                    "until": world.page_time(until) })
            })
            .await?;
        Ok(json!({ "values": chosen.value.get("values") }))
    }
}
