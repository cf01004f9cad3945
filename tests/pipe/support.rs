//! A host with a scripted peer ([`Bench`]), an agent with a scripted host ([`RawHost`]), and both
//! wired back to back ([`Pair`]). Time is a number that the test moves.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use serde_json::Value;
use sgclaw::contract::{Schema, UrlParser};
use sgclaw::pipe::{ChildExit, KeyDerivation, SessionKey};
use sgclaw::wire::{Command, HmacSeed, Init, InitAck};
use sgclaw::{
    Agent, AgentConfig, AgentEvent, Authorized, Domain, Failure, Host, HostConfig, HostEvent, HostSettings,
    JsonObject, Policy, Registry, State, Time, WhatwgUrlParser,
};

pub(crate) const LIMIT: usize = 1_048_576;
pub(crate) const DOMAIN: &str = "erp.example.com";
pub(crate) const SEED: &str = "5eedc0de5eedc0de5eedc0de5eedc0de5eedc0de5eedc0de5eedc0de5eedc0de";
/// Whatever a test types, reads or puts into a query holds this word; nothing else may.
pub(crate) const SECRET: &str = "geheim";
pub(crate) const CLICK: &str = r##"{"selector":"#a"}"##;

/// An action of the host's own, beside the standard ones.
const ECHO: &str =
    r#"{"type":"object","properties":{"text":{"type":"string"}},"additionalProperties":false}"#;

/// All actions on [`DOMAIN`], reading only on another host; `hover` must be confirmed.
pub(crate) const POLICY: &str = r#"{"version":1,"confirm":["hover"],"domains":[
    {"pattern":"erp.example.com","actions":["*"]},{"pattern":"read.example.com","actions":["getText"]}]}"#;

pub(crate) fn urls() -> Arc<dyn UrlParser> {
    Arc::new(WhatwgUrlParser)
}

pub(crate) fn policy(document: &str) -> Policy {
    Policy::parse(document.as_bytes(), &WhatwgUrlParser).unwrap()
}

pub(crate) fn domain(text: &str) -> Domain {
    Domain::parse(text, &WhatwgUrlParser).unwrap()
}

pub(crate) fn object(text: &str) -> JsonObject {
    JsonObject::parse(text.as_bytes()).unwrap()
}

pub(crate) fn seed() -> HmacSeed {
    HmacSeed::from_hex(SEED).unwrap()
}

/// Something that the embedder of a host does to it.
pub(crate) type Change = fn(&mut Host, Time);

fn schema(name: &str) -> Schema {
    let path = format!("{}/schemas/pipe/1.0/{name}.schema.json", env!("CARGO_MANIFEST_DIR"));
    Schema::compile(&serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()).unwrap()
}

pub(crate) static ENVELOPE: LazyLock<Schema> = LazyLock::new(|| schema("envelope"));
static TRACE: LazyLock<Schema> = LazyLock::new(|| schema("trace"));

/// Asserts that a line satisfies its schema, and returns it as a value.
fn checked(schema: &Schema, line: &str) -> Value {
    let value = serde_json::from_str(line).unwrap();
    assert_eq!(schema.validate(&value), Ok(()), "{line}");
    value
}

/// Asserts that no planted secret stands in a text that may be logged.
pub(crate) fn assert_harmless(text: &str) {
    assert!(!text.contains(SECRET) && !text.contains(&SEED[..16]), "a secret leaked: {text}");
}

pub(crate) fn ack(version: &str, actions: &[&str]) -> String {
    let ack = InitAck {
        version: version.into(),
        agent_id: "0b7e2a54-3c1d-4e8f-9a6b-5c4d3e2f1a0b".into(),
        supported_actions: actions.iter().map(|name| (*name).to_owned()).collect(),
    };
    ack.to_line().trim_end().to_owned()
}

pub(crate) const ACTIONS: &[&str] = &["click", "getText", "hover", "navigate", "type"];

