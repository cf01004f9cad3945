//! The executor: runs the actions of contract section 8 in a Chromium, over DevTools protocol
//! messages whose transport it does not own.
//!
//! The same code serves over `--remote-debugging-pipe` ([`Scope::Browser`]) and over
//! `content::DevToolsAgentHost` inside a browser ([`Scope::Page`]; `examples/cef_host`). After every input (`start`, `handle_…`, `execute`, `cancel`, `set_policy`) drain
//! [`Executor::poll_message`] and [`Executor::poll_event`] to `None`, then ask
//! [`Executor::poll_timeout`] when to call [`Executor::handle_timeout`].
//!
//! Inside, a command is a sequential `async` script that is polled whenever a message or a timeout
//! arrives; nothing runs on threads of its own. Whatever ends a command (its deadline, a crash, the
//! end of the browser) drops the script, so that nothing it started can still act.

mod action;
mod call;
mod element;
mod event;
mod executor;
mod image;
mod key;
mod navigation;
mod scope;
mod script;
mod state;
mod world;

#[cfg(all(test, feature = "url"))]
mod tests;

pub use executor::{Executor, ExecutorConfig, ExecutorEvent};
pub use scope::Scope;
