//! Where libcef.so and its data lie: `cef-dll-sys` was told by `CEF_PATH` (.cargo/config.toml).

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if let Ok(runtime) = std::env::var("DEP_CEF_DLL_WRAPPER_CEF_DIR") {
        println!("cargo::rustc-link-arg-bins=-Wl,-rpath,{runtime}");
        println!("cargo::rustc-env=CEF_RUNTIME={runtime}");
    }
}
