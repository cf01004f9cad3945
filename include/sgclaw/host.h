#ifndef SGCLAW_HOST_H_
#define SGCLAW_HOST_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sgclaw/command.h"
#include "sgclaw/error_code.h"
#include "sgclaw/hmac.h"
#include "sgclaw/policy.h"
#include "sgclaw/registry.h"
#include "sgclaw/time.h"
#include "sgclaw/trace.h"
#include "sgclaw/url_parser.h"

namespace sgclaw {

// Where a session stands (contract section 4).
enum class HostState : uint8_t {
  // Not started.
  kIdle,
  // init is written; a valid init_ack is awaited.
  kHandshaking,
  // Commands are taken.
  kRunning,
  // The end is on its way; lines that come are dropped.
  kStopping,
  // Ended as it should.
  kStopped,
  // Ended otherwise.
  kCrashed,
};

// The name as it stands in the trace, such as "Running".
std::string_view HostStateName(HostState state);

// How the key of a session comes from its seed (contract section 5).
enum class KeyDerivation {
  // HKDF-SHA256.
  kHkdf,
  // The seed is the key, for peers that were built that way.
  kSeed,
};

// The secret of a session: 32 bytes of the system's random source, new for each
// session. Wiped when it goes.
class HmacSeed {
 public:
  explicit HmacSeed(const std::array<uint8_t, 32>& bytes) : bytes_(bytes) {}
  HmacSeed(const HmacSeed&) = default;
  HmacSeed& operator=(const HmacSeed&) = default;
  ~HmacSeed();

 private:
  friend struct Access;

  std::array<uint8_t, 32> bytes_;
};

// Times and limits; the defaults are those of the contract.
struct HostLimits {
  // From init to a valid init_ack (section 4).
  uint64_t handshake_timeout_ms = 5000;
  // Refuse a seq that is not the last one + 1 (section 6).
  bool contiguous_seq = false;
  // Rejections at steps 1 to 6 in a row that end the session (section 4).
  uint32_t max_rejections = 16;
  // Commands in flight, waiting for confirmation included (section 6).
  size_t capacity = 64;
  // Commands that the delegate has at a time: one tab runs one at a time.
  size_t concurrency = 1;
  // How long a person may take to confirm (section 9).
  uint64_t confirmation_timeout_ms = 60000;
  // What the executor gets beyond the command's timeout (section 7).
  uint64_t grace_ms = 1000;
  // From the end of stdin to the next step of a stop (section 4).
  uint64_t stop_grace_ms = 2000;
  // From the request to terminate to the kill (section 4).
  uint64_t terminate_grace_ms = 1000;
  // Answers that may wait before the host stops reading (section 7).
  size_t max_output_bytes = 4 * 1048576;
};

struct HostOptions {
  // The session's name in the trace: letters, digits, '_', '-', at most 64;
  // others are left out.
  std::string session;
  KeyDerivation key_derivation = KeyDerivation::kHkdf;
  // The actions of this host.
  Registry registry = Registry::Standard();
  // What the agent may do. Default: nothing.
  Policy policy;
  // The browser's own. Null: the library's, where it was built with one (cargo
  // feature `url`), else every URL and every domain is refused.
  std::shared_ptr<UrlParser> url_parser;
  // The embedder's own. Null: the library's.
  std::shared_ptr<HmacSha256> hmac;
  HostLimits limits;
};

// What a person is asked (contract section 9).
struct ConfirmationRequest {
  uint64_t seq = 0;
  std::string action;
  std::string expected_domain;
  // For the person's eyes: they may hold typed text.
  std::string params;
};

// The host's side of a session: bytes of an untrusted process go in, commands
// that have earned their execution come out. No I/O, no clock, no thread of its
// own.
//
// Lives on one sequence: every method is called there, and so is the delegate.
// The delegate is called from within the methods, when the host's state is
// settled; it may call any method of the host, and may destroy the host. It
// must not throw. What it causes is told after it has returned, in order, so
// that calls never nest deeper than one. The clock, the URL parser and the HMAC
// are called while the host works: they must not call it.
class Host {
 public:
  class Delegate {
   public:
    virtual ~Delegate() = default;

    // Execute `command` and answer `completion`, now or later. At most
    // HostLimits::concurrency are here at a time; the next comes when one is
    // answered.
    virtual void OnCommand(Command command, Completion completion) = 0;

