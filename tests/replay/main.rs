//! The same recorded session gives byte-identical output through Rust, C++ and C. `README.md` tells
//! the form of a recording; the programs come in `SGCLAW_REPLAYERS`, separated by `:`.

use std::fmt::Write as _;
use std::process::Command as Process;
use std::sync::Arc;

use sgclaw::pipe::{ChildExit, KeyDerivation, SessionKey};
use sgclaw::wire::{Command, HmacSeed, InitAck};
use sgclaw::{
    Domain, ErrorCode, Failure, Host, HostConfig, HostEvent, HostSettings, JsonObject, Policy, Registry,
    Time, WhatwgUrlParser,
};

const POLICIES: &[&str] = &[
    r#"{"version":1,"confirm":["hover"],"domains":[{"pattern":"erp.example.com","actions":["*"]}]}"#,
    r#"{"version":1,"confirm":[],"domains":[{"pattern":"*.example.com","actions":["click","getText"]}]}"#,
    r#"{"version":1,"confirm":["*"],"domains":[{"pattern":"erp.example.com","actions":["*"]}]}"#,
];
const COMMANDS: &[(&str, &str)] = &[
    ("click", r##"{"selector":"#a"}"##),
    ("click", r##"{"selector":7}"##),
    ("type", r##"{"selector":"#a","text":"Grüße, 世界 🙂 \"\\\n","timeout_ms":500}"##),
    ("getText", r##"{"timeout_ms":0,"selector":"#a"}"##),
    ("hover", r##"{"selector":"#a"}"##),
    ("navigate", r#"{"url":"https://erp.example.com/x?y=1"}"#),
    ("navigate", r#"{"url":"javascript:alert(1)"}"#),
    ("dance", "{}"),
    ("listTabs", "{}"),
];
const GARBAGE: &[&[u8]] = &[
    b"{}\n",
    b"\n",
    b"nonsense\n",
    b"{\"type\":\"command\",\"seq\":1}\n",
    b"\xff\xfe\n",
    b"{\"a\":1,\"a\":2}\n",
];

/// Numbers that look random and are the same on every machine (xorshift64*).
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % limit
    }

    fn pick<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len())]
    }
}

fn hex(bytes: &[u8]) -> String {
    if bytes.is_empty() { "-".into() } else { hex::encode(bytes) }
}

/// A host that writes down what is done to it and what comes of it.
struct Recorder {
    host: Host,
    now: u64,
    recording: String,
    printed: String,
    deadline: Option<Time>,
    output: Vec<u8>,
    executing: Vec<u64>,
    /// Answered otherwise; an executor may not know it yet.
    cancelled: Vec<u64>,
    asked: Vec<u64>,
}

impl Recorder {
    fn new(dice: &mut Dice) -> Self {
        let seed: Vec<u8> = (0..32).map(|_| dice.below(256) as u8).collect();
        let seed: [u8; 32] = seed.try_into().unwrap();
        let key_derivation = *dice.pick(&[KeyDerivation::Hkdf, KeyDerivation::Seed]);
        let policy = *dice.pick(POLICIES);
        let name = if key_derivation == KeyDerivation::Hkdf { "hkdf" } else { "seed" };
        let config = HostConfig {
            session: "replay".into(),
            seed: HmacSeed::from_array(&seed),
            key_derivation,
            registry: Registry::standard(),
            policy: Policy::parse(policy.as_bytes(), &WhatwgUrlParser).unwrap(),
            settings: HostSettings::default(),
        };
        Recorder {
            host: Host::new(config, Arc::new(WhatwgUrlParser)),
            now: 0,
            recording: format!("seed {}\nderivation {name}\npolicy {}\n", hex(&seed), hex(policy.as_bytes())),
            printed: String::new(),
            deadline: None,
            output: Vec::new(),
            executing: Vec::new(),
            cancelled: Vec::new(),
            asked: Vec::new(),
        }
    }

    fn step(&mut self, words: &str, act: impl FnOnce(&mut Host, Time)) {
        writeln!(self.recording, "{} {words}", self.now).unwrap();
        act(&mut self.host, Time::from_micros(self.now));
        while let Some(record) = self.host.poll_trace() {
            write!(self.printed, "trace {}", record.to_line()).unwrap();
        }
        while let Some(event) = self.host.poll_event() {
            self.event(event);
        }
        let deadline = self.host.poll_timeout();
        if deadline != self.deadline {
            self.deadline = deadline;
            let micros = deadline.map_or("-".into(), |deadline| deadline.as_micros().to_string());
            writeln!(self.printed, "deadline {micros}").unwrap();
        }
        if self.host.output() != self.output {
            self.output = self.host.output().to_vec();
            writeln!(self.printed, "output {}", hex(&self.output)).unwrap();
        }
    }

    fn event(&mut self, event: HostEvent) {
        let line = match event {
            HostEvent::StateChanged { state, code, message } => {
                format!("state {} {} {message}", state.as_str(), code.map_or(0, ErrorCode::number))
            }
            HostEvent::Execute(command) => {
                self.executing.push(command.seq());
                format!(
                    "execute {} {} {} {} {}",
                    command.seq(),
                    command.action(),
                    command.expected_domain().as_str(),
                    command.timeout().as_micros(),
                    command.params().as_str()
                )
            }
            HostEvent::Cancel { seq } => {
                // Not there where its completion is what came too late.
                if let Some(place) = self.executing.iter().position(|executing| *executing == seq) {
                    self.cancelled.push(self.executing.remove(place));
                }
                format!("cancel {seq}")
            }
            HostEvent::ConfirmationAsked { seq, action, expected_domain, params } => {
                self.asked.push(seq);
                format!("ask {seq} {action} {} {}", expected_domain.as_str(), params.as_str())
            }
            HostEvent::ConfirmationOver { seq } => {
                self.asked.retain(|asked| *asked != seq);
                format!("over {seq}")
            }
            HostEvent::BreakerOpened { action } => format!("breaker {action}"),
            HostEvent::CloseStdin => "close".into(),
            HostEvent::Terminate => "terminate".into(),
            HostEvent::Kill => "kill".into(),
            other => panic!("an event that the replayers do not know: {other:?}"),
        };
        writeln!(self.printed, "{line}").unwrap();
    }

    /// A command that the executor has, or had.
    fn take_seq(&mut self, dice: &mut Dice) -> Option<u64> {
        let late = !self.cancelled.is_empty() && (self.executing.is_empty() || dice.below(4) == 0);
        let seqs = if late { &mut self.cancelled } else { &mut self.executing };
        (!seqs.is_empty()).then(|| seqs.remove(dice.below(seqs.len())))
    }

    fn input(&mut self, bytes: &[u8], dice: &mut Dice) {
        let mut rest = bytes;
        while !rest.is_empty() {
            let count = if dice.below(3) == 0 { dice.below(rest.len()) + 1 } else { rest.len() };
            let (piece, after) = rest.split_at(count);
            self.step(&format!("input {}", hex(piece)), |host, now| host.handle_input(piece, now));
            rest = after;
        }
    }
}

/// A session of about `length` steps.
fn record(number: u64, length: usize) -> Recorder {
    let dice = &mut Dice(number.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let mut recorder = Recorder::new(dice);
    recorder.step("start", Host::start);
    let init: serde_json::Value = serde_json::from_slice(recorder.host.output()).unwrap();
    let seed = HmacSeed::from_hex(init["hmac_seed"].as_str().unwrap()).unwrap();
    let derivation = if recorder.recording.contains("derivation seed") {
        KeyDerivation::Seed
    } else {
        KeyDerivation::Hkdf
    };
    let key = SessionKey::derive(&seed, derivation);
    let ack = InitAck {
        version: if dice.below(20) == 0 { "0.9" } else { "1.0" }.into(),
        agent_id: "0b7e2a54-3c1d-4e8f-9a6b-5c4d3e2f1a0b".into(),
        supported_actions: ["click", "type", "getText", "hover", "navigate", "dance"]
            .map(String::from)
            .into(),
    };
    recorder.input(ack.to_line().as_bytes(), dice);
    set_page(&mut recorder, "erp.example.com");
    let mut seq = 1;
    for _ in 0..length {
        recorder.now += *dice.pick(&[0, 1, 700, 20_000, 3_000_000]) as u64;
        match dice.below(24) {
            0..=9 => {
                let (action, params) = *dice.pick(COMMANDS);
                let mut command = Command {
                    seq: if dice.below(12) == 0 { dice.below(9) as u64 + 1 } else { seq },
                    action: action.parse().unwrap(),
                    params: JsonObject::parse(params.as_bytes()).unwrap(),
                    expected_domain: domain(*dice.pick(&[
                        "erp.example.com",
                        "erp.example.com",
                        "other.example.com",
                    ])),
                    hmac: [b'0'; 64],
                };
                if dice.below(12) > 0 {
                    command.hmac = key.sign(&command);
                }
                seq = seq.max(command.seq + 1);
                recorder.input(command.to_line().as_bytes(), dice);
            }
            10 => recorder.input(*dice.pick(GARBAGE), dice),
            11..=14 => {
                if let Some(seq) = recorder.take_seq(dice) {
                    let data = *dice.pick(&["{}", r#"{"text":"Grüße 🙂","n":1.50}"#]);
                    recorder.step(&format!("succeed {seq} {}", hex(data.as_bytes())), |host, now| {
                        host.complete(seq, Ok(JsonObject::parse(data.as_bytes()).unwrap()), now);
                    });
                }
            }
            15 | 16 => {
                if let Some(seq) = recorder.take_seq(dice) {
                    let code = *dice.pick(ErrorCode::ALL);
                    let details = *dice.pick(&["", r#"{"reason":"detached"}"#]);
                    let words =
                        format!("fail {seq} {} {} {}", code.number(), hex(b"no"), hex(details.as_bytes()));
                    recorder.step(&words, |host, now| {
                        let details = JsonObject::parse(details.as_bytes()).ok();
                        host.complete(seq, Err(Failure { details, ..Failure::new(code, "no") }), now);
                    });
                }
            }
            17 => {
                if let Some(seq) = recorder.take_seq(dice) {
                    recorder.step(&format!("abandon {seq}"), |host, now| host.abandon(seq, now));
                }
            }
            18 | 19 => {
                if !recorder.asked.is_empty() {
                    let seq = *dice.pick(&recorder.asked);
                    let allow = dice.below(3) > 0;
                    let words = format!("confirm {seq} {}", u8::from(allow));
                    recorder.step(&words, |host, now| host.confirm(seq, allow, now));
                }
            }
            20 => {
                let seq = dice.below(seq as usize) as u64;
                recorder.step(&format!("cancel {seq}"), |host, now| host.cancel(seq, now));
            }
            21 => {
                let count = dice.below(recorder.output.len() + 1);
                recorder.step(&format!("written {count}"), |host, _| host.output_written(count));
            }
            22 => {
                if let Some(deadline) = recorder.deadline
                    && dice.below(2) == 0
                {
                    recorder.now = recorder.now.max(deadline.as_micros());
                }
                recorder.step("timeout", Host::handle_timeout);
            }
            _ => match dice.below(8) {
                0 => {
                    let policy = *dice.pick(POLICIES);
                    recorder.step(&format!("policy {}", hex(policy.as_bytes())), |host, _| {
                        host.set_policy(Policy::parse(policy.as_bytes(), &WhatwgUrlParser).unwrap());
                    });
                }
                1 => set_page(&mut recorder, *dice.pick(&["-", "other.example.com"])),
                2 => set_page(&mut recorder, "erp.example.com"),
                3 => recorder.step("reset click", |host, _| host.reset_breaker("click")),
                4 if dice.below(3) == 0 => recorder.step("end_of_input", Host::handle_end_of_input),
                5 if dice.below(3) == 0 => recorder.step("output_closed", Host::handle_output_closed),
                6 if dice.below(3) == 0 => recorder.step("stop", Host::stop),
                _ => {}
            },
        }
    }
    match dice.below(3) {
        0 => recorder.step("exit 0", |host, now| host.handle_child_exit(ChildExit::Code(0), now)),
        1 => recorder.step("signal 9", |host, now| host.handle_child_exit(ChildExit::Signal(9), now)),
        _ => recorder.step("stop", Host::stop),
    }
    recorder
}

fn domain(text: &str) -> Domain {
    Domain::parse(text, &WhatwgUrlParser).unwrap()
}

fn set_page(recorder: &mut Recorder, page: &str) {
    let domain = Domain::parse(page, &WhatwgUrlParser).ok();
    recorder.step(&format!("page {page}"), |host, _| host.set_page(domain));
}

#[test]
fn the_same_session_gives_the_same_bytes_in_every_language() {
    let replayers = std::env::var("SGCLAW_REPLAYERS").expect("SGCLAW_REPLAYERS=PROGRAM[:PROGRAM…]");
    let folder = std::env::temp_dir().join(format!("sgclaw-replay-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let mut seen = std::collections::BTreeSet::new();
    for number in 1..=400 {
        let recorder = record(number, 20 + number as usize % 180);
        seen.extend(recorder.printed.lines().filter_map(|line| line.split(' ').next().map(str::to_owned)));
        let path = folder.join(format!("{number}.session"));
        std::fs::write(&path, &recorder.recording).unwrap();
        for replayer in replayers.split(':') {
            let run = Process::new(replayer).arg(&path).output().unwrap();
            let printed = String::from_utf8_lossy(&run.stdout);
            assert!(
                run.status.success(),
                "{replayer} {}: {}",
                path.display(),
                String::from_utf8_lossy(&run.stderr)
            );
            let differs = printed.lines().zip(recorder.printed.lines()).find(|(theirs, ours)| theirs != ours);
            if let Some((theirs, ours)) = differs {
                panic!("{replayer} {}\n theirs: {theirs}\n  Rust's: {ours}", path.display());
            }
            assert_eq!(printed.len(), recorder.printed.len(), "{replayer} {}: one is longer", path.display());
        }
    }
    std::fs::remove_dir_all(&folder).unwrap();
    // What never happens proves nothing.
    let all = ["ask", "breaker", "cancel", "close", "deadline", "execute", "kill", "output", "over", "state"];
    for kind in all.iter().chain(&["terminate", "trace"]) {
        assert!(seen.contains(*kind), "no session has a {kind}");
    }
}
