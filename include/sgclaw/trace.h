#ifndef SGCLAW_TRACE_H_
#define SGCLAW_TRACE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sgclaw/error_code.h"
#include "sgclaw/time.h"

namespace sgclaw {

namespace ffi {
struct HostCore;
}  // namespace ffi

// What happened to a seq (contract section 11).
enum class TraceStage : uint8_t {
  // The session entered a state.
  kState,
  // A line came.
  kReceived,
  // Its HMAC and its seq are good.
  kVerified,
  // Its action, params and the policy are good.
  kAuthorized,
  // A person is asked.
  kConfirming,
  // It was given to the executor.
  kDispatched,
  // The executor is done with it.
  kCompleted,
  // A response was written.
  kResponded,
  // A line failed at steps 1 to 6.
  kRejected,
  // A line or a completion that came too late changed nothing.
  kDropped,
  // The executor was told to leave it.
  kCancelled,
  // The breaker of its action opened.
  kBreakerOpened,
};

// One stage of a seq, or of the session. A view: valid during
// Host::Delegate::OnTraceRecord() alone.
//
// It holds numbers, names that the host registered and words of the contract:
// nothing that a peer or a page wrote.
class TraceRecord {
 public:
  TraceRecord(const TraceRecord&) = delete;
  TraceRecord& operator=(const TraceRecord&) = delete;

  Time time() const;
  // 0 where the line's seq cannot be told, and for the session itself.
  uint64_t seq() const;
  TraceStage stage() const;
  // Empty where the host has not registered it.
  std::string_view action() const;
  std::optional<ErrorCode> code() const;

  // The whole record as one line of JSON with its LF
  // (schemas/pipe/1.0/trace.schema.json).
  std::string ToJsonLine() const;

 private:
  friend struct Access;

  explicit TraceRecord(const ffi::HostCore& core) : core_(core) {}

  const ffi::HostCore& core_;
};

}  // namespace sgclaw

#endif  // SGCLAW_TRACE_H_
