use std::ffi::c_char;
use std::sync::Arc;

use super::handle::{self, Handle};
use super::host::{key_derivation, object, sgclaw_key_derivation};
use super::pointer::{self, Out, check_reserved, sgclaw_bytes, sgclaw_str};
use super::status::{answer, number, sgclaw_status};
use super::url_parser::{sgclaw_url_parser, url_parser};
use crate::{ActionName, Agent, AgentConfig, AgentEvent, Domain, Failure, JsonObject, Time, UrlParser};

/// The agent's side of a session: numbers, signs, correlates and retries (contract sections 4, 5
/// and 10).
///
/// After each call that changes something, drain `sgclaw_agent_poll_event` and
/// `sgclaw_agent_output`, then ask `sgclaw_agent_poll_timeout`.
pub struct sgclaw_agent(());

impl Handle for sgclaw_agent {
    type Value = Face;
    const KIND: [u8; 8] = *b"sgc.agnt";
}

/// The agent, and what its views show.
pub(super) struct Face {
    agent: Agent,
    urls: Arc<dyn UrlParser>,
    event: Option<AgentEvent>,
}

/// What an agent says of itself. Begin with `sgclaw_agent_config_init`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct sgclaw_agent_config {
    /// A UUID of version 4. The host refuses anything else.
    pub agent_id: sgclaw_str,
    /// The names of the actions that it may ask for; at least one, or the host refuses.
    pub supported_actions: *const sgclaw_str,
    /// How many.
    pub supported_actions_count: usize,
    /// The URL parser, which must outlive the agent; NULL: the library's.
    pub urls: *const sgclaw_url_parser,
    /// A `sgclaw_key_derivation`.
    pub key_derivation: u32,
    /// Zero.
    pub reserved: [u64; 8],
}

/// Writes the defaults. `agent_id` and `supported_actions` have none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sgclaw_agent_config_init(config: *mut sgclaw_agent_config) -> sgclaw_status {
    answer(|| {
        // SAFETY: the caller keeps the conventions of docs/c-api.md.
        let config = unsafe { Out::new(config) }?;
        config.set(sgclaw_agent_config {
            agent_id: sgclaw_str::default(),
            supported_actions: std::ptr::null(),
            supported_actions_count: 0,
            urls: std::ptr::null(),
            key_derivation: sgclaw_key_derivation::Hkdf as u32,
            reserved: [0; 8],
        });
        Ok(())
    })
}

/// An agent that waits for `init`.
///
/// `INVALID_ACTION_NAME`; `INVALID_NUMBER` for `key_derivation`; `NO_URL_PARSER`;
/// `RESERVED_NOT_ZERO`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sgclaw_agent_new(
    config: *const sgclaw_agent_config,
    agent: *mut *mut sgclaw_agent,
) -> sgclaw_status {
    answer(|| {
        // SAFETY: the caller keeps the conventions of docs/c-api.md.
        let (config, agent) = unsafe { (pointer::read(config)?, Out::new(agent)?) };
        check_reserved(&config.reserved)?;
        // SAFETY: as above, for what the struct points to.
        let (agent_id, names, urls) = unsafe {
            (
                pointer::text(config.agent_id.data, config.agent_id.len)?,
                pointer::slice(config.supported_actions, config.supported_actions_count)?,
                url_parser(config.urls)?,
            )
        };
        let mut supported_actions = Vec::new();
        for name in names {
            // SAFETY: as above.
            let name = unsafe { pointer::text(name.data, name.len) }?;
            supported_actions.push(action_name(name)?);
        }
        let rust = AgentConfig {
            agent_id: agent_id.to_owned(),
            supported_actions,
            key_derivation: key_derivation(config.key_derivation)?,
        };
        agent.set(handle::create::<sgclaw_agent>(Face {
            agent: Agent::new(rust, Arc::clone(&urls)),
            urls,
            event: None,
        }));
        Ok(())
    })
}

fn action_name(name: &str) -> Result<ActionName, sgclaw_status> {
    name.parse().map_err(|_| sgclaw_status::InvalidActionName)
}

