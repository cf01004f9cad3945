use std::time::Duration;

use serde_json::{Value, json};

use super::call::{CallError, Script};
use super::state::Phase;
use super::world::{Answer, World};
use crate::{ErrorCode, Failure};

/// Why an attempt at an element did not come to its end.
pub(super) enum Halt {
    /// Not now; perhaps at the next attempt. "" where the attempt learnt nothing new.
    Miss(&'static str),
    /// For good.
    Fail(Failure),
}

impl From<Failure> for Halt {
    fn from(failure: Failure) -> Self {
        Halt::Fail(failure)
    }
}

impl From<CallError> for Halt {
    fn from(error: CallError) -> Self {
        match error {
            // The document was replaced, or the frame went: look again.
            CallError::ContextGone | CallError::Detached => Halt::Miss(""),
            other => Halt::Fail(other.into()),
        }
    }
}

/// The failure of a wait that ended.
pub(super) fn waited(reason: &str, time: Duration) -> Failure {
    let why = match reason {
        "not_found" => "no element matches the selector",
        "hidden" => "the element is not visible",
        "covered" => "another element would take the input",
        "disabled" => "the element is disabled",
        "readonly" => "the field is read-only",
        "inert" => "the element is inert",
        "unstable" => "the element does not stand still",
        "outside_viewport" => "the element cannot be scrolled into view",
        "no_option" => "the field has no such option",
        "visible" => "the element is still visible",
        "attached" => "the element is still there",
        _ => "the element was not ready",
    };
    Failure::new(ErrorCode::CmdSelectorTimeout, format!("{why}, after {} ms", time.as_millis()))
        .with_reason(reason)
}

/// What the injected script says about an element, as the outcome of an attempt.
pub(super) fn settled(answer: &Answer) -> Result<(), Halt> {
    if answer.flag("invalid") {
        return Err(Halt::Fail(Failure::new(ErrorCode::CmdSelectorInvalid, "the selector is not CSS")));
    }
    if let Some(reason) = answer.text("reason") {
        return Err(Halt::Miss(
            crate::contract::REASONS.iter().find(|known| **known == reason).copied().unwrap_or("unstable"),
        ));
    }
    if let Some(refused) = answer.text("refused") {
        let why = match refused {
            "not_editable" => "the element takes no text",
            "newline_in_single_line" => "the field has one line and the text has more",
            "invalid_value" => "the field does not take this value",
            "focus_lost" => "the field does not keep the focus",
            "not_a_select" => "the element is not a select element",
            "not_multiple" => "the select element takes exactly one option",
            _ => "the element cannot do this",
        };
        return Err(Halt::Fail(Failure::new(ErrorCode::CmdExecutionFailed, why).with_reason(refused)));
    }
    Ok(())
}

/// The attempts at one element.
#[derive(Default)]
pub(super) struct Attempts {
    made: usize,
    /// Attempts that failed because of the place on the screen: the next one scrolls differently.
    shifts: usize,
}

impl Attempts {
    pub(super) fn shifts(&self) -> usize {
        self.shifts
    }

