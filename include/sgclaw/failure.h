#ifndef SGCLAW_FAILURE_H_
#define SGCLAW_FAILURE_H_

#include <string>

#include "sgclaw/error_code.h"

namespace sgclaw {

// Why a command failed: what stands in the `error` of a response.
struct Failure {
  ErrorCode code = ErrorCode::kInternalUnknown;
  // For people. It repeats no secret, no typed text and no bytes of the peer.
  std::string message;
  // A JSON object for programs, such as {"reason":"…"} (contract section 8), or
  // empty.
  std::string details;
};

}  // namespace sgclaw

#endif  // SGCLAW_FAILURE_H_