/// Asks for an action; `params` is a JSON object. Answered by one `DONE` with this `call`.
///
/// `INVALID_ACTION_NAME`, `INVALID_JSON`, `INVALID_DOMAIN`; `WRONG_STATE` before `READY` and after
/// `ENDED`; `ACTION_STOPPED`, `TOO_LARGE`, `TOO_DEEP`, `SEQ_EXHAUSTED`. Nothing was sent then.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sgclaw_agent_request(
    agent: *mut sgclaw_agent,
    action: *const c_char,
    action_len: usize,
    params: *const c_char,
    params_len: usize,
    expected_domain: *const c_char,
    expected_domain_len: usize,
    now_us: u64,
    call: *mut u64,
) -> sgclaw_status {
    answer(|| {
        // SAFETY: the caller keeps the conventions of docs/c-api.md.
        let (mut face, action, params, expected_domain, call) = unsafe {
            (
                handle::enter(agent)?,
                pointer::text(action, action_len)?,
                object(params, params_len)?,
                pointer::text(expected_domain, expected_domain_len)?,
                Out::new(call)?,
            )
        };
        let action = action_name(action)?;
        let expected_domain =
            Domain::parse(expected_domain, face.urls.as_ref()).map_err(|_| sgclaw_status::InvalidDomain)?;
        let id = face.agent.request(action, params, expected_domain, Time::from_micros(now_us))?;
        call.set(id.as_u64());
        Ok(())
    })
}

/// Bytes of the host, split anywhere.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sgclaw_agent_handle_input(
    agent: *mut sgclaw_agent,
    bytes: *const u8,
    bytes_len: usize,
    now_us: u64,
) -> sgclaw_status {
    answer(|| {
        // SAFETY: the caller keeps the conventions of docs/c-api.md.
        let (mut face, bytes) = unsafe { (handle::enter(agent)?, pointer::slice(bytes, bytes_len)?) };
        face.agent.handle_input(bytes, Time::from_micros(now_us));
        Ok(())
    })
}

/// The host closed the pipe.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sgclaw_agent_handle_end_of_input(
    agent: *mut sgclaw_agent,
    now_us: u64,
) -> sgclaw_status {
    answer(|| {
        // SAFETY: the caller keeps the conventions of docs/c-api.md.
        let mut face = unsafe { handle::enter(agent) }?;
        face.agent.handle_end_of_input(Time::from_micros(now_us));
        Ok(())
    })
}

/// The time that `sgclaw_agent_poll_timeout` named has come: sends the retries that are due.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sgclaw_agent_handle_timeout(agent: *mut sgclaw_agent, now_us: u64) -> sgclaw_status {
    answer(|| {
        // SAFETY: the caller keeps the conventions of docs/c-api.md.
        let mut face = unsafe { handle::enter(agent) }?;
        face.agent.handle_timeout(Time::from_micros(now_us));
        Ok(())
    })
}

/// When to call `sgclaw_agent_handle_timeout` at the latest; UINT64_MAX: not at all.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sgclaw_agent_poll_timeout(
    agent: *const sgclaw_agent,
    at_us: *mut u64,
) -> sgclaw_status {
    answer(|| {
        // SAFETY: the caller keeps the conventions of docs/c-api.md.
        let (face, at_us) = unsafe { (handle::enter(agent)?, Out::new(at_us)?) };
        at_us.set(face.agent.poll_timeout().map_or(u64::MAX, Time::as_micros));
        Ok(())
    })
}

/// What happened at an agent. Ignore kinds that you do not know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum sgclaw_agent_event_kind {
    /// The handshake is done; `sgclaw_agent_request` works.
    Ready = 1,
    /// `call` was answered for good, after `attempts` commands, the last one with `seq`. `code` is 0
    /// and `data` what came, perhaps nothing; or `code`, `message` and perhaps `details` say why not.
    Done = 2,
    /// `action` failed with INTERNAL_* after its retry and is refused until
    /// `sgclaw_agent_reset_action`.
    ActionStopped = 3,
    /// `message` is worth a line in the agent's log.
    Log = 4,
    /// The session is over. `code` 0: exit with 0; else exit with another status, `message` says why.
    Ended = 5,
}

/// What happened at an agent. Fields that the kind does not name are zero.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct sgclaw_agent_event {
    /// What.
    pub kind: sgclaw_agent_event_kind,
    /// A `sgclaw_error_code`, or 0.
    pub code: u32,
    /// What `sgclaw_agent_request` gave.
    pub call: u64,
    /// The seq of the last attempt.
    pub seq: u64,
    /// How many commands it took.
    pub attempts: u32,
    /// The name of an action.
    pub action: sgclaw_str,
    /// A JSON object.
    pub data: sgclaw_str,
    /// For people.
    pub message: sgclaw_str,
    /// A JSON object.
    pub details: sgclaw_str,
    /// Zero.
    pub reserved: [u64; 8],
}

