//! All the Rust of a C program in one static library: sgclaw, and what the program has of its own.

// Named, so that its functions are part of the library although no Rust here calls them.
extern crate sgclaw as _;

pub mod own;