/// A command as an agent with this seed would write it, without its LF.
pub(crate) fn signed(seed: &HmacSeed, seq: u64, action: &str, params: &str, host: &str) -> String {
    let mut command = Command {
        seq,
        action: action.parse().unwrap(),
        params: object(params),
        expected_domain: domain(host),
        hmac: [b'0'; 64],
    };
    command.hmac = SessionKey::derive(seed, KeyDerivation::Hkdf).sign(&command);
    command.to_line().trim_end().to_owned()
}

/// The seq of a response and its code, or `ok`.
pub(crate) type Answer = (u64, String);

fn answer(line: &str) -> Answer {
    let response: Value = serde_json::from_str(line).unwrap();
    let code = response["error"]["code"].as_str().unwrap_or("ok");
    (response["seq"].as_u64().unwrap(), code.to_owned())
}

pub(crate) fn answers(expected: &[(u64, &str)]) -> Vec<Answer> {
    expected.iter().map(|(seq, code)| (*seq, (*code).to_owned())).collect()
}

/// A host, and everything that came out of it. Every line it writes and every record of its trace
/// is checked against its schema and searched for secrets.
pub(crate) struct Bench {
    pub(crate) host: Host,
    pub(crate) now: Time,
    /// The lines on the wire.
    pub(crate) written: Vec<String>,
    /// The events in words: `execute 1`, `Crashed PIPE_CLOSED`.
    pub(crate) events: Vec<String>,
    /// The messages of the state changes.
    pub(crate) log: Vec<String>,
    pub(crate) trace: Vec<Value>,
    /// What the executor has.
    pub(crate) executing: BTreeMap<u64, Authorized>,
    /// The child does not read: output waits.
    pub(crate) unread: bool,
    wire: Vec<u8>,
    told: (usize, usize),
}

impl Bench {
    /// Not started.
    pub(crate) fn idle(settings: HostSettings) -> Self {
        let mut registry = Registry::standard();
        registry.register("echo", ECHO).unwrap();
        let config = HostConfig {
            session: "test".into(),
            seed: seed(),
            key_derivation: KeyDerivation::Hkdf,
            registry,
            policy: policy(POLICY),
            settings,
        };
        let mut bench = Bench {
            host: Host::new(config, urls()),
            now: Time::default(),
            written: Vec::new(),
            events: Vec::new(),
            log: Vec::new(),
            trace: Vec::new(),
            executing: BTreeMap::new(),
            unread: false,
            wire: Vec::new(),
            told: (0, 0),
        };
        bench.host.set_page(Some(domain(DOMAIN)));
        bench
    }

    /// Started, and waiting for `init_ack`.
    pub(crate) fn handshaking(settings: HostSettings) -> Self {
        let mut bench = Bench::idle(settings);
        bench.host.start(bench.now);
        bench.drain();
        bench.events();
        bench
    }

    /// With the handshake done.
    pub(crate) fn running() -> Self {
        Bench::running_with(HostSettings::default())
    }

    pub(crate) fn running_with(settings: HostSettings) -> Self {
        let mut bench = Bench::handshaking(settings);
        bench.line(&ack("1.0", ACTIONS));
        assert_eq!(bench.events(), ["Running"]);
        bench
    }

    pub(crate) fn feed(&mut self, bytes: &[u8]) {
        self.host.handle_input(bytes, self.now);
        self.drain();
    }

    pub(crate) fn line(&mut self, line: &str) {
        self.feed(format!("{line}\n").as_bytes());
    }

    /// A command on [`DOMAIN`], rightly signed.
    pub(crate) fn command(&mut self, seq: u64, action: &str, params: &str) {
        self.line(&signed(&seed(), seq, action, params, DOMAIN));
    }

    pub(crate) fn click(&mut self, seq: u64) {
        self.command(seq, "click", CLICK);
    }

    pub(crate) fn call(&mut self, change: impl FnOnce(&mut Host, Time)) {
        change(&mut self.host, self.now);
        self.drain();
    }

    pub(crate) fn complete(&mut self, seq: u64, outcome: Result<&str, Failure>) {
        let outcome = outcome.map(object);
        self.call(|host, now| host.complete(seq, outcome, now));
    }

