use std::ffi::c_char;
use std::sync::Arc;

use super::command::sgclaw_command;
use super::handle::{self, Handle};
use super::pointer::{self, Out, check_reserved, sgclaw_str};
use super::policy::sgclaw_policy;
use super::status::{answer, number, sgclaw_status};
use super::url_parser::{sgclaw_url_parser, url_parser};
use crate::browser::{Executor, ExecutorConfig, ExecutorEvent, Scope};
use crate::{Domain, JsonObject, Policy, Time};

/// Runs authorized commands in a Chromium, over DevTools protocol messages (contract section 8),
/// whatever carries them.
///
/// After each call that changes something, drain `sgclaw_executor_poll_message` and
/// `sgclaw_executor_poll_event`, then ask `sgclaw_executor_poll_timeout`.
pub struct sgclaw_executor(());

impl Handle for sgclaw_executor {
    type Value = Face;
    const KIND: [u8; 8] = *b"sgc.exec";
}

/// The executor, and what its views show.
pub(super) struct Face {
    executor: Executor,
    event: Option<ExecutorEvent>,
    message: Vec<u8>,
}

/// What an executor is made with. Begin with `sgclaw_executor_config_init`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct sgclaw_executor_config {
    /// The policy in force until `sgclaw_executor_set_policy`. Copied.
    pub policy: *const sgclaw_policy,
    /// The browser's own URL parser, which must outlive the executor; NULL: the library's.
    pub urls: *const sgclaw_url_parser,
    /// Commands that wait for their turn, at most: 64.
    pub max_waiting: usize,
    /// 0: the messages go to the browser's DevTools session, and every tab is in reach. 1: to the
    /// session of one page, which is the only tab there is; the embedder keeps it from opening windows
    /// and refuses its downloads.
    pub one_page: u64,
    /// Zero.
    pub reserved: [u64; 7],
}

/// Writes the defaults. `policy` has none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sgclaw_executor_config_init(config: *mut sgclaw_executor_config) -> sgclaw_status {
    answer(|| {
        // SAFETY: the caller keeps the conventions of docs/c-api.md.
        let config = unsafe { Out::new(config) }?;
        config.set(sgclaw_executor_config {
            policy: std::ptr::null(),
            urls: std::ptr::null(),
            max_waiting: 64,
            one_page: 0,
            reserved: [0; 7],
        });
        Ok(())
    })
}

/// An executor that has not said anything to the browser yet. `NO_URL_PARSER`, `RESERVED_NOT_ZERO`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sgclaw_executor_new(
    config: *const sgclaw_executor_config,
    executor: *mut *mut sgclaw_executor,
) -> sgclaw_status {
    answer(|| {
        // SAFETY: the caller keeps the conventions of docs/c-api.md.
        let (config, executor) = unsafe { (pointer::read(config)?, Out::new(executor)?) };
        check_reserved(&config.reserved)?;
        // SAFETY: as above, for what the struct points to.
        let (policy, urls) = unsafe { (handle::enter(config.policy)?, url_parser(config.urls)?) };
        let policy: Arc<Policy> = Arc::clone(&policy);
        let scope = if config.one_page == 0 { Scope::Browser } else { Scope::Page };
        let rust = ExecutorConfig { urls, policy, max_waiting: config.max_waiting, scope };
        executor.set(handle::create::<sgclaw_executor>(Face {
            executor: Executor::new(rust),
            event: None,
            message: Vec::new(),
        }));
        Ok(())
    })
}

/// Attaches to the first tab, or opens one; `READY` follows. Once; later calls do nothing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sgclaw_executor_start(executor: *mut sgclaw_executor, now_us: u64) -> sgclaw_status {
    answer(|| {
        // SAFETY: the caller keeps the conventions of docs/c-api.md.
        let mut face = unsafe { handle::enter(executor) }?;
        face.executor.start(Time::from_micros(now_us));
        Ok(())
    })
}

