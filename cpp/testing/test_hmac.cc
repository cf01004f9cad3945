#include "third_party/sgclaw/cpp/testing/test_hmac.h"

#include <string>

namespace sgclaw::testing {

namespace {

constexpr size_t kBlock = 64;

constexpr uint32_t kRound[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1,
    0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3,
    0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
    0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
    0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
    0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
    0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
    0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
    0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

uint32_t Rotate(uint32_t x, int count) {
  return x >> count | x << (32 - count);
}

uint8_t Byte(char c) {
  return static_cast<uint8_t>(c);
}

void Compress(const char* block, std::array<uint32_t, 8>& hash) {
  uint32_t w[64];
  for (size_t i = 0; i < 16; ++i) {
    const char* at = block + 4 * i;
    w[i] = uint32_t{Byte(at[0])} << 24 | uint32_t{Byte(at[1])} << 16 |
           uint32_t{Byte(at[2])} << 8 | uint32_t{Byte(at[3])};
  }
  for (size_t i = 16; i < 64; ++i) {
    uint32_t s0 = Rotate(w[i - 15], 7) ^ Rotate(w[i - 15], 18) ^ w[i - 15] >> 3;
    uint32_t s1 = Rotate(w[i - 2], 17) ^ Rotate(w[i - 2], 19) ^ w[i - 2] >> 10;
    w[i] = w[i - 16] + s0 + w[i - 7] + s1;
  }
  auto [a, b, c, d, e, f, g, h] = hash;
  for (size_t i = 0; i < 64; ++i) {
    uint32_t s1 = Rotate(e, 6) ^ Rotate(e, 11) ^ Rotate(e, 25);
    uint32_t t1 = h + s1 + ((e & f) ^ (~e & g)) + kRound[i] + w[i];
    uint32_t s0 = Rotate(a, 2) ^ Rotate(a, 13) ^ Rotate(a, 22);
    uint32_t t2 = s0 + ((a & b) ^ (a & c) ^ (b & c));
    h = g;
    g = f;
    f = e;
    e = d + t1;
    d = c;
    c = b;
    b = a;
    a = t1 + t2;
  }
  const uint32_t added[8] = {a, b, c, d, e, f, g, h};
  for (size_t i = 0; i < 8; ++i)
    hash[i] += added[i];
}

std::array<uint8_t, 32> Sha256(std::string text) {
  uint64_t bits = uint64_t{text.size()} * 8;
  text.push_back('\x80');
  while (text.size() % kBlock != kBlock - 8)
    text.push_back('\0');
  for (int shift = 56; shift >= 0; shift -= 8)
    text.push_back(static_cast<char>(bits >> shift & 0xff));
  std::array<uint32_t, 8> hash = {0x6a09e667, 0xbb67ae85, 0x3c6ef372,
                                  0xa54ff53a, 0x510e527f, 0x9b05688c,
                                  0x1f83d9ab, 0x5be0cd19};
  for (size_t at = 0; at < text.size(); at += kBlock)
    Compress(text.data() + at, hash);
  std::array<uint8_t, 32> digest;
  for (size_t i = 0; i < digest.size(); ++i)
    digest[i] = static_cast<uint8_t>(hash[i / 4] >> (24 - 8 * (i % 4)) & 0xff);
  return digest;
}

std::string Text(const std::array<uint8_t, 32>& digest) {
  return std::string(digest.begin(), digest.end());
}

}  // namespace

std::array<uint8_t, 32> TestHmac::Tag(std::string_view key,
                                      std::string_view message) const {
  ++calls_;
  std::string padded(key);
  if (padded.size() > kBlock)
    padded = Text(Sha256(padded));
  padded.resize(kBlock, '\0');
  std::string inner = padded;
  std::string outer = padded;
  for (size_t i = 0; i < kBlock; ++i) {
    inner[i] = static_cast<char>(inner[i] ^ 0x36);
    outer[i] = static_cast<char>(outer[i] ^ 0x5c);
  }
  return Sha256(outer + Text(Sha256(inner.append(message))));
}

}  // namespace sgclaw::testing
