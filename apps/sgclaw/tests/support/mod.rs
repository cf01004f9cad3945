//! What the two page runners share: the cases as data, and the server that serves their pages.

// Each runner is a crate of its own and uses its own part of this.
#![allow(dead_code, unreachable_pub)]

pub mod cases;
pub mod page_server;
