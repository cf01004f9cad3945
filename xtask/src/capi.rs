//! The C interface: its header, its packages, and the programs in C that prove both.

use std::path::Path;
use std::process::Command;

use crate::run::{VALGRIND, run, run_with};
use crate::{Result, root};

/// What the header is made from, in the order in which it tells it.
const SOURCES: &[&str] = &[
    "src/ffi/c/version.rs",
    "src/ffi/c/pointer.rs",
    "src/ffi/c/status.rs",
    "src/contract/code.rs",
    "src/ffi/c/text.rs",
    "src/ffi/c/url_parser.rs",
    "src/ffi/c/registry.rs",
    "src/ffi/c/policy.rs",
    "src/ffi/c/command.rs",
    "src/ffi/c/host.rs",
    "src/ffi/c/executor.rs",
    "src/ffi/c/agent.rs",
];

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// `include/sgclaw/sgclaw.h`
pub fn header() -> Result<String> {
    let config = cbindgen::Config::from_file(root().join("cbindgen.toml"))?;
    let mut builder = cbindgen::Builder::new().with_config(config);
    for file in SOURCES {
        builder = builder.with_src(root().join(file));
    }
    let mut header = Vec::new();
    builder.generate()?.write(&mut header);
    Ok(String::from_utf8(header)?)
}

/// `cargo xtask install [--prefix DIR]`: the header, both libraries, and what pkg-config and CMake find
/// them by. No file holds the prefix, so that the folder can be moved. The C++ surface is not installed:
/// it has no stable ABI, and programs build it with their own compiler and flags (CMakeLists.txt).
pub fn install(arguments: &[&str]) -> Result<()> {
    match arguments {
        [] => install_to(Path::new("/usr/local"), "release"),
        ["--prefix", prefix] => install_to(&std::path::absolute(prefix)?, "release"),
        _ => Err("usage: cargo xtask install [--prefix DIR]".into()),
    }
}

fn install_to(prefix: &Path, profile: &str) -> Result<()> {
    let abi = abi_version()?;
    let native_libs = build(profile, &abi)?;
    let (major_minor, _) = VERSION.rsplit_once('.').ok_or("a version without a patch number")?;
    let fill = |template: &str| {
        template
            .replace("@VERSION@", VERSION)
            .replace("@MAJOR_MINOR@", major_minor)
            .replace("@ABI@", &abi)
            .replace("@NATIVE_LIBS@", &native_libs)
            .replace("@POINTER_BYTES@", &size_of::<usize>().to_string())
    };
    let include = prefix.join("include/sgclaw");
    let lib = prefix.join("lib");
    for folder in [&include, &lib.join("pkgconfig"), &lib.join("cmake/sgclaw")] {
        std::fs::create_dir_all(folder)?;
    }
    std::fs::copy(root().join("include/sgclaw/sgclaw.h"), include.join("sgclaw.h"))?;
    let built = root().join(if profile == "dev" { "target/debug" } else { "target/release" });
    std::fs::copy(built.join("libsgclaw.a"), lib.join("libsgclaw.a"))?;
    let shared = format!("libsgclaw.so.{VERSION}");
    std::fs::copy(built.join("libsgclaw.so"), lib.join(&shared))?;
    link(&shared, &lib.join(format!("libsgclaw.so.{abi}")))?;
    link(&format!("libsgclaw.so.{abi}"), &lib.join("libsgclaw.so"))?;
    for (template, to) in [
        ("sgclaw.pc.in", "pkgconfig/sgclaw.pc"),
        ("sgclaw-static.pc.in", "pkgconfig/sgclaw-static.pc"),
        ("sgclaw-config.cmake.in", "cmake/sgclaw/sgclaw-config.cmake"),
        ("sgclaw-config-version.cmake.in", "cmake/sgclaw/sgclaw-config-version.cmake"),
    ] {
        let template = std::fs::read_to_string(root().join("packaging").join(template))?;
        std::fs::write(lib.join(to), fill(&template))?;
    }
    println!("installed sgclaw {VERSION} (ABI {abi}) to {}", prefix.display());
    Ok(())
}

