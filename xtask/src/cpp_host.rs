//! The process host in C++ (`cpp/posix/`, `examples/cpp_host/`): it has to do what `sgclaw host` does,
//! so the tests of that run on it too, under AddressSanitizer and UndefinedBehaviorSanitizer.

use std::fs::File;
use std::sync::{Arc, Mutex};

use crate::run::{run, run_with};
use crate::setup::debian;
use crate::{Result, root};

const BUILD: &str = "target/cpp/host";
/// Tests of `sgclaw host`; the variable names the program that they run instead (`tests/support/host.rs`).
const TARGETS: &[&str] = &["host_process", "browser_acceptance"];
const PROGRAM: &str = "SGCLAW_HOST";
/// The executor is the same as that of `sgclaw host`, which has run all rounds.
const ROUNDS: (&str, &str) = ("SGCLAW_ROUNDS", "100");

/// What builds it.
const TOOLS: &[(&str, &str)] = &[("/usr/bin/cmake", "cmake"), ("/usr/bin/g++", "g++")];

/// Builds it and runs the tests.
pub fn test(log: &Arc<Mutex<File>>) -> Result<()> {
    debian(TOOLS)?;
    // What cargo has built of the dependencies is shared.
    let cargo = format!("-DSGCLAW_CARGO_TARGET_DIR={}", root().join("target").display());
    run(&[
        "cmake",
        "-S",
        ".",
        "-B",
        BUILD,
        "-DCMAKE_BUILD_TYPE=Debug",
        "-DSGCLAW_BUILD_TESTS=OFF",
        "-DSGCLAW_SANITIZE=address,undefined",
        &cargo,
    ])?;
    run(&["cmake", "--build", BUILD, "--parallel", "--target", "sgclaw_host_example"])?;
    let program = root().join(BUILD).join("sgclaw_host_example");
    let program = program.to_str().ok_or("the workspace's path is not UTF-8")?;
    for target in TARGETS {
        run_with(
            &["cargo", "test", "--package", "sgclaw-cli", "--test", target],
            &[(PROGRAM, program), ROUNDS],
            Some(log),
        )?;
    }
    Ok(())
}
