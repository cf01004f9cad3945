//! What is legal: error codes, actions and their schemas, domains, URLs. The contract is data
//! (`schemas/pipe/1.0/`); this room reads it and knows nothing of sessions.

mod action;
mod code;
mod domain;
mod failure;
mod registry;
mod schema;
mod url;

pub use action::{ActionName, InvalidActionName};
pub use code::{ErrorCode, REASONS};
pub(crate) use domain::is_loopback;
pub use domain::{Domain, DomainError};
pub use failure::Failure;
pub(crate) use registry::params_invalid;
pub use registry::{ActionSchema, RegisterError, Registry};
pub use schema::{Schema, SchemaError};
#[cfg(feature = "url")]
pub use url::WhatwgUrlParser;
pub use url::{ParsedUrl, UrlParser};

/// The version of the contract that this crate speaks.
pub const VERSION: &str = "1.0";
