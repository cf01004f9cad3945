//! What must hold for every stream, every message and every order of events.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use serde_json::{Value, json};
use sgclaw::json::{parse, write_string};
use sgclaw::pipe::ChildExit;
use sgclaw::wire::{Envelope, Init};
use sgclaw::{AgentEvent, ErrorCode, Failure, HostSettings, JsonObject, State, WhatwgUrlParser};

use crate::support::{
    ACTIONS, Bench, CLICK, DOMAIN, ENVELOPE, POLICY, Pair, RawHost, ack, domain, object, policy, seed, signed,
};
use crate::vectors::rows;

/// So many cases, times `SGCLAW_SOAK` where `cargo xtask test --soak` sets it.
fn cases(usual: u32) -> ProptestConfig {
    let factor = std::env::var("SGCLAW_SOAK").map_or(1, |factor| factor.parse().unwrap());
    ProptestConfig::with_cases(usual * factor)
}

/// One line of a peer that is mostly right, with its LF; commands take the next seqs.
fn line(next: &mut u64, kind: u8) -> Vec<u8> {
    let mut command = |action: &str, params: &str| {
        *next += 1;
        signed(&seed(), *next, action, params, DOMAIN) + "\n"
    };
    match kind {
        0..=2 => command("click", CLICK),
        3 => command("hover", CLICK).replace('\n', "\r\n"),
        4 => command("click", "{}"),
        5 => command("type", r##"{"selector":"#a","text":"你好 😀"}"##),
        6 => command("click", CLICK).replace("#a", "#b"),
        7 => {
            *next += 3;
            "\n".into()
        }
        8 => signed(&seed(), 1, "click", CLICK, DOMAIN) + "\n",
        9 => "{\"type\":\"nonsense\",\"seq\":3}\n".into(),
        10 => "\u{feff}{}\n".into(),
        11 => ack("1.0", ACTIONS) + "\n",
        _ => return vec![0xff, 0xfe, b'\n'],
    }
    .into_bytes()
}

fn pieces<'a>(bytes: &'a [u8], lengths: &[usize]) -> Vec<&'a [u8]> {
    let mut lengths = lengths.iter().copied().cycle();
    let mut pieces = Vec::new();
    let mut rest = bytes;
    while !rest.is_empty() {
        let (piece, after) = rest.split_at(lengths.next().unwrap().clamp(1, rest.len()));
        pieces.push(piece);
        rest = after;
    }
    pieces
}

/// A change somewhere in a line.
#[derive(Clone, Debug)]
enum Edit {
    Replace(prop::sample::Index, u8),
    Remove(prop::sample::Index),
    Insert(prop::sample::Index, u8),
}

fn edit() -> impl Strategy<Value = Edit> {
    let byte =
        || prop_oneof![any::<u8>(), prop::sample::select(b"\"{}[]:,\\0123456789eE.-+ \tuntf".to_vec())];
    prop_oneof![
        (any::<prop::sample::Index>(), byte()).prop_map(|(at, byte)| Edit::Replace(at, byte)),
        any::<prop::sample::Index>().prop_map(Edit::Remove),
        (any::<prop::sample::Index>(), byte()).prop_map(|(at, byte)| Edit::Insert(at, byte)),
    ]
}

fn edited(line: &str, edits: &[Edit]) -> Vec<u8> {
    let mut bytes = line.as_bytes().to_vec();
    for edit in edits {
        match edit {
            Edit::Replace(at, byte) => {
                let at = at.index(bytes.len());
                bytes[at] = *byte;
            }
            Edit::Remove(at) => drop(bytes.remove(at.index(bytes.len()))),
            Edit::Insert(at, byte) => bytes.insert(at.index(bytes.len()), *byte),
        }
    }
    bytes
}

