#ifndef SGCLAW_JSON_H_
#define SGCLAW_JSON_H_

#include <optional>
#include <string>
#include <string_view>

namespace sgclaw {

// The canonical form of a JSON text (contract section 5), which is what is
// signed. Empty where `text` is not strict JSON (section 2).
std::optional<std::string> CanonicalJson(std::string_view text);

// The version of the contract: "1.0".
std::string_view ContractVersion();

}  // namespace sgclaw

#endif  // SGCLAW_JSON_H_
