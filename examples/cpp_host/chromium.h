#ifndef SGCLAW_EXAMPLES_CPP_HOST_CHROMIUM_H_
#define SGCLAW_EXAMPLES_CPP_HOST_CHROMIUM_H_

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "browser.h"
#include "sgclaw/devtools_executor.h"
#include "sgclaw/posix/child_process.h"
#include "sgclaw/posix/devtools_pipe.h"
#include "signals.h"

namespace cpp_host {

// A directory for the browser's profile that goes when this goes.
class Profile {
 public:
  // False with errno.
  [[nodiscard]] bool Create();
  ~Profile();

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// A Chromium with a fresh profile in a process group of its own, and the
// executor on its DevTools pipe. When this goes, the browser is gone.
class Chromium : public Browser,
                 public sgclaw::DevToolsExecutor::Delegate,
                 public sgclaw::posix::DevToolsPipe::Delegate {
 public:
  struct Options {
    // A path, or a name on PATH; "auto": the first known one on PATH.
    std::string program;
    bool headful = false;
    // What it shows first.
    std::optional<std::string> url;
  };

  // `delegate` and `clock` outlive this.
  Chromium(const sgclaw::Policy& policy,
           Browser::Delegate* delegate,
           const sgclaw::Clock* clock);
  ~Chromium() override;

  // Starts the browser and waits until it takes commands, for its first page
  // too where there is one. False where that fails or a signal asks to stop;
  // `error` says why.
  [[nodiscard]] bool Start(const Options& options,
                           Signals* signals,
                           std::string* error);

  // Browser:
  void Execute(sgclaw::Command command, sgclaw::Completion completion) override;
  void Cancel(uint64_t seq) override;
  void SetPolicy(const sgclaw::Policy& policy) override;
  void AddTo(sgclaw::posix::WaitSet* wait_set) const override;
  void Turn() override;

 private:
  bool Launch(const std::string& program,
              const Options& options,
              std::string* error);
  bool WaitUntilReady(bool for_page, Signals* signals, std::string* error);

  // sgclaw::DevToolsExecutor::Delegate:
  void OnReady() override;
  void OnPageChanged(std::optional<std::string_view> domain) override;
  void OnDisconnected() override;
  void OnDeadlineChanged(std::optional<sgclaw::Time> deadline) override;

  // sgclaw::posix::DevToolsPipe::Delegate:
  void OnMessage(std::string_view message) override;
  void OnClosed() override;

  Browser::Delegate* const delegate_;
  const sgclaw::Clock* const clock_;
  // Before the process, since it goes after it.
  Profile profile_;
  std::optional<sgclaw::posix::ChildProcess> process_;
  std::optional<sgclaw::Time> deadline_;
  bool ready_ = false;
  bool has_page_ = false;
  bool gone_ = false;
  sgclaw::posix::DevToolsPipe pipe_;
  sgclaw::DevToolsExecutor executor_;
};

}  // namespace cpp_host

#endif  // SGCLAW_EXAMPLES_CPP_HOST_CHROMIUM_H_
