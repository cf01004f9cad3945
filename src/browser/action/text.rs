use std::time::Duration;

use serde_json::{Value, json};

use crate::browser::call::{CallError, Script};
use crate::browser::element::{Attempts, Halt, Place, settled};
use crate::browser::key::Key;
use crate::browser::state::Phase;
use crate::{ErrorCode, Failure};

/// What is typed at one go.
enum Stroke {
    Key(Key),
    /// Characters without a key: they are inserted together, so that no emoji comes apart.
    Insert(String),
}

impl Stroke {
    fn characters(&self) -> usize {
        match self {
            Stroke::Key(_) => 1,
            Stroke::Insert(text) => text.chars().count(),
        }
    }
}

fn strokes(text: &str) -> Vec<Stroke> {
    let mut strokes = Vec::new();
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        let character = match character {
            '\r' => {
                characters.next_if_eq(&'\n');
                '\n'
            }
            other => other,
        };
        match (Key::typing(character), strokes.last_mut()) {
            (Some(key), _) => strokes.push(Stroke::Key(key)),
            (None, Some(Stroke::Insert(run))) => run.push(character),
            (None, _) => strokes.push(Stroke::Insert(character.into())),
        }
    }
    strokes
}

impl Script {
    pub(super) async fn type_text(&self) -> Result<Value, Failure> {
        let text = self.job.text("text").unwrap_or_default();
        let mut attempts = Attempts::default();
        let (place, multi_line) = loop {
            match self.prepare_field(text).await {
                Ok(ready) => break ready,
                Err(halt) => attempts.again(self, halt).await?,
            }
        };
        let mark = self.mark();
        let Some(multi_line) = multi_line else {
            // The value was set as a whole.
            return Ok(self.aftermath(mark).await);
        };
        self.enter(Phase::Acting);
        self.note_typed(0);
        let delay = self.job.number("delay_ms").map_or(Duration::ZERO, |ms| Duration::from_millis(ms as u64));
        let mut typed: usize = 0;
        for stroke in strokes(text) {
            if typed > 0 && !delay.is_zero() {
                self.sleep(delay).await;
            }
            self.check_field(&place).await.map_err(|failure| left_over(failure, typed))?;
            // What was sent counts even where no answer comes: it may have arrived.
            typed = typed.saturating_add(stroke.characters());
            self.note_typed(typed);
            self.strike(&stroke).await.map_err(|failure| left_over(failure, typed))?;
        }
        if self.job.flag("submit") {
            self.check_field(&place).await.map_err(|failure| left_over(failure, typed))?;
            self.submit(&place, multi_line).await.map_err(|failure| left_over(failure, typed))?;
        }
        let outcome = self.aftermath(mark).await;
        self.disarm(&place).await;
        Ok(outcome)
    }

    fn note_typed(&self, typed: usize) {
        self.with(|state| {
            if let Some(run) = state.run.as_mut() {
                run.typed = Some(typed);
            }
        });
    }

    /// Focuses the field. The second part is `None` where its value was set as a whole, else whether
    /// it takes line breaks.
    async fn prepare_field(&self, text: &str) -> Result<(Place, Option<bool>), Halt> {
        let place = self.locate(Some(0)).await?;
        let facts = self.ask(&place.world, "facts", json!({})).await?;
        self.judge(&facts, place.is_top())?;
        let params = json!({ "selector": self.job.selector(), "text": text, "clear": self.job.flag("clear"),
            "until": place.world.page_time(self.hard_deadline()) });
        let ready = self.ask(&place.world, "prepare", params).await?;
        settled(&ready)?;
        let multi_line = if ready.flag("done") { None } else { Some(ready.flag("multi_line")) };
        Ok((place, multi_line))
    }

    /// Checks that the next key would go to the field that typing began in.
    async fn check_field(&self, place: &Place) -> Result<(), Failure> {
        // Where the keys go to another document, its domain is told first.
        if self.check_keyboard(Some(place)).await? {
            return Err(Failure::new(
                ErrorCode::CmdExecutionFailed,
                "the field lost the focus or stopped taking text",
            )
            .with_reason("focus_lost"));
        }
        Ok(())
    }

    /// Checks the document that the next key would go to; whether the field that typing began in has
    /// lost it. `place` is where typing began: keys do not follow into a document that took its place.
    pub(super) async fn check_keyboard(&self, place: Option<&Place>) -> Result<bool, Failure> {
        if let Some(place) = place {
            match self.ask(&place.world, "keys", json!({})).await {
                Ok(answer) => {
                    if answer.flag("focused") {
                        self.judge(&answer, place.is_top())?;
                    } else {
                        self.judge_focus().await?;
                    }
                    return Ok(answer.flag("lost"));
                }
                Err(CallError::ContextGone | CallError::Detached) => {
                    // Another document: a domain that changed is told first.
                    self.judge_focus().await?;
                    return Err(CallError::ContextGone.into());
                }
                Err(error) => return Err(error.into()),
            }
        }
        self.judge_focus().await.map(|()| false)
    }

