//! A host on real processes, with the page in memory: what an agent that is wrong, hostile,
//! slow or dead does to it.

#[path = "support/host.rs"]
mod host;

use std::io::Write;
use std::process::{Command, Stdio};

use host::{Ended, Host, SGCLAW, host_program, signal, step, wait_for};
use nix::sys::signal::Signal;
use serde_json::{Value, json};

const ACK: &str = r#"{"type":"init_ack","version":"1.0","agent_id":"0b7e2a54-3c1d-4e8f-9a6b-5c4d3e2f1a0b","supported_actions":["click"]}"#;

/// An agent in sh that answers init in its own time.
fn sh(script: &str) -> [String; 3] {
    ["sh".into(), "-c".into(), script.replace("$ACK", &format!("'{ACK}'"))]
}

fn run_sh(host: &Host, script: &str) -> Ended {
    let agent = sh(script);
    host.run(&agent.iter().map(String::as_str).collect::<Vec<_>>())
}

#[test]
fn a_hundred_handshakes_in_a_row_succeed_and_leave_nothing_behind() {
    let host = Host::new();
    for _ in 0..100 {
        let ended = host.play(&[]);
        ended.assert_stopped();
        assert!(ended.trace.iter().any(|record| record["state"] == "Running"));
    }
}

#[test]
fn a_session_runs_through_every_stage_and_its_secrets_are_nowhere() {
    let secret = "planted-typed-text-7f3a9c";
    let query = "planted-url-query-51d0be";
    let ended = Host::new().play(&[
        step("navigate", json!({"url": format!("http://localhost/?q={query}")})),
        step("type", json!({"selector": "#password", "text": secret})),
        step("type", json!({"selector": "#user", "text": "张三"})),
        step("click", json!({"selector": "#login"})),
        json!({"action": "getText", "params": {"selector": "#greeting"}, "expected_domain": "localhost",
               "expect": {"data": {"text": "Hello, 张三"}}}),
    ]);
    ended.assert_stopped();
    assert_eq!(
        ended.stages(2),
        ["received", "verified", "authorized", "dispatched", "completed", "responded"]
    );
    let everything = format!("{}{:?}", ended.stderr, ended.trace);
    for word in [secret, query, "张三", "hmac"] {
        assert!(!everything.contains(word), "{word} was told");
    }
}

#[test]
fn a_failure_has_a_code_and_a_message_and_a_wrong_expectation_is_told() {
    let ended = Host::new().play(&[
        json!({"action": "click", "params": {"selector": "#login"}, "expected_domain": "elsewhere.example",
               "expect": {"code": "MAC_DOMAIN_DENIED"}}),
        step("click", json!({"selector": "#login", "force": true})),
        step("hover", json!({"selector": "#login"})),
    ]);
    assert_eq!(ended.step(1)["ok"], true);
    assert_eq!(ended.step(2)["code"], "CMD_PARAMS_INVALID");
    assert_eq!(
        (&ended.step(3)["code"], &ended.step(3)["ok"]),
        (&json!("CMD_EXECUTION_FAILED"), &json!(false))
    );
    // The agent then exits with 1, which is no way for a session to end.
    ended.assert_crashed("PIPE_CLOSED");
    assert!(ended.last_line()["message"].as_str().unwrap().contains("status 1"));
}

#[test]
fn an_agent_of_another_version_is_refused_with_both_versions_in_the_log() {
    let ack = ACK.replace("1.0", "2.7");
    let ended = run_sh(&Host::new(), &format!("read init; echo '{ack}'; cat >/dev/null"));
    ended.assert_crashed("PIPE_VERSION_MISMATCH");
    let message = ended.last_line()["message"].to_string();
    assert!(message.contains("1.0") && message.contains("2.7"), "{message}");
    assert!(!ended.trace.iter().any(|record| record["state"] == "Running"));
}

