//! The static library that is measured.

pub use sgclaw;
