#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "sgclaw/json.h"
#include "sgclaw/policy.h"
#include "sgclaw/registry.h"
#include "third_party/sgclaw/cpp/testing/host_bench.h"
#include "third_party/sgclaw/cpp/testing/test_url_parser.h"

namespace sgclaw {
namespace {

using testing::kNotUtf8;
using testing::TestUrlParser;

constexpr char kPing[] =
    R"({"type":"object","properties":{},"additionalProperties":false})";

std::string PolicyError(std::string_view document) {
  std::string error;
  std::optional<Policy> policy =
      Policy::Parse(document, std::make_shared<TestUrlParser>(), &error);
  EXPECT_EQ(policy.has_value(), error.empty());
  return error;
}

TEST(JsonTest, TheContractHasAVersion) {
  EXPECT_EQ(ContractVersion(), "1.0");
}

TEST(JsonTest, TheCanonicalFormIsWhatTheContractSigns) {
  const std::pair<const char*, const char*> vectors[] = {
      {R"({"a":1.0})", R"({"a":1})"},
      {R"({"a":-0})", R"({"a":0})"},
      {R"({"a":0.0000001})", R"({"a":1e-7})"},
      {R"({"b":1, "a":[ 2 ]})", R"({"a":[2],"b":1})"},
      {R"({"a":"\u4f60\/\u0007"})", "{\"a\":\"你/\\u0007\"}"},
      {R"({"😀":1,"é":2,"A":3})", R"({"A":3,"é":2,"😀":1})"},
      {R"({"a":9007199254740991})", R"({"a":9007199254740991})"},
  };
  for (const auto& [json, canonical] : vectors)
    EXPECT_EQ(CanonicalJson(json), canonical) << json;
}

TEST(JsonTest, WhatIsNotStrictJsonHasNoCanonicalForm) {
  for (std::string_view json :
       {std::string_view(), std::string_view("{"),
        std::string_view(R"({"a":1,"a":1})"), std::string_view("{} {}"),
        std::string_view(R"({"a":"\ud800"})"), std::string_view("[1e400]"),
        std::string_view("\0", 1), kNotUtf8}) {
    EXPECT_EQ(CanonicalJson(json), std::nullopt) << json;
  }
  EXPECT_EQ(CanonicalJson(std::string(65, '[') + std::string(65, ']')),
            std::nullopt);
}

TEST(RegistryTest, TheStandardOneHasTheActionsOfTheContract) {
  Registry registry = Registry::Standard();
  EXPECT_EQ(registry.names().size(), 17u);
  EXPECT_NE(registry.schema("click").find("selector"), std::string_view::npos);
  EXPECT_EQ(registry.schema("ping"), "");
  EXPECT_EQ(registry.schema(kNotUtf8), "");
}

TEST(RegistryTest, AnActionIsAddedOnce) {
  Registry registry;
  EXPECT_TRUE(registry.names().empty());
  std::string error = "as it was";
  EXPECT_TRUE(registry.Add("ping", kPing, &error));
  EXPECT_EQ(error, "as it was");
  EXPECT_EQ(registry.schema("ping"), kPing);
  EXPECT_FALSE(registry.Add("ping", kPing, &error));
  EXPECT_NE(error, "as it was");
  EXPECT_TRUE(registry.AddStandard("click"));
  EXPECT_FALSE(registry.AddStandard("click"));
  EXPECT_FALSE(registry.AddStandard("ping"));
  EXPECT_EQ(registry.names(), (std::vector<std::string>{"click", "ping"}));
}

TEST(RegistryTest, WhatIsWrongIsToldAndNotAdded) {
  Registry registry;
  const std::pair<std::string_view, std::string_view> wrong[] = {
      {"", kPing},
      {"1a", kPing},
      {"a-b", kPing},
      {kNotUtf8, kPing},
      {std::string_view("a\0b", 3), kPing},
      {"a", ""},
      {"a", "{"},
      {"a", "[]"},
      {"a", kNotUtf8},
      {"a", R"({"type":"object"})"},
      {"a", R"({"type":"nonsense","additionalProperties":false})"},
  };
  for (const auto& [name, schema] : wrong) {
    std::string error;
    EXPECT_FALSE(registry.Add(name, schema, &error)) << name << schema;
    EXPECT_FALSE(error.empty()) << name << schema;
    EXPECT_FALSE(registry.Add(name, schema));
  }
  EXPECT_FALSE(registry.Add(std::string(65, 'a'), kPing));
  EXPECT_FALSE(registry.AddStandard(kNotUtf8));
  EXPECT_TRUE(registry.names().empty());
}

TEST(RegistryTest, ItIsAValue) {
  Registry one;
  ASSERT_TRUE(one.Add("ping", kPing));
  Registry copy = one;
  ASSERT_TRUE(copy.Add("pong", kPing));
  EXPECT_EQ(one.names().size(), 1u);
  Registry moved = std::move(one);
  EXPECT_EQ(moved.names().size(), 1u);
  // A registry that was moved from is an empty one.
  EXPECT_TRUE(one.names().empty());  // NOLINT(bugprone-use-after-move)
  EXPECT_TRUE(one.Add("again", kPing));
  moved = copy;
  EXPECT_EQ(moved.names().size(), 2u);
  Registry& self = moved;
  moved = self;
  moved = std::move(self);
  EXPECT_EQ(moved.names().size(), 2u);
}

TEST(PolicyTest, WhatIsWrongWithADocumentIsTold) {
  EXPECT_EQ(PolicyError(R"({"version":1,"domains":[]})"), "");
  EXPECT_NE(PolicyError(""), "");
  EXPECT_NE(PolicyError("[]"), "");
  EXPECT_NE(PolicyError(kNotUtf8), "");
  EXPECT_NE(PolicyError(R"({"version":2,"domains":[]})"), "");
  EXPECT_NE(PolicyError(R"({"version":1,"version":1,"domains":[]})"), "");
  EXPECT_NE(
      PolicyError(
          R"({"version":1,"domains":[{"pattern":"A.example","actions":["*"]}]})"),
      "");
  EXPECT_NE(
      PolicyError(
          R"({"version":1,"domains":[{"pattern":"a.example","actions":"*"}]})"),
      "");
  // Nobody needs to ask why.
  EXPECT_FALSE(Policy::Parse("{", std::make_shared<TestUrlParser>()));
}

TEST(PolicyTest, MisspeltActionsAreFound) {
  std::optional<Policy> policy = Policy::Parse(
      R"({"version":1,"confirm":["nawigate"],
          "domains":[{"pattern":"a.example","actions":["click","clik"]}]})",
      std::make_shared<TestUrlParser>());
  ASSERT_TRUE(policy);
  std::vector<std::string> unknown =
      policy->UnknownActions(Registry::Standard());
  EXPECT_EQ(unknown, (std::vector<std::string>{"clik", "nawigate"}));
  EXPECT_EQ(policy->UnknownActions(Registry()).size(), 3u);
}

