use std::fmt::Write as _;
use std::time::Duration;

use zeroize::Zeroizing;

use super::seed::HmacSeed;
use crate::contract::{ActionName, Domain, ErrorCode, Failure, UrlParser, VERSION};
use crate::json::{
    self, JsonError, JsonErrorKind, JsonObject, MAX_SAFE_INTEGER, Object, Value, write_string,
};

/// A message whose shape is right (contract section 3).
#[derive(Debug)]
pub enum Message {
    /// Host to agent.
    Init(Init),
    /// Agent to host.
    InitAck(InitAck),
    /// Agent to host.
    Command(Command),
    /// Host to agent.
    Response(Response),
}

/// Opens a session.
#[derive(Debug)]
pub struct Init {
    /// The version that the host speaks.
    pub version: String,
    /// The secret of the session.
    pub seed: HmacSeed,
}

/// Answers [`Init`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InitAck {
    /// The version that the agent speaks.
    pub version: String,
    /// A UUID of version 4, in either case.
    pub agent_id: String,
    /// What the agent may ask for; not empty, no name twice.
    pub supported_actions: Vec<String>,
}

/// Asks for an action. `Debug` does not show the HMAC.
#[derive(Clone)]
pub struct Command {
    /// 1 to 2^53 − 1.
    pub seq: u64,
    /// The action.
    pub action: ActionName,
    /// The params in canonical form.
    pub params: JsonObject,
    /// The domain that the agent believes the document to have.
    pub expected_domain: Domain,
    /// 64 lower-case hex digits.
    pub hmac: HmacText,
}

/// An HMAC as the wire carries it.
pub type HmacText = [u8; 64];

/// Answers a [`Command`], or a line that was rejected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Response {
    /// The seq of the command; 0 answers a line whose seq cannot be told.
    pub seq: u64,
    /// The data, or why there is none.
    pub outcome: Result<Option<JsonObject>, Failure>,
    /// How long it took.
    pub timing: Option<Timing>,
}

/// How long a command waited and ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// From the line to the dispatch.
    pub queue: Duration,
    /// From the dispatch to the completion.
    pub exec: Duration,
}

/// A line that is one JSON object; nothing is known of its shape yet.
#[derive(Debug)]
pub struct Envelope<'a> {
    object: Object<'a>,
}

