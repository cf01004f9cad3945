use std::ffi::c_char;
use std::sync::Arc;
use std::time::Duration;

use super::command::sgclaw_command;
use super::handle::{self, Handle};
use super::pointer::{self, Out, check_reserved, sgclaw_bytes, sgclaw_str};
use super::policy::sgclaw_policy;
use super::registry::sgclaw_registry;
use super::status::{answer, error_code, number, sgclaw_status};
use super::url_parser::{sgclaw_url_parser, url_parser};
use crate::pipe::{ChildExit, KeyDerivation};
use crate::time::micros;
use crate::wire::HmacSeed;
use crate::{
    ActionName, Authorized, Domain, Failure, Host, HostConfig, HostEvent, HostSettings, JsonObject, State,
    Time, UrlParser,
};

/// The host's side of a session (contract section 4): bytes of an untrusted process go in, commands
/// that have earned their execution come out.
///
/// After each call that changes something, drain `sgclaw_host_poll_event`, `sgclaw_host_poll_trace`
/// and `sgclaw_host_output`, then ask `sgclaw_host_poll_timeout`.
pub struct sgclaw_host(());

impl Handle for sgclaw_host {
    type Value = Face;
    const KIND: [u8; 8] = *b"sgc.host";
}

/// The host, and what its views show.
pub(super) struct Face {
    host: Host,
    urls: Arc<dyn UrlParser>,
    event: Shown,
    /// Of the event, until it is taken.
    command: Option<Authorized>,
    trace: String,
}

/// What the views of an event show.
#[derive(Default)]
struct Shown {
    action: Option<ActionName>,
    expected_domain: Option<Domain>,
    params: Option<JsonObject>,
    message: String,
}

/// Where a session stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum sgclaw_state {
    /// Not started.
    Idle = 0,
    /// `init` is written; a valid `init_ack` is awaited.
    Handshaking = 1,
    /// Commands are taken.
    Running = 2,
    /// The end is on its way; lines that come are dropped.
    Stopping = 3,
    /// Ended as it should.
    Stopped = 4,
    /// Ended otherwise.
    Crashed = 5,
}

impl From<State> for sgclaw_state {
    fn from(state: State) -> Self {
        match state {
            State::Idle => sgclaw_state::Idle,
            State::Handshaking => sgclaw_state::Handshaking,
            State::Running => sgclaw_state::Running,
            State::Stopping => sgclaw_state::Stopping,
            State::Stopped => sgclaw_state::Stopped,
            State::Crashed => sgclaw_state::Crashed,
        }
    }
}

/// How the key of a session comes from its seed (contract section 5). Both sides must agree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum sgclaw_key_derivation {
    /// HKDF-SHA256: the default.
    Hkdf = 0,
    /// The decoded seed itself, for peers that were built that way.
    Seed = 1,
}

pub(super) fn key_derivation(number: u32) -> Result<KeyDerivation, sgclaw_status> {
    match number {
        number if number == sgclaw_key_derivation::Hkdf as u32 => Ok(KeyDerivation::Hkdf),
        number if number == sgclaw_key_derivation::Seed as u32 => Ok(KeyDerivation::Seed),
        _ => Err(sgclaw_status::InvalidNumber),
    }
}

/// What a session is made with. Begin with `sgclaw_host_config_init`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct sgclaw_host_config {
    /// The session's name in the trace: letters, digits, '_', '-', at most 64; others are left out.
    pub session: sgclaw_str,
    /// 16 to 64 bytes, best 32, of the system's random source, new for each session. Wipe your copy.
    pub seed: sgclaw_bytes,
    /// The actions of this host. Copied.
    pub registry: *const sgclaw_registry,
    /// What the agent may do. Copied.
    pub policy: *const sgclaw_policy,
    /// The browser's own URL parser, which must outlive the host; NULL: the library's.
    pub urls: *const sgclaw_url_parser,
    /// A `sgclaw_key_derivation`.
    pub key_derivation: u32,
    /// 1: refuse a seq that is not the last one + 1. Default 0.
    pub contiguous_seq: u32,
    /// Rejected lines in a row that end the session: 16.
    pub max_rejections: u32,
    /// Commands in flight, waiting for confirmation included: 64.
    pub capacity: usize,
    /// Commands that the executor has at a time: 1.
    pub concurrency: usize,
    /// Bytes of answers that may wait before `sgclaw_host_wants_input` says no: 4 MiB.
    pub max_output_bytes: usize,
    /// From `init` to a valid `init_ack`: 5 s.
    pub handshake_timeout_us: u64,
    /// How long a person may take to confirm: 60 s.
    pub confirmation_timeout_us: u64,
    /// What the executor gets beyond the command's own time: 1 s.
    pub grace_us: u64,
    /// From the end of stdin to the next step of a stop: 2 s.
    pub stop_grace_us: u64,
    /// From the request to terminate to the kill: 1 s.
    pub terminate_grace_us: u64,
    /// Zero.
    pub reserved: [u64; 8],
}

