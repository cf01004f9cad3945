#ifndef SGCLAW_CPP_BRIDGE_H_
#define SGCLAW_CPP_BRIDGE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sgclaw/command.h"
#include "sgclaw/error_code.h"
#include "sgclaw/failure.h"
#include "sgclaw/host.h"
#include "sgclaw/policy.h"
#include "sgclaw/registry.h"
#include "sgclaw/time.h"
#include "sgclaw/trace.h"
#include "third_party/sgclaw/src/ffi/bridge.rs.h"

namespace sgclaw {

// The way from the public types to what they are in Rust, for this library
// alone.
struct Access {
  static Command MakeCommand(rust::Box<ffi::CommandCore> core) {
    return Command(core.into_raw());
  }
  // Null where it was moved from.
  static ffi::CommandCore* Release(Command command) {
    return std::exchange(command.core_, nullptr);
  }
  static Policy MakePolicy(rust::Box<ffi::PolicyCore> core) {
    return Policy(core.into_raw());
  }
  static ffi::PolicyCore& Core(const Policy& policy) { return *policy.core_; }
  static Registry MakeRegistry(rust::Box<ffi::RegistryCore> core) {
    return Registry(core.into_raw());
  }
  static ffi::RegistryCore& Core(const Registry& registry) {
    return *registry.core_;
  }
  static const std::array<uint8_t, 32>& Bytes(const HmacSeed& seed) {
    return seed.bytes_;
  }
  static TraceRecord MakeTraceRecord(const ffi::HostCore& core) {
    return TraceRecord(core);
  }
};

inline rust::Slice<const uint8_t> Bytes(std::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

inline std::string_view View(rust::Str text) {
  return {text.data(), text.size()};
}

inline std::string_view View(rust::Slice<const uint8_t> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

inline std::vector<std::string> Strings(const rust::Vec<rust::String>& texts) {
  std::vector<std::string> strings;
  strings.reserve(texts.size());
  for (const rust::String& text : texts)
    strings.emplace_back(text.data(), text.size());
  return strings;
}

// Whether `error` tells of none; where it does, `out` gets it.
inline bool IsOk(const rust::String& error, std::string* out) {
  if (error.empty())
    return true;
  if (out)
    out->assign(error.data(), error.size());
  return false;
}

// 0 is none.
inline std::optional<ErrorCode> Code(uint8_t number) {
  if (number == 0)
    return std::nullopt;
  return static_cast<ErrorCode>(number);
}

// The far end of time is none.
inline std::optional<Time> Deadline(uint64_t microseconds) {
  if (microseconds == UINT64_MAX)
    return std::nullopt;
  return Time::FromMicroseconds(microseconds);
}

// Frees what a public type holds.
template <typename T>
void Free(T* core) {
  if (core)
    (void)rust::Box<T>::from_raw(core);
}

}  // namespace sgclaw

#endif  // SGCLAW_CPP_BRIDGE_H_
