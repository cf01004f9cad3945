//! Contract section 6, steps 1 to 6, and what a rejection tells.

use sgclaw::wire::HmacSeed;
use sgclaw::{HostSettings, State};

use crate::support::{ACTIONS, Bench, CLICK, DOMAIN, LIMIT, RawHost, ack, answers, object, seed, signed};

/// The line with another HMAC.
fn forged(line: &str) -> String {
    let (head, tail) = line.split_once("\"hmac\":\"").unwrap();
    let digit = if tail.starts_with('0') { '1' } else { '0' };
    format!("{head}\"hmac\":\"{digit}{}", &tail[1..])
}

fn code_of(bench: &mut Bench, line: &str) -> String {
    bench.line(line);
    let answers = bench.answers();
    assert_eq!(answers.len(), 1, "{line}");
    answers[0].1.clone()
}

#[test]
fn of_two_violations_before_step_6_the_earlier_step_decides() {
    let click = signed(&seed(), 5, "click", CLICK, DOMAIN);
    let with = |from: &str, to: &str| click.replace(from, to);
    let no_hmac = click.split(",\"hmac\"").next().unwrap().to_owned() + "}}";

    let mut early = Bench::handshaking(HostSettings::default());
    for (line, code) in [
        (format!("{{\"a\":{}", "x".repeat(LIMIT)), "PIPE_MESSAGE_TOO_LARGE"),
        (with("\"type\"", "\"seq\":5,\"note\":1,\"type\""), "PIPE_INVALID_JSON"),
        (with("\"type\":\"command\"", "\"type\":\"command\",\"note\":1"), "PIPE_SCHEMA_INVALID"),
        (with("\"seq\":5", "\"seq\":0"), "PIPE_SCHEMA_INVALID"),
        (no_hmac.clone(), "PIPE_HMAC_INVALID"),
        (with(DOMAIN, "ERP.example.com"), "MAC_EXPECTED_DOMAIN_INVALID"),
        (forged(&click), "PIPE_UNEXPECTED_MESSAGE"),
    ] {
        assert_eq!(code_of(&mut early, &line), code, "{line:.200}");
    }

    let mut running = Bench::running();
    running.click(1);
    running.click(6);
    for (line, code) in [
        // seq 5 is out of order by now.
        (no_hmac.replace("\"action\":\"click\"", "\"action\":\"-\""), "PIPE_SCHEMA_INVALID"),
        (no_hmac.replace(DOMAIN, "bücher.example"), "PIPE_HMAC_INVALID"),
        (forged(&with(DOMAIN, "a_b")), "MAC_EXPECTED_DOMAIN_INVALID"),
        (forged(&click), "PIPE_HMAC_INVALID"),
        (forged(&signed(&seed(), 6, "click", CLICK, DOMAIN)), "PIPE_HMAC_INVALID"),
        (signed(&seed(), 6, "unheard_of", "{}", DOMAIN), "PIPE_SEQ_DUPLICATE"),
        (signed(&seed(), 5, "unheard_of", "{}", DOMAIN), "PIPE_SEQ_OUT_OF_ORDER"),
    ] {
        assert_eq!(code_of(&mut running, &line), code, "{line}");
    }
}

#[test]
fn an_international_name_is_refused_with_a_hint_at_the_a_label() {
    let mut bench = Bench::running();
    let line = signed(&seed(), 1, "click", CLICK, DOMAIN).replace(DOMAIN, "bücher.example");
    assert_eq!(code_of(&mut bench, &line), "MAC_EXPECTED_DOMAIN_INVALID");
    assert!(bench.last()["error"]["message"].as_str().unwrap().contains("A-label"));
}

