#ifndef SGCLAW_EXAMPLES_CPP_HOST_JSON_H_
#define SGCLAW_EXAMPLES_CPP_HOST_JSON_H_

#include <optional>
#include <string>
#include <string_view>

namespace cpp_host {

// `text` as a JSON string, quotes included.
std::string JsonString(std::string_view text);

// Command::params(): a JSON object in canonical form, which has no white space
// and few escapes. A browser has a JSON reader of its own for this.
class Params {
 public:
  // `canonical` outlives this.
  explicit Params(std::string_view canonical) : canonical_(canonical) {}

  bool Has(std::string_view name) const { return !Find(name).empty(); }
  bool IsTrue(std::string_view name) const { return Find(name) == "true"; }
  // Empty where it is no string.
  std::optional<std::string> String(std::string_view name) const;

 private:
  // The member's value as it stands there; empty where there is none.
  std::string_view Find(std::string_view name) const;

  std::string_view canonical_;
};

}  // namespace cpp_host

#endif  // SGCLAW_EXAMPLES_CPP_HOST_JSON_H_
