//! What the subcommands share: exit statuses, errors, secrets, policies.

use std::io::{Read, Write};
use std::path::PathBuf;

use sgclaw::pipe::KeyDerivation;
use sgclaw::wire::HmacSeed;
use sgclaw::{Policy, WhatwgUrlParser};
use zeroize::Zeroizing;

/// Exit status: the command was run and the answer is no (a line refused, a step not as expected).
pub const NO: u8 = 1;
/// Exit status: the command was called in a way that cannot work.
pub const USAGE: u8 = 2;
/// Exit status: the session crashed, or could not be started.
pub const CRASHED: u8 = 3;

/// How much of a seed file is read.
const MAX_SEED_FILE: u64 = 4096;

/// Why a subcommand ended early.
#[derive(Debug)]
pub struct Exit {
    pub status: u8,
    pub message: String,
}

impl Exit {
    pub fn usage(message: impl Into<String>) -> Self {
        Exit { status: USAGE, message: message.into() }
    }

    pub fn no(message: impl Into<String>) -> Self {
        Exit { status: NO, message: message.into() }
    }

    pub fn crashed(message: impl Into<String>) -> Self {
        Exit { status: CRASHED, message: message.into() }
    }
}

/// `--key-derivation`
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Derivation {
    /// HKDF-SHA256 of the seed (the default of the contract).
    #[default]
    Hkdf,
    /// The decoded seed itself.
    Seed,
}

impl From<Derivation> for KeyDerivation {
    fn from(derivation: Derivation) -> Self {
        match derivation {
            Derivation::Hkdf => KeyDerivation::Hkdf,
            Derivation::Seed => KeyDerivation::Seed,
        }
    }
}

/// The secret of a recorded session; from the command line it is seen by other users, so a file or
/// the environment is better.
#[derive(clap::Args)]
pub struct SeedArguments {
    /// The hmac_seed of the session, 32 to 128 hex digits. Other users can see a command line: prefer
    /// --seed-file or the environment.
    #[arg(long, env = "SGCLAW_SEED", hide_env_values = true, value_name = "HEX")]
    seed: Option<Secret>,
    /// A file that holds the hmac_seed; it wins over --seed and the environment.
    #[arg(long, value_name = "FILE")]
    seed_file: Option<PathBuf>,
    /// How the key comes from the seed.
    #[arg(long, value_enum, default_value_t)]
    pub key_derivation: Derivation,
}

/// A text that `Debug` does not show.
#[derive(Clone)]
pub struct Secret(Zeroizing<String>);

impl std::str::FromStr for Secret {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(Secret(Zeroizing::new(text.to_owned())))
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("…")
    }
}

impl SeedArguments {
    /// The seed, from wherever it was given.
    pub fn seed(&self) -> Result<HmacSeed, Exit> {
        let text = match (&self.seed, &self.seed_file) {
            (_, Some(path)) => {
                let mut text = Zeroizing::new(String::new());
                // A seed is 128 digits at most; the path may be a device without an end.
                std::fs::File::open(path)
                    .and_then(|file| file.take(MAX_SEED_FILE).read_to_string(&mut text))
                    .map_err(|error| Exit::usage(format!("--seed-file {}: {error}", path.display())))?;
                text
            }
            (Some(seed), None) => seed.0.clone(),
            (None, None) => {
                return Err(Exit::usage(
                    "no seed: give --seed-file FILE, SGCLAW_SEED in the environment, or --seed HEX",
                ));
            }
        };
        HmacSeed::from_hex(text.trim()).map_err(|error| Exit::usage(format!("the seed: {error}")))
    }
}

/// Writes a line to stderr. Where that is closed or full the line is lost, and nothing else: a log
/// must not end a session, and `eprintln!` would panic.
pub fn log(line: impl std::fmt::Display) {
    let _lost = writeln!(std::io::stderr().lock(), "{line}");
}

/// Writes a line to stdout for people; as [`log`].
pub fn show(line: impl std::fmt::Display) {
    let mut out = std::io::stdout().lock();
    let _lost = writeln!(out, "{line}").and_then(|()| out.flush());
}

/// The policy in `file`; loopback alone where none was given (contract section 9).
pub fn policy(file: Option<&PathBuf>) -> Result<Policy, Exit> {
    let Some(path) = file else { return Ok(Policy::loopback(&WhatwgUrlParser)) };
    let document =
        std::fs::read(path).map_err(|error| Exit::usage(format!("--policy {}: {error}", path.display())))?;
    Policy::parse(&document, &WhatwgUrlParser)
        .map_err(|error| Exit::usage(format!("--policy {}: {error}", path.display())))
}

/// All of stdin.
pub fn read_stdin() -> Result<Vec<u8>, Exit> {
    let mut text = Vec::new();
    std::io::stdin()
        .read_to_end(&mut text)
        .map_err(|error| Exit::usage(format!("cannot read stdin: {error}")))?;
    Ok(text)
}
