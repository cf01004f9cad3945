//! Contract section 2: a reader holds the limit plus one read, however long the line is.
#![cfg(feature = "url")]
// Counting what is allocated takes an allocator, and that takes `unsafe`.
#![allow(unsafe_code, clippy::arithmetic_side_effects, clippy::indexing_slicing, clippy::unwrap_used)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use sgclaw::pipe::KeyDerivation;
use sgclaw::wire::{Frame, HmacSeed, Init, LineDecoder};
use sgclaw::{
    Agent, AgentConfig, Host, HostConfig, HostSettings, Policy, Registry, State, Time, WhatwgUrlParser,
};

struct Counting;

static LIVE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

fn grown(bytes: usize) {
    PEAK.fetch_max(LIVE.fetch_add(bytes, Relaxed) + bytes, Relaxed);
}

// SAFETY: everything is handed to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        grown(layout.size());
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Relaxed);
        unsafe { System.dealloc(memory, layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // What the system may copy meanwhile is its own affair.
        LIVE.fetch_sub(layout.size(), Relaxed);
        grown(size);
        unsafe { System.realloc(memory, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const LIMIT: usize = 1_048_576;
/// No power of two, so that a buffer that merely doubles would pass the limit.
const READ: usize = 60_000;
const LONG: usize = 100_000_000;
/// Events, the trace, an answer.
const SMALL: usize = 16_384;

/// The most that was allocated at a time while `work` ran, beyond what was before.
fn peak(work: impl FnOnce()) -> usize {
    let before = LIVE.load(Relaxed);
    PEAK.store(before, Relaxed);
    work();
    PEAK.load(Relaxed) - before
}

/// One test, since others at the same time would be counted too.
#[test]
fn a_line_of_100_mb_without_an_end_takes_the_limit_and_one_read() {
    let read = vec![b'x'; READ];
    let urls = Arc::new(WhatwgUrlParser);
    let seed = HmacSeed::from_bytes(&[1; 32]).unwrap();
    let now = Time::default();

    let mut decoder = LineDecoder::new(LIMIT);
    let mut told = 0;
    let used = peak(|| {
        for _ in 0..LONG / READ {
            let mut input = &read[..];
            while let Some(frame) = decoder.next(&mut input) {
                assert_eq!(frame, Frame::TooLarge);
                told += 1;
            }
            assert!(decoder.held_bytes() <= LIMIT);
        }
    });
    assert_eq!(told, 1);
    assert!(used <= LIMIT + READ, "the decoder held {used} bytes");

    let config = HostConfig {
        session: "memory".into(),
        seed: seed.clone(),
        key_derivation: KeyDerivation::Hkdf,
        registry: Registry::standard(),
        policy: Policy::deny_all(),
        settings: HostSettings::default(),
    };
    let mut host = Host::new(config, urls.clone());
    host.start(now);
    let before = LIVE.load(Relaxed);
    let used = peak(|| {
        for _ in 0..LONG / READ {
            host.handle_input(&read, now);
        }
    });
    assert!(used <= LIMIT + READ + SMALL, "the host held {used} bytes");
    assert!(LIVE.load(Relaxed) - before <= SMALL, "the host kept the buffer");
    host.handle_input(b"\n", now);
    assert_eq!(host.state(), State::Handshaking);

    let config = AgentConfig {
        agent_id: "0b7e2a54-3c1d-4e8f-9a6b-5c4d3e2f1a0b".into(),
        supported_actions: vec!["click".parse().unwrap()],
        key_derivation: KeyDerivation::Hkdf,
    };
    let mut agent = Agent::new(config, urls);
    agent.handle_input(Init { version: "1.0".into(), seed }.to_line().as_bytes(), now);
    let used = peak(|| {
        for _ in 0..LONG / READ {
            agent.handle_input(&read, now);
        }
    });
    assert!(used <= LIMIT + READ + SMALL, "the agent held {used} bytes");
}
