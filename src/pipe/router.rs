use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use crate::contract::{ErrorCode, Failure};
use crate::pipe::Authorized;
use crate::time::Time;

/// The commands that have passed the checks and are not answered yet (contract sections 6 and 7).
#[derive(Debug)]
pub(super) struct Router {
    in_flight: BTreeMap<u64, InFlight>,
    /// Those that wait for their turn, in the order in which they may run.
    waiting: VecDeque<u64>,
    dispatched: usize,
    capacity: usize,
    concurrency: usize,
}

#[derive(Debug)]
pub(super) struct InFlight {
    pub(super) received: Time,
    pub(super) action: crate::contract::ActionName,
    progress: Progress,
}

#[derive(Debug)]
enum Progress {
    /// A person is asked until then.
    Confirming {
        command: Authorized,
        until: Time,
    },
    Waiting {
        command: Authorized,
    },
    /// The executor has it until then.
    Dispatched {
        at: Time,
        until: Time,
    },
}

impl InFlight {
    /// When it was dispatched, where it was.
    pub(super) fn dispatched_at(&self) -> Option<Time> {
        match self.progress {
            Progress::Dispatched { at, .. } => Some(at),
            _ => None,
        }
    }

    pub(super) fn is_confirming(&self) -> bool {
        matches!(self.progress, Progress::Confirming { .. })
    }

    fn deadline(&self) -> Option<Time> {
        match self.progress {
            Progress::Confirming { until, .. } | Progress::Dispatched { until, .. } => Some(until),
            Progress::Waiting { .. } => None,
        }
    }
}

impl Router {
    pub(super) fn new(capacity: usize, concurrency: usize) -> Self {
        Router { in_flight: BTreeMap::new(), waiting: VecDeque::new(), dispatched: 0, capacity, concurrency }
    }

    /// Step 11, then 12 where `confirm_until` says that a person is asked.
    pub(super) fn admit(
        &mut self,
        command: Authorized,
        received: Time,
        confirm_until: Option<Time>,
    ) -> Result<(), Failure> {
        if self.in_flight.len() >= self.capacity {
            return Err(Failure::new(
                ErrorCode::InternalOverloaded,
                format!("{} commands are in flight, the most that this host takes", self.capacity),
            ));
        }
        let seq = command.seq();
        let action = command.action().clone();
        let progress = match confirm_until {
            Some(until) => Progress::Confirming { command, until },
            None => {
                self.waiting.push_back(seq);
                Progress::Waiting { command }
            }
        };
        self.in_flight.insert(seq, InFlight { received, action, progress });
        Ok(())
    }

    /// A person allowed `seq`. Whether one was being asked.
    pub(super) fn allow(&mut self, seq: u64) -> bool {
        let Some(entry) = self.in_flight.remove(&seq) else { return false };
        let (progress, allowed) = match entry.progress {
            Progress::Confirming { command, .. } => {
                self.waiting.push_back(seq);
                (Progress::Waiting { command }, true)
            }
            other => (other, false),
        };
        self.in_flight.insert(seq, InFlight { progress, ..entry });
        allowed
    }

    /// The next command that may run, where one waits and the executor has room. It counts as
    /// dispatched from now on.
    pub(super) fn dispatch(&mut self, now: Time, grace: Duration) -> Option<(Authorized, Time)> {
        if self.dispatched >= self.concurrency {
            return None;
        }
        let seq = self.waiting.pop_front()?;
        let entry = self.in_flight.remove(&seq)?;
        let Progress::Waiting { command } = entry.progress else { return None };
        let until = now.after(command.timeout()).after(grace);
        let received = entry.received;
        self.in_flight.insert(seq, InFlight { progress: Progress::Dispatched { at: now, until }, ..entry });
        self.dispatched = self.dispatched.saturating_add(1);
        Some((command, received))
    }

    /// Takes `seq` out: it is being answered.
    pub(super) fn remove(&mut self, seq: u64) -> Option<InFlight> {
        let entry = self.in_flight.remove(&seq)?;
        match entry.progress {
            Progress::Dispatched { .. } => self.dispatched = self.dispatched.saturating_sub(1),
            Progress::Waiting { .. } => self.waiting.retain(|waiting| *waiting != seq),
            Progress::Confirming { .. } => {}
        }
        Some(entry)
    }

    pub(super) fn get(&self, seq: u64) -> Option<&InFlight> {
        self.in_flight.get(&seq)
    }

    /// A command whose deadline has come.
    pub(super) fn expired(&self, now: Time) -> Option<u64> {
        self.in_flight
            .iter()
            .find(|(_, entry)| entry.deadline().is_some_and(|at| at <= now))
            .map(|(seq, _)| *seq)
    }

    pub(super) fn next_deadline(&self) -> Option<Time> {
        self.in_flight.values().filter_map(InFlight::deadline).min()
    }

    pub(super) fn seqs(&self) -> Vec<u64> {
        self.in_flight.keys().copied().collect()
    }

    pub(super) fn len(&self) -> usize {
        self.in_flight.len()
    }
}
