#ifndef SGCLAW_HMAC_H_
#define SGCLAW_HMAC_H_

#include <array>
#include <cstdint>
#include <string_view>

namespace sgclaw {

// HMAC-SHA256 of the embedder's own crypto library, such as BoringSSL, for a
// host that may use no other. Optional: without it the library uses its own.
//
// Tag() may be called on any sequence, and the last reference may be dropped on
// any: an implementation without state has nothing to do for that.
class HmacSha256 {
 public:
  virtual ~HmacSha256() = default;

  // The tag of `message` under `key`, which is of any length. Neither may be
  // kept: both are secrets.
  virtual std::array<uint8_t, 32> Tag(std::string_view key,
                                      std::string_view message) const = 0;
};

}  // namespace sgclaw

#endif  // SGCLAW_HMAC_H_
