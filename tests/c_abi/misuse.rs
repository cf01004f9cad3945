//! Each misuse has its status and changes nothing; any sequence of calls, right or wrong, leaves the
//! process alive and its handles usable or refused.

use std::ffi::{c_char, c_void};
use std::ptr::{null, null_mut};

use proptest::prelude::*;
use sgclaw::ffi::c::sgclaw_status as Status;
use sgclaw::ffi::c::*;

use crate::functions::FUNCTIONS;
use crate::world::{Fault, HandleKind, Kind, Plan, World, str_of};

/// What `name` must answer where its argument of `kind` has `fault`; `None` where that is no fault.
fn expected(name: &str, kinds: &[Kind], at: usize, fault: Fault, good: Status) -> Option<Status> {
    let frees = name.ends_with("_free");
    let is_why = kinds[at] == Kind::TextVariable && at + 1 == kinds.len() && !frees;
    match (fault, kinds[at]) {
        (Fault::Null, Kind::Variable | Kind::TextVariable) if frees => Some(Status::Ok),
        // The library's own parser; nobody wants to know why.
        (Fault::Null, Kind::Urls) => Some(good),
        (Fault::Null, Kind::TextVariable) if is_why => Some(good),
        (Fault::Null, Kind::Length | Kind::Number) => None,
        (Fault::Null, _) => Some(Status::NullPointer),
        (Fault::Misaligned, Kind::Text | Kind::ByteOut | Kind::Length | Kind::Number) => None,
        (Fault::Misaligned, _) => Some(Status::MisalignedPointer),
        (Fault::WrongKind, Kind::Handle) => Some(Status::WrongHandle),
        (Fault::WrongKind, Kind::Variable | Kind::TextVariable) if frees || name.ends_with("_execute") => {
            Some(Status::WrongHandle)
        }
        (Fault::Huge, Kind::Length) if kinds[at - 1] == Kind::Text => Some(Status::InvalidLength),
        (Fault::WrongKind | Fault::Huge, _) => None,
    }
}

#[test]
fn every_wrong_pointer_handle_and_length_of_every_function_has_its_status() {
    let mut faults = 0;
    // A URL parser alone has a handle for this one: see `the_url_parser_is_asked_and_its_misuse_is_told`.
    for function in FUNCTIONS.iter().filter(|function| function.name != "sgclaw_parsed_url_set") {
        let mut plan = Plan::good();
        let good = World::new().call(function, &mut plan);
        let Plan::One { seen: kinds, .. } = plan else { panic!() };
        for at in 0..kinds.len() {
            for fault in [Fault::Null, Fault::Misaligned, Fault::WrongKind, Fault::Huge] {
                let Some(expected) = expected(function.name, &kinds, at, fault, good) else { continue };
                let mut plan = Plan::One { fault: Some((at, fault)), seen: Vec::new() };
                let status = World::new().call(function, &mut plan);
                assert_eq!(status, expected, "{} with {fault:?} at argument {at}", function.name);
                faults += 1;
            }
        }
    }
    assert!(faults > 300, "{faults}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(
        200 * std::env::var("SGCLAW_SOAK").map_or(1, |factor| factor.parse().unwrap())
    ))]

    /// [`World::call`] asserts that a failure wrote nothing; dropping the world, that each handle that
    /// is left can be freed exactly once.
    #[test]
    fn no_sequence_of_calls_does_worse_than_return_a_status(bytes in prop::collection::vec(any::<u8>(), 0..2_000)) {
        let mut world = World::new();
        let mut plan = Plan::Dice { bytes, at: 0 };
        while !plan.is_over() {
            let function = &FUNCTIONS[plan.choose(FUNCTIONS.len())];
            // Freed too often, there would be little left to call.
            if function.name.ends_with("_free") && plan.choose(4) != 0 {
                continue;
            }
            world.call(function, &mut plan);
        }
    }
}

#[test]
fn freeing_a_variable_twice_does_nothing_the_second_time() {
    let mut world = World::new();
    for function in FUNCTIONS.iter().filter(|function| function.name.ends_with("_free")) {
        for _ in 0..2 {
            assert_eq!(world.call(function, &mut Plan::good()), Status::Ok, "{}", function.name);
        }
    }
    let left = world.handles.iter().filter(|slots| !slots[0].is_null()).count();
    assert_eq!(left, 0, "each variable was set to NULL");
}