/// A JSON text of `value` in one of many spellings; `choices` decide.
fn spelled(value: &Value, choices: &mut impl Iterator<Item = u8>, out: &mut String) {
    let mut choice = || choices.next().unwrap_or(0);
    out.push_str(["", " ", "\t", "\r"][usize::from(choice() % 4)]);
    match value {
        Value::String(text) => {
            out.push('"');
            for character in text.chars() {
                match choice() % 4 {
                    0 => {
                        let mut units = [0; 2];
                        for unit in character.encode_utf16(&mut units) {
                            out.push_str(&format!("\\u{unit:04X}"));
                        }
                    }
                    1 if character == '/' => out.push_str("\\/"),
                    _ => {
                        let mut quoted = String::new();
                        write_string(&character.to_string(), &mut quoted);
                        out.push_str(&quoted[1..quoted.len() - 1]);
                    }
                }
            }
            out.push('"');
        }
        Value::Number(number) => match (choice() % 3, number.as_i64()) {
            (0, Some(integer)) => out.push_str(&format!("{integer}.0")),
            (1, Some(integer)) => out.push_str(&format!("{integer}e0")),
            (2, None) => out.push_str(&format!("{:e}", number.as_f64().unwrap())),
            _ => out.push_str(&number.to_string()),
        },
        Value::Array(elements) => {
            out.push('[');
            for (position, element) in elements.iter().enumerate() {
                out.push_str(if position > 0 { "," } else { "" });
                spelled(element, choices, out);
            }
            out.push(']');
        }
        Value::Object(members) => {
            out.push('{');
            let mut members: Vec<_> = members.iter().collect();
            if choice() % 2 == 0 {
                members.reverse();
            }
            for (position, (key, member)) in members.into_iter().enumerate() {
                out.push_str(if position > 0 { "," } else { "" });
                spelled(&Value::String(key.clone()), choices, out);
                out.push(':');
                spelled(member, choices, out);
            }
            out.push('}');
        }
        other => out.push_str(&other.to_string()),
    }
    out.push_str(["", " "][usize::from(choices.next().unwrap_or(0) % 2)]);
}

fn any_object() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-9_007_199_254_740_991_i64..=9_007_199_254_740_991).prop_map(Value::from),
        (-1e15..1e15_f64).prop_map(Value::from),
        any::<f64>().prop_filter("in range", |number| number.abs() < 9e15).prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    let value = leaf.prop_recursive(4, 24, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::btree_map(any::<String>(), inner, 0..6)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    });
    prop::collection::btree_map("[a-zé/\"]{0,6}", value, 0..5)
        .prop_map(|members| Value::Object(members.into_iter().collect()))
}

