#ifndef SGCLAW_POLICY_H_
#define SGCLAW_POLICY_H_

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sgclaw/failure.h"
#include "sgclaw/url_parser.h"

namespace sgclaw {

class Registry;

namespace ffi {
struct PolicyCore;
}  // namespace ffi

// What an agent may do, and where (contract section 9). Default deny. A value:
// copies are cheap and share nothing that changes.
class Policy {
 public:
  // Allows nothing.
  Policy();
  Policy(const Policy& other);
  // `other` is as new then.
  Policy(Policy&& other) noexcept;
  Policy& operator=(Policy other) noexcept;
  ~Policy();

  // Every action on localhost, 127.0.0.1 and [::1], and nothing else: for
  // tests. `url_parser` as in HostOptions.
  static Policy Loopback(std::shared_ptr<UrlParser> url_parser = nullptr);

  // Reads a policy document (schemas/pipe/1.0/policy.schema.json). Nothing is
  // guessed: where anything is wrong with it the result is empty and `error`,
  // where it is not null, says what.
  static std::optional<Policy> Parse(std::string_view json,
                                     std::shared_ptr<UrlParser> url_parser,
                                     std::string* error = nullptr);

  // Names of actions that the policy uses and `registry` does not have:
  // misspelt, perhaps, and then without effect. Worth a warning, above all
  // where a confirmation would never be asked for.
  std::vector<std::string> UnknownActions(const Registry& registry) const;

  // Whether the agent may use `action` on `domain`, which is written as
  // UrlParser writes a host; empty where it may. The host has asked this of
  // each command; whoever executes one later, on a page that may have changed,
  // asks again.
  std::optional<Failure> CheckDomain(std::string_view domain,
                                     std::string_view action) const;

  // Whether a navigation may lead to `url`; empty where it may. The host has
  // asked this of a command's own URL; whoever carries out `navigate` by other
  // means than DevToolsExecutor asks it of each redirect (contract section 9).
  std::optional<Failure> CheckNavigation(const ParsedUrl& url) const;

 private:
  friend struct Access;

  explicit Policy(ffi::PolicyCore* core) : core_(core) {}

  ffi::PolicyCore* core_;
};

}  // namespace sgclaw

#endif  // SGCLAW_POLICY_H_
