//! Strict JSON in, canonical JSON out (contract sections 2 and 5).
//!
//! The reader is the project's own because what it refuses is part of the contract: duplicate keys,
//! depth, lone surrogates, numbers that a double cannot hold. It does not change with the features
//! that other crates switch on in `serde_json`.

mod canonical;
mod object;
mod reader;
mod value;

pub use canonical::{canonical_len, write_canonical, write_number, write_string};
pub use object::JsonObject;
pub use reader::{JsonError, JsonErrorKind, MAX_DEPTH, parse, parse_lenient};
pub use value::{MAX_SAFE_INTEGER, Object, Value};