/// Writes the defaults. `seed`, `registry` and `policy` have none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sgclaw_host_config_init(config: *mut sgclaw_host_config) -> sgclaw_status {
    answer(|| {
        // SAFETY: the caller keeps the conventions of docs/c-api.md.
        let config = unsafe { Out::new(config) }?;
        let settings = HostSettings::default();
        config.set(sgclaw_host_config {
            session: sgclaw_str::default(),
            seed: sgclaw_bytes::default(),
            registry: std::ptr::null(),
            policy: std::ptr::null(),
            urls: std::ptr::null(),
            key_derivation: sgclaw_key_derivation::Hkdf as u32,
            contiguous_seq: settings.contiguous_seq.into(),
            max_rejections: settings.max_rejections,
            capacity: settings.capacity,
            concurrency: settings.concurrency,
            max_output_bytes: settings.max_output_bytes,
            handshake_timeout_us: micros(settings.handshake_timeout),
            confirmation_timeout_us: micros(settings.confirmation_timeout),
            grace_us: micros(settings.grace),
            stop_grace_us: micros(settings.stop_grace),
            terminate_grace_us: micros(settings.terminate_grace),
            reserved: [0; 8],
        });
        Ok(())
    })
}

/// A session that is not started.
///
/// `INVALID_SEED`; `INVALID_NUMBER` for `key_derivation` or `contiguous_seq`; `NO_URL_PARSER`;
/// `RESERVED_NOT_ZERO`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sgclaw_host_new(
    config: *const sgclaw_host_config,
    host: *mut *mut sgclaw_host,
) -> sgclaw_status {
    answer(|| {
        // SAFETY: the caller keeps the conventions of docs/c-api.md.
        let (config, host) = unsafe { (pointer::read(config)?, Out::new(host)?) };
        check_reserved(&config.reserved)?;
        // SAFETY: as above, for what the struct points to.
        let (session, seed, registry, policy, urls) = unsafe {
            (
                pointer::text(config.session.data, config.session.len)?,
                pointer::slice(config.seed.data, config.seed.len)?,
                handle::enter(config.registry)?,
                handle::enter(config.policy)?,
                url_parser(config.urls)?,
            )
        };
        let rust = HostConfig {
            session: session.to_owned(),
            seed: HmacSeed::from_bytes(seed).map_err(|_| sgclaw_status::InvalidSeed)?,
            key_derivation: key_derivation(config.key_derivation)?,
            registry: registry.clone(),
            policy: policy.as_ref().clone(),
            settings: HostSettings {
                handshake_timeout: Duration::from_micros(config.handshake_timeout_us),
                contiguous_seq: match config.contiguous_seq {
                    0 => false,
                    1 => true,
                    _ => return Err(sgclaw_status::InvalidNumber),
                },
                max_rejections: config.max_rejections,
                capacity: config.capacity,
                concurrency: config.concurrency,
                confirmation_timeout: Duration::from_micros(config.confirmation_timeout_us),
                grace: Duration::from_micros(config.grace_us),
                stop_grace: Duration::from_micros(config.stop_grace_us),
                terminate_grace: Duration::from_micros(config.terminate_grace_us),
                max_output_bytes: config.max_output_bytes,
            },
        };
        host.set(handle::create::<sgclaw_host>(Face {
            host: Host::new(rust, Arc::clone(&urls)),
            urls,
            event: Shown::default(),
            command: None,
            trace: String::new(),
        }));
        Ok(())
    })
}

