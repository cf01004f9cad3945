#include "third_party/sgclaw/cpp/shims.h"

#include <string>

#include "third_party/sgclaw/cpp/bridge.h"

namespace sgclaw::ffi {

namespace {

void Append(const std::string& text, rust::Vec<uint8_t>& bytes) {
  bytes.reserve(text.size());
  for (char c : text)
    bytes.push_back(static_cast<uint8_t>(c));
}

}  // namespace

bool parse_url(const UrlParser& parser,
               rust::Str url,
               rust::Vec<uint8_t>& scheme,
               rust::Vec<uint8_t>& host) {
  ParsedUrl parsed;
  if (!parser.Parse(View(url), &parsed))
    return false;
  Append(parsed.scheme, scheme);
  Append(parsed.host, host);
  return true;
}

void hmac_sha256(const HmacSha256& provider,
                 rust::Slice<const uint8_t> key,
                 rust::Slice<const uint8_t> message,
                 std::array<uint8_t, 32>& tag) {
  tag = provider.Tag(View(key), View(message));
}

}  // namespace sgclaw::ffi
