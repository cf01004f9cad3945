use std::collections::VecDeque;

use crate::contract::{ErrorCode, Failure};

/// How many gaps are remembered (contract section 6).
const MAX_GAPS: usize = 65_536;

/// Which seqs a session has used. They rise strictly and begin with 1; each is used once.
#[derive(Debug, Default)]
pub struct Sequence {
    last: u64,
    contiguous: bool,
    /// Ranges of seqs that were skipped, first and last, in order.
    gaps: VecDeque<(u64, u64)>,
    /// Up to here the gaps are forgotten.
    forgotten: u64,
}

/// What a session knows of a seq.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SeqUse {
    /// It was not used.
    Unused,
    /// It was used.
    Used,
    /// It lies so far back that a gap may have been forgotten.
    Unknown,
}

impl Sequence {
    /// No seq is used. With `contiguous`, a gap is refused.
    pub fn new(contiguous: bool) -> Self {
        Sequence { contiguous, ..Sequence::default() }
    }

    /// Uses `seq`; returns how many were skipped before it (contract section 6, step 6).
    ///
    /// # Errors
    /// `PIPE_SEQ_DUPLICATE`, `PIPE_SEQ_OUT_OF_ORDER`; nothing changes then.
    pub fn take(&mut self, seq: u64) -> Result<u64, Failure> {
        let next = self.last.saturating_add(1);
        let out_of_order = |why: String| Err(Failure::new(ErrorCode::PipeSeqOutOfOrder, why));
        if seq <= self.last {
            return match self.usage(seq) {
                SeqUse::Used => Err(Failure::new(
                    ErrorCode::PipeSeqDuplicate,
                    format!("seq {seq} was used in this session; expected one above {}", self.last),
                )),
                _ => out_of_order(format!("expected a seq above {}, got {seq}", self.last)),
            };
        }
        if seq != next && (self.last == 0 || self.contiguous) {
            return out_of_order(format!("expected seq {next}, got {seq}"));
        }
        if seq > next {
            if self.gaps.len() >= MAX_GAPS
                && let Some((_, end)) = self.gaps.pop_front()
            {
                self.forgotten = end;
            }
            self.gaps.push_back((next, seq.saturating_sub(1)));
        }
        self.last = seq;
        Ok(seq.saturating_sub(next))
    }

    /// Whether `seq` was used.
    pub fn usage(&self, seq: u64) -> SeqUse {
        if seq > self.last {
            return SeqUse::Unused;
        }
        if seq <= self.forgotten {
            return SeqUse::Unknown;
        }
        let after = self.gaps.partition_point(|(first, _)| *first <= seq);
        let gap = after.checked_sub(1).and_then(|at| self.gaps.get(at));
        if gap.is_some_and(|(_, end)| seq <= *end) { SeqUse::Unused } else { SeqUse::Used }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn code(result: Result<u64, Failure>) -> Option<ErrorCode> {
        result.err().map(|failure| failure.code)
    }

    #[test]
    fn the_first_seq_is_1() {
        assert_eq!(code(Sequence::default().take(2)), Some(ErrorCode::PipeSeqOutOfOrder));
        assert_eq!(Sequence::default().take(1), Ok(0));
    }

    #[test]
    fn a_gap_is_legal_unless_the_sequence_is_contiguous() {
        let mut loose = Sequence::new(false);
        assert_eq!((loose.take(1), loose.take(5)), (Ok(0), Ok(3)));
        let mut contiguous = Sequence::new(true);
        assert_eq!(contiguous.take(1), Ok(0));
        assert_eq!(code(contiguous.take(3)), Some(ErrorCode::PipeSeqOutOfOrder));
        assert_eq!(contiguous.take(2), Ok(0));
    }

    #[test]
    fn the_last_seq_is_2_to_the_53_minus_1() {
        let mut sequence = Sequence::default();
        assert_eq!(sequence.take(1), Ok(0));
        assert!(sequence.take(crate::json::MAX_SAFE_INTEGER).is_ok());
        assert_eq!(code(sequence.take(crate::json::MAX_SAFE_INTEGER)), Some(ErrorCode::PipeSeqDuplicate));
        assert_eq!(code(sequence.take(2)), Some(ErrorCode::PipeSeqOutOfOrder));
    }

    #[test]
    fn of_65_536_gaps_each_is_remembered_and_older_ones_are_out_of_order() {
        let mut sequence = Sequence::default();
        let odd = |n: u64| 2 * n + 1;
        for n in 0..=(MAX_GAPS as u64 + 1) {
            sequence.take(odd(n)).unwrap();
        }
        assert_eq!(sequence.gaps.len(), MAX_GAPS);
        // The first gap, 2, is forgotten: of 1 and 2 nothing is known any more.
        assert_eq!((sequence.usage(1), sequence.usage(2)), (SeqUse::Unknown, SeqUse::Unknown));
        assert_eq!((sequence.usage(3), sequence.usage(4)), (SeqUse::Used, SeqUse::Unused));
        assert_eq!(code(sequence.take(1)), Some(ErrorCode::PipeSeqOutOfOrder));
        assert_eq!(code(sequence.take(3)), Some(ErrorCode::PipeSeqDuplicate));
        assert_eq!(code(sequence.take(4)), Some(ErrorCode::PipeSeqOutOfOrder));
    }

    proptest! {
        #[test]
        fn a_model_with_a_set_agrees(seqs in prop::collection::vec(1_u64..60, 1..80)) {
            let mut sequence = Sequence::default();
            let mut used = std::collections::BTreeSet::new();
            for seq in seqs {
                let last = used.last().copied().unwrap_or(0);
                let expected = if used.contains(&seq) {
                    Some(ErrorCode::PipeSeqDuplicate)
                } else if seq < last || (last == 0 && seq != 1) {
                    Some(ErrorCode::PipeSeqOutOfOrder)
                } else {
                    used.insert(seq);
                    None
                };
                prop_assert_eq!(code(sequence.take(seq)), expected);
            }
        }
    }
}
