//! A page in memory, for machines without a browser and for tests of the pipe. It is no browser and
//! does not pretend to be one: it knows one form and five actions.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::browser::BrowserEvent;
use serde_json::json;
use sgclaw::json::Value;
use sgclaw::{Authorized, Domain, ErrorCode, Failure, JsonObject, Time, UrlParser};

/// A page with `h1`, the fields `#user` and `#password`, the button `#login`, and `#greeting`, which
/// is there after the click.
pub struct MemoryBrowser {
    urls: Arc<dyn UrlParser>,
    domain: Option<Domain>,
    user: String,
    password: String,
    greeting: Option<String>,
    /// Commands that wait for an element that is not there.
    waiting: Vec<(Authorized, Time)>,
    events: VecDeque<BrowserEvent>,
}

impl MemoryBrowser {
    /// The page at `url`, or a page without a host.
    pub fn new(url: Option<&str>, urls: Arc<dyn UrlParser>) -> Self {
        let mut browser = MemoryBrowser {
            urls,
            domain: None,
            user: String::new(),
            password: String::new(),
            greeting: None,
            waiting: Vec::new(),
            events: VecDeque::new(),
        };
        if let Some(url) = url {
            browser.open(url);
        }
        browser.events.clear();
        browser
    }

    /// Where the page is.
    pub fn page(&self) -> Option<Domain> {
        self.domain.clone()
    }

    fn open(&mut self, url: &str) {
        let host = self.urls.parse(url).and_then(|url| url.host);
        self.domain = host.and_then(|host| Domain::parse(&host, self.urls.as_ref()).ok());
        self.user.clear();
        self.password.clear();
        self.greeting = None;
        self.events.push_back(BrowserEvent::PageChanged(self.domain.clone()));
    }

    /// Runs a command; it ends at once, or when its time is over.
    pub fn execute(&mut self, command: Authorized, now: Time) {
        match self.attempt(&command) {
            Some(outcome) => self.complete(command.seq(), outcome),
            None => {
                let until = now.after(command.timeout());
                self.waiting.push((command, until));
                self.handle_timeout(now);
            }
        }
    }

    /// Leaves a command.
    pub fn cancel(&mut self, seq: u64) {
        self.waiting.retain(|(command, _)| command.seq() != seq);
    }

    /// When to call [`MemoryBrowser::handle_timeout`].
    pub fn poll_timeout(&self) -> Option<Time> {
        self.waiting.iter().map(|(_, until)| *until).min()
    }

    /// Ends what waits for too long.
    pub fn handle_timeout(&mut self, now: Time) {
        let (over, waiting) =
            std::mem::take(&mut self.waiting).into_iter().partition(|(_, until)| *until <= now);
        self.waiting = waiting;
        for (command, _) in over {
            let (reason, why) = match command.params().view().get("state").and_then(Value::as_str) {
                Some("hidden") => ("visible", "the element of the memory page is still visible"),
                Some("detached") => ("attached", "the element of the memory page is still there"),
                _ => ("not_found", "no element of the memory page matches in time"),
            };
            let failure = Failure::new(ErrorCode::CmdSelectorTimeout, why).with_reason(reason);
            self.complete(command.seq(), Err(failure));
        }
    }

    /// The next event.
    pub fn poll_event(&mut self) -> Option<BrowserEvent> {
        self.events.pop_front()
    }

    fn complete(&mut self, seq: u64, outcome: Result<serde_json::Value, Failure>) {
        let outcome = outcome.map(|data| JsonObject::from_serde(&data).unwrap_or_else(JsonObject::empty));
        self.events.push_back(BrowserEvent::Completed { seq, outcome });
    }

    /// `None`: the element is not there (yet).
    fn attempt(&mut self, command: &Authorized) -> Option<Result<serde_json::Value, Failure>> {
        let params = command.params().view();
        let text = |name: &str| params.get(name).and_then(Value::as_str).unwrap_or_default();
        let action = command.action().as_str();
        if action == "navigate" {
            self.open(text("url"));
            return Some(Ok(json!({"url": text("url"), "status": null})));
        }
        if self.domain.as_ref() != Some(command.expected_domain()) || params.get("frame").is_some() {
            return Some(Err(Failure::new(
                ErrorCode::MacDomainMismatch,
                "the memory page is on another domain",
            )));
        }
        if !matches!(action, "click" | "getAttribute" | "getText" | "type" | "waitFor") {
            return Some(Err(not_supported(action)));
        }
        let selector = text("selector");
        let content = match selector {
            "#user" | "#password" | "#login" => Some(String::new()),
            "h1" | "body" => Some("sgclaw memory page".to_owned()),
            "#greeting" => self.greeting.clone(),
            _ => None,
        };
        if action == "waitFor" && matches!(text("state"), "hidden" | "detached") {
            return content.is_none().then(|| Ok(json!({})));
        }
        let content = content?;
        match (action, selector) {
            ("getText", _) => {
                let content = if selector == "#login" { "Log in".to_owned() } else { content };
                Some(Ok(json!({"text": content, "truncated": false})))
            }
            ("waitFor", _) => Some(Ok(json!({}))),
            ("getAttribute", "#user") if text("name") == "value" => Some(Ok(json!({"value": self.user}))),
            ("getAttribute", "#password") if text("name") == "value" => Some(Err(Failure::new(
                ErrorCode::MacActionDenied,
                "the value of a password field is not read",
            ))),
            ("getAttribute", _) => Some(Ok(json!({"value": null}))),
            ("type", "#user" | "#password") => {
                let field = if selector == "#user" { &mut self.user } else { &mut self.password };
                if params.get("clear").and_then(Value::as_bool) == Some(true) {
                    field.clear();
                }
                field.push_str(text("text"));
                Some(Ok(json!({})))
            }
            ("click", "#login") => {
                self.greeting = Some(format!("Hello, {}", self.user));
                Some(Ok(json!({})))
            }
            ("click", _) => Some(Ok(json!({}))),
            _ => Some(Err(not_supported(action))),
        }
    }
}

fn not_supported(action: &str) -> Failure {
    Failure::new(
        ErrorCode::CmdExecutionFailed,
        format!("the memory page does not do {action} here; use a real browser"),
    )
    .with_reason("not_supported")
}
