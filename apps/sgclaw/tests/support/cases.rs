//! The page cases: `tests/pages/<name>.html`, each with its steps and expectations in a comment at its start.
//!
//! A step sends one action of contract section 8 and states what must come back. Two pseudo actions are not
//! sent: `sleep` (`{"ms": n}`) lets a late side effect happen, `crash` crashes the page's renderer.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::{Map, Value, json};

const OPEN: &str = "<!--case ";
const CLOSE: &str = "-->";

/// A step that states no `timeout_ms` gets this one, so that a broken executor fails in seconds.
const DEFAULT_TIMEOUT_MS: u64 = 5_000;

#[derive(Debug, Clone)]
pub struct Case {
    pub name: String,
    pub about: String,
    pub host: String,
    pub policy: Value,
    pub steps: Vec<Step>,
    pub oracle: Oracle,
}

#[derive(Debug, Clone)]
pub struct Step {
    pub action: String,
    pub params: Map<String, Value>,
    pub domain: String,
    /// None for the pseudo actions only.
    pub expect: Option<Value>,
}

/// Whether another implementation, Playwright, must agree.
#[derive(Debug, Clone)]
pub enum Oracle {
    Agrees,
    /// It behaves otherwise at these steps, in exactly this way.
    Differs {
        why: String,
        steps: BTreeMap<usize, Value>,
    },
    /// It has no such notion.
    Skipped {
        why: String,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawCase {
    about: String,
    #[serde(default)]
    host: Option<String>,
    #[serde(default)]
    policy: Option<Value>,
    steps: Vec<RawStep>,
    #[serde(default)]
    oracle: Option<RawOracle>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawStep {
    action: String,
    #[serde(default)]
    params: Map<String, Value>,
    #[serde(default)]
    domain: Option<String>,
    #[serde(default)]
    expect: Option<Value>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawOracle {
    #[serde(default)]
    skip: Option<String>,
    #[serde(default)]
    differs: Option<String>,
    #[serde(default)]
    steps: BTreeMap<usize, Value>,
}

impl Step {
    pub fn is_pseudo(&self) -> bool {
        matches!(self.action.as_str(), "sleep" | "crash")
    }

    /// Milliseconds of a `sleep`.
    pub fn sleep_ms(&self) -> u64 {
        self.params.get("ms").and_then(Value::as_u64).unwrap_or(0)
    }
}

impl Case {
    pub fn url(&self, port: u16) -> String {
        format!("http://{}:{port}/{}.html", self.host, self.name)
    }

    /// What must come back at a step when Playwright runs the case.
    pub fn oracle_expects(&self, step: usize) -> Option<&Value> {
        let declared = match &self.oracle {
            Oracle::Differs { steps, .. } => steps.get(&step),
            _ => None,
        };
        declared.or_else(|| self.steps.get(step)?.expect.as_ref())
    }
}

/// The directory `tests/pages` of the repository.
pub fn pages_dir() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/pages")
}

/// Every case, by name; any that is not well-formed is an error that names it.
pub fn load_all(port: u16) -> Result<Vec<Case>, String> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(pages_dir())
        .map_err(|e| format!("{}: {e}", pages_dir().display()))?
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "html"))
        .collect();
    files.sort();
    files
        .iter()
        .map(|path| {
            let name = path.file_stem().unwrap_or_default().to_string_lossy();
            let text = std::fs::read_to_string(path).map_err(|e| format!("{name}: {e}"))?;
            parse(&name, &text, port).map_err(|e| format!("{name}: {e}"))
        })
        .collect()
}

/// The page without the comment, so that its first bytes are the doctype.
pub fn strip(text: &str) -> &str {
    match split(text) {
        Some((_, page)) => page,
        None => text,
    }
}

fn split(text: &str) -> Option<(&str, &str)> {
    let (case, page) = text.strip_prefix(OPEN)?.split_once(CLOSE)?;
    Some((case, page.trim_start()))
}

