//! Has of jsonschema what the crate sgclaw names, and refuses every schema.

use serde_json::Value;

pub struct Validator(());
pub struct Options;
pub struct PatternOptions;

pub struct ValidationError<'a> {
    kind: error::ValidationErrorKind,
    location: paths::Location,
    _instance: std::marker::PhantomData<&'a Value>,
}

pub mod draft202012 {
    pub fn options() -> super::Options {
        super::Options
    }
}

pub mod paths {
    pub struct Location(pub(crate) String);

    impl Location {
        pub fn as_str(&self) -> &str {
            &self.0
        }
    }

    impl std::fmt::Display for Location {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str(&self.0)
        }
    }
}

pub mod error {
    use serde_json::Value;

    pub enum TypeKind {
        Single(&'static str),
        Multiple(Vec<&'static str>),
    }

    pub enum ValidationErrorKind {
        AdditionalProperties { unexpected: Vec<String> },
        UnevaluatedProperties { unexpected: Vec<String> },
        Required { property: Value },
        Type { kind: TypeKind },
        Enum { options: Value },
        Constant { expected_value: Value },
        Minimum { limit: Value },
        Maximum { limit: Value },
        ExclusiveMinimum { limit: Value },
        ExclusiveMaximum { limit: Value },
        MinLength { limit: u64 },
        MaxLength { limit: u64 },
        MinItems { limit: u64 },
        MaxItems { limit: u64 },
        Pattern { pattern: String },
        Format { format: String },
        UniqueItems,
        OneOfMultipleValid { context: () },
        OneOfNotValid { context: () },
        AnyOf { context: () },
        Refused,
    }

    impl ValidationErrorKind {
        pub fn keyword(&self) -> &'static str {
            "refused"
        }
    }
}

impl PatternOptions {
    pub fn regex() -> Self {
        PatternOptions
    }
}

impl Options {
    pub fn should_validate_formats(self, _yes: bool) -> Self {
        self
    }

    pub fn should_ignore_unknown_formats(self, _yes: bool) -> Self {
        self
    }

    pub fn with_pattern_options(self, _options: PatternOptions) -> Self {
        self
    }

    pub fn build(self, _schema: &Value) -> Result<Validator, ValidationError<'static>> {
        Err(ValidationError {
            kind: error::ValidationErrorKind::Refused,
            location: paths::Location(String::new()),
            _instance: std::marker::PhantomData,
        })
    }
}

impl Validator {
    pub fn is_valid(&self, _instance: &Value) -> bool {
        false
    }

    pub fn iter_errors<'a>(&self, _instance: &'a Value) -> std::iter::Empty<ValidationError<'a>> {
        std::iter::empty()
    }
}

impl ValidationError<'_> {
    pub fn kind(&self) -> &error::ValidationErrorKind {
        &self.kind
    }

    pub fn instance_path(&self) -> &paths::Location {
        &self.location
    }
}

impl std::fmt::Display for ValidationError<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("refused")
    }
}
