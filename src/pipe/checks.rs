//! The order of checks (contract section 6) as types: `Command → Authentic → Sequenced → Valid →
//! Authorized`. Each step takes the former type and returns the next; only [`Authorized`] can be
//! given to an executor, so a forgotten check does not compile.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use crate::contract::{
    ActionName, ActionSchema, Domain, ErrorCode, Failure, ParsedUrl, Registry, UrlParser, params_invalid,
};
use crate::json::{JsonObject, Value};
use crate::pipe::{Policy, Sequence, SessionKey};
use crate::wire::Command;

/// The deadline of a command that states none (contract section 7).
pub(crate) const DEFAULT_TIMEOUT: Duration = Duration::from_millis(30_000);

/// A command whose HMAC is right (step 5).
#[derive(Debug)]
pub struct Authentic(Command);

/// An authentic command that has used its seq (step 6). From here on it gets exactly one response.
#[derive(Debug)]
pub struct Sequenced {
    command: Command,
    skipped: u64,
}

/// A command of a known, negotiated action with valid params (steps 7 and 8).
#[derive(Debug)]
pub struct Valid {
    command: Command,
    action: Arc<ActionSchema>,
    url: Option<ParsedUrl>,
    timeout: Option<Duration>,
    in_frame: bool,
}

/// A command that the policy allows on the page that is open (step 9): the only thing that an
/// executor takes.
#[derive(Debug)]
pub struct Authorized(Valid);

/// The host's registry and which of its actions the agent supports.
#[derive(Clone, Debug)]
pub struct Negotiated {
    registry: Registry,
    actions: BTreeSet<ActionName>,
}

impl Negotiated {
    /// The host's registry ∩ the agent's `supported_actions` (contract section 4).
    pub fn new(registry: Registry, supported: &[String]) -> Self {
        let actions =
            registry.names().filter(|name| supported.iter().any(|s| s == name.as_str())).cloned().collect();
        Negotiated { registry, actions }
    }

    /// Every registered action, as where a recorded session is verified.
    pub fn all(registry: Registry) -> Self {
        let actions = registry.names().cloned().collect();
        Negotiated { registry, actions }
    }

    /// The negotiated actions, in order.
    pub fn actions(&self) -> impl Iterator<Item = &ActionName> {
        self.actions.iter()
    }

    pub(super) fn registry(&self) -> &Registry {
        &self.registry
    }
}

impl Authentic {
    /// Step 5.
    ///
    /// # Errors
    /// `PIPE_HMAC_INVALID`.
    pub fn check(command: Command, key: &SessionKey) -> Result<Self, Failure> {
        if key.verifies(&command) {
            return Ok(Authentic(command));
        }
        Err(Failure::new(
            ErrorCode::PipeHmacInvalid,
            "security.hmac does not match: compare seq, action, canonical params, domain, key derivation and session",
        ))
    }

    /// Step 6.
    ///
    /// # Errors
    /// `PIPE_SEQ_DUPLICATE`, `PIPE_SEQ_OUT_OF_ORDER`; the sequence is unchanged then.
    pub fn take_seq(self, sequence: &mut Sequence) -> Result<Sequenced, Failure> {
        let skipped = sequence.take(self.0.seq)?;
        Ok(Sequenced { command: self.0, skipped })
    }
}

impl Sequenced {
    /// The command's seq.
    pub fn seq(&self) -> u64 {
        self.command.seq
    }

    /// How many seqs were skipped before this one.
    pub fn skipped(&self) -> u64 {
        self.skipped
    }

    /// The action as the peer wrote it; it need not exist.
    pub(super) fn action(&self) -> &ActionName {
        &self.command.action
    }

    /// Steps 7 and 8.
    ///
    /// # Errors
    /// `CMD_ACTION_UNKNOWN`, `MAC_ACTION_DENIED`, `CMD_PARAMS_INVALID`.
    pub fn validate(self, negotiated: &Negotiated, urls: &dyn UrlParser) -> Result<Valid, Failure> {
        let command = self.command;
        let Some(action) = negotiated.registry.get(command.action.as_str()) else {
            return Err(Failure::new(ErrorCode::CmdActionUnknown, "the host has no action of this name"));
        };
        if !negotiated.actions.contains(action.name()) {
            return Err(Failure::new(
                ErrorCode::MacActionDenied,
                format!(
                    "{} was not negotiated: the agent's supported_actions did not name it",
                    action.name()
                ),
            ));
        }
        action.validate(&command.params)?;

        let params = command.params.view();
        let timeout = params.get("timeout_ms").and_then(Value::as_integer);
        let timeout = timeout.and_then(|timeout| u64::try_from(timeout).ok()).map(Duration::from_millis);
        let in_frame = params.get("frame").and_then(Value::as_array).is_some();
        let url = match params.get("url").and_then(Value::as_str) {
            Some(url) if action.name().as_str() == "navigate" => Some(parse_url(url, action.name(), urls)?),
            _ => None,
        };
        drop(params);
        let action = Arc::clone(action);
        Ok(Valid { command, action, url, timeout, in_frame })
    }
}

