//! Rust of the program's own, with a function for C.

/// How many decimal digits `number` has.
#[unsafe(no_mangle)]
pub extern "C" fn own_digits(number: u64) -> usize {
    number.to_string().len()
}
