//! The cxx bridge, for Chromium and every other host in C++ (`include/sgclaw/`, `cpp/`).
//!
//! Nothing here returns a `Result`, since cxx would make it a C++ exception. Text of C++ comes as
//! bytes, since cxx ends the process where a `str` of C++ is not UTF-8. Events are drained: one is
//! the current one, and stays in Rust until the next is asked for, so that C++ looks at it without
//! a copy.

// What cxx generates is unsafe, public where it need not be, and has a panic where somebody puts a
// value of an opaque C++ type into a shared pointer, which Rust cannot have.
#![allow(unsafe_code, unreachable_pub, clippy::panic)]

mod agent;
mod contract;
mod executor;
mod host;

use agent::{AgentCore, agent_new};
use contract::{
    PolicyCore, RegistryCore, UrlParts, canonicalize, contract_version, parse_url_in_rust, policy_deny_all,
    policy_loopback, registry_new, registry_standard, wipe,
};
use executor::{ExecutorCore, executor_new};
use host::{CommandCore, HostCore, host_new};

#[cxx::bridge(namespace = "sgclaw::ffi")]
mod ffi {
    /// What a host is made with; microseconds where nothing else is said.
    struct HostSetup<'a> {
        session: &'a [u8],
        seed: [u8; 32],
        seed_is_key: bool,
        handshake_timeout: u64,
        contiguous_seq: bool,
        max_rejections: u32,
        capacity: usize,
        concurrency: usize,
        confirmation_timeout: u64,
        grace: u64,
        stop_grace: u64,
        terminate_grace: u64,
        max_output_bytes: usize,
    }

    enum HostEventKind {
        None,
        StateChanged,
        Execute,
        Cancel,
        ConfirmationAsked,
        ConfirmationOver,
        BreakerOpened,
        CloseStdin,
        Terminate,
        Kill,
    }

    enum AgentEventKind {
        None,
        Ready,
        Done,
        ActionStopped,
        Log,
        Ended,
    }

    enum ExecutorEventKind {
        None,
        Ready,
        PageChanged,
        Completed,
        Disconnected,
    }

    // The enums that C++ users see are declared in their headers; cxx checks each value against them.

    #[namespace = "sgclaw"]
    #[repr(u8)]
    enum HostState {
        #[cxx_name = "kIdle"]
        Idle,
        #[cxx_name = "kHandshaking"]
        Handshaking,
        #[cxx_name = "kRunning"]
        Running,
        #[cxx_name = "kStopping"]
        Stopping,
        #[cxx_name = "kStopped"]
        Stopped,
        #[cxx_name = "kCrashed"]
        Crashed,
    }

    #[namespace = "sgclaw"]
    #[repr(u8)]
    enum TraceStage {
        #[cxx_name = "kState"]
        State,
        #[cxx_name = "kReceived"]
        Received,
        #[cxx_name = "kVerified"]
        Verified,
        #[cxx_name = "kAuthorized"]
        Authorized,
        #[cxx_name = "kConfirming"]
        Confirming,
        #[cxx_name = "kDispatched"]
        Dispatched,
        #[cxx_name = "kCompleted"]
        Completed,
        #[cxx_name = "kResponded"]
        Responded,
        #[cxx_name = "kRejected"]
        Rejected,
        #[cxx_name = "kDropped"]
        Dropped,
        #[cxx_name = "kCancelled"]
        Cancelled,
        #[cxx_name = "kBreakerOpened"]
        BreakerOpened,
    }

    #[namespace = "sgclaw"]
    #[repr(u8)]
    enum RequestStatus {
        #[cxx_name = "kSent"]
        Sent,
        #[cxx_name = "kNotRunning"]
        NotRunning,
        #[cxx_name = "kActionStopped"]
        ActionStopped,
        #[cxx_name = "kTooLarge"]
        TooLarge,
        #[cxx_name = "kTooDeep"]
        TooDeep,
        #[cxx_name = "kSeqExhausted"]
        SeqExhausted,
        #[cxx_name = "kInvalidAction"]
        InvalidAction,
        #[cxx_name = "kInvalidParams"]
        InvalidParams,
        #[cxx_name = "kInvalidDomain"]
        InvalidDomain,
    }

    #[namespace = "sgclaw"]
    unsafe extern "C++" {
        include!("sgclaw/agent.h");
        include!("sgclaw/error_code.h");
        include!("sgclaw/hmac.h");
        include!("sgclaw/host.h");
        include!("sgclaw/trace.h");
        include!("sgclaw/url_parser.h");
        type ErrorCode;
        type HmacSha256;
        type HostState;
        type RequestStatus;
        type TraceStage;
        type UrlParser;
    }

    unsafe extern "C++" {
        include!("third_party/sgclaw/cpp/shims.h");
        /// Whether the URL was parsed and `parts` set.
        fn parse_url(parser: &UrlParser, url: &str, parts: &mut UrlParts) -> bool;
        fn hmac_sha256(provider: &HmacSha256, key: &[u8], message: &[u8], tag: &mut [u8; 32]);
    }

    // generated: error codes
    #[namespace = "sgclaw"]
    #[repr(u8)]
    enum ErrorCode {
        #[cxx_name = "kPipeInvalidJson"]
        PipeInvalidJson = 1,
        #[cxx_name = "kPipeMessageTooLarge"]
        PipeMessageTooLarge = 2,
        #[cxx_name = "kPipeSchemaInvalid"]
        PipeSchemaInvalid = 3,
        #[cxx_name = "kPipeUnexpectedMessage"]
        PipeUnexpectedMessage = 4,
        #[cxx_name = "kPipeHmacInvalid"]
        PipeHmacInvalid = 5,
        #[cxx_name = "kPipeSeqDuplicate"]
        PipeSeqDuplicate = 6,
        #[cxx_name = "kPipeSeqOutOfOrder"]
        PipeSeqOutOfOrder = 7,
        #[cxx_name = "kPipeHandshakeTimeout"]
        PipeHandshakeTimeout = 8,
        #[cxx_name = "kPipeVersionMismatch"]
        PipeVersionMismatch = 9,
        #[cxx_name = "kPipeClosed"]
        PipeClosed = 10,
        #[cxx_name = "kMacExpectedDomainInvalid"]
        MacExpectedDomainInvalid = 11,
        #[cxx_name = "kMacActionDenied"]
        MacActionDenied = 12,
        #[cxx_name = "kMacUrlDenied"]
        MacUrlDenied = 13,
        #[cxx_name = "kMacDomainDenied"]
        MacDomainDenied = 14,
        #[cxx_name = "kMacDomainMismatch"]
        MacDomainMismatch = 15,
        #[cxx_name = "kMacConfirmationDenied"]
        MacConfirmationDenied = 16,
        #[cxx_name = "kMacConfirmationTimeout"]
        MacConfirmationTimeout = 17,
        #[cxx_name = "kCmdActionUnknown"]
        CmdActionUnknown = 18,
        #[cxx_name = "kCmdParamsInvalid"]
        CmdParamsInvalid = 19,
        #[cxx_name = "kCmdSelectorInvalid"]
        CmdSelectorInvalid = 20,
        #[cxx_name = "kCmdSelectorTimeout"]
        CmdSelectorTimeout = 21,
        #[cxx_name = "kCmdNavigationFailed"]
        CmdNavigationFailed = 22,
        #[cxx_name = "kCmdTimeout"]
        CmdTimeout = 23,
        #[cxx_name = "kCmdCancelled"]
        CmdCancelled = 24,
        #[cxx_name = "kCmdResultTooLarge"]
        CmdResultTooLarge = 25,
        #[cxx_name = "kCmdExecutionFailed"]
        CmdExecutionFailed = 26,
        #[cxx_name = "kCmdPageCrashed"]
        CmdPageCrashed = 27,
        #[cxx_name = "kInternalUnknown"]
        InternalUnknown = 28,
        #[cxx_name = "kInternalCircuitOpen"]
        InternalCircuitOpen = 29,
        #[cxx_name = "kInternalOverloaded"]
        InternalOverloaded = 30,
        #[cxx_name = "kInternalExecutorGone"]
        InternalExecutorGone = 31,
    }
    // end of generated

    extern "Rust" {
        fn contract_version() -> &'static str;
        fn wipe(secret: &mut [u8; 32]);
        /// Empty and `false` where `text` is not strict JSON.
        fn canonicalize(text: &[u8], canonical: &mut String) -> bool;
        /// By the crate's own parser, where it has one. `host` stays empty where the URL has none.
        fn parse_url_in_rust(url: &[u8], scheme: &mut String, host: &mut String) -> bool;

        type UrlParts;
        /// `host` is empty where the URL has none.
        fn set(self: &mut UrlParts, scheme: &[u8], host: &[u8]);

        type RegistryCore;
        fn registry_new() -> Box<RegistryCore>;
        fn registry_standard() -> Box<RegistryCore>;
        fn copy(self: &RegistryCore) -> Box<RegistryCore>;
        /// What was wrong; empty where nothing was.
        fn add(self: &mut RegistryCore, name: &[u8], schema: &[u8]) -> String;
        fn add_standard(self: &mut RegistryCore, name: &[u8]) -> String;
        fn names(self: &RegistryCore) -> Vec<String>;
        unsafe fn schema<'a>(self: &'a RegistryCore, name: &[u8]) -> &'a str;

        type PolicyCore;
        fn policy_deny_all() -> Box<PolicyCore>;
        fn policy_loopback(urls: SharedPtr<UrlParser>) -> Box<PolicyCore>;
        fn copy(self: &PolicyCore) -> Box<PolicyCore>;
        /// What was wrong, and then the policy is as it was; empty where nothing was.
        fn parse(self: &mut PolicyCore, document: &[u8], urls: SharedPtr<UrlParser>) -> String;
        fn unknown_actions(self: &PolicyCore, registry: &RegistryCore) -> Vec<String>;
        /// The code of what forbids it, and why in `message`; 0 where nothing does.
        fn check_domain(self: &PolicyCore, domain: &[u8], action: &[u8], message: &mut String) -> u8;
        /// The same of a URL.
        fn check_navigation(self: &PolicyCore, scheme: &[u8], host: &[u8], message: &mut String) -> u8;

        type CommandCore;
        fn seq(self: &CommandCore) -> u64;
        fn action(self: &CommandCore) -> &str;
        fn params(self: &CommandCore) -> &str;
        fn expected_domain(self: &CommandCore) -> &str;
        fn timeout_us(self: &CommandCore) -> u64;

        type HostCore;
        fn host_new(
            setup: &HostSetup,
            registry: &RegistryCore,
            policy: &PolicyCore,
            urls: SharedPtr<UrlParser>,
            hmac: SharedPtr<HmacSha256>,
        ) -> Box<HostCore>;
        fn start(self: &mut HostCore, now: u64);
        fn handle_input(self: &mut HostCore, bytes: &[u8], now: u64);
        fn handle_end_of_input(self: &mut HostCore, now: u64);
        fn handle_output_closed(self: &mut HostCore, now: u64);
        fn handle_exit_code(self: &mut HostCore, code: i32, now: u64);
        fn handle_exit_signal(self: &mut HostCore, signal: i32, now: u64);
        fn handle_timeout(self: &mut HostCore, now: u64);
        /// `u64::MAX` where there is none.
        fn poll_timeout(self: &HostCore) -> u64;
        fn next_event(self: &mut HostCore) -> HostEventKind;
        fn event_seq(self: &HostCore) -> u64;
        fn event_state(self: &HostCore) -> HostState;
        /// 0 where there is none.
        fn event_code(self: &HostCore) -> u8;
        fn event_message(self: &HostCore) -> &str;
        fn event_action(self: &HostCore) -> &str;
        fn event_domain(self: &HostCore) -> &str;
        fn event_params(self: &HostCore) -> &str;
        fn take_command(self: &mut HostCore) -> Box<CommandCore>;
        fn next_trace(self: &mut HostCore) -> bool;
        fn trace_time(self: &HostCore) -> u64;
        fn trace_seq(self: &HostCore) -> u64;
        fn trace_stage(self: &HostCore) -> TraceStage;
        /// 0 where there is none.
        fn trace_code(self: &HostCore) -> u8;
        fn trace_action(self: &HostCore) -> &str;
        fn trace_line(self: &HostCore) -> String;
        fn output(self: &HostCore) -> &[u8];
        fn output_written(self: &mut HostCore, count: usize);
        fn wants_input(self: &HostCore) -> bool;
        fn succeed(self: &mut HostCore, seq: u64, data: &[u8], now: u64);
        fn fail(self: &mut HostCore, seq: u64, code: ErrorCode, message: &[u8], details: &[u8], now: u64);
        fn abandon(self: &mut HostCore, seq: u64, now: u64);
        fn confirm(self: &mut HostCore, seq: u64, allow: bool, now: u64);
        fn cancel(self: &mut HostCore, seq: u64, now: u64);
        fn set_policy(self: &mut HostCore, policy: &PolicyCore);
        fn clear_page(self: &mut HostCore);
        /// Whether `domain` is one; else the page counts as one without a host.
        fn set_page(self: &mut HostCore, domain: &[u8]) -> bool;
        fn reset_breaker(self: &mut HostCore, action: &[u8]);
        fn stop(self: &mut HostCore, now: u64);
        fn state(self: &HostCore) -> HostState;
        fn in_flight(self: &HostCore) -> usize;
        fn negotiated_actions(self: &HostCore) -> Vec<String>;

        type AgentCore;
        fn agent_new(
            agent_id: &[u8],
            actions: &RegistryCore,
            seed_is_key: bool,
            urls: SharedPtr<UrlParser>,
        ) -> Box<AgentCore>;
        fn request(
            self: &mut AgentCore,
            action: &[u8],
            params: &[u8],
            domain: &[u8],
            now: u64,
            call: &mut u64,
        ) -> RequestStatus;
        fn handle_input(self: &mut AgentCore, bytes: &[u8], now: u64);
        fn handle_end_of_input(self: &mut AgentCore, now: u64);
        fn handle_timeout(self: &mut AgentCore, now: u64);
        fn poll_timeout(self: &AgentCore) -> u64;
        fn next_event(self: &mut AgentCore) -> AgentEventKind;
        fn event_call(self: &AgentCore) -> u64;
        fn event_seq(self: &AgentCore) -> u64;
        fn event_attempts(self: &AgentCore) -> u32;
        /// 0 for a success, and for an end without a failure.
        fn event_code(self: &AgentCore) -> u8;
        /// The message of the failure, the action that stopped, or the line for the log.
        fn event_text(self: &AgentCore) -> &str;
        /// The data of a success or the details of a failure; empty where there are none.
        fn event_json(self: &AgentCore) -> &str;
        fn output(self: &AgentCore) -> &[u8];
        fn output_written(self: &mut AgentCore, count: usize);
        fn reset_action(self: &mut AgentCore, action: &[u8]);
        fn in_flight(self: &AgentCore) -> usize;

        type ExecutorCore;
        fn executor_new(
            policy: &PolicyCore,
            urls: SharedPtr<UrlParser>,
            max_waiting: usize,
            one_page: bool,
        ) -> Box<ExecutorCore>;
        fn start(self: &mut ExecutorCore, now: u64);
        fn handle_message(self: &mut ExecutorCore, message: &[u8], now: u64);
        fn handle_disconnect(self: &mut ExecutorCore, now: u64);
        fn handle_timeout(self: &mut ExecutorCore, now: u64);
        fn poll_timeout(self: &ExecutorCore) -> u64;
        fn next_message(self: &mut ExecutorCore) -> bool;
        fn message(self: &ExecutorCore) -> &[u8];
        fn next_event(self: &mut ExecutorCore) -> ExecutorEventKind;
        fn event_seq(self: &ExecutorCore) -> u64;
        /// 0 for a success.
        fn event_code(self: &ExecutorCore) -> u8;
        /// The message of the failure, or the page's domain.
        fn event_text(self: &ExecutorCore) -> &str;
        /// The data of a success or the details of a failure; empty where there are none.
        fn event_json(self: &ExecutorCore) -> &str;
        fn execute(self: &mut ExecutorCore, command: Box<CommandCore>, now: u64);
        fn cancel(self: &mut ExecutorCore, seq: u64, now: u64);
        fn set_policy(self: &mut ExecutorCore, policy: &PolicyCore);
    }
}