/// The child runs: writes `init`. `WRONG_STATE` where the session was started before.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sgclaw_host_start(host: *mut sgclaw_host, now_us: u64) -> sgclaw_status {
    answer(|| {
        // SAFETY: the caller keeps the conventions of docs/c-api.md.
        let mut face = unsafe { handle::enter(host) }?;
        if face.host.state() != State::Idle {
            return Err(sgclaw_status::WrongState);
        }
        face.host.start(Time::from_micros(now_us));
        Ok(())
    })
}

/// Bytes of the child's stdout, split anywhere.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sgclaw_host_handle_input(
    host: *mut sgclaw_host,
    bytes: *const u8,
    bytes_len: usize,
    now_us: u64,
) -> sgclaw_status {
    answer(|| {
        // SAFETY: the caller keeps the conventions of docs/c-api.md.
        let (mut face, bytes) = unsafe { (handle::enter(host)?, pointer::slice(bytes, bytes_len)?) };
        face.host.handle_input(bytes, Time::from_micros(now_us));
        Ok(())
    })
}

/// The child's stdout has ended. Once; later calls do nothing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sgclaw_host_handle_end_of_input(
    host: *mut sgclaw_host,
    now_us: u64,
) -> sgclaw_status {
    answer(|| {
        // SAFETY: the caller keeps the conventions of docs/c-api.md.
        let mut face = unsafe { handle::enter(host) }?;
        face.host.handle_end_of_input(Time::from_micros(now_us));
        Ok(())
    })
}

/// Writing to the child's stdin failed: it is closed (EPIPE). Output that waits is lost.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sgclaw_host_handle_output_closed(
    host: *mut sgclaw_host,
    now_us: u64,
) -> sgclaw_status {
    answer(|| {
        // SAFETY: the caller keeps the conventions of docs/c-api.md.
        let mut face = unsafe { handle::enter(host) }?;
        face.host.handle_output_closed(Time::from_micros(now_us));
        Ok(())
    })
}

/// The child has exited with `exit_status` and was reaped; what its stdout still held was handed in
/// before.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sgclaw_host_handle_child_exited(
    host: *mut sgclaw_host,
    exit_status: i32,
    now_us: u64,
) -> sgclaw_status {
    answer(|| {
        // SAFETY: the caller keeps the conventions of docs/c-api.md.
        let mut face = unsafe { handle::enter(host) }?;
        face.host.handle_child_exit(ChildExit::Code(exit_status), Time::from_micros(now_us));
        Ok(())
    })
}

/// The same for a child that was ended by a signal.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sgclaw_host_handle_child_signalled(
    host: *mut sgclaw_host,
    signal: i32,
    now_us: u64,
) -> sgclaw_status {
    answer(|| {
        // SAFETY: the caller keeps the conventions of docs/c-api.md.
        let mut face = unsafe { handle::enter(host) }?;
        face.host.handle_child_exit(ChildExit::Signal(signal), Time::from_micros(now_us));
        Ok(())
    })
}

/// The time that `sgclaw_host_poll_timeout` named has come; calling it earlier does no harm.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sgclaw_host_handle_timeout(host: *mut sgclaw_host, now_us: u64) -> sgclaw_status {
    answer(|| {
        // SAFETY: the caller keeps the conventions of docs/c-api.md.
        let mut face = unsafe { handle::enter(host) }?;
        face.host.handle_timeout(Time::from_micros(now_us));
        Ok(())
    })
}

/// When to call `sgclaw_host_handle_timeout` at the latest; UINT64_MAX: not at all.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sgclaw_host_poll_timeout(
    host: *const sgclaw_host,
    at_us: *mut u64,
) -> sgclaw_status {
    answer(|| {
        // SAFETY: the caller keeps the conventions of docs/c-api.md.
        let (face, at_us) = unsafe { (handle::enter(host)?, Out::new(at_us)?) };
        at_us.set(face.host.poll_timeout().map_or(u64::MAX, Time::as_micros));
        Ok(())
    })
}

