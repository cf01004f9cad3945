//! Installs what the demo and the tests need and what is not there yet.

use std::path::Path;

use crate::run::run;
use crate::{Result, cef, root};

/// What a browser test needs.
const BROWSER: &[(&str, &str)] =
    &[("/usr/bin/chromium", "chromium"), ("/usr/bin/chromium-headless-shell", "chromium-headless-shell")];
/// What the demo's Chinese text needs to be seen, and what the oracle runs on.
const FONTS: &[(&str, &str)] =
    &[("/usr/share/fonts/opentype/noto/NotoSansCJK-Regular.ttc", "fonts-noto-cjk")];
/// What the C interface is compiled, found and watched with.
const C: &[(&str, &str)] = &[
    ("/usr/bin/gcc", "gcc"),
    ("/usr/bin/g++", "g++"),
    ("/usr/bin/make", "make"),
    ("/usr/bin/cmake", "cmake"),
    ("/usr/bin/pkg-config", "pkg-config"),
    ("/usr/bin/valgrind", "valgrind"),
];
const NODE: &[(&str, &str)] = &[("/usr/bin/node", "nodejs"), ("/usr/bin/npm", "npm")];

/// What the C++ surface is built and tested with.
const CPP: &[(&str, &str)] = &[
    ("/usr/bin/g++", "g++"),
    ("/usr/bin/clang++", "clang"),
    ("/usr/bin/clang-format", "clang-format"),
    ("/usr/bin/cmake", "cmake"),
    ("/usr/bin/ninja", "ninja-build"),
    ("/usr/bin/valgrind", "valgrind"),
    ("/usr/include/gtest/gtest.h", "libgtest-dev"),
];

/// Everything.
pub fn everything() -> Result<()> {
    debian(&[BROWSER, FONTS, C, NODE].concat())?;
    cpp()?;
    cef::setup()?;
    oracle()
}

/// A Chromium for the demo.
pub fn browser() -> Result<()> {
    debian(&[BROWSER, FONTS].concat())
}

/// What the C++ surface needs. ThreadSanitizer wants a std that is instrumented too, and so its source.
pub fn cpp() -> Result<()> {
    debian(CPP)?;
    let sysroot = std::process::Command::new("rustc").args(["--print", "sysroot"]).output()?.stdout;
    let sysroot = String::from_utf8(sysroot)?;
    if Path::new(sysroot.trim()).join("lib/rustlib/src/rust/library/Cargo.lock").exists() {
        return Ok(());
    }
    run(&["rustup", "component", "add", "rust-src"])
}

/// Installs the Debian packages whose file is missing.
pub fn debian(needed: &[(&str, &str)]) -> Result<()> {
    let missing: Vec<&str> =
        needed.iter().filter(|(file, _)| !Path::new(file).exists()).map(|(_, package)| *package).collect();
    if missing.is_empty() {
        return Ok(());
    }
    println!("installing {}", missing.join(", "));
    let root_user =
        std::process::Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout == b"0\n");
    let sudo: &[&str] = if root_user { &[] } else { &["sudo"] };
    let apt: Vec<&str> = [sudo, &["apt-get", "-o", "DPkg::Lock::Timeout=400"]].concat();
    run(&[apt.as_slice(), &["update"]].concat())?;
    run(&[apt.as_slice(), &["install", "-y", "--no-install-recommends"], &missing].concat())
        .map_err(|error| format!("{error}; install by hand: apt-get install {}", missing.join(" ")).into())
}

/// The npm packages of the oracle, as its lock file pins them.
fn oracle() -> Result<()> {
    let folder = root().join("tests/oracle");
    let installed = std::fs::read(folder.join("node_modules/.package-lock.json")).ok();
    let stamp = folder.join("node_modules/.installed-from");
    let wanted = std::fs::read(folder.join("package-lock.json"))?;
    if installed.is_some() && std::fs::read(&stamp).is_ok_and(|stamp| stamp == wanted) {
        return Ok(());
    }
    run(&["npm", "ci", "--prefix", "tests/oracle", "--no-audit", "--no-fund", "--ignore-scripts"])?;
    std::fs::write(stamp, wanted)?;
    Ok(())
}
