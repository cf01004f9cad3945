use super::pointer::sgclaw_str;
use crate::ErrorCode;
use crate::pipe::AgentError;

/// What became of a call. Numbers keep their meaning; those of removed ones are not used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum sgclaw_status {
    /// Done.
    Ok = 0,
    /// Nothing there: the queue is drained, or the index is past the end.
    None = 1,
    /// A pointer is NULL that must not be.
    NullPointer = 2,
    /// A pointer is not aligned for what it points to.
    MisalignedPointer = 3,
    /// The handle is of another kind.
    WrongHandle = 4,
    /// Another call is using the handle: of another thread, or the one that called this callback.
    Busy = 5,
    /// A length is above PTRDIFF_MAX, leads past the end of memory, or is more than there is.
    InvalidLength = 6,
    /// A text is not UTF-8.
    InvalidUtf8 = 7,
    /// A number is none of those that the parameter or the field may have.
    InvalidNumber = 8,
    /// A reserved field is not zero: was the struct initialized, or is the library too old?
    ReservedNotZero = 9,
    /// The call does not belong to the state of the handle.
    WrongState = 10,
    /// No URL parser was given, and the library was built without one of its own.
    NoUrlParser = 11,
    /// The text is not one strict JSON value, or not an object where one is expected.
    InvalidJson = 12,
    /// The text is no name of an action: a letter, then at most 63 letters, digits or '_'.
    InvalidActionName = 13,
    /// The registry has an action of this name.
    ActionExists = 14,
    /// The schema does not compile, or does not say what becomes of further fields.
    InvalidSchema = 15,
    /// The document is not a policy.
    InvalidPolicy = 16,
    /// A seed has 16 to 64 bytes.
    InvalidSeed = 17,
    /// The text is not a host as a browser writes it: lower case, ASCII, no port, no trailing dot.
    InvalidDomain = 18,
    /// The URL parser refuses the URL, or it is relative.
    InvalidUrl = 19,
    /// The agent stopped the action after INTERNAL_* failures; see `sgclaw_agent_reset_action`.
    ActionStopped = 20,
    /// The command would be longer than 1,048,576 bytes.
    TooLarge = 21,
    /// The params nest deeper than 63 levels.
    TooDeep = 22,
    /// The session has used all its seqs.
    SeqExhausted = 23,
}

impl From<AgentError> for sgclaw_status {
    fn from(error: AgentError) -> Self {
        match error {
            AgentError::NotRunning => sgclaw_status::WrongState,
            AgentError::ActionStopped => sgclaw_status::ActionStopped,
            AgentError::TooLarge => sgclaw_status::TooLarge,
            AgentError::TooDeep => sgclaw_status::TooDeep,
            AgentError::SeqExhausted => sgclaw_status::SeqExhausted,
        }
    }
}

/// The outcome of what every function of the interface does.
pub(super) fn answer(call: impl FnOnce() -> Result<(), sgclaw_status>) -> sgclaw_status {
    call().err().unwrap_or(sgclaw_status::Ok)
}

/// Defines the statuses' words, so that each number has them and none has two.
macro_rules! words {
    ($($status:ident: $name:literal, $meaning:literal;)*) => {
        const ALL: &[(sgclaw_status, &str, &str)] = &[$((sgclaw_status::$status, $name, $meaning)),*];

        #[cfg(test)]
        const fn _every_status_has_words(status: sgclaw_status) {
            match status {
                $(sgclaw_status::$status => {})*
            }
        }
    };
}

words! {
    Ok: "OK", "done";
    None: "NONE", "nothing there";
    NullPointer: "NULL_POINTER", "a pointer is NULL that must not be";
    MisalignedPointer: "MISALIGNED_POINTER", "a pointer is not aligned";
    WrongHandle: "WRONG_HANDLE", "the handle is of another kind";
    Busy: "BUSY", "another call is using the handle";
    InvalidLength: "INVALID_LENGTH", "a length is impossible, or more than there is";
    InvalidUtf8: "INVALID_UTF8", "a text is not UTF-8";
    InvalidNumber: "INVALID_NUMBER", "a number is none of those allowed";
    ReservedNotZero: "RESERVED_NOT_ZERO", "a reserved field is not zero";
    WrongState: "WRONG_STATE", "the call does not belong to the state of the handle";
    NoUrlParser: "NO_URL_PARSER", "the library has no URL parser of its own: give it one";
    InvalidJson: "INVALID_JSON", "not strict JSON, or not an object";
    InvalidActionName: "INVALID_ACTION_NAME", "not the name of an action";
    ActionExists: "ACTION_EXISTS", "the registry has an action of this name";
    InvalidSchema: "INVALID_SCHEMA", "the schema does not compile or is not closed";
    InvalidPolicy: "INVALID_POLICY", "the document is not a policy";
    InvalidSeed: "INVALID_SEED", "a seed has 16 to 64 bytes";
    InvalidDomain: "INVALID_DOMAIN", "not a host as a browser writes it";
    InvalidUrl: "INVALID_URL", "the URL parser refuses the URL";
    ActionStopped: "ACTION_STOPPED", "the agent stopped the action; reset it first";
    TooLarge: "TOO_LARGE", "the command would be longer than 1,048,576 bytes";
    TooDeep: "TOO_DEEP", "the params nest deeper than 63 levels";
    SeqExhausted: "SEQ_EXHAUSTED", "the session has used all its seqs";
}

fn words(status: u32) -> Option<&'static (sgclaw_status, &'static str, &'static str)> {
    ALL.iter().find(|(number, ..)| *number as u32 == status)
}

/// The name of a `sgclaw_status`, such as "NULL_POINTER"; empty for other numbers.
#[unsafe(no_mangle)]
pub extern "C" fn sgclaw_status_name(status: u32) -> sgclaw_str {
    words(status).map(|(_, name, _)| (*name).into()).unwrap_or_default()
}

/// What a `sgclaw_status` says, for a log; empty for other numbers.
#[unsafe(no_mangle)]
pub extern "C" fn sgclaw_status_meaning(status: u32) -> sgclaw_str {
    words(status).map(|(_, _, meaning)| (*meaning).into()).unwrap_or_default()
}

/// The code as it stands on the wire, such as "CMD_TIMEOUT"; empty for a number that is no code.
#[unsafe(no_mangle)]
pub extern "C" fn sgclaw_error_code_name(code: u32) -> sgclaw_str {
    error_code(code).map(|code| code.as_str().into()).unwrap_or_default()
}

/// What the code says, in one sentence; empty for a number that is no code.
#[unsafe(no_mangle)]
pub extern "C" fn sgclaw_error_code_meaning(code: u32) -> sgclaw_str {
    error_code(code).map(|code| code.meaning().into()).unwrap_or_default()
}

pub(super) fn error_code(number: u32) -> Result<ErrorCode, sgclaw_status> {
    let code = u8::try_from(number).ok().and_then(ErrorCode::from_number);
    code.ok_or(sgclaw_status::InvalidNumber)
}

/// The number of a code, 0 where there is none.
pub(super) fn number(code: Option<ErrorCode>) -> u32 {
    code.map_or(0, |code| code.number().into())
}
