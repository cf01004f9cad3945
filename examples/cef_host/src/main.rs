//! A host in a browser: CEF, that is Chromium, runs in this process, the agent in a child, and sgclaw
//! between them on the browser's UI thread. See README.md.

mod agent;
mod cef;
mod session;

use std::ffi::OsString;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use clap::Parser;
use sgclaw::browser::{Executor, ExecutorConfig, Scope};
use sgclaw::pipe::KeyDerivation;
use sgclaw::wire::HmacSeed;
use sgclaw::{ErrorCode, Host, HostConfig, HostSettings, ParsedUrl, Policy, Registry, State, UrlParser};
use sgclaw_cli::clock::Clock;
use sgclaw_cli::host::{Log, TraceFile, conclude};
use sgclaw_cli::platform::{self, Interest, Signals};
use sgclaw_cli::session::Ended;
use sgclaw_cli::usage::{Exit, log, policy};
use zeroize::Zeroizing;

use agent::Agent;
use cef::{Cef, Page};
use session::{Event, Mailbox, Progress, Session};

const SWITCHES: &[&str] = &[
    "--ozone-platform=headless",
    "--disable-gpu",
    "--disable-gpu-compositing",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-dev-shm-usage",
    // Pages restored from it or rendered ahead would be documents that no navigation was seen for.
    "--disable-features=BackForwardCache,Prerender2,HttpsUpgrades",
    "--disable-quic",
    "--password-store=basic",
    // A frame of another site is a process and a session of its own, always.
    "--site-per-process",
];

/// Starts an agent and lets it drive a page of this process through every check of the contract.
///
/// The log goes to stderr and ends with one JSON line {state, code, message}. SIGINT and SIGTERM stop the
/// session, SIGHUP reads the policy again.
///
/// Exit status: 0 stopped, 2 usage, 3 crashed or not started.
#[derive(Parser)]
#[command(name = "cef_host")]
struct Arguments {
    /// What the page shows first.
    #[arg(long, value_name = "URL")]
    url: String,
    /// What the agent may do (contract section 9); without it, everything on localhost, 127.0.0.1 and
    /// [::1], and nothing else.
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,
    /// Where the trace goes, one JSON line per stage of a seq. A file that is there is replaced.
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// The agent and its arguments.
    #[arg(last = true, required = true, value_name = "AGENT")]
    agent: Vec<OsString>,
}

fn main() -> ExitCode {
    if let Some(status) = cef::run_subprocess() {
        return ExitCode::from(status);
    }
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(Exit { status, message }) => {
            if !message.is_empty() {
                log(format_args!("cef_host: {message}"));
            }
            ExitCode::from(status)
        }
    }
}

fn run(arguments: &Arguments) -> Result<(), Exit> {
    let policy = policy(arguments.policy.as_ref())?;
    if cef::parse_url(&arguments.url).is_none() {
        return Err(Exit::usage(format!("--url {:?}: expected an absolute URL", arguments.url)));
    }
    let trace = arguments.trace.as_ref().map(|path| {
        let file = File::create(path);
        file.map_err(|error| Exit::usage(format!("--trace {}: {error}", path.display())))
    });
    let trace = trace.transpose()?.map(TraceFile::new);
    let log = Log::new(trace, arguments.policy.clone());
    let ended = host(arguments, policy, log).unwrap_or_else(|(code, message)| Ended {
        state: State::Crashed,
        code: Some(code),
        message,
    });
    conclude(&ended)
}

/// Runs the session. CEF is gone when it returns, and so is its profile.
fn host(arguments: &Arguments, policy: Policy, log: Log) -> Result<Ended, (ErrorCode, String)> {
    let unknown = |what: &str| {
        let what = what.to_owned();
        move |error| (ErrorCode::InternalUnknown, format!("{what}: {error}"))
    };
    let clock = Clock::start();
    let mut seed = Zeroizing::new([0; 32]);
    getrandom::fill(seed.as_mut_slice())
        .map_err(|error| (ErrorCode::InternalUnknown, format!("no random numbers: {error}")))?;
    let seed = HmacSeed::from_bytes(seed.as_slice())
        .map_err(|error| (ErrorCode::InternalUnknown, format!("the seed: {error}")))?;
    // Before Chromium is in this process: not all of its descriptors close themselves on exec, and
    // forking is better done before it has threads.
    let Some((command, rest)) = arguments.agent.split_first() else {
        return Err((ErrorCode::PipeClosed, "no agent was named".to_owned()));
    };
    let agent = Agent::spawn(command, rest).map_err(|error| {
        let name = command.to_string_lossy();
        (ErrorCode::PipeClosed, format!("the agent {name:?} cannot be started: {error}"))
    })?;
    let profile = tempfile::Builder::new()
        .prefix("sgclaw-cef-")
        .tempdir()
        .map_err(unknown("no folder for the profile"))?;
    let gone = |message| (ErrorCode::InternalExecutorGone, message);
    let cef = Cef::start(Path::new(env!("CEF_RUNTIME")), profile.path(), SWITCHES).map_err(gone)?;
    let (mailbox, events) = Mailbox::new();
    watch_signals(mailbox.clone()).map_err(unknown("signals cannot be handled"))?;
    let heard = mailbox.clone();
    let page = Page::open(&cef, &arguments.url, move |event| heard.send(Event::Page(event))).map_err(gone)?;

    let config = HostConfig {
        session: format!("{}-{}", clock.now().as_micros() / 1_000_000, std::process::id()),
        seed,
        key_derivation: KeyDerivation::Hkdf,
        registry: Registry::standard(),
        policy,
        settings: HostSettings::default(),
    };
    let host = Host::new(config, Arc::new(Gurl));
    let scoped = ExecutorConfig {
        scope: Scope::Page,
        ..ExecutorConfig::new(Arc::new(Gurl), Arc::clone(host.policy()))
    };
    let executor = Executor::new(scoped);
    let session =
        Session { host, executor, page, agent, clock, mailbox, events, log, progress: Progress::default() };
    Ok(session.run(&cef))
}

/// The URL parser that Chromium navigates with (contract section 9).
struct Gurl;

impl UrlParser for Gurl {
    fn parse(&self, url: &str) -> Option<ParsedUrl> {
        let (scheme, host) = cef::parse_url(url)?;
        // Only these have a host that a policy could speak of.
        let has_host = matches!(scheme.as_str(), "http" | "https" | "ws" | "wss" | "ftp");
        Some(ParsedUrl { host: Some(host).filter(|host| has_host && !host.is_empty()), scheme })
    }
}

/// Posts the signals that a host cares for.
fn watch_signals(mailbox: Mailbox) -> std::io::Result<()> {
    let mut signals = Signals::register()?;
    let watch = move || {
        loop {
            let fds = signals.fds().map(|fd| (fd, Interest::Read));
            if platform::wait(&fds, None).is_err() {
                return;
            }
            let (stop, reload) = signals.take();
            if stop {
                mailbox.send(Event::Stop);
            }
            if reload {
                mailbox.send(Event::Reload);
            }
        }
    };
    std::thread::Builder::new().name("signals".to_owned()).spawn(watch).map(drop)
}
