//! Pointers that come from C: looked at before anything is read or written through them.

use std::ffi::c_char;

use super::status::sgclaw_status;

/// A view of text in UTF-8, without a zero byte at its end. `data` is NULL where there is none.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct sgclaw_str {
    /// The first byte.
    pub data: *const c_char,
    /// How many bytes.
    pub len: usize,
}

/// A view of bytes. `data` is NULL where there are none.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct sgclaw_bytes {
    /// The first byte.
    pub data: *const u8,
    /// How many.
    pub len: usize,
}

impl Default for sgclaw_str {
    fn default() -> Self {
        sgclaw_str { data: std::ptr::null(), len: 0 }
    }
}

impl From<&str> for sgclaw_str {
    fn from(text: &str) -> Self {
        sgclaw_str { data: text.as_ptr().cast(), len: text.len() }
    }
}

impl Default for sgclaw_bytes {
    fn default() -> Self {
        sgclaw_bytes { data: std::ptr::null(), len: 0 }
    }
}

impl From<&[u8]> for sgclaw_bytes {
    fn from(bytes: &[u8]) -> Self {
        if bytes.is_empty() {
            return Self::default();
        }
        sgclaw_bytes { data: bytes.as_ptr(), len: bytes.len() }
    }
}

impl sgclaw_str {
    /// A view of a text that may be missing.
    pub(super) fn of(text: Option<&str>) -> Self {
        text.map(Self::from).unwrap_or_default()
    }
}

/// The items from `data` on.
///
/// # Safety
/// Where `count` is not 0 and `data` passes the checks here, there are `count` items that nobody
/// writes to while the slice lives.
pub(super) unsafe fn slice<'a, T>(data: *const T, count: usize) -> Result<&'a [T], sgclaw_status> {
    if count == 0 {
        return Ok(&[]);
    }
    check(data)?;
    let bytes = count.checked_mul(size_of::<T>()).filter(|bytes| isize::try_from(*bytes).is_ok());
    if bytes.and_then(|bytes| data.addr().checked_add(bytes)).is_none() {
        return Err(sgclaw_status::InvalidLength);
    }
    // SAFETY: neither NULL nor misaligned, and not longer than a slice may be; the rest is the
    // caller's part.
    Ok(unsafe { std::slice::from_raw_parts(data, count) })
}

/// The text from `data` on.
///
/// # Safety
/// As [`slice`].
pub(super) unsafe fn text<'a>(data: *const c_char, len: usize) -> Result<&'a str, sgclaw_status> {
    // SAFETY: the same conditions.
    let bytes = unsafe { slice(data.cast::<u8>(), len) }?;
    std::str::from_utf8(bytes).map_err(|_| sgclaw_status::InvalidUtf8)
}

/// A copy of the struct at `pointer`.
///
/// # Safety
/// Where `pointer` passes the checks here, a `T` stands there. `T` has no invalid bit patterns.
pub(super) unsafe fn read<T: Copy>(pointer: *const T) -> Result<T, sgclaw_status> {
    check(pointer)?;
    // SAFETY: neither NULL nor misaligned; the rest is the caller's part.
    Ok(unsafe { pointer.read() })
}

/// Where a function writes what it found.
pub(super) struct Out<T>(*mut T);

impl<T> Out<T> {
    /// # Safety
    /// Where `pointer` passes the checks here, it stays good for writing a `T` while this lives.
    pub(super) unsafe fn new(pointer: *mut T) -> Result<Self, sgclaw_status> {
        check(pointer)?;
        Ok(Out(pointer))
    }

    /// The same for a pointer that may be NULL.
    ///
    /// # Safety
    /// As [`Out::new`].
    pub(super) unsafe fn optional(pointer: *mut T) -> Result<Option<Self>, sgclaw_status> {
        if pointer.is_null() {
            return Ok(None);
        }
        // SAFETY: the same conditions.
        unsafe { Out::new(pointer) }.map(Some)
    }

    /// Writes `value`; what stood there is not looked at.
    pub(super) fn set(&self, value: T) {
        // SAFETY: `new` demands it.
        unsafe { self.0.write(value) }
    }
}

fn check<T>(pointer: *const T) -> Result<(), sgclaw_status> {
    if pointer.is_null() {
        Err(sgclaw_status::NullPointer)
    } else if !pointer.is_aligned() {
        Err(sgclaw_status::MisalignedPointer)
    } else {
        Ok(())
    }
}

/// Fields that a later version may give a meaning must be zero in this one.
pub(super) fn check_reserved(reserved: &[u64]) -> Result<(), sgclaw_status> {
    if reserved.iter().all(|field| *field == 0) { Ok(()) } else { Err(sgclaw_status::ReservedNotZero) }
}