/// What the embedder of a host has to do. Ignore kinds that you do not know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum sgclaw_host_event_kind {
    /// The session entered `state`; `code` is the reason of a crash; `message` is worth a line in the
    /// log.
    StateChanged = 1,
    /// Execute `action` with `params` on `expected_domain` within `timeout_us`, and answer `seq` with
    /// `sgclaw_host_complete` or `sgclaw_host_fail`. See `sgclaw_host_take_command`.
    Execute = 2,
    /// Tell the executor to leave `seq`; its completion would be dropped.
    Cancel = 3,
    /// Ask a person about `seq`, `action`, `expected_domain`, `params`; the answer goes to
    /// `sgclaw_host_allow` or `sgclaw_host_deny`.
    ConfirmationAsked = 4,
    /// Take the question of `seq` down: it was answered, cancelled, or nobody came.
    ConfirmationOver = 5,
    /// `action` failed more than 10 times in a row and is off until `sgclaw_host_reset_breaker`.
    BreakerOpened = 6,
    /// Close the child's stdin once the output is written.
    CloseStdin = 7,
    /// Ask the child's process group to terminate.
    Terminate = 8,
    /// Write what output can be written without waiting, then kill the child's process group.
    Kill = 9,
}

/// What the embedder of a host has to do. Fields that the kind does not name are zero.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct sgclaw_host_event {
    /// Which.
    pub kind: sgclaw_host_event_kind,
    /// The state that was entered.
    pub state: sgclaw_state,
    /// A `sgclaw_error_code`, or 0.
    pub code: u32,
    /// Which command.
    pub seq: u64,
    /// How long the executor may take.
    pub timeout_us: u64,
    /// The name of an action.
    pub action: sgclaw_str,
    /// The domain that the document acted upon must have.
    pub expected_domain: sgclaw_str,
    /// Canonical JSON. It may hold typed text.
    pub params: sgclaw_str,
    /// One readable line.
    pub message: sgclaw_str,
    /// Zero.
    pub reserved: [u64; 8],
}

impl sgclaw_host_event {
    fn new(kind: sgclaw_host_event_kind) -> Self {
        sgclaw_host_event {
            kind,
            state: sgclaw_state::Idle,
            code: 0,
            seq: 0,
            timeout_us: 0,
            action: sgclaw_str::default(),
            expected_domain: sgclaw_str::default(),
            params: sgclaw_str::default(),
            message: sgclaw_str::default(),
            reserved: [0; 8],
        }
    }

    fn of_seq(kind: sgclaw_host_event_kind, seq: u64) -> Self {
        sgclaw_host_event { seq, ..Self::new(kind) }
    }
}

impl Face {
    /// Keeps what the views of `event` show.
    fn show(&mut self, event: HostEvent) -> sgclaw_host_event {
        use sgclaw_host_event_kind as Kind;
        self.event = Shown::default();
        self.command = None;
        let mut shown = match event {
            HostEvent::StateChanged { state, code, message } => {
                self.event.message = message;
                sgclaw_host_event {
                    state: state.into(),
                    code: number(code),
                    ..sgclaw_host_event::new(Kind::StateChanged)
                }
            }
            HostEvent::Execute(command) => {
                self.event.action = Some(command.action().clone());
                self.event.expected_domain = Some(command.expected_domain().clone());
                self.event.params = Some(command.params().clone());
                let (seq, timeout_us) = (command.seq(), micros(command.timeout()));
                self.command = Some(command);
                sgclaw_host_event { timeout_us, ..sgclaw_host_event::of_seq(Kind::Execute, seq) }
            }
            HostEvent::Cancel { seq } => sgclaw_host_event::of_seq(Kind::Cancel, seq),
            HostEvent::ConfirmationAsked { seq, action, expected_domain, params } => {
                self.event.action = Some(action);
                self.event.expected_domain = Some(expected_domain);
                self.event.params = Some(params);
                sgclaw_host_event::of_seq(Kind::ConfirmationAsked, seq)
            }
            HostEvent::ConfirmationOver { seq } => sgclaw_host_event::of_seq(Kind::ConfirmationOver, seq),
            HostEvent::BreakerOpened { action } => {
                self.event.action = Some(action);
                sgclaw_host_event::new(Kind::BreakerOpened)
            }
            HostEvent::CloseStdin => sgclaw_host_event::new(Kind::CloseStdin),
            HostEvent::Terminate => sgclaw_host_event::new(Kind::Terminate),
            HostEvent::Kill => sgclaw_host_event::new(Kind::Kill),
        };
        let Shown { action, expected_domain, params, message } = &self.event;
        shown.action = sgclaw_str::of(action.as_ref().map(ActionName::as_str));
        shown.expected_domain = sgclaw_str::of(expected_domain.as_ref().map(Domain::as_str));
        shown.params = sgclaw_str::of(params.as_ref().map(JsonObject::as_str));
        shown.message = sgclaw_str::of(Some(message.as_str()).filter(|message| !message.is_empty()));
        shown
    }
}

