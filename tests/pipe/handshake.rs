//! Contract section 4: the handshake, the states, the ends of a session.

use sgclaw::pipe::ChildExit;
use sgclaw::{AgentEvent, HostSettings, State};

use crate::support::{ACTIONS, Bench, Change, LIMIT, Pair, RawHost, ack, answers, seed, signed};

#[test]
fn a_hundred_handshakes_in_a_row_succeed_however_the_bytes_are_split() {
    for round in 1..=100 {
        let pair = Pair::running(&[round, 1, 7]);
        assert_eq!(pair.bench.state(), State::Running, "{round}");
        assert_eq!(pair.raw.events, [AgentEvent::Ready], "{round}");
    }
}

#[test]
fn the_negotiated_actions_are_those_that_both_sides_know() {
    let mut bench = Bench::handshaking(HostSettings::default());
    assert_eq!(bench.host.negotiated_actions().count(), 0);
    bench.line(&ack("1.0", &["type", "fly", "click"]));
    let names: Vec<_> = bench.host.negotiated_actions().map(|name| name.as_str().to_owned()).collect();
    assert_eq!(names, ["click", "type"]);
}

#[test]
fn an_agent_of_another_version_is_refused_every_time_with_a_readable_line() {
    for round in 0..100 {
        let mut bench = Bench::handshaking(HostSettings::default());
        bench.line(&ack("1.1", ACTIONS));
        assert_eq!(bench.answers(), answers(&[(0, "PIPE_VERSION_MISMATCH")]), "{round}");
        assert_eq!(bench.events(), ["Crashed PIPE_VERSION_MISMATCH", "close stdin", "kill"]);
        let line = bench.log.last().unwrap();
        assert!(line.contains("1.0") && line.contains("1.1"), "{line}");
        bench.line(&ack("1.0", ACTIONS));
        assert_eq!(bench.state(), State::Crashed);
        assert_eq!(bench.host.poll_timeout(), None);
    }
}