impl<'a> Envelope<'a> {
    /// Reads a line (contract section 6, step 2).
    ///
    /// # Errors
    /// `PIPE_INVALID_JSON`.
    pub fn read(line: &'a [u8]) -> Result<Self, Failure> {
        let invalid = |error: JsonError| {
            Failure::new(
                ErrorCode::PipeInvalidJson,
                format!("a line of {} bytes is no message: {error}", line.len()),
            )
        };
        if line.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n')) {
            return Err(Failure::new(
                ErrorCode::PipeInvalidJson,
                "a blank line is no message: write one JSON object a line",
            ));
        }
        match json::parse(line).map_err(invalid)? {
            Value::Object(object) => Ok(Envelope { object }),
            _ => Err(invalid(JsonError { kind: JsonErrorKind::NotAnObject, offset: 0 })),
        }
    }

    /// The line's seq, where it has one that a command may carry.
    pub fn seq(&self) -> Option<u64> {
        self.object.get("seq").and_then(seq)
    }

    /// The version that a message of type `kind` (`init`, `init_ack`) states, where it is a string
    /// other than ours. It is looked at before the rest of the shape (contract section 4). Cut down
    /// to what a log can take.
    pub fn foreign_version(&self, kind: &str) -> Option<String> {
        let version = self.object.get("version")?.as_str()?;
        let foreign = self.object.get("type")?.as_str() == Some(kind) && version != VERSION;
        let harmless =
            |character: &char| character.is_ascii_alphanumeric() || matches!(character, '.' | '-' | '+');
        foreign.then(|| {
            let readable: String = version.chars().filter(harmless).take(16).collect();
            if readable.is_empty() { "(unreadable)".into() } else { readable }
        })
    }

    /// Checks the shape (contract section 6, step 3), in the order of section 3.
    ///
    /// # Errors
    /// `PIPE_SCHEMA_INVALID`, `PIPE_HMAC_INVALID`, `MAC_EXPECTED_DOMAIN_INVALID`.
    pub fn message(&self, urls: &dyn UrlParser) -> Result<Message, Failure> {
        let kind = self.object.get("type");
        match kind.and_then(Value::as_str) {
            Some("init") => self.init().map(Message::Init),
            Some("init_ack") => self.init_ack().map(Message::InitAck),
            Some("command") => self.command(urls).map(Message::Command),
            Some("response") => self.response().map(Message::Response),
            _ => Err(wrong("type", "\"init\", \"init_ack\", \"command\" or \"response\"", kind)),
        }
    }

    fn init(&self) -> Result<Init, Failure> {
        self.only("init", &["type", "version", "hmac_seed"])?;
        let version = self.string("version", "a string")?;
        let seed = self.object.get("hmac_seed");
        let seed = seed
            .and_then(Value::as_str)
            .and_then(|text| HmacSeed::from_hex(text).ok())
            .ok_or_else(|| wrong("hmac_seed", "32 to 128 hex digits, an even number of them", seed))?;
        Ok(Init { version, seed })
    }

    fn init_ack(&self) -> Result<InitAck, Failure> {
        self.only("init_ack", &["type", "version", "agent_id", "supported_actions"])?;
        let version = self.string("version", "a string")?;
        let agent_id = self.string("agent_id", "a UUID of version 4")?;
        if !is_uuid_v4(&agent_id) {
            return Err(wrong("agent_id", "a UUID of version 4", self.object.get("agent_id")));
        }
        let names = self.object.get("supported_actions");
        let expected = || wrong("supported_actions", "an array of strings, not empty, none twice", names);
        let elements = names.and_then(Value::as_array).ok_or_else(expected)?;
        let supported_actions: Vec<String> = elements
            .iter()
            .map(|name| name.as_str().map(str::to_owned))
            .collect::<Option<_>>()
            .ok_or_else(expected)?;
        let mut sorted: Vec<_> = supported_actions.iter().collect();
        sorted.sort_unstable();
        sorted.dedup();
        if sorted.is_empty() || sorted.len() != supported_actions.len() {
            return Err(expected());
        }
        Ok(InitAck { version, agent_id, supported_actions })
    }

    fn command(&self, urls: &dyn UrlParser) -> Result<Command, Failure> {
        self.only("command", &["type", "seq", "action", "params", "security"])?;
        let security = self.object.get("security").and_then(Value::as_object);
        if let Some(security) = security {
            only("the command's security", security, &["expected_domain", "hmac"])?;
        }
        let number = self.object.get("seq");
        let seq = number
            .and_then(seq)
            .ok_or_else(|| wrong("seq", "an integer from 1 to 9007199254740991", number))?;
        let name = self.object.get("action");
        let action = name.and_then(Value::as_str).and_then(|name| name.parse().ok()).ok_or_else(|| {
            wrong("action", "a name: a letter, then at most 63 letters, digits or '_'", name)
        })?;
        let params = self.object.get("params");
        let params = params
            .and_then(Value::as_object)
            .ok_or_else(|| wrong("params", "an object", params))
            .map(JsonObject::from_object)?;
        let mac = security.and_then(|security| security.get("hmac"));
        let hmac = mac.and_then(Value::as_str).and_then(hmac_text).ok_or_else(|| {
            Failure::new(
                ErrorCode::PipeHmacInvalid,
                format!("security.hmac: expected 64 lower-case hex digits, got {}", kind_of(mac)),
            )
        })?;
        let host = security.and_then(|security| security.get("expected_domain"));
        let domain_invalid = |why: String| {
            Failure::new(ErrorCode::MacExpectedDomainInvalid, format!("security.expected_domain: {why}"))
        };
        let text = host
            .and_then(Value::as_str)
            .ok_or_else(|| domain_invalid(format!("expected a host, got {}", kind_of(host))))?;
        let expected_domain = Domain::parse(text, urls).map_err(|error| domain_invalid(error.to_string()))?;
        Ok(Command { seq, action, params, expected_domain, hmac })
    }

    fn response(&self) -> Result<Response, Failure> {
        self.only("response", &["type", "seq", "success", "data", "error", "timing"])?;
        let number = self.object.get("seq");
        let seq = number
            .and_then(Value::as_integer)
            .and_then(|seq| u64::try_from(seq).ok())
            .ok_or_else(|| wrong("seq", "an integer from 0 to 9007199254740991", number))?;
        let success = self.object.get("success");
        let success =
            success.and_then(Value::as_bool).ok_or_else(|| wrong("success", "true or false", success))?;
        let data = self.object.get("data");
        let error = self.object.get("error");
        let timing = self.object.get("timing").map(timing).transpose()?;
        let outcome = match (success, data, error) {
            (true, None, None) => Ok(None),
            (true, Some(Value::Object(data)), None) => Ok(Some(JsonObject::from_object(data))),
            (false, None, Some(error)) => Err(failure(error)?),
            (true, data, None) => return Err(wrong("data", "an object", data)),
            (true, _, Some(_)) => return Err(wrong("error", "no error beside success: true", error)),
            (false, Some(_), _) => return Err(wrong("data", "no data beside success: false", data)),
            (false, None, None) => return Err(wrong("error", "an object beside success: false", None)),
        };
        Ok(Response { seq, outcome, timing })
    }

    fn only(&self, message: &str, fields: &[&str]) -> Result<(), Failure> {
        only(message, &self.object, fields)
    }

    fn string(&self, field: &str, expected: &str) -> Result<String, Failure> {
        let value = self.object.get(field);
        value.and_then(Value::as_str).map(str::to_owned).ok_or_else(|| wrong(field, expected, value))
    }
}

