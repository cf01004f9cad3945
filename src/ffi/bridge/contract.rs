use std::sync::Arc;

use cxx::SharedPtr;
use zeroize::Zeroize;

use super::ffi;
use crate::contract::{ErrorCode, Failure, ParsedUrl, Registry, UrlParser};
use crate::json::write_canonical;
use crate::pipe::{HmacSha256, Policy};
use crate::{JsonObject, Time};

pub(super) fn contract_version() -> &'static str {
    crate::contract::VERSION
}

pub(super) fn wipe(secret: &mut [u8; 32]) {
    secret.zeroize();
}

pub(super) fn canonicalize(text: &[u8], canonical: &mut String) -> bool {
    canonical.clear();
    match crate::json::parse(text) {
        Ok(value) => {
            write_canonical(&value, canonical);
            true
        }
        Err(_) => false,
    }
}

pub(super) fn text(bytes: &[u8]) -> std::borrow::Cow<'_, str> {
    String::from_utf8_lossy(bytes)
}

pub(super) fn time(micros: u64) -> Time {
    Time::from_micros(micros)
}

pub(super) fn until(time: Option<Time>) -> u64 {
    time.map_or(u64::MAX, Time::as_micros)
}

pub(super) fn number(code: Option<ErrorCode>) -> u8 {
    code.map_or(0, ErrorCode::number)
}

/// What C++ says of a failure. Details that are no JSON object are left out.
pub(super) fn failure(code: ffi::ErrorCode, message: &[u8], details: &[u8]) -> Failure {
    let code = ErrorCode::from_number(code.repr).unwrap_or(ErrorCode::InternalUnknown);
    Failure { details: JsonObject::parse(details).ok(), ..Failure::new(code, text(message)) }
}

/// What was wrong; empty where nothing was.
fn wrong<E: std::fmt::Display>(outcome: Result<(), E>) -> String {
    outcome.err().map_or_else(String::new, |error| error.to_string())
}

struct UrlParserOfCpp(SharedPtr<ffi::UrlParser>);

// SAFETY: `sgclaw/url_parser.h` demands of every parser that `Parse` can be called on any thread, and
// that its destruction can happen on any.
unsafe impl Send for UrlParserOfCpp {}
// SAFETY: as above.
unsafe impl Sync for UrlParserOfCpp {}

impl UrlParser for UrlParserOfCpp {
    fn parse(&self, url: &str) -> Option<ParsedUrl> {
        let parser = self.0.as_ref()?;
        let mut parts = UrlParts(None);
        if ffi::parse_url(parser, url, &mut parts) { parts.0 } else { None }
    }
}

/// Where C++ puts what it found in a URL; what is not UTF-8 was not found.
pub(super) struct UrlParts(Option<ParsedUrl>);

impl UrlParts {
    pub(super) fn set(&mut self, scheme: &[u8], host: &[u8]) {
        let owned = |bytes| std::str::from_utf8(bytes).ok().map(str::to_owned);
        self.0 = owned(scheme)
            .zip(owned(host))
            .map(|(scheme, host)| ParsedUrl { scheme, host: Some(host).filter(|host| !host.is_empty()) });
    }
}

/// For a build without the `url` crate whose embedder names no parser: every URL is refused.
#[cfg(not(feature = "url"))]
struct NoUrlParser;

#[cfg(not(feature = "url"))]
impl UrlParser for NoUrlParser {
    fn parse(&self, _url: &str) -> Option<ParsedUrl> {
        None
    }
}

pub(super) fn url_parser(parser: SharedPtr<ffi::UrlParser>) -> Arc<dyn UrlParser> {
    if !parser.is_null() {
        return Arc::new(UrlParserOfCpp(parser));
    }
    #[cfg(feature = "url")]
    return Arc::new(crate::WhatwgUrlParser);
    #[cfg(not(feature = "url"))]
    return Arc::new(NoUrlParser);
}

pub(super) fn parse_url_in_rust(url: &[u8], scheme: &mut String, host: &mut String) -> bool {
    let parsed = std::str::from_utf8(url).ok().and_then(|url| url_parser(SharedPtr::null()).parse(url));
    let Some(parsed) = parsed else { return false };
    *scheme = parsed.scheme;
    *host = parsed.host.unwrap_or_default();
    true
}

