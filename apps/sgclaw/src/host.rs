//! `sgclaw host`: the process host on POSIX.

use std::ffi::OsString;
use std::fs::File;
use std::io::{BufWriter, IsTerminal, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use sgclaw::pipe::TraceRecord;
use sgclaw::wire::HmacSeed;
use sgclaw::{
    ErrorCode, Host, HostConfig, HostSettings, Policy, Registry, State, UrlParser, WhatwgUrlParser,
};
use zeroize::Zeroizing;

use crate::browser::{Browser, BrowserChoice};
use crate::clock::Clock;
use crate::platform::{AgentProcess, Signals};
use crate::session::{Confirm, Ended, Observer, Session};
use crate::usage::{Derivation, Exit, log, policy};

/// Starts an agent and lets it drive a browser through every check of the contract.
///
/// The log goes to stderr and ends with one JSON line {state, code, message}. The agent's stderr is
/// passed on, bounded and without control characters. SIGINT and SIGTERM stop the session, SIGHUP reads
/// the policy again.
///
/// Exit status: 0 stopped, 2 usage, 3 crashed or not started.
#[derive(clap::Args)]
pub struct HostArguments {
    #[command(flatten)]
    browser: BrowserArguments,
    /// What the agent may do (contract section 9); without it, everything on localhost, 127.0.0.1 and
    /// [::1], and nothing else.
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,
    /// Where the trace goes, one JSON line per stage of a seq. A file that is there is replaced.
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// How the key comes from the seed; the agent must do the same.
    #[arg(long, value_enum, default_value_t)]
    key_derivation: Derivation,
    /// Who confirms where the policy asks for it; `ask` denies where stdin is no terminal.
    #[arg(long, value_enum, default_value_t = Confirm::Ask)]
    confirm: Confirm,
    /// How long the agent has for init_ack.
    #[arg(long, value_name = "N", default_value_t = 5000, value_parser = clap::value_parser!(u64).range(1..=600_000))]
    handshake_timeout_ms: u64,
    /// The agent and its arguments.
    #[arg(last = true, required = true, value_name = "AGENT")]
    agent: Vec<OsString>,
}

/// Which browser, and what it shows first.
#[derive(clap::Args, Clone)]
pub struct BrowserArguments {
    /// `auto` looks for Chromium, `memory` is a page in memory and no browser (it has h1, #user,
    /// #password, #login and then #greeting), else the path of a Chromium.
    #[arg(long, value_name = "auto|PATH|memory", default_value = "auto")]
    pub browser: BrowserChoice,
    /// What the browser shows first.
    #[arg(long, value_name = "URL")]
    pub url: Option<String>,
    /// Show the browser's window.
    #[arg(long)]
    pub headful: bool,
}

/// Runs the host to the end of the session.
pub fn run(arguments: &HostArguments) -> Result<(), Exit> {
    let policy_in_force = policy(arguments.policy.as_ref())?;
    warn_of_unknown_actions(&policy_in_force);
    if let Some(url) = &arguments.browser.url
        && WhatwgUrlParser.parse(url).is_none()
    {
        return Err(Exit::usage(format!(
            "--url {url:?}: expected an absolute URL such as https://erp.example.com/"
        )));
    }
    let trace = match &arguments.trace {
        None => None,
        Some(path) => {
            let file = File::create(path)
                .map_err(|error| Exit::usage(format!("--trace {}: {error}", path.display())))?;
            Some(TraceFile::new(file))
        }
    };
    let mut log = Log::new(trace, arguments.policy.clone());
    let ended = start(
        &arguments.browser,
        policy_in_force,
        arguments.key_derivation,
        arguments.confirm,
        HostSettings {
            handshake_timeout: Duration::from_millis(arguments.handshake_timeout_ms),
            ..HostSettings::default()
        },
        &arguments.agent,
        &mut log,
    );
    log.flush();
    conclude(&ended)
}

/// A misspelt name in `confirm` would never be asked for.
fn warn_of_unknown_actions(policy: &Policy) {
    for name in policy.unknown_actions(&Registry::standard()) {
        log(format_args!("sgclaw: the policy names the action {name:?}, which this host does not have"));
    }
}

/// Writes the last line and turns the end of a session into an exit status.
pub fn conclude(ended: &Ended) -> Result<(), Exit> {
    // On the wire and here a code is `PIPE_…`; what is no fault of the pipe stands in the message.
    let pipe_code = ended.code.map(ErrorCode::as_str).filter(|code| code.starts_with("PIPE_"));
    let message = match ended.code {
        Some(code) if pipe_code.is_none() => format!("{code}: {}", ended.message),
        _ => ended.message.clone(),
    };
    // Written by hand, so that the state stands first.
    let (state, code, message) = (json!(ended.state.as_str()), json!(pipe_code), json!(message));
    log(format_args!("{{\"state\": {state}, \"code\": {code}, \"message\": {message}}}"));
    match ended.state {
        State::Stopped => Ok(()),
        _ => Err(Exit { status: crate::usage::CRASHED, message: String::new() }),
    }
}

/// Starts browser and agent and runs the session to its end.
pub fn start(
    browser: &BrowserArguments,
    policy: Policy,
    derivation: Derivation,
    confirm: Confirm,
    settings: HostSettings,
    agent: &[OsString],
    observer: &mut dyn Observer,
) -> Ended {
    let crashed = |code, message: String| Ended { state: State::Crashed, code: Some(code), message };
    let clock = Clock::start();
    let urls = Arc::new(WhatwgUrlParser);
    let mut seed = Zeroizing::new([0_u8; 32]);
    if let Err(error) = getrandom::fill(seed.as_mut_slice()) {
        return crashed(ErrorCode::InternalUnknown, format!("the system gives no random numbers: {error}"));
    }
    let Ok(seed) = HmacSeed::from_bytes(seed.as_slice()) else {
        return crashed(ErrorCode::InternalUnknown, "a seed of 32 bytes was refused".into());
    };
    // Before the browser starts, so that a signal finds somebody who takes it down.
    let mut signals = match Signals::register() {
        Ok(signals) => signals,
        Err(error) => {
            return crashed(ErrorCode::InternalUnknown, format!("signals cannot be handled: {error}"));
        }
    };
    if browser.browser != BrowserChoice::Memory {
        observer.log("the browser is starting");
    }
    let choice = &browser.browser;
    let (browser, page) = match Browser::start(
        choice,
        browser.url.as_deref(),
        browser.headful,
        Arc::new(policy.clone()),
        &clock,
        &mut signals,
    ) {
        Ok(started) => started,
        Err(message) => return crashed(ErrorCode::InternalExecutorGone, message),
    };
    let Some((command, arguments)) = agent.split_first() else {
        return crashed(ErrorCode::PipeClosed, "no agent was named".into());
    };
    let agent = match AgentProcess::spawn(command, arguments) {
        Ok(agent) => agent,
        Err(error) => {
            let name = command.to_string_lossy();
            return crashed(ErrorCode::PipeClosed, format!("the agent {name:?} cannot be started: {error}"));
        }
    };
    let config = HostConfig {
        session: format!("{}-{}", clock.now().as_micros() / 1_000_000, std::process::id()),
        seed,
        key_derivation: derivation.into(),
        registry: Registry::standard(),
        policy,
        settings,
    };
    let mut host = Host::new(config, urls);
    host.set_page(page);
    let session = Session { host, browser, confirm, clock, signals };
    match session.run(agent, observer) {
        Ok(ended) => ended,
        Err(error) => crashed(ErrorCode::InternalUnknown, format!("the session's loop failed: {error}")),
    }
}

/// The log on stderr and the trace in a file.
pub struct Log {
    trace: Option<TraceFile>,
    policy_file: Option<PathBuf>,
}

impl Log {
    pub fn new(trace: Option<TraceFile>, policy_file: Option<PathBuf>) -> Self {
        Log { trace, policy_file }
    }
}

impl Observer for Log {
    fn log(&mut self, line: &str) {
        log(format_args!("sgclaw: {line}"));
    }

    fn agent_line(&mut self, line: &str) {
        log(format_args!("agent: {line}"));
    }

    fn trace(&mut self, record: &TraceRecord) {
        if let Some(trace) = &mut self.trace {
            trace.write(record);
        }
    }

    fn flush(&mut self) {
        if let Some(trace) = &mut self.trace {
            trace.flush();
        }
    }

    fn reload_policy(&mut self) -> Option<Policy> {
        if self.policy_file.is_none() {
            self.log("SIGHUP reads the policy again; there is none, since --policy was not given");
            return None;
        }
        match policy(self.policy_file.as_ref()) {
            Ok(policy) => {
                warn_of_unknown_actions(&policy);
                self.log("the policy was read again and is in force");
                Some(policy)
            }
            Err(exit) => {
                self.log(&format!("the old policy stays in force: {}", exit.message));
                None
            }
        }
    }
}

/// A trace that is lost on a full disk must not end the session: it is said once and goes on
/// without.
pub struct TraceFile {
    file: BufWriter<File>,
    failed: bool,
}

impl TraceFile {
    pub fn new(file: File) -> Self {
        TraceFile { file: BufWriter::new(file), failed: false }
    }

    pub fn write(&mut self, record: &TraceRecord) {
        let outcome = self.file.write_all(record.to_line().as_bytes());
        self.note(outcome);
    }

    pub fn flush(&mut self) {
        let outcome = self.file.flush();
        self.note(outcome);
    }

    fn note(&mut self, outcome: std::io::Result<()>) {
        if let Err(error) = outcome
            && !self.failed
        {
            self.failed = true;
            log(format_args!("sgclaw: the trace is incomplete from here on: {error}"));
        }
    }
}

/// Whether to colour what goes to `stream` (NO_COLOR is honoured).
pub fn colours(stream: &impl IsTerminal) -> bool {
    stream.is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}