/// Refuses a field that is not in `fields`. It is not named: it is the peer's text.
fn only(message: &str, object: &Object<'_>, fields: &[&str]) -> Result<(), Failure> {
    if object.iter().all(|(key, _)| fields.contains(&key)) {
        return Ok(());
    }
    Err(Failure::new(
        ErrorCode::PipeSchemaInvalid,
        format!("{message} has an unknown field; its fields are {}", fields.join(", ")),
    ))
}

fn wrong(field: &str, expected: &str, got: Option<&Value<'_>>) -> Failure {
    Failure::new(ErrorCode::PipeSchemaInvalid, format!("{field}: expected {expected}, got {}", kind_of(got)))
}

/// What a value is, without saying which.
fn kind_of(value: Option<&Value<'_>>) -> &'static str {
    match value {
        None => "nothing",
        Some(Value::Null) => "null",
        Some(Value::Bool(_)) => "a boolean",
        Some(Value::Number(_)) => "a number",
        Some(Value::String(_)) => "a string",
        Some(Value::Array(_)) => "an array",
        Some(Value::Object(_)) => "an object",
    }
}

fn seq(value: &Value<'_>) -> Option<u64> {
    value
        .as_integer()
        .and_then(|seq| u64::try_from(seq).ok())
        .filter(|seq| (1..=MAX_SAFE_INTEGER).contains(seq))
}

fn hmac_text(text: &str) -> Option<HmacText> {
    let digits: HmacText = text.as_bytes().try_into().ok()?;
    digits.iter().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f')).then_some(digits)
}

fn is_uuid_v4(text: &str) -> bool {
    let groups: Vec<&str> = text.split('-').collect();
    let lengths: Vec<usize> = groups.iter().map(|group| group.len()).collect();
    let hex = groups.iter().all(|group| group.bytes().all(|byte| byte.is_ascii_hexdigit()));
    let version = groups.get(2).is_some_and(|group| group.starts_with('4'));
    let variant = groups.get(3).is_some_and(|group| group.starts_with(['8', '9', 'a', 'b', 'A', 'B']));
    lengths == [8, 4, 4, 4, 12] && hex && version && variant
}

fn failure(error: &Value<'_>) -> Result<Failure, Failure> {
    let object = error.as_object().ok_or_else(|| wrong("error", "an object", Some(error)))?;
    only("the response's error", object, &["code", "message", "details"])?;
    let code = object.get("code");
    let code = code
        .and_then(Value::as_str)
        .and_then(|code| code.parse().ok())
        .ok_or_else(|| wrong("error.code", "a code of the contract", code))?;
    let message = object.get("message");
    let message =
        message.and_then(Value::as_str).ok_or_else(|| wrong("error.message", "a string", message))?;
    let details = match object.get("details") {
        None => None,
        Some(Value::Object(details)) => Some(JsonObject::from_object(details)),
        other => return Err(wrong("error.details", "an object", other)),
    };
    Ok(Failure { code, message: message.to_owned(), details })
}

fn timing(value: &Value<'_>) -> Result<Timing, Failure> {
    let expected = || wrong("timing", "{queue_ms, exec_ms}, two numbers not below 0", Some(value));
    let object = value.as_object().ok_or_else(expected)?;
    only("the response's timing", object, &["queue_ms", "exec_ms"])?;
    let field = |name: &str| {
        let milliseconds = object.get(name)?.as_f64()?;
        Duration::try_from_secs_f64(milliseconds / 1000.0).ok()
    };
    let queue = field("queue_ms").ok_or_else(expected)?;
    let exec = field("exec_ms").ok_or_else(expected)?;
    Ok(Timing { queue, exec })
}

impl Init {
    /// The message as a line with its LF. It holds the secret and is wiped on drop.
    pub fn to_line(&self) -> Zeroizing<String> {
        let mut line = Zeroizing::new(String::with_capacity(192));
        line.push_str("{\"type\":\"init\",\"version\":");
        write_string(&self.version, &mut line);
        line.push_str(",\"hmac_seed\":\"");
        line.push_str(&self.seed.to_hex());
        line.push_str("\"}\n");
        line
    }
}

impl InitAck {
    /// The message as a line with its LF.
    pub fn to_line(&self) -> String {
        let mut line = String::from("{\"type\":\"init_ack\",\"version\":");
        write_string(&self.version, &mut line);
        line.push_str(",\"agent_id\":");
        write_string(&self.agent_id, &mut line);
        line.push_str(",\"supported_actions\":[");
        for (position, name) in self.supported_actions.iter().enumerate() {
            if position > 0 {
                line.push(',');
            }
            write_string(name, &mut line);
        }
        line.push_str("]}\n");
        line
    }
}

impl Command {
    /// The message as a line with its LF; its params in canonical form.
    pub fn to_line(&self) -> String {
        let mut line = String::with_capacity(self.params.as_str().len().saturating_add(256));
        let _infallible = write!(
            line,
            "{{\"type\":\"command\",\"seq\":{},\"action\":\"{}\",\"params\":",
            self.seq, self.action
        );
        line.push_str(self.params.as_str());
        line.push_str(",\"security\":{\"expected_domain\":");
        write_string(self.expected_domain.as_str(), &mut line);
        line.push_str(",\"hmac\":\"");
        line.push_str(std::str::from_utf8(&self.hmac).unwrap_or_default());
        line.push_str("\"}}\n");
        line
    }
}

impl std::fmt::Debug for Command {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Command")
            .field("seq", &self.seq)
            .field("action", &self.action)
            .field("params", &self.params)
            .field("expected_domain", &self.expected_domain)
            .finish_non_exhaustive()
    }
}