impl sgclaw_agent_event {
    fn new(kind: sgclaw_agent_event_kind) -> Self {
        sgclaw_agent_event {
            kind,
            code: 0,
            call: 0,
            seq: 0,
            attempts: 0,
            action: sgclaw_str::default(),
            data: sgclaw_str::default(),
            message: sgclaw_str::default(),
            details: sgclaw_str::default(),
            reserved: [0; 8],
        }
    }

    fn failed(self, failure: &Failure) -> Self {
        sgclaw_agent_event {
            code: number(Some(failure.code)),
            message: failure.message.as_str().into(),
            details: sgclaw_str::of(failure.details.as_ref().map(JsonObject::as_str)),
            ..self
        }
    }

    fn of(event: &AgentEvent) -> Self {
        use sgclaw_agent_event_kind as Kind;
        match event {
            AgentEvent::Ready => Self::new(Kind::Ready),
            AgentEvent::Done { call, seq, attempts, outcome } => {
                let done = sgclaw_agent_event {
                    call: call.as_u64(),
                    seq: *seq,
                    attempts: *attempts,
                    ..Self::new(Kind::Done)
                };
                match outcome {
                    Ok(data) => sgclaw_agent_event {
                        data: sgclaw_str::of(data.as_ref().map(JsonObject::as_str)),
                        ..done
                    },
                    Err(failure) => done.failed(failure),
                }
            }
            AgentEvent::ActionStopped { action } => {
                sgclaw_agent_event { action: action.as_str().into(), ..Self::new(Kind::ActionStopped) }
            }
            AgentEvent::Log(message) => {
                sgclaw_agent_event { message: message.as_str().into(), ..Self::new(Kind::Log) }
            }
            AgentEvent::Ended { failure: Some(failure) } => Self::new(Kind::Ended).failed(failure),
            AgentEvent::Ended { failure: None } => Self::new(Kind::Ended),
        }
    }
}

/// The next thing that happened. Call until `NONE`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sgclaw_agent_poll_event(
    agent: *mut sgclaw_agent,
    event: *mut sgclaw_agent_event,
) -> sgclaw_status {
    answer(|| {
        // SAFETY: the caller keeps the conventions of docs/c-api.md.
        let (mut face, event) = unsafe { (handle::enter(agent)?, Out::new(event)?) };
        let polled = face.agent.poll_event().ok_or(sgclaw_status::None)?;
        event.set(sgclaw_agent_event::of(face.event.insert(polled)));
        Ok(())
    })
}

/// Bytes for the host, of length 0 where none wait; more may follow once these are written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sgclaw_agent_output(
    agent: *const sgclaw_agent,
    output: *mut sgclaw_bytes,
) -> sgclaw_status {
    answer(|| {
        // SAFETY: the caller keeps the conventions of docs/c-api.md.
        let (face, output) = unsafe { (handle::enter(agent)?, Out::new(output)?) };
        output.set(face.agent.output().into());
        Ok(())
    })
}

/// `count` bytes of `sgclaw_agent_output` are written. `INVALID_LENGTH` where that is more than
/// there are.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sgclaw_agent_output_written(
    agent: *mut sgclaw_agent,
    count: usize,
) -> sgclaw_status {
    answer(|| {
        // SAFETY: the caller keeps the conventions of docs/c-api.md.
        let mut face = unsafe { handle::enter(agent) }?;
        if count > face.agent.output().len() {
            return Err(sgclaw_status::InvalidLength);
        }
        face.agent.output_written(count);
        Ok(())
    })
}

/// Lets an action be asked for again that was stopped.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sgclaw_agent_reset_action(
    agent: *mut sgclaw_agent,
    action: *const c_char,
    action_len: usize,
) -> sgclaw_status {
    answer(|| {
        // SAFETY: the caller keeps the conventions of docs/c-api.md.
        let (mut face, action) = unsafe { (handle::enter(agent)?, pointer::text(action, action_len)?) };
        face.agent.reset_action(action);
        Ok(())
    })
}

/// How many requests wait for their answer or their retry.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sgclaw_agent_in_flight(
    agent: *const sgclaw_agent,
    count: *mut usize,
) -> sgclaw_status {
    answer(|| {
        // SAFETY: the caller keeps the conventions of docs/c-api.md.
        let (face, count) = unsafe { (handle::enter(agent)?, Out::new(count)?) };
        count.set(face.agent.in_flight());
        Ok(())
    })
}

/// Frees the agent and sets the variable to NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sgclaw_agent_free(agent: *mut *mut sgclaw_agent) -> sgclaw_status {
    // SAFETY: the caller keeps the conventions of docs/c-api.md.
    unsafe { handle::free(agent) }
}
