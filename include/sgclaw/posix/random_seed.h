#ifndef SGCLAW_POSIX_RANDOM_SEED_H_
#define SGCLAW_POSIX_RANDOM_SEED_H_

#include <optional>

#include "sgclaw/host.h"

namespace sgclaw::posix {

// A new seed from the system's random source: getentropy(3), which is
// getrandom(2) on Linux. Empty where the system gives none; errno says why.
std::optional<HmacSeed> RandomSeed();

}  // namespace sgclaw::posix

#endif  // SGCLAW_POSIX_RANDOM_SEED_H_
