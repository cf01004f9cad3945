#ifndef SGCLAW_CPP_SHIMS_H_
#define SGCLAW_CPP_SHIMS_H_

// What Rust calls in C++.

#include <array>
#include <cstdint>

#include "sgclaw/hmac.h"
#include "sgclaw/url_parser.h"
#include "third_party/sgclaw/cpp/cxx.h"

namespace sgclaw::ffi {

struct UrlParts;

bool parse_url(const UrlParser& parser, rust::Str url, UrlParts& parts);

void hmac_sha256(const HmacSha256& provider,
                 rust::Slice<const uint8_t> key,
                 rust::Slice<const uint8_t> message,
                 std::array<uint8_t, 32>& tag);

}  // namespace sgclaw::ffi

#endif  // SGCLAW_CPP_SHIMS_H_
