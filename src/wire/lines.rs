/// Splits a stream into lines (contract section 2). Reads may end anywhere; the lines are the same.
///
/// Holds at most the limit: what is longer is skipped, not kept. Lines that lie whole in one read
/// are not copied.
#[derive(Debug)]
pub struct LineDecoder {
    limit: usize,
    /// The beginning of a line whose LF has not come.
    partial: Vec<u8>,
    state: State,
}

#[derive(Debug, PartialEq)]
enum State {
    Collecting,
    /// `partial` was handed out as a line and is to be forgotten.
    HandedOut,
    /// A line that is too long goes by.
    Skipping,
}

/// What a stream holds.
#[derive(Debug, PartialEq, Eq)]
pub enum Frame<'a> {
    /// A line without its LF, within the limit.
    Line(&'a [u8]),
    /// A line passed the limit; told once, as soon as that is known. The rest of it is skipped.
    TooLarge,
}

/// An idle session keeps no more than this.
const KEPT_CAPACITY: usize = 4096;

impl LineDecoder {
    /// A decoder for lines of at most `limit` bytes.
    pub fn new(limit: usize) -> Self {
        LineDecoder { limit, partial: Vec::new(), state: State::Collecting }
    }

    /// Takes the next frame from `input`, which afterwards begins where the frame ended. Call it
    /// until it returns `None`; then `input` is used up.
    #[must_use]
    pub fn next<'s, 'i: 's>(&'s mut self, input: &mut &'i [u8]) -> Option<Frame<'s>> {
        if self.state == State::HandedOut {
            self.forget();
        }
        let (piece, rest, ended) = split_at_lf(input);
        *input = rest;
        if self.state == State::Skipping {
            if !ended {
                return None;
            }
            self.state = State::Collecting;
            return self.next(input);
        }
        if self.partial.len().saturating_add(piece.len()) > self.limit {
            self.forget();
            if !ended {
                self.state = State::Skipping;
            }
            return Some(Frame::TooLarge);
        }
        if ended && self.partial.is_empty() {
            return Some(Frame::Line(piece));
        }
        self.reserve(piece.len());
        self.partial.extend_from_slice(piece);
        if !ended {
            return None;
        }
        self.state = State::HandedOut;
        Some(Frame::Line(&self.partial))
    }

    /// The stream has ended. Whether it ended inside a line, one that was not told as too large.
    #[must_use]
    pub fn finish(&mut self) -> bool {
        let inside = self.state == State::Collecting && !self.partial.is_empty();
        self.forget();
        inside
    }

    /// How many bytes the decoder holds.
    pub fn held_bytes(&self) -> usize {
        self.partial.len()
    }

    /// Makes room for `more` bytes, which are known to be within the limit. A vector alone would
    /// double its room past the limit.
    fn reserve(&mut self, more: usize) {
        let needed = self.partial.len().saturating_add(more);
        if needed > self.partial.capacity() {
            let wanted = self.partial.capacity().saturating_mul(2).clamp(needed, self.limit.max(needed));
            self.partial.reserve_exact(wanted.saturating_sub(self.partial.len()));
        }
    }

    fn forget(&mut self) {
        self.partial.clear();
        self.partial.shrink_to(KEPT_CAPACITY);
        self.state = State::Collecting;
    }
}

/// What stands before the first LF, what stands after it, and whether there was one.
fn split_at_lf(input: &[u8]) -> (&[u8], &[u8], bool) {
    let Some(at) = input.iter().position(|byte| *byte == b'\n') else {
        return (input, &[], false);
    };
    let (line, rest) = input.split_at_checked(at).unwrap_or((input, &[]));
    (line, rest.get(1..).unwrap_or_default(), true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The frames of a stream fed in pieces of these lengths (the last one repeats), the too large
    /// as `None`; and whether it ended inside a line.
    fn frames(stream: &[u8], limit: usize, pieces: &[usize]) -> (Vec<Option<Vec<u8>>>, bool) {
        let mut decoder = LineDecoder::new(limit);
        let mut frames = Vec::new();
        let mut lengths =
            pieces.iter().copied().chain(std::iter::repeat(pieces.last().copied().unwrap_or(1)));
        let mut rest = stream;
        while !rest.is_empty() {
            let (mut piece, after) = rest.split_at(lengths.next().unwrap().clamp(1, rest.len()));
            rest = after;
            while let Some(frame) = decoder.next(&mut piece) {
                frames.push(match frame {
                    Frame::Line(line) => Some(line.to_vec()),
                    Frame::TooLarge => None,
                });
            }
            assert!(piece.is_empty());
            assert!(decoder.held_bytes() <= limit);
        }
        (frames, decoder.finish())
    }

    /// The same by a model that sees the whole stream at once.
    fn model(stream: &[u8], limit: usize) -> (Vec<Option<Vec<u8>>>, bool) {
        let mut lines: Vec<_> = stream.split(|byte| *byte == b'\n').collect();
        let last = lines.pop().unwrap();
        let mut frames: Vec<_> =
            lines.into_iter().map(|line| (line.len() <= limit).then(|| line.to_vec())).collect();
        if last.len() > limit {
            frames.push(None);
        }
        (frames, !last.is_empty() && last.len() <= limit)
    }

    proptest! {
        #[test]
        fn any_split_of_any_stream_gives_the_same_lines(
            stream in prop::collection::vec(prop_oneof![3 => Just(b'\n'), 20 => any::<u8>()], 0..200),
            limit in 0_usize..12,
            pieces in prop::collection::vec(1_usize..20, 1..20),
        ) {
            prop_assert_eq!(frames(&stream, limit, &pieces), model(&stream, limit));
        }
    }

    #[test]
    fn a_line_at_the_limit_is_accepted_and_one_byte_more_is_not() {
        for (length, accepted) in [(9, true), (10, true), (11, false)] {
            let mut stream = vec![b'x'; length];
            stream.extend_from_slice(b"\nnext\n");
            let (frames, _) = frames(&stream, 10, &[4]);
            assert_eq!(frames.len(), 2);
            assert_eq!(frames[0].is_some(), accepted, "{length}");
            assert_eq!(frames[1].as_deref(), Some(&b"next"[..]));
        }
    }

    #[test]
    fn a_line_without_end_is_told_once_and_as_soon_as_it_passes_the_limit() {
        let mut decoder = LineDecoder::new(4);
        assert_eq!(decoder.next(&mut &b"1234"[..]), None);
        assert_eq!(decoder.next(&mut &b"5"[..]), Some(Frame::TooLarge));
        for _ in 0..1000 {
            assert_eq!(decoder.next(&mut &b"0123456789"[..]), None);
            assert_eq!(decoder.held_bytes(), 0);
        }
        let mut input = &b"tail\nok\n"[..];
        assert_eq!(decoder.next(&mut input), Some(Frame::Line(b"ok")));
        assert!(!decoder.finish());
    }
}