impl Response {
    /// Whether the message would nest deeper than a reader accepts (contract section 2).
    pub(crate) fn is_too_deep(&self) -> bool {
        match &self.outcome {
            Ok(data) => data.as_ref().is_some_and(|data| data.depth() >= json::MAX_DEPTH),
            // Details lie in `error`, one level further down.
            Err(failure) => {
                failure.details.as_ref().is_some_and(|d| d.depth().saturating_add(1) >= json::MAX_DEPTH)
            }
        }
    }

    /// The message as a line with its LF.
    pub fn to_line(&self) -> String {
        let mut line = String::with_capacity(160);
        let success = self.outcome.is_ok();
        let _infallible = write!(line, "{{\"type\":\"response\",\"seq\":{},\"success\":{success}", self.seq);
        match &self.outcome {
            Ok(None) => {}
            Ok(Some(data)) => {
                line.push_str(",\"data\":");
                line.push_str(data.as_str());
            }
            Err(failure) => {
                let _infallible = write!(line, ",\"error\":{{\"code\":\"{}\",\"message\":", failure.code);
                write_string(&failure.message, &mut line);
                if let Some(details) = &failure.details {
                    line.push_str(",\"details\":");
                    line.push_str(details.as_str());
                }
                line.push('}');
            }
        }
        if let Some(timing) = self.timing {
            line.push_str(",\"timing\":{\"queue_ms\":");
            json::write_number(milliseconds(timing.queue), &mut line);
            line.push_str(",\"exec_ms\":");
            json::write_number(milliseconds(timing.exec), &mut line);
            line.push('}');
        }
        line.push_str("}\n");
        line
    }
}

