//! Every function of the interface that can fail, callable with arguments that a [`Plan`] picks.

use sgclaw::ffi::c::*;

use crate::world::{Arg, Plan, World};

pub(crate) struct Function {
    pub(crate) name: &'static str,
    pub(crate) call: fn(&mut World, &mut Plan) -> sgclaw_status,
}

trait Callable {
    fn call(self, world: &mut World, plan: &mut Plan) -> sgclaw_status;
}

macro_rules! callable {
    ($($arg:ident)*) => {
        impl<$($arg: Arg),*> Callable for unsafe extern "C" fn($($arg),*) -> sgclaw_status {
            #[allow(non_snake_case)]
            fn call(self, world: &mut World, plan: &mut Plan) -> sgclaw_status {
                $(let $arg = $arg::pick(world, plan);)*
                // SAFETY: a world hands out what docs/c-api.md allows, and faults that are to be told.
                unsafe { self($($arg),*) }
            }
        }
    };
}

callable!(A);
callable!(A B);
callable!(A B C);
callable!(A B C D);
callable!(A B C D E);
callable!(A B C D E F);
callable!(A B C D E F G);
callable!(A B C D E F G H);
callable!(A B C D E F G H I);

macro_rules! functions {
    ($($name:ident($($any:tt)*);)*) => {
        pub(crate) const FUNCTIONS: &[Function] = &[$(Function {
            name: stringify!($name),
            call: |world, plan| {
                let function: unsafe extern "C" fn($($any)*) -> sgclaw_status = $name;
                function.call(world, plan)
            },
        }),*];
    };
}

functions! {
    sgclaw_text_str(_, _);
    sgclaw_text_free(_);
    sgclaw_canonicalize(_, _, _, _);
    sgclaw_parsed_url_set(_, _, _, _, _);
    sgclaw_registry_standard(_);
    sgclaw_registry_empty(_);
    sgclaw_registry_add(_, _, _, _, _, _);
    sgclaw_registry_name(_, _, _);
    sgclaw_registry_schema(_, _, _, _);
    sgclaw_registry_free(_);
    sgclaw_policy_parse(_, _, _, _, _);
    sgclaw_policy_deny_all(_);
    sgclaw_policy_loopback(_, _);
    sgclaw_policy_unknown_action(_, _, _, _);
    sgclaw_policy_check_domain(_, _, _, _, _, _);
    sgclaw_policy_check_navigation(_, _, _, _, _);
    sgclaw_policy_free(_);
    sgclaw_command_seq(_, _);
    sgclaw_command_action(_, _);
    sgclaw_command_params(_, _);
    sgclaw_command_expected_domain(_, _);
    sgclaw_command_timeout(_, _);
    sgclaw_command_free(_);
    sgclaw_host_config_init(_);
    sgclaw_host_new(_, _);
    sgclaw_host_start(_, _);
    sgclaw_host_handle_input(_, _, _, _);
    sgclaw_host_handle_end_of_input(_, _);
    sgclaw_host_handle_output_closed(_, _);
    sgclaw_host_handle_child_exited(_, _, _);
    sgclaw_host_handle_child_signalled(_, _, _);
    sgclaw_host_handle_timeout(_, _);
    sgclaw_host_poll_timeout(_, _);
    sgclaw_host_poll_event(_, _);
    sgclaw_host_take_command(_, _);
    sgclaw_host_poll_trace(_, _);
    sgclaw_host_output(_, _);
    sgclaw_host_output_written(_, _);
    sgclaw_host_wants_input(_, _);
    sgclaw_host_complete(_, _, _, _, _);
    sgclaw_host_fail(_, _, _, _, _, _, _, _);
    sgclaw_host_allow(_, _, _);
    sgclaw_host_deny(_, _, _);
    sgclaw_host_abandon(_, _, _);
    sgclaw_host_cancel(_, _, _);
    sgclaw_host_set_policy(_, _);
    sgclaw_host_policy(_, _);
    sgclaw_host_set_page(_, _, _);
    sgclaw_host_reset_breaker(_, _, _);
    sgclaw_host_stop(_, _);
    sgclaw_host_state(_, _);
    sgclaw_host_in_flight(_, _);
    sgclaw_host_negotiated_action(_, _, _);
    sgclaw_host_free(_);
    sgclaw_executor_config_init(_);
    sgclaw_executor_new(_, _);
    sgclaw_executor_start(_, _);
    sgclaw_executor_handle_message(_, _, _, _);
    sgclaw_executor_handle_disconnect(_, _);
    sgclaw_executor_handle_timeout(_, _);
    sgclaw_executor_poll_timeout(_, _);
    sgclaw_executor_poll_message(_, _);
    sgclaw_executor_poll_event(_, _);
    sgclaw_executor_execute(_, _, _);
    sgclaw_executor_cancel(_, _, _);
    sgclaw_executor_set_policy(_, _);
    sgclaw_executor_free(_);
    sgclaw_agent_config_init(_);
    sgclaw_agent_new(_, _);
    sgclaw_agent_request(_, _, _, _, _, _, _, _, _);
    sgclaw_agent_handle_input(_, _, _, _);
    sgclaw_agent_handle_end_of_input(_, _);
    sgclaw_agent_handle_timeout(_, _);
    sgclaw_agent_poll_timeout(_, _);
    sgclaw_agent_poll_event(_, _);
    sgclaw_agent_output(_, _);
    sgclaw_agent_output_written(_, _);
    sgclaw_agent_reset_action(_, _, _);
    sgclaw_agent_in_flight(_, _);
    sgclaw_agent_free(_);
}

/// Those that cannot fail.
const OF_NUMBERS: &[&str] = &[
    "sgclaw_abi_version",
    "sgclaw_version",
    "sgclaw_contract_version",
    "sgclaw_status_name",
    "sgclaw_status_meaning",
    "sgclaw_error_code_name",
    "sgclaw_error_code_meaning",
    "sgclaw_state_name",
];

#[test]
fn the_tables_here_name_every_function_of_the_header() {
    let header = include_str!("../../include/sgclaw/sgclaw.h");
    let mut declared: Vec<&str> = header
        .lines()
        .filter(|line| {
            line.starts_with("sgclaw_status ") || line.contains("(void);") || line.contains("(uint32_t ")
        })
        .filter_map(|line| line.split_once('('))
        .filter_map(|(before, _)| before.rsplit(' ').next())
        .collect();
    let mut here: Vec<&str> =
        FUNCTIONS.iter().map(|function| function.name).chain(OF_NUMBERS.iter().copied()).collect();
    declared.sort_unstable();
    here.sort_unstable();
    assert_eq!(declared, here);
}
