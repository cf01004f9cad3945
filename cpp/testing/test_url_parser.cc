#include "third_party/sgclaw/cpp/testing/test_url_parser.h"

namespace sgclaw::testing {

namespace {

constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz";

}  // namespace

bool TestUrlParser::Parse(std::string_view url, ParsedUrl* parsed) const {
  size_t colon = url.find(':');
  if (colon == 0 || colon == std::string_view::npos ||
      url.substr(0, colon).find_first_not_of(kLetters) !=
          std::string_view::npos) {
    return false;
  }
  parsed->scheme = url.substr(0, colon);
  parsed->host.clear();
  std::string_view rest = url.substr(colon + 1);
  if (rest.substr(0, 2) != "//")
    return parsed->scheme == "about" || parsed->scheme == "data";
  rest.remove_prefix(2);
  std::string_view host = rest.substr(0, rest.find_first_of("/?#"));
  // A port follows the last colon, unless that is one of an IPv6 literal.
  size_t port = host.rfind(':');
  if (port != std::string_view::npos && host.back() != ']')
    host = host.substr(0, port);
  parsed->host = host;
  return !host.empty() || parsed->scheme == "file";
}

}  // namespace sgclaw::testing
