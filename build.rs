//! With the feature `cxx`: generates and compiles the bridge and the C++ surface. GN does this with
//! its own templates and does not run this file.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    #[cfg(feature = "cxx")]
    cxx();
}

#[cfg(feature = "cxx")]
fn cxx() {
    println!("cargo::rerun-if-changed=cpp");
    println!("cargo::rerun-if-changed=include");
    println!("cargo::rerun-if-changed=src/ffi/bridge.rs");
    // The paths that the files have in a Chromium checkout, so that one spelling serves both.
    cxx_build::CFG.include_prefix = "third_party/sgclaw";
    let mut build = cxx_build::bridge("src/ffi/bridge.rs");
    if std::env::var_os("CARGO_CFG_UNIX").is_some() {
        build.files([
            "cpp/posix/child_process.cc",
            "cpp/posix/devtools_pipe.cc",
            "cpp/posix/fd.cc",
            "cpp/posix/printable.cc",
            "cpp/posix/process_host.cc",
            "cpp/posix/random_seed.cc",
            "cpp/posix/wait_set.cc",
        ]);
    }
    build
        .files([
            "cpp/agent.cc",
            "cpp/command.cc",
            "cpp/command_router.cc",
            "cpp/contract.cc",
            "cpp/devtools_executor.cc",
            "cpp/host.cc",
            "cpp/shims.cc",
        ])
        .include("include")
        .std("c++17")
        .flag_if_supported("-fno-exceptions")
        .flag_if_supported("-fno-rtti")
        .compile("sgclaw_cxx");
}
