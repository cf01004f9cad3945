#ifndef SGCLAW_REGISTRY_H_
#define SGCLAW_REGISTRY_H_

#include <string>
#include <string_view>
#include <vector>

namespace sgclaw {

namespace ffi {
struct RegistryCore;
}  // namespace ffi

// The actions that a host knows, and what their params must be (contract
// section 8).
class Registry {
 public:
  // No action.
  Registry();
  Registry(const Registry& other);
  // `other` is as new then.
  Registry(Registry&& other) noexcept;
  Registry& operator=(Registry other) noexcept;
  ~Registry();

  // The 17 actions of the contract.
  static Registry Standard();

  // Adds an action: a letter, then at most 63 letters, digits or '_'; `schema`
  // is a JSON Schema (2020-12) that lets no unknown member pass. Where anything
  // is wrong nothing is added, the result is false, and `error`, where it is
  // not null, says what.
  [[nodiscard]] bool Add(std::string_view name,
                         std::string_view schema,
                         std::string* error = nullptr);

  // Adds an action of the contract with its schema.
  [[nodiscard]] bool AddStandard(std::string_view name,
                                 std::string* error = nullptr);

  // In order.
  std::vector<std::string> names() const;

  // The schema as it was registered; empty where there is no such action.
  // Valid until the registry changes.
  std::string_view schema(std::string_view name) const;

 private:
  friend struct Access;

  explicit Registry(ffi::RegistryCore* core) : core_(core) {}

  ffi::RegistryCore* core_;
};

}  // namespace sgclaw

#endif  // SGCLAW_REGISTRY_H_
