use serde_json::{Value, json};

use crate::browser::call::Script;
use crate::browser::image;
use crate::{ErrorCode, Failure};

/// Chromium draws nothing beyond its textures' 16,384 pixels a side; a page that large costs it the
/// process that draws, and the page its canvases.
const MAX_SIDE: f64 = 16_384.0;
/// Pixels of a picture; 256 MiB while it is drawn.
const MAX_PIXELS: f64 = 67_108_864.0;

impl Script {
    pub(super) async fn screenshot(&self) -> Result<Value, Failure> {
        let format = self.job.text("format").unwrap_or("png");
        let mut params = json!({ "format": format, "captureBeyondViewport": false });
        let (name, beyond) = match (self.job.text("selector"), self.job.flag("full_page")) {
            (Some(_), _) => ("picture", true),
            (None, true) => ("page", true),
            (None, false) => ("page", false),
        };
        let (place, area) = self.ask_patiently(name, |_| json!({ "selector": self.job.selector() })).await?;
        if let Some(params) = params.as_object_mut() {
            if beyond {
                let ratio = area.number("ratio");
                let (width, height) = (area.number("width") * ratio, area.number("height") * ratio);
                if width > MAX_SIDE || height > MAX_SIDE || width * height > MAX_PIXELS {
                    return Err(Failure::new(
                        ErrorCode::CmdResultTooLarge,
                        format!("the picture would be {width:.0} by {height:.0} pixels"),
                    ));
                }
                params.insert("captureBeyondViewport".to_owned(), true.into());
                let clip = json!({ "x": area.number("x"), "y": area.number("y"), "width": area.number("width"),
                    "height": area.number("height"), "scale": 1 });
                params.insert("clip".to_owned(), clip);
            }
            if let Some(quality) = self.job.params.get("quality").filter(|_| format == "jpeg") {
                params.insert("quality".to_owned(), quality.clone());
            }
        }
        let mut taken = self.call(&place.world.session, "Page.captureScreenshot", params).await?;
        // The picture shows whatever page the tab holds by now.
        self.judge_page()?;
        let Some(Value::String(data)) = taken.get_mut("data").map(Value::take) else {
            return Err(Failure::new(ErrorCode::CmdExecutionFailed, "the browser took no picture"));
        };
        let Some((width, height)) = image::size(&data) else {
            return Err(Failure::new(
                ErrorCode::CmdExecutionFailed,
                "the browser's picture is of no known kind",
            ));
        };
        Ok(json!({ "format": format, "width": width, "height": height, "data": data }))
    }
}
