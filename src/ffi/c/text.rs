use std::ffi::c_char;

use super::handle::{self, Handle};
use super::pointer::{self, Out, sgclaw_str};
use super::status::{answer, sgclaw_status};

/// A text that the caller owns.
pub struct sgclaw_text(());

impl Handle for sgclaw_text {
    type Value = String;
    const KIND: [u8; 8] = *b"sgc.text";
}

impl Out<*mut sgclaw_text> {
    pub(super) fn set_text(&self, text: String) {
        self.set(handle::create::<sgclaw_text>(text));
    }
}

/// Says why a call failed, where the caller wants to know.
pub(super) fn explain(why: Option<&Out<*mut sgclaw_text>>, error: impl std::fmt::Display) {
    if let Some(why) = why {
        why.set_text(error.to_string());
    }
}

/// A view of the text.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sgclaw_text_str(text: *const sgclaw_text, str: *mut sgclaw_str) -> sgclaw_status {
    answer(|| {
        // SAFETY: the caller keeps the conventions of docs/c-api.md.
        let (text, str) = unsafe { (handle::enter(text)?, Out::new(str)?) };
        str.set(text.as_str().into());
        Ok(())
    })
}

/// Frees the text and sets the variable to NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sgclaw_text_free(text: *mut *mut sgclaw_text) -> sgclaw_status {
    // SAFETY: the caller keeps the conventions of docs/c-api.md.
    unsafe { handle::free(text) }
}

/// Writes JSON in canonical form: what an HMAC covers (contract section 5).
///
/// `json` is one value. `INVALID_JSON` where it is not strict JSON; `why` names the byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sgclaw_canonicalize(
    json: *const c_char,
    json_len: usize,
    canonical: *mut *mut sgclaw_text,
    why: *mut *mut sgclaw_text,
) -> sgclaw_status {
    answer(|| {
        // SAFETY: the caller keeps the conventions of docs/c-api.md.
        let (json, canonical, why) = unsafe {
            (pointer::slice(json.cast::<u8>(), json_len)?, Out::new(canonical)?, Out::optional(why)?)
        };
        let value = crate::json::parse(json).map_err(|error| {
            explain(why.as_ref(), error);
            sgclaw_status::InvalidJson
        })?;
        let mut text = String::new();
        crate::json::write_canonical(&value, &mut text);
        canonical.set_text(text);
        Ok(())
    })
}
