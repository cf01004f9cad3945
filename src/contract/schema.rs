use std::borrow::Cow;

use jsonschema::error::{TypeKind, ValidationErrorKind};
use jsonschema::paths::Location;
use jsonschema::{PatternOptions, ValidationError, Validator};
use serde_json::{Value, json};

/// How many violations are told at most (contract section 6).
const MAX_ERRORS: usize = 16;
/// Field names are cut after this many characters (contract section 6).
const MAX_FIELD_NAME: usize = 64;

/// A compiled JSON Schema (draft 2020-12).
///
/// Formats that the schema uses are asserted. Patterns run on an engine that is linear in the
/// input, so no back-references and no look-around. References lead into the schema itself only.
pub struct Schema {
    validator: Validator,
}

/// Why a schema was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SchemaError {
    /// It is not JSON.
    Json(String),
    /// It is not a valid schema, or uses a format or pattern that cannot be checked.
    Compile(String),
    /// An object may carry fields that the schema does not describe; the JSON Pointer says where.
    Open(String),
}

impl Schema {
    /// Compiles `schema`.
    ///
    /// # Errors
    /// What does not compile; a schema that would validate nothing is never built.
    pub fn compile(schema: &Value) -> Result<Self, SchemaError> {
        let validator = jsonschema::draft202012::options()
            .should_validate_formats(true)
            .should_ignore_unknown_formats(false)
            .with_pattern_options(PatternOptions::regex())
            .build(schema)
            .map_err(|error| SchemaError::Compile(format!("{error} (at '{}')", error.instance_path())))?;
        Ok(Schema { validator })
    }

    /// Validates `instance`; the violations are told in the shape of `details.errors`.
    ///
    /// # Errors
    /// At most 16 violations, none of which repeats a value of the instance.
    pub fn validate(&self, instance: &Value) -> Result<(), Vec<Value>> {
        if self.validator.is_valid(instance) {
            return Ok(());
        }
        Err(self.validator.iter_errors(instance).take(MAX_ERRORS).map(|error| describe(&error)).collect())
    }
}

/// Refuses a schema where an object may carry fields that nobody described.
///
/// The root must be of type `object` and closed. Wherever a subschema admits an object, it must say
/// what becomes of further fields: `additionalProperties` or `unevaluatedProperties`, and not `true`.
pub(super) fn require_closed(schema: &Value) -> Result<(), SchemaError> {
    if schema.get("type").and_then(Value::as_str) != Some("object") {
        return Err(SchemaError::Open("'': expected \"type\": \"object\" at the root".into()));
    }
    closed_at(schema, "", Position::Value)
}

/// Looks at every place where the schema describes a value.
fn closed_at(schema: &Value, path: &str, position: Position) -> Result<(), SchemaError> {
    if position == Position::Value && !is_closed(schema) {
        return Err(SchemaError::Open(format!(
            "'{path}': an object is admitted and \"additionalProperties\": false is missing"
        )));
    }
    for (keyword, child) in schema.as_object().into_iter().flatten() {
        let place = format!("{path}/{keyword}");
        let (children, position) = match keyword.as_str() {
            "properties" | "patternProperties" | "$defs" | "definitions" => (named(child), Position::Value),
            "additionalProperties" | "unevaluatedProperties" | "items" | "unevaluatedItems" | "contains" => {
                (vec![(String::new(), child)], Position::Value)
            }
            "prefixItems" => (numbered(child), Position::Value),
            "allOf" | "anyOf" | "oneOf" => (numbered(child), Position::Part),
            "dependentSchemas" => (named(child), Position::Part),
            "if" | "then" | "else" | "not" => (vec![(String::new(), child)], Position::Part),
            _ => continue,
        };
        for (name, child) in children {
            closed_at(child, &format!("{place}{name}"), position)?;
        }
    }
    Ok(())
}

#[derive(Clone, Copy, PartialEq)]
enum Position {
    /// The subschema describes a value of its own.
    Value,
    /// The subschema speaks further of a value that its parent describes.
    Part,
}

fn named(schemas: &Value) -> Vec<(String, &Value)> {
    schemas.as_object().into_iter().flatten().map(|(name, schema)| (format!("/{name}"), schema)).collect()
}

fn numbered(schemas: &Value) -> Vec<(String, &Value)> {
    schemas
        .as_array()
        .into_iter()
        .flatten()
        .enumerate()
        .map(|(at, schema)| (format!("/{at}"), schema))
        .collect()
}