TEST(PolicyTest, ADomainIsAllowedForTheActionsThatItNames) {
  std::optional<Policy> policy = Policy::Parse(
      R"({"version":1,
          "domains":[{"pattern":"a.example","actions":["click"]}]})",
      std::make_shared<TestUrlParser>());
  ASSERT_TRUE(policy);
  EXPECT_FALSE(policy->CheckDomain("a.example", "click"));
  std::optional<Failure> refused = policy->CheckDomain("a.example", "type");
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->code, ErrorCode::kMacActionDenied);
  EXPECT_NE(refused->message.find("type"), std::string::npos);
  const std::string_view others[] = {"b.example", "x.a.example", "A.example",
                                     "", kNotUtf8};
  for (std::string_view other : others) {
    refused = policy->CheckDomain(other, "click");
    ASSERT_TRUE(refused) << other;
    EXPECT_EQ(refused->code, ErrorCode::kMacDomainDenied) << other;
  }
}

TEST(PolicyTest, ANavigationIsAllowedByItsSchemeAndItsHost) {
  std::optional<Policy> policy = Policy::Parse(
      R"({"version":1,"navigate":{"schemes":["https"],"loopback_http":true},
          "domains":[{"pattern":"a.example","actions":["navigate"]},
                     {"pattern":"b.example","actions":["click"]},
                     {"pattern":"[::1]","actions":["*"]}]})",
      std::make_shared<TestUrlParser>());
  ASSERT_TRUE(policy);
  EXPECT_FALSE(policy->CheckNavigation({"https", "a.example"}));
  EXPECT_FALSE(policy->CheckNavigation({"http", "[::1]"}));
  struct {
    ParsedUrl url;
    ErrorCode code;
  } refusals[] = {
      {{"http", "a.example"}, ErrorCode::kMacUrlDenied},
      {{"file", ""}, ErrorCode::kMacUrlDenied},
      {{"", ""}, ErrorCode::kMacUrlDenied},
      {{"https", ""}, ErrorCode::kMacDomainDenied},
      {{"https", "c.example"}, ErrorCode::kMacDomainDenied},
      {{"https", "b.example"}, ErrorCode::kMacActionDenied},
      {{std::string(kNotUtf8), ""}, ErrorCode::kMacUrlDenied},
  };
  for (const auto& [url, code] : refusals) {
    std::optional<Failure> refused = policy->CheckNavigation(url);
    ASSERT_TRUE(refused) << url.scheme << " " << url.host;
    EXPECT_EQ(refused->code, code) << url.scheme << " " << url.host;
    EXPECT_FALSE(refused->message.empty());
  }
}

