//! Handles: what C holds a pointer to and cannot look into.

use std::cell::UnsafeCell;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, Ordering};

use super::pointer::{Out, read};
use super::status::sgclaw_status;

/// A type that C knows by name alone. Behind a pointer to it stands an [`Object`].
pub(super) trait Handle {
    /// What it stands for. Any thread may use it, one at a time.
    type Value: Send;
    /// Tells the kinds apart.
    const KIND: [u8; 8];
}

/// Every object begins with its kind, so that a handle of another kind is told before anything else
/// is read.
#[repr(C)]
struct Object<T> {
    kind: u64,
    busy: AtomicBool,
    value: UnsafeCell<T>,
}

/// A handle in use by one call.
pub(super) struct Entered<'a, T>(&'a Object<T>);

/// Makes a handle. [`take`] ends it.
pub(super) fn create<H: Handle>(value: H::Value) -> *mut H {
    let kind = u64::from_ne_bytes(H::KIND);
    let object = Object { kind, busy: AtomicBool::new(false), value: UnsafeCell::new(value) };
    Box::into_raw(Box::new(object)).cast()
}

/// Begins to use a handle.
///
/// # Safety
/// `handle` is NULL, or came from [`create`] for any kind and was not taken; it is not taken by
/// another thread while this runs.
pub(super) unsafe fn enter<'a, H: Handle>(handle: *const H) -> Result<Entered<'a, H::Value>, sgclaw_status> {
    // SAFETY: whatever its kind, a handle is aligned and begins with it.
    if unsafe { read(handle.cast::<u64>()) }? != u64::from_ne_bytes(H::KIND) {
        return Err(sgclaw_status::WrongHandle);
    }
    // SAFETY: `create` made it with this type, as its kind tells. The one field that changes while
    // it is shared is atomic, the other one in an `UnsafeCell`.
    let object = unsafe { &*handle.cast::<Object<H::Value>>() };
    if object.busy.swap(true, Ordering::Acquire) {
        return Err(sgclaw_status::Busy);
    }
    Ok(Entered(object))
}

/// Takes over what the handle in `variable` stands for, and sets the variable to NULL.
///
/// # Safety
/// `variable` is NULL or good for reading and writing; what stands there is as [`enter`] demands.
pub(super) unsafe fn take<H: Handle>(variable: *mut *mut H) -> Result<H::Value, sgclaw_status> {
    // SAFETY: the same conditions.
    let (handle, out) = unsafe { (read(variable)?, Out::new(variable)?) };
    // SAFETY: the same conditions.
    let entered = unsafe { enter(handle) }?;
    // It stays in use, so that nobody enters any more.
    std::mem::forget(entered);
    out.set(std::ptr::null_mut());
    // SAFETY: `create` made it with this type; the variable no longer leads to it.
    let object = unsafe { Box::from_raw(handle.cast::<Object<H::Value>>()) };
    Ok(object.value.into_inner())
}

/// What every `free` function does.
///
/// # Safety
/// As [`take`].
pub(super) unsafe fn free<H: Handle>(variable: *mut *mut H) -> sgclaw_status {
    // SAFETY: the same conditions.
    let nothing_there = variable.is_null() || unsafe { read(variable) }.is_ok_and(|handle| handle.is_null());
    if nothing_there {
        return sgclaw_status::Ok;
    }
    // SAFETY: the same conditions.
    super::status::answer(|| unsafe { take(variable) }.map(drop))
}

impl<T> Deref for Entered<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: `busy` keeps every other call out while this lives.
        unsafe { &*self.0.value.get() }
    }
}

impl<T> DerefMut for Entered<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as in `deref`.
        unsafe { &mut *self.0.value.get() }
    }
}

impl<T> Drop for Entered<'_, T> {
    fn drop(&mut self) {
        self.0.busy.store(false, Ordering::Release);
    }
}
