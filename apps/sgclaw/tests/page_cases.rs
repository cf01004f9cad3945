//! The page cases are data, and the code that reads and compares them is tested here, without a browser.

// Each runner is a crate of its own and uses its own part of this.
#[allow(dead_code)]
#[path = "support/cases.rs"]
mod cases;
#[allow(dead_code)]
#[path = "support/page_server.rs"]
mod page_server;

use std::io::{Read, Write};
use std::net::TcpStream;

use cases::{Oracle, failure, load_all, mismatch, parse, strip};
use page_server::PageServer;
use serde_json::{Value, json};

fn case(json: &str) -> Result<cases::Case, String> {
    parse("a-name", &format!("<!--case {json} -->\n<!doctype html><p>page"), 8080)
}

#[test]
fn every_case_in_the_directory_is_well_formed_and_says_what_it_is_about() {
    let cases = load_all(8080).unwrap();
    assert!(cases.len() >= 65, "only {} cases", cases.len());
    for case in &cases {
        assert!(case.about.len() > 15, "{}: {:?} is no sentence", case.name, case.about);
        assert!(case.name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-'));
    }
}

#[test]
fn the_comment_is_not_part_of_the_page() {
    assert_eq!(strip("<!--case {} -->\n<!doctype html>x"), "<!doctype html>x");
    assert_eq!(strip("<!doctype html>x"), "<!doctype html>x");
}

#[test]
fn placeholders_domains_and_timeouts_are_filled_in() {
    let case = case(
        r##"{"about": "x", "host": "localhost", "steps": [
            {"action": "navigate", "params": {"url": "{base}/a"}, "expect": {"data": {"status": 200}}},
            {"action": "getText", "params": {"selector": "#log", "timeout_ms": 1}, "expect": {"data": {}}}]}"##,
    )
    .unwrap();
    assert_eq!(case.steps[0].params["url"], "http://127.0.0.1:8080/a");
    assert_eq!(case.steps[0].domain, "127.0.0.1");
    assert_eq!(case.steps[0].params["timeout_ms"], 5000);
    assert_eq!(case.steps[1].domain, "localhost");
    assert_eq!(case.steps[1].params["timeout_ms"], 1);
    assert_eq!(case.url(8080), "http://localhost:8080/a-name.html");
}

