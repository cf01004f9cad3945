//! Runs a host as a person would and looks at what is left.
#![allow(dead_code)] // each test target uses its own part

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};

pub const SGCLAW: &str = env!("CARGO_BIN_EXE_sgclaw");
/// A host program to test instead of `sgclaw host`, with the same options: that in C++ (`examples/cpp_host`).
const OTHER_HOST: &str = "SGCLAW_HOST";
/// Stands in the environment of everything that a test starts, so that orphans can be found.
const MARK: &str = "SGCLAW_TEST_MARK";

pub struct Host {
    folder: tempfile::TempDir,
    mark: String,
    browser: &'static str,
    pub flags: Vec<String>,
}

pub struct Ended {
    pub status: Option<i32>,
    pub stderr: String,
    pub trace: Vec<Value>,
}

impl Host {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mark = folder.path().file_name().unwrap().to_string_lossy().into_owned();
        Host { folder, mark, browser: "memory", flags: Vec::new() }
    }

    /// On the Chromium that is installed.
    pub fn on_chromium() -> Self {
        Host { browser: "auto", ..Host::new() }
    }

    pub fn with(flags: &[&str]) -> Self {
        Host { flags: flags.iter().map(|flag| flag.to_string()).collect(), ..Host::new() }
    }

    pub fn file(&self, name: &str, content: &str) -> String {
        let path = self.folder.path().join(name);
        std::fs::write(&path, content).unwrap();
        path.to_string_lossy().into_owned()
    }

    pub fn command(&self, agent: &[&str]) -> Command {
        let mut command = host_program();
        command.args(["--browser", self.browser, "--trace"]).arg(self.trace_path());
        if self.browser == "memory" {
            command.args(["--url", "http://localhost/"]);
        }
        command.args(&self.flags).arg("--").args(agent);
        command.env(MARK, &self.mark).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    pub fn trace_path(&self) -> PathBuf {
        self.folder.path().join("trace.jsonl")
    }

    pub fn run(&self, agent: &[&str]) -> Ended {
        self.ended(self.command(agent).output().unwrap())
    }

    /// A session with the reference agent and this script.
    pub fn play(&self, steps: &[Value]) -> Ended {
        let text: String = steps.iter().map(|step| format!("{step}\n")).collect();
        let script = self.file("script.jsonl", &text);
        self.run(&[SGCLAW, "agent", "--script", &script])
    }

    pub fn ended(&self, output: Output) -> Ended {
        assert!(output.stdout.is_empty(), "stdout is not used");
        let trace = std::fs::read_to_string(self.trace_path()).unwrap_or_default();
        let ended = Ended {
            status: output.status.code(),
            stderr: String::from_utf8(output.stderr).unwrap(),
            trace: trace.lines().map(|line| serde_json::from_str(line).unwrap()).collect(),
        };
        assert_eq!(left_of(&self.mark), Vec::<String>::new(), "left behind; stderr:\n{}", ended.stderr);
        ended
    }
}

/// The host under test, without options.
pub fn host_program() -> Command {
    match std::env::var_os(OTHER_HOST) {
        Some(program) => Command::new(program),
        None => {
            let mut sgclaw = Command::new(SGCLAW);
            sgclaw.arg("host");
            sgclaw
        }
    }
}

impl Ended {
    pub fn last_line(&self) -> Value {
        serde_json::from_str(self.stderr.lines().last().unwrap()).unwrap()
    }

    #[track_caller]
    pub fn assert_stopped(&self) {
        assert_eq!(
            (self.last_line()["state"].as_str(), self.status),
            (Some("Stopped"), Some(0)),
            "{}",
            self.stderr
        );
        assert_eq!(self.last_line()["code"], Value::Null);
    }

    #[track_caller]
    pub fn assert_crashed(&self, code: &str) {
        let last = self.last_line();
        assert_eq!(
            (last["state"].as_str(), last["code"].as_str()),
            (Some("Crashed"), Some(code)),
            "{}",
            self.stderr
        );
        assert_eq!(self.status, Some(3));
        assert!(!last["message"].as_str().unwrap().is_empty());
    }

    /// The agent's reports on its steps.
    pub fn reports(&self) -> Vec<Value> {
        let lines = self.stderr.lines().filter_map(|line| line.strip_prefix("agent: "));
        let reports = lines.filter_map(|line| serde_json::from_str::<Value>(line).ok());
        reports.filter(|report| report["step"].is_u64()).collect()
    }

    /// The agent's report on a step, counted from 1.
    pub fn step(&self, number: u64) -> Value {
        let found = self.reports().into_iter().find(|report| report["step"] == number);
        found.unwrap_or_else(|| panic!("no step {number} in\n{}", self.stderr))
    }

    pub fn stages(&self, seq: u64) -> Vec<&str> {
        self.trace
            .iter()
            .filter(|record| record["seq"] == seq)
            .map(|record| record["stage"].as_str().unwrap())
            .collect()
    }

    pub fn rejected(&self) -> Vec<&str> {
        let rejected = self.trace.iter().filter(|record| record["stage"] == "rejected");
        rejected.map(|record| record["code"].as_str().unwrap()).collect()
    }
}

/// What is left of a test a while after its end: a process that was killed takes a moment to go.
fn left_of(mark: &str) -> Vec<String> {
    for _ in 0..100 {
        if processes_with(mark).is_empty() {
            return Vec::new();
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    processes_with(mark)
}

/// The processes that carry a mark in their environment. What `host` has started is not our child, so
/// a zombie of its would be init's and has no environment to look at.
pub fn processes_with(mark: &str) -> Vec<String> {
    let needle = format!("{MARK}={mark}");
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let environ = std::fs::read(entry.path().join("environ")).unwrap_or_default();
        if environ.split(|byte| *byte == 0).any(|variable| variable == needle.as_bytes()) {
            found.push(std::fs::read_to_string(entry.path().join("cmdline")).unwrap_or_default());
        }
    }
    found
}

pub fn step(action: &str, params: Value) -> Value {
    json!({"action": action, "params": params, "expected_domain": "localhost"})
}

pub fn wait_for(file: &Path, word: &str) {
    for _ in 0..600 {
        if std::fs::read_to_string(file).unwrap_or_default().contains(word) {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    panic!("{word} did not come into {}", file.display());
}

pub fn signal(process: u32, signal: Signal) {
    kill(Pid::from_raw(process.cast_signed()), signal).unwrap();
    // Two signals of one kind may be told as one.
    std::thread::sleep(std::time::Duration::from_millis(100));
}