fn parse_url(url: &str, action: &ActionName, urls: &dyn UrlParser) -> Result<ParsedUrl, Failure> {
    urls.parse(url).ok_or_else(|| {
        let error = serde_json::json!({
            "path": "/url", "keyword": "url", "message": "expected an absolute URL that the host's URL parser accepts",
        });
        params_invalid(action, vec![error])
    })
}

impl Valid {
    /// Step 9. `page` is the domain of the document that the tab shows, `None` where that has no
    /// host.
    ///
    /// # Errors
    /// `MAC_URL_DENIED`, `MAC_DOMAIN_DENIED`, `MAC_ACTION_DENIED`, `MAC_DOMAIN_MISMATCH`.
    pub fn authorize(self, policy: &Policy, page: Option<&Domain>) -> Result<Authorized, Failure> {
        self.check(policy)?;
        self.check_page(policy, page)?;
        Ok(Authorized(self))
    }

    /// Step 9 as far as it needs no page: for recorded sessions. What passes cannot be dispatched.
    ///
    /// # Errors
    /// As [`Valid::authorize`].
    pub fn check(&self, policy: &Policy) -> Result<(), Failure> {
        if let Some(url) = &self.url {
            policy.check_scheme(url)?;
        }
        let domain = &self.command.expected_domain;
        policy.check_domain(domain.as_str(), self.action.name().as_str())?;
        match &self.url {
            // The target's host takes the page's place.
            Some(url) if url.host.as_deref() != Some(domain.as_str()) => Err(Failure::new(
                ErrorCode::MacDomainMismatch,
                format!("expected_domain is {domain}; for navigate it must be the host of the URL"),
            )),
            _ => Ok(()),
        }
    }

    fn check_page(&self, policy: &Policy, page: Option<&Domain>) -> Result<(), Failure> {
        // Of another tab only the executor can tell the domain, right before it acts.
        if self.url.is_some() || self.action.name().as_str() == "activateTab" {
            return Ok(());
        }
        let domain = &self.command.expected_domain;
        if self.in_frame {
            // expected_domain is the frame's, which the executor compares; around it is this page.
            if page.is_some_and(|page| policy.domain_allowed(page.as_str())) {
                return Ok(());
            }
            return Err(Failure::new(
                ErrorCode::MacDomainDenied,
                "the page around the frame is not on an allowed domain",
            ));
        }
        let Some(page) = page else {
            return Err(Failure::new(
                ErrorCode::MacDomainMismatch,
                format!("expected_domain is {domain}; the page has no host: navigate first"),
            ));
        };
        if page != domain {
            return Err(Failure::new(
                ErrorCode::MacDomainMismatch,
                format!("expected_domain is {domain}; the page is on another domain"),
            ));
        }
        Ok(())
    }
}

impl Authorized {
    /// The command's seq.
    pub fn seq(&self) -> u64 {
        self.0.command.seq
    }

    /// The name of a registered, negotiated action.
    pub fn action(&self) -> &ActionName {
        self.0.action.name()
    }

    /// Params that satisfy the action's schema.
    pub fn params(&self) -> &JsonObject {
        &self.0.command.params
    }

    /// The domain that the document acted upon must have.
    pub fn expected_domain(&self) -> &Domain {
        &self.0.command.expected_domain
    }

    /// How long the executor may take: `params.timeout_ms`, else 30,000 ms.
    pub fn timeout(&self) -> Duration {
        self.0.timeout.unwrap_or(DEFAULT_TIMEOUT)
    }

    /// Whether the command still stands after a wait, by the newest policy and page.
    pub(super) fn recheck(&self, policy: &Policy, page: Option<&Domain>) -> Result<(), Failure> {
        self.0.check(policy)?;
        self.0.check_page(policy, page)
    }
}