    // Leave this command: it has been answered. Its completion does nothing
    // any more.
    virtual void OnCancel(uint64_t seq);

    // Bytes wait in Host::output() where none waited before: write them to the
    // child's stdin until output() is empty or the child takes no more, and go
    // on when it does.
    virtual void OnOutputReady() = 0;

    // Call Host::HandleTimeout() at `deadline`; empty: no more at all. Replaces
    // the last deadline. Told again after each HandleTimeout(), so that a timer
    // that fired a little early is set anew.
    virtual void OnDeadlineChanged(std::optional<Time> deadline) = 0;

    // The session entered a state. Worth a line in the log: `message` repeats
    // no secret and no bytes of the peer. `code` is the reason of a crash.
    virtual void OnStateChanged(HostState state,
                                std::optional<ErrorCode> code,
                                std::string_view message);

    // Ask a person, and answer with Host::Confirm().
    virtual void OnConfirmationAsked(const ConfirmationRequest& request) = 0;

    // Take the question down: it was answered, cancelled, or nobody came.
    virtual void OnConfirmationOver(uint64_t seq);

    // An action failed more than 10 times in a row and is off until
    // Host::ResetBreaker().
    virtual void OnBreakerOpened(std::string_view action);

    // Close the child's stdin once the output is written.
    virtual void OnCloseAgentInput() = 0;

    // Ask the child's process group to terminate (SIGTERM).
    virtual void OnTerminateAgent() = 0;

    // Write what output can be written without waiting, then kill the child's
    // process group.
    virtual void OnKillAgent() = 0;

    // One stage of a seq or of the session.
    virtual void OnTraceRecord(const TraceRecord& record);
  };

  // `delegate` and `clock` outlive the host.
  Host(HostOptions options,
       HmacSeed seed,
       Delegate* delegate,
       const Clock* clock);
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;
  // The delegate is not called any more, and completions that are still out do
  // nothing. It does not end the child: Stop() does.
  ~Host();

  // The child runs: writes init. Once; later calls do nothing.
  void Start();

  // Bytes of the child's stdout, split anywhere. Linear in their number.
  void HandleInput(std::string_view bytes);

  // The child's stdout has ended.
  void HandleEndOfInput();

  // Writing to the child's stdin failed: it is closed (EPIPE).
  void HandleOutputClosed();

  // The child has exited and was reaped; what its stdout still held was handed
  // in before.
  void HandleExitCode(int code);
  void HandleExitSignal(int signal);

  // The deadline of Delegate::OnDeadlineChanged() has come.
  void HandleTimeout();

  // The next bytes for the child's stdin, perhaps not all of them; empty where
  // none wait. Valid until the next call that is not const.
  std::string_view output() const;

  // `count` bytes of output() are written.
  void OutputWritten(size_t count);

  // Whether to read from the child's stdout. No while too many answers wait:
  // an agent that does not read cannot make the host's memory grow. Ask again
  // after OutputWritten().
  [[nodiscard]] bool wants_input() const;

  // A person answered Delegate::OnConfirmationAsked().
  void Confirm(uint64_t seq, bool allow);

  // Cancels a command: a person stopped it, or its tab closed. Answered with
  // CMD_CANCELLED.
  void Cancel(uint64_t seq);

  // Puts another policy in force, for the next command and for those that wait.
  void SetPolicy(const Policy& policy);

  // The host of the document that the tab shows now, as UrlParser writes it;
  // empty where it has none. False where it is not a host; the page counts as
  // one without then.
  bool SetPage(std::optional<std::string_view> domain);

  // Lets an action work again whose breaker opened.
  void ResetBreaker(std::string_view action);

  // Ends the session: answers what is in flight with CMD_CANCELLED, closes the
  // child's stdin, terminates it after 2000 ms, kills it after 1000 ms more. It
  // is kStopped when the child has exited.
  void Stop();

  HostState state() const;
  // How many commands are in flight.
  size_t in_flight() const;
  // The actions that both sides know; none before kRunning.
  std::vector<std::string> negotiated_actions() const;

 private:
  class Core;

  // Outlives the host while the delegate destroys it from within a call.
  std::shared_ptr<Core> core_;
};

}  // namespace sgclaw

#endif  // SGCLAW_HOST_H_
