//! Contract sections 6 (steps 11 and 13) and 7: exactly one response, deadlines, capacity.

use sgclaw::{ErrorCode, Failure, HostSettings};

use crate::support::{Bench, CLICK, DOMAIN, Pair, answers, policy, seed, signed};

fn failed(code: ErrorCode) -> Result<&'static str, Failure> {
    Err(Failure::new(code, "the executor's word"))
}

#[test]
fn a_result_becomes_the_response_with_its_times() {
    let mut bench = Bench::running();
    bench.click(1);
    bench.click(2);
    bench.wait(7);
    bench.complete(1, Ok(r#"{"text":"geheim","truncated":false}"#));
    bench.wait(5);
    bench.complete(
        2,
        Err(Failure::new(ErrorCode::CmdSelectorTimeout, "covered by another element").with_reason("covered")),
    );
    let written: Vec<_> = bench.written[1..].iter().map(String::as_str).collect();
    assert_eq!(
        written,
        [
            r#"{"type":"response","seq":1,"success":true,"data":{"text":"geheim","truncated":false},"timing":{"queue_ms":0,"exec_ms":7}}"#,
            r#"{"type":"response","seq":2,"success":false,"error":{"code":"CMD_SELECTOR_TIMEOUT","message":"covered by another element","details":{"reason":"covered"}},"timing":{"queue_ms":7,"exec_ms":5}}"#,
        ]
    );
}

#[test]
fn one_command_runs_at_a_time_in_the_order_in_which_they_came() {
    let mut bench = Bench::running();
    bench.feed([1, 2, 3].map(|seq| signed(&seed(), seq, "click", CLICK, DOMAIN) + "\n").concat().as_bytes());
    assert_eq!(bench.events(), ["execute 1"]);
    bench.complete(1, Ok("{}"));
    assert_eq!(bench.events(), ["execute 2"]);
    bench.complete(2, failed(ErrorCode::CmdExecutionFailed));
    assert_eq!(bench.events(), ["execute 3"]);
}

#[test]
fn where_the_host_says_so_commands_run_side_by_side_and_answers_leave_as_they_come() {
    let mut bench = Bench::running_with(HostSettings { concurrency: 2, ..HostSettings::default() });
    for seq in 1..=3 {
        bench.click(seq);
    }
    assert_eq!(bench.events(), ["execute 1", "execute 2"]);
    bench.complete(2, Ok("{}"));
    assert_eq!(bench.events(), ["execute 3"]);
    bench.complete(3, Ok("{}"));
    bench.complete(1, Ok("{}"));
    assert_eq!(bench.answers(), answers(&[(2, "ok"), (3, "ok"), (1, "ok")]));
}

#[test]
fn a_second_completion_and_one_for_a_seq_that_is_not_in_flight_change_nothing_and_are_recorded() {
    let mut bench = Bench::running();
    bench.click(1);
    bench.click(2);
    bench.complete(1, Ok("{}"));
    let (lines, events) = (bench.written.len(), bench.events.len());
    bench.complete(1, Ok("{}"));
    bench.complete(1, failed(ErrorCode::CmdTimeout));
    bench.complete(99, Ok("{}"));
    assert_eq!((bench.written.len(), bench.events.len()), (lines, events));
    assert_eq!(bench.stages(1)[5..], ["responded", "dropped INTERNAL_UNKNOWN", "dropped INTERNAL_UNKNOWN"]);
    assert_eq!(bench.stages(99), ["dropped INTERNAL_UNKNOWN"]);
}

#[test]
fn a_command_that_still_waits_cannot_be_completed() {
    let mut bench = Bench::running();
    bench.click(1);
    bench.click(2);
    bench.complete(2, Ok("{}"));
    assert_eq!(bench.answers(), []);
    bench.complete(1, Ok("{}"));
    bench.complete(2, Ok("{}"));
    assert_eq!(bench.answers(), answers(&[(1, "ok"), (2, "ok")]));
}

#[test]
fn the_deadline_is_timeout_ms_plus_1000_ms_and_30_s_where_none_is_stated() {
    for (params, deadline) in [
        (r##"{"selector":"#a"}"##, 31_000),
        (r##"{"selector":"#a","timeout_ms":0}"##, 1_000),
        (r##"{"selector":"#a","timeout_ms":250.0}"##, 1_250),
        (r##"{"selector":"#a","timeout_ms":60000}"##, 61_000),
    ] {
        let mut bench = Bench::running();
        bench.command(1, "click", params);
        bench.wait(deadline - 1);
        assert_eq!(bench.events(), ["execute 1"], "{params}");
        bench.wait(1);
        assert_eq!(bench.events(), ["cancel 1"], "{params}");
        assert_eq!(bench.answers(), answers(&[(1, "CMD_TIMEOUT")]));
    }
}

#[test]
fn a_completion_after_the_deadline_is_dropped_and_recorded_and_the_next_command_runs() {
    let mut bench = Bench::running();
    bench.click(1);
    bench.click(2);
    bench.wait(31_000);
    assert_eq!(bench.events(), ["execute 1", "cancel 1", "execute 2"]);
    bench.complete(1, Ok("{}"));
    bench.complete(2, Ok("{}"));
    assert_eq!(bench.answers(), answers(&[(1, "CMD_TIMEOUT"), (2, "ok")]));
    assert_eq!(bench.stages(1).last().unwrap(), "dropped INTERNAL_UNKNOWN");
}

#[test]
fn the_deadline_starts_at_the_dispatch_not_while_a_command_waits() {
    let mut bench = Bench::running();
    bench.click(1);
    bench.click(2);
    bench.wait(30_999);
    bench.complete(1, Ok("{}"));
    bench.wait(30_999);
    bench.complete(2, Ok("{}"));
    assert_eq!(bench.answers(), answers(&[(1, "ok"), (2, "ok")]));
}

#[test]
fn a_cancelled_command_is_answered_wherever_it_stands() {
    let mut bench = Bench::running();
    bench.click(1);
    bench.click(2);
    bench.command(3, "hover", CLICK);
    bench.events();
    for (seq, events) in [(2, &[][..]), (3, &["over 3"]), (1, &["cancel 1"]), (1, &[]), (9, &[])] {
        bench.call(|host, now| host.cancel(seq, now));
        assert_eq!(bench.events(), events, "{seq}");
    }
    let cancelled = answers(&[(2, "CMD_CANCELLED"), (3, "CMD_CANCELLED"), (1, "CMD_CANCELLED")]);
    assert_eq!((bench.answers(), bench.host.in_flight()), (cancelled, 0));
    bench.complete(1, Ok("{}"));
    assert_eq!(bench.answers(), []);
}

#[test]
fn of_65_commands_the_last_is_overloaded_and_an_answer_makes_room() {
    let mut bench = Bench::running();
    for seq in 1..=65 {
        // One of them waits for a person: it counts.
        bench.command(seq, if seq == 7 { "hover" } else { "click" }, CLICK);
    }
    assert_eq!((bench.host.in_flight(), bench.answers()), (64, answers(&[(65, "INTERNAL_OVERLOADED")])));
    bench.call(|host, now| host.cancel(7, now));
    bench.click(66);
    bench.click(67);
    assert_eq!(bench.answers(), answers(&[(7, "CMD_CANCELLED"), (67, "INTERNAL_OVERLOADED")]));
}

#[test]
fn a_page_that_changed_while_a_command_waited_refuses_it() {
    let mut bench = Bench::running();
    bench.click(1);
    bench.click(2);
    bench.click(3);
    bench.host.set_page(Some(crate::support::domain("read.example.com")));
    bench.complete(1, Ok("{}"));
    assert_eq!(
        bench.answers(),
        answers(&[(1, "ok"), (2, "MAC_DOMAIN_MISMATCH"), (3, "MAC_DOMAIN_MISMATCH")])
    );
    assert_eq!(bench.events(), ["execute 1"]);
    assert_eq!(bench.host.in_flight(), 0);
}

#[test]
fn a_policy_that_was_replaced_while_a_command_waited_decides() {
    for (document, code) in [
        (r#"{"version":1,"domains":[]}"#, "MAC_DOMAIN_DENIED"),
        (
            r#"{"version":1,"domains":[{"pattern":"erp.example.com","actions":["getText"]}]}"#,
            "MAC_ACTION_DENIED",
        ),
    ] {
        let mut bench = Bench::running();
        bench.click(1);
        bench.click(2);
        bench.host.set_policy(policy(document));
        bench.click(3);
        bench.complete(1, Ok("{}"));
        assert_eq!(bench.answers(), answers(&[(3, code), (1, "ok"), (2, code)]));
    }
}

#[test]
fn while_more_than_4_mib_of_answers_wait_the_host_does_not_want_to_read() {
    let mut bench = Bench::running();
    bench.unread = true;
    let text = format!(r#"{{"text":"{}"}}"#, "x".repeat(LARGE));
    for seq in 1..=5 {
        assert!(bench.host.wants_input(), "{seq}");
        bench.click(seq);
        bench.complete(seq, Ok(&text));
    }
    assert!(!bench.host.wants_input());
    bench.unread = false;
    bench.drain();
    assert!(bench.host.wants_input());
    assert_eq!(bench.answers().len(), 5);
}

/// Four of these wait within 4 MiB, five do not.
const LARGE: usize = 1_000_000;

#[test]
fn output_may_be_written_in_any_pieces() {
    let mut bench = Bench::running();
    bench.unread = true;
    for seq in 1..=3 {
        bench.click(seq);
        bench.complete(seq, Ok("{}"));
    }
    let mut bytes = Vec::new();
    while let Some(byte) = bench.host.output().first() {
        bytes.push(*byte);
        bench.host.output_written(1);
    }
    let lines: Vec<_> = std::str::from_utf8(&bytes).unwrap().lines().collect();
    assert_eq!(lines.len(), 3);
    assert!(lines.iter().all(|line| line.ends_with("\"exec_ms\":0}}")));
    bench.host.output_written(100);
    assert_eq!(bench.host.output(), b"");
}

#[test]
fn a_failure_that_does_not_fit_is_replaced_too() {
    let mut bench = Bench::running();
    bench.click(1);
    let failure = Failure::new(ErrorCode::CmdExecutionFailed, "x".repeat(crate::support::LIMIT));
    bench.complete(1, Err(failure));
    assert_eq!(bench.answers(), answers(&[(1, "CMD_RESULT_TOO_LARGE")]));
}

#[test]
fn a_day_with_a_command_an_hour_wakes_nobody_in_vain() {
    let mut pair = Pair::running(&[1000]);
    let mut wakes = 0;
    for _ in 0..24 {
        pair.request("click", CLICK);
        wakes += pair.wait(3_600_000);
    }
    assert_eq!(pair.bench.all_answers().len(), 24);
    assert_eq!(wakes, 24, "the executor alone woke somebody");
}
