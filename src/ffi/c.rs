//! The C ABI (`docs/c-api.md`).