/// Builds both libraries; returns what the static one must be linked with.
fn build(profile: &str, abi: &str) -> Result<String> {
    let soname = format!("link-arg=-Wl,-soname,libsgclaw.so.{abi}");
    let arguments = [
        &["rustc", "--profile", profile, "--package", "sgclaw", "--lib", "--features", "capi"][..],
        &["--crate-type", "staticlib,cdylib", "--", "-C", &soname, "--print", "native-static-libs"],
    ]
    .concat();
    println!("\n=== cargo {}", arguments.join(" "));
    let output = Command::new("cargo").args(&arguments).current_dir(root()).output()?;
    let said = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        return Err(format!("the libraries were not built:\n{said}").into());
    }
    said.lines()
        .find_map(|line| line.split_once("native-static-libs: "))
        .map(|(_, libs)| libs.trim().to_owned())
        .ok_or_else(|| format!("rustc did not say what to link with:\n{said}").into())
}

/// `SGCLAW_ABI_VERSION`, as the committed header has it.
fn abi_version() -> Result<String> {
    let header = std::fs::read_to_string(root().join("include/sgclaw/sgclaw.h"))?;
    let line = header.lines().find_map(|line| line.strip_prefix("#define SGCLAW_ABI_VERSION "));
    Ok(line.ok_or("no SGCLAW_ABI_VERSION in sgclaw.h")?.to_owned())
}

fn link(target: &str, at: &Path) -> Result<()> {
    if at.symlink_metadata().is_ok() {
        std::fs::remove_file(at)?;
    }
    Ok(std::os::unix::fs::symlink(target, at)?)
}

/// The C interface, from the checks of its Rust to programs in C that were linked in every way.
pub fn test() -> Result<()> {
    let clippy = ["cargo", "clippy", "--quiet", "--package", "sgclaw", "--features", "capi"];
    run(&[&clippy[..], &["--all-targets", "--", "-D", "warnings"]].concat())?;
    run(&[&clippy[..], &["--no-default-features", "--", "-D", "warnings"]].concat())?;
    // Under valgrind, so that what is freed twice, never, or read after its end is seen.
    run_with(
        &["cargo", "test", "--quiet", "--package", "sgclaw", "--features", "capi", "--test", "c_abi"],
        &[("CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER", VALGRIND)],
        None,
    )?;

    let folder = root().join("target/capi");
    if folder.exists() {
        std::fs::remove_dir_all(&folder)?;
    }
    let prefix = folder.join("prefix");
    // What the other tests have built serves here too; a release takes minutes.
    install_to(&prefix, "dev")?;
    exports_are_those_of_the_header(&prefix)?;
    run(&[
        "g++",
        "-std=c++17",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-pedantic",
        "-fsyntax-only",
        "-x",
        "c++",
        "include/sgclaw/sgclaw.h",
    ])?;
    let clang = Command::new("clang").arg("--version").output().is_ok().then_some("clang");
    for compiler in ["gcc"].into_iter().chain(clang) {
        for package in ["sgclaw", "sgclaw-static"] {
            let out = folder.join(format!("{compiler}-{package}"));
            std::fs::create_dir_all(&out)?;
            for example in ["pair", "agent"] {
                let source = format!("examples/c/{example}.c");
                compile(compiler, &source, &out.join(example), &pkg_config(&prefix, package)?)?;
            }
            prove(&out, "")?;
        }
    }
    cmake(&prefix, &folder.join("cmake"))?;
    let pair = folder.join("gcc-sgclaw-static/pair").display().to_string();
    run(&VALGRIND.split_whitespace().chain([pair.as_str()]).collect::<Vec<_>>())?;
    combined(&prefix, &folder)
}

/// Runs both examples of `folder`: the pair, and the agent under the command-line host.
fn prove(folder: &Path, suffix: &str) -> Result<()> {
    let pair = folder.join(format!("pair{suffix}"));
    says(Command::new(&pair), "agent: seq 1 answered: {\"text\":\"Orders\",\"truncated\":false}")?;
    let mut host = Command::new("cargo");
    host.args(["run", "--quiet", "--package", "sgclaw-cli", "--", "host", "--browser", "memory", "--"]);
    host.arg(folder.join(format!("agent{suffix}"))).current_dir(root());
    says(host, "seq 2: {\"text\":\"sgclaw memory page\",\"truncated\":false}")
}

/// Runs `command`, which must succeed and say `words`.
fn says(mut command: Command, words: &str) -> Result<()> {
    println!("\n=== {command:?}");
    let output = command.output()?;
    let said =
        [output.stdout, output.stderr].map(|said| String::from_utf8_lossy(&said).into_owned()).concat();
    if output.status.success() && said.contains(words) {
        return Ok(());
    }
    Err(format!("{command:?} ({}) did not say `{words}`:\n{said}", output.status).into())
}