    pub(crate) fn exit(&mut self, exit: ChildExit) {
        self.call(|host, now| host.handle_child_exit(exit, now));
    }

    /// Lets time pass; the host is woken when it asked to be. Returns how often.
    pub(crate) fn wait(&mut self, milliseconds: u64) -> usize {
        let end = self.now.as_micros() + milliseconds * 1000;
        let mut wakes = 0;
        while let Some(at) = self.host.poll_timeout().filter(|at| at.as_micros() <= end) {
            self.now = self.now.max(at);
            self.call(|host, now| host.handle_timeout(now));
            let next = self.host.poll_timeout();
            assert!(next.is_none_or(|next| next > self.now), "the host asks to be woken in the past");
            wakes += 1;
        }
        self.now = Time::from_micros(end);
        wakes
    }

    pub(crate) fn drain(&mut self) {
        assert_harmless(&format!("{:?}", self.host));
        while !self.unread && !self.host.output().is_empty() {
            let count = self.host.output().len();
            self.wire.extend_from_slice(self.host.output());
            self.host.output_written(count);
        }
        while let Some(end) = self.wire.iter().position(|byte| *byte == b'\n') {
            let line = String::from_utf8(self.wire.drain(..=end).collect()).unwrap();
            let message = checked(&ENVELOPE, &line);
            if message["type"] != "init" {
                assert!(message["data"].is_object() || !line.contains(SECRET), "a secret leaked: {line}");
                assert!(!line.contains(&SEED[..16]));
            }
            self.written.push(line.trim_end_matches('\n').to_owned());
        }
        while let Some(event) = self.host.poll_event() {
            assert_harmless(&format!("{event:?}"));
            self.events.push(match event {
                HostEvent::StateChanged { state, code, message } => {
                    self.log.push(message);
                    code.map_or(state.as_str().into(), |code| format!("{} {code}", state.as_str()))
                }
                HostEvent::Execute(command) => {
                    let seq = command.seq();
                    assert!(self.executing.insert(seq, command).is_none(), "{seq} was dispatched twice");
                    format!("execute {seq}")
                }
                HostEvent::Cancel { seq } => format!("cancel {seq}"),
                HostEvent::ConfirmationAsked { seq, action, expected_domain, .. } => {
                    format!("ask {seq} {action} {expected_domain}")
                }
                HostEvent::ConfirmationOver { seq } => format!("over {seq}"),
                HostEvent::BreakerOpened { action } => format!("breaker {action}"),
                HostEvent::CloseStdin => "close stdin".into(),
                HostEvent::Terminate => "terminate".into(),
                HostEvent::Kill => "kill".into(),
                other => panic!("no test knows {other:?}"),
            });
        }
        while let Some(record) = self.host.poll_trace() {
            let line = record.to_line();
            assert_harmless(&format!("{line}{record:?}"));
            self.trace.push(checked(&TRACE, &line));
        }
    }

    /// The events since this was last asked.
    pub(crate) fn events(&mut self) -> Vec<String> {
        let new = self.events[self.told.0..].to_vec();
        self.told.0 = self.events.len();
        new
    }

    /// The responses since this was last asked.
    pub(crate) fn answers(&mut self) -> Vec<Answer> {
        let first = self.told.1.max(1);
        self.told.1 = self.written.len();
        self.written.get(first..).unwrap_or_default().iter().map(|line| answer(line)).collect()
    }

    /// Every response so far.
    pub(crate) fn all_answers(&self) -> Vec<Answer> {
        self.written.iter().skip(1).map(|line| answer(line)).collect()
    }

    /// The last line on the wire.
    pub(crate) fn last(&self) -> Value {
        serde_json::from_str(self.written.last().unwrap()).unwrap()
    }