    /// Waits for the next attempt.
    ///
    /// # Errors
    /// Where there is none.
    pub(super) async fn again(&mut self, script: &Script, halt: Halt) -> Result<(), Failure> {
        let reason = match halt {
            Halt::Fail(failure) => return Err(failure),
            Halt::Miss(reason) => reason,
        };
        if matches!(reason, "covered" | "outside_viewport") {
            self.shifts = self.shifts.saturating_add(1);
        }
        let reason = script.with(|state| {
            let phase = state.run.as_mut().map(|run| &mut run.phase);
            match phase {
                Some(phase) if !reason.is_empty() => {
                    *phase = Phase::Waiting(reason);
                    reason
                }
                Some(Phase::Waiting(earlier)) => *earlier,
                Some(phase) => {
                    *phase = Phase::Waiting("not_found");
                    "not_found"
                }
                None => reason,
            }
        });
        let end = script.soft_deadline();
        let now = script.now();
        if now >= end {
            return Err(waited(reason, script.job.timeout));
        }
        let pause = match self.made {
            0 => 10,
            1..4 => 30,
            4..10 => 60,
            _ => 100,
        };
        self.made = self.made.saturating_add(1);
        script.sleep(Duration::from_millis(pause).min(end.since(now))).await;
        Ok(())
    }
}

/// A document around the one that is acted upon, and the frame element in it that leads inwards.
pub(super) struct Around {
    world: World,
    selector: String,
    owner: String,
}

/// The document that is acted upon.
pub(super) struct Place {
    pub(super) world: World,
    around: Vec<Around>,
}

impl Place {
    pub(super) fn is_top(&self) -> bool {
        self.around.is_empty()
    }
}

/// What the guards saw of a click.
pub(super) struct Seen {
    /// Some of it arrived somewhere.
    pub(super) pressed: bool,
    /// It reached the target.
    pub(super) reached: bool,
}

/// A parallelogram on the screen, as the browser draws a frame's content box.
struct Quad {
    origin: (f64, f64),
    along: (f64, f64),
    down: (f64, f64),
}

impl Quad {
    fn read(model: &Value) -> Option<Quad> {
        let corner = |at: usize| {
            let x = model.pointer(&format!("/model/content/{}", at.checked_mul(2)?))?.as_f64()?;
            let y =
                model.pointer(&format!("/model/content/{}", at.checked_mul(2)?.checked_add(1)?))?.as_f64()?;
            Some((x, y))
        };
        let (origin, right, bottom) = (corner(0)?, corner(1)?, corner(3)?);
        Some(Quad {
            origin,
            along: (right.0 - origin.0, right.1 - origin.1),
            down: (bottom.0 - origin.0, bottom.1 - origin.1),
        })
    }

    /// From a point of the frame's document, whose size is `size`, to the screen.
    fn outwards(&self, point: (f64, f64), size: (f64, f64)) -> Option<(f64, f64)> {
        if size.0 <= 0.0 || size.1 <= 0.0 {
            return None;
        }
        let (u, v) = (point.0 / size.0, point.1 / size.1);
        Some((
            self.origin.0 + self.along.0 * u + self.down.0 * v,
            self.origin.1 + self.along.1 * u + self.down.1 * v,
        ))
    }

    /// From the screen to the frame's document.
    fn inwards(&self, point: (f64, f64), size: (f64, f64)) -> Option<(f64, f64)> {
        let area = self.along.0 * self.down.1 - self.along.1 * self.down.0;
        if area.abs() < f64::EPSILON {
            return None;
        }
        let (x, y) = (point.0 - self.origin.0, point.1 - self.origin.1);
        let u = (x * self.down.1 - y * self.down.0) / area;
        let v = (y * self.along.0 - x * self.along.1) / area;
        Some((u * size.0, v * size.1))
    }
}

impl Script {
    /// Walks to the document that the command names, through its `frame` selectors. Checks the
    /// documents on the way; the last one is for the caller to check, with what it asks there.
    pub(super) async fn locate(&self, reveal: Option<usize>) -> Result<Place, Halt> {
        let (tab, mut session) = self.tab()?;
        let mut frame = tab;
        let mut around = Vec::new();
        for selector in self.job.frames() {
            let world = self.world(&session, &frame).await?;
            let found = self.ask(&world, "check", json!({ "selector": selector, "needs": [] })).await?;
            self.judge_around(&found, around.is_empty())?;
            settled(&found)?;
            let owner = self.frame_owner(&world, "owner", &selector).await?;
            let Some((owner, inner)) = owner else { return Err(Halt::Miss("not_found")) };
            if let Some(attempt) = reveal {
                settled(&self.ask(&world, "revealOwner", json!({ "attempt": attempt })).await?)?;
            }
            around.push(Around { world, selector, owner });
            session = self.with(|state| state.session_of_frame(&inner)).unwrap_or(session);
            frame = inner;
        }
        Ok(Place { world: self.world(&session, &frame).await?, around })
    }

    async fn size(&self, world: &World) -> Result<(f64, f64), Halt> {
        let size = self.ask(world, "size", json!({})).await?;
        Ok((size.number("width"), size.number("height")))
    }

