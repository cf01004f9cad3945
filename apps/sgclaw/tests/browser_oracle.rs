//! Every page case again, done by Playwright: an expectation is never only our own opinion.
//!
//! A case that declares a difference fails too where the difference does not occur. What is missing on the
//! machine fails and names the command that installs it.

// Each runner is a crate of its own and uses its own part of this.
#[allow(dead_code)]
#[path = "support/cases.rs"]
mod cases;
#[allow(dead_code)]
#[path = "support/page_server.rs"]
mod page_server;

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Arc, OnceLock};

use cases::{Case, Oracle, load_all, mismatch};
use libtest_mimic::{Arguments, Failed, Trial};
use page_server::PageServer;
use serde_json::{Value, json};
use sgclaw_cli::chromium::Chromium;

/// What came back, by case and step.
type Results = HashMap<(String, usize), Value>;

fn main() {
    let arguments = Arguments::from_args();
    let server = PageServer::start().unwrap_or_else(|e| panic!("{e}"));
    let port = server.port();
    let cases = load_all(port).unwrap_or_else(|e| panic!("{e}"));
    let wanted: Vec<Case> = cases.into_iter().filter(|case| selected(&arguments, &case.name)).collect();
    let wanted = Arc::new(wanted);
    // One run of node for all of them, begun by the first trial: `--list` needs no browser.
    let results: Arc<OnceLock<Result<Results, String>>> = Arc::default();
    let trials = (0..wanted.len())
        .map(|index| {
            let (all, results) = (wanted.clone(), results.clone());
            Trial::test(wanted[index].name.clone(), move || {
                let results = results.get_or_init(|| run(port, &all));
                verdict(&all[index], results.as_ref().map_err(|e| Failed::from(e.clone()))?)
            })
        })
        .collect();
    let conclusion = libtest_mimic::run(&arguments, trials);
    drop(server);
    conclusion.exit();
}

/// The same selection as libtest_mimic's, made earlier so that the browser runs no case in vain.
fn selected(arguments: &Arguments, name: &str) -> bool {
    let hit = |filter: &String| if arguments.exact { name == filter } else { name.contains(filter.as_str()) };
    arguments.filter.as_ref().is_none_or(hit) && !arguments.skip.iter().any(hit)
}

fn run(port: u16, cases: &[Case]) -> Result<Results, String> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/oracle");
    let chromium = Chromium::find(None).map_err(|e| format!("{e}, or: cargo xtask setup"))?;
    if !directory.join("node_modules/playwright-core").exists() {
        return Err("tests/oracle/node_modules is missing: cargo xtask setup".into());
    }
    let job = json!({"chromium": chromium, "cases": cases.iter().filter(|case| runs(case)).map(|case| json!({
        "name": case.name,
        "url": case.url(port),
        "steps": case.steps.iter().map(|step| json!({"action": step.action, "params": step.params})).collect::<Vec<_>>(),
    })).collect::<Vec<_>>()});
    let mut node = Command::new("node")
        .arg(directory.join("run.mjs"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|e| format!("node does not start ({e}): cargo xtask setup"))?;
    let mut input = node.stdin.take().ok_or("no stdin")?;
    input.write_all(job.to_string().as_bytes()).map_err(|e| format!("node: {e}"))?;
    drop(input);
    let output = BufReader::new(node.stdout.take().ok_or("no stdout")?);
    let mut results = Results::new();
    for line in output.lines() {
        let line = line.map_err(|e| format!("node: {e}"))?;
        let mut verdict: Value = serde_json::from_str(&line).map_err(|e| format!("node: {e}: {line}"))?;
        let case = verdict["case"].as_str().unwrap_or_default().to_owned();
        let step = verdict["step"].as_u64().unwrap_or_default() as usize;
        results.insert((case, step), verdict["got"].take());
    }
    let status = node.wait().map_err(|e| format!("node: {e}"))?;
    if status.success() { Ok(results) } else { Err(format!("node ended with {status}")) }
}

fn runs(case: &Case) -> bool {
    !matches!(case.oracle, Oracle::Skipped { .. })
}

fn verdict(case: &Case, results: &Results) -> Result<(), Failed> {
    if !runs(case) {
        return Ok(());
    }
    let mut wrong = Vec::new();
    for index in 0..case.steps.len() {
        let Some(expected) = case.oracle_expects(index) else { continue };
        let Some(got) = results.get(&(case.name.clone(), index)) else {
            wrong.push(format!("step {index} was not reached"));
            break;
        };
        let declared = matches!(&case.oracle, Oracle::Differs { steps, .. } if steps.contains_key(&index));
        if let Some(mismatch) = mismatch(expected, got) {
            let kind = if declared { " (a declared difference)" } else { "" };
            wrong.push(format!("step {index} {}{kind} {mismatch}", case.steps[index].action));
        } else if declared
            && let Some(own) = &case.steps[index].expect
            && mismatch(own, got).is_none()
        {
            wrong.push(format!("step {index}: the declared difference does not occur"));
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(format!("{}\n{}", case.about, wrong.join("\n")).into()) }
}
