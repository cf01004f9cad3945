// Generated from schemas/pipe/1.0/errors.json by `cargo xtask generate`. Do not edit.

/// The error codes of the contract (sections 6 to 10), with the numbers that C and C++ know
/// them by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum ErrorCode {
    /// The line is not one strict JSON object in UTF-8.
    PipeInvalidJson = 1,
    /// The line is longer than 1,048,576 bytes.
    PipeMessageTooLarge = 2,
    /// A field of the message is missing, unknown or of the wrong shape.
    PipeSchemaInvalid = 3,
    /// The message does not belong to this direction or this state.
    PipeUnexpectedMessage = 4,
    /// security.hmac is missing, ill-formed or does not match.
    PipeHmacInvalid = 5,
    /// The seq was used in this session. The answer speaks of the duplicate, never of the original.
    PipeSeqDuplicate = 6,
    /// The seq is not above the last one, or the first is not 1.
    PipeSeqOutOfOrder = 7,
    /// No valid init_ack came within 5000 ms.
    PipeHandshakeTimeout = 8,
    /// The two sides speak different versions.
    PipeVersionMismatch = 9,
    /// The agent ended, or closed its side of the pipe.
    PipeClosed = 10,
    /// security.expected_domain is missing or is not a lower-case ASCII host.
    MacExpectedDomainInvalid = 11,
    /// The action was not negotiated, or the policy does not allow it on this domain.
    MacActionDenied = 12,
    /// The policy does not allow the scheme of the URL.
    MacUrlDenied = 13,
    /// The policy does not know the domain.
    MacDomainDenied = 14,
    /// The document acted upon is not on expected_domain.
    MacDomainMismatch = 15,
    /// A person refused the command.
    MacConfirmationDenied = 16,
    /// Nobody confirmed the command in time.
    MacConfirmationTimeout = 17,
    /// The host has no such action.
    CmdActionUnknown = 18,
    /// The params do not satisfy the schema of the action; details.errors says where.
    CmdParamsInvalid = 19,
    /// The selector is not CSS.
    CmdSelectorInvalid = 20,
    /// The element was not there, or not ready for the action, in time; details.reason says why.
    CmdSelectorTimeout = 21,
    /// The navigation did not arrive; details.reason says why.
    CmdNavigationFailed = 22,
    /// The command was not completed by its deadline.
    CmdTimeout = 23,
    /// The host cancelled the command: a person stopped it, or its tab closed.
    CmdCancelled = 24,
    /// The result does not fit into a message.
    CmdResultTooLarge = 25,
    /// The action could not be carried out on this element; details.reason says why.
    CmdExecutionFailed = 26,
    /// The renderer of the page died.
    CmdPageCrashed = 27,
    /// The host failed in a way it has no name for.
    InternalUnknown = 28,
    /// The action failed more than 10 times in a row and is switched off.
    InternalCircuitOpen = 29,
    /// Too many commands are in flight.
    InternalOverloaded = 30,
    /// What executes the commands (the browser) is gone.
    InternalExecutorGone = 31,
}

impl ErrorCode {
    /// Every code, in the order of the table.
    pub const ALL: &[ErrorCode] = &[
        ErrorCode::PipeInvalidJson,
        ErrorCode::PipeMessageTooLarge,
        ErrorCode::PipeSchemaInvalid,
        ErrorCode::PipeUnexpectedMessage,
        ErrorCode::PipeHmacInvalid,
        ErrorCode::PipeSeqDuplicate,
        ErrorCode::PipeSeqOutOfOrder,
        ErrorCode::PipeHandshakeTimeout,
        ErrorCode::PipeVersionMismatch,
        ErrorCode::PipeClosed,
        ErrorCode::MacExpectedDomainInvalid,
        ErrorCode::MacActionDenied,
        ErrorCode::MacUrlDenied,
        ErrorCode::MacDomainDenied,
        ErrorCode::MacDomainMismatch,
        ErrorCode::MacConfirmationDenied,
        ErrorCode::MacConfirmationTimeout,
        ErrorCode::CmdActionUnknown,
        ErrorCode::CmdParamsInvalid,
        ErrorCode::CmdSelectorInvalid,
        ErrorCode::CmdSelectorTimeout,
        ErrorCode::CmdNavigationFailed,
        ErrorCode::CmdTimeout,
        ErrorCode::CmdCancelled,
        ErrorCode::CmdResultTooLarge,
        ErrorCode::CmdExecutionFailed,
        ErrorCode::CmdPageCrashed,
        ErrorCode::InternalUnknown,
        ErrorCode::InternalCircuitOpen,
        ErrorCode::InternalOverloaded,
        ErrorCode::InternalExecutorGone,
    ];

