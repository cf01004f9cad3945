#include "options.h"

#include <getopt.h>
#include <string.h>

#include <charconv>
#include <string_view>

namespace cpp_host {

const char kHelp[] =
    R"(Starts an agent and lets it drive a browser through every check of the contract.

usage: sgclaw_host_example [OPTIONS] -- AGENT [ARGUMENTS…]

  --browser auto|PATH|memory  the Chromium that is installed (the default), this
                              one, or a page in memory and no browser
  --url URL                   what the browser shows first
  --headful                   show the browser's window
  --policy FILE               what the agent may do (contract section 9); without
                              it, everything on localhost, 127.0.0.1 and [::1]
  --trace FILE                where the trace goes, a JSON line per stage of a seq
  --key-derivation hkdf|seed  how the key comes from the seed
  --confirm ask|allow|deny    who confirms where the policy asks for it; `ask`
                              denies where stdin is no terminal
  --handshake-timeout-ms N    how long the agent has for init_ack (1 to 600000;
                              5000)

The log goes to stderr and ends with one JSON line {state, code, message}. SIGINT
and SIGTERM stop the session, SIGHUP reads the policy again.

Exit status: 0 stopped, 2 usage, 3 crashed or not started.
)";

namespace {

constexpr uint64_t kLongestHandshakeMs = 600000;

enum Option : int {
  kHelpOption = 1,
  kPolicy,
  kTrace,
  kBrowser,
  kUrl,
  kHeadful,
  kKeyDerivation,
  kConfirm,
  kHandshakeTimeout,
};

constexpr option kOptions[] = {
    {"help", no_argument, nullptr, kHelpOption},
    {"policy", required_argument, nullptr, kPolicy},
    {"trace", required_argument, nullptr, kTrace},
    {"browser", required_argument, nullptr, kBrowser},
    {"url", required_argument, nullptr, kUrl},
    {"headful", no_argument, nullptr, kHeadful},
    {"key-derivation", required_argument, nullptr, kKeyDerivation},
    {"confirm", required_argument, nullptr, kConfirm},
    {"handshake-timeout-ms", required_argument, nullptr, kHandshakeTimeout},
    {nullptr, 0, nullptr, 0},
};

// What is wrong with the value of an option; empty where nothing is.
std::string Set(int option, std::string_view value, Options* options) {
  switch (option) {
    case kHelpOption:
      options->help = true;
      return "";
    case kPolicy:
      options->policy = value;
      return "";
    case kTrace:
      options->trace = value;
      return "";
    case kBrowser:
      options->browser = value;
      return "";
    case kUrl:
      options->url = value;
      return "";
    case kHeadful:
      options->headful = true;
      return "";
    case kKeyDerivation:
      options->key_derivation = value == "seed" ? sgclaw::KeyDerivation::kSeed
                                                : sgclaw::KeyDerivation::kHkdf;
      return value == "seed" || value == "hkdf" ? "" : "hkdf or seed";
    case kConfirm:
      options->confirm = value == "allow"  ? ConfirmMode::kAllow
                         : value == "deny" ? ConfirmMode::kDeny
                                           : ConfirmMode::kAsk;
      return value == "ask" || value == "allow" || value == "deny"
                 ? ""
                 : "ask, allow or deny";
    case kHandshakeTimeout: {
      uint64_t& number = options->handshake_timeout_ms;
      const char* end = value.data() + value.size();
      auto [rest, failed] = std::from_chars(value.data(), end, number);
      return failed == std::errc() && rest == end && number >= 1 &&
                     number <= kLongestHandshakeMs
                 ? ""
                 : "a number from 1 to 600000";
    }
  }
  return "";
}

}  // namespace

// static
std::optional<Options> Options::Parse(int argc,
                                      char** argv,
                                      std::string* error) {
  Options options;
  opterr = 0;
  int index = 0;
  int option;
  // '+': what follows the agent's name is the agent's. ':': a value that is
  // missing is told from an option that is not known.
  while ((option = getopt_long(argc, argv, "+:", kOptions, &index)) != -1) {
    if (option == '?' || option == ':') {
      *error =
          std::string(argv[optind - 1]) +
          (option == ':' ? ": expected a value"
                         : ": there is no such option (--help names them)");
      return std::nullopt;
    }
    std::string expected = Set(option, optarg ? optarg : "", &options);
    if (!expected.empty()) {
      *error = std::string("--") + kOptions[index].name + " " + optarg +
               ": expected " + expected;
      return std::nullopt;
    }
  }
  if (options.help)
    return options;
  if (optind == argc || strcmp(argv[optind - 1], "--") != 0) {
    *error = "expected -- and then the agent and its arguments";
    return std::nullopt;
  }
  options.agent.assign(argv + optind, argv + argc);
  return options;
}

}  // namespace cpp_host
