use std::sync::Arc;

use hmac::digest::{CtOutput, Key};
use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};
use zeroize::{Zeroize, Zeroizing};

use crate::wire::{Command, HmacSeed, HmacText};

/// How the key of a session comes from its seed (contract section 5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum KeyDerivation {
    /// HKDF-SHA256 without salt, info `sgclaw pipe 1.0 command hmac`, 32 bytes.
    #[default]
    Hkdf,
    /// The decoded seed itself, for peers that were built that way.
    Seed,
}

/// HMAC-SHA256 of the embedder's own crypto library, for a host that may use no other.
pub trait HmacSha256: Send + Sync {
    /// The tag of `message` under `key`, which is of any length.
    fn tag(&self, key: &[u8], message: &[u8]) -> [u8; 32];
}

/// The key of a session. Wiped on drop; never shown.
#[derive(Clone)]
pub struct SessionKey(Keyed);

#[derive(Clone)]
enum Keyed {
    /// As HMAC keeps it: both halves of the hash with the key already in.
    Own(Hmac<Sha256>),
    Embedder(Zeroizing<Vec<u8>>, Arc<dyn HmacSha256>),
}

const INFO: &[u8] = b"sgclaw pipe 1.0 command hmac";

impl SessionKey {
    /// Derives the key of a session.
    pub fn derive(seed: &HmacSeed, derivation: KeyDerivation) -> Self {
        SessionKey(Keyed::Own(match derivation {
            KeyDerivation::Hkdf => keyed(&hkdf_sha256(&Own, &[], seed.as_bytes(), INFO)),
            KeyDerivation::Seed => keyed(seed.as_bytes()),
        }))
    }

    /// The same with every HMAC from `hmac`.
    pub fn derive_with(seed: &HmacSeed, derivation: KeyDerivation, hmac: Arc<dyn HmacSha256>) -> Self {
        let key = match derivation {
            KeyDerivation::Hkdf => hkdf_sha256(hmac.as_ref(), &[], seed.as_bytes(), INFO),
            KeyDerivation::Seed => Zeroizing::new(seed.as_bytes().to_vec()),
        };
        SessionKey(Keyed::Embedder(key, hmac))
    }

    /// The HMAC of a command (contract section 5); what stands in `command.hmac` is not looked at.
    pub fn sign(&self, command: &Command) -> HmacText {
        let mut text: HmacText = [0; 64];
        // 32 bytes always fill 64 digits.
        let _infallible = hex::encode_to_slice(self.tag(command).into_bytes(), &mut text);
        text
    }

    /// Whether a command carries the right HMAC; compared in constant time.
    pub fn verifies(&self, command: &Command) -> bool {
        let mut tag = [0; 32];
        hex::decode_to_slice(command.hmac, &mut tag).is_ok() && self.tag(command) == CtOutput::new(tag.into())
    }

    /// Of `<seq>\n<action>\n<stable_json(params)>\n<expected_domain>`.
    fn tag(&self, command: &Command) -> CtOutput<Hmac<Sha256>> {
        let seq = command.seq.to_string();
        let pieces: [&[u8]; 7] = [
            seq.as_bytes(),
            b"\n",
            command.action.as_str().as_bytes(),
            b"\n",
            command.params.as_bytes(),
            b"\n",
            command.expected_domain.as_str().as_bytes(),
        ];
        match &self.0 {
            Keyed::Own(keyed) => {
                let mut mac = keyed.clone();
                for piece in pieces {
                    mac.update(piece);
                }
                mac.finalize()
            }
            Keyed::Embedder(key, hmac) => {
                CtOutput::new(hmac.tag(key, &Zeroizing::new(pieces.concat())).into())
            }
        }
    }
}

impl std::fmt::Debug for SessionKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SessionKey(…)")
    }
}