/// The flags of an installed package; the program finds the shared library where it is now.
fn pkg_config(prefix: &Path, package: &str) -> Result<Vec<String>> {
    let lib = prefix.join("lib");
    let output = Command::new("pkg-config")
        .args(["--cflags", "--libs", package])
        .env("PKG_CONFIG_PATH", lib.join("pkgconfig"))
        .output()?;
    if !output.status.success() {
        return Err(format!("pkg-config: {}", String::from_utf8_lossy(&output.stderr)).into());
    }
    let flags = String::from_utf8(output.stdout)?;
    let rpath = format!("-Wl,-rpath,{}", lib.display());
    Ok(flags.split_whitespace().map(str::to_owned).chain([rpath]).collect())
}

fn compile(compiler: &str, source: &str, program: &Path, flags: &[String]) -> Result<()> {
    let program = program.display().to_string();
    let mut command =
        vec![compiler, "-std=c11", "-Wall", "-Wextra", "-Werror", "-pedantic", source, "-o", &program];
    command.extend(flags.iter().map(String::as_str));
    run(&command)
}

fn cmake(prefix: &Path, build: &Path) -> Result<()> {
    let (prefix, folder) = (format!("-DCMAKE_PREFIX_PATH={}", prefix.display()), build.display().to_string());
    run(&["cmake", "-S", "examples/c", "-B", &folder, &prefix])?;
    run(&["cmake", "--build", &folder])?;
    prove(build, "")?;
    prove(build, "_static")
}

/// What the shared library exports is what the header declares.
fn exports_are_those_of_the_header(prefix: &Path) -> Result<()> {
    let header = std::fs::read_to_string(prefix.join("include/sgclaw/sgclaw.h"))?;
    let mut declared: Vec<&str> = header
        .lines()
        .filter(|line| {
            line.starts_with("sgclaw_status ") || line.ends_with("(void);") || line.contains("(uint32_t ")
        })
        .filter_map(|line| line.split_once('(')?.0.rsplit(' ').next())
        .collect();
    let library = prefix.join("lib/libsgclaw.so");
    let output = Command::new("nm")
        .args(["--dynamic", "--defined-only", "--format=just-symbols"])
        .arg(library)
        .output()?;
    let symbols = String::from_utf8(output.stdout)?;
    let mut exported: Vec<&str> = symbols.lines().collect();
    declared.sort_unstable();
    exported.sort_unstable();
    if declared == exported {
        return Ok(());
    }
    Err(format!("the header declares {declared:?}\nthe shared library exports {exported:?}").into())
}

/// Two static libraries of Rust in one program do not go together; one library of both does
/// (docs/c-api.md).
fn combined(prefix: &Path, folder: &Path) -> Result<()> {
    let example = "examples/combined_staticlib";
    let flags = pkg_config(prefix, "sgclaw-static")?;
    let sgclaw = prefix.join("lib/libsgclaw.a").display().to_string();

    let own = folder.join("libown.a").display().to_string();
    run(&[
        "rustc",
        "--edition=2024",
        "--crate-type=staticlib",
        "-o",
        &own,
        &format!("{example}/src/own.rs"),
    ])?;
    let both = ["-Wl,--whole-archive", &sgclaw, &own, "-Wl,--no-whole-archive"].map(str::to_owned);
    let mut gcc = Command::new("gcc");
    gcc.args([&format!("{example}/main.c"), "-o", "/dev/null"]).args(both).args(&flags).current_dir(root());
    let output = gcc.output()?;
    let said = String::from_utf8_lossy(&output.stderr);
    let clash = said.lines().find(|line| line.contains("multiple definition"));
    let clash =
        clash.ok_or("two static libraries of Rust went together: docs/c-api.md says that they do not")?;
    println!("\ntwo static libraries of Rust do not go together: {clash}");

    // The versions of the workspace, so that what is built already serves.
    std::fs::copy(root().join("Cargo.lock"), root().join(example).join("Cargo.lock"))?;
    let manifest = format!("{example}/Cargo.toml");
    run(&["cargo", "build", "--quiet", "--manifest-path", &manifest, "--target-dir", "target"])?;
    let combined = root().join("target/debug/libcombined.a").display().to_string();
    let program = folder.join("combined");
    let flags: Vec<String> = flags
        .into_iter()
        .map(|flag| if flag.ends_with("/libsgclaw.a") { combined.clone() } else { flag })
        .collect();
    compile("gcc", &format!("{example}/main.c"), &program, &flags)?;
    says(Command::new(&program), "and other Rust in one library")
}
