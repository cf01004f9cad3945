//! `sgclaw trace`: a trace as a table.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::Value;
use sgclaw::contract::Schema;

use crate::tools::print;
use crate::usage::{Exit, log};

/// Shows a trace as a table, in the order of time.
///
/// Exit status 1: a line of the file is no record of a trace, or no record has the seq.
#[derive(clap::Args)]
pub struct TraceArguments {
    /// The trace that `sgclaw host --trace` wrote.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Show this seq alone.
    #[arg(long, value_name = "N")]
    seq: Option<u64>,
}

/// Runs `sgclaw trace`.
pub fn run(arguments: &TraceArguments) -> Result<(), Exit> {
    let path = arguments.file.display();
    let text = std::fs::read(&arguments.file).map_err(|error| Exit::usage(format!("{path}: {error}")))?;
    let (records, broken) = read(&text);
    let shown: Vec<_> =
        records.iter().filter(|record| arguments.seq.is_none_or(|seq| record["seq"] == seq)).collect();
    print(&table(&shown))?;
    for (line, error) in &broken {
        log(format_args!("sgclaw: {path} line {line}: no record of a trace: {error}"));
    }
    match arguments.seq {
        Some(seq) if shown.is_empty() => Err(Exit::no(format!("no record of {path} has seq {seq}"))),
        _ if !broken.is_empty() => Err(Exit::no(format!("{} lines of {path} were left out", broken.len()))),
        _ => Ok(()),
    }
}

/// The records of a trace, and the lines that are none. A record satisfies the schema, so that its
/// texts are names and codes: nothing that a terminal would obey.
pub fn read(text: &[u8]) -> (Vec<Value>, Vec<(usize, String)>) {
    let mut records = Vec::new();
    let mut broken = Vec::new();
    let Some(schema) = serde_json::from_str(SCHEMA).ok().and_then(|schema| Schema::compile(&schema).ok())
    else {
        return (records, vec![(0, "the schema of trace records does not compile".into())]);
    };
    let whole = text.strip_suffix(b"\n").unwrap_or(text);
    for (number, line) in whole.split(|byte| *byte == b'\n').enumerate().filter(|(_, line)| !line.is_empty())
    {
        match serde_json::from_slice::<Value>(line) {
            Ok(record) => match schema.validate(&record) {
                Ok(()) => records.push(record),
                Err(errors) => {
                    let first = errors.first().cloned().unwrap_or_default();
                    broken.push((number + 1, format!("at {}: {}", first["path"], first["message"])));
                }
            },
            Err(error) => broken.push((number + 1, error.to_string())),
        }
    }
    (records, broken)
}

const SCHEMA: &str = include_str!("../../../schemas/pipe/1.0/trace.schema.json");

/// One line a record; the time counts from the first record of its session.
fn table(records: &[&Value]) -> String {
    let mut first: BTreeMap<&str, u64> = BTreeMap::new();
    let mut out = format!("{:>12}  {:>6}  {:<14}  {:<14}  {}\n", "ms", "seq", "stage", "action", "details");
    for record in records {
        let text = |field: &str| record[field].as_str().unwrap_or_default();
        let time = record["time_us"].as_u64().unwrap_or_default();
        let start = *first.entry(text("session")).or_insert(time);
        let mut details = Vec::new();
        for field in ["state", "code", "reason"] {
            if !text(field).is_empty() {
                details.push(text(field).to_owned());
            }
        }
        for (field, unit) in [("queue_us", "queue"), ("exec_us", "exec")] {
            if let Some(span) = record[field].as_u64() {
                details.push(format!("{unit} {:.3} ms", span as f64 / 1000.0));
            }
        }
        if let Some(bytes) = record["bytes"].as_u64() {
            details.push(format!("{bytes} bytes"));
        }
        if let Some(gap) = record["seq_gap"].as_u64() {
            details.push(format!("{gap} seqs skipped"));
        }
        let seq = match record["seq"].as_u64() {
            Some(0) | None => "–".to_owned(),
            Some(seq) => seq.to_string(),
        };
        out.push_str(&format!(
            "{:>12.3}  {seq:>6}  {:<14}  {:<14}  {}\n",
            time.saturating_sub(start) as f64 / 1000.0,
            text("stage"),
            text("action"),
            details.join(", ")
        ));
    }
    out
}

/// The timeline by seq: for each command how it went from request through execution to response.
pub fn timeline(records: &[Value]) -> String {
    let mut by_seq: BTreeMap<u64, Vec<&Value>> = BTreeMap::new();
    for record in records {
        if let Some(seq) = record["seq"].as_u64().filter(|seq| *seq > 0) {
            by_seq.entry(seq).or_default().push(record);
        }
    }
    let mut out =
        format!("{:>4}  {:<14} {:>10} {:>10}  {}\n", "seq", "action", "queue ms", "exec ms", "stages");
    for (seq, records) in by_seq {
        let find = |field: &str| records.iter().map(|record| &record[field]).find(|value| !value.is_null());
        let millis = |field: &str| {
            find(field)
                .and_then(Value::as_u64)
                .map_or("–".into(), |span| format!("{:.1}", span as f64 / 1000.0))
        };
        let stages: Vec<_> = records.iter().filter_map(|record| record["stage"].as_str()).collect();
        let code = find("code").and_then(Value::as_str).map(|code| format!("  {code}")).unwrap_or_default();
        out.push_str(&format!(
            "{seq:>4}  {:<14} {:>10} {:>10}  {}{code}\n",
            find("action").and_then(Value::as_str).unwrap_or("–"),
            millis("queue_us"),
            millis("exec_us"),
            stages.join(" → ")
        ));
    }
    out
}