/// HMAC-SHA256 under a key of any length (RFC 2104): a longer one than a block is hashed first.
fn keyed(key: &[u8]) -> Hmac<Sha256> {
    let mut block = Key::<Hmac<Sha256>>::default();
    let hashed = Zeroizing::new(<[u8; 32]>::from(Sha256::digest(key)));
    let key = if key.len() > block.len() { hashed.as_slice() } else { key };
    for (to, from) in block.iter_mut().zip(key) {
        *to = *from;
    }
    let mac = Hmac::new(&block);
    block.as_mut_slice().zeroize();
    mac
}

struct Own;

impl HmacSha256 for Own {
    fn tag(&self, key: &[u8], message: &[u8]) -> [u8; 32] {
        let mut mac = keyed(key);
        mac.update(message);
        mac.finalize().into_bytes().into()
    }
}

/// RFC 5869 for an output of 32 bytes, one block of the expansion.
fn hkdf_sha256(hmac: &dyn HmacSha256, salt: &[u8], ikm: &[u8], info: &[u8]) -> Zeroizing<Vec<u8>> {
    // No salt is a block of zeros, which HMAC makes of an empty key.
    let pseudorandom_key = Zeroizing::new(hmac.tag(salt, ikm));
    let block = [info, &[1]].concat();
    Zeroizing::new(hmac.tag(pseudorandom_key.as_slice(), &block).to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    fn vectors(name: &str) -> Vec<Value> {
        let path = format!("{}/schemas/pipe/1.0/vectors/{name}.jsonl", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(path).unwrap();
        let rows: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert!(!rows.is_empty());
        rows
    }

    fn bytes(row: &Value, field: &str) -> Vec<u8> {
        hex::decode(row[field].as_str().unwrap()).unwrap()
    }

    #[test]
    fn hmac_is_that_of_rfc_4231() {
        for row in vectors("hmac-rfc4231") {
            let mut mac = keyed(&bytes(&row, "key"));
            mac.update(&bytes(&row, "data"));
            let tag = mac.finalize().into_bytes().to_vec();
            let expected = bytes(&row, "tag");
            assert_eq!(tag[..expected.len()], expected, "{}", row["name"]);
        }
    }

    #[test]
    fn hkdf_is_that_of_rfc_5869() {
        for row in vectors("hkdf-rfc5869") {
            let okm = hkdf_sha256(&Own, &bytes(&row, "salt"), &bytes(&row, "ikm"), &bytes(&row, "info"));
            assert_eq!(okm[..], bytes(&row, "okm")[..32], "{}", row["name"]);
        }
    }

    #[cfg(feature = "url")]
    #[test]
    fn the_embedders_hmac_gives_the_same_tags() {
        let command = Command {
            seq: 7,
            action: "click".parse().unwrap(),
            params: crate::JsonObject::parse(br##"{"selector":"#a"}"##).unwrap(),
            expected_domain: crate::Domain::parse("localhost", &crate::WhatwgUrlParser).unwrap(),
            hmac: [b'0'; 64],
        };
        for seed in [16, 32, 64] {
            let seed = HmacSeed::from_bytes(&vec![7; seed]).unwrap();
            for derivation in [KeyDerivation::Hkdf, KeyDerivation::Seed] {
                let own = SessionKey::derive(&seed, derivation);
                let embedders = SessionKey::derive_with(&seed, derivation, Arc::new(Own));
                assert_eq!(own.sign(&command), embedders.sign(&command));
                let signed = Command { hmac: own.sign(&command), ..command.clone() };
                assert!(embedders.verifies(&signed) && !embedders.verifies(&command));
            }
        }
    }

    #[test]
    fn secrets_are_not_shown() {
        let seed = HmacSeed::from_hex(&"ab".repeat(32)).unwrap();
        let key = SessionKey::derive(&seed, KeyDerivation::Seed);
        let shown = format!("{seed:?} {key:?}");
        assert!(!shown.contains("ab") && !shown.contains("171"), "{shown}");
    }
}
