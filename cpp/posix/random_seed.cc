#include "sgclaw/posix/random_seed.h"

#include <string.h>
#include <unistd.h>

#include <array>

namespace sgclaw::posix {

std::optional<HmacSeed> RandomSeed() {
  std::array<uint8_t, 32> bytes;
  if (getentropy(bytes.data(), bytes.size()) != 0)
    return std::nullopt;
  HmacSeed seed(bytes);
  explicit_bzero(bytes.data(), bytes.size());
  return seed;
}

}  // namespace sgclaw::posix
