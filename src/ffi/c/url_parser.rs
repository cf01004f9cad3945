use std::ffi::{c_char, c_void};
use std::sync::Arc;

use super::handle::{self, Handle};
use super::pointer;
use super::status::{answer, sgclaw_status};
use crate::{ParsedUrl, UrlParser};

/// The URL parser of the host: in a browser the browser's own, so that no second one can disagree
/// with it about where a URL leads. Where a pointer to one is NULL, the library's own serves.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct sgclaw_url_parser {
    /// Given to `parse`.
    pub context: *mut c_void,
    /// Parses an absolute URL and calls `sgclaw_parsed_url_set`, or does not where it refuses the
    /// URL. `url` and `parsed` are good until it returns.
    pub parse: Option<
        unsafe extern "C" fn(
            context: *mut c_void,
            url: *const c_char,
            url_len: usize,
            parsed: *mut sgclaw_parsed_url,
        ),
    >,
}

/// Where a URL parser puts what it found.
pub struct sgclaw_parsed_url(());

impl Handle for sgclaw_parsed_url {
    type Value = Option<ParsedUrl>;
    const KIND: [u8; 8] = *b"sgc.purl";
}

/// Called by a URL parser: `scheme` in lower case without the colon, `host` as the browser writes
/// it, empty where the URL has none (about:blank, file:).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sgclaw_parsed_url_set(
    parsed: *mut sgclaw_parsed_url,
    scheme: *const c_char,
    scheme_len: usize,
    host: *const c_char,
    host_len: usize,
) -> sgclaw_status {
    answer(|| {
        // SAFETY: the caller keeps the conventions of docs/c-api.md.
        let (mut parsed, scheme, host) = unsafe {
            (handle::enter(parsed)?, pointer::text(scheme, scheme_len)?, pointer::text(host, host_len)?)
        };
        let host = Some(host.to_owned()).filter(|host| !host.is_empty());
        *parsed = Some(ParsedUrl { scheme: scheme.to_owned(), host });
        Ok(())
    })
}

type Parse = unsafe extern "C" fn(*mut c_void, *const c_char, usize, *mut sgclaw_parsed_url);

struct Foreign {
    context: *mut c_void,
    parse: Parse,
}

// SAFETY: docs/c-api.md demands of the callback that every thread may call it with its context.
unsafe impl Send for Foreign {}
// SAFETY: as above.
unsafe impl Sync for Foreign {}

impl UrlParser for Foreign {
    fn parse(&self, url: &str) -> Option<ParsedUrl> {
        let mut parsed = handle::create::<sgclaw_parsed_url>(None);
        // SAFETY: docs/c-api.md demands of the callback that it lives as long as what was made with
        // it, that it returns, and that it keeps neither pointer.
        unsafe { (self.parse)(self.context, url.as_ptr().cast(), url.len(), parsed) };
        // SAFETY: made above; only `sgclaw_parsed_url_set` has seen it.
        unsafe { handle::take(&raw mut parsed) }.ok().flatten()
    }
}

/// The parser at `urls`, or the library's own.
///
/// # Safety
/// As [`pointer::read`], and what `docs/c-api.md` demands of callbacks.
pub(super) unsafe fn url_parser(urls: *const sgclaw_url_parser) -> Result<Arc<dyn UrlParser>, sgclaw_status> {
    if urls.is_null() {
        return own();
    }
    // SAFETY: the same conditions.
    let urls = unsafe { pointer::read(urls) }?;
    let parse = urls.parse.ok_or(sgclaw_status::NullPointer)?;
    Ok(Arc::new(Foreign { context: urls.context, parse }))
}

#[cfg(feature = "url")]
fn own() -> Result<Arc<dyn UrlParser>, sgclaw_status> {
    Ok(Arc::new(crate::WhatwgUrlParser))
}

#[cfg(not(feature = "url"))]
fn own() -> Result<Arc<dyn UrlParser>, sgclaw_status> {
    Err(sgclaw_status::NoUrlParser)
}
