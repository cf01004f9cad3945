use super::pointer::sgclaw_str;

/// The version of this interface: the number in the name of the shared library.
pub const SGCLAW_ABI_VERSION: u32 = 0;

/// `SGCLAW_ABI_VERSION` of the library that is linked.
#[unsafe(no_mangle)]
pub extern "C" fn sgclaw_abi_version() -> u32 {
    SGCLAW_ABI_VERSION
}

/// The version of the library, such as "0.1.0".
#[unsafe(no_mangle)]
pub extern "C" fn sgclaw_version() -> sgclaw_str {
    env!("CARGO_PKG_VERSION").into()
}

/// The version of the pipe contract, such as "1.0".
#[unsafe(no_mangle)]
pub extern "C" fn sgclaw_contract_version() -> sgclaw_str {
    crate::contract::VERSION.into()
}
