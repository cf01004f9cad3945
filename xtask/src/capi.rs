//! The C interface: its header, its packages, and the programs in C that prove both.

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

/// `include/sgclaw/sgclaw.h`
pub fn header() -> Result<String> {
    let config = cbindgen::Config::from_file(root().join("cbindgen.toml"))?;
    let builder = SOURCES.iter().fold(cbindgen::Builder::new().with_config(config), |builder, file| {
        builder.with_src(root().join(file))
    });
    let mut header = Vec::new();
    builder.generate()?.write(&mut header);
    Ok(String::from_utf8(header)?)
}
