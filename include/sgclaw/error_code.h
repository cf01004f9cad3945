// Generated from schemas/pipe/1.0/errors.json by `cargo xtask generate`.
// Do not edit.

#ifndef SGCLAW_ERROR_CODE_H_
#define SGCLAW_ERROR_CODE_H_

#include <cstdint>
#include <string_view>

namespace sgclaw {

// The error codes of the pipe contract, sections 6 to 10. A number is never
// given to another code.
enum class ErrorCode : uint8_t {
  // The line is not one strict JSON object in UTF-8.
  kPipeInvalidJson = 1,
  // The line is longer than 1,048,576 bytes.
  kPipeMessageTooLarge = 2,
  // A field of the message is missing, unknown or of the wrong shape.
  kPipeSchemaInvalid = 3,
  // The message does not belong to this direction or this state.
  kPipeUnexpectedMessage = 4,
  // security.hmac is missing, ill-formed or does not match.
  kPipeHmacInvalid = 5,
  // The seq was used in this session. The answer speaks of the duplicate, never
  // of the original.
  kPipeSeqDuplicate = 6,
  // The seq is not above the last one, or the first is not 1.
  kPipeSeqOutOfOrder = 7,
  // No valid init_ack came within 5000 ms.
  kPipeHandshakeTimeout = 8,
  // The two sides speak different versions.
  kPipeVersionMismatch = 9,
  // The agent ended, or closed its side of the pipe.
  kPipeClosed = 10,
  // security.expected_domain is missing or is not a lower-case ASCII host.
  kMacExpectedDomainInvalid = 11,
  // The action was not negotiated, or the policy does not allow it on this
  // domain.
  kMacActionDenied = 12,
  // The policy does not allow the scheme of the URL.
  kMacUrlDenied = 13,
  // The policy does not know the domain.
  kMacDomainDenied = 14,
  // The document acted upon is not on expected_domain.
  kMacDomainMismatch = 15,
  // A person refused the command.
  kMacConfirmationDenied = 16,
  // Nobody confirmed the command in time.
  kMacConfirmationTimeout = 17,
  // The host has no such action.
  kCmdActionUnknown = 18,
  // The params do not satisfy the schema of the action; details.errors says
  // where.
  kCmdParamsInvalid = 19,
  // The selector is not CSS.
  kCmdSelectorInvalid = 20,
  // The element was not there, or not ready for the action, in time;
  // details.reason says why.
  kCmdSelectorTimeout = 21,
  // The navigation did not arrive; details.reason says why.
  kCmdNavigationFailed = 22,
  // The command was not completed by its deadline.
  kCmdTimeout = 23,
  // The host cancelled the command: a person stopped it, or its tab closed.
  kCmdCancelled = 24,
  // The result does not fit into a message.
  kCmdResultTooLarge = 25,
  // The action could not be carried out on this element; details.reason says
  // why.
  kCmdExecutionFailed = 26,
  // The renderer of the page died.
  kCmdPageCrashed = 27,
  // The host failed in a way it has no name for.
  kInternalUnknown = 28,
  // The action failed more than 10 times in a row and is switched off.
  kInternalCircuitOpen = 29,
  // Too many commands are in flight.
  kInternalOverloaded = 30,
  // What executes the commands (the browser) is gone.
  kInternalExecutorGone = 31,
};

// The code as it stands on the wire, such as "PIPE_INVALID_JSON"; empty for a
// number that is no code.
constexpr std::string_view ErrorCodeName(ErrorCode code) {
  switch (code) {
    case ErrorCode::kPipeInvalidJson:
      return "PIPE_INVALID_JSON";
    case ErrorCode::kPipeMessageTooLarge:
      return "PIPE_MESSAGE_TOO_LARGE";
    case ErrorCode::kPipeSchemaInvalid:
      return "PIPE_SCHEMA_INVALID";
    case ErrorCode::kPipeUnexpectedMessage:
      return "PIPE_UNEXPECTED_MESSAGE";
    case ErrorCode::kPipeHmacInvalid:
      return "PIPE_HMAC_INVALID";
    case ErrorCode::kPipeSeqDuplicate:
      return "PIPE_SEQ_DUPLICATE";
    case ErrorCode::kPipeSeqOutOfOrder:
      return "PIPE_SEQ_OUT_OF_ORDER";
    case ErrorCode::kPipeHandshakeTimeout:
      return "PIPE_HANDSHAKE_TIMEOUT";
    case ErrorCode::kPipeVersionMismatch:
      return "PIPE_VERSION_MISMATCH";
    case ErrorCode::kPipeClosed:
      return "PIPE_CLOSED";
    case ErrorCode::kMacExpectedDomainInvalid:
      return "MAC_EXPECTED_DOMAIN_INVALID";
    case ErrorCode::kMacActionDenied:
      return "MAC_ACTION_DENIED";
    case ErrorCode::kMacUrlDenied:
      return "MAC_URL_DENIED";
    case ErrorCode::kMacDomainDenied:
      return "MAC_DOMAIN_DENIED";
    case ErrorCode::kMacDomainMismatch:
      return "MAC_DOMAIN_MISMATCH";
    case ErrorCode::kMacConfirmationDenied:
      return "MAC_CONFIRMATION_DENIED";
    case ErrorCode::kMacConfirmationTimeout:
      return "MAC_CONFIRMATION_TIMEOUT";
    case ErrorCode::kCmdActionUnknown:
      return "CMD_ACTION_UNKNOWN";
    case ErrorCode::kCmdParamsInvalid:
      return "CMD_PARAMS_INVALID";
    case ErrorCode::kCmdSelectorInvalid:
      return "CMD_SELECTOR_INVALID";
    case ErrorCode::kCmdSelectorTimeout:
      return "CMD_SELECTOR_TIMEOUT";
    case ErrorCode::kCmdNavigationFailed:
      return "CMD_NAVIGATION_FAILED";
    case ErrorCode::kCmdTimeout:
      return "CMD_TIMEOUT";
    case ErrorCode::kCmdCancelled:
      return "CMD_CANCELLED";
    case ErrorCode::kCmdResultTooLarge:
      return "CMD_RESULT_TOO_LARGE";
    case ErrorCode::kCmdExecutionFailed:
      return "CMD_EXECUTION_FAILED";
    case ErrorCode::kCmdPageCrashed:
      return "CMD_PAGE_CRASHED";
    case ErrorCode::kInternalUnknown:
      return "INTERNAL_UNKNOWN";
    case ErrorCode::kInternalCircuitOpen:
      return "INTERNAL_CIRCUIT_OPEN";
    case ErrorCode::kInternalOverloaded:
      return "INTERNAL_OVERLOADED";
    case ErrorCode::kInternalExecutorGone:
      return "INTERNAL_EXECUTOR_GONE";
  }
  return std::string_view();
}

}  // namespace sgclaw

#endif  // SGCLAW_ERROR_CODE_H_