proptest! {
    #![proptest_config(cases(128))]

    #[test]
    fn any_split_of_any_stream_of_an_agent_gives_the_same_output_events_and_trace(
        kinds in prop::collection::vec(0_u8..13, 0..30),
        lengths in prop::collection::vec(1_usize..400, 1..12),
        cut in 0_usize..40,
    ) {
        let mut next = 0;
        let mut stream = format!("banner\n{}\n", ack("1.0", ACTIONS)).into_bytes();
        for kind in kinds {
            stream.extend(line(&mut next, kind));
        }
        stream.truncate(stream.len() - cut);
        let run = |pieces: &[&[u8]]| {
            let mut bench = Bench::handshaking(HostSettings::default());
            for piece in pieces {
                bench.feed(piece);
            }
            bench.call(|host, now| host.handle_end_of_input(now));
            (bench.written, bench.events, bench.trace, bench.log)
        };
        prop_assert_eq!(run(&[&stream]), run(&pieces(&stream, &lengths)));
    }

    #[test]
    fn any_split_of_any_stream_of_a_host_gives_the_same_commands_and_events(
        codes in prop::collection::vec((0_u64..6, 0..ErrorCode::ALL.len() + 20), 0..20),
        lengths in prop::collection::vec(1_usize..200, 1..12),
        cut in 0_usize..40,
    ) {
        let mut stream = String::new();
        for (seq, code) in codes {
            stream.push_str(&match ErrorCode::ALL.get(code) {
                Some(code) => format!(
                    "{{\"type\":\"response\",\"seq\":{seq},\"success\":false,\"error\":{{\"code\":\"{code}\",\"message\":\"é\"}}}}\r\n"
                ),
                None => format!("{{\"type\":\"response\",\"seq\":{seq},\"success\":true,\"data\":{{\"a\":\"你\"}}}}\n"),
            });
        }
        let bytes = &stream.as_bytes()[..stream.len().saturating_sub(cut)];
        let run = |pieces: &[&[u8]]| {
            let mut raw = RawHost::running();
            for _ in 0..4 {
                raw.click();
            }
            for piece in pieces {
                raw.feed(piece);
            }
            raw.wait(10_000);
            raw.agent.handle_end_of_input(raw.now);
            raw.drain();
            (raw.written, raw.events)
        };
        prop_assert_eq!(run(&[bytes]), run(&pieces(bytes, &lengths)));
    }

    #[test]
    fn arbitrary_bytes_are_survived_and_nothing_is_executed(
        chunks in prop::collection::vec(prop::collection::vec(
            prop_oneof![any::<u8>(), prop::sample::select(b"\n\n{}[]\":,\\".to_vec())], 0..200), 0..8),
    ) {
        for mut bench in [Bench::handshaking(HostSettings::default()), Bench::running()] {
            for chunk in &chunks {
                bench.feed(chunk);
            }
            bench.call(|host, now| host.handle_end_of_input(now));
            prop_assert!(bench.executing.is_empty());
            let lines = chunks.concat().split(|byte| *byte == b'\n').count();
            prop_assert!(bench.all_answers().len() <= lines.min(16));
        }
        for mut raw in [RawHost::new(), RawHost::running()] {
            for chunk in &chunks {
                raw.feed(chunk);
            }
            raw.agent.handle_end_of_input(raw.now);
            raw.drain();
            prop_assert!(raw.ended().is_some());
        }
    }

    #[test]
    fn a_command_that_was_changed_on_the_way_is_executed_only_where_it_still_means_the_same(
        edits in prop::collection::vec(edit(), 1..4),
    ) {
        let params = r##"{"delay_ms":10,"selector":"#a","text":"你好"}"##;
        let mut bench = Bench::running();
        bench.feed(&edited(&signed(&seed(), 1, "type", params, DOMAIN), &edits));
        bench.feed(b"\n");
        if let Some(command) = bench.executing.get(&1) {
            prop_assert_eq!(command.params(), &object(params));
            prop_assert_eq!((command.action().as_str(), command.expected_domain().as_str()), ("type", DOMAIN));
        } else {
            prop_assert!(!bench.all_answers().is_empty());
        }
        prop_assert!(bench.executing.keys().all(|seq| *seq == 1));
    }

    #[test]
    fn changed_lines_are_survived_by_both_sides(edits in prop::collection::vec(edit(), 1..6), which in 0_usize..4) {
        let lines = [
            ack("1.0", ACTIONS),
            signed(&seed(), 1, "click", CLICK, DOMAIN),
            Init { version: "1.0".into(), seed: seed() }.to_line().trim_end().to_owned(),
            r#"{"type":"response","seq":1,"success":false,"error":{"code":"CMD_TIMEOUT","message":"late"},"timing":{"queue_ms":0,"exec_ms":1.5}}"#.to_owned(),
        ];
        let mut bytes = edited(&lines[which], &edits);
        bytes.push(b'\n');
        let mut bench = Bench::handshaking(HostSettings::default());
        bench.feed(&bytes);
        prop_assert!(bench.state() != State::Handshaking || !bench.all_answers().is_empty());
        for mut raw in [RawHost::new(), RawHost::running()] {
            let before = raw.written.len();
            raw.feed(&bytes);
            // It is understood, or it ends the session.
            prop_assert!(!raw.events.is_empty() || raw.written.len() > before);
        }
    }

    #[test]
    fn every_spelling_of_params_has_the_same_hmac(
        params in any_object(),
        choices in prop::collection::vec(any::<u8>(), 1..64),
    ) {
        let canonical = JsonObject::from_serde(&params).unwrap();
        let mut spelling = String::new();
        spelled(&params, &mut choices.into_iter().cycle(), &mut spelling);
        prop_assert_eq!(&object(&spelling), &canonical);
        let line = signed(&seed(), 1, "own", canonical.as_str(), DOMAIN);
        let mut bench = Bench::running();
        bench.line(&line.replace(canonical.as_str(), &spelling));
        prop_assert_eq!(bench.answers(), [(1, "CMD_ACTION_UNKNOWN".to_owned())]);
    }
}

