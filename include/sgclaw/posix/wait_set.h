#ifndef SGCLAW_POSIX_WAIT_SET_H_
#define SGCLAW_POSIX_WAIT_SET_H_

#include <poll.h>

#include <optional>
#include <vector>

#include "sgclaw/time.h"

namespace sgclaw::posix {

// What one turn of a loop waits for. Whoever takes part in the loop adds what
// it needs before each wait and looks for itself afterwards: nothing is
// registered, so nothing can be forgotten when a descriptor goes. A program
// with a loop of its own watches fds() and deadline() with that.
class WaitSet {
 public:
  // Descriptors below 0 are left out.
  void WaitToRead(int fd);
  void WaitToWrite(int fd);
  // The earliest counts; an empty one is none.
  void WaitUntil(std::optional<Time> deadline);

  // Waits with poll(2) until a descriptor is ready or at its end, the deadline
  // has come, or a signal was handled. False where poll failed; errno says why.
  [[nodiscard]] bool Wait(const Clock& clock);

  const std::vector<pollfd>& fds() const { return fds_; }
  std::optional<Time> deadline() const { return deadline_; }

 private:
  std::vector<pollfd> fds_;
  std::optional<Time> deadline_;
};

}  // namespace sgclaw::posix

#endif  // SGCLAW_POSIX_WAIT_SET_H_
