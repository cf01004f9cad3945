use std::sync::Arc;

use super::canonical::write_object;
use super::reader::{JsonError, JsonErrorKind, parse};
use super::value::{Object, Value};

/// A JSON object kept as its canonical text: the params of a command, the data of a response, the
/// details of a failure. Cheap to clone.
///
/// `Debug` shows the length only: the text may be what a person typed.
#[derive(Clone, PartialEq, Eq)]
pub struct JsonObject {
    canonical: Arc<str>,
}

impl JsonObject {
    /// `{}`
    pub fn empty() -> Self {
        JsonObject { canonical: "{}".into() }
    }

    /// Reads an object strictly (contract section 2).
    ///
    /// # Errors
    /// As [`parse`], and where the value is not an object.
    pub fn parse(text: &[u8]) -> Result<Self, JsonError> {
        match parse(text)? {
            Value::Object(object) => Ok(JsonObject::from_object(&object)),
            _ => Err(JsonError { kind: JsonErrorKind::NotAnObject, offset: 0 }),
        }
    }

    /// The canonical text of `object`.
    pub fn from_object(object: &Object<'_>) -> Self {
        let mut canonical = String::new();
        write_object(object, &mut canonical);
        JsonObject { canonical: canonical.into() }
    }

    /// Takes over a `serde_json` object. `None` where it is not an object, or where a message could
    /// not carry it (a number above 2^53 − 1, nesting deeper than 64).
    pub fn from_serde(value: &serde_json::Value) -> Option<Self> {
        JsonObject::parse(value.to_string().as_bytes()).ok()
    }

    /// The canonical text (contract section 5).
    pub fn as_str(&self) -> &str {
        &self.canonical
    }

    /// The canonical text's bytes: what is signed.
    pub fn as_bytes(&self) -> &[u8] {
        self.canonical.as_bytes()
    }

    /// How deep the object nests; `{}` is 1. One pass over the text.
    pub fn depth(&self) -> usize {
        let (mut depth, mut deepest, mut in_string, mut escaped) = (0_usize, 0, false, false);
        for byte in self.canonical.bytes() {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => in_string = !in_string,
                b'{' | b'[' if !in_string => {
                    depth = depth.saturating_add(1);
                    deepest = deepest.max(depth);
                }
                b'}' | b']' if !in_string => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
        deepest
    }

    /// A view of the members. It borrows its strings from the text; making it costs one pass.
    pub fn view(&self) -> Object<'_> {
        match parse(self.canonical.as_bytes()) {
            Ok(Value::Object(object)) => object,
            // The text is an object by construction.
            _ => Object::default(),
        }
    }
}

impl std::fmt::Debug for JsonObject {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "JsonObject({} bytes)", self.canonical.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_depth_counts_brackets_outside_strings() {
        for (text, depth) in [("{}", 1), (r#"{"a":[[]],"b":{}}"#, 3), (r#"{"[{\\":"[[\"[[{"}"#, 1)] {
            assert_eq!(JsonObject::parse(text.as_bytes()).unwrap().depth(), depth, "{text}");
        }
    }
}
