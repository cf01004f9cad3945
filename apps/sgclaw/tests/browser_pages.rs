//! Every page case, done by the executor in a real Chromium. Run it by name, with a part of a case's name to
//! run fewer: `cargo test -p sgclaw-cli --test browser_pages [-- NAME]`.

// Each runner is a crate of its own and uses its own part of this.
#[path = "support/browser.rs"]
mod browser;
#[allow(dead_code)]
#[path = "support/cases.rs"]
mod cases;
#[allow(dead_code)]
#[path = "support/page_server.rs"]
mod page_server;

use std::time::Duration;

use browser::Browser;
use cases::{Case, failure, load_all, mismatch, success};
use libtest_mimic::{Arguments, Failed, Trial};
use page_server::PageServer;
use serde_json::{Value, json};

fn main() {
    let mut arguments = Arguments::from_args();
    // A browser has several processes; more at a time than there are cores only makes them late.
    arguments.test_threads.get_or_insert(2);
    let server = PageServer::start().unwrap_or_else(|e| panic!("{e}"));
    let port = server.port();
    let cases = load_all(port).unwrap_or_else(|e| panic!("{e}"));
    let trials =
        cases.into_iter().map(|case| Trial::test(case.name.clone(), move || run(&case, port))).collect();
    let conclusion = libtest_mimic::run(&arguments, trials);
    drop(server);
    conclusion.exit();
}

fn run(case: &Case, port: u16) -> Result<(), Failed> {
    let mut browser = Browser::start(&case.policy);
    browser
        .act("navigate", &json!({ "url": case.url(port), "timeout_ms": 10_000 }), &case.host)
        .map_err(|(code, details)| format!("the page does not open: {code} {details}"))?;
    for (index, step) in case.steps.iter().enumerate() {
        match step.action.as_str() {
            "sleep" => browser.idle(Duration::from_millis(step.sleep_ms())),
            "crash" => browser.crash(),
            action => {
                let params = Value::Object(step.params.clone());
                let got = match browser.act(action, &params, &step.domain) {
                    Ok(data) => success(data),
                    Err((code, details)) => failure(&code, details),
                };
                let expected = step.expect.clone().unwrap_or_default();
                if let Some(difference) = mismatch(&expected, &got) {
                    return Err(format!("{}: step {index}, {action}: {difference}", case.about).into());
                }
            }
        }
    }
    Ok(())
}
