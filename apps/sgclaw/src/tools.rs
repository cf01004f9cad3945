//! The small tools: canonicalize, sign, verify, errors, schema.

use std::io::{IsTerminal, Read, Write};
use std::path::PathBuf;
use std::time::Instant;

use serde_json::json;
use sgclaw::json::{parse, write_canonical};
use sgclaw::pipe::{Authentic, Negotiated, Sequence, SessionKey};
use sgclaw::wire::{Command, Envelope, Frame, LineDecoder, MAX_MESSAGE_BYTES, Message};
use sgclaw::{ActionName, Domain, ErrorCode, Failure, JsonObject, Policy, Registry, WhatwgUrlParser};

use crate::usage::{Exit, SeedArguments, log, policy, read_stdin};

/// Writes JSON in canonical form: what an HMAC covers (contract section 5).
///
/// Reads one JSON value from stdin. Exit status 1: it is not strict JSON.
#[derive(clap::Args)]
pub struct CanonicalizeArguments {
    /// Every line of stdin is a value of its own.
    #[arg(long)]
    lines: bool,
}

/// Runs `sgclaw canonicalize`.
pub fn canonicalize(arguments: &CanonicalizeArguments) -> Result<(), Exit> {
    let input = read_stdin()?;
    let mut failed = false;
    let texts: Vec<&[u8]> = if arguments.lines {
        let whole = input.strip_suffix(b"\n").unwrap_or(&input);
        whole.split(|byte| *byte == b'\n').collect()
    } else {
        vec![&input]
    };
    for (number, text) in texts.iter().enumerate() {
        match parse(text) {
            Ok(value) => {
                let mut line = String::new();
                write_canonical(&value, &mut line);
                line.push('\n');
                print(&line)?;
            }
            Err(error) => {
                failed = true;
                let place = if arguments.lines { format!("line {}: ", number + 1) } else { String::new() };
                log(format_args!("sgclaw: {}: {place}{error}", ErrorCode::PipeInvalidJson));
            }
        }
    }
    if failed { Err(Exit::no("not all of the input is strict JSON")) } else { Ok(()) }
}

/// Signs a command and writes it as the line that goes into the pipe.
///
/// The params are read from stdin, one JSON object in any spelling; they are written in canonical form.
#[derive(clap::Args)]
pub struct SignArguments {
    #[command(flatten)]
    seed: SeedArguments,
    /// The command's seq.
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..=9_007_199_254_740_991))]
    seq: u64,
    /// The command's action.
    #[arg(long)]
    action: ActionName,
    /// The command's expected_domain.
    #[arg(long)]
    domain: String,
    /// Write the HMAC alone.
    #[arg(long)]
    hmac_only: bool,
}

/// Runs `sgclaw sign`.
pub fn sign(arguments: &SignArguments) -> Result<(), Exit> {
    let seed = arguments.seed.seed()?;
    let params = read_stdin()?;
    let params = JsonObject::parse(&params)
        .map_err(|error| Exit::no(format!("{}: the params on stdin: {error}", ErrorCode::PipeInvalidJson)))?;
    let expected_domain = Domain::parse(&arguments.domain, &WhatwgUrlParser).map_err(|error| {
        Exit::usage(format!("{}: --domain: {error}", ErrorCode::MacExpectedDomainInvalid))
    })?;
    let mut command = Command {
        seq: arguments.seq,
        action: arguments.action.clone(),
        params,
        expected_domain,
        hmac: [b'0'; 64],
    };
    command.hmac = SessionKey::derive(&seed, arguments.seed.key_derivation.into()).sign(&command);
    if arguments.hmac_only {
        print(&format!("{}\n", String::from_utf8_lossy(&command.hmac)))
    } else {
        let line = command.to_line();
        if line.len() > MAX_MESSAGE_BYTES + 1 {
            return Err(Exit::no(format!(
                "{}: the line would be longer than {MAX_MESSAGE_BYTES} bytes",
                ErrorCode::PipeMessageTooLarge
            )));
        }
        print(&line)
    }
}

