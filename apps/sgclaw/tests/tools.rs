//! The small tools, as a person calls them.

use std::io::Write;
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

const SGCLAW: &str = env!("CARGO_BIN_EXE_sgclaw");
const SEED: &str = "9b1d6f0e8a7c5b3d2f4e6a8091b3d5f79b1d6f0e8a7c5b3d2f4e6a8091b3d5f7";

fn run(arguments: &[&str], environment: &[(&str, &str)], input: &[u8]) -> Output {
    let mut child = Command::new(SGCLAW)
        .args(arguments)
        .env_remove("SGCLAW_SEED")
        .envs(environment.iter().copied())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    let writer = std::thread::spawn(move || stdin.write_all(&input));
    let output = child.wait_with_output().unwrap();
    let _the_tool_may_not_have_read_it = writer.join();
    let shown = String::from_utf8_lossy(&output.stderr);
    assert!(!shown.contains(SEED), "the seed was told: {shown}");
    output
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

fn vectors(name: &str) -> Vec<Value> {
    let path = format!("{}/../../schemas/pipe/1.0/vectors/{name}.jsonl", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(path).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn canonicalize_gives_the_form_of_every_vector_line_by_line() {
    let rows = vectors("canonical");
    let input: String = rows.iter().map(|row| format!("{}\n", row["json"].as_str().unwrap())).collect();
    let output = run(&["canonicalize", "--lines"], &[], input.as_bytes());
    assert!(output.status.success());
    let expected: Vec<_> = rows.iter().map(|row| row["canonical"].as_str().unwrap()).collect();
    assert_eq!(text(&output.stdout).lines().collect::<Vec<_>>(), expected);
    assert!(expected.len() > 10);
}

#[test]
fn canonicalize_goes_on_after_a_line_that_is_no_json_and_says_which() {
    let output = run(&["canonicalize", "--lines"], &[], b"{\"a\":1.0}\n{\"a\":1,\"a\":2}\n[2e0]\n");
    assert_eq!((output.status.code(), text(&output.stdout)), (Some(1), "{\"a\":1}\n[2]\n"));
    assert!(text(&output.stderr).contains("PIPE_INVALID_JSON: line 2: a duplicate key"));
    let output = run(&["canonicalize"], &[], b"{} {}");
    assert_eq!((output.status.code(), text(&output.stdout)), (Some(1), ""));
}

#[test]
fn sign_gives_the_hmac_of_every_vector_and_verify_accepts_the_line() {
    for row in vectors("hmac") {
        let field = |name: &str| row[name].as_str().unwrap().to_owned();
        let (seed, derivation, params) = (field("seed"), field("key_derivation"), field("params"));
        let (seq, action, domain) = (row["seq"].to_string(), field("action"), field("expected_domain"));
        let arguments = [
            "sign",
            "--seq",
            &seq,
            "--action",
            &action,
            "--domain",
            &domain,
            "--key-derivation",
            &derivation,
        ];
        let environment = [("SGCLAW_SEED", seed.as_str())];
        let hmac = run(&[&arguments[..], &["--hmac-only"]].concat(), &environment, params.as_bytes());
        assert_eq!(text(&hmac.stdout).trim(), row["hmac"], "{row}");

        if seq == "1" {
            let line = run(&arguments, &environment, params.as_bytes()).stdout;
            let policy = tempfile::NamedTempFile::new().unwrap();
            let document = json!({"version": 1, "domains": [{"pattern": domain, "actions": ["*"]}]});
            std::fs::write(policy.path(), document.to_string()).unwrap();
            let policy = policy.path().to_str().unwrap();
            let verdict = run(
                &["verify", "--key-derivation", &derivation, "--policy", policy, "-"],
                &environment,
                &line,
            );
            assert_eq!(text(&verdict.stdout), "{\"line\":1,\"ok\":true,\"seq\":1}\n", "{row}");
            assert!(verdict.status.success());
        }
    }
}

#[test]
fn verify_gives_one_verdict_a_line_in_the_order_of_the_checks() {
    let environment = [("SGCLAW_SEED", SEED)];
    let sign = |seq: &str, action: &str, domain: &str, params: &str| {
        let arguments = ["sign", "--seq", seq, "--action", action, "--domain", domain];
        String::from_utf8(run(&arguments, &environment, params.as_bytes()).stdout).unwrap()
    };
    let first = sign("1", "click", "localhost", r##"{"selector":"#planted-typed-text-7f3a9c"}"##);
    let lines = [
        first.clone(),
        first.clone(),
        first.replace("\"seq\":1", "\"seq\":2"),
        "{\n".into(),
        "\u{feff}{}\n".into(),
        format!("{}\n", "x".repeat(1_048_577)),
        r#"{"type":"init_ack","version":"1.0","agent_id":"0b7e2a54-3c1d-4e8f-9a6b-5c4d3e2f1a0b","supported_actions":["a"]}"#.to_owned() + "\n",
        r#"{"type":"event"}"#.to_owned() + "\n",
        sign("2", "fly", "localhost", "{}"),
        sign("3", "click", "localhost", r#"{"selector":1}"#),
        sign("4", "click", "erp.example.com", r#"{"selector":"a"}"#),
        sign("5", "navigate", "localhost", r#"{"url":"ftp://localhost/"}"#),
        sign("6", "navigate", "localhost", r#"{"url":"/relative"}"#),
        sign("7", "navigate", "localhost", r#"{"url":"http://127.0.0.1/?q=planted-url-query-51d0be"}"#),
        sign("9", "click", "localhost", r#"{"selector":"a"}"#),
        sign("8", "click", "localhost", r#"{"selector":"a"}"#),
        "{\"type\":\"comm".into(),
    ];
    let output = run(&["verify", "-"], &environment, lines.concat().as_bytes());
    assert_eq!(output.status.code(), Some(1));
    let shown = text(&output.stdout);
    let verdicts: Vec<Value> = shown.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let codes: Vec<_> = verdicts.iter().map(|verdict| verdict["code"].as_str().unwrap_or("ok")).collect();
    assert_eq!(
        codes,
        [
            "ok",
            "PIPE_SEQ_DUPLICATE",
            "PIPE_HMAC_INVALID",
            "PIPE_INVALID_JSON",
            "PIPE_INVALID_JSON",
            "PIPE_MESSAGE_TOO_LARGE",
            "PIPE_UNEXPECTED_MESSAGE",
            "PIPE_SCHEMA_INVALID",
            "CMD_ACTION_UNKNOWN",
            "CMD_PARAMS_INVALID",
            "MAC_DOMAIN_DENIED",
            "MAC_URL_DENIED",
            "CMD_PARAMS_INVALID",
            "MAC_DOMAIN_MISMATCH",
            "ok",
            "PIPE_SEQ_OUT_OF_ORDER",
        ],
        "one verdict for each line that has an end"
    );
    assert!(
        verdicts
            .iter()
            .all(|verdict| verdict["ok"] == true || verdict["message"].as_str().unwrap().len() > 10)
    );
    assert!(!shown.contains("planted-"), "{shown}");
    assert!(text(&output.stderr).contains("ends inside a line"));
}

#[test]
fn verify_measures_without_telling_verdicts() {
    let environment = [("SGCLAW_SEED", SEED)];
    let line = run(
        &["sign", "--seq", "1", "--action", "click", "--domain", "localhost"],
        &environment,
        b"{\"selector\":\"a\"}",
    );
    let twice = [line.stdout.clone(), line.stdout].concat();
    let output = run(&["verify", "--stats", "--passes", "3", "-"], &environment, &twice);
    let stats: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&stats["accepted"], &stats["rejected"]), (&json!(1), &json!(1)));
    assert!(stats["ns_per_command"].as_f64().unwrap() > 0.0);
}

#[test]
fn a_seed_comes_from_a_file_or_the_environment_and_a_bad_one_is_a_usage_error() {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), format!("{SEED}\n")).unwrap();
    let arguments = ["sign", "--seq", "1", "--action", "click", "--domain", "localhost", "--hmac-only"];
    let from_file =
        run(&[&arguments[..], &["--seed-file", file.path().to_str().unwrap()]].concat(), &[], b"{}");
    let from_environment = run(&arguments, &[("SGCLAW_SEED", SEED)], b"{}");
    assert_eq!(from_file.stdout, from_environment.stdout);
    assert_eq!(from_file.stdout.len(), 65);
    for (environment, words) in [(vec![], "no seed"), (vec![("SGCLAW_SEED", "abc")], "32 to 128 hex digits")]
    {
        let output = run(&arguments, &environment, b"{}");
        assert_eq!(output.status.code(), Some(2));
        assert!(text(&output.stderr).contains(words), "{}", text(&output.stderr));
    }
    for bad in [["--seq", "0"], ["--seq", "9007199254740992"], ["--action", "a-b"], ["--domain", "A.example"]]
    {
        let mut changed: Vec<&str> = arguments.to_vec();
        let at = changed.iter().position(|argument| *argument == bad[0]).unwrap();
        changed[at + 1] = bad[1];
        assert_eq!(run(&changed, &[("SGCLAW_SEED", SEED)], b"{}").status.code(), Some(2), "{bad:?}");
    }
}

#[test]
fn errors_lists_every_code_and_schema_every_action() {
    let table = run(&["errors"], &[], b"");
    let json = run(&["errors", "--json"], &[], b"");
    let document: Value = serde_json::from_slice(&json.stdout).unwrap();
    let codes = document["codes"].as_array().unwrap();
    assert_eq!(codes.len(), 31);
    for code in codes {
        assert!(text(&table.stdout).contains(code["code"].as_str().unwrap()));
    }
    let names = run(&["schema"], &[], b"");
    assert_eq!(text(&names.stdout).lines().count(), 17 + 3);
    for name in text(&names.stdout).lines() {
        let schema: Value = serde_json::from_slice(&run(&["schema", name], &[], b"").stdout).unwrap();
        assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema", "{name}");
    }
    assert_eq!(run(&["schema", "fly"], &[], b"").status.code(), Some(2));
}