    /// Follows the focus from the top document inwards and checks where it ends.
    async fn judge_focus(&self) -> Result<(), Failure> {
        // A document that is being replaced right now is asked again.
        for _ in 0..20 {
            match self.judge_focus_once().await {
                Ok(()) => return Ok(()),
                Err(Halt::Fail(failure)) => return Err(failure),
                Err(Halt::Miss(_)) => self.sleep(Duration::from_millis(25)).await,
            }
        }
        Err(CallError::ContextGone.into())
    }

    async fn judge_focus_once(&self) -> Result<(), Halt> {
        let (tab, mut session) = self.tab()?;
        let mut frame = tab;
        let mut top = true;
        // Deeper than any page nests frames; a bound all the same.
        for _ in 0..64 {
            let world = self.world(&session, &frame).await?;
            let answer = self.ask(&world, "keys", json!({})).await?;
            let inner =
                if answer.flag("inner") { self.frame_owner(&world, "activeFrame", "").await? } else { None };
            let Some((_, inner)) = inner else {
                self.judge(&answer, top)?;
                return Ok(());
            };
            self.judge_around(&answer, top)?;
            session = self.with(|state| state.session_of_frame(&inner)).unwrap_or(session);
            frame = inner;
            top = false;
        }
        Err(Halt::Miss("unstable"))
    }

    async fn strike(&self, stroke: &Stroke) -> Result<(), Failure> {
        match stroke {
            Stroke::Key(key) => self.press(key, 0).await,
            Stroke::Insert(text) => self.insert(text).await,
        }
    }

    pub(super) async fn insert(&self, text: &str) -> Result<(), Failure> {
        let (_, session) = self.tab()?;
        delivered(self.call(&session, "Input.insertText", json!({ "text": text })).await.map(drop))
    }

    /// Presses and releases a key while `modifiers` are held.
    pub(super) async fn press(&self, key: &Key, modifiers: u64) -> Result<(), Failure> {
        let (_, session) = self.tab()?;
        let modifiers = if key.shifted { modifiers | 8 } else { modifiers };
        // With Control, Alt or Meta held a key types nothing.
        let text = if modifiers & 7 == 0 { key.text.as_str() } else { "" };
        let down = self.begin(&session, "Input.dispatchKeyEvent", key_event(key, true, text, modifiers));
        let up = self.begin(&session, "Input.dispatchKeyEvent", key_event(key, false, "", modifiers));
        delivered(down.await.map(drop))?;
        delivered(up.await.map(drop))
    }

    async fn submit(&self, place: &Place, multi_line: bool) -> Result<(), Failure> {
        if multi_line {
            // Enter would be a line break there; a field without a form gets the key all the same.
            let until = place.world.page_time(self.hard_deadline());
            match self.ask(&place.world, "submitForm", json!({ "until": until })).await {
                Ok(answer) if answer.flag("ok") => return Ok(()),
                Ok(_) => {}
                Err(error) => return delivered(Err(error)),
            }
        }
        match Key::named("Enter") {
            Some(enter) => self.press(&enter, 0).await,
            None => Ok(()),
        }
    }
}

pub(super) fn key_event(key: &Key, down: bool, text: &str, modifiers: u64) -> Value {
    let kind = match (down, text.is_empty()) {
        (false, _) => "keyUp",
        (true, true) => "rawKeyDown",
        (true, false) => "keyDown",
    };
    let mut event = json!({ "type": kind, "key": key.key, "code": key.code, "modifiers": modifiers,
        "windowsVirtualKeyCode": key.virtual_code, "nativeVirtualKeyCode": key.virtual_code });
    if let Some(event) = event.as_object_mut().filter(|_| key.code.starts_with("Numpad")) {
        event.insert("location".to_owned(), 3.into());
    }
    if let Some(event) = event.as_object_mut().filter(|_| !text.is_empty()) {
        event.insert("text".to_owned(), text.into());
        event.insert("unmodifiedText".to_owned(), text.into());
    }
    event
}

/// Input whose effect took the page away was delivered.
fn delivered(reply: Result<(), CallError>) -> Result<(), Failure> {
    match reply {
        Ok(()) | Err(CallError::ContextGone | CallError::Detached) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// A failure after some of the text was typed.
fn left_over(failure: Failure, typed: usize) -> Failure {
    let reason = failure
        .details
        .as_ref()
        .and_then(|details| details.view().get("reason")?.as_str().map(str::to_owned));
    match (failure.code, reason) {
        (ErrorCode::CmdPageCrashed | ErrorCode::InternalExecutorGone, _) => failure,
        (_, Some(reason)) => failure.with_details(&json!({ "reason": reason, "typed": typed })),
        (_, None) => failure.with_details(&json!({ "typed": typed })),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_without_keys_is_inserted_in_one_piece() {
        let typed: Vec<usize> = strokes("a\u{4f60}\u{597d}b\r\nc\u{1f469}\u{200d}\u{1f680}")
            .iter()
            .map(Stroke::characters)
            .collect();
        assert_eq!(typed, [1, 2, 1, 1, 1, 3]);
        assert!(matches!(strokes("\r\n").as_slice(), [Stroke::Key(key)] if key.key == "Enter"));
        assert!(matches!(strokes("\t").as_slice(), [Stroke::Insert(tab)] if tab == "\t"));
    }
}