/// Checks recorded command lines as a host would: steps 1 to 9 of the contract's section 6.
///
/// As in a running session in which every registered action is negotiated; without page, breaker,
/// capacity, confirmation or rejection limit. Writes one verdict per line as JSON: {line, seq, ok, code?,
/// message?}. Exit status 1: a line was rejected (with --stats, which only measures: 0).
#[derive(clap::Args)]
pub struct VerifyArguments {
    #[command(flatten)]
    seed: SeedArguments,
    /// The policy; without one loopback alone is allowed, as `sgclaw host` does.
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,
    /// Write one JSON object {accepted, rejected, ns_per_command} instead of the verdicts.
    #[arg(long)]
    stats: bool,
    /// With --stats: the best of N passes over the file in memory.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    passes: u32,
    /// The recorded lines; `-` is stdin.
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

/// Runs `sgclaw verify`.
pub fn verify(arguments: &VerifyArguments) -> Result<(), Exit> {
    let seed = arguments.seed.seed()?;
    let key = SessionKey::derive(&seed, arguments.seed.key_derivation.into());
    let policy = policy(arguments.policy.as_ref())?;
    let input = if arguments.file.as_os_str() == "-" {
        read_stdin()?
    } else {
        let mut text = Vec::new();
        std::fs::File::open(&arguments.file)
            .and_then(|mut file| file.read_to_end(&mut text))
            .map_err(|error| Exit::usage(format!("{}: {error}", arguments.file.display())))?;
        text
    };
    let verifier = Verifier { key, policy, negotiated: Negotiated::all(Registry::standard()) };
    let mut rejected = 0_u64;
    let mut accepted = 0_u64;
    if arguments.stats {
        let mut best = f64::INFINITY;
        for pass in 1..=arguments.passes {
            if std::io::stderr().is_terminal() {
                log(format_args!("pass {pass} of {}", arguments.passes));
            }
            (accepted, rejected) = (0, 0);
            let start = Instant::now();
            verifier.verify(&input, |_, _, verdict| {
                match verdict {
                    Ok(()) => accepted += 1,
                    Err(_) => rejected += 1,
                }
                Ok(())
            })?;
            let commands = (accepted + rejected).max(1);
            best = best.min(start.elapsed().as_nanos() as f64 / commands as f64);
        }
        return print(&format!(
            "{}\n",
            json!({"accepted": accepted, "rejected": rejected, "ns_per_command": best})
        ));
    }
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    let cut = verifier.verify(&input, |line, seq, verdict| {
        let text = match verdict {
            Ok(()) => json!({"line": line, "seq": seq, "ok": true}),
            Err(failure) => {
                rejected += 1;
                json!({"line": line, "seq": seq, "ok": false, "code": failure.code.as_str(), "message": failure.message})
            }
        };
        writeln!(out, "{text}").map_err(broken_output)
    })?;
    out.flush().map_err(broken_output)?;
    if cut {
        return Err(Exit::no("PIPE_INVALID_JSON: the input ends inside a line; a line ends with LF"));
    }
    if rejected == 0 { Ok(()) } else { Err(Exit::no(format!("{rejected} lines were rejected"))) }
}

struct Verifier {
    key: SessionKey,
    policy: Policy,
    negotiated: Negotiated,
}

impl Verifier {
    /// Gives `each` the number of the line, its seq where it can be read, and the verdict. Whether the
    /// input ended inside a line.
    fn verify(
        &self,
        input: &[u8],
        mut each: impl FnMut(u64, Option<u64>, Result<(), Failure>) -> Result<(), Exit>,
    ) -> Result<bool, Exit> {
        let mut decoder = LineDecoder::new(MAX_MESSAGE_BYTES);
        let mut sequence = Sequence::new(false);
        let mut number = 0;
        let mut rest = input;
        loop {
            let frame = decoder.next(&mut rest);
            let (seq, verdict) = match frame {
                Some(Frame::Line(line)) => self.line(line, &mut sequence),
                Some(Frame::TooLarge) => (
                    None,
                    Err(Failure::new(
                        ErrorCode::PipeMessageTooLarge,
                        format!("a message is longer than {MAX_MESSAGE_BYTES} bytes"),
                    )),
                ),
                None => break,
            };
            number += 1;
            each(number, seq, verdict)?;
        }
        // No line, no verdict (contract section 13); nor is it passed over in silence.
        Ok(decoder.finish())
    }

