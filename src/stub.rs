//! Stand-ins until the pipe room is here.
#![allow(missing_docs)]
use std::sync::Arc;
use std::time::Duration;

use crate::JsonObject;
use crate::contract::{Domain, ParsedUrl};

#[derive(Debug, Default)]
pub struct Policy {
    pub hosts: Vec<String>,
}

impl Policy {
    pub fn domain_allowed(&self, host: &str) -> bool {
        self.hosts.iter().any(|allowed| allowed == host)
    }
    pub fn allows(&self, host: &str, _action: &str) -> bool {
        self.domain_allowed(host)
    }
    pub fn url_scheme_allowed(&self, url: &ParsedUrl) -> bool {
        matches!(url.scheme.as_str(), "http" | "https")
    }
}

#[derive(Clone, Debug)]
pub struct Authorized {
    pub seq: u64,
    pub action: Arc<str>,
    pub params: JsonObject,
    pub domain: Domain,
    pub timeout: Duration,
}

impl Authorized {
    pub fn seq(&self) -> u64 {
        self.seq
    }
    pub fn action(&self) -> &str {
        &self.action
    }
    pub fn params(&self) -> &JsonObject {
        &self.params
    }
    pub fn expected_domain(&self) -> &Domain {
        &self.domain
    }
    pub fn timeout(&self) -> Duration {
        self.timeout
    }
}
