#include "sgclaw/command.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "third_party/sgclaw/cpp/testing/host_bench.h"

namespace sgclaw {
namespace {

using testing::HostBench;

class RecordingSink : public CompletionSink {
 public:
  void OnSuccess(uint64_t seq, std::string_view data) override {
    Record("success " + std::to_string(seq) + " " + std::string(data));
  }
  void OnFailure(uint64_t seq, const Failure& failure) override {
    Record("failure " + std::to_string(seq) + " " +
           std::string(ErrorCodeName(failure.code)) + " " + failure.message +
           failure.details);
  }
  void OnDropped(uint64_t seq) override {
    Record("dropped " + std::to_string(seq));
  }

  std::vector<std::string> Take() { return std::exchange(calls_, {}); }

  std::function<void()> hook;

 private:
  void Record(std::string call) {
    calls_.push_back(std::move(call));
    if (hook)
      hook();
  }

  std::vector<std::string> calls_;
};

using Calls = std::vector<std::string>;

TEST(CompletionTest, TheFirstAnswerCountsAndNoOther) {
  auto sink = std::make_shared<RecordingSink>();
  {
    Completion completion(sink, 1);
    EXPECT_TRUE(completion);
    completion.Succeed(R"({"a":1})");
    EXPECT_FALSE(completion);
    completion.Succeed();
    completion.Fail(ErrorCode::kCmdTimeout, "late");
    completion.Fail(Failure{});
  }
  EXPECT_EQ(sink->Take(), (Calls{R"(success 1 {"a":1})"}));
  {
    Completion completion(sink, 2);
    completion.Fail(Failure{ErrorCode::kCmdTimeout, "m", "{}"});
    completion.Succeed();
  }
  EXPECT_EQ(sink->Take(), (Calls{"failure 2 CMD_TIMEOUT m{}"}));
}

TEST(CompletionTest, OneThatGoesUnansweredIsDropped) {
  auto sink = std::make_shared<RecordingSink>();
  { Completion completion(sink, 1); }
  EXPECT_EQ(sink->Take(), (Calls{"dropped 1"}));
}

TEST(CompletionTest, TheDutyMovesAlong) {
  auto sink = std::make_shared<RecordingSink>();
  Completion first(sink, 1);
  {
    Completion second = std::move(first);
    EXPECT_FALSE(first);  // NOLINT(bugprone-use-after-move)
    EXPECT_EQ(second.seq(), 1u);
    first.Succeed();
    EXPECT_EQ(sink->Take(), Calls());
  }
  EXPECT_EQ(sink->Take(), (Calls{"dropped 1"}));
}

TEST(CompletionTest, WhatIsAssignedOverIsDropped) {
  auto sink = std::make_shared<RecordingSink>();
  Completion first(sink, 1);
  Completion second(sink, 2);
  first = std::move(second);
  EXPECT_EQ(sink->Take(), (Calls{"dropped 1"}));
  EXPECT_EQ(first.seq(), 2u);
  EXPECT_FALSE(second);  // NOLINT(bugprone-use-after-move)
  Completion& self = first;
  first = std::move(self);
  EXPECT_TRUE(first);
  first.Succeed();
  EXPECT_EQ(sink->Take(), (Calls{"success 2 {}"}));
  // Over one that was answered.
  first = Completion(sink, 3);
  EXPECT_EQ(sink->Take(), Calls());
  first.Succeed();
  EXPECT_EQ(sink->Take(), (Calls{"success 3 {}"}));
}

TEST(CompletionTest, AnAnswerAfterTheSinkIsNoOne) {
  auto sink = std::make_shared<RecordingSink>();
  Completion answered(sink, 1);
  Completion dropped(sink, 2);
  sink.reset();
  EXPECT_TRUE(answered);
  answered.Succeed();
  EXPECT_FALSE(answered);
}

TEST(CompletionTest, TheSinkMayDestroyTheCompletionThatCallsIt) {
  auto sink = std::make_shared<RecordingSink>();
  auto completion = std::make_unique<Completion>(sink, 1);
  sink->hook = [&] { completion.reset(); };
  completion->Succeed();
  EXPECT_EQ(sink->Take(), (Calls{"success 1 {}"}));
  std::optional<Completion> slot;
  sink->hook = [&] { slot.reset(); };
  slot.emplace(sink, 2);
  *slot = Completion(sink, 3);
  EXPECT_EQ(sink->Take(), (Calls{"dropped 2", "dropped 3"}));
}

TEST(CommandTest, ItTellsWhatTheAgentAsked) {
  HostBench bench;
  bench.Run();
  bench.Command("type",
                R"({"timeout_ms":1500, "text":"\u4f60","selector":"#a"})");
  ASSERT_EQ(bench.executing.count(1), 1u);
  const Command& command = bench.executing.at(1).first;
  EXPECT_EQ(command.seq(), 1u);
  EXPECT_EQ(command.action(), "type");
  EXPECT_EQ(command.params(),
            R"({"selector":"#a","text":"你","timeout_ms":1500})");
  EXPECT_EQ(command.expected_domain(), "erp.example.com");
  EXPECT_EQ(command.timeout_us(), 1'500'000u);
  bench.Succeed(1);
  bench.Click();
  EXPECT_EQ(bench.executing.at(2).first.timeout_us(), 30'000'000u);
}

TEST(CommandTest, ItIsEmptyOnceItWasMovedFrom) {
  HostOptions options = HostBench::Options();
  options.limits.concurrency = 2;
  HostBench bench(std::move(options));
  bench.Run();
  bench.Click();
  bench.Click();
  Command& one = bench.executing.at(1).first;
  Command& two = bench.executing.at(2).first;
  one = std::move(two);
  EXPECT_EQ(one.seq(), 2u);
  EXPECT_EQ(two.seq(), 0u);  // NOLINT(bugprone-use-after-move)
  EXPECT_EQ(two.action(), "");
  EXPECT_EQ(two.params(), "");
  EXPECT_EQ(two.expected_domain(), "");
  EXPECT_EQ(two.timeout_us(), 0u);
  Command& self = one;
  one = std::move(self);
  EXPECT_EQ(one.seq(), 2u);
  Command moved = std::move(one);
  EXPECT_EQ(moved.seq(), 2u);
  one = std::move(moved);
  EXPECT_EQ(one.action(), "click");
}

TEST(CommandTest, ItOutlivesItsHost) {
  HostBench bench;
  bench.Run();
  bench.Click();
  Command command = std::move(bench.executing.at(1).first);
  bench.host.reset();
  EXPECT_EQ(command.params(), testing::kClick);
}

}  // namespace
}  // namespace sgclaw