    fn line(&self, line: &[u8], sequence: &mut Sequence) -> (Option<u64>, Result<(), Failure>) {
        let envelope = match Envelope::read(line) {
            Ok(envelope) => envelope,
            Err(failure) => return (None, Err(failure)),
        };
        (envelope.seq(), self.check(&envelope, sequence))
    }

    fn check(&self, envelope: &Envelope<'_>, sequence: &mut Sequence) -> Result<(), Failure> {
        let Message::Command(command) = envelope.message(&WhatwgUrlParser)? else {
            return Err(Failure::new(ErrorCode::PipeUnexpectedMessage, "the message is no command"));
        };
        Authentic::check(command, &self.key)?
            .take_seq(sequence)?
            .validate(&self.negotiated, &WhatwgUrlParser)?
            .check(&self.policy)
    }
}

/// Shows the table of error codes.
#[derive(clap::Args)]
pub struct ErrorsArguments {
    /// Write the table as JSON.
    #[arg(long)]
    json: bool,
}

/// Runs `sgclaw errors`.
pub fn errors(arguments: &ErrorsArguments) -> Result<(), Exit> {
    if arguments.json {
        return print(include_str!("../../../schemas/pipe/1.0/errors.json"));
    }
    let mut text = String::new();
    for code in ErrorCode::ALL {
        let retries = match code.retry_after_ms() {
            [] => "never".to_owned(),
            delays => delays.iter().map(|delay| format!("after {delay} ms")).collect::<Vec<_>>().join(", "),
        };
        text.push_str(&format!(
            "{code}\n    {}\n    {}\n    Retry: {retries}\n",
            code.meaning(),
            code.action()
        ));
    }
    print(&text)
}

/// Shows the JSON Schema of an action's params.
#[derive(clap::Args)]
pub struct SchemaArguments {
    /// The action, or envelope, policy, trace. Without it the names are listed, one a line.
    #[arg(value_name = "ACTION")]
    action: Option<String>,
}

/// Runs `sgclaw schema`.
pub fn schema(arguments: &SchemaArguments) -> Result<(), Exit> {
    let documents = [
        ("envelope", include_str!("../../../schemas/pipe/1.0/envelope.schema.json")),
        ("policy", include_str!("../../../schemas/pipe/1.0/policy.schema.json")),
        ("trace", include_str!("../../../schemas/pipe/1.0/trace.schema.json")),
    ];
    let registry = Registry::standard();
    let names: Vec<&str> =
        registry.names().map(ActionName::as_str).chain(documents.iter().map(|(name, _)| *name)).collect();
    let Some(wanted) = &arguments.action else {
        return print(&format!("{}\n", names.join("\n")));
    };
    if let Some(action) = registry.get(wanted) {
        return print(action.source());
    }
    match documents.iter().find(|(name, _)| name == wanted) {
        Some((_, text)) => print(text),
        None => Err(Exit::usage(format!("there is no action {wanted:?}; there are {}", names.join(", ")))),
    }
}

/// Writes to stdout; a reader that has gone (`| head`) is no error of ours.
pub fn print(text: &str) -> Result<(), Exit> {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(broken_output)
}

fn broken_output(error: std::io::Error) -> Exit {
    if error.kind() == std::io::ErrorKind::BrokenPipe {
        return Exit { status: 0, message: String::new() };
    }
    Exit::no(format!("cannot write to stdout: {error}"))
}
