//! `cargo xtask`: what a person or CI does with this repository.
//!
//! - `demo [ARGS…]`: the main job on a real browser; installs what it needs
//! - `test`: everything; `--quick`: the inner loop, under a minute; `--soak`: the long ones, by hand;
//!   `--capi`, `--cpp`: the C interface, the C++ surface alone
//! - `setup`: installs what the tests need (Debian packages, npm packages, CEF)
//! - `size`: what the library adds to a C++ program
//! - `bench-boundary`: what the C++ surface costs over Rust
//! - `generate [--check]`: code and tables from `schemas/`, the C header from `src/ffi/c/`
//! - `install [--prefix DIR]`: the libraries for C, with header, pkg-config and CMake files

mod capi;
mod cef;
mod cpp;
mod cpp_host;
mod generate;
mod run;
mod setup;
mod size;
mod test;

use std::path::{Path, PathBuf};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

const USAGE: &str = "usage: cargo xtask demo [ARGS…] | test [--quick|--soak|--capi|--cpp] | setup | size \
                     | bench-boundary | generate [--check] | install [--prefix DIR]";

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = match arguments.as_slice() {
        ["demo", rest @ ..] => test::demo(rest),
        ["test"] => test::all(),
        ["test", "--quick"] => test::quick(),
        ["test", "--soak"] => test::soak(),
        ["test", "--cpp"] => cpp::all(),
        ["setup"] => setup::everything(),
        ["size"] => size::size(),
        ["bench-boundary"] => cpp::bench_boundary(),
        ["generate"] => generate::generate(false),
        ["generate", "--check"] => generate::generate(true),
        ["install", rest @ ..] => capi::install(rest),
        ["test", "--capi"] => capi::test(),
        _ => Err(USAGE.into()),
    };
    if let Err(error) = outcome {
        eprintln!("xtask: {error}");
        std::process::exit(1);
    }
}

/// The workspace's folder.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(1).map(Path::to_path_buf).unwrap_or_default()
}