/// A message of the vectors, changed.
fn any_message() -> impl Strategy<Value = Value> {
    let bases: Vec<Value> = rows("envelope")
        .iter()
        .map(|row| serde_json::from_str(row["line"].as_str().unwrap()).unwrap())
        .collect();
    let value = prop::sample::select(vec![
        json!(null),
        json!(true),
        json!(0),
        json!(1),
        json!(1.0),
        json!(-1),
        json!(1.5),
        json!(9_007_199_254_740_991_u64),
        json!(""),
        json!("1.0"),
        json!("click"),
        json!("command"),
        json!("response"),
        json!("init"),
        json!("init_ack"),
        json!("localhost"),
        json!("0f".repeat(32)),
        json!("CMD_TIMEOUT"),
        json!([]),
        json!(["a"]),
        json!(["a", "a"]),
        json!({}),
        json!({"code": "CMD_TIMEOUT", "message": ""}),
        json!({"queue_ms": 0, "exec_ms": 1e-9}),
        json!({"hmac": "", "expected_domain": ""}),
    ]);
    let name = prop::sample::select(vec![
        "type",
        "version",
        "hmac_seed",
        "agent_id",
        "supported_actions",
        "seq",
        "action",
        "params",
        "security",
        "success",
        "data",
        "error",
        "timing",
        "expected_domain",
        "hmac",
        "code",
        "message",
        "details",
        "queue_ms",
        "exec_ms",
        "note",
    ]);
    let change = (name, prop::option::weighted(0.8, value), any::<bool>());
    (prop::sample::select(bases), prop::collection::vec(change, 0..4)).prop_map(|(mut message, changes)| {
        for (name, value, inside) in changes {
            let inner = ["security", "error", "timing"].into_iter().find(|key| message[*key].is_object());
            let place = match inner {
                Some(inner) if inside => &mut message[inner],
                _ => &mut message,
            };
            let members = place.as_object_mut().unwrap();
            match value {
                Some(value) => drop(members.insert(name.to_owned(), value)),
                None => drop(members.remove(name)),
            }
        }
        message
    })
}

proptest! {
    #![proptest_config(cases(2000))]

    /// They differ in one point: what a domain is, the schema describes and the URL parser decides.
    #[test]
    fn the_reader_and_the_schema_of_messages_agree(message in any_message()) {
        let line = message.to_string();
        let read = Envelope::read(line.as_bytes()).unwrap().message(&WhatwgUrlParser).err().map(|failure| failure.code);
        let by_schema = ENVELOPE.validate(&parse(line.as_bytes()).unwrap().to_serde());
        if read != Some(ErrorCode::MacExpectedDomainInvalid) {
            prop_assert_eq!(by_schema.is_ok(), read.is_none(), "{:?} {:?}", read, by_schema);
        }
    }
}

/// What can happen to a host.
#[derive(Clone, Debug)]
enum Op {
    Command(u8, bool),
    Again(u64),
    Forged(u64),
    Garbage,
    Complete(u64, Option<ErrorCode>),
    Cancel(u64),
    Confirm(u64, bool),
    Wait(u64),
    Policy(bool),
    Page(bool),
    Reset,
    EndOfInput,
    OutputClosed,
    Exit(i32),
    Stop,
}

fn op() -> impl Strategy<Value = Op> {
    let seq = || 0_u64..40;
    let failure = prop::sample::select(vec![
        ErrorCode::CmdSelectorTimeout,
        ErrorCode::CmdExecutionFailed,
        ErrorCode::InternalExecutorGone,
        ErrorCode::MacDomainMismatch,
    ]);
    prop_oneof![
        30 => (0_u8..7, any::<bool>()).prop_map(|(kind, gap)| Op::Command(kind, gap)),
        3 => seq().prop_map(Op::Again),
        3 => seq().prop_map(Op::Forged),
        2 => Just(Op::Garbage),
        30 => (seq(), prop::option::of(failure)).prop_map(|(seq, code)| Op::Complete(seq, code)),
        4 => seq().prop_map(Op::Cancel),
        8 => (seq(), any::<bool>()).prop_map(|(seq, allow)| Op::Confirm(seq, allow)),
        8 => prop_oneof![0_u64..100, 0_u64..70_000].prop_map(Op::Wait),
        2 => any::<bool>().prop_map(Op::Policy),
        2 => any::<bool>().prop_map(Op::Page),
        1 => Just(Op::Reset),
        1 => prop_oneof![Just(Op::EndOfInput), Just(Op::OutputClosed), (0..2).prop_map(Op::Exit), Just(Op::Stop)],
    ]
}

/// What the contract promises of seqs, whatever happens.
#[derive(Default)]
struct Model {
    last: u64,
    /// The commands that passed step 6.
    accepted: BTreeSet<u64>,
    sent: BTreeMap<u64, String>,
}

