//! `sgclaw agent`: the reference agent, which plays a script over stdin and stdout.

use std::io::{self, Write};
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::json;
use sgclaw::pipe::AgentError;
use sgclaw::{
    ActionName, Agent, AgentConfig, AgentEvent, ErrorCode, Failure, JsonObject, Registry, WhatwgUrlParser,
};

use crate::clock::Clock;
use crate::platform::{self, Interest, ReadOutcome};
use crate::script::{self, Step};
use crate::usage::{Derivation, Exit, log};

/// Plays a script against a host on stdin and stdout.
///
/// FILE is JSON Lines of {action, params, expected_domain, expect?}; expect is {"data": {…}} (a subset)
/// or {"code": "…", "reason": "…"}; without it a success is expected. The steps run one after the other. Each
/// is reported on stderr as a JSON line {step, seq, attempts, action, ok, code, message, ms}.
///
/// Exit status: 0 all as expected, 1 a step was not, 2 usage, 3 the session failed.
#[derive(clap::Args)]
pub struct AgentArguments {
    /// The script.
    #[arg(long, value_name = "FILE")]
    script: PathBuf,
    /// How the key comes from the seed; the host must do the same.
    #[arg(long, value_enum, default_value_t)]
    key_derivation: Derivation,
}

/// Runs the agent to its end.
pub fn run(arguments: &AgentArguments) -> Result<(), Exit> {
    let path = arguments.script.display();
    let text = std::fs::read_to_string(&arguments.script)
        .map_err(|error| Exit::usage(format!("--script {path}: {error}")))?;
    let steps = script::parse(&text).map_err(|error| Exit::usage(format!("--script {path}: {error}")))?;
    let mut supported: Vec<ActionName> = Registry::standard().names().cloned().collect();
    supported.extend(steps.iter().map(|step| step.action.clone()));
    supported.sort();
    supported.dedup();
    let config = AgentConfig {
        agent_id: uuid_v4()?,
        supported_actions: supported,
        key_derivation: arguments.key_derivation.into(),
    };
    let agent = Agent::new(config, Arc::new(WhatwgUrlParser));
    Player { agent, clock: Clock::start(), steps, next: 0, as_expected: true, started: None }.play()
}

struct Player {
    agent: Agent,
    clock: Clock,
    steps: Vec<Step>,
    /// The step that runs, counted from 1; 0 before the first.
    next: usize,
    as_expected: bool,
    started: Option<sgclaw::Time>,
}

impl Player {
    fn play(mut self) -> Result<(), Exit> {
        let (stdin, stdout) = (io::stdin(), io::stdout());
        let mut buffer = [0; 65_536];
        loop {
            let mut over = false;
            while let Some(event) = self.agent.poll_event() {
                over |= self.handle(event)?;
            }
            while !self.agent.output().is_empty() {
                let mut out = stdout.lock();
                let written = out.write(self.agent.output()).and_then(|count| out.flush().map(|()| count));
                match written {
                    Ok(count) => self.agent.output_written(count),
                    Err(error) => {
                        return Err(Exit::crashed(format!("PIPE_CLOSED: cannot write to the host: {error}")));
                    }
                }
            }
            // Only now: even an empty script is answered by init_ack.
            if over {
                return self.verdict();
            }
            let timeout = self.agent.poll_timeout().map(|at| self.clock.until(at));
            let ready = platform::wait(&[(stdin.as_fd(), Interest::Read)], timeout)
                .map_err(|error| Exit::crashed(format!("cannot wait for the host: {error}")))?;
            if ready.contains(&true) {
                match platform::read(&mut Unbuffered(&stdin), &mut buffer) {
                    ReadOutcome::Data(count) => {
                        let input = buffer.get(..count).unwrap_or_default();
                        self.agent.handle_input(input, self.clock.now());
                    }
                    ReadOutcome::End => self.agent.handle_end_of_input(self.clock.now()),
                    ReadOutcome::WouldBlock => {}
                }
            }
            self.agent.handle_timeout(self.clock.now());
        }
    }

    /// Whether the script is over.
    fn handle(&mut self, event: AgentEvent) -> Result<bool, Exit> {
        match event {
            AgentEvent::Ready => return Ok(self.request_next()),
            AgentEvent::Done { seq, attempts, outcome, .. } => {
                self.report(seq, attempts, &outcome);
                return Ok(self.request_next());
            }
            AgentEvent::ActionStopped { action } => {
                log(format_args!(
                    "{}",
                    json!({"log": format!("{action} failed with INTERNAL_* after its retry and is stopped")})
                ));
            }
            AgentEvent::Log(line) => log(json!({ "log": line })),
            AgentEvent::Ended { failure: None } => {
                return Err(Exit::crashed(
                    "PIPE_CLOSED: the host ended the session before the script was over",
                ));
            }
            AgentEvent::Ended { failure: Some(failure) } => return Err(Exit::crashed(failure.to_string())),
            _ => {}
        }
        Ok(false)
    }

    /// Sends the next step; true where there is none.
    fn request_next(&mut self) -> bool {
        loop {
            let Some(step) = self.steps.get(self.next).cloned() else { return true };
            self.next = self.next.saturating_add(1);
            let now = self.clock.now();
            self.started = Some(now);
            match self.agent.request(step.action, step.params, step.expected_domain, now) {
                Ok(_) => return false,
                Err(error) => {
                    let code = match error {
                        AgentError::TooLarge | AgentError::TooDeep => ErrorCode::PipeMessageTooLarge,
                        _ => ErrorCode::InternalUnknown,
                    };
                    self.report(0, 0, &Err(Failure::new(code, format!("not sent: {error}"))));
                }
            }
        }
    }

    fn report(&mut self, seq: u64, attempts: u32, outcome: &Result<Option<JsonObject>, Failure>) {
        let Some(step) = self.next.checked_sub(1).and_then(|at| self.steps.get(at)) else { return };
        let ok = step.expect.is_met(outcome);
        self.as_expected &= ok;
        let elapsed = self.started.map(|started| self.clock.now().since(started)).unwrap_or_default();
        let mut line = json!({
            "step": self.next, "seq": seq, "attempts": attempts, "action": step.action.as_str(), "ok": ok,
            "code": outcome.as_ref().err().map(|failure| failure.code.as_str()),
            "message": outcome.as_ref().err().map(|failure| failure.message.as_str()),
            "ms": (elapsed.as_micros() as f64) / 1000.0,
        });
        if !ok && let Some(fields) = line.as_object_mut() {
            fields.insert("expected".into(), step.expect.to_string().into());
        }
        log(line);
    }

    fn verdict(&self) -> Result<(), Exit> {
        if self.as_expected { Ok(()) } else { Err(Exit::no("a step was not as expected")) }
    }
}

/// Stdin without the buffer of `Stdin`, which poll does not see.
struct Unbuffered<'a>(&'a io::Stdin);

impl io::Read for Unbuffered<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        Ok(nix::unistd::read(self.0, buffer)?)
    }
}

fn uuid_v4() -> Result<String, Exit> {
    let mut bytes = [0_u8; 16];
    getrandom::fill(&mut bytes).map_err(|error| Exit::crashed(format!("no random numbers: {error}")))?;
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]))
}