#[test]
fn a_command_that_was_given_away_is_gone_and_one_that_was_refused_is_kept() {
    let mut world = World::new();
    let executor: *mut sgclaw_executor = world.handles[sgclaw_executor::AT][0].cast();
    let policy: *mut sgclaw_executor = world.handles[sgclaw_policy::AT][0].cast();
    let command: *mut *mut sgclaw_command = (&raw mut world.handles[sgclaw_command::AT][0]).cast();
    // SAFETY: as docs/c-api.md demands, but for the handle of another kind.
    unsafe {
        assert_eq!(sgclaw_executor_execute(policy, command, 0), Status::WrongHandle);
        assert!(!(*command).is_null());
        assert_eq!(sgclaw_executor_execute(executor, command, 0), Status::Ok);
        assert!((*command).is_null());
        assert_eq!(sgclaw_executor_execute(executor, command, 0), Status::NullPointer);
        assert_eq!(sgclaw_command_free(command), Status::Ok);
    }
}

#[test]
fn wrong_states_and_counts_are_told() {
    let world = World::new();
    let host: *mut sgclaw_host = world.handles[sgclaw_host::AT][0].cast();
    let idle: *mut sgclaw_agent = world.handles[sgclaw_agent::AT][1].cast();
    let agent: *mut sgclaw_agent = world.handles[sgclaw_agent::AT][0].cast();
    let mut command = null_mut();
    let request = |agent, action: &str, params: &str, domain: &str| {
        let mut call = 0;
        let (action, params, domain) = (str_of(action), str_of(params), str_of(domain));
        // SAFETY: as docs/c-api.md demands.
        unsafe {
            sgclaw_agent_request(
                agent,
                action.data,
                action.len,
                params.data,
                params.len,
                domain.data,
                domain.len,
                0,
                &raw mut call,
            )
        }
    };
    // SAFETY: as docs/c-api.md demands.
    unsafe {
        assert_eq!(sgclaw_host_start(host, 0), Status::WrongState, "it was started");
        assert_eq!(sgclaw_host_take_command(host, &raw mut command), Status::WrongState, "it was taken");
        let mut output = sgclaw_bytes { data: null(), len: 0 };
        assert_eq!(sgclaw_agent_output(agent, &raw mut output), Status::Ok);
        assert_eq!(sgclaw_agent_output_written(agent, output.len + 1), Status::InvalidLength);
        assert_eq!(sgclaw_agent_output_written(agent, output.len), Status::Ok);
        assert_eq!(sgclaw_agent_output_written(agent, 1), Status::InvalidLength);
        assert_eq!(sgclaw_host_output_written(host, usize::MAX), Status::InvalidLength);
        let (text, not_utf8) = (c"{".as_ptr(), c"\xff".as_ptr());
        assert_eq!(sgclaw_host_complete(host, 1, text, 1, 0), Status::InvalidJson);
        assert_eq!(sgclaw_host_complete(host, 1, c"[]".as_ptr(), 2, 0), Status::InvalidJson, "no object");
        assert_eq!(sgclaw_host_fail(host, 1, 0, text, 1, null(), 0, 0), Status::InvalidNumber);
        assert_eq!(sgclaw_host_fail(host, 1, 32, text, 1, null(), 0, 0), Status::InvalidNumber);
        assert_eq!(sgclaw_host_fail(host, 1, 257, text, 1, null(), 0, 0), Status::InvalidNumber);
        assert_eq!(sgclaw_host_fail(host, 1, 23, not_utf8, 1, null(), 0, 0), Status::InvalidUtf8);
        assert_eq!(sgclaw_host_fail(host, 1, 23, text, 1, text, 1, 0), Status::InvalidJson);
        let mut count = 0;
        assert_eq!(sgclaw_host_in_flight(host, &raw mut count), Status::Ok);
        assert_eq!(count, 1, "none of this answered the command");
        assert_eq!(sgclaw_host_set_page(host, c"A".as_ptr(), 1), Status::InvalidDomain);
        assert_eq!(request(idle, "click", "{}", "a.example"), Status::WrongState);
        assert_eq!(request(agent, "a-b", "{}", "a.example"), Status::InvalidActionName);
        assert_eq!(request(agent, "click", "[]", "a.example"), Status::InvalidJson);
        assert_eq!(request(agent, "click", "{}", "a.example:80"), Status::InvalidDomain);
        let deep = format!(r#"{{"a":{}1{}}}"#, "[".repeat(63), "]".repeat(63));
        assert_eq!(request(agent, "click", &deep, "a.example"), Status::TooDeep);
        let large = format!(r#"{{"a":"{}"}}"#, "x".repeat(1_048_576));
        assert_eq!(request(agent, "click", &large, "a.example"), Status::TooLarge);
        assert_eq!(request(agent, "click", "{}", "a.example"), Status::Ok);
        assert_eq!(sgclaw_agent_handle_end_of_input(agent, 0), Status::Ok);
        assert_eq!(request(agent, "click", "{}", "a.example"), Status::WrongState, "after the end");
    }
}

#[test]
fn configurations_are_looked_at() {
    let world = World::new();
    let mut config = std::mem::MaybeUninit::<sgclaw_host_config>::uninit();
    let mut host = null_mut();
    let mut new = |change: &dyn Fn(&mut sgclaw_host_config)| {
        // SAFETY: as docs/c-api.md demands, but for what `change` does.
        unsafe {
            assert_eq!(sgclaw_host_config_init(config.as_mut_ptr()), Status::Ok);
            let config = config.assume_init_mut();
            config.seed = sgclaw_bytes { data: [7_u8; 32].as_ptr(), len: 32 };
            config.registry = world.handles[sgclaw_registry::AT][0].cast();
            config.policy = world.handles[sgclaw_policy::AT][0].cast();
            change(config);
            let status = sgclaw_host_new(config, &raw mut host);
            assert_eq!(sgclaw_host_free(&raw mut host), Status::Ok);
            status
        }
    };
    assert_eq!(new(&|_| ()), Status::Ok);
    assert_eq!(new(&|config| config.reserved[7] = 1), Status::ReservedNotZero);
    assert_eq!(new(&|config| config.seed.len = 15), Status::InvalidSeed);
    assert_eq!(new(&|config| config.seed = sgclaw_bytes { data: null(), len: 0 }), Status::InvalidSeed);
    assert_eq!(new(&|config| config.seed.data = null()), Status::NullPointer);
    assert_eq!(new(&|config| config.session = sgclaw_str { data: null(), len: 1 }), Status::NullPointer);
    assert_eq!(
        new(&|config| config.session = sgclaw_str { data: c"".as_ptr(), len: usize::MAX }),
        Status::InvalidLength
    );
    assert_eq!(new(&|config| config.registry = null()), Status::NullPointer);
    assert_eq!(new(&|config| config.policy = config.registry.cast()), Status::WrongHandle);
    assert_eq!(new(&|config| config.key_derivation = 2), Status::InvalidNumber);
    assert_eq!(new(&|config| config.contiguous_seq = 2), Status::InvalidNumber);
    let no_function = sgclaw_url_parser { context: null_mut(), parse: None };
    assert_eq!(new(&|config| config.urls = &raw const no_function), Status::NullPointer);

    let mut config = std::mem::MaybeUninit::<sgclaw_agent_config>::uninit();
    let mut agent = null_mut();
    let mut new = |change: &dyn Fn(&mut sgclaw_agent_config)| {
        // SAFETY: as above.
        unsafe {
            assert_eq!(sgclaw_agent_config_init(config.as_mut_ptr()), Status::Ok);
            let config = config.assume_init_mut();
            change(config);
            let status = sgclaw_agent_new(config, &raw mut agent);
            assert_eq!(sgclaw_agent_free(&raw mut agent), Status::Ok);
            status
        }
    };
    let names = [str_of("click"), str_of("a-b")];
    assert_eq!(new(&|_| ()), Status::Ok);
    assert_eq!(new(&|config| config.reserved[0] = 1), Status::ReservedNotZero);
    assert_eq!(new(&|config| config.key_derivation = u32::MAX), Status::InvalidNumber);
    assert_eq!(new(&|config| config.supported_actions_count = 1), Status::NullPointer);
    let with = |count| {
        move |config: &mut sgclaw_agent_config| {
            config.supported_actions = names.as_ptr();
            config.supported_actions_count = count;
        }
    };
    assert_eq!(new(&with(1)), Status::Ok);
    assert_eq!(new(&with(2)), Status::InvalidActionName);
    assert_eq!(new(&with(usize::MAX / 16 + 2)), Status::InvalidLength, "the size in bytes wraps around");
    assert_eq!(new(&with(isize::MAX.unsigned_abs() / 8)), Status::InvalidLength);
}

/// What a URL parser finds when it uses the handle of the call that asks it, and a wrong one.
#[derive(Default)]
struct Reentry {
    host: *mut sgclaw_host,
    statuses: Vec<Status>,
}

/// # Safety
/// `context` is a [`Reentry`].
unsafe extern "C" fn reenter(
    context: *mut c_void,
    url: *const c_char,
    len: usize,
    parsed: *mut sgclaw_parsed_url,
) {
    // SAFETY: by the test below, one call at a time.
    let reentry = unsafe { &mut *context.cast::<Reentry>() };
    let (scheme, host) = (str_of("http"), str_of("a.example"));
    // SAFETY: as docs/c-api.md demands, but for what is to be told.
    reentry.statuses = unsafe {
        let mut variable = reentry.host;
        vec![
            sgclaw_host_stop(reentry.host, 0),
            sgclaw_host_free(&raw mut variable),
            sgclaw_parsed_url_set(null_mut(), scheme.data, scheme.len, host.data, host.len),
            sgclaw_parsed_url_set(reentry.host.cast(), scheme.data, scheme.len, host.data, host.len),
            sgclaw_parsed_url_set(parsed, null(), 4, host.data, host.len),
            sgclaw_parsed_url_set(parsed, scheme.data, scheme.len, c"\xff".as_ptr(), 1),
            sgclaw_parsed_url_set(parsed, scheme.data, usize::MAX, host.data, host.len),
            sgclaw_parsed_url_set(parsed, scheme.data, scheme.len, host.data, host.len),
        ]
    };
    assert_eq!((len, url.is_null()), ("http://a.example/".len(), false));
}

#[test]
fn the_url_parser_is_asked_and_its_misuse_is_told() {
    let world = World::new();
    let mut reentry = Reentry::default();
    let context = &raw mut reentry;
    let urls = sgclaw_url_parser { context: context.cast(), parse: Some(reenter) };
    let mut config = std::mem::MaybeUninit::<sgclaw_host_config>::uninit();
    let mut host = null_mut();
    // SAFETY: as docs/c-api.md demands.
    unsafe {
        assert_eq!(sgclaw_host_config_init(config.as_mut_ptr()), Status::Ok);
        let config = config.assume_init_mut();
        config.seed = sgclaw_bytes { data: [7_u8; 32].as_ptr(), len: 32 };
        config.registry = world.handles[sgclaw_registry::AT][0].cast();
        config.policy = world.handles[sgclaw_policy::AT][0].cast();
        config.urls = &raw const urls;
        assert_eq!(sgclaw_host_new(config, &raw mut host), Status::Ok);
        (*context).host = host;
        assert_eq!(sgclaw_host_set_page(host, c"a.example".as_ptr(), 9), Status::Ok);
        let expected = [
            Status::Busy,
            Status::Busy,
            Status::NullPointer,
            Status::WrongHandle,
            Status::NullPointer,
            Status::InvalidUtf8,
            Status::InvalidLength,
            Status::Ok,
        ];
        assert_eq!((*context).statuses, expected);
        assert_eq!(sgclaw_host_free(&raw mut host), Status::Ok, "it is usable when the call is over");
    }
}

#[test]
fn every_status_and_code_has_words_and_other_numbers_have_none() {
    for number in 0..300 {
        let (name, meaning) = (sgclaw_status_name(number), sgclaw_status_meaning(number));
        assert_eq!((name.len > 0, meaning.len > 0), (number < 24, number < 24), "{number}");
        let (name, meaning) = (sgclaw_error_code_name(number), sgclaw_error_code_meaning(number));
        let known = (1..32).contains(&number);
        assert_eq!((name.len > 0, meaning.len > 0), (known, known), "{number}");
        assert_eq!(sgclaw_state_name(number).len > 0, number < 6, "{number}");
    }
    assert_eq!(sgclaw_status_name(u32::MAX).len, 0);
}

/// A program that was compiled with an older header has structs of these sizes.
#[test]
#[cfg(target_pointer_width = "64")]
fn the_structs_keep_their_sizes() {
    assert_eq!(size_of::<sgclaw_str>(), 16);
    assert_eq!(size_of::<sgclaw_bytes>(), 16);
    assert_eq!(size_of::<sgclaw_url_parser>(), 16);
    assert_eq!(size_of::<sgclaw_host_config>(), 200);
    assert_eq!(size_of::<sgclaw_agent_config>(), 112);
    assert_eq!(size_of::<sgclaw_executor_config>(), 88);
    assert_eq!(size_of::<sgclaw_host_event>(), 160);
    assert_eq!(size_of::<sgclaw_agent_event>(), 160);
    assert_eq!(size_of::<sgclaw_executor_event>(), 144);
}
