use std::collections::BTreeMap;
use std::sync::Arc;

use once_cell::sync::Lazy;
use serde_json::Value;

use super::schema::{SchemaError, require_closed};
use super::{ActionName, ErrorCode, Failure, Schema};
use crate::json::JsonObject;

macro_rules! standard_actions {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../schemas/pipe/1.0/actions/", $name, ".schema.json")))),*]
    };
}

/// The actions of contract section 8 and the schemas of their params.
const STANDARD: &[(&str, &str)] = standard_actions![
    "activateTab",
    "click",
    "getAttribute",
    "getHtml",
    "getText",
    "goBack",
    "goForward",
    "hover",
    "listTabs",
    "navigate",
    "pressKey",
    "reload",
    "screenshot",
    "scroll",
    "select",
    "type",
    "waitFor",
];

/// Compiled once for the process; a session clones the map of pointers.
static STANDARD_REGISTRY: Lazy<Registry> = Lazy::new(|| {
    let mut registry = Registry::default();
    for (name, schema) in STANDARD {
        // That each of them registers is what `every_standard_action_registers` pins.
        let _registered = registry.register(name, schema);
    }
    registry
});

/// The actions that a host knows, and what their params must be.
#[derive(Clone, Debug, Default)]
pub struct Registry {
    actions: BTreeMap<ActionName, Arc<ActionSchema>>,
}

/// An action and the schema of its params.
#[derive(Debug)]
pub struct ActionSchema {
    name: ActionName,
    source: String,
    schema: Schema,
}

/// Why an action was not registered.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RegisterError {
    /// The name is not one.
    Name(super::InvalidActionName),
    /// There is an action of this name already.
    Exists(ActionName),
    /// The schema was refused.
    Schema(ActionName, SchemaError),
}

impl Registry {
    /// The core actions and the standard extras of contract section 8.
    pub fn standard() -> Self {
        STANDARD_REGISTRY.clone()
    }

    /// Adds an action of the host's own. Do this before the handshake.
    ///
    /// `schema` is a JSON Schema (draft 2020-12) of the params. It must be closed: its root is of
    /// type `object`, and wherever an object is admitted the schema says what becomes of further
    /// fields (`additionalProperties` or `unevaluatedProperties`, not `true`).
    ///
    /// # Errors
    /// A name that is none or is taken, a schema that does not compile or is not closed.
    pub fn register(&mut self, name: &str, schema: &str) -> Result<(), RegisterError> {
        let name: ActionName = name.parse().map_err(RegisterError::Name)?;
        if self.actions.contains_key(&name) {
            return Err(RegisterError::Exists(name));
        }
        let refused = |error| RegisterError::Schema(name.clone(), error);
        // The strict reader, since a schema with a duplicate key does not say what it means.
        let strict = crate::json::parse(schema.as_bytes())
            .map_err(|error| refused(SchemaError::Json(error.to_string())))?;
        let value = strict.to_serde();
        let compiled = Schema::compile(&value).map_err(refused)?;
        require_closed(&value).map_err(refused)?;
        let action = ActionSchema { name: name.clone(), source: schema.to_owned(), schema: compiled };
        self.actions.insert(name, Arc::new(action));
        Ok(())
    }

    /// The action called `name`.
    pub fn get(&self, name: &str) -> Option<&Arc<ActionSchema>> {
        self.actions.get(name)
    }

    /// The names, in order.
    pub fn names(&self) -> impl Iterator<Item = &ActionName> {
        self.actions.keys()
    }
}

impl ActionSchema {
    /// The action's name.
    pub fn name(&self) -> &ActionName {
        &self.name
    }

    /// The schema as it was registered.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Checks params (contract section 6, step 8).
    ///
    /// # Errors
    /// `CMD_PARAMS_INVALID` with `details.errors`.
    pub fn validate(&self, params: &JsonObject) -> Result<(), Failure> {
        let value = params.view().to_serde();
        self.schema.validate(&value).map_err(|errors| params_invalid(&self.name, errors))
    }
}

/// A `CMD_PARAMS_INVALID` that tells `errors`, each `{path, keyword, message}`.
pub(crate) fn params_invalid(action: &ActionName, errors: Vec<Value>) -> Failure {
    let first = errors.first().cloned().unwrap_or_default();
    let text = |field: &str| first.get(field).and_then(Value::as_str).unwrap_or_default().to_owned();
    let (path, what) = (text("path"), text("message"));
    Failure::new(
        ErrorCode::CmdParamsInvalid,
        format!(
            "the params of {action} do not satisfy its schema: at '{path}': {what} (all in details.errors)"
        ),
    )
    .with_details(&serde_json::json!({ "errors": errors }))
}

impl std::fmt::Display for RegisterError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            RegisterError::Name(error) => error.fmt(f),
            RegisterError::Exists(name) => write!(f, "the action {name} is registered already"),
            RegisterError::Schema(name, error) => write!(f, "the action {name} is not registered: {error}"),
        }
    }
}