#[test]
fn a_case_that_cannot_fail_is_refused() {
    let click = r##"{"action": "click", "params": {"selector": "#b"}"##;
    for (json, complaint) in [
        (format!(r#"{{"about": "x", "steps": [{click}}}]}}"#), "expects nothing"),
        (
            format!(r#"{{"about": "x", "steps": [{click}, "expect": {{"data": {{}}}}}}]}}"#),
            "observes nothing",
        ),
        (format!(r#"{{"about": "x", "steps": [{click}, "expect": {{}}}}]}}"#), "neither"),
        (format!(r#"{{"about": "x", "steps": [{click}, "expect": {{"error": "oops"}}}}]}}"#), "neither"),
        (
            format!(r#"{{"about": "x", "steps": [{click}, "expect": {{"data": {{}}, "reason": "x"}}}}]}}"#),
            "reason",
        ),
        (r#"{"about": "x", "steps": [{"action": "sleep", "expect": {"data": {}}}]}"#.into(), "pseudo"),
        (r#"{"about": "x", "steps": [], "typo": 1}"#.into(), "typo"),
    ] {
        let error = case(&json).expect_err(&json);
        assert!(error.contains(complaint), "{json}: {error}");
    }
}

#[test]
fn an_oracle_that_declares_no_difference_is_refused() {
    let with = |oracle: &str| {
        case(&format!(
            r##"{{"about": "x", "steps": [{{"action": "getText", "params": {{"selector": "a"}},
                "expect": {{"data": {{"text": "a"}}}}}}], "oracle": {oracle}}}"##
        ))
    };
    let declared = with(r#"{"differs": "why", "steps": {"0": {"data": {"text": "b"}}}}"#).unwrap();
    assert_eq!(declared.oracle_expects(0), Some(&json!({"data": {"text": "b"}})));
    assert!(matches!(with(r#"{"skip": "why"}"#).unwrap().oracle, Oracle::Skipped { .. }));
    for oracle in [
        r#"{"differs": "why"}"#,
        r#"{"differs": "why", "steps": {"0": {"data": {"text": "a"}}}}"#,
        r#"{"differs": "why", "steps": {"1": {"data": {"text": "b"}}}}"#,
        r#"{"skip": "why", "steps": {"0": {"data": {"text": "b"}}}}"#,
        r#"{"skip": "why", "differs": "why"}"#,
        r#"{}"#,
    ] {
        assert!(with(oracle).is_err(), "{oracle}");
    }
}

#[test]
fn objects_match_as_subsets_and_everything_else_exactly() {
    let differs = |expected: Value, got: Value| mismatch(&expected, &got);
    assert_eq!(differs(json!({"a": 1}), json!({"a": 1.0, "b": 2})), None);
    assert_eq!(differs(json!({"a": [{"b": 1}]}), json!({"a": [{"b": 1, "c": 2}]})), None);
    assert_eq!(
        differs(json!({"a": {"b": "x"}}), json!({"a": {"b": "y"}})).unwrap(),
        r#"at /a/b/: expected "x", got "y""#
    );
    assert!(differs(json!({"a": null}), json!({})).is_some());
    assert!(differs(json!({"a": [1]}), json!({"a": [1, 2]})).is_some());
    assert!(differs(json!({"a": "1"}), json!({"a": 1})).is_some());
    assert!(differs(json!({"data": {}}), failure("CMD_TIMEOUT", json!({}))).is_some());
    assert_eq!(
        differs(
            json!({"error": "CMD_SELECTOR_TIMEOUT", "reason": "covered"}),
            failure("CMD_SELECTOR_TIMEOUT", json!({"reason": "covered"}))
        ),
        None
    );
}

#[test]
fn each_test_of_a_value_can_fail() {
    for (test, passes, fails) in [
        (json!({"$present": true}), json!("x"), json!(null)),
        (json!({"$present": false}), json!(null), json!(0)),
        (json!({"$contains": "REFUSED"}), json!("net::ERR_REFUSED"), json!("ERR_TIMED_OUT")),
        (json!({"$near": 10}), json!(10.6), json!(11.5)),
        (json!({"$chars": 2}), json!("😀你"), json!("😀")),
    ] {
        assert_eq!(mismatch(&test, &passes), None);
        assert!(mismatch(&test, &fails).is_some(), "{test} accepts {fails}");
    }
    assert!(mismatch(&json!({"$prezent": true}), &json!("x")).is_some(), "a misspelt test accepts nothing");
    assert!(mismatch(&json!({"a": {"$present": true}}), &json!({})).is_some());
    assert_eq!(mismatch(&json!({"a": {"$present": false}}), &json!({})), None);
}

fn get(port: u16, path: &str) -> String {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn the_server_serves_pages_without_their_comment_and_nothing_outside_the_directory() {
    let server = PageServer::start().unwrap();
    let port = server.port();
    let page = get(port, "/click-button.html");
    let (head, body) = page.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 200") && head.contains("text/html"), "{head}");
    assert!(body.starts_with("<!doctype html>"), "{body}");
    assert!(get(port, "/..%2f../Cargo.toml").starts_with("HTTP/1.1 404"));
    assert!(get(port, "/../../Cargo.toml").starts_with("HTTP/1.1 404"));
    assert!(get(port, "/no-such.html").starts_with("HTTP/1.1 404"));
}

#[test]
fn the_routes_answer_as_the_cases_need() {
    let server = PageServer::start().unwrap();
    let port = server.port();
    let redirect = get(port, "/redirect?code=307&to=http%3A%2F%2Flocalhost%2Fa%3Fb");
    assert!(redirect.starts_with("HTTP/1.1 307") && redirect.contains("Location: http://localhost/a?b"));
    assert!(get(port, "/status/204").starts_with("HTTP/1.1 204"));
    assert!(get(port, "/status/404").contains("status 404"));
    assert!(get(port, "/download").contains("attachment"));
    assert!(get(port, "/echo").contains("GET "));
    let begun = std::time::Instant::now();
    assert!(get(port, "/slow?ms=200").starts_with("HTTP/1.1 200"));
    assert!(begun.elapsed().as_millis() >= 200);
    let mut hanging = TcpStream::connect(("127.0.0.1", port)).unwrap();
    hanging.set_read_timeout(Some(std::time::Duration::from_millis(200))).unwrap();
    write!(hanging, "GET /hang HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n").unwrap();
    assert!(hanging.read(&mut [0]).is_err(), "/hang answered");
}