#[test]
fn a_host_of_another_version_is_refused_by_the_agent_with_a_non_zero_status() {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("empty.jsonl");
    std::fs::write(&script, "").unwrap();
    let mut agent = Command::new(SGCLAW)
        .args(["agent", "--script"])
        .arg(&script)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let seed = "ab".repeat(32);
    writeln!(agent.stdin.take().unwrap(), r#"{{"type":"init","version":"3.1","hmac_seed":"{seed}"}}"#)
        .unwrap();
    let output = agent.wait_with_output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{stderr}");
    assert!(output.stdout.is_empty(), "no init_ack");
    assert!(
        stderr.contains("PIPE_VERSION_MISMATCH") && stderr.contains("1.0") && stderr.contains("3.1"),
        "{stderr}"
    );
}

#[test]
fn a_banner_before_the_first_message_is_rejected_and_not_quoted_and_the_handshake_still_succeeds() {
    let ended =
        run_sh(&Host::new(), "echo 'Welcome to planted-page-text-c84e26'; echo; read init; echo $ACK");
    ended.assert_stopped();
    assert_eq!(ended.rejected(), ["PIPE_INVALID_JSON", "PIPE_INVALID_JSON"]);
    assert!(!ended.stderr.contains("Welcome"), "{}", ended.stderr);
}

#[test]
fn three_megabytes_on_stderr_before_the_answer_are_drained_and_bounded() {
    let ended = run_sh(&Host::new(), "head -c 3000000 /dev/zero | tr '\\0' x >&2; read init; echo $ACK");
    ended.assert_stopped();
    assert!(ended.stderr.len() < 1_200_000, "{}", ended.stderr.len());
    assert!(ended.stderr.contains("more bytes of the agent's stderr were read and dropped"));
}

#[test]
fn control_characters_of_the_agent_do_not_reach_the_terminal() {
    let ended = run_sh(&Host::new(), "printf 'a\\033[2Jb\\rc\\n' >&2; read init; echo $ACK");
    ended.assert_stopped();
    assert!(ended.stderr.contains("agent: a\u{fffd}[2Jb\u{fffd}c"), "{:?}", ended.stderr);
    assert!(!ended.stderr.contains('\u{1b}'));
}

#[test]
fn an_agent_that_is_dead_before_the_handshake_ends_the_session_at_once() {
    // With ten minutes for the handshake a host that waits would not come back in time.
    let host = Host::with(&["--handshake-timeout-ms", "600000"]);
    host.run(&["true"]).assert_crashed("PIPE_CLOSED");
    host.run(&["false"]).assert_crashed("PIPE_CLOSED");
    run_sh(&host, "kill -9 $$").assert_crashed("PIPE_CLOSED");
}

#[test]
fn an_agent_that_hangs_is_killed_with_all_that_it_started() {
    let host = Host::with(&["--handshake-timeout-ms", "300"]);
    let ended = run_sh(&host, "trap '' TERM INT HUP; sleep 600 & sleep 600 & wait");
    ended.assert_crashed("PIPE_HANDSHAKE_TIMEOUT");
}

#[test]
fn an_agent_that_leaves_a_process_behind_does_not_keep_the_session_open() {
    // The sleeper holds the agent's stdout.
    run_sh(&Host::new(), "read init; echo $ACK; sleep 600 & exit 0").assert_stopped();
}

#[test]
fn an_agent_that_closes_its_stdin_ends_the_session_without_a_spin() {
    let ended = run_sh(&Host::new(), "read init; exec <&-; echo $ACK; echo garbage; sleep 600");
    ended.assert_crashed("PIPE_CLOSED");
    assert!(ended.stderr.contains("closed its stdin"), "{}", ended.stderr);
}

#[test]
fn an_agent_that_closes_its_stdout_and_stays_is_killed() {
    let ended = run_sh(&Host::new(), "trap '' TERM; read init; echo $ACK; exec >&-; sleep 600");
    ended.assert_crashed("PIPE_CLOSED");
}

#[test]
fn sixteen_lines_of_garbage_end_the_session() {
    let ended = run_sh(&Host::new(), "read init; echo $ACK; yes garbage; sleep 600");
    ended.assert_crashed("PIPE_INVALID_JSON");
    assert_eq!(ended.rejected().len(), 16);
}

#[test]
fn a_line_that_is_too_long_is_refused_and_the_next_one_counts() {
    for (length, code) in [(1_048_577, "PIPE_MESSAGE_TOO_LARGE"), (1_048_576, "PIPE_INVALID_JSON")] {
        let host = Host::with(&["--handshake-timeout-ms", "60000"]);
        let ended =
            run_sh(&host, &format!("head -c {length} /dev/zero | tr '\\0' x; echo; read init; echo $ACK"));
        ended.assert_stopped();
        assert_eq!(ended.rejected(), [code]);
    }
}

#[test]
fn a_line_without_an_end_is_answered_once() {
    let ended = run_sh(&Host::new(), "read init; echo $ACK; printf '{\"type\":\"command\"'");
    ended.assert_stopped();
    assert_eq!(ended.rejected(), ["PIPE_INVALID_JSON"]);
}

#[test]
fn a_line_that_ends_in_crlf_is_accepted_and_a_byte_order_mark_is_not() {
    let ended = run_sh(&Host::new(), "read init; printf '\\357\\273\\277{}\\n'; printf '%s\\r\\n' $ACK");
    ended.assert_stopped();
    assert_eq!(ended.rejected(), ["PIPE_INVALID_JSON"]);
}

#[test]
fn an_agent_that_cannot_be_started_is_named() {
    let ended = Host::new().run(&["/nowhere/agent"]);
    ended.assert_crashed("PIPE_CLOSED");
    assert!(ended.stderr.contains("/nowhere/agent"), "{}", ended.stderr);
}

#[test]
fn a_command_line_that_cannot_work_is_a_usage_error_that_says_why() {
    let host = Host::new();
    let broken =
        host.file("broken.json", r#"{"version":1,"domains":[{"pattern":"A.example","actions":[]}]}"#);
    for (flags, words) in [
        (vec!["--policy", "/nowhere/policy.json"], "--policy /nowhere/policy.json"),
        (vec!["--policy", &broken], "domains[0].pattern"),
        (vec!["--trace", "/nowhere/trace.jsonl"], "--trace /nowhere/trace.jsonl"),
        (vec!["--confirm", "perhaps"], "perhaps"),
        (vec!["--handshake-timeout-ms", "0"], "0"),
        (vec!["--no-such-flag"], "--no-such-flag"),
    ] {
        let output =
            host_program().args(["--browser", "memory"]).args(&flags).args(["--", "true"]).output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{flags:?}: {stderr}");
        assert!(stderr.contains(words), "{flags:?}: {stderr}");
    }
    let output = host_program().args(["--browser", "memory"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "no agent");
}

#[test]
fn a_browser_that_is_missing_is_named_with_the_way_to_install_it() {
    let output = host_program().args(["--browser", "/nowhere/chromium", "--", "true"]).output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{stderr}");
    assert!(stderr.contains("/nowhere/chromium") && stderr.contains("apt-get install"), "{stderr}");
    let last: Value = serde_json::from_str(stderr.lines().last().unwrap()).unwrap();
    assert_eq!((&last["state"], &last["code"]), (&json!("Crashed"), &Value::Null));
    assert!(last["message"].as_str().unwrap().starts_with("INTERNAL_EXECUTOR_GONE: "));
}

#[test]
fn confirmation_is_denied_where_nobody_can_be_asked_and_can_be_decided_beforehand() {
    let policy = r#"{"version":1,"domains":[{"pattern":"localhost","actions":["*"]}],"confirm":["click"]}"#;
    let denied = json!("MAC_CONFIRMATION_DENIED");
    for (mode, code) in [("ask", &denied), ("deny", &denied), ("allow", &Value::Null)] {
        let mut host = Host::new();
        let file = host.file("policy.json", policy);
        host.flags = ["--policy", &file, "--confirm", mode].map(str::to_owned).to_vec();
        let ended = host.play(&[
            step("click", json!({"selector": "#login"})),
            step("getText", json!({"selector": "h1"})),
        ]);
        assert_eq!(&ended.step(1)["code"], code, "{mode}");
        assert_eq!(ended.step(2)["code"], Value::Null, "{mode}");
    }
}

#[test]
fn a_signal_stops_the_session_in_order() {
    let host = Host::new();
    let agent = sh("trap 'exit 7' TERM; read init; echo $ACK; while :; do sleep 0.1; done");
    let agent: Vec<_> = agent.iter().map(String::as_str).collect();
    let child = host.command(&agent).spawn().unwrap();
    wait_for(&host.trace_path(), "Running");
    signal(child.id(), Signal::SIGTERM);
    host.ended(child.wait_with_output().unwrap()).assert_stopped();
}

#[test]
fn a_policy_is_replaced_while_the_session_runs() {
    let mut host = Host::new();
    let open = r#"{"version":1,"domains":[{"pattern":"localhost","actions":["*"]}]}"#;
    let closed = r#"{"version":1,"domains":[{"pattern":"localhost","actions":["getText"]}]}"#;
    let file = host.file("policy.json", open);
    host.flags = ["--policy", &file].map(str::to_owned).to_vec();
    let steps = [
        step("click", json!({"selector": "#login"})),
        json!({"action": "getText", "params": {"selector": "#nothing", "timeout_ms": 1000}, "expected_domain": "localhost",
               "expect": {"code": "CMD_SELECTOR_TIMEOUT"}}),
        json!({"action": "click", "params": {"selector": "#login"}, "expected_domain": "localhost",
               "expect": {"code": "MAC_ACTION_DENIED"}}),
    ];
    let script = host.file("script.jsonl", &steps.map(|step| format!("{step}\n")).concat());
    let child = host.command(&[SGCLAW, "agent", "--script", &script]).spawn().unwrap();
    wait_for(&host.trace_path(), "\"seq\":2,\"stage\":\"dispatched\"");
    host.file("policy.json", "{");
    signal(child.id(), Signal::SIGHUP);
    host.file("policy.json", closed);
    signal(child.id(), Signal::SIGHUP);
    let ended = host.ended(child.wait_with_output().unwrap());
    ended.assert_stopped();
    assert!(ended.stderr.contains("the old policy stays in force"), "{}", ended.stderr);
    assert!(ended.stderr.contains("the policy was read again"), "{}", ended.stderr);
}

#[test]
fn a_trace_that_cannot_be_written_does_not_end_the_session() {
    let output = host_program()
        .args([
            "--browser",
            "memory",
            "--trace",
            "/dev/full",
            "--",
            "sh",
            "-c",
            &format!("read i; echo '{ACK}'"),
        ])
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    assert_eq!(stderr.matches("the trace is incomplete").count(), 1, "{stderr}");
}

#[test]
fn the_trace_is_shown_as_a_table_and_followed_by_seq() {
    let host = Host::new();
    host.play(&[step("click", json!({"selector": "#login"})), step("getText", json!({"selector": "h1"}))])
        .assert_stopped();
    let show = |arguments: &[&str]| {
        Command::new(SGCLAW).arg("trace").arg(host.trace_path()).args(arguments).output().unwrap()
    };
    let table = String::from_utf8(show(&["--seq", "2"]).stdout).unwrap();
    let stages: Vec<_> =
        table.lines().skip(1).map(|line| line.split_whitespace().nth(2).unwrap().to_owned()).collect();
    assert_eq!(
        stages,
        ["received", "verified", "authorized", "dispatched", "completed", "responded"],
        "{table}"
    );
    assert_eq!(show(&["--seq", "99"]).status.code(), Some(1));
}

#[test]
fn a_log_that_nobody_can_write_to_does_not_end_the_session() {
    let script = Host::new().file("never-used.jsonl", "");
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let (reader, closed) = std::io::pipe().unwrap();
    drop(reader);
    for stderr in [Stdio::from(full), Stdio::from(closed)] {
        let host = Host::new();
        let agent = sh("read init; echo $ACK; echo chatter >&2");
        let agent: Vec<_> = agent.iter().map(String::as_str).collect();
        let status = host.command(&agent).stderr(stderr).status().unwrap();
        assert_eq!(status.code(), Some(0));
        let trace = std::fs::read_to_string(host.trace_path()).unwrap();
        assert!(trace.lines().last().unwrap().contains("Stopped"), "{trace}");
    }
    // The tools neither.
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let status = Command::new(SGCLAW).args(["trace", &script, "--seq", "1"]).stderr(full).status().unwrap();
    assert!(status.code().is_some_and(|code| code < 3), "{status}");
}

#[test]
fn a_crash_tells_how_the_agent_ended() {
    for (script, how) in [("exit 7", "exited with status 7"), ("kill -SEGV $$", "was ended by signal 11")] {
        let ended = run_sh(&Host::new(), script);
        ended.assert_crashed("PIPE_CLOSED");
        assert!(ended.last_line()["message"].as_str().unwrap().contains(how), "{}", ended.stderr);
    }
}

#[test]
fn a_policy_that_names_an_action_that_is_not_there_is_warned_of() {
    let mut host = Host::new();
    let policy = r#"{"version":1,"domains":[{"pattern":"localhost","actions":["*"]}],"confirm":["navigat"]}"#;
    let file = host.file("policy.json", policy);
    host.flags = ["--policy", &file].map(str::to_owned).to_vec();
    let ended = host.play(&[]);
    ended.assert_stopped();
    assert!(ended.stderr.contains("\"navigat\", which this host does not have"), "{}", ended.stderr);
}

#[test]
fn a_file_that_is_no_trace_is_not_shown() {
    let host = Host::new();
    let escape = r#"{"time_us":1,"session":"a","seq":1,"stage":"received","action":"\u001b]0;x\u0007"}"#;
    let good = r#"{"time_us":1,"session":"a","seq":1,"stage":"received"}"#;
    let file = host.file("trace.jsonl", &format!("{escape}\n{good}\nnot json\n"));
    let output = Command::new(SGCLAW).args(["trace", &file]).output().unwrap();
    let (table, complaints) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(table.lines().count(), 2, "{table}");
    assert!(
        complaints.contains("line 1: no record") && complaints.contains("line 3: no record"),
        "{complaints}"
    );
    assert!(!format!("{table}{complaints}").contains('\u{1b}'));
}

#[test]
fn a_page_in_memory_waits_for_what_it_is_asked_to_wait_for() {
    let expect = |params: Value, expected: Value| {
        let mut step = step("waitFor", params);
        step["expect"] = expected;
        step
    };
    let ended = Host::new().play(&[
        expect(json!({"selector": "#greeting", "state": "detached"}), json!({})),
        expect(
            json!({"selector": "#user", "state": "hidden", "timeout_ms": 50}),
            json!({"code": "CMD_SELECTOR_TIMEOUT", "reason": "visible"}),
        ),
        expect(json!({"selector": "#user"}), json!({})),
    ]);
    ended.assert_stopped();
}
