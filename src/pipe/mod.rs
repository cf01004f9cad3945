//! A session: handshake, authentication, sequence, policy, breaker, routing, trace (contract
//! sections 4 to 7 and 9 to 11).
//!
//! [`Host`] and [`Agent`] are state machines without I/O. Feed one with `handle_*`, then drain it:
//! `output`, `poll_event`, and for the host `poll_trace`, each until it is empty. Then sleep until
//! the next input or `poll_timeout`.

mod agent;
mod auth;
mod breaker;
mod checks;
mod host;
mod outbox;
mod policy;
mod router;
mod sequence;
mod trace;

pub use agent::{Agent, AgentConfig, AgentError, AgentEvent, CallId};
pub use auth::{HmacSha256, KeyDerivation, SessionKey};
pub use checks::{Authentic, Authorized, Negotiated, Sequenced, Valid};
pub use host::{ChildExit, Host, HostConfig, HostEvent, HostSettings, State};
pub use policy::{Policy, PolicyError};
pub use sequence::{SeqUse, Sequence};
pub use trace::{Stage, TraceRecord};