impl Model {
    fn apply(&mut self, bench: &mut Bench, op: Op) {
        match op {
            Op::Command(kind, gap) => {
                let seq = self.last + 1 + if gap && self.last > 0 { 2 } else { 0 };
                let (action, params, host) = match kind {
                    0 | 1 => ("click", CLICK, DOMAIN),
                    2 => ("click", r##"{"selector":"#a","timeout_ms":0}"##, DOMAIN),
                    3 => ("hover", CLICK, DOMAIN),
                    4 => ("navigate", r#"{"url":"https://erp.example.com/"}"#, DOMAIN),
                    5 => ("click", "{}", DOMAIN),
                    _ => ("click", CLICK, "denied.example.com"),
                };
                let line = signed(&seed(), seq, action, params, host);
                if bench.state() == State::Running {
                    self.last = seq;
                    self.accepted.insert(seq);
                }
                bench.line(&line);
                self.sent.insert(seq, line);
            }
            Op::Again(seq) => {
                bench.answers();
                if let Some(line) = self.sent.get(&seq).filter(|_| self.accepted.contains(&seq)) {
                    bench.line(line);
                    assert!(bench.answers().iter().all(|(_, code)| code == "PIPE_SEQ_DUPLICATE"));
                }
            }
            Op::Forged(seq) => {
                let line = signed(&seed(), seq.max(1), "click", CLICK, DOMAIN).replace("#a", "#b");
                bench.line(&line);
            }
            Op::Garbage => bench.line("nonsense"),
            Op::Complete(seq, None) => bench.complete(seq, Ok("{}")),
            Op::Complete(seq, Some(code)) => bench.complete(seq, Err(Failure::new(code, "no"))),
            Op::Cancel(seq) => bench.call(|host, now| host.cancel(seq, now)),
            Op::Confirm(seq, allow) => bench.call(|host, now| host.confirm(seq, allow, now)),
            Op::Wait(milliseconds) => drop(bench.wait(milliseconds)),
            Op::Policy(open) => {
                let document = if open { POLICY } else { r#"{"version":1,"domains":[]}"# };
                bench.call(|host, _| host.set_policy(policy(document)));
            }
            Op::Page(there) => bench.call(|host, _| host.set_page(there.then(|| domain(DOMAIN)))),
            Op::Reset => bench.call(|host, _| host.reset_breaker("click")),
            Op::EndOfInput => bench.call(|host, now| host.handle_end_of_input(now)),
            Op::OutputClosed => bench.call(|host, now| host.handle_output_closed(now)),
            Op::Exit(code) => bench.exit(ChildExit::Code(code)),
            Op::Stop => bench.call(|host, now| host.stop(now)),
        }
    }

    /// The seqs that have their answer.
    fn check(&self, bench: &Bench) -> BTreeSet<u64> {
        let mut answered = BTreeSet::new();
        for (seq, code) in bench.all_answers() {
            if code.starts_with("PIPE_") {
                // Of a later seq it may be a rejection before its command came.
                continue;
            }
            assert!(self.accepted.contains(&seq), "an answer to {seq}, which is no command");
            assert!(answered.insert(seq), "two answers to {seq}");
        }
        let open = self.accepted.len() - answered.len();
        let expected = if bench.state() == State::Crashed { 0 } else { open };
        assert_eq!(bench.host.in_flight(), expected);
        let count = |word: &str| bench.events.iter().filter(|event| event.starts_with(word)).count();
        assert!(
            bench.host.in_flight() == 0 || bench.host.poll_timeout().is_some(),
            "a command waits for ever"
        );
        assert_eq!(count("execute "), bench.executing.len());
        assert!(bench.executing.keys().all(|seq| self.accepted.contains(seq)));
        let running = bench.executing.keys().filter(|seq| !answered.contains(*seq)).count();
        assert!(running <= 1 || bench.state() == State::Crashed, "{running} run at a time");
        let asked = count("ask ") - count("over ");
        assert!(asked <= bench.host.in_flight());
        answered
    }
}

proptest! {
    #![proptest_config(cases(200))]

    #[test]
    fn each_accepted_seq_has_exactly_one_response_or_the_session_ended(ops in prop::collection::vec(op(), 0..120)) {
        let mut bench = Bench::running();
        let mut model = Model::default();
        for op in ops {
            model.apply(&mut bench, op);
            model.check(&bench);
        }
        bench.wait(100 * 61_000);
        let answered = model.check(&bench);
        prop_assert_eq!(bench.host.in_flight(), 0);
        prop_assert_eq!(bench.host.poll_timeout(), None);
        if bench.state() != State::Crashed {
            prop_assert_eq!(&answered, &model.accepted);
        }
        // Whatever is left unanswered was cancelled, and the trace says so.
        for seq in model.accepted.difference(&answered) {
            prop_assert!(bench.stages(*seq).iter().any(|stage| stage.starts_with("cancelled")), "{}", seq);
        }
        // A cancel goes to who has the command, and once.
        let cancels: Vec<_> = bench.events.iter().filter_map(|event| event.strip_prefix("cancel ")).collect();
        let once: BTreeSet<_> = cancels.iter().collect();
        prop_assert_eq!(once.len(), cancels.len());
        prop_assert!(cancels.iter().all(|seq| bench.executing.contains_key(&seq.parse().unwrap())));
    }

    #[test]
    fn each_request_of_an_agent_is_done_exactly_once(
        steps in prop::collection::vec((0_u8..4, 0_u64..30, 0..ErrorCode::ALL.len() + 15), 0..80),
    ) {
        let mut raw = RawHost::running();
        let mut calls = BTreeSet::new();
        for (kind, seq, code) in steps {
            match kind {
                0 => {
                    let action = if seq % 2 == 0 { "click" } else { "hover" };
                    let now = raw.now;
                    let call = raw.agent.request(action.parse().unwrap(), object(CLICK), domain(DOMAIN), now);
                    calls.extend(call.ok());
                    raw.drain();
                }
                1 | 2 => raw.respond(seq, ErrorCode::ALL.get(code).map(|code| code.as_str())),
                _ => raw.wait(seq * 60),
            }
        }
        raw.wait(10_000);
        raw.agent.handle_end_of_input(raw.now);
        raw.drain();
        let mut done = BTreeSet::new();
        for event in raw.events() {
            if let AgentEvent::Done { call, .. } = event {
                prop_assert!(done.insert(call), "twice");
            }
        }
        prop_assert_eq!(done, calls);
        let seqs = raw.seqs();
        prop_assert_eq!(&seqs, &(1..=seqs.len() as u64).collect::<Vec<_>>());
        prop_assert_eq!(raw.agent.in_flight(), 0);
    }

    #[test]
    fn a_pair_ends_every_request_whatever_the_executor_does(
        lengths in prop::collection::vec(1_usize..100, 1..6),
        work in prop::collection::vec((0_u64..40_000, 0_usize..6), 1..8),
        actions in prop::collection::vec(prop::sample::select(vec!["click", "getText", "navigate"]), 1..8),
    ) {
        let mut pair = Pair::running(&lengths);
        let mut turns = work.into_iter().cycle();
        pair.script = Box::new(move |_| {
            let (after, outcome) = turns.next().unwrap();
            let code = match outcome {
                0 => ErrorCode::CmdSelectorTimeout,
                1 => ErrorCode::CmdNavigationFailed,
                2 => ErrorCode::InternalUnknown,
                3 => ErrorCode::CmdExecutionFailed,
                _ => return (after, Ok(object(r#"{"text":"你好"}"#))),
            };
            (after, Err(Failure::new(code, "no")))
        });
        let mut requests = 0;
        for action in actions {
            let params = if action == "navigate" { r#"{"url":"https://erp.example.com/"}"# } else { CLICK };
            let now = pair.bench.now;
            let taken = pair.raw.agent.request(action.parse().unwrap(), object(params), domain(DOMAIN), now);
            requests += usize::from(taken.is_ok());
            pair.raw.drain();
            pair.wait(700);
        }
        pair.wait(3_600_000);
        let done = pair.raw.events().iter().filter(|event| matches!(event, AgentEvent::Done { .. })).count();
        prop_assert_eq!((done, pair.raw.agent.in_flight(), pair.bench.host.in_flight()), (requests, 0, 0));
        prop_assert_eq!(pair.bench.all_answers().len(), pair.raw.seqs().len());
        prop_assert_eq!(pair.bench.state(), State::Running);
    }
}
