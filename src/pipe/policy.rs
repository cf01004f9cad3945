use once_cell::sync::Lazy;
use serde_json::Value;

use crate::contract::{Domain, DomainError, ErrorCode, Failure, ParsedUrl, Registry, Schema, UrlParser};
use crate::json::{self, JsonError};

const SCHEMA: &str = include_str!("../../schemas/pipe/1.0/policy.schema.json");

static POLICY_SCHEMA: Lazy<Option<Schema>> =
    Lazy::new(|| serde_json::from_str(SCHEMA).ok().and_then(|schema| Schema::compile(&schema).ok()));

/// What an agent may do, and where (contract section 9). Default deny.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    rules: Vec<Rule>,
    schemes: Vec<String>,
    loopback_http: bool,
    confirm: Actions,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Rule {
    /// The host, or for subdomains the host they are under.
    host: Domain,
    subdomains: bool,
    actions: Actions,
}

/// Names of actions, or all of them.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Actions(Vec<String>);

impl Actions {
    fn contains(&self, action: &str) -> bool {
        self.0.iter().any(|name| name == "*" || name == action)
    }
}

/// Why a policy document was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PolicyError {
    /// It is not strict JSON.
    Json(JsonError),
    /// It does not satisfy `schemas/pipe/1.0/policy.schema.json`; where, and what was expected.
    Schema(Vec<String>),
    /// A pattern is neither a host nor `*.` and a host; which of the domains, and why.
    Pattern(usize, DomainError),
    /// `*.` stands before an IP literal; which of the domains.
    SubdomainsOfAnAddress(usize),
}

impl Policy {
    /// Allows nothing.
    pub fn deny_all() -> Self {
        Policy {
            rules: Vec::new(),
            schemes: vec!["https".into()],
            loopback_http: true,
            confirm: Actions(Vec::new()),
        }
    }

    /// Allows every action on `localhost`, `127.0.0.1` and `[::1]`, and nothing else: what the
    /// command-line host does without a policy.
    pub fn loopback(urls: &dyn UrlParser) -> Self {
        let hosts = ["localhost", "127.0.0.1", "[::1]"];
        let all = || Actions(vec!["*".into()]);
        let rule = |host: Domain| Rule { host, subdomains: false, actions: all() };
        let rules = hosts.iter().filter_map(|host| Domain::parse(host, urls).ok()).map(rule).collect();
        Policy { rules, ..Policy::deny_all() }
    }

    /// Reads a policy document.
    ///
    /// # Errors
    /// What is wrong with it; nothing is guessed.
    pub fn parse(document: &[u8], urls: &dyn UrlParser) -> Result<Self, PolicyError> {
        // The strict reader: of two equal keys none may win in silence.
        let value = json::parse(document).map_err(PolicyError::Json)?.to_serde();
        match POLICY_SCHEMA.as_ref() {
            Some(schema) => {
                schema.validate(&value).map_err(|errors| PolicyError::Schema(readable(&errors)))?
            }
            None => return Err(PolicyError::Schema(vec!["the schema of policies does not compile".into()])),
        }
        let mut policy = Policy::deny_all();
        for (position, domain) in array(value.get("domains")).enumerate() {
            let pattern = domain.get("pattern").and_then(Value::as_str).unwrap_or_default();
            let (host, subdomains) = match pattern.strip_prefix("*.") {
                Some(host) => (host, true),
                None => (pattern, false),
            };
            let host = Domain::parse(host, urls).map_err(|error| PolicyError::Pattern(position, error))?;
            if subdomains && host.is_ip_literal() {
                return Err(PolicyError::SubdomainsOfAnAddress(position));
            }
            policy.rules.push(Rule { host, subdomains, actions: Actions(strings(domain.get("actions"))) });
        }
        if let Some(navigate) = value.get("navigate") {
            if let Some(schemes) = navigate.get("schemes") {
                policy.schemes = strings(Some(schemes));
            }
            policy.loopback_http = navigate.get("loopback_http").and_then(Value::as_bool).unwrap_or(true);
        }
        policy.confirm = Actions(strings(value.get("confirm")));
        Ok(policy)
    }

    /// Whether any pattern matches `host`.
    pub fn domain_allowed(&self, host: &str) -> bool {
        self.rules.iter().any(|rule| rule.matches(host))
    }

    /// Whether a pattern that matches `host` allows `action`.
    pub fn allows(&self, host: &str, action: &str) -> bool {
        self.rules.iter().any(|rule| rule.matches(host) && rule.actions.contains(action))
    }