struct HmacOfCpp(SharedPtr<ffi::HmacSha256>);

// SAFETY: `sgclaw/hmac.h` demands of every implementation what `UrlParserOfCpp` relies on.
unsafe impl Send for HmacOfCpp {}
// SAFETY: as above.
unsafe impl Sync for HmacOfCpp {}

impl HmacSha256 for HmacOfCpp {
    fn tag(&self, key: &[u8], message: &[u8]) -> [u8; 32] {
        let mut tag = [0; 32];
        if let Some(hmac) = self.0.as_ref() {
            ffi::hmac_sha256(hmac, key, message, &mut tag);
        }
        tag
    }
}

pub(super) fn hmac(hmac: SharedPtr<ffi::HmacSha256>) -> Option<Arc<dyn HmacSha256>> {
    (!hmac.is_null()).then(|| Arc::new(HmacOfCpp(hmac)) as Arc<dyn HmacSha256>)
}

pub(super) struct RegistryCore(pub(super) Registry);

pub(super) fn registry_new() -> Box<RegistryCore> {
    Box::new(RegistryCore(Registry::default()))
}

pub(super) fn registry_standard() -> Box<RegistryCore> {
    Box::new(RegistryCore(Registry::standard()))
}

impl RegistryCore {
    pub(super) fn copy(&self) -> Box<Self> {
        Box::new(RegistryCore(self.0.clone()))
    }

    pub(super) fn add(&mut self, name: &[u8], schema: &[u8]) -> String {
        wrong(self.0.register(&text(name), &text(schema)))
    }

    pub(super) fn add_standard(&mut self, name: &[u8]) -> String {
        let name = text(name);
        match Registry::standard().get(&name) {
            Some(action) => wrong(self.0.register(&name, action.source())),
            None => "the contract has no action of this name (section 8)".into(),
        }
    }

    pub(super) fn names(&self) -> Vec<String> {
        self.0.names().map(|name| name.as_str().to_owned()).collect()
    }

    pub(super) fn schema(&self, name: &[u8]) -> &str {
        self.0.get(&text(name)).map_or("", |action| action.source())
    }
}

pub(super) struct PolicyCore(pub(super) Arc<Policy>);

pub(super) fn policy_deny_all() -> Box<PolicyCore> {
    Box::new(PolicyCore(Arc::new(Policy::deny_all())))
}

pub(super) fn policy_loopback(urls: SharedPtr<ffi::UrlParser>) -> Box<PolicyCore> {
    Box::new(PolicyCore(Arc::new(Policy::loopback(url_parser(urls).as_ref()))))
}

impl PolicyCore {
    pub(super) fn copy(&self) -> Box<Self> {
        Box::new(PolicyCore(Arc::clone(&self.0)))
    }

    pub(super) fn parse(&mut self, document: &[u8], urls: SharedPtr<ffi::UrlParser>) -> String {
        match Policy::parse(document, url_parser(urls).as_ref()) {
            Ok(policy) => {
                self.0 = Arc::new(policy);
                String::new()
            }
            Err(error) => error.to_string(),
        }
    }

    pub(super) fn unknown_actions(&self, registry: &RegistryCore) -> Vec<String> {
        self.0.unknown_actions(&registry.0).map(str::to_owned).collect()
    }

    pub(super) fn check_navigation(&self, scheme: &[u8], host: &[u8], message: &mut String) -> u8 {
        let host = Some(text(host).into_owned()).filter(|host| !host.is_empty());
        let url = ParsedUrl { scheme: text(scheme).into_owned(), host };
        refusal(self.0.check_navigation(&url), message)
    }

    pub(super) fn check_domain(&self, domain: &[u8], action: &[u8], message: &mut String) -> u8 {
        refusal(self.0.check_domain(&text(domain), &text(action)), message)
    }
}

fn refusal(checked: Result<(), Failure>, message: &mut String) -> u8 {
    match checked {
        Ok(()) => 0,
        Err(failure) => {
            *message = failure.message;
            failure.code.number()
        }
    }
}
