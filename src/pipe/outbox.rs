use std::collections::VecDeque;

use zeroize::Zeroizing;

/// Bytes that wait to be written, in order. What was written is wiped: `init` holds the seed.
#[derive(Default)]
pub(super) struct Outbox {
    lines: VecDeque<Zeroizing<String>>,
    /// How much of the first line is written.
    written: usize,
    waiting: usize,
}

impl Outbox {
    pub(super) fn push(&mut self, line: Zeroizing<String>) {
        self.waiting = self.waiting.saturating_add(line.len());
        self.lines.push_back(line);
    }

    /// The next bytes; empty where there are none.
    pub(super) fn bytes(&self) -> &[u8] {
        let first = self.lines.front().map(|line| line.as_bytes()).unwrap_or_default();
        first.get(self.written..).unwrap_or_default()
    }

    /// The first `count` of [`Outbox::bytes`] are written.
    pub(super) fn advance(&mut self, count: usize) {
        let count = count.min(self.bytes().len());
        self.waiting = self.waiting.saturating_sub(count);
        self.written = self.written.saturating_add(count);
        if self.bytes().is_empty() {
            self.lines.pop_front();
            self.written = 0;
        }
    }

    /// How many bytes wait.
    pub(super) fn waiting(&self) -> usize {
        self.waiting
    }
}
