//! Contract section 11: a seq can be followed, and no secret is ever shown.

use sgclaw::wire::{Envelope, Message};
use sgclaw::{ErrorCode, Failure, HostSettings, WhatwgUrlParser};

use crate::support::{
    ACTIONS, Bench, CLICK, DOMAIN, RawHost, SECRET, SEED, ack, answers, assert_harmless, object, seed, signed,
};

#[test]
fn a_seq_is_followed_from_the_line_to_the_response() {
    let mut bench = Bench::running();
    bench.click(1);
    bench.command(2, "hover", CLICK);
    bench.wait(5);
    bench.complete(1, Ok("{}"));
    bench.call(|host, now| host.confirm(2, true, now));
    bench.wait(31_000);
    bench.line(&signed(&seed(), 3, "click", "{}", DOMAIN));
    bench.line(&signed(&seed(), 3, "click", "{}", DOMAIN));
    let start = ["received", "verified", "authorized"];
    assert_eq!(bench.stages(1), [&start[..], &["dispatched", "completed", "responded"]].concat());
    let late = ["confirming", "dispatched", "cancelled CMD_TIMEOUT", "responded CMD_TIMEOUT"];
    assert_eq!(bench.stages(2), [&start[..], &late].concat());
    let refused = ["received", "verified", "responded CMD_PARAMS_INVALID"];
    assert_eq!(bench.stages(3), [&refused[..], &["received", "rejected PIPE_SEQ_DUPLICATE"]].concat());

    let first: Vec<_> = bench.trace.iter().filter(|record| record["seq"] == 1).collect();
    assert_eq!(first[0]["bytes"], signed(&seed(), 1, "click", CLICK, DOMAIN).len());
    assert_eq!(first[3]["queue_us"], 0);
    assert_eq!(first[4]["exec_us"], 5_000);
    assert_eq!(first[5]["bytes"], bench.written[1].len() + 1);
    assert!(first[1..].iter().all(|record| record["action"] == "click" && record["session"] == "test"));
}

#[test]
fn states_crashes_breakers_and_reasons_are_in_the_trace() {
    let mut bench = Bench::running();
    for seq in 1..=11 {
        bench.click(seq);
        bench.complete(seq, Err(Failure::new(ErrorCode::CmdSelectorTimeout, "no").with_reason("covered")));
    }
    assert_eq!(
        bench.stages(11)[4..],
        ["completed CMD_SELECTOR_TIMEOUT", "responded CMD_SELECTOR_TIMEOUT", "breaker_opened"]
    );
    let reasons = bench.trace.iter().filter(|record| record["reason"] == "covered").count();
    assert_eq!(reasons, 22);
    bench.command(12, "hover", CLICK);
    bench.command(13, "getText", CLICK);
    bench.command(14, "getText", CLICK);
    bench.call(|host, now| host.handle_output_closed(now));
    for seq in 12..=14 {
        assert_eq!(bench.stages(seq).last().unwrap(), "cancelled PIPE_CLOSED");
    }
    let states: Vec<_> = bench.trace.iter().filter_map(|record| record["state"].as_str()).collect();
    assert_eq!(states, ["Handshaking", "Running", "Crashed"]);
    assert_eq!(bench.trace.last().unwrap()["code"], "PIPE_CLOSED");
}

#[test]
fn an_action_that_the_host_did_not_register_and_a_reason_of_the_executor_s_own_are_not_in_the_trace() {
    let mut bench = Bench::running();
    bench.command(1, SECRET, "{}");
    bench.click(2);
    bench.complete(2, Err(Failure::new(ErrorCode::CmdExecutionFailed, "no").with_reason("own_reason")));
    let shown: String = bench.trace.iter().map(ToString::to_string).collect();
    assert_harmless(&shown);
    assert!(!shown.contains("own_reason"));
    assert_eq!(bench.last()["error"]["details"]["reason"], "own_reason", "the agent is told");
}

