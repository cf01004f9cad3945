#![doc = include_str!("../README.md")]
#![cfg_attr(test, allow(clippy::arithmetic_side_effects))]

pub mod browser;
pub mod contract;
pub mod json;
mod stub;
mod time;

pub use contract::{ErrorCode, Failure};
pub use json::JsonObject;
pub use stub::{Authorized, Policy};
pub use time::Time;