#[test]
fn of_two_violations_from_step_7_on_the_earlier_step_decides() {
    let full = HostSettings { capacity: 1, ..HostSettings::default() };
    let mut bench = Bench::running_with(full);
    let other = "other.example.com";
    let url = |url: &str| format!(r#"{{"url":"{url}"}}"#);
    let mut seq = 0;
    let mut code = |bench: &mut Bench, action: &str, params: &str, host: &str| {
        seq += 1;
        code_of(bench, &signed(&seed(), seq, action, params, host))
    };
    // 7 before 8 and 9: neither the params nor the domain are looked at.
    assert_eq!(code(&mut bench, "unheard_of", "{}", other), "CMD_ACTION_UNKNOWN");
    assert_eq!(code(&mut bench, "scroll", "{}", other), "MAC_ACTION_DENIED");
    // 8 before 9.
    assert_eq!(code(&mut bench, "click", "{}", other), "CMD_PARAMS_INVALID");
    assert_eq!(code(&mut bench, "navigate", &url("not a url"), other), "CMD_PARAMS_INVALID");
    assert_eq!(code(&mut bench, "navigate", &url("/relative"), other), "CMD_PARAMS_INVALID");
    // Within 9: scheme, domain, action, page.
    assert_eq!(code(&mut bench, "navigate", &url("http://a.example/"), other), "MAC_URL_DENIED");
    assert_eq!(code(&mut bench, "click", CLICK, other), "MAC_DOMAIN_DENIED");
    assert_eq!(code(&mut bench, "click", CLICK, "read.example.com"), "MAC_ACTION_DENIED");
    assert_eq!(code(&mut bench, "getText", CLICK, "read.example.com"), "MAC_DOMAIN_MISMATCH");
    // 9 before 10: click has failed three times; eight more open its breaker.
    for _ in 0..8 {
        assert_eq!(code(&mut bench, "click", "{}", DOMAIN), "CMD_PARAMS_INVALID");
    }
    bench.host.set_page(None);
    assert_eq!(code(&mut bench, "click", CLICK, DOMAIN), "MAC_DOMAIN_MISMATCH");
    bench.host.set_page(Some(crate::support::domain(DOMAIN)));
    // 10 before 11, 11 before 12.
    bench.command(100, "type", r##"{"selector":"#a","text":""}"##);
    assert_eq!(bench.host.in_flight(), 1);
    assert_eq!(code_of(&mut bench, &signed(&seed(), 101, "click", CLICK, DOMAIN)), "INTERNAL_CIRCUIT_OPEN");
    assert_eq!(code_of(&mut bench, &signed(&seed(), 102, "hover", CLICK, DOMAIN)), "INTERNAL_OVERLOADED");
    assert_eq!(bench.events(), ["breaker click", "execute 100"]);
}

#[test]
fn a_confirmation_that_is_denied_is_answered_though_the_executor_is_busy() {
    let mut bench = Bench::running();
    bench.click(1);
    bench.command(2, "hover", CLICK);
    bench.call(|host, now| host.confirm(2, false, now));
    assert_eq!(bench.answers(), answers(&[(2, "MAC_CONFIRMATION_DENIED")]));
}

#[test]
fn violations_of_a_schema_are_told_without_values_and_at_most_16_of_them() {
    let mut bench = Bench::running();
    bench.command(1, "click", r#"{"selector":1,"button":"geheim"}"#);
    let error = bench.last()["error"].clone();
    assert_eq!(error["code"], "CMD_PARAMS_INVALID");
    let errors = error["details"]["errors"].as_array().unwrap();
    let mut paths: Vec<_> = errors.iter().map(|error| error["path"].as_str().unwrap()).collect();
    paths.sort_unstable();
    assert_eq!(paths, ["/button", "/selector"]);
    for error in errors {
        assert_eq!(error.as_object().unwrap().len(), 3);
        assert!(error["keyword"].is_string() && error["message"].is_string());
    }
    let many: Vec<_> = (0..40).map(|n| format!("{n}")).collect();
    bench.command(2, "click", &format!(r##"{{"selector":"#a","modifiers":[{}]}}"##, many.join(",")));
    assert_eq!(bench.last()["error"]["details"]["errors"].as_array().unwrap().len(), 16);
    let long = "n".repeat(65);
    bench.command(3, "click", &format!(r##"{{"selector":"#a","{long}":1}}"##));
    assert!(!bench.written.last().unwrap().contains(&long));
    assert!(bench.written.last().unwrap().contains(&long[..64]));
}

#[test]
fn a_rejected_line_changes_nothing_and_its_seq_can_still_be_used() {
    let mut bench = Bench::running();
    bench.click(1);
    bench.events();
    let click = signed(&seed(), 2, "click", CLICK, DOMAIN);
    for (line, code) in [
        (forged(&click), "PIPE_HMAC_INVALID"),
        (click.replace("\"type\"", "\"note\":1,\"type\""), "PIPE_SCHEMA_INVALID"),
        (click.replace(DOMAIN, "EVIL"), "MAC_EXPECTED_DOMAIN_INVALID"),
        (click.replace("command", "init"), "PIPE_SCHEMA_INVALID"),
    ] {
        bench.line(&line);
        assert_eq!(bench.answers(), answers(&[(2, code)]), "{line}");
    }
    assert_eq!((bench.events(), bench.host.in_flight(), bench.state()), (vec![], 1, State::Running));
    bench.click(2);
    bench.complete(1, Ok("{}"));
    bench.complete(2, Ok("{}"));
    assert_eq!(bench.answers(), answers(&[(1, "ok"), (2, "ok")]));
}

#[test]
fn a_rejection_before_step_6_carries_seq_0_where_the_seq_is_used_or_cannot_be_told() {
    let mut bench = Bench::running();
    bench.click(1);
    bench.click(4);
    for (line, seq) in [
        // In flight, skipped, and not used yet.
        (forged(&signed(&seed(), 1, "click", CLICK, DOMAIN)), 0),
        (forged(&signed(&seed(), 4, "click", CLICK, DOMAIN)), 0),
        (forged(&signed(&seed(), 3, "click", CLICK, DOMAIN)), 3),
        (forged(&signed(&seed(), 5, "click", CLICK, DOMAIN)), 5),
        (r#"{"type":"command","seq":"5"}"#.into(), 0),
        (r#"{"type":"command","seq":5.5}"#.into(), 0),
        (r#"{"type":"nonsense","seq":5}"#.into(), 5),
        (r#"{"seq":5"#.into(), 0),
    ] {
        bench.line(&line);
        assert_eq!(bench.answers()[0].0, seq, "{line}");
    }
    // Answered commands stay used.
    bench.complete(1, Ok("{}"));
    bench.answers();
    bench.line(r#"{"type":"nonsense","seq":1}"#);
    assert_eq!(bench.answers(), answers(&[(0, "PIPE_SCHEMA_INVALID")]));
}

#[test]
fn a_duplicate_is_refused_by_its_seq_and_the_original_is_still_answered_exactly_once() {
    let mut bench = Bench::running();
    let line = signed(&seed(), 1, "click", CLICK, DOMAIN);
    for _ in 0..3 {
        bench.line(&line);
    }
    assert_eq!(bench.answers(), answers(&[(1, "PIPE_SEQ_DUPLICATE"), (1, "PIPE_SEQ_DUPLICATE")]));
    bench.complete(1, Ok("{}"));
    bench.line(&line);
    assert_eq!(bench.answers(), answers(&[(1, "ok"), (1, "PIPE_SEQ_DUPLICATE")]));
    assert_eq!(bench.events(), ["execute 1"]);
    // Another command under the same seq is no better.
    bench.command(1, "getText", CLICK);
    assert_eq!(bench.answers(), answers(&[(1, "PIPE_SEQ_DUPLICATE")]));
}

#[test]
fn an_agent_never_takes_a_duplicate_s_answer_for_the_original_s() {
    let mut raw = RawHost::running();
    raw.click();
    raw.respond(1, Some("PIPE_SEQ_DUPLICATE"));
    assert!(matches!(raw.events()[..], [sgclaw::AgentEvent::Log(_)]));
    assert_eq!(raw.agent.in_flight(), 1);
    raw.respond(1, None);
    assert!(matches!(raw.events()[..], [sgclaw::AgentEvent::Done { outcome: Ok(None), seq: 1, .. }]));
}

#[test]
fn seqs_rise_strictly_from_1_and_a_gap_is_recorded() {
    let mut bench = Bench::running();
    bench.click(2);
    bench.click(1);
    bench.click(5);
    bench.click(3);
    assert_eq!(bench.answers(), answers(&[(2, "PIPE_SEQ_OUT_OF_ORDER"), (3, "PIPE_SEQ_OUT_OF_ORDER")]));
    let gaps: Vec<_> = bench
        .trace
        .iter()
        .filter_map(|record| Some((record["seq"].as_u64()?, record["seq_gap"].as_u64()?)))
        .collect();
    assert_eq!(gaps, [(5, 3)]);

    let mut contiguous =
        Bench::running_with(HostSettings { contiguous_seq: true, ..HostSettings::default() });
    contiguous.click(1);
    contiguous.click(3);
    contiguous.click(2);
    assert_eq!(contiguous.answers(), answers(&[(3, "PIPE_SEQ_OUT_OF_ORDER")]));
    assert_eq!(contiguous.host.in_flight(), 2);
}

#[test]
fn a_command_that_was_recorded_in_another_session_is_refused() {
    let other = HmacSeed::from_bytes(&[7; 32]).unwrap();
    let mut bench = Bench::handshaking(HostSettings::default());
    bench.line(&ack("1.0", ACTIONS));
    bench.line(&signed(&other, 1, "click", CLICK, DOMAIN));
    assert_eq!(bench.answers(), answers(&[(1, "PIPE_HMAC_INVALID")]));
    assert_eq!(bench.host.in_flight(), 0);
}

#[test]
fn every_signed_field_is_covered_by_the_hmac() {
    let line = signed(&seed(), 1, "click", CLICK, DOMAIN);
    let mut bench = Bench::running();
    for (from, to) in [
        ("\"seq\":1", "\"seq\":2"),
        ("\"action\":\"click\"", "\"action\":\"hover\""),
        ("#a", "#b"),
        (DOMAIN, "erp.example.co"),
    ] {
        bench.line(&line.replace(from, to));
        assert_eq!(bench.answers()[0].1, "PIPE_HMAC_INVALID", "{to}");
    }
    // Upper-case digits of the right tag are the wrong shape.
    let (head, tail) = line.split_once("\"hmac\":\"").unwrap();
    bench.line(&format!("{head}\"hmac\":\"{}", tail.to_uppercase()));
    assert_eq!(bench.answers()[0].1, "PIPE_HMAC_INVALID");
    bench.line(&line);
    assert_eq!(bench.executing[&1].params(), &object(CLICK));
}
