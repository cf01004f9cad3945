use serde_json::{Value, json};

use crate::browser::call::Script;
use crate::{ErrorCode, Failure};

/// What a text may take in a response, in bytes of JSON: the message's 1 MiB without the rest of it
/// (contract section 7).
const MAX_TEXT: u64 = 1_048_576 - 4096;

const DEFAULT_LENGTH: u64 = 262_144;

impl Script {
    fn most(&self) -> u64 {
        self.job.number("max_length").map_or(DEFAULT_LENGTH, |most| most as u64)
    }

    pub(super) async fn get_text(&self) -> Result<Value, Failure> {
        let params = json!({ "selector": self.job.selector(), "most": self.most(), "bytes": MAX_TEXT });
        let (_, found) = self.ask_patiently("text", |_| params.clone()).await?;
        Ok(json!({ "text": found.text("text").unwrap_or_default(), "truncated": found.flag("truncated") }))
    }

    pub(super) async fn get_html(&self) -> Result<Value, Failure> {
        let params = json!({ "selector": self.job.selector(), "outer": self.job.flag("outer"),
            "most": self.most(), "bytes": MAX_TEXT });
        let (_, found) = self.ask_patiently("html", |_| params.clone()).await?;
        Ok(json!({ "html": found.text("text").unwrap_or_default(), "truncated": found.flag("truncated") }))
    }

    pub(super) async fn get_attribute(&self) -> Result<Value, Failure> {
        let params =
            json!({ "selector": self.job.selector(), "name": self.job.text("name"), "bytes": MAX_TEXT });
        let (_, found) = self.ask_patiently("attribute", |_| params.clone()).await?;
        if found.flag("secret") {
            return Err(Failure::new(
                ErrorCode::MacActionDenied,
                "the value of a password field is not read",
            ));
        }
        if found.flag("large") {
            return Err(Failure::new(
                ErrorCode::CmdResultTooLarge,
                "the attribute does not fit into a message",
            ));
        }
        Ok(json!({ "value": found.text("value") }))
    }
}
