//! The C ABI. The conventions are in `docs/c-api.md`; `include/sgclaw/sgclaw.h` is generated from what
//! is public here.
//!
//! Every function does the same three things: turn what C gave into Rust's types ([`pointer`],
//! [`handle`]), call the core, write what came out.

// The conditions are the same for all functions: those of `docs/c-api.md`.
#![allow(unsafe_code, clippy::missing_safety_doc)]
// One name for a thing, in C, here and in the documentation.
#![allow(non_camel_case_types)]
#![deny(unsafe_op_in_unsafe_fn)]

mod agent;
mod command;
mod executor;
mod handle;
mod host;
mod pointer;
mod policy;
mod registry;
mod status;
mod text;
mod url_parser;
mod version;

pub use agent::*;
pub use command::*;
pub use executor::*;
pub use host::*;
pub use pointer::{sgclaw_bytes, sgclaw_str};
pub use policy::*;
pub use registry::*;
pub use status::*;
pub use text::*;
pub use url_parser::*;
pub use version::*;
