//! What the interface does: the same as the Rust API, byte for byte.

use std::mem::MaybeUninit;
use std::ptr::{null, null_mut};
use std::sync::Arc;

use sgclaw::ffi::c::sgclaw_status as Status;
use sgclaw::ffi::c::*;
use sgclaw::pipe::KeyDerivation;
use sgclaw::wire::HmacSeed;
use sgclaw::{
    Domain, ErrorCode, Failure, Host, HostConfig, HostEvent, HostSettings, JsonObject, Policy, Registry,
    Time, WhatwgUrlParser,
};

use crate::world::{ACK, DOMAIN, HandleKind, POLICY, SEED, World, signed, str_of, text_of};

/// Something that happens to a host, as a recording would keep it.
enum Step {
    Input(String),
    Complete(u64, &'static str),
    Fail(u64, ErrorCode, &'static str, &'static str),
    Allow(u64),
    Timeout,
    Stop,
}

fn recording() -> Vec<(u64, Step)> {
    let click = r##"{"selector":"#a"}"##;
    vec![
        (1_000, Step::Input(ACK.into())),
        (2_000, Step::Input(signed(1, "click", click) + &signed(2, "hover", click) + "nonsense\n")),
        (2_500, Step::Input(signed(3, "getText", click)[..40].to_owned())),
        (2_600, Step::Input(signed(3, "getText", click)[40..].to_owned())),
        (3_000, Step::Complete(1, r#"{"navigation":"pending"}"#)),
        (3_500, Step::Complete(1, "{}")),
        (4_000, Step::Fail(3, ErrorCode::CmdSelectorTimeout, "not there", r#"{"reason":"not_found"}"#)),
        (5_000, Step::Allow(2)),
        (40_000_000, Step::Timeout),
        (40_000_100, Step::Input(signed(4, "click", click))),
        (40_000_200, Step::Fail(4, ErrorCode::CmdPageCrashed, "the renderer died", "")),
        (40_000_300, Step::Stop),
        (43_000_000, Step::Timeout),
    ]
}

/// Output, trace and events of the recording, through Rust.
fn through_rust() -> (Vec<u8>, String, Vec<String>) {
    let urls = Arc::new(WhatwgUrlParser);
    let config = HostConfig {
        session: "recorded".into(),
        seed: HmacSeed::from_bytes(&SEED).unwrap(),
        key_derivation: KeyDerivation::Hkdf,
        registry: Registry::standard(),
        policy: Policy::parse(POLICY.as_bytes(), &WhatwgUrlParser).unwrap(),
        settings: HostSettings::default(),
    };
    let mut host = Host::new(config, urls);
    host.set_page(Some(Domain::parse(DOMAIN, &WhatwgUrlParser).unwrap()));
    host.start(Time::from_micros(0));
    let (mut output, mut trace, mut events) = (Vec::new(), String::new(), Vec::new());
    let mut drain = |host: &mut Host| {
        while let Some(event) = host.poll_event() {
            events.push(match event {
                HostEvent::StateChanged { state, code, message } => {
                    format!(
                        "{} {:?} {message}",
                        state.as_str(),
                        code.map(ErrorCode::as_str).unwrap_or_default()
                    )
                }
                HostEvent::Execute(command) => {
                    let timeout = command.timeout().as_micros();
                    format!("execute {} {} {timeout}", command.seq(), command.params().as_str())
                }
                HostEvent::Cancel { seq } => format!("cancel {seq}"),
                HostEvent::ConfirmationAsked { seq, action, expected_domain, .. } => {
                    format!("ask {seq} {action} {expected_domain}")
                }
                HostEvent::ConfirmationOver { seq } => format!("asked {seq}"),
                HostEvent::CloseStdin => "close".into(),
                HostEvent::Terminate => "terminate".into(),
                other => format!("{other:?}"),
            });
        }
        while let Some(record) = host.poll_trace() {
            trace += &record.to_line();
        }
        while !host.output().is_empty() {
            output.extend_from_slice(host.output());
            host.output_written(host.output().len());
        }
    };
    drain(&mut host);
    for (now, step) in recording() {
        let now = Time::from_micros(now);
        match step {
            Step::Input(bytes) => host.handle_input(bytes.as_bytes(), now),
            Step::Complete(seq, data) => {
                host.complete(seq, Ok(JsonObject::parse(data.as_bytes()).unwrap()), now);
            }
            Step::Fail(seq, code, message, details) => {
                let mut failure = Failure::new(code, message);
                failure.details = JsonObject::parse(details.as_bytes()).ok();
                host.complete(seq, Err(failure), now);
            }
            Step::Allow(seq) => host.confirm(seq, true, now),
            Step::Timeout => host.handle_timeout(now),
            Step::Stop => host.stop(now),
        }
        drain(&mut host);
    }
    (output, trace, events)
}

/// The same through C.
///
/// # Safety
/// None to care for: it keeps the conventions.
unsafe fn through_c() -> (Vec<u8>, String, Vec<String>) {
    let (mut registry, mut policy, mut host) = (null_mut(), null_mut(), null_mut());
    let mut config = MaybeUninit::<sgclaw_host_config>::uninit();
    let (mut output, mut trace, mut events) = (Vec::new(), String::new(), Vec::new());
    // SAFETY: as docs/c-api.md demands.
    unsafe {
        ok(sgclaw_registry_standard(&raw mut registry));
        ok(sgclaw_policy_parse(str_of(POLICY).data, POLICY.len(), null(), &raw mut policy, null_mut()));
        ok(sgclaw_host_config_init(config.as_mut_ptr()));
        let config = config.assume_init_mut();
        config.session = str_of("recorded");
        config.seed = sgclaw_bytes { data: SEED.as_ptr(), len: SEED.len() };
        (config.registry, config.policy) = (registry, policy);
        ok(sgclaw_host_new(config, &raw mut host));
        // The host has copies.
        ok(sgclaw_registry_free(&raw mut registry));
        ok(sgclaw_policy_free(&raw mut policy));
        ok(sgclaw_host_set_page(host, str_of(DOMAIN).data, DOMAIN.len()));
        ok(sgclaw_host_start(host, 0));
        let mut drain = || {
            let mut event = MaybeUninit::<sgclaw_host_event>::uninit();
            while sgclaw_host_poll_event(host, event.as_mut_ptr()) == Status::Ok {
                let event = event.assume_init();
                let (seq, action) = (event.seq, text_of(event.action));
                use sgclaw_host_event_kind as Kind;
                events.push(match event.kind {
                    Kind::StateChanged => {
                        let state = text_of(sgclaw_state_name(event.state as u32));
                        let code = text_of(sgclaw_error_code_name(event.code));
                        format!("{state} {code:?} {}", text_of(event.message))
                    }
                    Kind::Execute => format!("execute {seq} {} {}", text_of(event.params), event.timeout_us),
                    Kind::Cancel => format!("cancel {seq}"),
                    Kind::ConfirmationAsked => {
                        format!("ask {seq} {action} {}", text_of(event.expected_domain))
                    }
                    Kind::ConfirmationOver => format!("asked {seq}"),
                    Kind::CloseStdin => "close".into(),
                    Kind::Terminate => "terminate".into(),
                    other => format!("{other:?}"),
                });
            }
            let mut line = str_of("");
            while sgclaw_host_poll_trace(host, &raw mut line) == Status::Ok {
                trace += &text_of(line);
            }
            loop {
                let mut bytes = sgclaw_bytes { data: null(), len: 0 };
                ok(sgclaw_host_output(host, &raw mut bytes));
                if bytes.len == 0 {
                    break;
                }
                output.extend_from_slice(std::slice::from_raw_parts(bytes.data, bytes.len));
                ok(sgclaw_host_output_written(host, bytes.len));
            }
        };
        drain();
        for (now, step) in recording() {
            ok(match step {
                Step::Input(bytes) => sgclaw_host_handle_input(host, bytes.as_ptr(), bytes.len(), now),
                Step::Complete(seq, data) => {
                    sgclaw_host_complete(host, seq, str_of(data).data, data.len(), now)
                }
                Step::Fail(seq, code, message, details) => {
                    let (message, details) = (str_of(message), str_of(details));
                    let code = code.number().into();
                    sgclaw_host_fail(
                        host,
                        seq,
                        code,
                        message.data,
                        message.len,
                        details.data,
                        details.len,
                        now,
                    )
                }
                Step::Allow(seq) => sgclaw_host_allow(host, seq, now),
                Step::Timeout => sgclaw_host_handle_timeout(host, now),
                Step::Stop => sgclaw_host_stop(host, now),
            });
            drain();
        }
        ok(sgclaw_host_free(&raw mut host));
    }
    (output, trace, events)
}

fn ok(status: Status) {
    assert_eq!(status, Status::Ok);
}

#[test]
fn a_recorded_session_gives_the_same_bytes_trace_and_events_as_through_rust() {
    let rust = through_rust();
    // SAFETY: it keeps the conventions.
    let c = unsafe { through_c() };
    assert!(rust.0 == c.0, "the output differs");
    assert_eq!(rust.1, c.1);
    assert_eq!(rust.2, c.2);
    assert!(rust.2.len() > 10, "{:?}", rust.2);
}

#[test]
fn the_views_of_an_event_outlive_the_command_and_other_calls() {
    let world = World::new();
    let host: *mut sgclaw_host = world.handles[sgclaw_host::AT][0].cast();
    let mut event = MaybeUninit::<sgclaw_host_event>::uninit();
    let mut command = null_mut();
    // SAFETY: as docs/c-api.md demands.
    unsafe {
        ok(sgclaw_host_complete(host, 1, c"{}".as_ptr(), 2, 0));
        let input = signed(2, "click", r##"{"selector":"#b"}"##);
        ok(sgclaw_host_handle_input(host, input.as_ptr(), input.len(), 0));
        assert_eq!(sgclaw_host_poll_event(host, null_mut()), Status::NullPointer, "this loses no event");
        ok(sgclaw_host_poll_event(host, event.as_mut_ptr()));
        let event = event.assume_init();
        ok(sgclaw_host_take_command(host, &raw mut command));
        let mut params = str_of("");
        ok(sgclaw_command_params(command, &raw mut params));
        assert_eq!(text_of(params), text_of(event.params));
        ok(sgclaw_command_free(&raw mut command));
        ok(sgclaw_host_complete(host, 2, event.params.data, event.params.len, 0));
        assert_eq!(text_of(event.params), r##"{"selector":"#b"}"##);
        assert_eq!((text_of(event.action), text_of(event.expected_domain)), ("click".into(), DOMAIN.into()));
    }
}

#[test]
fn an_agent_and_an_executor_work_through_c() {
    let mut world = World::new();
    let agent: *mut sgclaw_agent = world.handles[sgclaw_agent::AT][0].cast();
    let host: *mut sgclaw_host = world.handles[sgclaw_host::AT][0].cast();
    let executor: *mut sgclaw_executor = world.handles[sgclaw_executor::AT][0].cast();
    let command: *mut *mut sgclaw_command = (&raw mut world.handles[sgclaw_command::AT][0]).cast();
    let mut told = MaybeUninit::<sgclaw_agent_event>::uninit();
    let mut done = MaybeUninit::<sgclaw_executor_event>::uninit();
    // SAFETY: as docs/c-api.md demands.
    unsafe {
        // The command that the host gave out is executed, and the browser goes away.
        ok(sgclaw_executor_start(executor, 0));
        let mut message = str_of("");
        ok(sgclaw_executor_poll_message(executor, &raw mut message));
        assert!(text_of(message).starts_with('{'));
        ok(sgclaw_executor_execute(executor, command, 0));
        let mut at = 0;
        ok(sgclaw_executor_poll_timeout(executor, &raw mut at));
        assert_eq!(at, 30_400_000, "its own 30 s and 400 ms");
        ok(sgclaw_executor_handle_disconnect(executor, 0));
        ok(sgclaw_executor_poll_event(executor, done.as_mut_ptr()));
        let completed = done.assume_init();
        assert_eq!((completed.kind, completed.seq), (sgclaw_executor_event_kind::Completed, 1));
        assert_eq!(text_of(sgclaw_error_code_name(completed.code)), "INTERNAL_EXECUTOR_GONE");
        let (message, details) = (completed.message, completed.details);
        ok(sgclaw_host_fail(
            host,
            1,
            completed.code,
            message.data,
            message.len,
            details.data,
            details.len,
            0,
        ));
        ok(sgclaw_executor_poll_event(executor, done.as_mut_ptr()));
        assert_eq!(done.assume_init().kind, sgclaw_executor_event_kind::Disconnected);
        assert_eq!(sgclaw_executor_poll_event(executor, done.as_mut_ptr()), Status::None);

        // The agent asks; the host's answer comes back as it was given.
        ok(sgclaw_agent_poll_event(agent, told.as_mut_ptr()));
        assert_eq!(told.assume_init().kind, sgclaw_agent_event_kind::Ready);
        let mut call = 0;
        let (action, domain) = (str_of("click"), str_of(DOMAIN));
        ok(sgclaw_agent_request(
            agent,
            action.data,
            action.len,
            c"{}".as_ptr(),
            2,
            domain.data,
            domain.len,
            0,
            &raw mut call,
        ));
        let answer = "{\"type\":\"response\",\"seq\":1,\"success\":true,\"data\":{\"a\":1}}\n";
        ok(sgclaw_agent_handle_input(agent, answer.as_ptr(), answer.len(), 0));
        ok(sgclaw_agent_poll_event(agent, told.as_mut_ptr()));
        let event = told.assume_init();
        assert_eq!((event.kind, event.call, event.attempts), (sgclaw_agent_event_kind::Done, call, 1));
        assert_eq!(text_of(event.data), r#"{"a":1}"#);
        ok(sgclaw_agent_handle_end_of_input(agent, 0));
        ok(sgclaw_agent_poll_event(agent, told.as_mut_ptr()));
        let event = told.assume_init();
        assert_eq!((event.kind, event.code), (sgclaw_agent_event_kind::Ended, 0));
    }
}

#[test]
fn policies_registries_and_canonical_json_work_through_c() {
    let world = World::new();
    let registry: *mut sgclaw_registry = world.handles[sgclaw_registry::AT][0].cast();
    let policy: *mut sgclaw_policy = world.handles[sgclaw_policy::AT][0].cast();
    let (mut text, mut why) = (null_mut(), null_mut());
    let mut view = str_of("");
    let mut code = u32::MAX;
    // SAFETY: as docs/c-api.md demands.
    unsafe {
        let json = r#"{"b":1.0,"a":"\u4f60"}"#;
        ok(sgclaw_canonicalize(str_of(json).data, json.len(), &raw mut text, &raw mut why));
        ok(sgclaw_text_str(text, &raw mut view));
        assert_eq!((text_of(view), why.is_null()), (r#"{"a":"你","b":1}"#.into(), true));
        ok(sgclaw_text_free(&raw mut text));
        let invalid = sgclaw_canonicalize(c"{1".as_ptr(), 2, &raw mut text, &raw mut why);
        assert_eq!((invalid, text.is_null()), (Status::InvalidJson, true));
        ok(sgclaw_text_str(why, &raw mut view));
        assert!(text_of(view).contains("at byte 1"), "{}", text_of(view));
        ok(sgclaw_text_free(&raw mut why));

        let (name, closed) = (str_of("beep"), str_of(r#"{"type":"object","additionalProperties":false}"#));
        let open = str_of(r#"{"type":"object"}"#);
        let add = |schema: sgclaw_str, why| {
            sgclaw_registry_add(registry, name.data, name.len, schema.data, schema.len, why)
        };
        assert_eq!(add(open, &raw mut why), Status::InvalidSchema);
        ok(sgclaw_text_free(&raw mut why));
        ok(add(closed, null_mut()));
        assert_eq!(add(closed, null_mut()), Status::ActionExists);
        ok(sgclaw_registry_name(registry, 1, &raw mut view));
        assert_eq!(text_of(view), "beep");
        ok(sgclaw_registry_schema(registry, name.data, name.len, &raw mut view));
        assert_eq!(text_of(view), text_of(closed));
        assert_eq!(sgclaw_registry_name(registry, 18, &raw mut view), Status::None);

        let (domain, click) = (str_of(DOMAIN), str_of("click"));
        let check = |domain: sgclaw_str, code| {
            sgclaw_policy_check_domain(policy, domain.data, domain.len, click.data, click.len, code)
        };
        ok(check(domain, &raw mut code));
        assert_eq!(code, 0);
        ok(check(str_of("evil.example"), &raw mut code));
        assert_eq!(text_of(sgclaw_error_code_name(code)), "MAC_DOMAIN_DENIED");
        let url = str_of("file:///etc/passwd");
        ok(sgclaw_policy_check_navigation(policy, url.data, url.len, null(), &raw mut code));
        assert_eq!(text_of(sgclaw_error_code_name(code)), "MAC_URL_DENIED");
        let relative = sgclaw_policy_check_navigation(policy, c"/a".as_ptr(), 2, null(), &raw mut code);
        assert_eq!(relative, Status::InvalidUrl);
        let mut broken = null_mut();
        let parsed = sgclaw_policy_parse(c"{}".as_ptr(), 2, null(), &raw mut broken, &raw mut why);
        assert_eq!((parsed, broken.is_null()), (Status::InvalidPolicy, true));
        ok(sgclaw_text_str(why, &raw mut view));
        assert!(text_of(view).contains("does not satisfy its schema"), "{}", text_of(view));
        ok(sgclaw_text_free(&raw mut why));
    }
}
