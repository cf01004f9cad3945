use std::time::Duration;

/// A point in time, as the embedder's clock tells it: microseconds since a start of its choice.
///
/// The core reads no clock; every entry point takes the time. It must not run backwards. Whoever
/// wants readable times in the trace takes the wall clock once, at the start of the session, and
/// adds what the monotonic clock has counted since.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(u64);

impl Time {
    /// `micros` microseconds since the start of the embedder's clock.
    pub const fn from_micros(micros: u64) -> Self {
        Time(micros)
    }

    /// Microseconds since the start of the embedder's clock.
    pub const fn as_micros(self) -> u64 {
        self.0
    }

    /// This much later; the far end of time instead of an overflow.
    #[must_use]
    pub fn after(self, span: Duration) -> Self {
        Time(self.0.saturating_add(micros(span)))
    }

    /// How long ago `earlier` was; zero where it is not earlier.
    pub fn since(self, earlier: Time) -> Duration {
        Duration::from_micros(self.0.saturating_sub(earlier.0))
    }
}

/// A span in whole microseconds.
pub(crate) fn micros(span: Duration) -> u64 {
    u64::try_from(span.as_micros()).unwrap_or(u64::MAX)
}
