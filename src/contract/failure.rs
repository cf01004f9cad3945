use super::ErrorCode;
use crate::json::JsonObject;

/// Why a line was rejected or a command failed: what stands in the `error` of a response.
///
/// The message is for people and repeats no secret, no typed text and no bytes of the peer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The code.
    pub code: ErrorCode,
    /// What was expected, what came, what to do.
    pub message: String,
    /// More for programs, such as `reason` (contract section 8).
    pub details: Option<JsonObject>,
}

impl Failure {
    /// A failure without details.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Failure { code, message: message.into(), details: None }
    }

    /// The same with details; `details` is a JSON object.
    #[must_use]
    pub fn with_details(mut self, details: &serde_json::Value) -> Self {
        self.details = JsonObject::from_serde(details);
        self
    }

    /// The same with `details.reason` (contract section 8).
    #[must_use]
    pub fn with_reason(self, reason: &str) -> Self {
        self.with_details(&serde_json::json!({ "reason": reason }))
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.code.as_str(), self.message)
    }
}

impl std::error::Error for Failure {}

impl std::fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

impl std::str::FromStr for ErrorCode {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        ErrorCode::ALL.iter().copied().find(|code| code.as_str() == text).ok_or(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_found_by_its_number_and_by_its_name() {
        for code in ErrorCode::ALL {
            assert_eq!(ErrorCode::from_number(code.number()), Some(*code));
            assert_eq!(code.as_str().parse(), Ok(*code));
        }
        assert_eq!(ErrorCode::from_number(0), None, "0 is success in other languages");
        assert_eq!(ErrorCode::from_number(u8::MAX), None);
    }
}
