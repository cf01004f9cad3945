//! What the C++ surface costs over Rust: the same recorded session through both, side by side.
//! `cargo xtask bench-boundary` builds and runs this file and `boundary.cc`, which do the same.
//!
//! - `boundary record COUNT FILE`: writes `init_ack` and COUNT signed commands
//! - `boundary FILE COUNT`: carries out the first COUNT of them, and prints the nanoseconds per command
#![allow(clippy::print_stdout)]

use std::error::Error;
use std::fmt::Write;
use std::sync::Arc;
use std::time::Instant;

use sgclaw::pipe::{KeyDerivation, SessionKey};
use sgclaw::wire::{Command, HmacSeed, InitAck};
use sgclaw::{
    Domain, Host, HostConfig, HostEvent, HostSettings, JsonObject, Policy, Registry, Time, WhatwgUrlParser,
};

const SEED: [u8; 32] = [7; 32];

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["record", count, file] => Ok(std::fs::write(file, record(count.parse()?)?)?),
        [file, count] => {
            let session = std::fs::read_to_string(file)?;
            let mut lines = session.split_inclusive('\n');
            let ack = lines.next().ok_or("an empty recording")?;
            let commands: Vec<&str> = lines.take(count.parse()?).collect();
            run(ack, &commands)
        }
        _ => Err("usage: boundary record COUNT FILE | boundary FILE COUNT".into()),
    }
}

fn record(count: u64) -> Result<String, Box<dyn Error>> {
    let key = SessionKey::derive(&HmacSeed::from_bytes(&SEED)?, KeyDerivation::Hkdf);
    let ack = InitAck {
        version: "1.0".into(),
        agent_id: "0b7e2a54-3c1d-4e8f-9a6b-5c4d3e2f1a0b".into(),
        supported_actions: vec!["click".into(), "getText".into(), "type".into()],
    };
    let mut session = ack.to_line().to_string();
    for seq in 1..=count {
        let (action, params) = match seq % 3 {
            0 => ("click", r##"{"selector":"#submit"}"##),
            1 => ("type", r##"{"selector":"#name","text":"Müller"}"##),
            _ => ("getText", r##"{"selector":"table tr:nth-child(3) td.price"}"##),
        };
        let mut command = Command {
            seq,
            action: action.parse()?,
            params: JsonObject::parse(params.as_bytes())?,
            expected_domain: Domain::parse("localhost", &WhatwgUrlParser)?,
            hmac: [b'0'; 64],
        };
        command.hmac = key.sign(&command);
        write!(session, "{}", command.to_line().as_str())?;
    }
    Ok(session)
}

fn run(ack: &str, commands: &[&str]) -> Result<(), Box<dyn Error>> {
    let config = HostConfig {
        session: "boundary".into(),
        seed: HmacSeed::from_bytes(&SEED)?,
        key_derivation: KeyDerivation::Hkdf,
        registry: Registry::standard(),
        policy: Policy::loopback(&WhatwgUrlParser),
        settings: HostSettings::default(),
    };
    let mut host = Host::new(config, Arc::new(WhatwgUrlParser));
    host.set_page(Domain::parse("localhost", &WhatwgUrlParser).ok());
    let mut written = 0;
    host.start(now(0));
    drain(&mut host, now(0), &mut written);
    host.handle_input(ack.as_bytes(), now(0));
    drain(&mut host, now(0), &mut written);

    let start = Instant::now();
    for (line, micros) in commands.iter().zip(1..) {
        host.handle_input(line.as_bytes(), now(micros));
        drain(&mut host, now(micros), &mut written);
    }
    let nanoseconds = start.elapsed().as_nanos();
    if host.in_flight() != 0 || written < commands.len().saturating_mul(50) {
        return Err("not every command was answered".into());
    }
    println!("{}", nanoseconds.checked_div(commands.len() as u128).unwrap_or_default());
    Ok(())
}

fn now(micros: u64) -> Time {
    Time::from_micros(micros)
}

/// What an embedder does after each call, until nothing is left to do.
fn drain(host: &mut Host, now: Time, written: &mut usize) {
    let mut busy = true;
    while std::mem::take(&mut busy) {
        while host.poll_trace().is_some() {}
        while !host.output().is_empty() {
            let count = host.output().len();
            *written = written.saturating_add(count);
            host.output_written(count);
        }
        while let Some(event) = host.poll_event() {
            if let HostEvent::Execute(command) = event {
                let outcome = JsonObject::parse(b"{}");
                host.complete(command.seq(), outcome.map_err(|_| unknown()), now);
                busy = true;
            }
        }
    }
    let _wake = host.poll_timeout();
}

fn unknown() -> sgclaw::Failure {
    sgclaw::Failure::new(sgclaw::ErrorCode::InternalUnknown, "no JSON")
}