/// `{base}`, `{other}` and `{port}`: the server's port is known only when it runs.
pub fn substitute(text: &str, port: u16) -> String {
    text.replace("{base}", &format!("http://127.0.0.1:{port}"))
        .replace("{other}", &format!("http://localhost:{port}"))
        .replace("{port}", &port.to_string())
}

pub fn parse(name: &str, text: &str, port: u16) -> Result<Case, String> {
    let (case, page) = split(text).ok_or("does not start with <!--case { … } -->")?;
    if !page.to_ascii_lowercase().starts_with("<!doctype html>") {
        return Err("after the case comes no <!doctype html>".into());
    }
    let raw: RawCase = serde_json::from_str(&substitute(case, port)).map_err(|e| e.to_string())?;
    let host = raw.host.unwrap_or_else(|| "127.0.0.1".into());
    if !matches!(host.as_str(), "127.0.0.1" | "localhost") {
        return Err(format!("host {host} is not served"));
    }
    let steps: Vec<Step> = raw
        .steps
        .into_iter()
        .enumerate()
        .map(|(index, step)| complete(step, &host).map_err(|e| format!("step {index}: {e}")))
        .collect::<Result<_, _>>()?;
    let observes =
        |step: &Step| step.expect.as_ref().and_then(|e| e.get("data")).is_some_and(|data| *data != json!({}));
    if !steps.iter().any(observes) {
        return Err("no step expects any data: the case observes nothing".into());
    }
    let oracle = oracle(raw.oracle, &steps)?;
    Ok(Case {
        name: name.into(),
        about: raw.about,
        host,
        policy: raw.policy.unwrap_or_else(default_policy),
        steps,
        oracle,
    })
}

fn default_policy() -> Value {
    json!({"version": 1, "domains": [
        {"pattern": "localhost", "actions": ["*"]},
        {"pattern": "127.0.0.1", "actions": ["*"]}
    ]})
}

fn complete(raw: RawStep, host: &str) -> Result<Step, String> {
    let mut params = raw.params;
    // The target's host takes the page's place, contract section 9.
    let target = match raw.action.as_str() {
        "navigate" => params.get("url").and_then(Value::as_str).and_then(host_of),
        _ => None,
    };
    let mut step = Step {
        action: raw.action,
        domain: raw.domain.or(target).unwrap_or_else(|| host.into()),
        params: Map::new(),
        expect: raw.expect,
    };
    match (&step.expect, step.is_pseudo()) {
        (None, true) => {}
        (Some(_), true) => return Err("a pseudo action has no result to expect".into()),
        (None, false) => return Err("expects nothing".into()),
        (Some(expect), false) => {
            well_formed(expect)?;
            if !params.contains_key("timeout_ms") {
                params.insert("timeout_ms".into(), DEFAULT_TIMEOUT_MS.into());
            }
        }
    }
    step.params = params;
    Ok(step)
}

fn host_of(url: &str) -> Option<String> {
    url::Url::parse(url).ok()?.host_str().map(str::to_owned)
}

/// `{"data": {…}}`, or `{"error": code}` with `reason` and `details` as far as the contract tells them.
fn well_formed(expect: &Value) -> Result<(), String> {
    let object = expect.as_object().ok_or("expect is not an object")?;
    let allowed: &[&str] =
        if object.contains_key("data") { &["data"] } else { &["error", "reason", "details"] };
    if let Some(key) = object.keys().find(|key| !allowed.contains(&key.as_str())) {
        return Err(format!("expect has a field {key:?} that is not of {allowed:?}"));
    }
    match (object.get("data"), object.get("error")) {
        (Some(Value::Object(_)), _) => Ok(()),
        (None, Some(Value::String(code)))
            if ["CMD_", "MAC_", "INTERNAL_"].iter().any(|family| code.starts_with(family)) =>
        {
            Ok(())
        }
        _ => Err("expect has neither a data object nor an error code".into()),
    }
}

