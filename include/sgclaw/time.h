#ifndef SGCLAW_TIME_H_
#define SGCLAW_TIME_H_

#include <cstdint>

namespace sgclaw {

// A point in time as the embedder's clock tells it: microseconds since a start
// of its choice. The library reads no clock of its own.
class Time {
 public:
  constexpr Time() = default;

  static constexpr Time FromMicroseconds(uint64_t microseconds) {
    return Time(microseconds);
  }
  static constexpr Time FromMilliseconds(uint64_t milliseconds) {
    return Time(milliseconds * 1000);
  }

  constexpr uint64_t InMicroseconds() const { return microseconds_; }

  friend constexpr bool operator==(Time a, Time b) {
    return a.microseconds_ == b.microseconds_;
  }
  friend constexpr bool operator!=(Time a, Time b) { return !(a == b); }
  friend constexpr bool operator<(Time a, Time b) {
    return a.microseconds_ < b.microseconds_;
  }
  friend constexpr bool operator<=(Time a, Time b) { return !(b < a); }

 private:
  explicit constexpr Time(uint64_t microseconds)
      : microseconds_(microseconds) {}

  uint64_t microseconds_ = 0;
};

// The embedder's clock, such as base::TimeTicks. It must not run backwards.
// Whoever wants readable times in the trace takes the wall clock once, at the
// start of a session, and adds what the monotonic clock has counted since.
class Clock {
 public:
  virtual ~Clock() = default;

  virtual Time Now() const = 0;
};

}  // namespace sgclaw

#endif  // SGCLAW_TIME_H_