/// Takes one message of the browser: the JSON text, without framing. What is not JSON, or not an
/// answer to anything, is ignored.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sgclaw_executor_handle_message(
    executor: *mut sgclaw_executor,
    message: *const c_char,
    message_len: usize,
    now_us: u64,
) -> sgclaw_status {
    answer(|| {
        // SAFETY: the caller keeps the conventions of docs/c-api.md.
        let (mut face, message) =
            unsafe { (handle::enter(executor)?, pointer::slice(message.cast::<u8>(), message_len)?) };
        face.executor.handle_message(message, Time::from_micros(now_us));
        Ok(())
    })
}

/// The browser is gone. Every command completes with INTERNAL_EXECUTOR_GONE, later ones too.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sgclaw_executor_handle_disconnect(
    executor: *mut sgclaw_executor,
    now_us: u64,
) -> sgclaw_status {
    answer(|| {
        // SAFETY: the caller keeps the conventions of docs/c-api.md.
        let mut face = unsafe { handle::enter(executor) }?;
        face.executor.handle_disconnect(Time::from_micros(now_us));
        Ok(())
    })
}

/// The time that `sgclaw_executor_poll_timeout` named has come; calling it earlier does no harm.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sgclaw_executor_handle_timeout(
    executor: *mut sgclaw_executor,
    now_us: u64,
) -> sgclaw_status {
    answer(|| {
        // SAFETY: the caller keeps the conventions of docs/c-api.md.
        let mut face = unsafe { handle::enter(executor) }?;
        face.executor.handle_timeout(Time::from_micros(now_us));
        Ok(())
    })
}

/// When to call `sgclaw_executor_handle_timeout`; UINT64_MAX: not at all.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sgclaw_executor_poll_timeout(
    executor: *const sgclaw_executor,
    at_us: *mut u64,
) -> sgclaw_status {
    answer(|| {
        // SAFETY: the caller keeps the conventions of docs/c-api.md.
        let (face, at_us) = unsafe { (handle::enter(executor)?, Out::new(at_us)?) };
        at_us.set(face.executor.poll_timeout().map_or(u64::MAX, Time::as_micros));
        Ok(())
    })
}

/// The next message for the browser: one JSON text, without framing. Call until `NONE`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sgclaw_executor_poll_message(
    executor: *mut sgclaw_executor,
    message: *mut sgclaw_str,
) -> sgclaw_status {
    answer(|| {
        // SAFETY: the caller keeps the conventions of docs/c-api.md.
        let (mut face, message) = unsafe { (handle::enter(executor)?, Out::new(message)?) };
        face.message = face.executor.poll_message().ok_or(sgclaw_status::None)?;
        message.set(sgclaw_str { data: face.message.as_ptr().cast(), len: face.message.len() });
        Ok(())
    })
}

/// What happened at an executor. Ignore kinds that you do not know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum sgclaw_executor_event_kind {
    /// The first tab is attached; commands that waited begin.
    Ready = 1,
    /// The top document of the tab is on `domain`, or on no host where that is empty: give it to
    /// `sgclaw_host_set_page`.
    PageChanged = 2,
    /// The command `seq` is done. `code` is 0 and `data` for `sgclaw_host_complete`; or `code`,
    /// `message` and `details` are for `sgclaw_host_fail`.
    Completed = 3,
    /// The browser is gone; nothing will be executed any more.
    Disconnected = 4,
}

/// What happened at an executor. Fields that the kind does not name are zero.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct sgclaw_executor_event {
    /// What.
    pub kind: sgclaw_executor_event_kind,
    /// A `sgclaw_error_code`, or 0.
    pub code: u32,
    /// Which command.
    pub seq: u64,
    /// A host.
    pub domain: sgclaw_str,
    /// A JSON object.
    pub data: sgclaw_str,
    /// For people.
    pub message: sgclaw_str,
    /// A JSON object.
    pub details: sgclaw_str,
    /// Zero.
    pub reserved: [u64; 8],
}

