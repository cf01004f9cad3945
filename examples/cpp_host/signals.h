#ifndef SGCLAW_EXAMPLES_CPP_HOST_SIGNALS_H_
#define SGCLAW_EXAMPLES_CPP_HOST_SIGNALS_H_

#include "sgclaw/posix/fd.h"
#include "sgclaw/posix/wait_set.h"

namespace cpp_host {

// The signals that a host cares for, as bytes in a pipe that poll can wait for.
// One of its kind in a process.
class Signals {
 public:
  // What came since the last look.
  struct Seen {
    // SIGINT or SIGTERM.
    bool stop = false;
    // SIGHUP.
    bool reload = false;
  };

  // From now on these signals do nothing but tell. False with errno.
  [[nodiscard]] bool Register();

  void AddTo(sgclaw::posix::WaitSet* wait_set) const;
  Seen Take();

 private:
  sgclaw::posix::ScopedFd reader_;
  sgclaw::posix::ScopedFd writer_;
};

}  // namespace cpp_host

#endif  // SGCLAW_EXAMPLES_CPP_HOST_SIGNALS_H_