#[test]
fn a_foreign_version_counts_before_the_rest_of_the_shape_and_one_that_is_no_string_is_a_wrong_shape() {
    let mut bench = Bench::handshaking(HostSettings::default());
    bench.line(r#"{"type":"init_ack","version":1.0,"agent_id":"x"}"#);
    assert_eq!(bench.answers(), answers(&[(0, "PIPE_SCHEMA_INVALID")]));
    assert_eq!(bench.state(), State::Handshaking);
    bench.line(r#"{"type":"init_ack","version":"9","agent_id":7,"more":true}"#);
    assert_eq!(bench.answers(), answers(&[(0, "PIPE_VERSION_MISMATCH")]));
    assert_eq!(bench.state(), State::Crashed);
}

#[test]
fn versions_are_not_compared_once_the_session_runs() {
    let mut bench = Bench::running();
    bench.line(&ack("2.0", ACTIONS));
    assert_eq!(bench.answers(), answers(&[(0, "PIPE_UNEXPECTED_MESSAGE")]));
    assert_eq!(bench.state(), State::Running);
}

#[test]
fn an_agent_ends_where_the_host_speaks_another_version() {
    let mut raw = RawHost::new();
    raw.line(r#"{"type":"init","version":"2.0","hmac_seed":false}"#);
    let [AgentEvent::Ended { failure: Some(failure) }] = &raw.events[..] else { panic!("{:?}", raw.events) };
    assert_eq!(failure.code.as_str(), "PIPE_VERSION_MISMATCH");
    assert!(failure.message.contains("1.0") && failure.message.contains("2.0"), "{failure}");
    assert!(raw.written.is_empty(), "it answered");
}

#[test]
fn a_banner_before_init_ack_is_answered_and_not_quoted_and_the_handshake_goes_on() {
    let mut bench = Bench::handshaking(HostSettings::default());
    bench.line("geheim 3.1 (c) geheim, a library that greets");
    assert_eq!(bench.answers(), answers(&[(0, "PIPE_INVALID_JSON")]));
    let message = bench.last()["error"]["message"].as_str().unwrap().to_owned();
    assert!(message.contains("44 bytes"), "{message}");
    bench.click(1);
    bench.line("");
    assert_eq!(bench.answers(), answers(&[(1, "PIPE_UNEXPECTED_MESSAGE"), (0, "PIPE_INVALID_JSON")]));
    bench.line(&ack("1.0", ACTIONS));
    assert_eq!(bench.state(), State::Running);
    bench.click(1);
    assert_eq!(bench.events(), ["Running", "execute 1"]);
}

#[test]
fn init_ack_counts_after_4999_ms_and_at_5000_ms_the_child_is_killed() {
    let mut bench = Bench::handshaking(HostSettings::default());
    bench.wait(4_999);
    bench.line(&ack("1.0", ACTIONS));
    assert_eq!(bench.events(), ["Running"]);
    bench.wait(60_000);
    assert_eq!(bench.state(), State::Running);

    let mut late = Bench::handshaking(HostSettings::default());
    late.wait(4_999);
    assert_eq!(late.events(), [""; 0]);
    late.wait(1);
    assert_eq!(late.events(), ["Crashed PIPE_HANDSHAKE_TIMEOUT", "close stdin", "kill"]);
    late.line(&ack("1.0", ACTIONS));
    assert_eq!((late.state(), late.answers()), (State::Crashed, vec![]));
    assert_eq!(late.trace.last().unwrap()["stage"], "dropped");
}

#[test]
fn messages_that_the_agent_must_not_send_are_unexpected_in_every_state_that_takes_lines() {
    let init = r#"{"type":"init","version":"1.0","hmac_seed":"00112233445566778899aabbccddeeff"}"#;
    let response = r#"{"type":"response","seq":1,"success":true}"#;
    let unexpected = answers(&[(0, "PIPE_UNEXPECTED_MESSAGE"), (1, "PIPE_UNEXPECTED_MESSAGE")]);
    for mut bench in [Bench::handshaking(HostSettings::default()), Bench::running()] {
        let state = bench.state();
        bench.line(init);
        bench.line(response);
        assert_eq!((bench.answers(), bench.state()), (unexpected.clone(), state));
    }
}

/// A session in each state that a child may be alive in; the last one has a command in flight.
fn sessions() -> [(&'static str, Bench); 4] {
    let mut stopping = Bench::running();
    stopping.call(|host, now| host.stop(now));
    let mut busy = Bench::running();
    busy.click(1);
    let mut sessions = [
        ("handshaking", Bench::handshaking(HostSettings::default())),
        ("running", Bench::running()),
        ("stopping", stopping),
        ("busy", busy),
    ];
    for (_, bench) in &mut sessions {
        bench.events();
    }
    sessions
}

#[test]
fn the_end_of_stdout_means_in_each_state_what_the_contract_says() {
    let expected: [&[&str]; 4] = [
        &["Crashed PIPE_CLOSED", "close stdin", "kill"],
        &["Stopping", "close stdin", "kill"],
        &["terminate", "kill"],
        &["cancel 1", "Crashed PIPE_CLOSED", "close stdin", "kill"],
    ];
    for ((name, mut bench), expected) in sessions().into_iter().zip(expected) {
        bench.call(|host, now| host.handle_end_of_input(now));
        bench.call(|host, now| host.handle_end_of_input(now));
        bench.wait(600_000);
        assert_eq!(bench.events(), expected, "{name}");
        assert_eq!((bench.host.in_flight(), bench.answers()), (0, vec![]), "{name}");
    }
}

#[test]
fn after_the_end_of_stdout_the_kill_comes_after_2000_ms_and_not_where_the_child_exits_before() {
    let mut bench = Bench::running();
    bench.call(|host, now| host.handle_end_of_input(now));
    bench.wait(1_999);
    assert_eq!(bench.events(), ["Stopping", "close stdin"]);
    bench.wait(1);
    assert_eq!(bench.events(), ["kill"]);
    bench.exit(ChildExit::Signal(9));
    assert_eq!(bench.events(), ["Crashed PIPE_CLOSED"]);

    let mut quick = Bench::running();
    quick.call(|host, now| host.handle_end_of_input(now));
    quick.exit(ChildExit::Code(0));
    quick.wait(600_000);
    assert_eq!(quick.events(), ["Stopping", "close stdin", "Stopped"]);
}

#[test]
fn a_child_that_exits_ends_the_session_at_once_in_each_state() {
    let crashed = "Crashed PIPE_CLOSED";
    for (exit, running) in [
        (ChildExit::Code(0), &["Stopping", "close stdin", "Stopped"][..]),
        (ChildExit::Code(3), &["Stopping", "close stdin", crashed]),
        (ChildExit::Signal(11), &["Stopping", "close stdin", crashed]),
    ] {
        let expected: [&[&str]; 4] = [
            &[crashed, "close stdin"],
            running,
            // The host asked for this end, whatever it looks like.
            &["Stopped"],
            &["cancel 1", crashed, "close stdin"],
        ];
        for ((name, mut bench), expected) in sessions().into_iter().zip(expected) {
            bench.exit(exit);
            assert_eq!(bench.host.poll_timeout(), None, "{name}: a child that is gone is waited for");
            bench.wait(600_000);
            assert_eq!(bench.events(), expected, "{name}, {exit:?}");
        }
    }
}

#[test]
fn a_child_that_closed_its_stdin_is_crashed_and_killed_after_2000_ms() {
    let expected: [&[&str]; 4] = [
        &["Crashed PIPE_CLOSED", "close stdin", "kill"],
        &["Crashed PIPE_CLOSED", "close stdin", "kill"],
        &["terminate", "kill"],
        &["cancel 1", "Crashed PIPE_CLOSED", "close stdin", "kill"],
    ];
    for ((name, mut bench), expected) in sessions().into_iter().zip(expected) {
        bench.call(|host, now| host.handle_output_closed(now));
        bench.call(|host, now| host.handle_output_closed(now));
        assert!(bench.wait(600_000) <= 2, "{name}: it spins");
        assert_eq!(bench.events(), expected, "{name}");
    }
}

#[test]
fn a_stop_closes_stdin_then_terminates_after_2000_ms_then_kills_after_1000_ms() {
    let mut bench = Bench::running();
    bench.click(1);
    bench.click(2);
    bench.events();
    bench.call(|host, now| host.stop(now));
    bench.call(|host, now| host.stop(now));
    assert_eq!(bench.answers(), answers(&[(1, "CMD_CANCELLED"), (2, "CMD_CANCELLED")]));
    assert_eq!(bench.events(), ["cancel 1", "Stopping", "close stdin"]);
    bench.wait(1_999);
    assert_eq!(bench.events(), [""; 0]);
    bench.wait(1);
    assert_eq!(bench.events(), ["terminate"]);
    bench.wait(999);
    assert_eq!(bench.events(), [""; 0]);
    bench.wait(1);
    assert_eq!(bench.events(), ["kill"]);
    bench.wait(600_000);
    bench.exit(ChildExit::Signal(9));
    assert_eq!(bench.events(), ["Stopped"]);
}

#[test]
fn a_stop_before_the_handshake_is_done_or_before_the_start_ends_in_stopped() {
    let mut bench = Bench::handshaking(HostSettings::default());
    bench.call(|host, now| host.stop(now));
    bench.wait(600_000);
    bench.exit(ChildExit::Code(1));
    assert_eq!(bench.events(), ["Stopping", "close stdin", "terminate", "kill", "Stopped"]);

    let mut idle = Bench::idle(HostSettings::default());
    idle.call(|host, now| host.stop(now));
    idle.call(|host, now| host.start(now));
    assert_eq!((idle.events(), idle.written.len()), (vec!["Stopped".to_owned()], 0));
}

#[test]
fn commands_that_wait_when_the_session_crashes_are_recorded_and_the_executor_is_told_of_its_own_alone() {
    let mut bench = Bench::running();
    bench.click(1);
    bench.click(2);
    bench.events();
    bench.call(|host, now| host.handle_output_closed(now));
    assert_eq!(bench.events(), ["cancel 1", "Crashed PIPE_CLOSED", "close stdin"]);
    assert_eq!(bench.stages(2).last().unwrap(), "cancelled PIPE_CLOSED");
}

#[test]
fn lines_that_come_while_stopping_are_dropped_and_recorded() {
    let mut bench = Bench::running();
    bench.call(|host, now| host.stop(now));
    bench.events();
    let before = bench.trace.len();
    bench.click(1);
    bench.line("not json");
    bench.feed(&vec![b'x'; LIMIT + 1]);
    assert_eq!((bench.answers(), bench.events()), (vec![], vec![]));
    let stages: Vec<_> = bench.trace[before..].iter().map(|record| record["stage"].clone()).collect();
    assert_eq!(stages, ["dropped"; 3]);
}

#[test]
fn the_16th_rejection_in_a_row_is_answered_and_ends_the_session_with_its_code() {
    let mut bench = Bench::handshaking(HostSettings::default());
    // The handshake's rejections count too, and init_ack does not wash them away.
    for _ in 0..7 {
        bench.line("{");
    }
    bench.line(&ack("1.0", ACTIONS));
    for _ in 0..8 {
        bench.line("{}");
    }
    assert_eq!((bench.state(), bench.answers().len()), (State::Running, 15));
    bench.line(&signed(&seed(), 1, "click", "{}", "localhost").replace("\"seq\":1", "\"seq\":2"));
    assert_eq!(bench.answers(), answers(&[(2, "PIPE_HMAC_INVALID")]));
    assert_eq!(bench.events(), ["Running", "Crashed PIPE_HMAC_INVALID", "close stdin", "kill"]);
    bench.click(1);
    assert_eq!((bench.answers(), bench.events()), (vec![], vec![]));
}

#[test]
fn a_command_that_passed_step_6_sets_the_rejections_to_zero_even_where_it_fails_later() {
    let mut bench = Bench::running();
    for seq in 1..=3 {
        for _ in 0..15 {
            bench.line("nonsense");
        }
        bench.command(seq, "unheard_of", "{}");
        assert_eq!(bench.answers().last().unwrap(), &(seq, "CMD_ACTION_UNKNOWN".to_owned()));
    }
    for _ in 0..15 {
        bench.line("nonsense");
    }
    assert_eq!(bench.state(), State::Running);
    bench.line("nonsense");
    assert_eq!(bench.state(), State::Crashed);
}

#[test]
fn a_call_out_of_season_changes_nothing() {
    let mut bench = Bench::running();
    bench.click(1);
    bench.call(|host, now| host.handle_output_closed(now));
    bench.exit(ChildExit::Code(0));
    bench.events();
    let (lines, records) = (bench.written.len(), bench.trace.len());
    for change in [
        (|host, now| host.start(now)) as Change,
        |host, now| host.stop(now),
        |host, now| host.cancel(1, now),
        |host, now| host.confirm(1, true, now),
        |host, now| host.handle_end_of_input(now),
        |host, now| host.handle_output_closed(now),
        |host, now| host.handle_child_exit(ChildExit::Code(0), now),
        |host, now| host.handle_timeout(now),
    ] {
        bench.call(change);
    }
    assert_eq!((bench.written.len(), bench.trace.len(), bench.events()), (lines, records, vec![]));
    assert_eq!((bench.state(), bench.host.poll_timeout()), (State::Crashed, None));
}
