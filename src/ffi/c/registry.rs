use std::ffi::c_char;

use super::handle::{self, Handle};
use super::pointer::{self, Out, sgclaw_str};
use super::status::{answer, sgclaw_status};
use super::text::{explain, sgclaw_text};
use crate::Registry;
use crate::contract::RegisterError;

/// The actions that a host knows, and the schemas of their params.
pub struct sgclaw_registry(());

impl Handle for sgclaw_registry {
    type Value = Registry;
    const KIND: [u8; 8] = *b"sgc.regi";
}

/// The core actions and the standard extras of contract section 8.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sgclaw_registry_standard(registry: *mut *mut sgclaw_registry) -> sgclaw_status {
    answer(|| {
        // SAFETY: the caller keeps the conventions of docs/c-api.md.
        let registry = unsafe { Out::new(registry) }?;
        registry.set(handle::create::<sgclaw_registry>(Registry::standard()));
        Ok(())
    })
}

/// No actions.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sgclaw_registry_empty(registry: *mut *mut sgclaw_registry) -> sgclaw_status {
    answer(|| {
        // SAFETY: the caller keeps the conventions of docs/c-api.md.
        let registry = unsafe { Out::new(registry) }?;
        registry.set(handle::create::<sgclaw_registry>(Registry::default()));
        Ok(())
    })
}

/// Adds an action of the host's own.
///
/// `schema` is a JSON Schema (draft 2020-12) of the params. Its root is of type `object`, and
/// wherever an object is admitted it says what becomes of further fields.
/// `INVALID_ACTION_NAME`, `ACTION_EXISTS`; `INVALID_SCHEMA`, and `why` says where.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sgclaw_registry_add(
    registry: *mut sgclaw_registry,
    name: *const c_char,
    name_len: usize,
    schema: *const c_char,
    schema_len: usize,
    why: *mut *mut sgclaw_text,
) -> sgclaw_status {
    answer(|| {
        // SAFETY: the caller keeps the conventions of docs/c-api.md.
        let (mut registry, name, schema, why) = unsafe {
            (
                handle::enter(registry)?,
                pointer::text(name, name_len)?,
                pointer::text(schema, schema_len)?,
                Out::optional(why)?,
            )
        };
        registry.register(name, schema).map_err(|error| {
            explain(why.as_ref(), &error);
            match error {
                RegisterError::Name(_) => sgclaw_status::InvalidActionName,
                RegisterError::Exists(_) => sgclaw_status::ActionExists,
                RegisterError::Schema(..) => sgclaw_status::InvalidSchema,
            }
        })
    })
}

/// The name of the action at `index`, in alphabetical order from 0; `NONE` past the last one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sgclaw_registry_name(
    registry: *const sgclaw_registry,
    index: usize,
    name: *mut sgclaw_str,
) -> sgclaw_status {
    answer(|| {
        // SAFETY: the caller keeps the conventions of docs/c-api.md.
        let (registry, name) = unsafe { (handle::enter(registry)?, Out::new(name)?) };
        name.set(registry.names().nth(index).ok_or(sgclaw_status::None)?.as_str().into());
        Ok(())
    })
}

/// The schema of an action as it was added; `NONE` where there is no such action.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sgclaw_registry_schema(
    registry: *const sgclaw_registry,
    name: *const c_char,
    name_len: usize,
    schema: *mut sgclaw_str,
) -> sgclaw_status {
    answer(|| {
        // SAFETY: the caller keeps the conventions of docs/c-api.md.
        let (registry, name, schema) =
            unsafe { (handle::enter(registry)?, pointer::text(name, name_len)?, Out::new(schema)?) };
        schema.set(registry.get(name).ok_or(sgclaw_status::None)?.source().into());
        Ok(())
    })
}

/// Frees the registry and sets the variable to NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sgclaw_registry_free(registry: *mut *mut sgclaw_registry) -> sgclaw_status {
    // SAFETY: the caller keeps the conventions of docs/c-api.md.
    unsafe { handle::free(registry) }
}
