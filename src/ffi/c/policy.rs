use std::ffi::c_char;
use std::sync::Arc;

use super::handle::{self, Handle};
use super::pointer::{self, Out, sgclaw_str};
use super::registry::sgclaw_registry;
use super::status::{answer, number, sgclaw_status};
use super::text::{explain, sgclaw_text};
use super::url_parser::{sgclaw_url_parser, url_parser};
use crate::{Failure, Policy};

/// What an agent may do, and where (contract section 9).
pub struct sgclaw_policy(());

impl Handle for sgclaw_policy {
    type Value = Arc<Policy>;
    const KIND: [u8; 8] = *b"sgc.poli";
}

/// Reads a policy document.
///
/// `INVALID_POLICY` where it is not strict JSON or does not satisfy
/// `schemas/pipe/1.0/policy.schema.json`; `why` says where.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sgclaw_policy_parse(
    document: *const c_char,
    document_len: usize,
    urls: *const sgclaw_url_parser,
    policy: *mut *mut sgclaw_policy,
    why: *mut *mut sgclaw_text,
) -> sgclaw_status {
    answer(|| {
        // SAFETY: the caller keeps the conventions of docs/c-api.md.
        let (document, urls, policy, why) = unsafe {
            (
                pointer::slice(document.cast::<u8>(), document_len)?,
                url_parser(urls)?,
                Out::new(policy)?,
                Out::optional(why)?,
            )
        };
        let parsed = Policy::parse(document, urls.as_ref()).map_err(|error| {
            explain(why.as_ref(), error);
            sgclaw_status::InvalidPolicy
        })?;
        policy.set(handle::create::<sgclaw_policy>(Arc::new(parsed)));
        Ok(())
    })
}

/// A policy that allows nothing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sgclaw_policy_deny_all(policy: *mut *mut sgclaw_policy) -> sgclaw_status {
    answer(|| {
        // SAFETY: the caller keeps the conventions of docs/c-api.md.
        let policy = unsafe { Out::new(policy) }?;
        policy.set(handle::create::<sgclaw_policy>(Arc::new(Policy::deny_all())));
        Ok(())
    })
}

/// A policy that allows every action on `localhost`, `127.0.0.1` and `[::1]`, and nothing else.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sgclaw_policy_loopback(
    urls: *const sgclaw_url_parser,
    policy: *mut *mut sgclaw_policy,
) -> sgclaw_status {
    answer(|| {
        // SAFETY: the caller keeps the conventions of docs/c-api.md.
        let (urls, policy) = unsafe { (url_parser(urls)?, Out::new(policy)?) };
        policy.set(handle::create::<sgclaw_policy>(Arc::new(Policy::loopback(urls.as_ref()))));
        Ok(())
    })
}

/// The name at `index` among those that the policy uses and the registry does not have: misspelt,
/// perhaps. Worth a warning. `NONE` past the last one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sgclaw_policy_unknown_action(
    policy: *const sgclaw_policy,
    registry: *const sgclaw_registry,
    index: usize,
    name: *mut sgclaw_str,
) -> sgclaw_status {
    answer(|| {
        // SAFETY: the caller keeps the conventions of docs/c-api.md.
        let (policy, registry, name) =
            unsafe { (handle::enter(policy)?, handle::enter(registry)?, Out::new(name)?) };
        name.set(policy.unknown_actions(&registry).nth(index).ok_or(sgclaw_status::None)?.into());
        Ok(())
    })
}

/// Whether `action` is allowed on `domain`, for an executor that asks again right before it acts.
///
/// `code` is 0, or the `sgclaw_error_code` of the refusal.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sgclaw_policy_check_domain(
    policy: *const sgclaw_policy,
    domain: *const c_char,
    domain_len: usize,
    action: *const c_char,
    action_len: usize,
    code: *mut u32,
) -> sgclaw_status {
    answer(|| {
        // SAFETY: the caller keeps the conventions of docs/c-api.md.
        let (policy, domain, action, code) = unsafe {
            (
                handle::enter(policy)?,
                pointer::text(domain, domain_len)?,
                pointer::text(action, action_len)?,
                Out::new(code)?,
            )
        };
        code.set(refusal(policy.check_domain(domain, action)));
        Ok(())
    })
}

/// Whether a page may be opened at `url`: the rule for `navigate` and each of its redirects.
///
/// `code` is 0, or the `sgclaw_error_code` of the refusal. `INVALID_URL`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sgclaw_policy_check_navigation(
    policy: *const sgclaw_policy,
    url: *const c_char,
    url_len: usize,
    urls: *const sgclaw_url_parser,
    code: *mut u32,
) -> sgclaw_status {
    answer(|| {
        // SAFETY: the caller keeps the conventions of docs/c-api.md.
        let (policy, url, urls, code) = unsafe {
            (handle::enter(policy)?, pointer::text(url, url_len)?, url_parser(urls)?, Out::new(code)?)
        };
        let url = urls.parse(url).ok_or(sgclaw_status::InvalidUrl)?;
        code.set(refusal(policy.check_navigation(&url)));
        Ok(())
    })
}

fn refusal(checked: Result<(), Failure>) -> u32 {
    number(checked.err().map(|failure| failure.code))
}

/// Frees the policy and sets the variable to NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sgclaw_policy_free(policy: *mut *mut sgclaw_policy) -> sgclaw_status {
    // SAFETY: the caller keeps the conventions of docs/c-api.md.
    unsafe { handle::free(policy) }
}
