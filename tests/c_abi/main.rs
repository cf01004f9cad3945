//! The C interface as C uses it: what it does, what it refuses, and that no sequence of calls within
//! the conventions of `docs/c-api.md` does worse than return a status.
#![cfg(feature = "url")]
#![allow(unsafe_code)]
#![allow(
    clippy::arithmetic_side_effects,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::string_slice,
    clippy::unwrap_used
)]

mod functions;
mod misuse;
mod session;
mod world;
