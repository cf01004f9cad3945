#include "sgclaw/posix/wait_set.h"

#include <errno.h>

#include <algorithm>

namespace sgclaw::posix {

namespace {

constexpr int kForever = -1;
// A longer wait is cut: the loop turns once more and waits again.
constexpr uint64_t kLongestWaitMs = 60000;

int Timeout(std::optional<Time> deadline, const Clock& clock) {
  if (!deadline)
    return kForever;
  Time now = clock.Now();
  if (*deadline <= now)
    return 0;
  uint64_t microseconds = deadline->InMicroseconds() - now.InMicroseconds();
  // Rounded up, so that the deadline has come when poll returns, and not
  // almost.
  uint64_t milliseconds = microseconds / 1000 + (microseconds % 1000 ? 1 : 0);
  return static_cast<int>(std::min(milliseconds, kLongestWaitMs));
}

}  // namespace

void WaitSet::WaitToRead(int fd) {
  if (fd >= 0)
    fds_.push_back({fd, POLLIN, 0});
}

void WaitSet::WaitToWrite(int fd) {
  if (fd >= 0)
    fds_.push_back({fd, POLLOUT, 0});
}

void WaitSet::WaitUntil(std::optional<Time> deadline) {
  if (deadline && (!deadline_ || *deadline < *deadline_))
    deadline_ = deadline;
}

bool WaitSet::Wait(const Clock& clock) {
  return poll(fds_.data(), fds_.size(), Timeout(deadline_, clock)) >= 0 ||
         errno == EINTR;
}

}  // namespace sgclaw::posix
