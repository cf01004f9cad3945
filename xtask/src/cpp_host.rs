//! What runs on programs in C and C++ as it does on Rust: recorded sessions, and the tests of `sgclaw host`
//! on the process host in C++. Under AddressSanitizer and UndefinedBehaviorSanitizer; `cpp` has built them.

use std::fs::File;
use std::sync::{Arc, Mutex};

use crate::run::run_with;
use crate::{Result, cpp, root};

/// Tests of `sgclaw host`; the variable names the program that they run instead (`tests/support/host.rs`).
const TARGETS: &[&str] = &["host_process", "browser_acceptance"];
const PROGRAM: &str = "SGCLAW_HOST";
/// The executor is the same as that of `sgclaw host`, which has run all rounds.
const ROUNDS: (&str, &str) = ("SGCLAW_ROUNDS", "100");

/// The tests; the output goes to `log` too.
pub fn test(log: &Arc<Mutex<File>>) -> Result<()> {
    let program = |name: &str| format!("{}/{}/{name}", root().display(), cpp::ASAN.folder);
    let replayers = [program("sgclaw_replay_cc"), program("sgclaw_replay_c")].join(":");
    run_with(&["cargo", "test", "--test", "replay"], &[("SGCLAW_REPLAYERS", &replayers)], Some(log))?;
    for target in TARGETS {
        run_with(
            &["cargo", "test", "--package", "sgclaw-cli", "--test", target],
            &[(PROGRAM, &program("sgclaw_host_example")), ROUNDS],
            Some(log),
        )?;
    }
    Ok(())
}
