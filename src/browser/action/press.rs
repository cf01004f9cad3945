use serde_json::{Value, json};

use super::click::modifier;
use super::text::key_event;
use crate::browser::call::{CallError, Script};
use crate::browser::element::{Attempts, Halt, Place, settled};
use crate::browser::key::{Key, chord};
use crate::browser::state::Phase;
use crate::{ErrorCode, Failure};

impl Script {
    pub(super) async fn press_key(&self) -> Result<Value, Failure> {
        let text = self.job.text("key").unwrap_or_default();
        let Some((held, name)) = chord(text) else { return Err(unknown_key()) };
        let key = Key::named(name)
            .map(|key| if held.is_empty() { key } else { key.in_chord(held.contains(&"Shift")) });
        if key.is_none() && (name.chars().count() != 1 || !held.is_empty()) {
            return Err(unknown_key());
        }
        let place = match self.job.text("selector") {
            Some(_) => Some(self.focus().await?),
            None => None,
        };
        self.enter(Phase::Acting);
        self.check_keyboard(place.as_ref()).await?;
        let mark = self.mark();
        match key {
            Some(key) => self.press_chord(&held, &key).await?,
            None => self.insert(name).await?,
        }
        let outcome = self.aftermath(mark).await;
        if let Some(place) = &place {
            self.disarm(place).await;
        }
        Ok(outcome)
    }

    async fn focus(&self) -> Result<Place, Failure> {
        let mut attempts = Attempts::default();
        loop {
            match self.focus_once().await {
                Ok(place) => return Ok(place),
                Err(halt) => attempts.again(self, halt).await?,
            }
        }
    }

    async fn focus_once(&self) -> Result<Place, Halt> {
        let place = self.locate(Some(0)).await?;
        let facts = self.ask(&place.world, "facts", json!({})).await?;
        self.judge(&facts, place.is_top())?;
        let until = place.world.page_time(self.hard_deadline());
        let params = json!({ "selector": self.job.selector(), "until": until });
        settled(&self.ask(&place.world, "focus", params).await?)?;
        Ok(place)
    }

    async fn press_chord(&self, held: &[&str], key: &Key) -> Result<(), Failure> {
        let (_, session) = self.tab()?;
        let mut mask = 0;
        let mut replies = Vec::new();
        let mut releases = Vec::new();
        for name in held {
            let before = mask;
            mask |= modifier(name);
            let Some(modifier) = Key::named(name) else { continue };
            replies.push(self.begin(
                &session,
                "Input.dispatchKeyEvent",
                key_event(&modifier, true, "", mask),
            ));
            releases.push((modifier, before));
        }
        let pressed = self.press(key, mask).await;
        for (modifier, before) in releases.iter().rev() {
            replies.push(self.begin(
                &session,
                "Input.dispatchKeyEvent",
                key_event(modifier, false, "", *before),
            ));
        }
        for reply in replies {
            match reply.await {
                Ok(_) | Err(CallError::ContextGone | CallError::Detached) => {}
                Err(error) => return Err(error.into()),
            }
        }
        pressed
    }
}

fn unknown_key() -> Failure {
    Failure::new(ErrorCode::CmdExecutionFailed, "the keyboard has no such key").with_reason("unknown_key")
}
