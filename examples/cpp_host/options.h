#ifndef SGCLAW_EXAMPLES_CPP_HOST_OPTIONS_H_
#define SGCLAW_EXAMPLES_CPP_HOST_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "confirmations.h"
#include "sgclaw/host.h"

namespace cpp_host {

extern const char kHelp[];

// The command line.
struct Options {
  bool help = false;
  std::optional<std::string> policy;
  std::optional<std::string> trace;
  std::string browser = "auto";
  std::optional<std::string> url;
  bool headful = false;
  sgclaw::KeyDerivation key_derivation = sgclaw::KeyDerivation::kHkdf;
  ConfirmMode confirm = ConfirmMode::kAsk;
  uint64_t handshake_timeout_ms = 5000;
  std::vector<std::string> agent;

  // Empty where the command line cannot work; `error` says why.
  static std::optional<Options> Parse(int argc,
                                      char** argv,
                                      std::string* error);
};

}  // namespace cpp_host

#endif  // SGCLAW_EXAMPLES_CPP_HOST_OPTIONS_H_
