//! The acceptance list of the contract (section 12) on real processes and a real Chromium. What
//! needs no browser of it is in `host_process.rs`.

#[path = "support/host.rs"]
mod host;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::thread::JoinHandle;

use host::{Host, SGCLAW, wait_for};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use serde_json::{Value, json};
use tiny_http::{Header, Response, Server};

const PAGE: &str = r#"<!doctype html><meta charset="utf-8"><title>acceptance</title>
<form onsubmit="event.preventDefault(); out.textContent = 'Hello, ' + user.value">
<input id="user"><button id="go">Go</button></form><p id="out"></p>"#;

/// Serves the page at every path.
struct Site {
    server: Arc<Server>,
    thread: Option<JoinHandle<()>>,
}

impl Site {
    fn start() -> Self {
        let server = Arc::new(Server::http("127.0.0.1:0").unwrap());
        let serving = Arc::clone(&server);
        let thread = std::thread::spawn(move || {
            for request in serving.incoming_requests() {
                let html = Header::from_bytes("Content-Type", "text/html; charset=utf-8").unwrap();
                let _gone = request.respond(Response::from_string(PAGE).with_header(html));
            }
        });
        Site { server, thread: Some(thread) }
    }

    fn url(&self, path: &str) -> String {
        format!("http://{}/{path}", self.server.server_addr())
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        self.server.unblock();
        self.thread.take().unwrap().join().unwrap();
    }
}

fn step(action: &str, params: Value) -> Value {
    json!({"action": action, "params": params, "expected_domain": "127.0.0.1"})
}

/// Fails, and says how to mend it, where there is no browser: a test that is skipped looks green.
fn require_chromium() {
    if let Err(error) = sgclaw_cli::chromium::Chromium::find(None) {
        panic!("{error} (or: cargo xtask setup)");
    }
}

#[test]
fn the_handshake_succeeds_100_times_in_a_row() {
    require_chromium();
    let host = Host::on_chromium();
    for _ in 0..100 {
        host.play(&[]).assert_stopped();
    }
}

#[test]
fn the_four_core_actions_succeed_in_at_least_99_percent_of_1000_rounds() {
    require_chromium();
    let rounds: usize = std::env::var("SGCLAW_ROUNDS").map_or(1000, |rounds| rounds.parse().unwrap());
    let site = Site::start();
    let mut steps = Vec::new();
    for round in 0..rounds {
        steps.push(step("navigate", json!({"url": site.url(&round.to_string())})));
        steps.push(step("type", json!({"selector": "#user", "text": format!("第{round}轮 round")})));
        steps.push(step("click", json!({"selector": "#go"})));
        let mut read = step("getText", json!({"selector": "#out"}));
        read["expect"] = json!({"data": {"text": format!("Hello, 第{round}轮 round")}});
        steps.push(read);
    }
    let ended = Host::on_chromium().play(&steps);

    let mut spans: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    let (mut good, mut bad) = (0, Vec::new());
    for report in ended.reports() {
        spans
            .entry(report["action"].as_str().unwrap().to_owned())
            .or_default()
            .push(report["ms"].as_f64().unwrap());
        if report["ok"] == true {
            good += 1;
        } else {
            bad.push(report.to_string());
        }
        if !report["code"].is_null() {
            assert!(!report["message"].as_str().unwrap().is_empty(), "a failure without a message");
        }
    }
    println!("{good} of {} steps were as expected; agent to executor and back:", steps.len());
    for (action, mut spans) in spans {
        spans.sort_by(f64::total_cmp);
        let at = |part: f64| spans[((spans.len() - 1) as f64 * part) as usize];
        println!(
            "  {action:<10} p50 {:>8.2} ms   p99 {:>8.2} ms   max {:>8.2} ms",
            at(0.5),
            at(0.99),
            at(1.0)
        );
    }
    assert_eq!(good + bad.len(), steps.len(), "{}", ended.stderr.lines().last().unwrap());
    assert!(good * 100 >= steps.len() * 99, "{} failed, the first: {}", bad.len(), bad[0]);
    for failure in bad.iter().take(5) {
        println!("  {failure}");
    }
}