fn oracle(raw: Option<RawOracle>, steps: &[Step]) -> Result<Oracle, String> {
    let Some(raw) = raw else { return Ok(Oracle::Agrees) };
    match (raw.skip, raw.differs) {
        (Some(why), None) if raw.steps.is_empty() => Ok(Oracle::Skipped { why }),
        (None, Some(why)) if !raw.steps.is_empty() => {
            for (index, expect) in &raw.steps {
                let step = steps.get(*index).ok_or(format!("oracle: there is no step {index}"))?;
                if step.expect.as_ref() == Some(expect) || step.is_pseudo() {
                    return Err(format!("oracle: step {index} declares no difference"));
                }
                well_formed(expect).map_err(|e| format!("oracle: step {index}: {e}"))?;
            }
            Ok(Oracle::Differs { why, steps: raw.steps })
        }
        _ => Err("oracle: either skip, or differs with steps".into()),
    }
}

/// What a step gave, in the shape of an expectation, so that one matcher serves every runner.
pub fn success(data: Value) -> Value {
    json!({ "data": data })
}

/// As [`success`], for an error of contract section 8 with its details.
pub fn failure(code: &str, details: Value) -> Value {
    let reason = details.get("reason").cloned().unwrap_or(Value::Null);
    json!({ "error": code, "reason": reason, "details": details })
}

/// Where `got` is not what was expected: None, or the path and both values.
///
/// Objects are compared as subsets, arrays element by element and in full length, the rest exactly. An object
/// with one key of these is a test of the value: `{"$present": bool}` (null counts as absent),
/// `{"$contains": text}`, `{"$near": number}` (±1, for what depends on rounding), `{"$chars": n}` code points.
pub fn mismatch(expected: &Value, got: &Value) -> Option<String> {
    let found = differ("", expected, Some(got))?;
    // Success where failure was expected, or the other way round, is understood from the whole answer only.
    let other_kind = expected.get("data").is_some() != got.get("data").is_some();
    Some(if other_kind { format!("{found}\n  the answer was {got}") } else { found })
}

fn differ(path: &str, expected: &Value, got: Option<&Value>) -> Option<String> {
    let wrong = || {
        let got = got.map_or("nothing".to_owned(), Value::to_string);
        let got: String = got.chars().take(600).collect();
        Some(format!("at {path}/: expected {expected}, got {got}"))
    };
    match expected {
        Value::Object(object) => {
            if let Some((key, argument)) = object.iter().next()
                && key.starts_with('$')
            {
                return if object.len() == 1 && passes(key, argument, got) { None } else { wrong() };
            }
            let Some(Value::Object(found)) = got else { return wrong() };
            object.iter().find_map(|(key, value)| differ(&format!("{path}/{key}"), value, found.get(key)))
        }
        Value::Array(items) => {
            let Some(Value::Array(found)) = got else { return wrong() };
            if items.len() != found.len() {
                return wrong();
            }
            items
                .iter()
                .zip(found)
                .enumerate()
                .find_map(|(index, (item, got))| differ(&format!("{path}/{index}"), item, Some(got)))
        }
        Value::Number(number) => match got {
            // 1 and 1.0 are the same number of JSON.
            Some(Value::Number(found)) if found.as_f64() == number.as_f64() => None,
            _ => wrong(),
        },
        other if got == Some(other) => None,
        _ => wrong(),
    }
}

fn passes(test: &str, argument: &Value, got: Option<&Value>) -> bool {
    let text = got.and_then(Value::as_str);
    match test {
        "$present" => argument.as_bool() == Some(got.is_some_and(|value| !value.is_null())),
        "$contains" => text.zip(argument.as_str()).is_some_and(|(text, part)| text.contains(part)),
        "$near" => got
            .and_then(Value::as_f64)
            .zip(argument.as_f64())
            .is_some_and(|(got, wanted)| (got - wanted).abs() <= 1.0),
        "$chars" => text.map(|text| text.chars().count() as u64) == argument.as_u64(),
        _ => false,
    }
}
