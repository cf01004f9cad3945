//! The C++ surface: its unit tests under several compilers, standards and sanitizers, and what it costs.

use std::path::Path;
use std::process::Command;

use crate::run::{VALGRIND, run, run_with};
use crate::{Result, root, setup};

/// One way to build the tests; each has a build folder, and all share what cargo builds.
pub struct Build {
    pub folder: &'static str,
    compiler: &'static str,
    standard: &'static str,
    sanitize: &'static str,
    kind: &'static str,
}

const PLAIN: Build =
    Build { folder: "target/cpp/gcc-17", compiler: "g++", standard: "17", sanitize: "", kind: "Debug" };

pub const ASAN: Build = Build {
    folder: "target/cpp/gcc-20-asan",
    compiler: "g++",
    standard: "20",
    sanitize: "address,undefined",
    kind: "Debug",
};

const OTHERS: &[Build] = &[
    ASAN,
    Build { folder: "target/cpp/clang-23", compiler: "clang++", standard: "23", sanitize: "", kind: "Debug" },
    Build {
        folder: "target/cpp/clang-20-tsan",
        compiler: "clang++",
        standard: "20",
        sanitize: "thread",
        kind: "Debug",
    },
];

const RELEASE: Build =
    Build { folder: "target/cpp/release", compiler: "g++", standard: "17", sanitize: "", kind: "Release" };

/// Calls from within calls in all combinations: hours under valgrind, and ASan sees the same.
const TOO_SLOW_FOR_VALGRIND: &str = "-*EveryMethod*";

/// `cargo xtask test --cpp`
pub fn all() -> Result<()> {
    setup::cpp()?;
    format()?;
    headers()?;
    test(&PLAIN)?;
    let tests = format!("{}/sgclaw_unittests", PLAIN.folder);
    let filter = format!("--gtest_filter={TOO_SLOW_FOR_VALGRIND}");
    let tests = [tests.as_str(), "--gtest_brief=1", &filter];
    run(&VALGRIND.split_whitespace().chain(tests).collect::<Vec<_>>())?;
    OTHERS.iter().try_for_each(test)
}

/// `cargo xtask bench-boundary`: the same recorded session through Rust and through C++.
pub fn bench_boundary() -> Result<()> {
    /// One run is short, and the runs take turns, so that what disturbs one disturbs the other.
    const ROUNDS: usize = 31;
    const COMMANDS: &str = "20000";
    setup::cpp()?;
    let rust = root().join("target/release/examples/boundary");
    let cpp = root().join(RELEASE.folder).join("sgclaw_boundary");
    // The same features as the library of the C++ program has.
    run(&["cargo", "build", "--quiet", "--release", "--features", "cxx,capi", "--example", "boundary"])?;
    build(&RELEASE, "sgclaw_boundary")?;
    let recording = root().join("target/cpp/boundary.jsonl");
    let recording = recording.to_str().ok_or("the path is not UTF-8")?;
    output(Command::new(&rust).args(["record", COMMANDS, recording]))?;

    let (mut of_rust, mut of_cpp) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        of_rust.push(output(Command::new(&rust).args([recording, COMMANDS]))?.trim().parse::<f64>()?);
        of_cpp.push(output(Command::new(&cpp).args([recording, COMMANDS]))?.trim().parse::<f64>()?);
    }
    let (rust_ns, cpp_ns) = (median(of_rust)?, median(of_cpp)?);
    let (rust_count, cpp_count) = (instructions(&rust, recording)?, instructions(&cpp, recording)?);
    println!("\na small command through the host  |  Rust | C++   | C++ / Rust");
    println!(
        "ns, median of {ROUNDS} runs in turn      | {rust_ns:5.0} | {cpp_ns:5.0} | {:.3}",
        cpp_ns / rust_ns
    );
    println!(
        "instructions, callgrind           | {rust_count:5.0} | {cpp_count:5.0} | {:.3}",
        cpp_count / rust_count
    );
    Ok(())
}

