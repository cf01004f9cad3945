//! Contract section 10 from the agent's side, and what it does with lines that it should not get.

use sgclaw::pipe::AgentError;
use sgclaw::{AgentEvent, ErrorCode, Failure, JsonObject};

use crate::support::{CLICK, Pair, RawHost};

/// Plays a failure to every attempt of one request; returns the times of the attempts in ms.
fn attempts(code: &str) -> (Vec<u64>, RawHost) {
    let mut raw = RawHost::running();
    raw.click();
    let mut times = Vec::new();
    for _ in 0..5 {
        let sent = raw.seqs().len();
        if sent > times.len() {
            times.push(raw.now.as_micros() / 1000);
            raw.respond(sent as u64, Some(code));
        }
        if let Some(at) = raw.agent.poll_timeout() {
            let due = (at.as_micros() - raw.now.as_micros()) / 1000;
            raw.wait(due - 1);
            assert_eq!(raw.seqs().len(), times.len(), "it came too early");
            raw.wait(1);
        }
    }
    (times, raw)
}

#[test]
fn each_code_is_retried_as_the_matrix_says_at_the_exact_times() {
    for code in ErrorCode::ALL {
        let expected: &[u64] = match code.as_str() {
            "PIPE_SEQ_DUPLICATE" => continue, // never the answer to a command
            "CMD_SELECTOR_TIMEOUT" => &[0, 500, 1_500],
            "CMD_NAVIGATION_FAILED" => &[0, 1_000],
            internal if internal.starts_with("INTERNAL_") => &[0, 1_000],
            _ => &[0],
        };
        let (times, mut raw) = attempts(code.as_str());
        assert_eq!(times, expected, "{code}");
        let done = raw.events().into_iter().find_map(|event| match event {
            AgentEvent::Done { seq, attempts, outcome: Err(failure), .. } => {
                Some((seq, attempts, failure.code))
            }
            _ => None,
        });
        let count = expected.len();
        assert_eq!(done, Some((count as u64, count as u32, *code)), "{code}");
        assert_eq!((raw.agent.in_flight(), raw.agent.poll_timeout()), (0, None), "{code}");
    }
}

#[test]
fn a_retry_is_a_new_command_with_a_new_seq_and_a_new_hmac() {
    let (_, raw) = attempts("CMD_SELECTOR_TIMEOUT");
    let commands = &raw.written[1..];
    assert_eq!(raw.seqs(), [1, 2, 3]);
    for (earlier, later) in commands.iter().zip(&commands[1..]) {
        assert_ne!(earlier["security"]["hmac"], later["security"]["hmac"]);
        for field in ["action", "params"] {
            assert_eq!(earlier[field], later[field]);
        }
    }
}

#[test]
fn internal_failures_stop_the_action_until_it_is_reset_and_an_overload_does_not() {
    for code in ErrorCode::ALL.iter().map(|code| code.as_str()).filter(|code| *code != "PIPE_SEQ_DUPLICATE") {
        let (_, mut raw) = attempts(code);
        let stopped = raw.events().iter().any(|event| matches!(event, AgentEvent::ActionStopped { .. }));
        let request = |raw: &mut RawHost, action: &str| {
            let now = raw.now;
            let domain = crate::support::domain("localhost");
            raw.agent.request(action.parse().unwrap(), crate::support::object(CLICK), domain, now)
        };
        let expected = code.starts_with("INTERNAL_") && code != "INTERNAL_OVERLOADED";
        assert_eq!(stopped, expected, "{code}");
        assert_eq!(request(&mut raw, "click") == Err(AgentError::ActionStopped), expected, "{code}");
        assert!(request(&mut raw, "hover").is_ok(), "{code}: one action only");
        raw.agent.reset_action("click");
        assert!(request(&mut raw, "click").is_ok(), "{code}");
    }
}

#[test]
fn no_retry_of_a_stopped_action_is_sent() {
    let mut raw = RawHost::running();
    raw.click();
    raw.click();
    raw.respond(1, Some("INTERNAL_UNKNOWN"));
    raw.wait(500);
    raw.respond(2, Some("CMD_SELECTOR_TIMEOUT"));
    raw.wait(500);
    assert_eq!(raw.seqs().len(), 4, "both retries are due at 1000 ms");
    raw.respond(3, Some("INTERNAL_UNKNOWN"));
    raw.respond(4, Some("CMD_SELECTOR_TIMEOUT"));
    raw.wait(60_000);
    assert_eq!(raw.seqs().len(), 4, "the action is stopped");
    let done = raw.events().iter().filter(|event| matches!(event, AgentEvent::Done { .. })).count();
    assert_eq!((done, raw.agent.in_flight()), (2, 0), "each request is answered all the same");
}

#[test]
fn a_retry_that_succeeds_answers_the_request() {
    let mut pair = Pair::running(&[64]);
    let mut tries = 0;
    pair.script = Box::new(move |_| {
        tries += 1;
        let covered = Failure::new(ErrorCode::CmdSelectorTimeout, "not there yet").with_reason("not_found");
        (10, if tries < 3 { Err(covered) } else { Ok(JsonObject::empty()) })
    });
    pair.request("click", CLICK);
    pair.wait(10_000);
    let Some(AgentEvent::Done { seq, attempts, outcome, .. }) = pair.raw.events().pop() else { panic!() };
    assert_eq!((seq, attempts, outcome), (3, 3, Ok(Some(JsonObject::empty()))));
    assert_eq!(pair.bench.all_answers().len(), 3);
}

