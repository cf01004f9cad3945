use std::collections::BTreeMap;

use crate::contract::{ActionName, ErrorCode};

/// More failures in a row than this open the breaker of an action (contract section 10).
const MAX_FAILURES_IN_A_ROW: u32 = 10;

/// Counts the failures in a row of each registered action.
#[derive(Debug, Default)]
pub(super) struct Breaker {
    failures: BTreeMap<ActionName, u32>,
}

impl Breaker {
    /// Whether commands of `action` are to be refused.
    pub(super) fn is_open(&self, action: &ActionName) -> bool {
        self.failures.get(action).is_some_and(|count| *count > MAX_FAILURES_IN_A_ROW)
    }

    /// A command of `action` was answered. Whether its breaker opened with that.
    pub(super) fn record(&mut self, action: &ActionName, outcome: Result<(), ErrorCode>) -> bool {
        match outcome {
            Ok(()) => {
                // An open breaker closes by a reset alone: a command that was dispatched before it
                // opened says nothing of the failures since.
                if !self.is_open(action) {
                    self.failures.remove(action);
                }
                false
            }
            Err(code) if code.counts_for_breaker() => {
                let was_open = self.is_open(action);
                let count = self.failures.entry(action.clone()).or_default();
                *count = count.saturating_add(1);
                !was_open && self.is_open(action)
            }
            Err(_) => false,
        }
    }

    /// Closes the breaker of `action`.
    pub(super) fn reset(&mut self, action: &str) {
        self.failures.remove(action);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_11th_failure_in_a_row_opens_and_a_reset_closes() {
        let click: ActionName = "click".parse().unwrap();
        let mut breaker = Breaker::default();
        let fail = Err(ErrorCode::CmdTimeout);
        for _ in 0..10 {
            assert!(!breaker.record(&click, fail));
        }
        assert!(!breaker.is_open(&click));
        assert!(breaker.record(&click, fail));
        assert!(breaker.is_open(&click));
        assert!(!breaker.record(&click, fail), "it opens once");
        assert!(!breaker.record(&click, Ok(())));
        assert!(breaker.is_open(&click), "a late success does not close it");
        breaker.reset("click");
        assert!(!breaker.is_open(&click));
    }

    #[test]
    fn a_success_between_sets_the_count_to_0_and_some_codes_do_not_count() {
        let click: ActionName = "click".parse().unwrap();
        let mut breaker = Breaker::default();
        for _ in 0..3 {
            for _ in 0..10 {
                breaker.record(&click, Err(ErrorCode::MacDomainDenied));
            }
            breaker.record(&click, Ok(()));
        }
        for code in [ErrorCode::InternalCircuitOpen, ErrorCode::InternalOverloaded, ErrorCode::CmdCancelled] {
            for _ in 0..20 {
                breaker.record(&click, Err(code));
            }
        }
        assert!(!breaker.is_open(&click));
    }
}