/// Milliseconds with three decimals: the host's clock counts microseconds.
fn milliseconds(span: Duration) -> f64 {
    crate::time::micros(span) as f64 / 1000.0
}

#[cfg(all(test, feature = "url"))]
mod tests {
    use super::*;
    use crate::contract::WhatwgUrlParser;
    use serde_json::json;

    fn read(line: &str) -> Result<Message, Failure> {
        Envelope::read(line.as_bytes())?.message(&WhatwgUrlParser)
    }

    fn code(line: &str) -> Option<ErrorCode> {
        read(line).err().map(|failure| failure.code)
    }

    fn command() -> serde_json::Value {
        json!({"type": "command", "seq": 12, "action": "click", "params": {"selector": "#submit"},
               "security": {"expected_domain": "erp.example.com", "hmac": "0f".repeat(32)}})
    }

    #[test]
    fn each_message_survives_writing_and_reading() {
        let seed = HmacSeed::from_bytes(&[7; 32]).unwrap();
        let init = Init { version: VERSION.into(), seed }.to_line();
        let Ok(Message::Init(read_back)) = read(&init) else { panic!("{init:?}") };
        assert_eq!(read_back.to_line(), init);

        let ack = InitAck {
            version: VERSION.into(),
            agent_id: "0b7e2a54-3c1d-4e8f-9a6b-5c4d3e2f1a0b".into(),
            supported_actions: vec!["click".into(), "ä\"".into()],
        };
        assert!(matches!(read(&ack.to_line()), Ok(Message::InitAck(same)) if same == ack));

        let Ok(Message::Command(parsed)) = read(&command().to_string()) else { panic!() };
        let Ok(Message::Command(again)) = read(&parsed.to_line()) else { panic!() };
        assert_eq!(parsed.to_line(), again.to_line());

        let details = json!({"reason": "covered"});
        for outcome in [
            Ok(None),
            Ok(Some(JsonObject::parse(b"{\"text\":\"\\u4f60\"}").unwrap())),
            Err(Failure::new(ErrorCode::CmdSelectorTimeout, "said \"no\"\n").with_details(&details)),
        ] {
            for timing in
                [None, Some(Timing { queue: Duration::from_micros(1), exec: Duration::from_micros(12_345) })]
            {
                let response = Response { seq: 3, outcome: outcome.clone(), timing };
                let Ok(Message::Response(same)) = read(&response.to_line()) else {
                    panic!("{}", response.to_line())
                };
                assert_eq!(same, response);
            }
        }
    }

