#ifndef SGCLAW_POSIX_CHILD_PROCESS_H_
#define SGCLAW_POSIX_CHILD_PROCESS_H_

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "sgclaw/posix/fd.h"
#include "sgclaw/posix/wait_set.h"
#include "sgclaw/time.h"

namespace sgclaw::posix {

// How a process ended.
struct ExitStatus {
  bool by_signal = false;
  // The number of the signal, else what the process exited with; -1 where
  // somebody else has reaped it and nobody can tell.
  int value = 0;

  // For a log: "exited with status 1", "was ended by signal 9".
  std::string ToString() const;
};

// What a child finds at one of its descriptors.
struct FdMapping {
  int child_fd;
  // Lent for the call.
  int our_fd;
};

// A child that leads a process group of its own, so that what it starts can be
// ended with it. When this goes the group is killed and the child reaped.
//
// The process must not reap children of others (waitpid(-1), SIGCHLD ignored).
// It should ignore SIGPIPE, as browsers do; where SIGPIPE still has its default
// action, Spawn() makes it ignored, since a child that dies must not end its
// parent. The child gets default actions and an empty signal mask.
class ChildProcess {
 public:
  // Starts `argv`, its first element looked up on PATH, with our environment
  // and `fds`; no other descriptor is passed on where the system can promise it
  // (glibc 2.34). Empty where it cannot be started; `error` says why.
  static std::optional<ChildProcess> Spawn(const std::vector<std::string>& argv,
                                           const std::vector<FdMapping>& fds,
                                           std::string* error);

  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&&) = delete;
  ~ChildProcess();

  // Also the number of the group.
  pid_t pid() const { return pid_; }

  // Sends `signal` to the whole group; nothing once the child was reaped.
  void SignalGroup(int signal) const;

  // Where the child has exited: kills what is left of its group, reaps it, and
  // says how it ended; once. Never waits.
  std::optional<ExitStatus> TryReap();

  // Wakes the loop when TryReap() will have an answer.
  void AddTo(WaitSet* wait_set, Time now) const;

 private:
  explicit ChildProcess(pid_t pid);

  // -1 once it was reaped or moved from.
  pid_t pid_;
  // Readable when the child has exited. Not every system has one.
  ScopedFd pidfd_;
};

}  // namespace sgclaw::posix

#endif  // SGCLAW_POSIX_CHILD_PROCESS_H_