/// The next thing to do. Call until `NONE`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sgclaw_host_poll_event(
    host: *mut sgclaw_host,
    event: *mut sgclaw_host_event,
) -> sgclaw_status {
    answer(|| {
        // SAFETY: the caller keeps the conventions of docs/c-api.md.
        let (mut face, event) = unsafe { (handle::enter(host)?, Out::new(event)?) };
        let polled = face.host.poll_event().ok_or(sgclaw_status::None)?;
        event.set(face.show(polled));
        Ok(())
    })
}

/// The command of the `EXECUTE` event that was polled last, for a `sgclaw_executor`. The caller owns
/// it. The views of the event stay good.
///
/// `WRONG_STATE` where that event was another one, or the command was taken.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sgclaw_host_take_command(
    host: *mut sgclaw_host,
    command: *mut *mut sgclaw_command,
) -> sgclaw_status {
    answer(|| {
        // SAFETY: the caller keeps the conventions of docs/c-api.md.
        let (mut face, command) = unsafe { (handle::enter(host)?, Out::new(command)?) };
        let taken = face.command.take().ok_or(sgclaw_status::WrongState)?;
        command.set(handle::create::<sgclaw_command>(taken));
        Ok(())
    })
}

/// The next record of the trace: a line of JSON with its LF. Call until `NONE`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sgclaw_host_poll_trace(
    host: *mut sgclaw_host,
    line: *mut sgclaw_str,
) -> sgclaw_status {
    answer(|| {
        // SAFETY: the caller keeps the conventions of docs/c-api.md.
        let (mut face, line) = unsafe { (handle::enter(host)?, Out::new(line)?) };
        face.trace = face.host.poll_trace().ok_or(sgclaw_status::None)?.to_line();
        line.set(face.trace.as_str().into());
        Ok(())
    })
}

/// Bytes for the child's stdin, of length 0 where none wait; more may follow once these are
/// written. The first ones hold the seed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sgclaw_host_output(
    host: *const sgclaw_host,
    output: *mut sgclaw_bytes,
) -> sgclaw_status {
    answer(|| {
        // SAFETY: the caller keeps the conventions of docs/c-api.md.
        let (face, output) = unsafe { (handle::enter(host)?, Out::new(output)?) };
        output.set(face.host.output().into());
        Ok(())
    })
}

/// `count` bytes of `sgclaw_host_output` are written. `INVALID_LENGTH` where that is more than there
/// are.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sgclaw_host_output_written(host: *mut sgclaw_host, count: usize) -> sgclaw_status {
    answer(|| {
        // SAFETY: the caller keeps the conventions of docs/c-api.md.
        let mut face = unsafe { handle::enter(host) }?;
        if count > face.host.output().len() {
            return Err(sgclaw_status::InvalidLength);
        }
        face.host.output_written(count);
        Ok(())
    })
}

/// Whether to read from the child's stdout: not while too many answers wait to be written, so that
/// an agent that does not read cannot make the host's memory grow.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sgclaw_host_wants_input(
    host: *const sgclaw_host,
    wants: *mut bool,
) -> sgclaw_status {
    answer(|| {
        // SAFETY: the caller keeps the conventions of docs/c-api.md.
        let (face, wants) = unsafe { (handle::enter(host)?, Out::new(wants)?) };
        wants.set(face.host.wants_input());
        Ok(())
    })
}

/// The executor is done with `seq`; `data` is a JSON object (contract section 8).
///
/// For a seq that is not in flight this changes nothing and is recorded in the trace.
/// `INVALID_JSON`: nothing is answered yet.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sgclaw_host_complete(
    host: *mut sgclaw_host,
    seq: u64,
    data: *const c_char,
    data_len: usize,
    now_us: u64,
) -> sgclaw_status {
    answer(|| {
        // SAFETY: the caller keeps the conventions of docs/c-api.md.
        let (mut face, data) = unsafe { (handle::enter(host)?, object(data, data_len)?) };
        face.host.complete(seq, Ok(data), Time::from_micros(now_us));
        Ok(())
    })
}

