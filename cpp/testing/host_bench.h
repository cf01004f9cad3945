#ifndef SGCLAW_CPP_TESTING_HOST_BENCH_H_
#define SGCLAW_CPP_TESTING_HOST_BENCH_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sgclaw/agent.h"
#include "sgclaw/host.h"

namespace sgclaw::testing {

inline constexpr std::string_view kDomain = "erp.example.com";
inline constexpr std::string_view kClick = R"({"selector":"#a"})";

// Not UTF-8 in any part: a lone continuation byte, a cut sequence, a surrogate.
inline constexpr std::string_view kNotUtf8 = "\x80\xff\xe4\xbd\xed\xa0\x80";

// Time that the test moves.
class TestClock : public Clock {
 public:
  Time Now() const override { return now_; }
  void Set(Time now) { now_ = now; }
  void AdvanceMs(uint64_t ms) {
    now_ = Time::FromMicroseconds(now_.InMicroseconds() + ms * 1000);
  }

 private:
  Time now_ = Time::FromMilliseconds(1000);
};

// What a one-shot timer of the embedder does with OnDeadlineChanged(): it is
// gone once it has fired.
using Timer = std::optional<Time>;

// The string or number behind "name": in a line of JSON; empty where there is
// none. The first one counts, and nesting does not.
std::string Field(std::string_view json, std::string_view name);

// "3 ok" or "3 PIPE_HMAC_INVALID".
std::string Summary(std::string_view response);

// Every command of an agent as a line, for a test that wants to bend it.
class Signer : public Agent::Delegate {
 public:
  explicit Signer(KeyDerivation key_derivation = KeyDerivation::kHkdf);

  // The answer to the host's init.
  std::string Ack(std::string_view init);

  // The next command, signed, with its LF. Empty before Ack().
  std::string Sign(std::string_view action,
                   std::string_view params,
                   std::string_view domain = kDomain);

 private:
  void OnReady() override {}
  void OnOutputReady() override {}
  void OnDeadlineChanged(std::optional<Time>) override {}
  void OnEnded(const std::optional<Failure>&) override {}

  std::string TakeOutput();

  TestClock clock_;
  std::unique_ptr<Agent> agent_;
};

// Which method of the delegate runs.
enum class Callback {
  kCommand,
  kCancel,
  kOutputReady,
  kDeadlineChanged,
  kStateChanged,
  kConfirmationAsked,
  kConfirmationOver,
  kBreakerOpened,
  kCloseAgentInput,
  kTerminateAgent,
  kKillAgent,
  kTraceRecord,
};
inline constexpr int kCallbacks = 12;

// A host, its child (the test), and everything that came out of it.
class HostBench : public Host::Delegate {
 public:
  // Every action on kDomain; getText on read.example.com; hover is confirmed.
  static HostOptions Options();
  static HmacSeed Seed();

  explicit HostBench(HostOptions options = Options());
  ~HostBench() override;

  // Starts the host and does the handshake.
  void Run();

  // One command that the child writes.
  void Command(std::string_view action,
               std::string_view params = kClick,
               std::string_view domain = kDomain);
  void Click() { Command("click"); }

  // Answers a command that is being executed.
  void Succeed(uint64_t seq, std::string_view data = "{}");
  void Fail(uint64_t seq, ErrorCode code);

  // Drops all commands that are being executed, without an answer.
  void Drop() { std::exchange(executing, {}); }

  // Time passes; the timer fires when it is due.
  void WaitMs(uint64_t ms);

  // The events since this was last asked: "execute 1", "Crashed PIPE_CLOSED".
  std::vector<std::string> TakeEvents() { return std::exchange(events, {}); }
  // The answers since this was last asked, as Summary() writes them.
  std::vector<std::string> TakeAnswers();

  TestClock clock;
  Signer signer;
  Timer timer;
  std::vector<std::string> events;
  // What the host wrote, line by line.
  std::vector<std::string> written;
  std::vector<std::string> trace;
  std::vector<std::string> log;
  std::map<uint64_t, std::pair<sgclaw::Command, Completion>> executing;
  // The child does not read.
  bool unread = false;
  // Called at the end of each method of the delegate.
  std::function<void(Callback)> hook;
  // Empty once a test has destroyed it.
  std::unique_ptr<Host> host;

 private:
  // Host::Delegate:
  void OnCommand(sgclaw::Command command, Completion completion) override;
  void OnCancel(uint64_t seq) override;
  void OnOutputReady() override;
  void OnDeadlineChanged(std::optional<Time> deadline) override;
  void OnStateChanged(HostState state,
                      std::optional<ErrorCode> code,
                      std::string_view message) override;
  void OnConfirmationAsked(const ConfirmationRequest& request) override;
  void OnConfirmationOver(uint64_t seq) override;
  void OnBreakerOpened(std::string_view action) override;
  void OnCloseAgentInput() override;
  void OnTerminateAgent() override;
  void OnKillAgent() override;
  void OnTraceRecord(const TraceRecord& record) override;

  void Called(Callback callback);

  std::string line_;
  size_t answers_taken_ = 0;
};

}  // namespace sgclaw::testing

#endif  // SGCLAW_CPP_TESTING_HOST_BENCH_H_
