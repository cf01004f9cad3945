//! sgclaw
