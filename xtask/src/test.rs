//! The tests, in the order in which they find faults soonest.

use std::fs::File;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use crate::run::{run, run_with};
use crate::{Result, capi, cef, cpp, cpp_host, generate, root, setup};

/// Test targets that need a browser; plain `cargo test` does not run them.
const BROWSER_TARGETS: &[&str] = &["browser_executor", "browser_pages", "browser_oracle"];

/// `cargo xtask demo`
pub fn demo(arguments: &[&str]) -> Result<()> {
    setup::browser()?;
    let mut command = vec!["cargo", "run", "--release", "--package", "sgclaw-cli", "--", "demo"];
    command.extend(arguments);
    run(&command)
}

/// `cargo xtask test --quick`
pub fn quick() -> Result<()> {
    let start = Instant::now();
    checks()?;
    run(&["cargo", "test", "--quiet", "--workspace"])?;
    println!("\nall quick checks passed in {:.0} s", start.elapsed().as_secs_f64());
    Ok(())
}

/// `cargo xtask test`
pub fn all() -> Result<()> {
    let start = Instant::now();
    setup::everything()?;
    checks()?;
    run_with(
        &["cargo", "doc", "--workspace", "--no-deps", "--quiet"],
        &[("RUSTDOCFLAGS", "-D warnings")],
        None,
    )?;
    // A browser brings its own URL parser: the core without the `url` crate.
    run(&[
        "cargo",
        "clippy",
        "--quiet",
        "--package",
        "sgclaw",
        "--no-default-features",
        "--",
        "-D",
        "warnings",
    ])?;

    capi::test()?;

    let path = root().join("target/test-output.log");
    let log = Arc::new(Mutex::new(File::create(&path)?));
    run_with(&["cargo", "test", "--workspace"], &[], Some(&log))?;
    for target in BROWSER_TARGETS {
        run_with(&["cargo", "test", "--package", "sgclaw-cli", "--test", target], &[], Some(&log))?;
    }
    let acceptance = ["cargo", "test", "--package", "sgclaw-cli", "--test", "browser_acceptance"];
    // What it measures is to be seen.
    run_with(&[&acceptance[..], &["--", "--nocapture"]].concat(), &[], Some(&log))?;
    cpp::all()?;
    cpp_host::test(&log)?;
    cef::test(&log)?;
    no_secret_in(&path)?;
    println!("\nall tests passed in {:.0} s", start.elapsed().as_secs_f64());
    Ok(())
}

/// `cargo xtask test --soak`
pub fn soak() -> Result<()> {
    setup::everything()?;
    // Every property of `tests/pipe`, many times over.
    run_with(
        &["cargo", "test", "--release", "--package", "sgclaw", "--test", "pipe", "properties"],
        &[("SGCLAW_SOAK", "100")],
        None,
    )?;
    run_with(
        &[
            "cargo",
            "test",
            "--release",
            "--package",
            "sgclaw-cli",
            "--test",
            "browser_acceptance",
            "--",
            "--nocapture",
        ],
        &[("SGCLAW_ROUNDS", "5000")],
        None,
    )
}

fn checks() -> Result<()> {
    run(&["cargo", "fmt", "--all", "--check"])?;
    generate::generate(true)?;
    run(&["cargo", "clippy", "--quiet", "--workspace", "--all-targets", "--", "-D", "warnings"])?;
    // `--all-targets` leaves out what plain `cargo test` does not run.
    let mut browser = vec!["cargo", "clippy", "--quiet", "--package", "sgclaw-cli"];
    for target in BROWSER_TARGETS.iter().chain(&["browser_acceptance"]) {
        browser.extend(["--test", target]);
    }
    browser.extend(["--", "-D", "warnings"]);
    run(&browser)
}

/// The whole output of the test run is searched for the secrets that tests plant.
fn no_secret_in(path: &std::path::Path) -> Result<()> {
    let secrets = std::fs::read_to_string(root().join("tests/planted-secrets.txt"))?;
    let output = std::fs::read(path)?;
    match find_secret(&String::from_utf8_lossy(&output), &secrets) {
        Some(line) => Err(format!("a planted secret stands in the output of the tests: {line}").into()),
        None => {
            println!("\nno planted secret stands in {}", path.display());
            Ok(())
        }
    }
}

/// The first line of `output` that holds one of `secrets` (one a line; `#` begins a comment).
fn find_secret<'a>(output: &'a str, secrets: &str) -> Option<&'a str> {
    let secrets: Vec<&str> =
        secrets.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).collect();
    output.lines().find(|line| secrets.iter().any(|secret| line.contains(secret)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_planted_secret_in_the_output_is_found() {
        let secrets = "# a comment\n\ngeheim-1\ngeheim-2\n";
        assert_eq!(find_secret("all is well\n# a comment\n", secrets), None);
        assert_eq!(find_secret("fine\nit said geheim-2!\nfine", secrets), Some("it said geheim-2!"));
    }

    #[test]
    fn the_list_of_planted_secrets_is_not_empty() {
        let list = include_str!("../../tests/planted-secrets.txt");
        let planted = list.lines().find(|line| !line.starts_with('#')).unwrap();
        assert_eq!(find_secret(planted, list), Some(planted));
    }
}
