//! A Chromium with an executor on it. Commands go through the host's checks first, as in a session.
#![allow(clippy::print_stderr)]

use std::sync::Arc;
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use serde_json::{Value, json};
use sgclaw::browser::{Executor, ExecutorConfig, ExecutorEvent};
use sgclaw::pipe::{Authentic, Authorized, KeyDerivation, Negotiated, Sequence, SessionKey};
use sgclaw::wire::{Command, HmacSeed};
use sgclaw::{Domain, Failure, JsonObject, Policy, Registry, Time, WhatwgUrlParser};
use sgclaw_cli::chromium::{Chromium, LaunchOptions};

/// What an action gave: its data, or the code and details of its failure.
pub type Outcome = Result<Value, (String, Value)>;

pub struct Browser {
    chromium: Chromium,
    executor: Executor,
    began: Instant,
    key: SessionKey,
    sequence: Sequence,
    negotiated: Negotiated,
    policy: Policy,
    page: Option<Domain>,
    seq: u64,
    trace: bool,
}

impl Browser {
    pub fn start(policy: &Value) -> Browser {
        let options = LaunchOptions {
            program: std::env::var_os("SGCLAW_TEST_BROWSER").map(Into::into),
            arguments: vec!["--host-resolver-rules=MAP localhost 127.0.0.1".into()],
            ..LaunchOptions::default()
        };
        let chromium = Chromium::launch(&options).expect("a Chromium");
        let policy = Policy::parse(policy.to_string().as_bytes(), &WhatwgUrlParser).expect("a policy");
        let config = ExecutorConfig::new(Arc::new(WhatwgUrlParser), Arc::new(policy.clone()));
        let seed = HmacSeed::from_bytes(&[7; 32]).expect("a seed");
        let mut browser = Browser {
            chromium,
            executor: Executor::new(config),
            began: Instant::now(),
            key: SessionKey::derive(&seed, KeyDerivation::Hkdf),
            sequence: Sequence::new(false),
            negotiated: Negotiated::all(Registry::standard()),
            policy,
            page: None,
            seq: 0,
            trace: std::env::var_os("SGCLAW_TEST_TRACE").is_some(),
        };
        let now = browser.now();
        browser.executor.start(now);
        browser.wait(|event| (*event == ExecutorEvent::Ready).then_some(()));
        browser
    }

    fn now(&self) -> Time {
        Time::from_micros(self.began.elapsed().as_micros() as u64)
    }

    pub fn act(&mut self, action: &str, params: &Value, domain: &str) -> Outcome {
        self.seq += 1;
        let outcome = match self.authorize(action, params, domain) {
            Ok(command) => {
                let now = self.now();
                self.executor.execute(command, now);
                let expected = self.seq;
                self.wait(|event| match event {
                    ExecutorEvent::Completed { seq, outcome } if *seq == expected => Some(outcome.clone()),
                    _ => None,
                })
            }
            Err(failure) => Err(failure),
        };
        let json = |object: &JsonObject| serde_json::from_str(object.as_str()).expect("JSON");
        outcome.map(|data| json(&data)).map_err(|failure| {
            eprintln!("{failure} {:?}", failure.details.as_ref().map(JsonObject::as_str));
            (failure.code.as_str().to_owned(), failure.details.as_ref().map_or(Value::Null, json))
        })
    }

    fn authorize(&mut self, action: &str, params: &Value, domain: &str) -> Result<Authorized, Failure> {
        let urls = WhatwgUrlParser;
        let mut command = Command {
            seq: self.seq,
            action: action.parse().expect("an action"),
            params: JsonObject::from_serde(params).expect("params"),
            expected_domain: Domain::parse(domain, &urls).expect("a domain"),
            hmac: [0; 64],
        };
        command.hmac = self.key.sign(&command);
        let command = Authentic::check(command, &self.key)?.take_seq(&mut self.sequence)?;
        command.validate(&self.negotiated, &urls)?.authorize(&self.policy, self.page.as_ref())
    }