impl sgclaw_executor_event {
    fn new(kind: sgclaw_executor_event_kind) -> Self {
        sgclaw_executor_event {
            kind,
            code: 0,
            seq: 0,
            domain: sgclaw_str::default(),
            data: sgclaw_str::default(),
            message: sgclaw_str::default(),
            details: sgclaw_str::default(),
            reserved: [0; 8],
        }
    }

    fn of(event: &ExecutorEvent) -> Self {
        use sgclaw_executor_event_kind as Kind;
        match event {
            ExecutorEvent::Ready => Self::new(Kind::Ready),
            ExecutorEvent::PageChanged { domain } => sgclaw_executor_event {
                domain: sgclaw_str::of(domain.as_ref().map(Domain::as_str)),
                ..Self::new(Kind::PageChanged)
            },
            ExecutorEvent::Completed { seq, outcome } => {
                let done = sgclaw_executor_event { seq: *seq, ..Self::new(Kind::Completed) };
                match outcome {
                    Ok(data) => sgclaw_executor_event { data: data.as_str().into(), ..done },
                    Err(failure) => sgclaw_executor_event {
                        code: number(Some(failure.code)),
                        message: failure.message.as_str().into(),
                        details: sgclaw_str::of(failure.details.as_ref().map(JsonObject::as_str)),
                        ..done
                    },
                }
            }
            ExecutorEvent::Disconnected => Self::new(Kind::Disconnected),
        }
    }
}

/// What happened since. Call until `NONE`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sgclaw_executor_poll_event(
    executor: *mut sgclaw_executor,
    event: *mut sgclaw_executor_event,
) -> sgclaw_status {
    answer(|| {
        // SAFETY: the caller keeps the conventions of docs/c-api.md.
        let (mut face, event) = unsafe { (handle::enter(executor)?, Out::new(event)?) };
        let polled = face.executor.poll_event().ok_or(sgclaw_status::None)?;
        event.set(sgclaw_executor_event::of(face.event.insert(polled)));
        Ok(())
    })
}

/// Runs a command when its turn comes. Takes the command over and sets the variable to NULL; where
/// the call fails, the command stays the caller's. One `COMPLETED` follows, or a cancel.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sgclaw_executor_execute(
    executor: *mut sgclaw_executor,
    command: *mut *mut sgclaw_command,
    now_us: u64,
) -> sgclaw_status {
    answer(|| {
        // SAFETY: the caller keeps the conventions of docs/c-api.md.
        let (mut face, command) = unsafe { (handle::enter(executor)?, handle::take(command)?) };
        face.executor.execute(command, Time::from_micros(now_us));
        Ok(())
    })
}

/// Drops a command: what it has not done yet it will not do, and no `COMPLETED` follows. A seq that
/// is not here is ignored.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sgclaw_executor_cancel(
    executor: *mut sgclaw_executor,
    seq: u64,
    now_us: u64,
) -> sgclaw_status {
    answer(|| {
        // SAFETY: the caller keeps the conventions of docs/c-api.md.
        let mut face = unsafe { handle::enter(executor) }?;
        face.executor.cancel(seq, Time::from_micros(now_us));
        Ok(())
    })
}

/// Replaces the policy; what runs is checked against it from now on. Copied.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sgclaw_executor_set_policy(
    executor: *mut sgclaw_executor,
    policy: *const sgclaw_policy,
) -> sgclaw_status {
    answer(|| {
        // SAFETY: the caller keeps the conventions of docs/c-api.md.
        let (mut face, policy) = unsafe { (handle::enter(executor)?, handle::enter(policy)?) };
        face.executor.set_policy(Arc::clone(&policy));
        Ok(())
    })
}

/// Frees the executor and sets the variable to NULL. What it had begun is left as it is.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sgclaw_executor_free(executor: *mut *mut sgclaw_executor) -> sgclaw_status {
    // SAFETY: the caller keeps the conventions of docs/c-api.md.
    unsafe { handle::free(executor) }
}
