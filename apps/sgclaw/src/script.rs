//! The script of the reference agent: JSON Lines of `{action, params, expected_domain, expect?}`.

use sgclaw::json::{self, Object, Value};
use sgclaw::{ActionName, Domain, ErrorCode, Failure, JsonObject, WhatwgUrlParser};

/// One command of a script.
#[derive(Clone, Debug)]
pub struct Step {
    pub action: ActionName,
    pub params: JsonObject,
    pub expected_domain: Domain,
    pub expect: Expect,
}

/// What the answer must be.
#[derive(Clone, Debug)]
pub enum Expect {
    /// A success whose data has at least these fields with these values.
    Success(JsonObject),
    /// A failure with this code, and where given with this `details.reason`.
    Failure(ErrorCode, Option<String>),
}

/// Reads a script; blank lines and lines that begin with `#` are passed over.
pub fn parse(text: &str) -> Result<Vec<Step>, String> {
    text.lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty() && !line.trim_start().starts_with('#'))
        .map(|(number, line)| {
            step(line).map_err(|error| format!("line {}: {error}", number.saturating_add(1)))
        })
        .collect()
}

fn step(line: &str) -> Result<Step, String> {
    let value = json::parse(line.as_bytes()).map_err(|error| error.to_string())?;
    let object = value.as_object().ok_or("expected an object {action, params, expected_domain, expect?}")?;
    only(object, &["action", "params", "expected_domain", "expect"])?;
    let action = object.get("action").and_then(Value::as_str).ok_or("action: expected a string")?;
    let params = object.get("params").and_then(Value::as_object).ok_or("params: expected an object")?;
    let domain =
        object.get("expected_domain").and_then(Value::as_str).ok_or("expected_domain: expected a string")?;
    Ok(Step {
        action: action.parse().map_err(|error| format!("action: {error}"))?,
        params: JsonObject::from_object(params),
        expected_domain: Domain::parse(domain, &WhatwgUrlParser)
            .map_err(|error| format!("expected_domain: {error}"))?,
        expect: object.get("expect").map_or(Ok(Expect::Success(JsonObject::empty())), expect)?,
    })
}

fn expect(value: &Value<'_>) -> Result<Expect, String> {
    let shape = "expect: expected {\"data\": {…}} or {\"code\": \"…\", \"reason\": \"…\"}";
    let object = value.as_object().ok_or(shape)?;
    only(object, &["data", "code", "reason"])?;
    match (object.get("data"), object.get("code"), object.get("reason")) {
        (None, None, None) => Ok(Expect::Success(JsonObject::empty())),
        (Some(Value::Object(data)), None, None) => Ok(Expect::Success(JsonObject::from_object(data))),
        (None, Some(Value::String(code)), reason) => {
            let code = code
                .parse()
                .map_err(|()| "expect.code: expected a code of the contract; see `sgclaw errors`")?;
            let reason = reason.map(|reason| reason.as_str().ok_or(shape)).transpose()?;
            Ok(Expect::Failure(code, reason.map(str::to_owned)))
        }
        _ => Err(shape.into()),
    }
}

fn only(object: &Object<'_>, fields: &[&str]) -> Result<(), String> {
    match object.iter().find(|(name, _)| !fields.contains(name)) {
        None => Ok(()),
        Some((name, _)) => Err(format!("unknown field {name:?}; the fields are {}", fields.join(", "))),
    }
}

impl Expect {
    /// Whether an answer is as expected.
    pub fn is_met(&self, outcome: &Result<Option<JsonObject>, Failure>) -> bool {
        match (self, outcome) {
            (Expect::Success(expected), Ok(data)) => {
                let data = data.clone().unwrap_or_else(JsonObject::empty);
                let (data, expected) = (data.view(), expected.view());
                expected.iter().all(|(name, value)| data.get(name) == Some(value))
            }
            (Expect::Failure(code, reason), Err(failure)) => {
                let details = failure.details.clone().unwrap_or_else(JsonObject::empty);
                let details = details.view();
                let told = details.get("reason").and_then(Value::as_str);
                failure.code == *code && (reason.is_none() || reason.as_deref() == told)
            }
            _ => false,
        }
    }
}

impl std::fmt::Display for Expect {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Expect::Success(_) => f.write_str("a success with the data of `expect`"),
            Expect::Failure(code, None) => write!(f, "{code}"),
            Expect::Failure(code, Some(reason)) => write!(f, "{code} with reason {reason}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_is_read_line_by_line_and_errors_name_the_line() {
        let script =
            "# a comment\n\n{\"action\":\"click\",\"params\":{},\"expected_domain\":\"localhost\"}\n";
        assert_eq!(parse(script).unwrap().len(), 1);
        for (line, words) in [
            ("{", "line 1: the text ends too early"),
            ("[]", "expected an object"),
            (r#"{"action":"a-b","params":{},"expected_domain":"localhost"}"#, "action: expected the name"),
            (r#"{"action":"click","params":[],"expected_domain":"localhost"}"#, "params: expected an object"),
            (
                r#"{"action":"click","params":{},"expected_domain":"A"}"#,
                "expected_domain: expected a lower-case",
            ),
            (
                r#"{"action":"click","params":{},"expected_domain":"a","exepct":{}}"#,
                "unknown field \"exepct\"",
            ),
            (r#"{"action":"click","params":{},"expected_domain":"a","expect":{"code":"X"}}"#, "expect.code"),
            (
                r#"{"action":"click","params":{},"expected_domain":"a","expect":{"code":"CMD_TIMEOUT","data":{}}}"#,
                "expect:",
            ),
        ] {
            let error = parse(line).unwrap_err();
            assert!(error.contains(words), "{line}: {error}");
        }
    }

    #[test]
    fn an_expectation_is_met_by_its_own_kind_of_answer_alone() {
        let success = expect(&json::parse(br#"{"data":{"a":1}}"#).unwrap()).unwrap();
        let data = |text: &str| Ok(Some(JsonObject::parse(text.as_bytes()).unwrap()));
        assert!(success.is_met(&data(r#"{"a":1,"b":2}"#)));
        assert!(!success.is_met(&data(r#"{"a":2}"#)) && !success.is_met(&Ok(None)));
        let failed = |reason| Err(Failure::new(ErrorCode::CmdSelectorTimeout, "").with_reason(reason));
        let covered =
            expect(&json::parse(br#"{"code":"CMD_SELECTOR_TIMEOUT","reason":"covered"}"#).unwrap()).unwrap();
        assert!(covered.is_met(&failed("covered")) && !covered.is_met(&failed("hidden")));
        assert!(!success.is_met(&failed("covered")) && !covered.is_met(&data("{}")));
    }
}
