#include "third_party/sgclaw/cpp/shims.h"

#include "third_party/sgclaw/cpp/bridge.h"

namespace sgclaw::ffi {

bool parse_url(const UrlParser& parser, rust::Str url, UrlParts& parts) {
  ParsedUrl parsed;
  if (!parser.Parse(View(url), &parsed))
    return false;
  parts.set(Bytes(parsed.scheme), Bytes(parsed.host));
  return true;
}

void hmac_sha256(const HmacSha256& provider,
                 rust::Slice<const uint8_t> key,
                 rust::Slice<const uint8_t> message,
                 std::array<uint8_t, 32>& tag) {
  tag = provider.Tag(View(key), View(message));
}

}  // namespace sgclaw::ffi
