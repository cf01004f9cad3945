//! `examples/cef_host`: CEF itself, and the example's checks and tests.

use std::fs::File;
use std::path::Path;
use std::sync::{Arc, Mutex};

use crate::run::{run, run_with};
use crate::setup::debian;
use crate::{Result, root};

/// Where cargo finds the example's `.cargo/config.toml`.
const FOLDER: &str = "examples/cef_host";
/// The wheel that carries libcef.so, by its hash.
const WHEEL: &str = "examples/cef_host/requirements.txt";
/// What the wheel is unpacked to.
const RUNTIME: &str = "target/cef";

/// What libcef.so needs; each brings what it needs itself.
const LIBRARIES: &[(&str, &str)] = &[
    ("/usr/lib/x86_64-linux-gnu/libasound.so.2", "libasound2"),
    ("/usr/lib/x86_64-linux-gnu/libatk-bridge-2.0.so.0", "libatk-bridge2.0-0"),
    ("/usr/lib/x86_64-linux-gnu/libcairo.so.2", "libcairo2"),
    ("/usr/lib/x86_64-linux-gnu/libcups.so.2", "libcups2"),
    ("/usr/lib/x86_64-linux-gnu/libgbm.so.1", "libgbm1"),
    ("/usr/lib/x86_64-linux-gnu/libnss3.so", "libnss3"),
    ("/usr/lib/x86_64-linux-gnu/libpango-1.0.so.0", "libpango-1.0-0"),
    ("/usr/lib/x86_64-linux-gnu/libudev.so.1", "libudev1"),
    ("/usr/lib/x86_64-linux-gnu/libXcomposite.so.1", "libxcomposite1"),
    ("/usr/lib/x86_64-linux-gnu/libXdamage.so.1", "libxdamage1"),
    ("/usr/lib/x86_64-linux-gnu/libXfixes.so.3", "libxfixes3"),
    ("/usr/lib/x86_64-linux-gnu/libxkbcommon.so.0", "libxkbcommon0"),
    ("/usr/lib/x86_64-linux-gnu/libXrandr.so.2", "libxrandr2"),
];

/// CEF and what it needs.
pub fn setup() -> Result<()> {
    debian(LIBRARIES)?;
    let (runtime, wanted) = (root().join(RUNTIME), std::fs::read(root().join(WHEEL))?);
    let stamp = runtime.join("installed-from");
    if std::fs::read(&stamp).is_ok_and(|installed| installed == wanted) {
        return Ok(());
    }
    if !runs(&["python3", "-m", "pip", "--version"]) {
        debian(&[("/usr/bin/pip3", "python3-pip")])?;
    }
    let _nothing_there = std::fs::remove_dir_all(&runtime);
    // Downloaded and unpacked, not installed: it is the library that is wanted, not the Python around it.
    run(&[
        "python3",
        "-m",
        "pip",
        "download",
        "--no-deps",
        "--require-hashes",
        "--quiet",
        "--dest",
        RUNTIME,
        "--requirement",
        WHEEL,
    ])?;
    let wheel = only_file(&runtime)?;
    run(&["python3", "-m", "zipfile", "--extract", &wheel, RUNTIME])?;
    std::fs::remove_file(&wheel)?;
    std::fs::write(stamp, wanted)?;
    Ok(())
}

/// The example as a person would check and test it. After the tests of the workspace, whose agent it uses.
pub fn test(log: &Arc<Mutex<File>>) -> Result<()> {
    let here = ["env", "--chdir", FOLDER, "cargo"];
    run(&[&here[..], &["fmt", "--check"]].concat())?;
    run(&[&here[..], &["clippy", "--quiet", "--all-targets", "--", "-D", "warnings"]].concat())?;
    run(&["cargo", "build", "--quiet", "--package", "sgclaw-cli"])?;
    run_with(&[&here[..], &["test"]].concat(), &[], Some(log))
}

fn runs(command: &[&str]) -> bool {
    let Some((program, arguments)) = command.split_first() else { return false };
    std::process::Command::new(program).args(arguments).output().is_ok_and(|output| output.status.success())
}

fn only_file(folder: &Path) -> Result<String> {
    let mut files = std::fs::read_dir(folder)?;
    let file = files.next().ok_or("pip downloaded nothing")??;
    Ok(file.path().to_string_lossy().into_owned())
}