TEST(PolicyTest, ItIsAValue) {
  std::optional<Policy> policy = Policy::Parse(
      R"({"version":1,"domains":[{"pattern":"a.example","actions":["x"]}]})",
      std::make_shared<TestUrlParser>());
  ASSERT_TRUE(policy);
  Policy copy = *policy;
  Policy moved = *std::move(policy);
  const Registry none;
  EXPECT_EQ(copy.UnknownActions(none).size(), 1u);
  EXPECT_EQ(moved.UnknownActions(none).size(), 1u);
  EXPECT_TRUE(policy->UnknownActions(none).empty());
  moved = Policy();
  EXPECT_TRUE(moved.UnknownActions(none).empty());
  moved = copy;
  Policy& self = moved;
  moved = self;
  moved = std::move(self);
  EXPECT_EQ(moved.UnknownActions(none).size(), 1u);
}

TEST(UrlParserTest, TheLibrarysIsThereOrRefuses) {
  std::shared_ptr<UrlParser> parser = LibraryUrlParser();
  ParsedUrl parsed;
  // Which of both depends on the build.
  if (parser->Parse("HTTPS://B\u00fccher.example:444/a?b", &parsed)) {
    EXPECT_EQ(parsed.scheme, "https");
    EXPECT_EQ(parsed.host, "xn--bcher-kva.example");
    EXPECT_TRUE(parser->Parse("about:blank", &parsed));
    EXPECT_EQ(parsed.host, "");
  }
  for (std::string_view url : {std::string_view(), std::string_view("/a"),
                               std::string_view("http://"), kNotUtf8}) {
    EXPECT_FALSE(parser->Parse(url, &parsed)) << url;
  }
}

TEST(ErrorCodeTest, EachHasTheNameOfTheContract) {
  EXPECT_EQ(ErrorCodeName(ErrorCode::kPipeInvalidJson), "PIPE_INVALID_JSON");
  EXPECT_EQ(ErrorCodeName(ErrorCode::kInternalExecutorGone),
            "INTERNAL_EXECUTOR_GONE");
  static_assert(ErrorCodeName(static_cast<ErrorCode>(0)).empty());
}

TEST(TimeTest, TimesAreCompared) {
  constexpr Time kOne = Time::FromMilliseconds(1);
  static_assert(kOne == Time::FromMicroseconds(1000));
  static_assert(Time() < kOne && Time() <= kOne && kOne <= kOne);
  static_assert(Time() != kOne);
  EXPECT_EQ(kOne.InMicroseconds(), 1000u);
}

}  // namespace
}  // namespace sgclaw
