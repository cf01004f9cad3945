//! Black-box tests of the pipe: the public API against the contract, without a browser.
#![cfg(feature = "url")]
#![allow(
    clippy::arithmetic_side_effects,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::string_slice,
    clippy::unwrap_used
)]

mod agent;
mod framing;
mod handshake;
mod order;
mod policy;
mod properties;
mod responses;
mod support;
mod trace;
mod vectors;