    /// Whether a page may be opened with this scheme.
    pub fn url_scheme_allowed(&self, url: &ParsedUrl) -> bool {
        let loopback = || url.host.as_deref().is_some_and(crate::contract::is_loopback);
        self.schemes.contains(&url.scheme) || (self.loopback_http && url.scheme == "http" && loopback())
    }

    /// Whether a person must confirm `action`.
    pub fn needs_confirmation(&self, action: &str) -> bool {
        self.confirm.contains(action)
    }

    /// Names of actions that the policy uses and `registry` does not have: misspelt, perhaps, and then
    /// without effect. Worth a warning, above all where a confirmation would never be asked for.
    pub fn unknown_actions<'a>(&'a self, registry: &'a Registry) -> impl Iterator<Item = &'a str> {
        let lists = self.rules.iter().map(|rule| &rule.actions).chain([&self.confirm]);
        lists
            .flat_map(|list| &list.0)
            .map(String::as_str)
            .filter(|name| *name != "*" && registry.get(name).is_none())
    }

    /// Whether the agent may use `action` on `domain` (contract section 6, step 9).
    ///
    /// # Errors
    /// `MAC_DOMAIN_DENIED`, `MAC_ACTION_DENIED`.
    pub fn check_domain(&self, domain: &str, action: &str) -> Result<(), Failure> {
        if !self.domain_allowed(domain) {
            return Err(Failure::new(
                ErrorCode::MacDomainDenied,
                format!("the policy does not allow the domain {domain}"),
            ));
        }
        if !self.allows(domain, action) {
            return Err(Failure::new(
                ErrorCode::MacActionDenied,
                format!("the policy does not allow {action} on {domain}"),
            ));
        }
        Ok(())
    }

    /// Whether a page may be opened at `url`: the rule for `navigate` and for each of its redirects
    /// (contract section 9).
    ///
    /// # Errors
    /// `MAC_URL_DENIED`, `MAC_DOMAIN_DENIED`, `MAC_ACTION_DENIED`.
    pub fn check_navigation(&self, url: &ParsedUrl) -> Result<(), Failure> {
        self.check_scheme(url)?;
        match &url.host {
            Some(host) => self.check_domain(host, "navigate"),
            None => {
                Err(Failure::new(ErrorCode::MacDomainDenied, "the URL has no host that a policy could allow"))
            }
        }
    }

    /// Whether the scheme rule holds for `url`.
    ///
    /// # Errors
    /// `MAC_URL_DENIED`.
    pub fn check_scheme(&self, url: &ParsedUrl) -> Result<(), Failure> {
        if self.url_scheme_allowed(url) {
            return Ok(());
        }
        let mut allowed = self.schemes.clone();
        if self.loopback_http {
            allowed.push("http to loopback".into());
        }
        let allowed = if allowed.is_empty() { "no scheme".into() } else { allowed.join(", ") };
        Err(Failure::new(ErrorCode::MacUrlDenied, format!("for navigation the policy allows {allowed}")))
    }
}

impl Rule {
    fn matches(&self, host: &str) -> bool {
        if !self.subdomains {
            return self.host == *host;
        }
        // A label and a dot must stand before: `*.corp.example` is not `corp.example`.
        host.strip_suffix(self.host.as_str())
            .and_then(|labels| labels.strip_suffix('.'))
            .is_some_and(|labels| !labels.is_empty())
    }
}

fn array(value: Option<&Value>) -> impl Iterator<Item = &Value> {
    value.and_then(Value::as_array).into_iter().flatten()
}

fn strings(value: Option<&Value>) -> Vec<String> {
    array(value).filter_map(Value::as_str).map(str::to_owned).collect()
}

fn readable(errors: &[Value]) -> Vec<String> {
    let text =
        |error: &Value, field: &str| error.get(field).and_then(Value::as_str).unwrap_or_default().to_owned();
    errors.iter().map(|error| format!("at '{}': {}", text(error, "path"), text(error, "message"))).collect()
}

impl std::fmt::Display for PolicyError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            PolicyError::Json(error) => write!(f, "the policy is not strict JSON: {error}"),
            PolicyError::Schema(errors) => {
                write!(f, "the policy does not satisfy its schema: {}", errors.join("; "))
            }
            PolicyError::Pattern(at, error) => {
                write!(f, "domains[{at}].pattern: expected a host, or '*.' and a host: {error}")
            }
            PolicyError::SubdomainsOfAnAddress(at) => {
                write!(f, "domains[{at}].pattern: an IP address has no subdomains; write it without '*.'")
            }
        }
    }
}

impl std::error::Error for PolicyError {}

#[cfg(all(test, feature = "url"))]
mod tests {
    use super::*;
    use crate::contract::WhatwgUrlParser;