/// The executor failed at `seq`, with a `sgclaw_error_code`, a message for people, and details: a
/// JSON object, or empty.
///
/// As `sgclaw_host_complete`. The message goes to the agent: no typed text, no text of a page.
/// `INVALID_NUMBER` where `code` is none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sgclaw_host_fail(
    host: *mut sgclaw_host,
    seq: u64,
    code: u32,
    message: *const c_char,
    message_len: usize,
    details: *const c_char,
    details_len: usize,
    now_us: u64,
) -> sgclaw_status {
    answer(|| {
        // SAFETY: the caller keeps the conventions of docs/c-api.md.
        let (mut face, code, message) =
            unsafe { (handle::enter(host)?, error_code(code)?, pointer::text(message, message_len)?) };
        let mut failure = Failure::new(code, message);
        if details_len > 0 {
            // SAFETY: as above.
            failure.details = Some(unsafe { object(details, details_len) }?);
        }
        face.host.complete(seq, Err(failure), Time::from_micros(now_us));
        Ok(())
    })
}

/// Reads a JSON object strictly.
///
/// # Safety
/// As [`pointer::slice`].
pub(super) unsafe fn object(text: *const c_char, len: usize) -> Result<JsonObject, sgclaw_status> {
    // SAFETY: the same conditions.
    let text = unsafe { pointer::slice(text.cast::<u8>(), len) }?;
    JsonObject::parse(text).map_err(|_| sgclaw_status::InvalidJson)
}

/// A person allowed what `CONFIRMATION_ASKED` asked. For a seq of which nobody is asked this does
/// nothing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sgclaw_host_allow(host: *mut sgclaw_host, seq: u64, now_us: u64) -> sgclaw_status {
    answer(|| {
        // SAFETY: the caller keeps the conventions of docs/c-api.md.
        let mut face = unsafe { handle::enter(host) }?;
        face.host.confirm(seq, true, Time::from_micros(now_us));
        Ok(())
    })
}

/// A person refused it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sgclaw_host_deny(host: *mut sgclaw_host, seq: u64, now_us: u64) -> sgclaw_status {
    answer(|| {
        // SAFETY: the caller keeps the conventions of docs/c-api.md.
        let mut face = unsafe { handle::enter(host) }?;
        face.host.confirm(seq, false, Time::from_micros(now_us));
        Ok(())
    })
}

/// The executor will not answer `seq`: it dropped it, or is gone. Answered with
/// `INTERNAL_EXECUTOR_GONE`. For a seq that is not in flight this does nothing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sgclaw_host_abandon(host: *mut sgclaw_host, seq: u64, now_us: u64) -> sgclaw_status {
    answer(|| {
        // SAFETY: the caller keeps the conventions of docs/c-api.md.
        let mut face = unsafe { handle::enter(host) }?;
        face.host.abandon(seq, Time::from_micros(now_us));
        Ok(())
    })
}

/// Cancels a command: a person stopped it, or its tab closed. For a seq that is not in flight this
/// does nothing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sgclaw_host_cancel(host: *mut sgclaw_host, seq: u64, now_us: u64) -> sgclaw_status {
    answer(|| {
        // SAFETY: the caller keeps the conventions of docs/c-api.md.
        let mut face = unsafe { handle::enter(host) }?;
        face.host.cancel(seq, Time::from_micros(now_us));
        Ok(())
    })
}

/// Puts another policy in force, for the next command and for those that wait. Copied.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sgclaw_host_set_policy(
    host: *mut sgclaw_host,
    policy: *const sgclaw_policy,
) -> sgclaw_status {
    answer(|| {
        // SAFETY: the caller keeps the conventions of docs/c-api.md.
        let (mut face, policy) = unsafe { (handle::enter(host)?, handle::enter(policy)?) };
        face.host.set_policy(policy.as_ref().clone());
        Ok(())
    })
}

