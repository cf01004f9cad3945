//! Contract sections 9 and 10: policy, confirmation, breaker.

use sgclaw::pipe::ChildExit;
use sgclaw::{ErrorCode, Failure, HostSettings};

use crate::support::{Bench, CLICK, Change, DOMAIN, ack, answers, domain, policy, seed, signed};

#[test]
fn expected_domain_must_be_allowed_and_be_the_page_s() {
    let mut bench = Bench::running();
    for (seq, (page, host, code)) in [
        (Some(DOMAIN), "sub.erp.example.com", "MAC_DOMAIN_DENIED"),
        (Some(DOMAIN), "localhost", "MAC_DOMAIN_DENIED"),
        (Some("read.example.com"), DOMAIN, "MAC_DOMAIN_MISMATCH"),
        (Some("sub.erp.example.com"), DOMAIN, "MAC_DOMAIN_MISMATCH"),
        (None, DOMAIN, "MAC_DOMAIN_MISMATCH"),
    ]
    .into_iter()
    .enumerate()
    {
        bench.host.set_page(page.map(domain));
        bench.line(&signed(&seed(), seq as u64 + 1, "click", CLICK, host));
        assert_eq!(bench.answers()[0].1, code, "{page:?} {host}");
    }
}

#[test]
fn for_navigate_the_target_s_host_takes_the_page_s_place() {
    let mut bench = Bench::running();
    bench.host.set_page(None);
    for (seq, (url, code)) in [
        ("https://erp.example.com:8443/a?q=geheim", None),
        ("https://ERP.example.com/", None),
        ("https://read.example.com/", Some("MAC_DOMAIN_MISMATCH")),
        ("https://erp.example.com./", Some("MAC_DOMAIN_MISMATCH")),
        ("https://erp.example.com@evil.example/", Some("MAC_DOMAIN_MISMATCH")),
        ("http://erp.example.com/", Some("MAC_URL_DENIED")),
        ("javascript:alert('geheim')", Some("MAC_URL_DENIED")),
        ("data:text/html,geheim", Some("MAC_URL_DENIED")),
        ("file:///geheim", Some("MAC_URL_DENIED")),
        ("about:blank", Some("MAC_URL_DENIED")),
    ]
    .into_iter()
    .enumerate()
    {
        let seq = seq as u64 + 1;
        bench.command(seq, "navigate", &format!(r#"{{"url":"{url}"}}"#));
        match code {
            None => bench.complete(seq, Ok("{}")),
            Some(code) => assert_eq!(bench.answers().last().unwrap().1, code, "{url}"),
        }
    }
    assert_eq!(bench.events(), ["execute 1", "execute 2"]);
}

#[test]
fn an_action_that_must_be_confirmed_waits_for_a_person_who_allows_or_denies_it() {
    let mut bench = Bench::running();
    bench.command(1, "hover", CLICK);
    bench.command(2, "hover", CLICK);
    assert_eq!(bench.events(), ["ask 1 hover erp.example.com", "ask 2 hover erp.example.com"]);
    bench.call(|host, now| host.confirm(2, true, now));
    assert_eq!(bench.events(), ["over 2", "execute 2"]);
    bench.call(|host, now| host.confirm(1, false, now));
    assert_eq!(bench.events(), ["over 1"]);
    bench.call(|host, now| host.confirm(1, true, now));
    bench.call(|host, now| host.confirm(2, false, now));
    bench.complete(2, Ok("{}"));
    assert_eq!(bench.answers(), answers(&[(1, "MAC_CONFIRMATION_DENIED"), (2, "ok")]));
    assert_eq!(bench.stages(1)[2..], ["authorized", "confirming", "responded MAC_CONFIRMATION_DENIED"]);
}

#[test]
fn a_question_that_nobody_answers_is_over_after_60_s() {
    let mut bench = Bench::running();
    bench.command(1, "hover", CLICK);
    bench.wait(59_999);
    assert_eq!(bench.answers(), []);
    bench.wait(1);
    assert_eq!(bench.answers(), answers(&[(1, "MAC_CONFIRMATION_TIMEOUT")]));
    bench.call(|host, now| host.confirm(1, true, now));
    assert_eq!(bench.events(), ["ask 1 hover erp.example.com", "over 1"]);
}

#[test]
fn a_confirmed_command_has_its_whole_deadline_and_is_checked_again() {
    let mut bench = Bench::running();
    bench.command(1, "hover", CLICK);
    bench.command(2, "hover", CLICK);
    bench.wait(59_000);
    bench.call(|host, now| host.confirm(1, true, now));
    bench.wait(500);
    bench.host.set_page(None);
    bench.call(|host, now| host.confirm(2, true, now));
    bench.wait(30_499);
    bench.complete(1, Ok("{}"));
    assert_eq!(bench.answers(), answers(&[(1, "ok"), (2, "MAC_DOMAIN_MISMATCH")]));
}

#[test]
fn a_question_is_taken_down_when_the_session_ends() {
    let end: [(&str, Change); 3] = [
        ("crash", |host, now| host.handle_child_exit(ChildExit::Signal(9), now)),
        ("stop", |host, now| host.stop(now)),
        ("end of stdout", |host, now| host.handle_end_of_input(now)),
    ];
    for (name, end) in end {
        let mut bench = Bench::running();
        bench.command(1, "hover", CLICK);
        bench.call(end);
        let events = bench.events();
        assert_eq!(events.iter().filter(|event| *event == "over 1").count(), 1, "{name}: {events:?}");
        assert!(!events.contains(&"cancel 1".to_owned()), "{name}: the executor never had it");
        assert_eq!(bench.host.in_flight(), 0, "{name}");
    }
}

#[test]
fn the_11th_failure_in_a_row_switches_an_action_off_until_it_is_reset() {
    let mut bench = Bench::running();
    for seq in 1..=11 {
        bench.click(seq);
        assert_eq!(bench.events(), [format!("execute {seq}")]);
        bench.complete(seq, Err(Failure::new(ErrorCode::CmdExecutionFailed, "no")));
    }
    assert_eq!(bench.events(), ["breaker click"]);
    bench.answers();
    bench.click(12);
    bench.command(13, "getText", CLICK);
    bench.complete(13, Ok("{}"));
    assert_eq!(bench.answers(), answers(&[(12, "INTERNAL_CIRCUIT_OPEN"), (13, "ok")]), "one action only");
    bench.host.reset_breaker("click");
    for seq in 14..=24 {
        bench.click(seq);
        bench.complete(seq, Err(Failure::new(ErrorCode::CmdExecutionFailed, "no")));
    }
    assert_eq!(bench.events().last().unwrap(), "breaker click", "it counts anew from 0");
    bench.click(25);
    assert_eq!(bench.answers().last().unwrap().1, "INTERNAL_CIRCUIT_OPEN");
}

#[test]
fn a_success_sets_the_count_of_failures_to_zero() {
    let mut bench = Bench::running();
    for seq in 1..=33 {
        bench.click(seq);
        let outcome = Err(Failure::new(ErrorCode::CmdSelectorTimeout, "no"));
        bench.complete(seq, if seq % 11 == 0 { Ok("{}") } else { outcome });
    }
    assert_eq!(bench.answers().iter().filter(|(_, code)| code == "ok").count(), 3);
}

#[test]
fn failures_from_step_7_on_count_and_rejections_overloads_and_cancellations_do_not() {
    let refused = |bench: &mut Bench, seq| bench.command(seq, "click", "{}");
    let denied = |bench: &mut Bench, seq| {
        bench.host.set_page(None);
        bench.click(seq);
        bench.host.set_page(Some(domain(DOMAIN)));
    };
    let internal = |bench: &mut Bench, seq| {
        bench.click(seq);
        bench.complete(seq, Err(Failure::new(ErrorCode::InternalExecutorGone, "gone")));
    };
    let timed_out = |bench: &mut Bench, seq| {
        bench.click(seq);
        bench.wait(31_000);
    };
    let cancelled = |bench: &mut Bench, seq| {
        bench.click(seq);
        bench.call(|host, now| host.cancel(seq, now));
    };
    let overloaded = |bench: &mut Bench, seq| {
        // The one place is taken by another action.
        bench.command(2 * seq, "getText", CLICK);
        bench.click(2 * seq + 1);
        bench.complete(2 * seq, Ok("{}"));
    };
    let rejected = |bench: &mut Bench, seq| {
        let line = signed(&seed(), seq, "click", CLICK, DOMAIN);
        bench.line(&line.replace("#a", "#b"));
        bench.command(seq, "getText", CLICK);
        bench.complete(seq, Ok("{}"));
    };
    type Fail = fn(&mut Bench, u64);
    let fails: [(&str, Fail, bool); 7] = [
        ("refused", refused, true),
        ("denied", denied, true),
        ("internal", internal, true),
        ("timed out", timed_out, true),
        ("cancelled", cancelled, false),
        ("overloaded", overloaded, false),
        ("rejected", rejected, false),
    ];
    for (name, fail, counts) in fails {
        let mut bench = Bench::running_with(HostSettings { capacity: 1, ..HostSettings::default() });
        bench.command(1, "getText", CLICK);
        bench.complete(1, Ok("{}"));
        for seq in 2..=12 {
            fail(&mut bench, seq);
        }
        assert_eq!(bench.events().contains(&"breaker click".to_owned()), counts, "{name}");
    }
}

#[test]
fn a_new_policy_is_in_force_for_the_next_command() {
    let mut bench = Bench::running();
    bench.host.set_policy(policy(
        r#"{"version":1,"domains":[{"pattern":"*.example.com","actions":["*"]}],"confirm":["*"]}"#,
    ));
    bench.click(1);
    assert_eq!(bench.events(), ["ask 1 click erp.example.com"]);
    bench.host.set_policy(policy(r#"{"version":1,"domains":[]}"#));
    bench.click(2);
    bench.call(|host, now| host.confirm(1, true, now));
    assert_eq!(bench.answers(), answers(&[(2, "MAC_DOMAIN_DENIED"), (1, "MAC_DOMAIN_DENIED")]));
}

#[test]
fn a_page_around_a_frame_must_be_allowed_too() {
    let frame = r##"{"selector":"#a","frame":["#f"]}"##;
    let mut bench = Bench::running();
    bench.host.set_page(Some(domain("read.example.com")));
    bench.command(1, "click", frame);
    bench.complete(1, Ok("{}"));
    bench.host.set_page(Some(domain("other.example.com")));
    bench.command(2, "click", frame);
    bench.host.set_page(None);
    bench.command(3, "click", frame);
    assert_eq!(bench.answers(), answers(&[(1, "ok"), (2, "MAC_DOMAIN_DENIED"), (3, "MAC_DOMAIN_DENIED")]));
}

#[test]
fn an_action_of_the_host_s_own_is_negotiated_checked_executed_and_broken_like_any_other() {
    let mut bench = Bench::handshaking(HostSettings::default());
    bench.line(&ack("1.0", &["echo"]));
    bench.command(1, "echo", r#"{"text":"geheim"}"#);
    bench.complete(1, Ok(r#"{"text":"geheim"}"#));
    for seq in 2..=12 {
        bench.command(seq, "echo", r#"{"text":1}"#);
    }
    bench.command(13, "echo", "{}");
    bench.click(14);
    let codes: Vec<_> = bench.answers().into_iter().map(|(_, code)| code).collect();
    assert_eq!(codes[0], "ok");
    assert!(codes[1..12].iter().all(|code| code == "CMD_PARAMS_INVALID"), "{codes:?}");
    assert_eq!(codes[12..], ["INTERNAL_CIRCUIT_OPEN", "MAC_ACTION_DENIED"]);
    assert_eq!(bench.events(), ["Running", "execute 1", "breaker echo"]);
}
