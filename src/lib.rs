#![doc = include_str!("../README.md")]
#![cfg_attr(test, allow(clippy::arithmetic_side_effects))]

pub mod browser;
pub mod contract;
#[cfg(any(feature = "capi", feature = "cxx"))]
pub mod ffi;
pub mod json;
pub mod pipe;
mod time;
pub mod wire;

#[cfg(feature = "url")]
pub use contract::WhatwgUrlParser;
pub use contract::{ActionName, Domain, ErrorCode, Failure, ParsedUrl, Registry, UrlParser};
pub use json::JsonObject;
pub use pipe::{
    Agent, AgentConfig, AgentEvent, Authorized, Host, HostConfig, HostEvent, HostSettings, Policy, State,
};
pub use time::Time;
