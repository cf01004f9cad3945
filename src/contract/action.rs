use std::sync::Arc;

/// The name of an action: a letter, then at most 63 letters, digits or `_` (contract section 3).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ActionName(Arc<str>);

/// The text is no name of an action: a letter, then at most 63 letters, digits or `_`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidActionName;

impl ActionName {
    /// The name as it stands on the wire.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::str::FromStr for ActionName {
    type Err = InvalidActionName;

    fn from_str(text: &str) -> Result<Self, InvalidActionName> {
        let begins_with_a_letter = text.starts_with(|first: char| first.is_ascii_alphabetic());
        let made_of_word_characters = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        if begins_with_a_letter && made_of_word_characters && text.len() <= 64 {
            Ok(ActionName(text.into()))
        } else {
            Err(InvalidActionName)
        }
    }
}

impl std::borrow::Borrow<str> for ActionName {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Display for ActionName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::fmt::Display for InvalidActionName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("expected the name of an action: a letter, then at most 63 letters, digits or '_'")
    }
}

impl std::error::Error for InvalidActionName {}