/// A copy of the policy in force, which the caller owns.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sgclaw_host_policy(
    host: *const sgclaw_host,
    policy: *mut *mut sgclaw_policy,
) -> sgclaw_status {
    answer(|| {
        // SAFETY: the caller keeps the conventions of docs/c-api.md.
        let (face, policy) = unsafe { (handle::enter(host)?, Out::new(policy)?) };
        policy.set(handle::create::<sgclaw_policy>(Arc::clone(face.host.policy())));
        Ok(())
    })
}

/// The domain of the document that the tab shows now; empty where that has no host.
///
/// `INVALID_DOMAIN`: the page is as it was.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sgclaw_host_set_page(
    host: *mut sgclaw_host,
    domain: *const c_char,
    domain_len: usize,
) -> sgclaw_status {
    answer(|| {
        // SAFETY: the caller keeps the conventions of docs/c-api.md.
        let (mut face, domain) = unsafe { (handle::enter(host)?, pointer::text(domain, domain_len)?) };
        let domain = match domain {
            "" => None,
            text => Some(Domain::parse(text, face.urls.as_ref()).map_err(|_| sgclaw_status::InvalidDomain)?),
        };
        face.host.set_page(domain);
        Ok(())
    })
}

/// Lets an action work again whose breaker opened.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sgclaw_host_reset_breaker(
    host: *mut sgclaw_host,
    action: *const c_char,
    action_len: usize,
) -> sgclaw_status {
    answer(|| {
        // SAFETY: the caller keeps the conventions of docs/c-api.md.
        let (mut face, action) = unsafe { (handle::enter(host)?, pointer::text(action, action_len)?) };
        face.host.reset_breaker(action);
        Ok(())
    })
}

/// Ends the session: answers what is in flight, closes the child's stdin, later terminates it, then
/// kills it. `Stopped` when it has exited.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sgclaw_host_stop(host: *mut sgclaw_host, now_us: u64) -> sgclaw_status {
    answer(|| {
        // SAFETY: the caller keeps the conventions of docs/c-api.md.
        let mut face = unsafe { handle::enter(host) }?;
        face.host.stop(Time::from_micros(now_us));
        Ok(())
    })
}

/// Where the session stands.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sgclaw_host_state(
    host: *const sgclaw_host,
    state: *mut sgclaw_state,
) -> sgclaw_status {
    answer(|| {
        // SAFETY: the caller keeps the conventions of docs/c-api.md.
        let (face, state) = unsafe { (handle::enter(host)?, Out::new(state)?) };
        state.set(face.host.state().into());
        Ok(())
    })
}

/// How many commands are in flight.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sgclaw_host_in_flight(host: *const sgclaw_host, count: *mut usize) -> sgclaw_status {
    answer(|| {
        // SAFETY: the caller keeps the conventions of docs/c-api.md.
        let (face, count) = unsafe { (handle::enter(host)?, Out::new(count)?) };
        count.set(face.host.in_flight());
        Ok(())
    })
}

/// The name of the action at `index` among those that both sides know, in alphabetical order from 0.
/// `NONE` past the last one, and before `RUNNING`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sgclaw_host_negotiated_action(
    host: *const sgclaw_host,
    index: usize,
    name: *mut sgclaw_str,
) -> sgclaw_status {
    answer(|| {
        // SAFETY: the caller keeps the conventions of docs/c-api.md.
        let (face, name) = unsafe { (handle::enter(host)?, Out::new(name)?) };
        let action = face.host.negotiated_actions().nth(index).ok_or(sgclaw_status::None)?;
        name.set(action.as_str().into());
        Ok(())
    })
}

/// Frees the host and sets the variable to NULL. The child is the embedder's to end.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sgclaw_host_free(host: *mut *mut sgclaw_host) -> sgclaw_status {
    // SAFETY: the caller keeps the conventions of docs/c-api.md.
    unsafe { handle::free(host) }
}

/// The name of a `sgclaw_state` as it stands in the trace, such as "Running"; empty for other
/// numbers.
#[unsafe(no_mangle)]
pub extern "C" fn sgclaw_state_name(state: u32) -> sgclaw_str {
    let all =
        [State::Idle, State::Handshaking, State::Running, State::Stopping, State::Stopped, State::Crashed];
    let named = all.into_iter().find(|known| sgclaw_state::from(*known) as u32 == state);
    named.map(|state| state.as_str().into()).unwrap_or_default()
}