    #[test]
    fn a_field_that_is_unknown_missing_or_of_the_wrong_shape_is_refused() {
        use ErrorCode::{MacExpectedDomainInvalid, PipeHmacInvalid, PipeSchemaInvalid};
        let with = |path: &[&str], value: serde_json::Value| {
            let mut message = command();
            let mut place = &mut message;
            for step in path {
                place = &mut place[step];
            }
            *place = value;
            code(&message.to_string())
        };
        assert_eq!(code(&command().to_string()), None);
        assert_eq!(with(&["note"], json!(1)), Some(PipeSchemaInvalid));
        assert_eq!(with(&["security", "note"], json!(1)), Some(PipeSchemaInvalid));
        for seq in [json!(0), json!(-1), json!(1.5), json!("1"), json!(null), json!(true)] {
            assert_eq!(with(&["seq"], seq), Some(PipeSchemaInvalid));
        }
        assert_eq!(with(&["seq"], json!(9_007_199_254_740_991_u64)), None);
        assert_eq!(with(&["seq"], json!(1.0)), None);
        for action in [json!(""), json!("1a"), json!("a-b"), json!("a".repeat(65)), json!(1)] {
            assert_eq!(with(&["action"], action), Some(PipeSchemaInvalid));
        }
        assert_eq!(with(&["params"], json!([])), Some(PipeSchemaInvalid));
        for hmac in
            [json!("0F".repeat(32)), json!("0f".repeat(31)), json!("0g".repeat(32)), json!(1), json!(null)]
        {
            assert_eq!(with(&["security", "hmac"], hmac), Some(PipeHmacInvalid));
        }
        assert_eq!(with(&["security"], json!("none")), Some(PipeHmacInvalid));
        assert_eq!(with(&["security"], json!({"hmac": "0f".repeat(32)})), Some(MacExpectedDomainInvalid));
        for domain in [json!("bücher.example"), json!("ERP.example"), json!("a:1"), json!(1), json!("")] {
            assert_eq!(with(&["security", "expected_domain"], domain), Some(MacExpectedDomainInvalid));
        }
        assert_eq!(code(r#"{"type":"event"}"#), Some(PipeSchemaInvalid));
        assert_eq!(code(r#"{"type":1}"#), Some(PipeSchemaInvalid));
        assert_eq!(code("{}"), Some(PipeSchemaInvalid));
    }

    #[test]
    fn the_checks_of_a_command_come_in_the_order_of_the_contract() {
        // Everything is wrong; each round mends what was named.
        let mut message = json!({"type": "command", "seq": 0, "action": "", "params": 1, "x": 1,
                                 "security": {"hmac": 1, "expected_domain": 1}});
        let mut seen = Vec::new();
        for mend in ["x", "seq", "action", "params", "hmac", "expected_domain"] {
            let failure = read(&message.to_string()).unwrap_err();
            seen.push(failure.message);
            match mend {
                "x" => drop(message.as_object_mut().unwrap().remove("x")),
                "hmac" | "expected_domain" => message["security"][mend] = command()["security"][mend].clone(),
                _ => message[mend] = command()[mend].clone(),
            }
        }
        let words =
            ["unknown field", "seq:", "action:", "params:", "security.hmac:", "security.expected_domain:"];
        for (message, word) in seen.iter().zip(words) {
            assert!(message.contains(word), "{message} is not about {word}");
        }
        assert!(read(&message.to_string()).is_ok());
    }

    #[test]
    fn an_init_ack_that_is_not_one_is_refused() {
        let ack = |id: &str, actions: &str| {
            code(&format!(
                r#"{{"type":"init_ack","version":"1.0","agent_id":"{id}","supported_actions":{actions}}}"#
            ))
        };
        let id = "0B7E2A54-3c1d-4e8f-9a6b-5c4d3e2f1a0b";
        assert_eq!(ack(id, r#"["click"]"#), None);
        for actions in ["[]", r#"["a","a"]"#, "[1]", "{}", "null"] {
            assert_eq!(ack(id, actions), Some(ErrorCode::PipeSchemaInvalid), "{actions}");
        }
        for id in [
            "",
            "0b7e2a54-3c1d-1e8f-9a6b-5c4d3e2f1a0b",
            "0b7e2a54-3c1d-4e8f-7a6b-5c4d3e2f1a0b",
            "{0b7e2a54-3c1d-4e8f-9a6b-5c4d3e2f1a0b}",
            "0b7e2a543c1d4e8f9a6b5c4d3e2f1a0b",
            "0b7e2a54-3c1d-4e8f-9a6b-5c4d3e2f1a0g",
        ] {
            assert_eq!(ack(id, r#"["a"]"#), Some(ErrorCode::PipeSchemaInvalid), "{id}");
        }
    }

    #[test]
    fn a_foreign_version_is_told_before_the_rest_is_looked_at_and_quoted_harmlessly() {
        let foreign = |line: &str| Envelope::read(line.as_bytes()).unwrap().foreign_version("init_ack");
        assert_eq!(foreign(r#"{"type":"init_ack","version":"2.0","junk":1}"#).as_deref(), Some("2.0"));
        assert_eq!(foreign(r#"{"type":"init_ack","version":"\u001b[31m1.0\n"}"#).as_deref(), Some("31m1.0"));
        assert_eq!(foreign(r#"{"type":"init_ack","version":"龍"}"#).as_deref(), Some("(unreadable)"));
        assert_eq!(foreign(r#"{"type":"init_ack","version":1}"#), None);
        assert_eq!(foreign(r#"{"type":"init_ack","version":"1.0"}"#), None);
        assert_eq!(foreign(r#"{"type":"command","version":"2.0"}"#), None);
        assert_eq!(foreign(r#"{"type":"init","version":"2.0"}"#), None);
    }

    #[test]
    fn no_message_repeats_what_the_peer_wrote() {
        for line in [
            r#"{"type":"geheim"}"#,
            r#"{"type":"command","geheim":1}"#,
            r#"{"type":"command","seq":1,"action":"geheim geheim","params":{},"security":{}}"#,
            r#"geheim"#,
            r#"{"geheim":geheim}"#,
            r#"{"type":"init_ack","version":"1.0","agent_id":"geheim","supported_actions":["geheim"]}"#,
        ] {
            let failure = read(line).unwrap_err();
            assert!(!format!("{failure:?}").contains("geheim"), "{failure:?}");
        }
    }

    #[test]
    fn a_response_is_either_a_success_or_a_failure() {
        for line in [
            r#"{"type":"response","seq":1,"success":true,"error":{"code":"CMD_TIMEOUT","message":""}}"#,
            r#"{"type":"response","seq":1,"success":false}"#,
            r#"{"type":"response","seq":1,"success":false,"data":{}}"#,
            r#"{"type":"response","seq":1,"success":true,"data":[]}"#,
            r#"{"type":"response","seq":1,"success":false,"error":"text"}"#,
            r#"{"type":"response","seq":1,"success":false,"error":{"code":"CMD_NEW","message":""}}"#,
            r#"{"type":"response","seq":1,"success":false,"error":{"code":"CMD_TIMEOUT"}}"#,
            r#"{"type":"response","seq":-1,"success":true}"#,
            r#"{"type":"response","seq":1,"success":true,"timing":{"queue_ms":-1,"exec_ms":0}}"#,
        ] {
            assert_eq!(code(line), Some(ErrorCode::PipeSchemaInvalid), "{line}");
        }
        assert_eq!(code(r#"{"type":"response","seq":0,"success":true}"#), None);
    }
}
