//! The real path in one loop: agent and host of the core back to back, the executor, and a real Chromium.

use std::collections::HashMap;
use std::os::fd::BorrowedFd;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use serde_json::{Map, Value, json};
use sgclaw::browser::{Executor, ExecutorConfig, ExecutorEvent};
use sgclaw::contract::Registry;
use sgclaw::pipe::{AgentConfig, HostConfig, HostSettings, KeyDerivation};
use sgclaw::wire::HmacSeed;
use sgclaw::{
    ActionName, Agent, AgentEvent, Domain, Host, HostEvent, JsonObject, Policy, Time, UrlParser,
    WhatwgUrlParser,
};
use sgclaw_cli::chromium::{Chromium, LaunchOptions};

use super::cases::{failure, success};

/// Beyond the host's own deadline: what this ends is a host that does not answer.
const PATIENCE: Duration = Duration::from_secs(5);

pub struct Session {
    agent: Agent,
    host: Host,
    executor: Executor,
    browser: Chromium,
    urls: Arc<dyn UrlParser>,
    begun: Instant,
    agent_ready: bool,
    executor_ready: bool,
    browser_gone: bool,
    /// Answers as they stood on the wire, by seq. Read there and not from the agent's events, since the agent
    /// repeats a command that found no element, and a case is about one command. Its retries are never due:
    /// the agent is not told of the time.
    answers: HashMap<u64, Value>,
    last_seq: u64,
}

impl Session {
    /// A browser, a handshake, and a policy.
    pub fn start(policy: &Value) -> Result<Self, String> {
        let urls: Arc<dyn UrlParser> = Arc::new(WhatwgUrlParser);
        let policy =
            Policy::parse(policy.to_string().as_bytes(), &*urls).map_err(|e| format!("policy: {e}"))?;
        let registry = Registry::standard();
        let agent = AgentConfig {
            agent_id: "7d5f2c3e-1b8a-4f60-9c55-0d6e8b3a1f42".into(),
            supported_actions: registry.names().cloned().collect(),
            key_derivation: KeyDerivation::default(),
        };
        let executor = Executor::new(ExecutorConfig::new(urls.clone(), Arc::new(policy.clone())));
        let host = HostConfig {
            session: "pages".into(),
            seed: HmacSeed::from_bytes(&[7; 32]).map_err(|e| format!("seed: {e}"))?,
            key_derivation: KeyDerivation::default(),
            registry,
            policy,
            settings: HostSettings::default(),
        };
        // The page server has one address.
        let options = LaunchOptions {
            arguments: vec!["--host-resolver-rules=MAP localhost 127.0.0.1".into()],
            ..LaunchOptions::default()
        };
        let mut session = Session {
            agent: Agent::new(agent, urls.clone()),
            host: Host::new(host, urls.clone()),
            executor,
            browser: Chromium::launch(&options).map_err(|e| format!("{e}, or: cargo xtask setup"))?,
            urls,
            begun: Instant::now(),
            agent_ready: false,
            executor_ready: false,
            browser_gone: false,
            answers: HashMap::new(),
            last_seq: 0,
        };
        let now = session.now();
        session.host.start(now);
        session.executor.start(now);
        session
            .run_until(Duration::from_secs(20), |session| session.agent_ready && session.executor_ready)?;
        Ok(session)
    }

    /// One command, in the shape of an expectation.
    pub fn act(&mut self, action: &str, params: &Map<String, Value>, domain: &str) -> Result<Value, String> {
        let name = action.parse::<ActionName>().map_err(|e| format!("{action}: {e:?}"))?;
        let object = JsonObject::from_serde(&Value::Object(params.clone())).ok_or("params are no object")?;
        let expected = Domain::parse(domain, &*self.urls).map_err(|e| format!("{domain}: {e:?}"))?;
        let now = self.now();
        self.agent.request(name, object, expected, now).map_err(|e| format!("the agent: {e}"))?;
        self.last_seq += 1;
        let seq = self.last_seq;
        let timeout = params.get("timeout_ms").and_then(Value::as_u64).unwrap_or(30_000);
        self.run_until(Duration::from_millis(timeout) + PATIENCE, |session| {
            session.answers.contains_key(&seq)
        })?;
        let mut answer = self.answers.remove(&seq).unwrap_or_default();
        Ok(if answer["success"] == json!(true) {
            success(answer.get_mut("data").map(Value::take).unwrap_or(json!({})))
        } else {
            let error = &answer["error"];
            let details = error.get("details").cloned().unwrap_or(json!({}));
            failure(error["code"].as_str().unwrap_or_default(), details)
        })
    }

    /// Lets the page go on; the browser and the executor are served meanwhile.
    pub fn sleep(&mut self, time: Duration) -> Result<(), String> {
        let until = Instant::now() + time;
        self.run_until(time + PATIENCE, |_| Instant::now() >= until)
    }

    pub fn crash_page(&mut self) -> Result<(), String> {
        crash_renderers(self.browser.id())?;
        self.sleep(Duration::from_millis(300))
    }

    fn now(&self) -> Time {
        Time::from_micros(self.begun.elapsed().as_micros() as u64)
    }