    fn policy(document: &str) -> Result<Policy, PolicyError> {
        Policy::parse(document.as_bytes(), &WhatwgUrlParser)
    }

    const EXAMPLE: &str = r#"{"version": 1,
        "domains": [{"pattern": "erp.example.com", "actions": ["*"]},
                    {"pattern": "*.corp.example", "actions": ["click", "getText"]},
                    {"pattern": "a.corp.example", "actions": ["type"]}],
        "navigate": {"schemes": ["https"], "loopback_http": true},
        "confirm": ["navigate"]}"#;

    #[test]
    fn the_example_of_the_contract_means_what_it_says() {
        let policy = policy(EXAMPLE).unwrap();
        for (host, action, allowed) in [
            ("erp.example.com", "anything", true),
            ("x.erp.example.com", "click", false),
            ("corp.example", "click", false),
            ("a.corp.example", "click", true),
            ("a.b.corp.example", "getText", true),
            ("a.corp.example", "type", true), // several patterns unite
            ("b.corp.example", "type", false),
            ("evilcorp.example", "click", false),
            ("corp.example.evil", "click", false),
            ("", "click", false),
            (".corp.example", "click", false),
        ] {
            assert_eq!(policy.allows(host, action), allowed, "{action} on {host}");
        }
        assert!(policy.needs_confirmation("navigate") && !policy.needs_confirmation("click"));
    }

    #[test]
    fn the_scheme_rule_knows_loopback() {
        let policy = policy(EXAMPLE).unwrap();
        let check = |url: &str| policy.url_scheme_allowed(&WhatwgUrlParser.parse(url).unwrap());
        assert!(check("https://a.example/"));
        assert!(check("http://localhost:1/") && check("http://127.0.0.1/") && check("http://[::1]/"));
        assert!(!check("http://a.example/") && !check("http://127.0.0.2/") && !check("file:///etc/passwd"));
        assert!(!check("javascript:alert(1)") && !check("data:text/html,x") && !check("about:blank"));
        let strict =
            super::tests::policy(r#"{"version":1,"domains":[],"navigate":{"loopback_http":false}}"#).unwrap();
        assert!(!strict.url_scheme_allowed(&WhatwgUrlParser.parse("http://localhost/").unwrap()));
    }

    #[test]
    fn names_that_no_action_has_are_told() {
        let policy = policy(
            r#"{"version":1,"domains":[{"pattern":"a.example","actions":["clik","*","type"]}],"confirm":["navigat"]}"#,
        )
        .unwrap();
        let registry = Registry::standard();
        assert_eq!(policy.unknown_actions(&registry).collect::<Vec<_>>(), ["clik", "navigat"]);
    }

    #[test]
    fn the_default_denies() {
        let empty = policy(r#"{"version":1,"domains":[]}"#).unwrap();
        assert_eq!(empty, Policy::deny_all());
        assert!(!empty.domain_allowed("localhost"));
        let loopback = Policy::loopback(&WhatwgUrlParser);
        assert!(loopback.allows("[::1]", "click") && loopback.allows("localhost", "navigate"));
        assert!(!loopback.domain_allowed("127.0.0.2") && !loopback.domain_allowed("a.localhost"));
    }

    #[test]
    fn a_document_that_is_not_a_policy_is_refused_with_its_place() {
        for (document, words) in [
            ("{", "not strict JSON"),
            (r#"{"version":1,"version":1,"domains":[]}"#, "duplicate key"),
            (r#"{"version":2,"domains":[]}"#, "at '/version': expected 1"),
            (r#"{"version":1}"#, "the field \"domains\" is missing"),
            (r#"{"version":1,"domains":[],"deny":[]}"#, "unknown field 'deny'"),
            (r#"{"version":1,"domains":[{"pattern":"a.example"}]}"#, "\"actions\" is missing"),
            (r#"{"version":1,"domains":[{"pattern":"A.example","actions":[]}]}"#, "domains[0].pattern"),
            (r#"{"version":1,"domains":[{"pattern":"a.*.example","actions":[]}]}"#, "domains[0].pattern"),
            (r#"{"version":1,"domains":[{"pattern":"*","actions":[]}]}"#, "domains[0].pattern"),
            (r#"{"version":1,"domains":[{"pattern":"*.127.0.0.1","actions":[]}]}"#, "no subdomains"),
            (r#"{"version":1,"domains":[],"confirm":["a-b"]}"#, "at '/confirm/0'"),
        ] {
            let error = policy(document).unwrap_err().to_string();
            assert!(error.contains(words), "{document}: {error}");
        }
    }
}
