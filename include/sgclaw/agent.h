#ifndef SGCLAW_AGENT_H_
#define SGCLAW_AGENT_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "sgclaw/failure.h"
#include "sgclaw/host.h"
#include "sgclaw/registry.h"
#include "sgclaw/time.h"
#include "sgclaw/url_parser.h"

namespace sgclaw {

// What became of Agent::Request().
enum class RequestStatus : uint8_t {
  // The callback will be called, once.
  kSent,
  // The handshake is not done, or the session is over. Nothing was sent, here
  // and below, and the callback will not be called.
  kNotRunning,
  // The action was stopped after INTERNAL_* failures: Agent::ResetAction().
  kActionStopped,
  // The command would be longer than 1,048,576 bytes.
  kTooLarge,
  // The params nest deeper than 63 levels.
  kTooDeep,
  // All seqs are used.
  kSeqExhausted,
  // The action's name is none: a letter, then at most 63 letters, digits, '_'.
  kInvalidAction,
  // The params are not one strict JSON object.
  kInvalidParams,
  // The domain is not a lower-case ASCII host as the URL parser writes it.
  kInvalidDomain,
};

// How a request ended, for good: retries are over.
struct AgentResult {
  // Of the last attempt.
  uint64_t seq = 0;
  // How many commands it took.
  uint32_t attempts = 0;
  // Empty where the request succeeded.
  std::optional<Failure> failure;
  // The response's data, a JSON object; empty where it has none.
  std::string data;
};

struct AgentOptions {
  // A UUID of version 4.
  std::string agent_id;
  // The actions that it may ask for: their names are its supported_actions.
  Registry registry = Registry::Standard();
  KeyDerivation key_derivation = KeyDerivation::kHkdf;
  // As HostOptions::url_parser.
  std::shared_ptr<UrlParser> url_parser;
};

// The agent's side of a session: numbers, signs, correlates and retries
// (contract sections 4, 5 and 10). On one sequence and re-entrant as Host is.
class Agent {
 public:
  class Delegate {
   public:
    virtual ~Delegate() = default;

    // The handshake is done; Agent::Request() works.
    virtual void OnReady() = 0;

    // Bytes wait in Agent::output() where none waited before.
    virtual void OnOutputReady() = 0;

    // As Host::Delegate::OnDeadlineChanged().
    virtual void OnDeadlineChanged(std::optional<Time> deadline) = 0;

    // An action failed with INTERNAL_* after its retry and is refused until
    // Agent::ResetAction().
    virtual void OnActionStopped(std::string_view action);

    // Worth a line in the agent's log; it concerns no request.
    virtual void OnLog(std::string_view line);

    // The session is over; requests that waited were answered with PIPE_CLOSED.
    // Without a failure the agent exits with 0, else with another status.
    virtual void OnEnded(const std::optional<Failure>& failure) = 0;
  };

  // It may be empty where nobody cares.
  using ResultCallback = std::function<void(AgentResult result)>;

  // `delegate` and `clock` outlive the agent.
  Agent(AgentOptions options, Delegate* delegate, const Clock* clock);
  Agent(const Agent&) = delete;
  Agent& operator=(const Agent&) = delete;
  // Callbacks that wait are not called any more.
  ~Agent();

  // Asks for an action; `params` is a JSON object in any form. Where the
  // delegate carries bytes at once, `callback` may be called before this
  // returns.
  [[nodiscard]] RequestStatus Request(std::string_view action,
                                      std::string_view params,
                                      std::string_view expected_domain,
                                      ResultCallback callback);

  // Bytes of the host, split anywhere.
  void HandleInput(std::string_view bytes);

  // The host closed the pipe.
  void HandleEndOfInput();

  // The deadline of Delegate::OnDeadlineChanged() has come.
  void HandleTimeout();

  // As Host::output().
  std::string_view output() const;

  // `count` bytes of output() are written.
  void OutputWritten(size_t count);

  // Lets an action be asked for again that was stopped.
  void ResetAction(std::string_view action);

  // How many requests wait for their answer or their retry.
  size_t in_flight() const;

 private:
  class Core;

  std::shared_ptr<Core> core_;
};

}  // namespace sgclaw

#endif  // SGCLAW_AGENT_H_