#[test]
fn requests_are_correlated_whatever_the_order_of_the_answers() {
    let mut raw = RawHost::running();
    let calls = [raw.click(), raw.click(), raw.click()];
    for seq in [2, 3, 1] {
        raw.respond(seq, None);
        let Some(AgentEvent::Done { call, .. }) = raw.events().pop() else { panic!("{seq}") };
        assert_eq!(call, calls[seq as usize - 1]);
    }
}

#[test]
fn answers_that_belong_to_no_request_are_logged_and_change_nothing() {
    let mut raw = RawHost::running();
    raw.click();
    raw.respond(0, Some("PIPE_INVALID_JSON"));
    raw.respond(7, None);
    assert_eq!(raw.agent.in_flight(), 1);
    raw.respond(1, None);
    raw.respond(1, None);
    raw.respond(1, Some("PIPE_HMAC_INVALID"));
    let events = raw.events();
    let log = events.iter().filter(|event| matches!(event, AgentEvent::Log(_))).count();
    assert_eq!((events.len(), log), (5, 4), "{events:?}");
}

#[test]
fn a_rejection_that_names_a_pending_seq_fails_that_request_without_a_retry() {
    let mut raw = RawHost::running();
    raw.click();
    raw.respond(1, Some("PIPE_HMAC_INVALID"));
    assert!(matches!(&raw.events()[..], [AgentEvent::Done { outcome: Err(_), attempts: 1, .. }]));
    assert_eq!(raw.agent.poll_timeout(), None);
}

#[test]
fn an_invalid_line_from_the_host_ends_the_agent_with_its_code() {
    let init = r#"{"type":"init","version":"1.0","hmac_seed":"00112233445566778899aabbccddeeff"}"#;
    for (line, code) in [
        ("", "PIPE_INVALID_JSON"),
        ("geheim", "PIPE_INVALID_JSON"),
        (r#"{"type":"response","seq":1,"seq":1,"success":true}"#, "PIPE_INVALID_JSON"),
        (r#"{"type":"response","seq":1,"success":true,"note":1}"#, "PIPE_SCHEMA_INVALID"),
        (
            r#"{"type":"response","seq":1,"success":false,"error":{"code":"CMD_NEW","message":""}}"#,
            "PIPE_SCHEMA_INVALID",
        ),
        (r#"{"type":"geheim"}"#, "PIPE_SCHEMA_INVALID"),
        (init, "PIPE_UNEXPECTED_MESSAGE"),
    ] {
        let mut raw = RawHost::running();
        raw.click();
        raw.line(line);
        raw.respond(1, None);
        let [AgentEvent::Done { outcome: Err(lost), .. }, AgentEvent::Ended { failure: Some(why) }] =
            &raw.events[..]
        else {
            panic!("{line}: {:?}", raw.events)
        };
        assert_eq!((lost.code.as_str(), why.code.as_str()), ("PIPE_CLOSED", code), "{line}");
        let now = raw.now;
        let again = raw.agent.request(
            "click".parse().unwrap(),
            JsonObject::empty(),
            crate::support::domain("a"),
            now,
        );
        assert_eq!(again, Err(AgentError::NotRunning));
    }
    for (line, code) in [
        ("x", "PIPE_INVALID_JSON"),
        (
            r#"{"type":"init","version":1,"hmac_seed":"00112233445566778899aabbccddeeff"}"#,
            "PIPE_SCHEMA_INVALID",
        ),
        (r#"{"type":"init","version":"1.0","hmac_seed":"001122"}"#, "PIPE_SCHEMA_INVALID"),
        (
            r#"{"type":"init","version":"1.0","hmac_seed":"00112233445566778899aabbccddeef"}"#,
            "PIPE_SCHEMA_INVALID",
        ),
        (r#"{"type":"response","seq":1,"success":true}"#, "PIPE_UNEXPECTED_MESSAGE"),
    ] {
        let mut raw = RawHost::new();
        raw.line(line);
        assert_eq!(raw.ended(), Some(Some(code.to_owned())), "{line}");
        assert!(raw.written.is_empty());
    }
}

#[test]
fn the_end_of_the_pipe_is_a_clean_end_only_where_nothing_waits() {
    let end = |raw: &mut RawHost| {
        raw.agent.handle_end_of_input(raw.now);
        raw.agent.handle_end_of_input(raw.now);
        raw.drain();
        raw.ended().expect("it has ended")
    };
    assert_eq!(end(&mut RawHost::running()), None);
    assert_eq!(end(&mut RawHost::new()).as_deref(), Some("PIPE_CLOSED"));
    let mut waiting = RawHost::running();
    waiting.click();
    assert_eq!(end(&mut waiting).as_deref(), Some("PIPE_CLOSED"));
    let mut retrying = RawHost::running();
    retrying.click();
    retrying.respond(1, Some("CMD_SELECTOR_TIMEOUT"));
    assert_eq!(end(&mut retrying).as_deref(), Some("PIPE_CLOSED"));
    assert_eq!(retrying.agent.poll_timeout(), None);
    let mut inside = RawHost::running();
    inside.feed(b"{\"type\":\"resp");
    assert_eq!(end(&mut inside).as_deref(), Some("PIPE_INVALID_JSON"));
}

#[test]
fn nothing_is_sent_before_the_handshake() {
    let mut raw = RawHost::new();
    let refused = raw.agent.request(
        "click".parse().unwrap(),
        JsonObject::empty(),
        crate::support::domain("a"),
        raw.now,
    );
    raw.drain();
    assert_eq!((refused, raw.written.len()), (Err(AgentError::NotRunning), 0));
}
