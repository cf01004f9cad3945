#ifndef SGCLAW_EXAMPLES_CPP_HOST_SESSION_H_
#define SGCLAW_EXAMPLES_CPP_HOST_SESSION_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "browser.h"
#include "clock.h"
#include "confirmations.h"
#include "log.h"
#include "options.h"
#include "sgclaw/policy.h"
#include "sgclaw/posix/process_host.h"
#include "signals.h"

namespace cpp_host {

// The policy in `file`; loopback alone where none was given (contract section
// 9). Empty where it cannot be had; `error` says why.
std::optional<sgclaw::Policy> ReadPolicy(const std::optional<std::string>& file,
                                         std::string* error);

// One agent and one browser, from start to end.
class Session : public sgclaw::posix::ProcessHost::Delegate,
                public Browser::Delegate {
 public:
  // How it ended, for the last line of the log.
  struct Ended {
    sgclaw::HostState state = sgclaw::HostState::kCrashed;
    std::optional<sgclaw::ErrorCode> code;
    std::string message;
  };

  Session(const Options& options,
          sgclaw::Policy policy,
          std::optional<TraceFile> trace);
  ~Session() override;

  // Runs it to its end. The agent is gone then, and reaped.
  Ended Run();

 private:
  bool StartBrowser();
  bool StartAgent();
  void Loop();
  void ReloadPolicy();
  // False, for the caller's convenience.
  bool Crash(sgclaw::ErrorCode code, std::string message);

  // sgclaw::posix::ProcessHost::Delegate:
  void OnCommand(sgclaw::Command command,
                 sgclaw::Completion completion) override;
  void OnCancel(uint64_t seq) override;
  void OnStateChanged(sgclaw::HostState state,
                      std::optional<sgclaw::ErrorCode> code,
                      std::string_view message) override;
  void OnConfirmationAsked(const sgclaw::ConfirmationRequest& request) override;
  void OnConfirmationOver(uint64_t seq) override;
  void OnBreakerOpened(std::string_view action) override;
  void OnTraceRecord(const sgclaw::TraceRecord& record) override;
  void OnAgentLine(std::string_view line) override;
  void OnEnded(const sgclaw::posix::ProcessHost::End& end) override;

  // Browser::Delegate:
  void OnPageChanged(std::optional<std::string_view> domain) override;
  void OnBrowserGone() override;

  const Options& options_;
  const sgclaw::Policy policy_;
  std::optional<TraceFile> trace_;
  const WallClock clock_;
  Signals signals_;
  Confirmations confirmations_;
  Ended ended_;
  // The browser's commands are answered to the host: it goes first.
  std::optional<sgclaw::posix::ProcessHost> host_;
  std::unique_ptr<Browser> browser_;
};

}  // namespace cpp_host

#endif  // SGCLAW_EXAMPLES_CPP_HOST_SESSION_H_