    /// The stages of a seq in the trace, a failure's with its code.
    pub(crate) fn stages(&self, seq: u64) -> Vec<String> {
        let of_seq = |record: &&Value| record["seq"] == seq && record["stage"] != "state";
        let name = |record: &Value| match record["code"].as_str() {
            Some(code) => format!("{} {code}", record["stage"].as_str().unwrap()),
            None => record["stage"].as_str().unwrap().to_owned(),
        };
        self.trace.iter().filter(of_seq).map(name).collect()
    }

    pub(crate) fn state(&self) -> State {
        self.host.state()
    }
}

/// An agent whose host is the test.
pub(crate) struct RawHost {
    pub(crate) agent: Agent,
    pub(crate) now: Time,
    pub(crate) written: Vec<Value>,
    pub(crate) events: Vec<AgentEvent>,
    /// What it wrote and nobody has carried to a host.
    wire: Vec<u8>,
}

impl RawHost {
    /// An agent that waits for `init`.
    pub(crate) fn new() -> Self {
        let config = AgentConfig {
            agent_id: "0b7e2a54-3c1d-4e8f-9a6b-5c4d3e2f1a0b".into(),
            supported_actions: ACTIONS.iter().map(|name| name.parse().unwrap()).collect(),
            key_derivation: KeyDerivation::Hkdf,
        };
        RawHost {
            agent: Agent::new(config, urls()),
            now: Time::default(),
            written: Vec::new(),
            events: Vec::new(),
            wire: Vec::new(),
        }
    }

    /// With the handshake done.
    pub(crate) fn running() -> Self {
        let mut raw = RawHost::new();
        raw.line(&Init { version: "1.0".into(), seed: seed() }.to_line().replace('\n', ""));
        assert_eq!(raw.events(), [AgentEvent::Ready]);
        raw
    }

    pub(crate) fn feed(&mut self, bytes: &[u8]) {
        self.agent.handle_input(bytes, self.now);
        self.drain();
    }

    pub(crate) fn line(&mut self, line: &str) {
        self.feed(format!("{line}\n").as_bytes());
    }

    /// A response to `seq`: a success, or a failure of this code.
    pub(crate) fn respond(&mut self, seq: u64, code: Option<&str>) {
        self.line(&match code {
            None => format!(r#"{{"type":"response","seq":{seq},"success":true}}"#),
            Some(code) => format!(
                r#"{{"type":"response","seq":{seq},"success":false,"error":{{"code":"{code}","message":"no"}}}}"#
            ),
        });
    }

    pub(crate) fn click(&mut self) -> sgclaw::pipe::CallId {
        let click = "click".parse().unwrap();
        let call = self.agent.request(click, object(CLICK), domain(DOMAIN), self.now).unwrap();
        self.drain();
        call
    }

    pub(crate) fn wait(&mut self, milliseconds: u64) {
        let end = self.now.as_micros() + milliseconds * 1000;
        while let Some(at) = self.agent.poll_timeout().filter(|at| at.as_micros() <= end) {
            self.now = at;
            self.agent.handle_timeout(at);
            assert!(self.agent.poll_timeout().is_none_or(|next| next > at));
            self.drain();
        }
        self.now = Time::from_micros(end);
    }

    pub(crate) fn drain(&mut self) {
        assert_harmless(&format!("{:?}", self.agent));
        while !self.agent.output().is_empty() {
            let line = String::from_utf8(self.agent.output().to_vec()).unwrap();
            self.written.push(checked(&ENVELOPE, &line));
            self.wire.extend_from_slice(line.as_bytes());
            self.agent.output_written(line.len());
        }
        while let Some(event) = self.agent.poll_event() {
            assert_harmless(&format!("{event:?}"));
            self.events.push(event);
        }
    }

    /// The events since this was last asked.
    pub(crate) fn events(&mut self) -> Vec<AgentEvent> {
        std::mem::take(&mut self.events)
    }

    /// The seqs of the commands so far.
    pub(crate) fn seqs(&self) -> Vec<u64> {
        self.written.iter().filter_map(|message| message["seq"].as_u64()).collect()
    }

    /// The code with which the session ended, where it did.
    pub(crate) fn ended(&mut self) -> Option<Option<String>> {
        self.events().into_iter().find_map(|event| match event {
            AgentEvent::Ended { failure } => Some(failure.map(|failure| failure.code.to_string())),
            _ => None,
        })
    }
}

/// What the executor of a [`Pair`] does with a command: when it is done, in milliseconds, and how.
pub(crate) type Script = Box<dyn FnMut(&Authorized) -> (u64, Result<JsonObject, Failure>)>;

/// An agent and a host, wired back to back; bytes cross in pieces of these lengths, over and over.
pub(crate) struct Pair {
    pub(crate) bench: Bench,
    pub(crate) raw: RawHost,
    pub(crate) script: Script,
    pieces: Vec<usize>,
    /// By the time at which the executor is done.
    working: BTreeMap<(Time, u64), Result<JsonObject, Failure>>,
    /// What the host wrote and the agent has not got.
    crossed: usize,
}

impl Pair {
    /// With the handshake done, and an executor that succeeds after 10 ms.
    pub(crate) fn running(pieces: &[usize]) -> Self {
        let mut pair = Pair {
            bench: Bench::handshaking(HostSettings::default()),
            raw: RawHost::new(),
            script: Box::new(|_| (10, Ok(JsonObject::empty()))),
            pieces: pieces.to_vec(),
            working: BTreeMap::new(),
            crossed: 0,
        };
        pair.wait(0);
        pair
    }

