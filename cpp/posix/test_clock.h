#ifndef SGCLAW_CPP_POSIX_TEST_CLOCK_H_
#define SGCLAW_CPP_POSIX_TEST_CLOCK_H_

#include <chrono>

#include "sgclaw/time.h"

namespace sgclaw::posix {

// Real processes run in real time.
class TestClock : public Clock {
 public:
  Time Now() const override {
    auto now = std::chrono::steady_clock::now().time_since_epoch();
    return Time::FromMicroseconds(static_cast<uint64_t>(
        std::chrono::duration_cast<std::chrono::microseconds>(now).count()));
  }

  Time In(uint64_t milliseconds) const {
    return Time::FromMicroseconds(Now().InMicroseconds() + milliseconds * 1000);
  }
};

}  // namespace sgclaw::posix

#endif  // SGCLAW_CPP_POSIX_TEST_CLOCK_H_
