//! Every page case, done by our own executor in a real Chromium, over the whole path of a command.

// Each runner is a crate of its own and uses its own part of this.
#[allow(dead_code)]
#[path = "support/cases.rs"]
mod cases;
#[allow(dead_code)]
#[path = "support/page_server.rs"]
mod page_server;
#[path = "support/session.rs"]
mod session;

use std::time::Duration;

use cases::{Case, load_all, mismatch};
use libtest_mimic::{Arguments, Failed, Trial};
use page_server::PageServer;
use session::Session;

fn main() {
    let mut arguments = Arguments::from_args();
    // Cases measure time; with more browsers at once they would measure each other.
    arguments.test_threads.get_or_insert(2);
    let server = PageServer::start().unwrap_or_else(|e| panic!("{e}"));
    let port = server.port();
    let cases = load_all(port).unwrap_or_else(|e| panic!("{e}"));
    let trials = cases
        .into_iter()
        .map(|case| {
            Trial::test(case.name.clone(), move || {
                run(&case, port).map_err(|e| Failed::from(format!("{}\n{e}", case.about)))
            })
        })
        .collect();
    let conclusion = libtest_mimic::run(&arguments, trials);
    drop(server);
    conclusion.exit();
}

fn run(case: &Case, port: u16) -> Result<(), String> {
    let mut session = Session::start(&case.policy)?;
    let url = serde_json::json!({"url": case.url(port), "timeout_ms": 10_000});
    let opened = session.act("navigate", url.as_object().ok_or("no params")?, &case.host)?;
    if let Some(mismatch) = mismatch(&serde_json::json!({"data": {"status": 200}}), &opened) {
        return Err(format!("the page does not open: {mismatch}"));
    }
    for (index, step) in case.steps.iter().enumerate() {
        let place = |e: String| format!("step {index} {}: {e}", step.action);
        match (step.action.as_str(), &step.expect) {
            ("sleep", _) => session.sleep(Duration::from_millis(step.sleep_ms())).map_err(place)?,
            ("crash", _) => session.crash_page().map_err(place)?,
            (action, Some(expected)) => {
                let got = session.act(action, &step.params, &step.domain).map_err(place)?;
                if let Some(mismatch) = mismatch(expected, &got) {
                    return Err(place(mismatch));
                }
            }
            (_, None) => return Err(place("expects nothing".into())),
        }
    }
    Ok(())
}