    const fn row(self) -> &'static Row {
        match self {
            ErrorCode::PipeInvalidJson => &Row {
                code: "PIPE_INVALID_JSON",
                meaning: "The line is not one strict JSON object in UTF-8.",
                action: "Fix the writer: the message names the byte. Keep everything but messages off stdout.",
                retry_after_ms: &[],
                agent_breaks: false,
                counts_for_breaker: false,
            },
            ErrorCode::PipeMessageTooLarge => &Row {
                code: "PIPE_MESSAGE_TOO_LARGE",
                meaning: "The line is longer than 1,048,576 bytes.",
                action: "Send less; the line was skipped, the next one counts.",
                retry_after_ms: &[],
                agent_breaks: false,
                counts_for_breaker: false,
            },
            ErrorCode::PipeSchemaInvalid => &Row {
                code: "PIPE_SCHEMA_INVALID",
                meaning: "A field of the message is missing, unknown or of the wrong shape.",
                action: "Compare the message with the envelope schema.",
                retry_after_ms: &[],
                agent_breaks: false,
                counts_for_breaker: false,
            },
            ErrorCode::PipeUnexpectedMessage => &Row {
                code: "PIPE_UNEXPECTED_MESSAGE",
                meaning: "The message does not belong to this direction or this state.",
                action: "Send init_ack first and once, then commands only.",
                retry_after_ms: &[],
                agent_breaks: false,
                counts_for_breaker: false,
            },
            ErrorCode::PipeHmacInvalid => &Row {
                code: "PIPE_HMAC_INVALID",
                meaning: "security.hmac is missing, ill-formed or does not match.",
                action: "Compare the signed bytes with `sgclaw sign`; mind the canonical form and the key derivation.",
                retry_after_ms: &[],
                agent_breaks: false,
                counts_for_breaker: false,
            },
            ErrorCode::PipeSeqDuplicate => &Row {
                code: "PIPE_SEQ_DUPLICATE",
                meaning: "The seq was used in this session. The answer speaks of the duplicate, never of the original.",
                action: "Use each seq once; a retry takes a new one.",
                retry_after_ms: &[],
                agent_breaks: false,
                counts_for_breaker: false,
            },
            ErrorCode::PipeSeqOutOfOrder => &Row {
                code: "PIPE_SEQ_OUT_OF_ORDER",
                meaning: "The seq is not above the last one, or the first is not 1.",
                action: "Number commands 1, 2, 3, … in the order in which they are written.",
                retry_after_ms: &[],
                agent_breaks: false,
                counts_for_breaker: false,
            },
            ErrorCode::PipeHandshakeTimeout => &Row {
                code: "PIPE_HANDSHAKE_TIMEOUT",
                meaning: "No valid init_ack came within 5000 ms.",
                action: "Answer init before anything slow.",
                retry_after_ms: &[],
                agent_breaks: false,
                counts_for_breaker: false,
            },
            ErrorCode::PipeVersionMismatch => &Row {
                code: "PIPE_VERSION_MISMATCH",
                meaning: "The two sides speak different versions.",
                action: "Bring both to the same version.",
                retry_after_ms: &[],
                agent_breaks: false,
                counts_for_breaker: false,
            },
            ErrorCode::PipeClosed => &Row {
                code: "PIPE_CLOSED",
                meaning: "The agent ended, or closed its side of the pipe.",
                action: "Look at the exit status and the stderr of the agent.",
                retry_after_ms: &[],
                agent_breaks: false,
                counts_for_breaker: false,
            },
            ErrorCode::MacExpectedDomainInvalid => &Row {
                code: "MAC_EXPECTED_DOMAIN_INVALID",
                meaning: "security.expected_domain is missing or is not a lower-case ASCII host.",
                action: "Send the host as the browser writes it: the A-label, without port.",
                retry_after_ms: &[],
                agent_breaks: false,
                counts_for_breaker: false,
            },
            ErrorCode::MacActionDenied => &Row {
                code: "MAC_ACTION_DENIED",
                meaning: "The action was not negotiated, or the policy does not allow it on this domain.",
                action: "Ask for the action to be allowed.",
                retry_after_ms: &[],
                agent_breaks: false,
                counts_for_breaker: true,
            },
            ErrorCode::MacUrlDenied => &Row {
                code: "MAC_URL_DENIED",
                meaning: "The policy does not allow the scheme of the URL.",
                action: "Use https, or have the scheme allowed.",
                retry_after_ms: &[],
                agent_breaks: false,
                counts_for_breaker: true,
            },
            ErrorCode::MacDomainDenied => &Row {
                code: "MAC_DOMAIN_DENIED",
                meaning: "The policy does not know the domain.",
                action: "Have the domain added to the policy.",
                retry_after_ms: &[],
                agent_breaks: false,
                counts_for_breaker: true,
            },
            ErrorCode::MacDomainMismatch => &Row {
                code: "MAC_DOMAIN_MISMATCH",
                meaning: "The document acted upon is not on expected_domain.",
                action: "Look where the page went; state the domain that the document has.",
                retry_after_ms: &[],
                agent_breaks: false,
                counts_for_breaker: true,
            },
            ErrorCode::MacConfirmationDenied => &Row {
                code: "MAC_CONFIRMATION_DENIED",
                meaning: "A person refused the command.",
                action: "Do not ask again without a reason.",
                retry_after_ms: &[],
                agent_breaks: false,
                counts_for_breaker: true,
            },
            ErrorCode::MacConfirmationTimeout => &Row {
                code: "MAC_CONFIRMATION_TIMEOUT",
                meaning: "Nobody confirmed the command in time.",
                action: "Ask a person to be there.",
                retry_after_ms: &[],
                agent_breaks: false,
                counts_for_breaker: true,
            },
            ErrorCode::CmdActionUnknown => &Row {
                code: "CMD_ACTION_UNKNOWN",
                meaning: "The host has no such action.",
                action: "See the actions that the host registers.",
                retry_after_ms: &[],
                agent_breaks: false,
                counts_for_breaker: false,
            },
            ErrorCode::CmdParamsInvalid => &Row {
                code: "CMD_PARAMS_INVALID",
                meaning: "The params do not satisfy the schema of the action; details.errors says where.",
                action: "Compare the params with `sgclaw schema ACTION`.",
                retry_after_ms: &[],
                agent_breaks: false,
                counts_for_breaker: true,
            },
            ErrorCode::CmdSelectorInvalid => &Row {
                code: "CMD_SELECTOR_INVALID",
                meaning: "The selector is not CSS.",
                action: "Fix the selector.",
                retry_after_ms: &[],
                agent_breaks: false,
                counts_for_breaker: true,
            },
            ErrorCode::CmdSelectorTimeout => &Row {
                code: "CMD_SELECTOR_TIMEOUT",
                meaning: "The element was not there, or not ready for the action, in time; details.reason says why.",
                action: "Look at details.reason, wait for the page, or fix the selector.",
                retry_after_ms: &[500, 1000],
                agent_breaks: false,
                counts_for_breaker: true,
            },
            ErrorCode::CmdNavigationFailed => &Row {
                code: "CMD_NAVIGATION_FAILED",
                meaning: "The navigation did not arrive; details.reason says why.",
                action: "Look at details.reason and details.net_error.",
                retry_after_ms: &[1000],
                agent_breaks: false,
                counts_for_breaker: true,
            },
            ErrorCode::CmdTimeout => &Row {
                code: "CMD_TIMEOUT",
                meaning: "The command was not completed by its deadline.",
                action: "Give it more time, or look why the page does not answer.",
                retry_after_ms: &[],
                agent_breaks: false,
                counts_for_breaker: true,
            },
            ErrorCode::CmdCancelled => &Row {
                code: "CMD_CANCELLED",
                meaning: "The host cancelled the command: a person stopped it, or its tab closed.",
                action: "None.",
                retry_after_ms: &[],
                agent_breaks: false,
                counts_for_breaker: false,
            },
            ErrorCode::CmdResultTooLarge => &Row {
                code: "CMD_RESULT_TOO_LARGE",
                meaning: "The result does not fit into a message.",
                action: "Ask for less.",
                retry_after_ms: &[],
                agent_breaks: false,
                counts_for_breaker: true,
            },
            ErrorCode::CmdExecutionFailed => &Row {
                code: "CMD_EXECUTION_FAILED",
                meaning: "The action could not be carried out on this element; details.reason says why.",
                action: "Look at details.reason.",
                retry_after_ms: &[],
                agent_breaks: false,
                counts_for_breaker: true,
            },
            ErrorCode::CmdPageCrashed => &Row {
                code: "CMD_PAGE_CRASHED",
                meaning: "The renderer of the page died.",
                action: "Navigate: that revives the page.",
                retry_after_ms: &[],
                agent_breaks: false,
                counts_for_breaker: true,
            },
            ErrorCode::InternalUnknown => &Row {
                code: "INTERNAL_UNKNOWN",
                meaning: "The host failed in a way it has no name for.",
                action: "Look at the trace.",
                retry_after_ms: &[1000],
                agent_breaks: true,
                counts_for_breaker: true,
            },
            ErrorCode::InternalCircuitOpen => &Row {
                code: "INTERNAL_CIRCUIT_OPEN",
                meaning: "The action failed more than 10 times in a row and is switched off.",
                action: "Have the breaker reset in the host.",
                retry_after_ms: &[1000],
                agent_breaks: true,
                counts_for_breaker: false,
            },
            ErrorCode::InternalOverloaded => &Row {
                code: "INTERNAL_OVERLOADED",
                meaning: "Too many commands are in flight.",
                action: "Wait for answers before sending more.",
                retry_after_ms: &[1000],
                agent_breaks: false,
                counts_for_breaker: false,
            },
            ErrorCode::InternalExecutorGone => &Row {
                code: "INTERNAL_EXECUTOR_GONE",
                meaning: "What executes the commands (the browser) is gone.",
                action: "Restart the browser.",
                retry_after_ms: &[1000],
                agent_breaks: true,
                counts_for_breaker: true,
            },
        }
    }

    /// The number of the code in the C ABI and in C++; 1 or more, and never that of another code.
    pub const fn number(self) -> u8 {
        self as u8
    }

    /// The code of this number, where there is one.
    pub fn from_number(number: u8) -> Option<Self> {
        ErrorCode::ALL.iter().copied().find(|code| code.number() == number)
    }

    /// The code as it stands on the wire, such as `PIPE_INVALID_JSON`.
    pub const fn as_str(self) -> &'static str {
        self.row().code
    }

    /// What the code says, in one sentence.
    pub const fn meaning(self) -> &'static str {
        self.row().meaning
    }

    /// What to do about it, in one sentence.
    pub const fn action(self) -> &'static str {
        self.row().action
    }

    /// How long an agent waits before each retry, in milliseconds; as many retries as entries.
    pub const fn retry_after_ms(self) -> &'static [u64] {
        self.row().retry_after_ms
    }

    /// Whether an agent stops the action when the retries are used up (contract section 10).
    pub const fn agent_breaks(self) -> bool {
        self.row().agent_breaks
    }

    /// Whether the failure counts for the host's breaker (contract section 10).
    pub const fn counts_for_breaker(self) -> bool {
        self.row().counts_for_breaker
    }
}

struct Row {
    code: &'static str,
    meaning: &'static str,
    action: &'static str,
    retry_after_ms: &'static [u64],
    agent_breaks: bool,
    counts_for_breaker: bool,
}

/// Every `details.reason` of a failure (contract section 8).
pub const REASONS: &[&str] = &[
    "document_changed",
    "focus_lost",
    "invalid_value",
    "newline_in_single_line",
    "no_such_tab",
    "not_a_select",
    "not_delivered",
    "not_editable",
    "not_multiple",
    "not_supported",
    "script_failed",
    "tab_closed",
    "unknown_key",
    "download",
    "network",
    "no_content",
    "no_history",
    "timeout",
    "attached",
    "covered",
    "disabled",
    "hidden",
    "inert",
    "no_option",
    "not_found",
    "outside_viewport",
    "readonly",
    "unstable",
    "visible",
];
