//! Contract section 2: bytes to lines, limits, strictness.

use sgclaw::{AgentEvent, ErrorCode, Failure, HostSettings, State};

use crate::support::{
    ACTIONS, Bench, CLICK, DOMAIN, LIMIT, RawHost, ack, answers, domain, object, seed, signed,
};

/// A rightly signed command whose line is `bytes` long, without its LF.
fn command_of(bytes: usize, seq: u64) -> String {
    let empty = signed(&seed(), seq, "type", r##"{"selector":"#a","text":""}"##, DOMAIN);
    let text = "x".repeat(bytes - empty.len());
    let line = signed(&seed(), seq, "type", &format!(r##"{{"selector":"#a","text":"{text}"}}"##), DOMAIN);
    assert_eq!(line.len(), bytes);
    line
}

#[test]
fn a_command_at_the_limit_is_accepted_and_one_byte_more_is_not_and_the_next_line_works() {
    for (bytes, first) in [(LIMIT - 1, "ok"), (LIMIT, "ok"), (LIMIT + 1, "PIPE_MESSAGE_TOO_LARGE")] {
        let mut bench = Bench::running();
        let line = command_of(bytes, 1);
        let (head, tail) = line.as_bytes().split_at(line.len() / 3);
        bench.feed(head);
        bench.feed(tail);
        bench.feed(b"\n");
        let (seq, next) = if first == "ok" { (1, 2) } else { (0, 1) };
        bench.complete(1, Ok("{}"));
        bench.click(next);
        bench.complete(next, Ok("{}"));
        assert_eq!(bench.answers(), answers(&[(seq, first), (next, "ok")]), "{bytes}");
    }
}

#[test]
fn a_long_line_is_told_once_and_as_soon_as_it_passes_the_limit() {
    let mut bench = Bench::running();
    bench.feed(&vec![b' '; LIMIT]);
    assert_eq!(bench.answers(), []);
    bench.feed(b" ");
    assert_eq!(bench.answers(), answers(&[(0, "PIPE_MESSAGE_TOO_LARGE")]));
    bench.feed(&vec![b' '; 3 * LIMIT]);
    bench.feed(b"{\n");
    assert_eq!(bench.answers(), []);
    bench.click(1);
    assert_eq!(bench.events(), ["execute 1"]);
}

#[test]
fn a_response_at_the_limit_is_sent_and_one_byte_more_becomes_result_too_large() {
    let frame = r#"{"type":"response","seq":1,"success":true,"data":{"text":""},"timing":{"queue_ms":0,"exec_ms":0}}"#;
    for (bytes, code) in [(LIMIT - 1, "ok"), (LIMIT, "ok"), (LIMIT + 1, "CMD_RESULT_TOO_LARGE")] {
        let mut bench = Bench::running();
        bench.click(1);
        let text = "x".repeat(bytes - frame.len());
        bench.complete(1, Ok(&format!(r#"{{"text":"{text}"}}"#)));
        assert_eq!(bench.answers(), answers(&[(1, code)]), "{bytes}");
        if code == "ok" {
            assert_eq!(bench.written.last().unwrap().len(), bytes);
        }
        bench.click(2);
        assert_eq!(bench.events(), ["execute 1", "execute 2"]);
    }
}

#[test]
fn an_agent_takes_a_line_at_the_limit_and_ends_at_one_byte_more() {
    for (bytes, fits) in [(LIMIT - 1, true), (LIMIT, true), (LIMIT + 1, false)] {
        let mut raw = RawHost::running();
        raw.click();
        let frame = r#"{"type":"response","seq":1,"success":true,"data":{"text":""}}"#;
        let text = "x".repeat(bytes - frame.len());
        raw.line(&frame.replace("\"\"", &format!("\"{text}\"")));
        match &raw.events[..] {
            [AgentEvent::Done { outcome: Ok(Some(_)), .. }] if fits => {
                raw.click();
                raw.respond(2, None);
                assert_eq!(raw.events.len(), 2);
            }
            [AgentEvent::Done { outcome: Err(lost), .. }, AgentEvent::Ended { failure: Some(why) }]
                if !fits =>
            {
                assert_eq!(
                    (lost.code.as_str(), why.code.as_str()),
                    ("PIPE_CLOSED", "PIPE_MESSAGE_TOO_LARGE")
                );
            }
            other => panic!("{bytes}: {other:?}"),
        }
    }
}

#[test]
fn an_agent_does_not_send_a_command_above_the_limit_and_goes_on() {
    let mut raw = RawHost::running();
    let empty = signed(&seed(), 1, "type", r##"{"selector":"#a","text":""}"##, DOMAIN).len();
    let mut request = |length: usize| {
        let params = object(&format!(r##"{{"selector":"#a","text":"{}"}}"##, "x".repeat(length)));
        let outcome = raw.agent.request("type".parse().unwrap(), params, domain(DOMAIN), raw.now);
        raw.drain();
        outcome
    };
    assert_eq!(request(LIMIT + 1 - empty), Err(sgclaw::pipe::AgentError::TooLarge));
    assert!(request(LIMIT - empty).is_ok());
    assert_eq!(raw.seqs(), [1], "the refused request used no seq");
}

#[test]
fn crlf_and_white_space_around_the_object_are_accepted_and_only_lf_is_written() {
    let mut bench = Bench::handshaking(HostSettings::default());
    bench.line(&format!("{}\r", ack("1.0", ACTIONS)));
    bench.line(&format!(" \t\r{} \r\t\r", signed(&seed(), 1, "click", CLICK, DOMAIN)));
    bench.complete(1, Ok("{}"));
    assert_eq!(bench.answers(), answers(&[(1, "ok")]));
    assert!(bench.written.iter().all(|line| !line.contains('\r')));

    let mut raw = RawHost::running();
    raw.click();
    raw.line(" {\"type\":\"response\",\"seq\":1,\"success\":true}\r");
    assert_eq!(raw.events.len(), 1);
}

#[test]
fn a_byte_order_mark_is_invalid_at_the_start_and_in_mid_stream() {
    let mut bench = Bench::handshaking(HostSettings::default());
    bench.line(&format!("\u{feff}{}", ack("1.0", ACTIONS)));
    assert_eq!((bench.state(), bench.answers()), (State::Handshaking, answers(&[(0, "PIPE_INVALID_JSON")])));
    bench.line(&ack("1.0", ACTIONS));
    bench.line(&format!("\u{feff}{}", signed(&seed(), 1, "click", CLICK, DOMAIN)));
    bench.line(&format!(" \u{feff}{}", signed(&seed(), 1, "click", CLICK, DOMAIN)));
    assert_eq!(bench.answers(), answers(&[(0, "PIPE_INVALID_JSON"), (0, "PIPE_INVALID_JSON")]));
    bench.click(1);
    assert_eq!(bench.events(), ["Running", "execute 1"]);
}

#[test]
fn blank_lines_other_values_and_trailing_data_are_invalid_json() {
    let click = signed(&seed(), 1, "click", CLICK, DOMAIN);
    let long = format!("[{click}]");
    let twice = format!("{click}{click}");
    let mut bench = Bench::running();
    for line in ["", " ", "\r", "null", "[]", "1", "\"{}\"", "{} x", &long, &twice] {
        bench.line(line);
        assert_eq!(bench.answers(), answers(&[(0, "PIPE_INVALID_JSON")]), "{line:?}");
    }
    assert_eq!(bench.events(), [""; 0]);
}

#[test]
fn a_character_that_is_split_over_reads_arrives_whole() {
    let params = r##"{"selector":"#a","text":"你好 é 😀 geheim"}"##;
    let line = signed(&seed(), 1, "type", params, DOMAIN) + "\n";
    for at in 1..line.len() {
        let mut bench = Bench::running();
        bench.feed(&line.as_bytes()[..at]);
        bench.feed(&line.as_bytes()[at..]);
        assert_eq!(bench.executing[&1].params(), &object(params), "{at}");
    }
}

#[test]
fn a_partial_line_at_the_end_is_answered_once_and_never_executed() {
    let mut bench = Bench::running();
    bench.feed(signed(&seed(), 1, "click", CLICK, DOMAIN).as_bytes());
    bench.call(|host, now| host.handle_end_of_input(now));
    bench.call(|host, now| host.handle_end_of_input(now));
    assert_eq!(bench.answers(), answers(&[(0, "PIPE_INVALID_JSON")]));
    assert_eq!(bench.events(), ["Stopping", "close stdin"]);

    let mut too_long = Bench::running();
    too_long.feed(&vec![b'x'; LIMIT + 1]);
    too_long.call(|host, now| host.handle_end_of_input(now));
    assert_eq!(too_long.answers(), answers(&[(0, "PIPE_MESSAGE_TOO_LARGE")]));
}

#[test]
fn all_spellings_of_one_command_verify() {
    let line = signed(&seed(), 1, "type", r##"{"delay_ms":1,"selector":"/é","text":"a"}"##, DOMAIN);
    let hmac = line.split("\"hmac\":\"").nth(1).unwrap().split('"').next().unwrap();
    for (seq, params) in [
        ("1", r##"{"delay_ms":1,"selector":"/é","text":"a"}"##),
        ("1.0", r##"{ "text" : "a" , "selector" : "\/\u00e9" , "delay_ms" : 1.0 }"##),
        ("1e0", r##"{"selector":"/\u00E9","text":"\u0061","delay_ms":10e-1}"##),
    ] {
        let mut bench = Bench::running();
        bench.line(&format!(
            r#"{{"security":{{"hmac":"{hmac}","expected_domain":"{DOMAIN}"}},"params":{params},"action":"type","seq":{seq},"type":"command"}}"#
        ));
        assert_eq!(bench.events(), ["execute 1"], "{params}");
    }
}

#[test]
fn the_largest_seq_works_and_the_next_one_is_no_seq() {
    let mut bench = Bench::running();
    bench.click(1);
    let too_large = signed(&seed(), 3, "click", CLICK, DOMAIN).replace(":3,", ":9007199254740992,");
    bench.line(&too_large);
    bench.line(&too_large.replace("740992", "740993"));
    bench.line(&too_large.replace("9007199254740992", "\"2\""));
    assert_eq!(
        bench.answers(),
        answers(&[(0, "PIPE_INVALID_JSON"), (0, "PIPE_INVALID_JSON"), (0, "PIPE_SCHEMA_INVALID")])
    );
    bench.click(9_007_199_254_740_991);
    bench.complete(1, Ok("{}"));
    bench.complete(9_007_199_254_740_991, Ok("{}"));
    assert_eq!(bench.answers(), answers(&[(1, "ok"), (9_007_199_254_740_991, "ok")]));
}

#[test]
fn the_agent_keeps_the_depth_of_a_message_within_64() {
    let nested = |levels: usize| format!("{}{}", "{\"a\":".repeat(levels - 1) + "{", "}".repeat(levels));
    let mut raw = RawHost::running();
    let mut request = |levels: usize| {
        let outcome =
            raw.agent.request("own".parse().unwrap(), object(&nested(levels)), domain(DOMAIN), raw.now);
        raw.drain();
        outcome
    };
    assert_eq!(request(64), Err(sgclaw::pipe::AgentError::TooDeep));
    assert!(request(63).is_ok());

    let mut bench = Bench::running();
    bench.click(1);
    bench.complete(1, Ok(&nested(64)));
    bench.click(2);
    bench.complete(2, Ok(&nested(63)));
    assert_eq!(bench.answers(), answers(&[(1, "CMD_RESULT_TOO_LARGE"), (2, "ok")]));
    // Details lie one level further down than data.
    for (seq, levels, code) in [(3, 63, "CMD_RESULT_TOO_LARGE"), (4, 62, "CMD_EXECUTION_FAILED")] {
        let mut failure = Failure::new(ErrorCode::CmdExecutionFailed, "no");
        failure.details = Some(object(&nested(levels)));
        bench.click(seq);
        bench.complete(seq, Err(failure));
        assert_eq!(bench.answers(), answers(&[(seq, code)]));
    }
}