    fn run_until(&mut self, patience: Duration, done: impl Fn(&Self) -> bool) -> Result<(), String> {
        let end = Instant::now() + patience;
        loop {
            self.exchange()?;
            if done(self) {
                return Ok(());
            }
            if self.browser_gone {
                return Err("the browser is gone".into());
            }
            if Instant::now() >= end {
                return Err(format!("nothing came within {patience:?}"));
            }
            let due = [self.host.poll_timeout(), self.executor.poll_timeout()].into_iter().flatten().min();
            let wait = due.map_or(Duration::from_millis(50), |due| due.since(self.now()));
            // Short, so that what `done` looks at besides the session is seen soon.
            self.wait_for_browser(wait.min(Duration::from_millis(50)))?;
            for message in self.browser.read_messages().map_err(|e| format!("the browser's pipe: {e}"))? {
                self.executor.handle_message(&message, self.now());
            }
            let now = self.now();
            if self.browser.has_ended() {
                self.browser_gone = true;
                self.executor.handle_disconnect(now);
            }
            self.executor.handle_timeout(now);
            self.host.handle_timeout(now);
        }
    }

    fn wait_for_browser(&mut self, wait: Duration) -> Result<(), String> {
        let failed = |e: &dyn std::fmt::Display| format!("the browser's pipe: {e}");
        self.browser.flush();
        let mut ends = vec![PollFd::new(self.browser.reader_fd(), PollFlags::POLLIN)];
        let writer: Option<BorrowedFd<'_>> =
            if self.browser.wants_write() { self.browser.writer_fd() } else { None };
        ends.extend(writer.map(|end| PollFd::new(end, PollFlags::POLLOUT)));
        // Rounded up: a wait of nothing would spin until the time has come.
        let wait = PollTimeout::try_from(wait + Duration::from_micros(999)).map_err(|e| failed(&e))?;
        match poll(&mut ends, wait) {
            Ok(_) | Err(nix::errno::Errno::EINTR) => Ok(()),
            Err(e) => Err(failed(&e)),
        }
    }

    /// Carries everything that waits to where it belongs, until nothing waits.
    fn exchange(&mut self) -> Result<(), String> {
        loop {
            let now = self.now();
            let mut moved = false;
            let bytes = self.host.output().to_vec();
            if !bytes.is_empty() {
                moved = true;
                self.note_answers(&bytes)?;
                self.host.output_written(bytes.len());
                self.agent.handle_input(&bytes, now);
            }
            let bytes = self.agent.output().to_vec();
            if !bytes.is_empty() {
                moved = true;
                self.agent.output_written(bytes.len());
                self.host.handle_input(&bytes, now);
            }
            while let Some(event) = self.agent.poll_event() {
                match event {
                    AgentEvent::Ready => self.agent_ready = true,
                    AgentEvent::Ended { failure } => return Err(format!("the agent ended: {failure:?}")),
                    _ => {}
                }
            }
            while self.host.poll_trace().is_some() {}
            while let Some(event) = self.host.poll_event() {
                moved = true;
                match event {
                    HostEvent::Execute(command) => self.executor.execute(command, now),
                    HostEvent::Cancel { seq } => self.executor.cancel(seq, now),
                    HostEvent::ConfirmationAsked { seq, .. } => self.host.confirm(seq, true, now),
                    HostEvent::Kill => return Err("the host wants the agent killed".into()),
                    _ => {}
                }
            }
            while let Some(message) = self.executor.poll_message() {
                moved = true;
                self.browser.queue(message);
            }
            while let Some(event) = self.executor.poll_event() {
                moved = true;
                match event {
                    ExecutorEvent::Ready => self.executor_ready = true,
                    ExecutorEvent::PageChanged { domain } => self.host.set_page(domain),
                    ExecutorEvent::Completed { seq, outcome } => self.host.complete(seq, outcome, now),
                    ExecutorEvent::Disconnected => self.browser_gone = true,
                    _ => {}
                }
            }
            if !moved {
                return Ok(());
            }
        }
    }

    /// The host hands its output over in whole lines here: all that waits at a time.
    fn note_answers(&mut self, bytes: &[u8]) -> Result<(), String> {
        for line in bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            let message: Value = serde_json::from_slice(line).map_err(|e| format!("the host's line: {e}"))?;
            if message["type"] == "response" {
                let seq = message["seq"].as_u64().unwrap_or_default();
                if self.answers.insert(seq, message).is_some() {
                    return Err(format!("seq {seq} was answered twice"));
                }
            }
        }
        Ok(())
    }
}

/// Ends every renderer of a browser as the system would that is out of memory.
fn crash_renderers(browser: u32) -> Result<(), String> {
    let mut crashed = 0;
    for entry in std::fs::read_dir("/proc").map_err(|e| format!("/proc: {e}"))?.flatten() {
        let process = entry.path();
        if group_of(&process) == Some(browser) && arguments(&process).contains("--type=renderer") {
            let pid =
                entry.file_name().to_string_lossy().parse::<i32>().map_err(|e| format!("/proc: {e}"))?;
            kill(Pid::from_raw(pid), Signal::SIGKILL).map_err(|e| format!("renderer {pid}: {e}"))?;
            crashed += 1;
        }
    }
    if crashed == 0 { Err("the browser has no renderer to crash".into()) } else { Ok(()) }
}

/// The process group, the third field after the name, which may hold anything.
fn group_of(process: &Path) -> Option<u32> {
    let stat = std::fs::read_to_string(process.join("stat")).ok()?;
    stat.rsplit_once(')')?.1.split_whitespace().nth(2)?.parse().ok()
}

fn arguments(process: &Path) -> String {
    String::from_utf8_lossy(&std::fs::read(process.join("cmdline")).unwrap_or_default()).into_owned()
}
