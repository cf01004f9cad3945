use zeroize::Zeroizing;

/// The secret of a session, 16 to 64 bytes, as `init` carries it in hex. Wiped on drop; never shown.
#[derive(Clone)]
pub struct HmacSeed(Zeroizing<Vec<u8>>);

/// The seed is not 32 to 128 hex digits, an even number of them (16 to 64 bytes).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidSeed;

impl HmacSeed {
    /// Takes the bytes of a seed; the host draws them from the system's random source.
    ///
    /// # Errors
    /// Where they are fewer than 16 or more than 64.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, InvalidSeed> {
        if (16..=64).contains(&bytes.len()) {
            Ok(HmacSeed(Zeroizing::new(bytes.to_vec())))
        } else {
            Err(InvalidSeed)
        }
    }

    /// Takes a seed of 32 bytes, which is always a good length.
    pub fn from_array(bytes: &[u8; 32]) -> Self {
        HmacSeed(Zeroizing::new(bytes.to_vec()))
    }

    /// Reads a seed from hex, upper or lower case.
    ///
    /// # Errors
    /// Where it is not 32 to 128 hex digits, an even number of them.
    pub fn from_hex(text: &str) -> Result<Self, InvalidSeed> {
        let bytes = Zeroizing::new(hex::decode(text).map_err(|_| InvalidSeed)?);
        HmacSeed::from_bytes(&bytes)
    }

    /// The seed in lower-case hex, for `init` alone.
    pub fn to_hex(&self) -> Zeroizing<String> {
        Zeroizing::new(hex::encode(self.0.as_slice()))
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl std::fmt::Debug for HmacSeed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("HmacSeed(…)")
    }
}

impl std::fmt::Display for InvalidSeed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("expected a seed of 32 to 128 hex digits, an even number of them")
    }
}

impl std::error::Error for InvalidSeed {}
