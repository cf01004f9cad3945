//! `cargo xtask`: what a person or CI does with this repository.

mod generate;

use std::path::{Path, PathBuf};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = match arguments.as_slice() {
        ["generate"] => generate::generate(false),
        ["generate", "--check"] => generate::generate(true),
        _ => Err("usage: cargo xtask generate [--check]".into()),
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