/// Whether no object with fields that nobody described satisfies the schema.
fn is_closed(schema: &Value) -> bool {
    let Some(keywords) = schema.as_object() else { return schema.as_bool() == Some(false) };
    keywords.iter().any(|(keyword, value)| match keyword.as_str() {
        "type" => {
            *value != "object"
                && !value.as_array().is_some_and(|kinds| kinds.iter().any(|kind| kind == "object"))
        }
        "const" | "enum" => true,
        // What it leads to is looked at where it stands.
        "$ref" => value
            .as_str()
            .is_some_and(|to| to == "#" || to.starts_with("#/$defs/") || to.starts_with("#/definitions/")),
        "additionalProperties" | "unevaluatedProperties" => value.as_bool() != Some(true),
        "anyOf" | "oneOf" => {
            value.as_array().is_some_and(|parts| !parts.is_empty() && parts.iter().all(is_closed))
        }
        "allOf" => value.as_array().is_some_and(|parts| parts.iter().any(is_closed)),
        _ => false,
    })
}

/// One entry of `details.errors`: `{path, keyword, message}`.
fn describe(error: &ValidationError<'_>) -> Value {
    json!({
        "path": pointer(error.instance_path()),
        "keyword": error.kind().keyword(),
        "message": message(error.kind()),
    })
}

fn pointer(location: &Location) -> String {
    let whole = location.as_str();
    whole.split('/').map(cut).collect::<Vec<_>>().join("/")
}

/// A field's name, cut, so that it cannot carry a message of the peer's into a log.
fn cut(name: &str) -> Cow<'_, str> {
    match name.char_indices().nth(MAX_FIELD_NAME) {
        None => name.into(),
        Some((end, _)) => format!("{}…", name.get(..end).unwrap_or_default()).into(),
    }
}

/// What the schema wants. The library's own words would repeat the value.
fn message(kind: &ValidationErrorKind) -> String {
    use ValidationErrorKind as Kind;
    match kind {
        Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected } => {
            let names: Vec<_> = unexpected.iter().take(4).map(|name| format!("'{}'", cut(name))).collect();
            let more = if unexpected.len() > names.len() { " and more" } else { "" };
            format!("unknown field {}{more}", names.join(", "))
        }
        Kind::Required { property } => format!("the field {property} is missing"),
        Kind::Type { kind: TypeKind::Single(kind) } => format!("expected {kind}"),
        Kind::Type { kind: TypeKind::Multiple(kinds) } => {
            let kinds: Vec<_> = kinds.iter().map(|kind| kind.to_string()).collect();
            format!("expected {}", kinds.join(" or "))
        }
        Kind::Enum { options } => format!("expected one of {options}"),
        Kind::Constant { expected_value } => format!("expected {expected_value}"),
        Kind::Minimum { limit } => format!("expected at least {limit}"),
        Kind::Maximum { limit } => format!("expected at most {limit}"),
        Kind::ExclusiveMinimum { limit } => format!("expected more than {limit}"),
        Kind::ExclusiveMaximum { limit } => format!("expected less than {limit}"),
        Kind::MinLength { limit } => format!("expected at least {limit} characters"),
        Kind::MaxLength { limit } => format!("expected at most {limit} characters"),
        Kind::MinItems { limit } => format!("expected at least {limit} items"),
        Kind::MaxItems { limit } => format!("expected at most {limit} items"),
        Kind::Pattern { pattern } => format!("expected text that matches {pattern}"),
        Kind::Format { format } => format!("expected the format {format}"),
        Kind::UniqueItems => "expected items that differ from each other".into(),
        Kind::OneOfMultipleValid { .. } => "matches more than one of the alternatives".into(),
        Kind::OneOfNotValid { .. } | Kind::AnyOf { .. } => "matches none of the alternatives".into(),
        other => format!("does not satisfy {}", other.keyword()),
    }
}

impl std::fmt::Debug for Schema {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Schema")
    }
}

impl std::fmt::Display for SchemaError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            SchemaError::Json(error) => write!(f, "the schema is not JSON: {error}"),
            SchemaError::Compile(error) => write!(f, "the schema does not compile: {error}"),
            SchemaError::Open(error) => write!(f, "the schema is not closed: {error}"),
        }
    }
}

impl std::error::Error for SchemaError {}

#[cfg(test)]
mod tests {
    use super::*;

    fn compile(schema: Value) -> Result<Schema, SchemaError> {
        let compiled = Schema::compile(&schema)?;
        require_closed(&schema).map(|()| compiled)
    }