/// Lines that hold secrets wherever a peer can put them. The bench searches all output for them.
#[test]
fn secrets_in_any_place_of_any_line_are_never_repeated() {
    let typed = format!(r##"{{"selector":"#{SECRET}","text":"{SECRET}"}}"##);
    let command = signed(&seed(), 1, "type", &typed, DOMAIN);
    let mut lines: Vec<String> = vec![
        SECRET.into(),
        format!("{{\"{SECRET}\":1,\"{SECRET}\":2}}"),
        format!("{{\"type\":\"{SECRET}\",\"hmac_seed\":\"{SEED}\"}}"),
        format!("{{\"type\":\"init\",\"version\":\"1.0\",\"hmac_seed\":\"{SEED}\"}}"),
        format!("{{\"type\":\"response\",\"seq\":1,\"success\":true,\"data\":{{\"text\":\"{SECRET}\"}}}}"),
        ack("1.0", &[SECRET, "click"]),
        ack("1.0", &[SECRET, SECRET]),
        ack("1.0", ACTIONS).replace("0b7e2a54", SECRET),
        command.replace("\"type\":\"command\"", &format!("\"type\":\"command\",\"{SECRET}\":\"{SEED}\"")),
        command.replace("erp.example.com", SECRET),
        command.replace("erp.example.com", "geheim geheim"),
        command.replace("\"action\":\"type\"", "\"action\":\"geheim geheim\""),
        command.replace("\"seq\":1", "\"seq\":\"geheim\""),
    ];
    // Cut at every tenth byte, and with a broken byte there.
    for at in (0..command.len()).step_by(10) {
        lines.push(command[..at].into());
        lines.push(format!("{}\u{1}{}", &command[..at], &command[at..]));
    }
    let unlimited = || HostSettings { max_rejections: u32::MAX, ..HostSettings::default() };
    for mut bench in [Bench::handshaking(unlimited()), Bench::running_with(unlimited())] {
        for line in &lines {
            bench.line(line);
        }
        assert!(bench.answers().len() >= lines.len() - 1);
        assert!(bench.log.iter().all(|line| !line.contains(SECRET)), "{:?}", bench.log);
    }
    for line in &lines {
        let mut raw = RawHost::running();
        raw.line(line);
        assert!(!raw.events.is_empty() || line.contains("response"), "{line}");
    }
}

#[test]
fn typed_text_queries_page_text_and_hmacs_are_neither_logged_nor_traced() {
    let mut bench = Bench::running();
    let typed = format!(r##"{{"selector":"#a","text":"{SECRET}"}}"##);
    bench.command(1, "type", &typed);
    bench.complete(1, Ok("{}"));
    bench.command(2, "navigate", r#"{"url":"https://erp.example.com/?q=geheim#geheim"}"#);
    bench.complete(2, Ok("{}"));
    bench.command(3, "navigate", r#"{"url":"geheim:geheim"}"#);
    bench.command(4, "navigate", r#"{"url":"//geheim"}"#);
    bench.command(5, "getText", CLICK);
    bench.complete(5, Ok(r#"{"text":"geheim","truncated":false}"#));
    bench.command(6, "type", r##"{"selector":"#a","text":["geheim"]}"##);
    bench.command(7, "type", r##"{"selector":"#a","text":"a","delay_ms":"geheim"}"##);
    assert_eq!(
        bench.answers(),
        answers(&[
            (1, "ok"),
            (2, "ok"),
            (3, "MAC_URL_DENIED"),
            (4, "CMD_PARAMS_INVALID"),
            (5, "ok"),
            (6, "CMD_PARAMS_INVALID"),
            (7, "CMD_PARAMS_INVALID")
        ])
    );
    assert!(!bench.trace.is_empty() && !bench.events.is_empty());
    // What a host hands out can be printed, too.
    let authorized = format!("{:?}", bench.executing);
    assert_harmless(&authorized);
}

#[test]
fn what_is_printed_of_a_command_shows_no_hmac_in_any_notation() {
    let line = signed(&seed(), 1, "type", r##"{"selector":"#a","text":"geheim"}"##, DOMAIN);
    let hmac = line.split("\"hmac\":\"").nth(1).unwrap()[..64].to_owned();
    let mut bench = Bench::running();
    bench.line(&line);
    let Ok(Message::Command(command)) = Envelope::read(line.as_bytes()).unwrap().message(&WhatwgUrlParser)
    else {
        panic!()
    };
    let numbers = format!("{:?}", &hmac.as_bytes()[..8]);
    for shown in
        [format!("{:?}", bench.executing), format!("{command:?}"), format!("{command:#?}").replace("\n", "")]
    {
        assert_harmless(&shown);
        assert!(!shown.contains(&hmac) && !shown.contains(numbers.trim_matches(['[', ']'])), "{shown}");
        let spaced: String = shown.chars().filter(|character| !character.is_whitespace()).collect();
        let numbers: String = numbers.chars().filter(|character| !character.is_whitespace()).collect();
        assert!(!spaced.contains(numbers.trim_matches(['[', ']'])), "{shown}");
    }
    let traced: String = bench.trace.iter().map(ToString::to_string).collect();
    assert!(!traced.contains(&hmac[..16]));
}

#[test]
fn seeds_keys_and_messages_can_be_printed() {
    let secrets = format!("{:?} {:?}", seed(), sgclaw::pipe::SessionKey::derive(&seed(), Default::default()));
    assert_harmless(&secrets);
    for line in [
        format!("{{\"type\":\"init\",\"version\":\"1.0\",\"hmac_seed\":\"{SEED}\"}}"),
        format!("{{\"type\":\"response\",\"seq\":1,\"success\":true,\"data\":{{\"text\":\"{SECRET}\"}}}}"),
    ] {
        let envelope = Envelope::read(line.as_bytes()).unwrap();
        let message = envelope.message(&WhatwgUrlParser).unwrap();
        assert_harmless(&format!("{envelope:?} {message:?}"));
    }
    assert_harmless(&format!("{:?}", object(r#"{"text":"geheim"}"#)));
}
