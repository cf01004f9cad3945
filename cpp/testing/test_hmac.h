#ifndef SGCLAW_CPP_TESTING_TEST_HMAC_H_
#define SGCLAW_CPP_TESTING_TEST_HMAC_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <string_view>

#include "sgclaw/hmac.h"

namespace sgclaw::testing {

// HMAC-SHA256 as FIPS 180-4 and RFC 2104 write it, without any care for speed
// or side channels; counts its calls.
class TestHmac : public HmacSha256 {
 public:
  std::array<uint8_t, 32> Tag(std::string_view key,
                              std::string_view message) const override;

  int calls() const { return calls_; }

 private:
  // Atomic since Tag() may be called on any sequence.
  mutable std::atomic<int> calls_{0};
};

}  // namespace sgclaw::testing

#endif  // SGCLAW_CPP_TESTING_TEST_HMAC_H_
