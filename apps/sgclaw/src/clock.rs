use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use sgclaw::Time;

/// The clock that the sans-IO core is driven with: microseconds since the Unix epoch as they were at
/// the start, plus what the monotonic clock has counted since. It never runs backwards, and the trace
/// has readable times.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    wall: Time,
    start: Instant,
}

impl Clock {
    /// Starts counting.
    pub fn start() -> Self {
        let wall = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Clock { wall: Time::default().after(wall), start: Instant::now() }
    }

    /// The time now.
    pub fn now(&self) -> Time {
        self.wall.after(self.start.elapsed())
    }

    /// From now until `then`; zero where that is past.
    pub fn until(&self, then: Time) -> Duration {
        then.since(self.now())
    }
}
