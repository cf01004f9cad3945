use std::collections::{BTreeSet, VecDeque};

/// Documents whose lifecycle is remembered: the current one and those on their way.
const MAX_LOADERS: usize = 8;

/// How far the navigations of a tab's top frame have come.
#[derive(Default)]
pub(super) struct Progress {
    /// The page asked for one; the browser has not begun it yet.
    pub(super) requested: bool,
    /// One is under way; its loader.
    pub(super) loading: Option<String>,
    pub(super) commits: u32,
    /// Ended without a commit.
    pub(super) failures: u32,
    pub(super) within: u32,
    pub(super) downloads: u32,
    pub(super) loader: String,
    pub(super) url: String,
    /// The current document is an error page.
    pub(super) error_page: bool,
    /// A document was requested since the command began to navigate.
    pub(super) asked: bool,
    /// The loader and the status of the last response to a document request.
    pub(super) response: Option<(String, i64)>,
    /// The loader and the net error of the last document request that failed.
    pub(super) failure: Option<(String, String)>,
    lifecycle: VecDeque<(String, BTreeSet<String>)>,
}

impl Progress {
    pub(super) fn started(&mut self, loader: &str) {
        self.requested = true;
        self.loading = Some(loader.to_owned());
    }

    pub(super) fn stopped(&mut self) {
        // An older load may stop after the page asked for a new one and before that began.
        if self.loading.take().is_some() {
            self.requested = false;
            self.failures = self.failures.saturating_add(1);
        }
    }

    pub(super) fn committed(&mut self, loader: &str, url: &str, error_page: bool, restored: bool) {
        self.requested = false;
        self.loading = None;
        self.commits = self.commits.saturating_add(1);
        self.loader = loader.to_owned();
        self.url = url.to_owned();
        self.error_page = error_page;
        if restored {
            // A page from the back/forward cache is loaded already and says so no second time.
            for name in ["DOMContentLoaded", "load", "networkIdle"] {
                self.lifecycle(loader, name);
            }
        }
    }

    pub(super) fn moved_within(&mut self, url: &str) {
        self.url = url.to_owned();
        self.within = self.within.saturating_add(1);
        if self.loading.is_none() {
            self.requested = false;
        }
    }

    pub(super) fn lifecycle(&mut self, loader: &str, name: &str) {
        if let Some((_, names)) = self.lifecycle.iter_mut().find(|(known, _)| known == loader) {
            if name == "init" {
                names.clear();
            }
            names.insert(name.to_owned());
            return;
        }
        if self.lifecycle.len() >= MAX_LOADERS {
            self.lifecycle.pop_front();
        }
        self.lifecycle.push_back((loader.to_owned(), BTreeSet::from([name.to_owned()])));
    }

    /// Whether the current document got as far as the lifecycle event `name`.
    pub(super) fn reached(&self, name: &str) -> bool {
        self.lifecycle.iter().any(|(loader, names)| *loader == self.loader && names.contains(name))
    }

    /// The status of the response that the current document came from.
    pub(super) fn status(&self) -> Option<i64> {
        self.response.as_ref().filter(|(loader, _)| *loader == self.loader).map(|(_, status)| *status)
    }
}
