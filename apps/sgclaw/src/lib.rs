//! The parts of the `sgclaw` command that its tests use too.
pub mod chromium;
