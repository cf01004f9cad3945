#ifndef SGCLAW_COMMAND_H_
#define SGCLAW_COMMAND_H_

#include <cstdint>
#include <memory>
#include <string_view>

#include "sgclaw/failure.h"

namespace sgclaw {

namespace ffi {
struct CommandCore;
}  // namespace ffi

// A command that has passed every check of the contract (section 6): framing,
// JSON, schema, HMAC, sequence, params, policy. There is no other way to make
// one. Move-only; empty once it was moved from.
class Command {
 public:
  Command(Command&& other) noexcept;
  Command& operator=(Command&& other) noexcept;
  ~Command();

  uint64_t seq() const;
  // The views are valid as long as the command is here.
  std::string_view action() const;
  // A JSON object that satisfies the action's schema, in canonical form
  // (contract section 5).
  std::string_view params() const;
  // The host that the document acted upon must have. Compare it again right
  // before acting: pages navigate.
  std::string_view expected_domain() const;
  // How long the executor may take, in microseconds: params.timeout_ms, else
  // 30 s.
  uint64_t timeout_us() const;

 private:
  friend struct Access;

  explicit Command(ffi::CommandCore* core) : core_(core) {}

  // Null after a move alone.
  ffi::CommandCore* core_;
};

// Where the outcome of a command goes. Host is one; tests can have their own.
class CompletionSink {
 public:
  virtual ~CompletionSink() = default;

  virtual void OnSuccess(uint64_t seq, std::string_view data) = 0;
  virtual void OnFailure(uint64_t seq, const Failure& failure) = 0;
  // The completion went without an answer.
  virtual void OnDropped(uint64_t seq) = 0;
};

// The duty to answer a command, exactly once. Move-only.
//
// Whoever drops it unanswered has answered INTERNAL_EXECUTOR_GONE. After the
// command has ended otherwise (deadline, cancellation, end of the session,
// destruction of the host) an answer changes nothing; the trace tells of it.
//
// An answer, and so the destructor too, calls the host, which may call its
// delegate before it returns, such as with the next command. Whoever keeps
// completions in a container moves them out of it first: std::exchange()
// instead of clear().
class Completion {
 public:
  Completion(std::weak_ptr<CompletionSink> sink, uint64_t seq);
  Completion(Completion&& other) noexcept;
  // Drops what was here first.
  Completion& operator=(Completion&& other) noexcept;
  ~Completion();

  uint64_t seq() const { return seq_; }

  // False once it was answered or moved from.
  explicit operator bool() const { return pending_; }

  // `data` is a JSON object, the action's result (contract section 8). Where it
  // is none, the command is answered INTERNAL_UNKNOWN.
  void Succeed(std::string_view data = "{}");

  // Details that are not a JSON object are left out.
  void Fail(const Failure& failure);
  void Fail(ErrorCode code, std::string_view message);

 private:
  std::shared_ptr<CompletionSink> Take();

  std::weak_ptr<CompletionSink> sink_;
  uint64_t seq_;
  bool pending_ = true;
};

}  // namespace sgclaw

#endif  // SGCLAW_COMMAND_H_
