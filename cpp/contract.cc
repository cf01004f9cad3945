#include <utility>

#include "sgclaw/json.h"
#include "sgclaw/policy.h"
#include "sgclaw/registry.h"
#include "sgclaw/url_parser.h"
#include "third_party/sgclaw/cpp/bridge.h"

namespace sgclaw {

namespace {

class RustUrlParser : public UrlParser {
 public:
  bool Parse(std::string_view url, ParsedUrl* parsed) const override {
    rust::String scheme;
    rust::String host;
    if (!ffi::parse_url_in_rust(Bytes(url), scheme, host))
      return false;
    parsed->scheme.assign(scheme.data(), scheme.size());
    parsed->host.assign(host.data(), host.size());
    return true;
  }
};

std::optional<Failure> Refusal(uint8_t number, const rust::String& message) {
  std::optional<ErrorCode> code = Code(number);
  if (!code)
    return std::nullopt;
  return Failure{*code, std::string(message.data(), message.size()), {}};
}

}  // namespace

std::shared_ptr<UrlParser> LibraryUrlParser() {
  return std::make_shared<RustUrlParser>();
}

std::optional<std::string> CanonicalJson(std::string_view text) {
  rust::String canonical;
  if (!ffi::canonicalize(Bytes(text), canonical))
    return std::nullopt;
  return std::string(canonical.data(), canonical.size());
}

std::string_view ContractVersion() {
  return View(ffi::contract_version());
}

Policy::Policy() : core_(ffi::policy_deny_all().into_raw()) {}

Policy::Policy(const Policy& other) : core_(other.core_->copy().into_raw()) {}

Policy::Policy(Policy&& other) noexcept : Policy() {
  std::swap(core_, other.core_);
}

Policy& Policy::operator=(Policy other) noexcept {
  std::swap(core_, other.core_);
  return *this;
}

Policy::~Policy() {
  Free(core_);
}

// static
Policy Policy::Loopback(std::shared_ptr<UrlParser> url_parser) {
  return Policy(ffi::policy_loopback(std::move(url_parser)).into_raw());
}

// static
std::optional<Policy> Policy::Parse(std::string_view json,
                                    std::shared_ptr<UrlParser> url_parser,
                                    std::string* error) {
  Policy policy;
  if (!IsOk(policy.core_->parse(Bytes(json), std::move(url_parser)), error))
    return std::nullopt;
  return policy;
}

std::vector<std::string> Policy::UnknownActions(
    const Registry& registry) const {
  return Strings(core_->unknown_actions(Access::Core(registry)));
}

std::optional<Failure> Policy::CheckDomain(std::string_view domain,
                                           std::string_view action) const {
  rust::String message;
  uint8_t code = core_->check_domain(Bytes(domain), Bytes(action), message);
  return Refusal(code, message);
}

std::optional<Failure> Policy::CheckNavigation(const ParsedUrl& url) const {
  rust::String message;
  uint8_t code =
      core_->check_navigation(Bytes(url.scheme), Bytes(url.host), message);
  return Refusal(code, message);
}

Registry::Registry() : core_(ffi::registry_new().into_raw()) {}

Registry::Registry(const Registry& other)
    : core_(other.core_->copy().into_raw()) {}

Registry::Registry(Registry&& other) noexcept : Registry() {
  std::swap(core_, other.core_);
}

Registry& Registry::operator=(Registry other) noexcept {
  std::swap(core_, other.core_);
  return *this;
}

Registry::~Registry() {
  Free(core_);
}

// static
Registry Registry::Standard() {
  return Registry(ffi::registry_standard().into_raw());
}

bool Registry::Add(std::string_view name,
                   std::string_view schema,
                   std::string* error) {
  return IsOk(core_->add(Bytes(name), Bytes(schema)), error);
}

bool Registry::AddStandard(std::string_view name, std::string* error) {
  return IsOk(core_->add_standard(Bytes(name)), error);
}

std::vector<std::string> Registry::names() const {
  return Strings(core_->names());
}

std::string_view Registry::schema(std::string_view name) const {
  return View(core_->schema(Bytes(name)));
}

}  // namespace sgclaw