    pub(crate) fn request(&mut self, action: &str, params: &str) {
        let now = self.bench.now;
        let action = action.parse().unwrap();
        self.raw.agent.request(action, object(params), domain(DOMAIN), now).unwrap();
        self.raw.drain();
        self.wait(0);
    }

    /// Lets time pass. Returns how often somebody had to be woken.
    pub(crate) fn wait(&mut self, milliseconds: u64) -> usize {
        let end = Time::from_micros(self.bench.now.as_micros() + milliseconds * 1000);
        let mut wakes = 0;
        loop {
            self.cross();
            let done = self.working.first_key_value().map(|((at, _), _)| *at);
            let times = [self.bench.host.poll_timeout(), self.raw.agent.poll_timeout(), done];
            let Some(next) = times.into_iter().flatten().min().filter(|next| *next <= end) else { break };
            (self.bench.now, self.raw.now) = (next, next);
            wakes += 1;
            if done == Some(next) {
                let ((_, seq), outcome) = self.working.pop_first().unwrap();
                self.bench.call(|host, now| host.complete(seq, outcome, now));
            } else {
                self.bench.call(|host, now| host.handle_timeout(now));
                self.raw.agent.handle_timeout(next);
                self.raw.drain();
            }
        }
        (self.bench.now, self.raw.now) = (end, end);
        wakes
    }

    /// Carries bytes until both sides are silent.
    fn cross(&mut self) {
        let mut lengths = self.pieces.clone().into_iter().cycle();
        loop {
            let mut to_agent = Vec::new();
            for line in &self.bench.written[self.crossed..] {
                to_agent.extend_from_slice(line.as_bytes());
                to_agent.push(b'\n');
            }
            self.crossed = self.bench.written.len();
            let to_host = std::mem::take(&mut self.raw.wire);
            for command in std::mem::take(&mut self.bench.executing).into_values() {
                let (after, outcome) = (self.script)(&command);
                let at = self.bench.now.as_micros() + after * 1000;
                self.working.insert((Time::from_micros(at), command.seq()), outcome);
            }
            if to_agent.is_empty() && to_host.is_empty() {
                return;
            }
            let mut rest = &to_agent[..];
            while !rest.is_empty() {
                let (piece, after) = rest.split_at(lengths.next().unwrap().clamp(1, rest.len()));
                self.raw.feed(piece);
                rest = after;
            }
            let mut rest = &to_host[..];
            while !rest.is_empty() {
                let (piece, after) = rest.split_at(lengths.next().unwrap().clamp(1, rest.len()));
                self.bench.feed(piece);
                rest = after;
            }
        }
    }
}
