//! Bytes to messages and back (contract sections 2 and 3).

mod lines;
mod message;
mod seed;

pub use lines::{Frame, LineDecoder};
pub use message::{Command, Envelope, HmacText, Init, InitAck, Message, Response, Timing};
pub use seed::{HmacSeed, InvalidSeed};

/// The longest message in bytes, without its LF: 1 MiB (contract section 2).
pub const MAX_MESSAGE_BYTES: usize = 1_048_576;