impl std::error::Error for RegisterError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_standard_action_registers() {
        let mut registry = Registry::default();
        for (name, schema) in STANDARD {
            registry.register(name, schema).unwrap_or_else(|error| panic!("{error}"));
        }
        assert_eq!(Registry::standard().names().count(), STANDARD.len());
        let files =
            std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/schemas/pipe/1.0/actions")).unwrap();
        assert_eq!(files.count(), STANDARD.len(), "a schema lies in schemas/ that no action uses");
    }

    #[test]
    fn an_action_whose_schema_does_not_compile_is_refused_when_it_is_registered() {
        let mut registry = Registry::standard();
        let schema = r#"{"type":"object","properties":{"a":{"type":"string","pattern":"("}},"additionalProperties":false}"#;
        let error = registry.register("broken", schema).unwrap_err();
        assert!(
            error.to_string().starts_with("the action broken is not registered: the schema does not compile"),
            "{error}"
        );
        assert!(registry.get("broken").is_none());
    }

    #[test]
    fn names_that_are_none_or_taken_and_texts_that_are_no_json_are_refused() {
        let mut registry = Registry::standard();
        let closed = r#"{"type":"object","additionalProperties":false}"#;
        for name in ["", "1a", "a-b", "ä", &"a".repeat(65)] {
            assert!(matches!(registry.register(name, closed), Err(RegisterError::Name(_))), "{name}");
        }
        assert!(matches!(registry.register("click", closed), Err(RegisterError::Exists(_))));
        let twice = r#"{"type":"object","additionalProperties":true,"additionalProperties":false}"#;
        assert!(matches!(registry.register("a", twice), Err(RegisterError::Schema(_, SchemaError::Json(_)))));
        assert_eq!(registry.register("a", closed), Ok(()));
    }

    #[test]
    fn params_of_the_standard_actions_are_checked() {
        let registry = Registry::standard();
        let check = |action: &str, params: &str| {
            registry
                .get(action)
                .unwrap()
                .validate(&JsonObject::parse(params.as_bytes()).unwrap())
                .map_err(|failure| failure.code)
        };
        for (action, params) in [
            (
                "click",
                r##"{"selector":"#a","button":"right","click_count":3,"modifiers":["Alt"],"frame":["#f"]}"##,
            ),
            ("type", r##"{"selector":"#a","text":"","timeout_ms":0}"##),
            ("scroll", r##"{"selector":"#a"}"##),
            ("scroll", r#"{"dx":-1.5}"#),
            ("scroll", r#"{"dx":1,"dy":2}"#),
            ("select", r#"{"selector":"a","value":"x"}"#),
            ("select", r#"{"selector":"a","label":["x","y"]}"#),
            ("listTabs", "{}"),
            ("goBack", r#"{"wait_until":"commit","timeout_ms":60000}"#),
        ] {
            assert_eq!(check(action, params), Ok(()), "{action} {params}");
        }
        let long = format!(r#"{{"selector":"{}"}}"#, "é".repeat(4097));
        for (action, params) in [
            ("click", "{}"),
            ("click", r#"{"selector":""}"#),
            ("click", long.as_str()),
            ("click", r#"{"selector":"a","click_count":0}"#),
            ("click", r#"{"selector":"a","click_count":1.5}"#),
            ("click", r#"{"selector":"a","modifiers":["Alt","Alt"]}"#),
            ("click", r#"{"selector":"a","frame":[]}"#),
            ("click", r#"{"selector":"a","timeout_ms":60001}"#),
            ("click", r#"{"selector":"a","force":true}"#),
            ("scroll", "{}"),
            ("scroll", r#"{"selector":"a","dx":1}"#),
            ("select", r#"{"selector":"a"}"#),
            ("select", r#"{"selector":"a","value":"x","label":"x"}"#),
            ("listTabs", r#"{"all":true}"#),
        ] {
            assert_eq!(check(action, params), Err(ErrorCode::CmdParamsInvalid), "{action} {params}");
        }
    }

    #[test]
    fn the_list_of_codes_in_the_schemas_is_the_table() {
        let codes: Vec<_> = ErrorCode::ALL.iter().map(|code| Value::from(code.as_str())).collect();
        let envelope: Value =
            serde_json::from_str(include_str!("../../schemas/pipe/1.0/envelope.schema.json")).unwrap();
        let trace: Value =
            serde_json::from_str(include_str!("../../schemas/pipe/1.0/trace.schema.json")).unwrap();
        assert_eq!(
            envelope["$defs"]["response"]["properties"]["error"]["properties"]["code"]["enum"],
            Value::from(codes.clone())
        );
        assert_eq!(trace["properties"]["code"]["enum"], Value::from(codes));
    }
}