/// Instructions per command: of a longer session less those of a shorter one.
fn instructions(program: &Path, recording: &str) -> Result<f64> {
    let (short, long) = (1000, 3000);
    let count = |commands: u32| -> Result<f64> {
        let mut valgrind = Command::new("valgrind");
        valgrind.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]).arg(program);
        let report = valgrind.arg(recording).arg(commands.to_string()).output()?;
        let report = String::from_utf8(report.stderr)?;
        let (_, collected) = report.split_once("Collected : ").ok_or("callgrind counted nothing")?;
        Ok(collected.split_whitespace().next().unwrap_or_default().parse()?)
    };
    Ok((count(long)? - count(short)?) / f64::from(long - short))
}

fn median(mut values: Vec<f64>) -> Result<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().ok_or_else(|| "nothing was measured".into())
}

fn output(command: &mut Command) -> Result<String> {
    let output = command.output()?;
    if !output.status.success() {
        return Err(format!("{command:?} failed: {}", String::from_utf8_lossy(&output.stderr)).into());
    }
    Ok(String::from_utf8(output.stdout)?)
}

fn test(how: &Build) -> Result<()> {
    build(how, "all")?;
    run_with(
        &["ctest", "--test-dir", how.folder, "--output-on-failure"],
        &[("UBSAN_OPTIONS", "print_stacktrace=1")],
        None,
    )
}

fn build(how: &Build, target: &str) -> Result<()> {
    let cargo = format!("-DSGCLAW_CARGO_TARGET_DIR={}", root().join("target").display());
    run(&[
        "cmake",
        "-S",
        ".",
        "-B",
        how.folder,
        "-G",
        "Ninja",
        &format!("-DCMAKE_BUILD_TYPE={}", how.kind),
        &format!("-DCMAKE_CXX_COMPILER={}", how.compiler),
        &format!("-DCMAKE_CXX_STANDARD={}", how.standard),
        &format!("-DSGCLAW_SANITIZE={}", how.sanitize),
        &cargo,
    ])?;
    run(&["cmake", "--build", how.folder, "--target", target])
}

/// Every public header compiles by itself, as strictly as anybody compiles; and so does what README.md shows.
fn headers() -> Result<()> {
    let readme = std::fs::read_to_string(root().join("README.md"))?;
    let shown = readme.split_once("```cpp\n").and_then(|(_, rest)| rest.split_once("```"));
    let (shown, _) = shown.ok_or("README.md has no example in C++ (```cpp)")?;
    std::fs::create_dir_all(root().join("target/cpp"))?;
    std::fs::write(root().join("target/cpp/readme.h"), shown)?;
    let mut headers = [files("include/sgclaw", ".h")?, files("include/sgclaw/posix", ".h")?].concat();
    headers.push("target/cpp/readme.h".to_owned());
    for compiler in ["g++", "clang++"] {
        for standard in ["-std=c++17", "-std=c++20", "-std=c++2b"] {
            let mut command = vec![compiler, standard, "-x", "c++-header", "-fsyntax-only", "-Iinclude"];
            command.extend(["-fno-exceptions", "-fno-rtti"]);
            command.extend(["-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Werror"]);
            command.extend(headers.iter().map(String::as_str));
            run(&command)?;
        }
    }
    Ok(())
}

/// Where C++ lies.
const FOLDERS: &[&str] = &[
    "include/sgclaw",
    "include/sgclaw/posix",
    "cpp",
    "cpp/posix",
    "cpp/testing",
    "examples/boundary",
    "examples/cpp_host",
    "tests/replay",
    "tests/size",
];

/// Chromium's style.
fn format() -> Result<()> {
    let mut sources = Vec::new();
    for folder in FOLDERS {
        sources.extend(files(folder, ".h")?);
        sources.extend(files(folder, ".cc")?);
    }
    // The C header is written by cbindgen.
    sources.retain(|source| source != "include/sgclaw/sgclaw.h");
    let mut command = vec!["clang-format", "--dry-run", "-Werror"];
    command.extend(sources.iter().map(String::as_str));
    run(&command)
}

/// The files of a folder with this ending, as paths from the root.
fn files(folder: &str, ending: &str) -> Result<Vec<String>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(root().join(folder))? {
        let name = entry?.file_name().into_string().map_err(|_| "a file name is not UTF-8")?;
        if name.ends_with(ending) {
            files.push(format!("{folder}/{name}"));
        }
    }
    files.sort();
    Ok(files)
}
