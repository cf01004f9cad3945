//! Every row of `schemas/pipe/1.0/vectors/`, through the public API alone.

use std::collections::BTreeSet;

use serde_json::Value;
use sgclaw::WhatwgUrlParser;
use sgclaw::json::write_number;
use sgclaw::pipe::{KeyDerivation, SessionKey};
use sgclaw::wire::{Command, Envelope, Frame, HmacSeed, LineDecoder, MAX_MESSAGE_BYTES};

use crate::support::{ENVELOPE, domain, object};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/schemas/pipe/1.0/vectors");

pub(crate) fn rows(name: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(format!("{FOLDER}/{name}.jsonl")).unwrap();
    let rows: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(!rows.is_empty());
    rows
}

fn text<'a>(row: &'a Value, field: &str) -> &'a str {
    row[field].as_str().unwrap_or_else(|| panic!("{field} is no string: {row}"))
}

#[test]
fn the_readme_tells_of_every_file() {
    let files: BTreeSet<_> = std::fs::read_dir(FOLDER)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(".jsonl"))
        .collect();
    let readme = std::fs::read_to_string(format!("{FOLDER}/README.md")).unwrap();
    let told: BTreeSet<_> =
        readme.split('`').filter(|word| word.ends_with(".jsonl")).map(str::to_owned).collect();
    assert_eq!(told, files);
}

#[test]
fn canonical() {
    for row in rows("canonical") {
        assert_eq!(object(text(&row, "json")).as_str(), text(&row, "canonical"), "{row}");
        assert_eq!(object(text(&row, "canonical")).as_str(), text(&row, "canonical"), "{row}");
    }
}

#[test]
fn numbers_rfc8785() {
    for row in rows("numbers-rfc8785") {
        let number = f64::from_bits(u64::from_str_radix(text(&row, "double"), 16).unwrap());
        let mut written = String::new();
        write_number(number, &mut written);
        assert_eq!(written, text(&row, "text"), "{row}");
        assert_eq!(written.parse::<f64>().unwrap(), number, "{row}");
    }
}

#[test]
fn hmac() {
    for row in rows("hmac") {
        let mut command = Command {
            seq: row["seq"].as_u64().unwrap(),
            action: text(&row, "action").parse().unwrap(),
            params: object(text(&row, "params")),
            expected_domain: domain(text(&row, "expected_domain")),
            hmac: [b'0'; 64],
        };
        let Command { seq, action, params, expected_domain, .. } = &command;
        assert_eq!(format!("{seq}\n{action}\n{}\n{expected_domain}", params.as_str()), text(&row, "signed"));
        let derivation = match text(&row, "key_derivation") {
            "hkdf" => KeyDerivation::Hkdf,
            "seed" => KeyDerivation::Seed,
            other => panic!("{other}"),
        };
        let key = SessionKey::derive(&HmacSeed::from_hex(text(&row, "seed")).unwrap(), derivation);
        assert!(!key.verifies(&command));
        command.hmac = key.sign(&command);
        assert_eq!(std::str::from_utf8(&command.hmac).unwrap(), text(&row, "hmac"), "{row}");
        assert!(key.verifies(&command));
    }
}

#[test]
fn strict_json() {
    for row in rows("strict-json") {
        let line = match row["hex"].as_str() {
            Some(digits) => hex::decode(digits).unwrap(),
            None => text(&row, "json").as_bytes().to_vec(),
        };
        let code = Envelope::read(&line).err().map(|failure| failure.code.as_str());
        assert_eq!(code, row["code"].as_str(), "{row}");
    }
}

#[test]
fn envelope_and_its_schema() {
    for row in rows("envelope") {
        let line = text(&row, "line");
        let message = Envelope::read(line.as_bytes()).unwrap().message(&WhatwgUrlParser);
        assert_eq!(message.err().map(|failure| failure.code.as_str()), row["code"].as_str(), "{row}");
        // The schema cannot ask the URL parser, so of domains it refuses less.
        let by_schema = ENVELOPE.validate(&serde_json::from_str(line).unwrap()).is_ok();
        match row["code"].as_str() {
            None => assert!(by_schema, "{row}"),
            Some("MAC_EXPECTED_DOMAIN_INVALID") => {}
            Some(_) => assert!(!by_schema, "{row}"),
        }
    }
}

#[test]
fn framing_in_one_read_and_in_many() {
    for row in rows("framing") {
        let mut stream = Vec::new();
        for piece in row["pieces"].as_array().unwrap() {
            match piece {
                Value::String(text) => stream.extend_from_slice(text.as_bytes()),
                piece if piece["hex"].is_string() => stream.extend(hex::decode(text(piece, "hex")).unwrap()),
                piece => {
                    let count = usize::try_from(piece["count"].as_u64().unwrap()).unwrap();
                    stream.extend(text(piece, "repeat").repeat(count).into_bytes());
                }
            }
        }
        let fine = if stream.len() > 1000 { 4093 } else { 1 };
        for read in [stream.len().max(1), fine] {
            let mut decoder = LineDecoder::new(MAX_MESSAGE_BYTES);
            let mut verdicts = Vec::new();
            for mut input in stream.chunks(read) {
                while let Some(frame) = decoder.next(&mut input) {
                    verdicts.push(match frame {
                        Frame::TooLarge => "PIPE_MESSAGE_TOO_LARGE",
                        Frame::Line(line) => {
                            Envelope::read(line).map_or_else(|failure| failure.code.as_str(), |_| "accepted")
                        }
                    });
                }
            }
            if decoder.finish() {
                verdicts.push("PIPE_INVALID_JSON");
            }
            assert_eq!(Value::from(verdicts), row["verdicts"], "{} in reads of {read}", row["name"]);
        }
    }
}
