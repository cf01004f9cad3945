#ifndef SGCLAW_POSIX_DEVTOOLS_PIPE_H_
#define SGCLAW_POSIX_DEVTOOLS_PIPE_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "sgclaw/devtools_executor.h"
#include "sgclaw/posix/fd.h"
#include "sgclaw/posix/wait_set.h"

namespace sgclaw::posix {

// The descriptors at which a Chromium with --remote-debugging-pipe reads
// commands and writes messages.
inline constexpr int kDevToolsCommandsFd = 3;
inline constexpr int kDevToolsMessagesFd = 4;

// DevTools messages over a pair of pipes, each ended by a NUL, as Chromium's
// --remote-debugging-pipe has them. Nothing waits: what the browser does not
// take is kept and written when it does.
//
// Lives in one loop around a WaitSet, as ProcessHost does.
class DevToolsPipe : public DevToolsTransport {
 public:
  // Called from within Turn(); may call Send(), may not destroy the pipe.
  class Delegate {
   public:
    virtual ~Delegate() = default;

    // For DevToolsExecutor::HandleMessage().
    virtual void OnMessage(std::string_view message) = 0;

    // For DevToolsExecutor::HandleDisconnect(): the browser has closed its end,
    // or a message of it is longer than 256 MiB. The last call.
    virtual void OnClosed() = 0;
  };

  // `delegate` outlives the pipe.
  explicit DevToolsPipe(Delegate* delegate);
  ~DevToolsPipe() override;

  // Makes the pipes; once. `commands` and `messages` are the browser's ends,
  // for kDevToolsCommandsFd and kDevToolsMessagesFd, to be closed here when it
  // runs. False where the system has no more; errno says why.
  [[nodiscard]] bool Open(ScopedFd* commands, ScopedFd* messages);

  // DevToolsTransport:
  void Send(std::string_view message) override;

  // What the next Turn() waits for.
  void AddTo(WaitSet* wait_set) const;

  // Writes and reads what can be written and read without waiting, at most
  // 4 MiB of the latter, so that the loop turns.
  void Turn();

 private:
  void Write();
  void Deliver();
  void Close();

  Delegate* delegate_;
  // Not valid once they are closed.
  ScopedFd reader_;
  ScopedFd writer_;
  // What was read and not delivered; nothing up to `scanned_` is a NUL.
  std::string read_;
  size_t scanned_ = 0;
  // What is not written, but for the first `written_` bytes.
  std::string unwritten_;
  size_t written_ = 0;
};

}  // namespace sgclaw::posix

#endif  // SGCLAW_POSIX_DEVTOOLS_PIPE_H_
