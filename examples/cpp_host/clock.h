#ifndef SGCLAW_EXAMPLES_CPP_HOST_CLOCK_H_
#define SGCLAW_EXAMPLES_CPP_HOST_CLOCK_H_

#include <chrono>

#include "sgclaw/time.h"

namespace cpp_host {

// Microseconds since the Unix epoch as they were at the start, plus what the
// monotonic clock has counted since: it never runs backwards, and the trace has
// readable times.
class WallClock : public sgclaw::Clock {
 public:
  sgclaw::Time Now() const override {
    auto elapsed = std::chrono::steady_clock::now() - start_;
    return sgclaw::Time::FromMicroseconds(
        static_cast<uint64_t>(std::chrono::duration_cast<Microseconds>(
                                  wall_.time_since_epoch() + elapsed)
                                  .count()));
  }

 private:
  using Microseconds = std::chrono::microseconds;

  const std::chrono::system_clock::time_point wall_ =
      std::chrono::system_clock::now();
  const std::chrono::steady_clock::time_point start_ =
      std::chrono::steady_clock::now();
};

inline sgclaw::Time After(sgclaw::Time time, uint64_t microseconds) {
  return sgclaw::Time::FromMicroseconds(time.InMicroseconds() + microseconds);
}

}  // namespace cpp_host

#endif  // SGCLAW_EXAMPLES_CPP_HOST_CLOCK_H_
