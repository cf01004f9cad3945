#ifndef SGCLAW_URL_PARSER_H_
#define SGCLAW_URL_PARSER_H_

#include <memory>
#include <string>
#include <string_view>

namespace sgclaw {

// What the host needs to know of a URL.
struct ParsedUrl {
  // Lower case, without the colon.
  std::string scheme;
  // As the parser writes it: IDNs in Punycode, IPv6 in brackets. Empty where
  // the URL has none (about:blank, file:).
  std::string host;
};

// The browser's own URL parser (GURL in Chromium), so that no second parser can
// disagree with it about where a URL leads (contract section 9). What
// `navigate` then loads is the same string, by the same parser.
//
// Parse() may be called on any sequence, and the last reference may be dropped
// on any: an implementation without state has nothing to do for that.
class UrlParser {
 public:
  virtual ~UrlParser() = default;

  // Parses an absolute URL. False where the parser refuses it or where it is
  // relative; `parsed` is not looked at then.
  virtual bool Parse(std::string_view url, ParsedUrl* parsed) const = 0;
};

// The library's own (WHATWG), for a host outside a browser that has URLs to
// look at itself. Where the library was built without one (cargo feature `url`)
// it refuses every URL.
std::shared_ptr<UrlParser> LibraryUrlParser();

}  // namespace sgclaw

#endif  // SGCLAW_URL_PARSER_H_