    /// Puts another policy in force.
    pub fn set_policy(&mut self, policy: &Value) {
        self.policy = Policy::parse(policy.to_string().as_bytes(), &WhatwgUrlParser).expect("a policy");
        self.executor.set_policy(Arc::new(self.policy.clone()));
    }

    /// Lets time pass.
    pub fn idle(&mut self, span: Duration) {
        let end = Instant::now() + span;
        while Instant::now() < end {
            self.turn(&mut |_| {});
            self.note_events();
        }
    }

    fn note_events(&mut self) {
        while let Some(event) = self.executor.poll_event() {
            if let ExecutorEvent::PageChanged { domain } = event {
                self.page = domain;
            }
        }
    }

    /// Kills the page's renderer.
    pub fn crash(&mut self) {
        // A message of ours beside the executor's; it ignores the reply to an id it did not make.
        let targets = self.side_call(json!({ "id": 9_000_001, "method": "Target.getTargets" }));
        let target = targets["result"]["targetInfos"]
            .as_array()
            .expect("targets")
            .iter()
            .find(|target| target["type"] == "page")
            .expect("a page")["targetId"]
            .clone();
        let attach = json!({ "id": 9_000_002, "method": "Target.attachToTarget",
            "params": { "targetId": target, "flatten": true } });
        let session = self.side_call(attach)["result"]["sessionId"].clone();
        self.chromium.queue(
            json!({ "id": 9_000_003, "method": "Page.crash", "sessionId": session }).to_string().into_bytes(),
        );
        self.idle(Duration::from_millis(500));
    }

    fn side_call(&mut self, message: Value) -> Value {
        let id = message["id"].clone();
        self.chromium.queue(message.to_string().into_bytes());
        let mut reply = None;
        while reply.is_none() {
            self.turn(&mut |message| {
                let message: Value = serde_json::from_slice(message).unwrap_or_default();
                if message["id"] == id {
                    reply = Some(message);
                }
            });
        }
        reply.unwrap_or_default()
    }

    fn wait<T>(&mut self, mut wanted: impl FnMut(&ExecutorEvent) -> Option<T>) -> T {
        let end = Instant::now() + Duration::from_secs(40);
        loop {
            while let Some(event) = self.executor.poll_event() {
                if self.trace {
                    eprintln!("event {event:?}");
                }
                let found = wanted(&event);
                if let ExecutorEvent::PageChanged { domain } = event {
                    self.page = domain;
                }
                if let Some(found) = found {
                    return found;
                }
            }
            assert!(Instant::now() < end, "the executor did not answer");
            self.turn(&mut |_| {});
        }
    }

    /// One turn of the loop: write, wait, read.
    fn turn(&mut self, seen: &mut dyn FnMut(&[u8])) {
        while let Some(message) = self.executor.poll_message() {
            if self.trace {
                eprintln!(
                    "{:>9} > {:.400}",
                    self.began.elapsed().as_micros(),
                    String::from_utf8_lossy(&message)
                );
            }
            self.chromium.queue(message);
        }
        self.chromium.flush();
        let now = self.now();
        let pause =
            self.executor.poll_timeout().map_or(50_000, |at| at.since(now).as_micros().min(50_000) + 999);
        let mut fds = vec![PollFd::new(self.chromium.reader_fd(), PollFlags::POLLIN)];
        if let Some(writer) = self.chromium.writer_fd().filter(|_| self.chromium.wants_write()) {
            fds.push(PollFd::new(writer, PollFlags::POLLOUT));
        }
        poll(&mut fds, PollTimeout::try_from((pause / 1000) as i32).expect("a timeout")).expect("poll");
        let messages = self.chromium.read_messages().expect("a pipe");
        let now = self.now();
        for message in messages {
            if self.trace {
                eprintln!(
                    "{:>9} < {:.400}",
                    self.began.elapsed().as_micros(),
                    String::from_utf8_lossy(&message)
                );
            }
            seen(&message);
            self.executor.handle_message(&message, now);
        }
        if self.chromium.has_ended() {
            self.executor.handle_disconnect(now);
        }
        self.executor.handle_timeout(now);
    }
}
