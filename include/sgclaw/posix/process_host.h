#ifndef SGCLAW_POSIX_PROCESS_HOST_H_
#define SGCLAW_POSIX_PROCESS_HOST_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sgclaw/command.h"
#include "sgclaw/host.h"
#include "sgclaw/posix/child_process.h"
#include "sgclaw/posix/fd.h"
#include "sgclaw/posix/wait_set.h"
#include "sgclaw/time.h"
#include "sgclaw/trace.h"

namespace sgclaw::posix {

// A Host wired to a real agent: starts it, moves bytes between the host and the
// agent's pipes without ever waiting, ends it as the contract says (section 4),
// and reaps it. Whatever happens, no process of the agent's group is left.
//
// Lives in one loop around a WaitSet: AddTo() before each wait, Turn() after
// it. The delegate is called from within Turn(), Start() and the methods of
// host(); it may call any of host()'s, but not Turn(), and may not destroy
// this.
class ProcessHost : public Host::Delegate {
 public:
  // How a session ended.
  struct End {
    // kStopped or kCrashed, why it crashed, and a line for the log.
    HostState state = HostState::kCrashed;
    std::optional<ErrorCode> code;
    std::string message;
    // How the agent ended.
    ExitStatus agent;
    // How many bytes of its stderr were dropped: Delegate::OnAgentLine().
    uint64_t dropped_stderr = 0;
  };

  // What is of no concern to processes: as in Host::Delegate.
  class Delegate {
   public:
    virtual ~Delegate() = default;

    virtual void OnCommand(Command command, Completion completion) = 0;
    virtual void OnCancel(uint64_t seq);
    virtual void OnStateChanged(HostState state,
                                std::optional<ErrorCode> code,
                                std::string_view message);
    virtual void OnConfirmationAsked(const ConfirmationRequest& request) = 0;
    virtual void OnConfirmationOver(uint64_t seq);
    virtual void OnBreakerOpened(std::string_view action);
    virtual void OnTraceRecord(const TraceRecord& record);

    // A line of the agent's stderr without its LF, bounded and printable: 1 MiB
    // at once, 64 KiB a second after that, 4096 bytes a line. What exceeds it
    // is read and dropped.
    virtual void OnAgentLine(std::string_view line);

    // The agent is gone and reaped; the last call.
    virtual void OnEnded(const End& end) = 0;
  };

  // `delegate` and `clock` outlive this.
  ProcessHost(HostOptions options,
              HmacSeed seed,
              Delegate* delegate,
              const Clock* clock);
  ~ProcessHost() override;

  // Starts the agent, `argv`, and the session; once. False where it cannot be
  // started, and then nothing has begun; `error` says why.
  [[nodiscard]] bool Start(const std::vector<std::string>& argv,
                           std::string* error);

  // For SetPage() before Start(), and for Confirm(), SetPolicy(), Stop(), ….
  Host& host() { return host_; }

  // What the next Turn() waits for.
  void AddTo(WaitSet* wait_set) const;

  // Moves what can move without waiting.
  void Turn();

  bool ended() const { return ended_; }

 private:
  // The agent's stderr on its way to the delegate.
  class Stderr {
   public:
    void Take(std::string_view bytes, Time now, Delegate* delegate);
    void Finish(Delegate* delegate);
    uint64_t dropped() const { return dropped_; }

   private:
    void Pass(Delegate* delegate);

    std::string line_;
    // Bytes that were passed on and are not made up for by time.
    uint64_t owed_ = 0;
    Time since_;
    uint64_t dropped_ = 0;
  };

  // Host::Delegate:
  void OnCommand(Command command, Completion completion) override;
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

  void ReadAgent();
  void WriteAgent();
  void HandleDeadlines();
  void Reap();
  // Whether `deadline` has come; it is over then.
  bool Take(std::optional<Time>* deadline);

  Delegate* delegate_;
  const Clock* clock_;
  std::optional<ChildProcess> agent_;
  // Our ends; not valid once they are closed.
  ScopedFd stdin_;
  ScopedFd stdout_;
  ScopedFd stderr_;
  Stderr stderr_lines_;
  std::optional<Time> deadline_;
  std::optional<Time> kill_at_;
  std::optional<Time> stdin_fault_at_;
  bool close_stdin_ = false;
  bool ended_ = false;
  End end_;
  // Last, since it calls the rest.
  Host host_;
};

}  // namespace sgclaw::posix

#endif  // SGCLAW_POSIX_PROCESS_HOST_H_
