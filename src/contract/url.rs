/// What the host needs to know of a URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParsedUrl {
    /// The scheme, lower case, without the colon.
    pub scheme: String,
    /// The host as the parser writes it; `None` where the URL has none (`about:blank`, `file:`).
    pub host: Option<String>,
}

/// The URL parser of the host. In a browser this is the browser's own (GURL), so that no second
/// parser can disagree with it about where a URL leads (contract section 9).
pub trait UrlParser: Send + Sync {
    /// Parses an absolute URL. `None` where the parser refuses it or where it is relative.
    fn parse(&self, url: &str) -> Option<ParsedUrl>;
}

/// The `url` crate, for hosts outside a browser.
#[cfg(feature = "url")]
#[derive(Clone, Copy, Debug, Default)]
pub struct WhatwgUrlParser;

#[cfg(feature = "url")]
impl UrlParser for WhatwgUrlParser {
    fn parse(&self, url: &str) -> Option<ParsedUrl> {
        let url = url::Url::parse(url).ok()?;
        let scheme = url.scheme().to_owned();
        // Only these are written by the parser in one form; the host of `file:` or of an unknown
        // scheme is no place that a policy could speak of.
        let has_host = matches!(scheme.as_str(), "http" | "https" | "ws" | "wss" | "ftp");
        let host = url.host_str().filter(|host| has_host && !host.is_empty()).map(str::to_owned);
        Some(ParsedUrl { scheme, host })
    }
}
