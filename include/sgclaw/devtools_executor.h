#ifndef SGCLAW_DEVTOOLS_EXECUTOR_H_
#define SGCLAW_DEVTOOLS_EXECUTOR_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "sgclaw/command.h"
#include "sgclaw/policy.h"
#include "sgclaw/time.h"
#include "sgclaw/url_parser.h"

namespace sgclaw {

// The browser's side of a DevTools connection to the browser target, such as
// --remote-debugging-pipe or content::DevToolsAgentHost::CreateForBrowser().
class DevToolsTransport {
 public:
  virtual ~DevToolsTransport() = default;

  // One message: a JSON text without framing, valid during the call. Never
  // blocks: what the browser does not take yet is kept.
  virtual void Send(std::string_view message) = 0;
};

// Carries commands out in a Chromium over DevTools messages (contract section
// 8), one at a time, in the order in which they came. Serves one host, since it
// tells commands apart by their seq. No I/O and no clock of its own; on one
// sequence and re-entrant as Host is.
class DevToolsExecutor {
 public:
  struct Options {
    // What each command is checked against again right before it acts. The same
    // as the host's.
    Policy policy;
    // As HostOptions::url_parser.
    std::shared_ptr<UrlParser> url_parser;
    // Commands that wait for their turn, at most; one more is answered
    // INTERNAL_OVERLOADED.
    size_t max_waiting = 64;
    // Whether the transport is the session of one page, as DevToolsAgentHost
    // gives it for a WebContents, instead of the browser's. That page is then
    // the only tab there is; the browser keeps it from opening windows and
    // refuses its downloads.
    bool one_page = false;
  };

  class Delegate {
   public:
    virtual ~Delegate() = default;

    // The first tab is attached; commands that waited begin.
    virtual void OnReady() {}

    // The tab shows a document of another host, or of none (about:blank, file:,
    // an opaque origin, an error page, no tab at all). For Host::SetPage().
    virtual void OnPageChanged(std::optional<std::string_view> domain) = 0;

    // The browser is gone; nothing will be executed any more.
    virtual void OnDisconnected() {}

    // As Host::Delegate::OnDeadlineChanged().
    virtual void OnDeadlineChanged(std::optional<Time> deadline) = 0;
  };

  // `transport`, `delegate` and `clock` outlive the executor.
  DevToolsExecutor(Options options,
                   DevToolsTransport* transport,
                   Delegate* delegate,
                   const Clock* clock);
  DevToolsExecutor(const DevToolsExecutor&) = delete;
  DevToolsExecutor& operator=(const DevToolsExecutor&) = delete;
  // Commands that it has are answered INTERNAL_EXECUTOR_GONE.
  ~DevToolsExecutor();

  // Attaches to the first tab, or opens one; Delegate::OnReady() follows.
  void Start();

  // One message of the browser, without framing. What is no answer to anything
  // is ignored.
  void HandleMessage(std::string_view message);

  // The browser is gone. Every command that is here, and every later one, is
  // answered INTERNAL_EXECUTOR_GONE.
  void HandleDisconnect();

  // The deadline of Delegate::OnDeadlineChanged() has come.
  void HandleTimeout();

  // From Host::Delegate::OnCommand(). Its time runs from now; it is answered no
  // later than 400 ms after that.
  void Execute(Command command, Completion completion);

  // From Host::Delegate::OnCancel(): what the command has not done yet it will
  // not do.
  void Cancel(uint64_t seq);

  // After Host::SetPolicy().
  void SetPolicy(const Policy& policy);

 private:
  class Core;

  std::shared_ptr<Core> core_;
};

}  // namespace sgclaw

#endif  // SGCLAW_DEVTOOLS_EXECUTOR_H_
