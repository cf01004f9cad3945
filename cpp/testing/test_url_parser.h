#ifndef SGCLAW_CPP_TESTING_TEST_URL_PARSER_H_
#define SGCLAW_CPP_TESTING_TEST_URL_PARSER_H_

#include <string_view>

#include "sgclaw/url_parser.h"

namespace sgclaw::testing {

// Just enough of a URL parser for tests: scheme://host[:port][/…], where the
// host is lower case already. Knows nothing of IDNs and of odd spellings of
// addresses.
class TestUrlParser : public UrlParser {
 public:
  bool Parse(std::string_view url, ParsedUrl* parsed) const override;
};

}  // namespace sgclaw::testing

#endif  // SGCLAW_CPP_TESTING_TEST_URL_PARSER_H_