    async fn quad(&self, around: &Around) -> Result<Quad, Halt> {
        let world = &around.world;
        let params = json!({ "objectId": around.owner });
        let model = self.call_in(&world.session, world.context, "DOM.getBoxModel", params).await;
        match model {
            Ok(model) => Quad::read(&model).ok_or(Halt::Miss("hidden")),
            Err(CallError::Refused(_)) => Err(Halt::Miss("hidden")),
            Err(error) => Err(error.into()),
        }
    }

    /// Takes a point of the document at `place` to the tab's viewport, and checks in every document
    /// around that input there goes to the frame. Borders, padding and transforms are in the
    /// browser's own content quads, which are in the coordinates of the local root.
    pub(super) async fn project(
        &self,
        place: &Place,
        point: (f64, f64),
        size: (f64, f64),
        press: bool,
    ) -> Result<(f64, f64), Halt> {
        let (mut point, mut size) = (point, size);
        let until = self.hard_deadline();
        for (at, around) in place.around.iter().enumerate().rev() {
            let Some(drawn) = self.quad(around).await?.outwards(point, size) else {
                return Err(Halt::Miss("hidden"));
            };
            let outer = at.checked_sub(1).and_then(|before| place.around.get(before));
            size = self.size(&around.world).await?;
            point = match outer {
                Some(outer) if outer.world.session == around.world.session => {
                    let local = self.quad(outer).await?.inwards(drawn, size);
                    local.ok_or(Halt::Miss("hidden"))?
                }
                _ => drawn,
            };
            let params = json!({ "selector": around.selector, "x": point.0, "y": point.1,
                "until": around.world.page_time(until), "press": press });
            settled(&self.ask(&around.world, "leads", params).await?)?;
        }
        Ok(point)
    }

    /// Lets the guards down; what the one in the target's document saw. `None` where that document
    /// is gone, or is being replaced.
    pub(super) async fn disarm(&self, place: &Place) -> Option<Seen> {
        let lower = async {
            let seen = self.ask(&place.world, "disarm", json!({})).await.ok()?;
            let (mut pressed, mut reached) = (seen.flag("seen"), seen.flag("reached"));
            for around in &place.around {
                if let Ok(around) = self.ask(&around.world, "disarm", json!({})).await
                    && around.flag("seen")
                {
                    // Input for the frame arrived outside it.
                    (pressed, reached) = (true, false);
                }
            }
            Some(Seen { pressed, reached })
        };
        self.unless_navigating(lower).await.flatten()
    }

    /// One attempt to bring the pointer's target under a point of the tab's viewport.
    pub(super) async fn aim(
        &self,
        place: &Place,
        needs: &Value,
        shift: usize,
        press: bool,
    ) -> Result<(f64, f64, bool), Halt> {
        let until = place.world.page_time(self.hard_deadline());
        let params = json!({ "selector": self.job.selector(), "needs": needs, "attempt": shift,
            "until": until, "press": press });
        let aimed = self.ask(&place.world, "aim", params).await?;
        self.judge(&aimed, place.is_top())?;
        settled(&aimed)?;
        let point = (aimed.number("x"), aimed.number("y"));
        let size = (aimed.number("width"), aimed.number("height"));
        let (x, y) = self.project(place, point, size, press).await?;
        Ok((x, y, aimed.flag("embeds")))
    }

    /// Asks about an element until it is there and as it should be.
    pub(super) async fn ask_patiently(
        &self,
        name: &str,
        params: impl Fn(&World) -> Value,
    ) -> Result<(Place, Answer), Failure> {
        let mut attempts = Attempts::default();
        loop {
            match self.ask_once(name, &params).await {
                Ok(found) => return Ok(found),
                Err(halt) => attempts.again(self, halt).await?,
            }
        }
    }

    async fn ask_once(&self, name: &str, params: &impl Fn(&World) -> Value) -> Result<(Place, Answer), Halt> {
        let place = self.locate(None).await?;
        // Reading and setting happen in the page, so the domain is asked for first.
        let facts = self.ask(&place.world, "facts", json!({})).await?;
        self.judge(&facts, place.is_top())?;
        let answer = self.ask(&place.world, name, params(&place.world)).await?;
        settled(&answer)?;
        Ok((place, answer))
    }
}
