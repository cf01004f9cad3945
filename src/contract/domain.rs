use std::sync::Arc;

use super::UrlParser;

/// A host as contract section 3 writes it: a lower-case ASCII name, an IPv4 literal, a bracketed
/// IPv6 literal in canonical form, or `localhost`; no port, no trailing dot, at most 253 bytes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Domain(Arc<str>);

/// Why a text is not a [`Domain`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DomainError {
    /// Empty, or longer than 253 bytes.
    Length,
    /// Not ASCII: the A-label is meant.
    NotAscii,
    /// An upper-case letter.
    UpperCase,
    /// A character that no host has: a port, a path, a space, an underscore.
    Character,
    /// An empty label (also: a trailing dot), or one that begins or ends with '-'.
    Label,
    /// The URL parser refuses it or writes it in another way.
    NotCanonical,
}

const MAX_BYTES: usize = 253;

impl Domain {
    /// Checks `text`; in doubt the URL parser decides.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(text: &str, urls: &dyn UrlParser) -> Result<Self, DomainError> {
        if text.is_empty() || text.len() > MAX_BYTES {
            return Err(DomainError::Length);
        }
        if !text.is_ascii() {
            return Err(DomainError::NotAscii);
        }
        if text.bytes().any(|byte| byte.is_ascii_uppercase()) {
            return Err(DomainError::UpperCase);
        }
        if let Some(literal) = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            if !literal.bytes().all(|byte| byte.is_ascii_hexdigit() || matches!(byte, b':' | b'.')) {
                return Err(DomainError::Character);
            }
        } else {
            if !text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.')) {
                return Err(DomainError::Character);
            }
            if text.split('.').any(|label| label.is_empty() || label.starts_with('-') || label.ends_with('-'))
            {
                return Err(DomainError::Label);
            }
        }
        let host = urls.parse(&format!("http://{text}/")).and_then(|url| url.host);
        if host.as_deref() != Some(text) {
            return Err(DomainError::NotCanonical);
        }
        Ok(Domain(text.into()))
    }

    /// The host.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether this is an IPv4 or IPv6 literal.
    pub fn is_ip_literal(&self) -> bool {
        self.0.starts_with('[') || self.0.parse::<std::net::Ipv4Addr>().is_ok()
    }

    /// Whether this is `localhost`, `127.0.0.1` or `[::1]` (contract section 9).
    pub fn is_loopback(&self) -> bool {
        is_loopback(self.as_str())
    }
}

pub(crate) fn is_loopback(host: &str) -> bool {
    matches!(host, "localhost" | "127.0.0.1" | "[::1]")
}

impl PartialEq<str> for Domain {
    fn eq(&self, other: &str) -> bool {
        self.as_str() == other
    }
}

impl std::fmt::Display for Domain {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::fmt::Display for DomainError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            DomainError::Length => "expected a host of 1 to 253 bytes",
            DomainError::NotAscii => {
                "expected an ASCII host: write the A-label (xn--…) of an international name"
            }
            DomainError::UpperCase => "expected a lower-case host",
            DomainError::Character => "expected a host alone: no port, path, white space or underscore",
            DomainError::Label => {
                "expected labels that are not empty and do not begin or end with '-'; no trailing dot"
            }
            DomainError::NotCanonical => {
                "expected the host as a browser writes it; the URL parser refuses or rewrites this one"
            }
        })
    }
}

impl std::error::Error for DomainError {}

#[cfg(all(test, feature = "url"))]
mod tests {
    use super::*;
    use crate::contract::WhatwgUrlParser;

    fn check(text: &str) -> Result<(), DomainError> {
        Domain::parse(text, &WhatwgUrlParser).map(|domain| assert_eq!(domain.as_str(), text))
    }

    #[test]
    fn hosts_as_a_browser_writes_them_are_domains() {
        let long = format!("{}.example", ["a"; 122].join("."));
        for text in [
            "erp.example.com",
            "localhost",
            "127.0.0.1",
            "[::1]",
            "[2001:db8::1]",
            "xn--bcher-kva.example",
            "a",
            "a-b.c1",
            &long,
        ] {
            assert_eq!(check(text), Ok(()), "{text}");
        }
    }

    #[test]
    fn everything_else_is_refused_with_its_reason() {
        let long = "a.".repeat(127) + "aa";
        for (text, error) in [
            ("", DomainError::Length),
            (long.as_str(), DomainError::Length),
            ("bücher.example", DomainError::NotAscii),
            ("ERP.example.com", DomainError::UpperCase),
            ("[2001:DB8::1]", DomainError::UpperCase),
            ("erp.example.com:443", DomainError::Character),
            ("erp.example.com/", DomainError::Character),
            ("a_b.example", DomainError::Character),
            ("a b", DomainError::Character),
            ("*.example", DomainError::Character),
            ("user@host", DomainError::Character),
            ("::1", DomainError::Character),
            ("[::1", DomainError::Character),
            ("[fe80::1%25eth0]", DomainError::Character),
            ("example.com.", DomainError::Label),
            (".example", DomainError::Label),
            ("a..b", DomainError::Label),
            ("-a.example", DomainError::Label),
            ("a-.example", DomainError::Label),
            ("127.1", DomainError::NotCanonical),
            ("0x7f.1", DomainError::NotCanonical),
            ("0177.0.0.1", DomainError::NotCanonical),
            ("1.2.3.4.5", DomainError::NotCanonical),
            ("256.1.1.1", DomainError::NotCanonical),
            ("[0:0:0:0:0:0:0:1]", DomainError::NotCanonical),
            ("[::ffff:127.0.0.1]", DomainError::NotCanonical),
            ("[]", DomainError::NotCanonical),
            ("xn--a", DomainError::NotCanonical),
        ] {
            assert_eq!(check(text), Err(error), "{text}");
        }
    }

    #[test]
    fn the_hint_for_an_international_name_names_the_a_label() {
        assert!(DomainError::NotAscii.to_string().contains("A-label"));
    }
}
