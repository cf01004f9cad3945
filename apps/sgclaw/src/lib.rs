//! The parts of the `sgclaw` command. They are a library so that tests and the demo use the very
//! same pieces.

pub mod agent;
pub mod browser;
pub mod chromium;
pub mod clock;
pub mod demo;
pub mod host;
pub mod memory;
pub mod platform;
pub mod script;
pub mod session;
pub mod tools;
pub mod trace_view;
pub mod usage;
