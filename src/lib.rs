#![doc = include_str!("../README.md")]
#![cfg_attr(test, allow(clippy::arithmetic_side_effects))]

pub mod contract;
pub mod json;
mod time;

pub use contract::{ErrorCode, Failure};
pub use json::JsonObject;
pub use time::Time;