#[test]
fn one_seq_can_be_followed_from_request_through_execution_to_response() {
    require_chromium();
    let site = Site::start();
    let secret = "planted-typed-text-7f3a9c";
    let ended = Host::on_chromium().play(&[
        step("navigate", json!({"url": site.url("?q=planted-url-query-51d0be")})),
        step("type", json!({"selector": "#user", "text": secret})),
    ]);
    ended.assert_stopped();
    let records: Vec<_> = ended.trace.iter().filter(|record| record["seq"] == 2).collect();
    let stages: Vec<_> = records.iter().map(|record| record["stage"].as_str().unwrap()).collect();
    assert_eq!(stages, ["received", "verified", "authorized", "dispatched", "completed", "responded"]);
    let times: Vec<_> = records.iter().map(|record| record["time_us"].as_u64().unwrap()).collect();
    assert!(times.is_sorted());
    let everything = format!("{}{:?}", ended.stderr, ended.trace);
    assert!(!everything.contains(secret) && !everything.contains("planted-url-query"));
}

#[test]
fn a_browser_that_dies_in_the_middle_fails_what_runs_and_leaves_no_process() {
    require_chromium();
    let site = Site::start();
    let host = Host::on_chromium();
    let steps = [
        step("navigate", json!({"url": site.url("")})),
        json!({"action": "waitFor", "params": {"selector": "#never"}, "expected_domain": "127.0.0.1",
               "expect": {"code": "INTERNAL_EXECUTOR_GONE"}}),
    ];
    let script = host.file("script.jsonl", &steps.map(|step| format!("{step}\n")).concat());
    let child = host.command(&[SGCLAW, "agent", "--script", &script]).spawn().unwrap();
    wait_for(&host.trace_path(), "\"seq\":2,\"stage\":\"dispatched\"");
    for browser in browsers_of(child.id()) {
        // Its whole group: the program on PATH is a script around the browser.
        killpg(browser, Signal::SIGKILL).unwrap();
    }
    let ended = host.ended(child.wait_with_output().unwrap());
    ended.assert_stopped();
    assert_eq!(ended.step(2)["ok"], true, "{}", ended.stderr);
    // One retry after 1000 ms, and then no more (contract section 10).
    assert_eq!(ended.step(2)["attempts"], 2);
    assert!(ended.stderr.contains("the browser is gone"), "{}", ended.stderr);
}

/// The browser's main process is a child of the host's.
fn browsers_of(host: u32) -> Vec<Pid> {
    let mut found = Vec::new();
    for process in std::fs::read_dir("/proc").unwrap().flatten() {
        let read = |name: &str| std::fs::read_to_string(process.path().join(name)).unwrap_or_default();
        let is_child =
            read("status").lines().any(|line| line.split_whitespace().eq(["PPid:", &host.to_string()]));
        if is_child && read("cmdline").contains("--remote-debugging-pipe") {
            found.push(Pid::from_raw(process.file_name().to_string_lossy().parse().unwrap()));
        }
    }
    assert!(!found.is_empty(), "the host has no browser");
    found
}

#[test]
fn every_failure_has_a_code_and_a_message() {
    require_chromium();
    let site = Site::start();
    let expect = |action: &str, params: Value, code: &str| {
        let mut step = step(action, params);
        step["expect"] = json!({"code": code});
        step
    };
    let mut elsewhere = expect("click", json!({"selector": "#go"}), "MAC_DOMAIN_MISMATCH");
    elsewhere["expected_domain"] = json!("localhost");
    let ended = Host::on_chromium().play(&[
        step("navigate", json!({"url": site.url("")})),
        expect("click", json!({"selector": "#go", "timeout_ms": 60_001}), "CMD_PARAMS_INVALID"),
        expect("click", json!({"selector": "p:nth-child("}), "CMD_SELECTOR_INVALID"),
        expect("click", json!({"selector": "#none", "timeout_ms": 100}), "CMD_SELECTOR_TIMEOUT"),
        expect("fly", json!({}), "CMD_ACTION_UNKNOWN"),
        expect("navigate", json!({"url": "http://127.0.0.1:1/"}), "CMD_NAVIGATION_FAILED"),
        step("navigate", json!({"url": site.url("")})),
        elsewhere,
        expect("navigate", json!({"url": "file:///etc/passwd"}), "MAC_URL_DENIED"),
    ]);
    ended.assert_stopped();
    let failures: Vec<_> = ended.reports().into_iter().filter(|report| !report["code"].is_null()).collect();
    assert_eq!(failures.len(), 7);
    for failure in failures {
        assert!(failure["message"].as_str().is_some_and(|message| message.len() > 10), "{failure}");
    }
}