    #[test]
    fn a_schema_that_does_not_compile_is_refused() {
        let object = |property: Value| json!({"type": "object", "properties": {"a": property}, "additionalProperties": false});
        for broken in [
            json!({"type": "string", "pattern": "("}),
            json!({"type": "string", "pattern": "(a)\\1"}),
            json!({"type": "string", "format": "no-such-format"}),
            json!({"type": "strnig"}),
            json!({"type": "integer", "minimum": "1"}),
            json!({"$ref": "#/$defs/none"}),
            json!({"$ref": "https://example.com/other.json"}),
        ] {
            let refused = compile(object(broken.clone()));
            assert!(matches!(refused, Err(SchemaError::Compile(_))), "{broken}: {refused:?}");
        }
    }

    #[test]
    fn a_schema_that_is_not_closed_is_refused_at_any_depth() {
        let inside = |property: Value| json!({"type": "object", "properties": {"a": property}, "additionalProperties": false});
        for open in [
            json!({}),
            json!(true),
            json!({"type": "object"}),
            json!({"type": "object", "additionalProperties": true}),
            json!({"type": ["object", "null"], "properties": {"b": false}}),
            json!({"type": "array", "items": {"type": "object"}}),
            json!({"type": "array", "prefixItems": [{"type": "object"}], "items": false}),
            json!({"anyOf": [{"type": "string"}, {"type": "object"}]}),
            json!({"oneOf": [{"type": "string"}, true]}),
            json!({"description": "anything"}),
            json!({"allOf": [{"properties": {}}], "oneOf": [{"$ref": "#/properties/a/allOf/0"}]}),
            json!({"items": true}),
            json!({"type": "array", "items": true}),
            json!({"allOf": [{"properties": {}}]}),
        ] {
            let refused = compile(inside(open.clone()));
            assert!(matches!(refused, Err(SchemaError::Open(_))), "{open}: {refused:?}");
        }
        for root in
            [json!({}), json!(true), json!({"type": "array", "items": false}), json!({"type": "object"})]
        {
            assert!(matches!(compile(root.clone()), Err(SchemaError::Open(_))), "{root}");
        }
    }

    #[test]
    fn closed_schemas_compile() {
        let inside = |property: Value| json!({"type": "object", "properties": {"a": property}, "additionalProperties": false});
        for closed in [
            json!({"type": "string"}),
            json!({"enum": [{"any": "object"}, 1]}),
            json!({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}),
            json!({"type": "object", "additionalProperties": {"type": "string"}}),
            json!({"type": "object", "unevaluatedProperties": false, "allOf": [{"properties": {"b": {"type": "null"}}}]}),
            json!({"oneOf": [{"type": "null"}, {"type": "object", "properties": {}, "additionalProperties": false}]}),
        ] {
            assert!(
                compile(inside(closed.clone())).is_ok(),
                "{closed}: {:?}",
                compile(inside(closed.clone()))
            );
        }
    }

    #[test]
    fn violations_say_where_and_what_and_repeat_no_value() {
        let schema = Schema::compile(&json!({
            "type": "object",
            "properties": {"a": {"type": "integer", "maximum": 3}, "b": {"enum": ["x"]}, "c": {"pattern": "^z$"}},
            "required": ["d"],
            "additionalProperties": false
        }))
        .unwrap();
        let long = "n".repeat(100);
        let errors = schema
            .validate(&json!({"a": 4711, "b": "geheim", "c": "geheim", long.clone(): "geheim"}))
            .unwrap_err();
        let text = Value::from(errors.clone()).to_string();
        assert!(!text.contains("geheim") && !text.contains("4711") && !text.contains(&long), "{text}");
        let keywords: std::collections::BTreeSet<_> =
            errors.iter().map(|error| error["keyword"].as_str().unwrap()).collect();
        assert_eq!(keywords, ["additionalProperties", "enum", "maximum", "pattern", "required"].into());
        let maximum = errors.iter().find(|error| error["keyword"] == "maximum").unwrap();
        assert_eq!(*maximum, json!({"path": "/a", "keyword": "maximum", "message": "expected at most 3"}));
    }

    #[test]
    fn at_most_16_violations_are_told() {
        let schema =
            Schema::compile(&json!({"type": "object", "additionalProperties": {"type": "null"}})).unwrap();
        let instance: serde_json::Map<_, _> = (0..100).map(|n| (n.to_string(), json!(1))).collect();
        assert_eq!(schema.validate(&instance.into()).unwrap_err().len(), 16);
    }

    #[test]
    fn integers_may_be_written_with_a_point() {
        let schema = Schema::compile(&json!({"type": "integer"})).unwrap();
        assert!(schema.validate(&json!(1.0)).is_ok());
        assert!(schema.validate(&json!(1.5)).is_err());
    }
}
