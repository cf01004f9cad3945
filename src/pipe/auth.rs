use hmac::digest::Key;
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

/// The key of a session, as HMAC keeps it: both halves of the hash with the key already in. Wiped
/// on drop; never shown.
#[derive(Clone)]
pub struct SessionKey(Hmac<Sha256>);

const INFO: &[u8] = b"sgclaw pipe 1.0 command hmac";

impl SessionKey {
    /// Derives the key of a session.
    pub fn derive(seed: &HmacSeed, derivation: KeyDerivation) -> Self {
        SessionKey(match derivation {
            KeyDerivation::Hkdf => keyed(&hkdf_sha256(&[], seed.as_bytes(), INFO)),
            KeyDerivation::Seed => keyed(seed.as_bytes()),
        })
    }

    /// The HMAC of a command (contract section 5); what stands in `command.hmac` is not looked at.
    pub fn sign(&self, command: &Command) -> HmacText {
        let mut text: HmacText = [0; 64];
        // 32 bytes always fill 64 digits.
        let _infallible = hex::encode_to_slice(self.mac(command).finalize().into_bytes(), &mut text);
        text
    }

    /// Whether a command carries the right HMAC; compared in constant time.
    pub fn verifies(&self, command: &Command) -> bool {
        let mut tag = [0; 32];
        hex::decode_to_slice(command.hmac, &mut tag).is_ok() && self.mac(command).verify_slice(&tag).is_ok()
    }

    /// Fed with `<seq>\n<action>\n<stable_json(params)>\n<expected_domain>`.
    fn mac(&self, command: &Command) -> Hmac<Sha256> {
        let mut mac = self.0.clone();
        mac.update(command.seq.to_string().as_bytes());
        mac.update(b"\n");
        mac.update(command.action.as_str().as_bytes());
        mac.update(b"\n");
        mac.update(command.params.as_bytes());
        mac.update(b"\n");
        mac.update(command.expected_domain.as_str().as_bytes());
        mac
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

/// RFC 5869 for an output of 32 bytes, one block of the expansion.
fn hkdf_sha256(salt: &[u8], ikm: &[u8], info: &[u8]) -> Zeroizing<Vec<u8>> {
    // No salt is a block of zeros, which HMAC makes of an empty key.
    let mut extract = keyed(salt);
    extract.update(ikm);
    let pseudorandom_key = Zeroizing::new(extract.finalize().into_bytes().to_vec());
    let mut expand = keyed(&pseudorandom_key);
    expand.update(info);
    expand.update(&[1]);
    Zeroizing::new(expand.finalize().into_bytes().to_vec())
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
            let okm = hkdf_sha256(&bytes(&row, "salt"), &bytes(&row, "ikm"), &bytes(&row, "info"));
            assert_eq!(okm[..], bytes(&row, "okm")[..32], "{}", row["name"]);
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
