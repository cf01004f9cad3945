//! The cxx bridge, for Chromium and every other host in C++.

// What cxx generates needs it.
#![allow(unsafe_code)]

#[cxx::bridge(namespace = "sgclaw::ffi")]
mod ffi {
    extern "Rust" {
        fn contract_version() -> &'static str;
    }
}

fn contract_version() -> &'static str {
    crate::contract::VERSION
}
