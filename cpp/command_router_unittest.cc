#include "sgclaw/command_router.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "third_party/sgclaw/cpp/testing/host_bench.h"

namespace sgclaw {
namespace {

using testing::Callback;
using testing::HostBench;
using testing::kNotUtf8;

using Strings = std::vector<std::string>;

constexpr char kPing[] =
    R"({"type":"object","properties":{},"additionalProperties":false})";

// Gives what the host wants to have executed to a router.
class RoutedHost : public HostBench {
 public:
  explicit RoutedHost(HostOptions options) : HostBench(std::move(options)) {
    hook = [this](Callback callback) {
      if (callback != Callback::kCommand || !router)
        return;
      auto node = executing.extract(executing.begin());
      router->Dispatch(std::move(node.mapped().first),
                       std::move(node.mapped().second));
    };
  }

  std::unique_ptr<CommandRouter> router = std::make_unique<CommandRouter>();
};

HostOptions Options(const CommandRouter& router) {
  HostOptions options = HostBench::Options();
  options.registry = router.registry();
  return options;
}

void Succeed(Command, Completion completion) {
  completion.Succeed();
}

TEST(CommandRouterTest, EachCommandGoesToTheHandlerOfItsAction) {
  auto router = std::make_unique<CommandRouter>();
  Strings handled;
  ASSERT_TRUE(router->Handle("click", [&](Command command, Completion done) {
    handled.emplace_back(command.action());
    done.Succeed();
  }));
  ASSERT_TRUE(
      router->Handle("ping", kPing, [&](Command command, Completion done) {
        handled.emplace_back(command.action());
        done.Fail(ErrorCode::kCmdExecutionFailed, "no");
      }));
  EXPECT_EQ(router->registry().names(), (Strings{"click", "ping"}));
  RoutedHost bench(Options(*router));
  bench.router = std::move(router);
  bench.host->Start();
  bench.signer.Ack(bench.written[0] + "\n");
  bench.host->HandleInput(
      R"({"type":"init_ack","version":"1.0",)"
      R"("agent_id":"0b7e2a54-3c1d-4e8f-9a6b-5c4d3e2f1a0b",)"
      R"("supported_actions":["ping","click","hover"]})"
      "\n");
  bench.Click();
  bench.Command("ping", "{}");
  // It has no handler, so the host does not know it.
  bench.Command("hover");
  EXPECT_EQ(handled, (Strings{"click", "ping"}));
  EXPECT_EQ(bench.TakeAnswers(), (Strings{"1 ok", "2 CMD_EXECUTION_FAILED",
                                          "3 CMD_ACTION_UNKNOWN"}));
}

TEST(CommandRouterTest, ACommandWithoutAHandlerIsAnsweredExecutorGone) {
  RoutedHost bench(HostBench::Options());
  bench.Run();
  bench.Click();
  EXPECT_EQ(bench.TakeAnswers(), (Strings{"1 INTERNAL_EXECUTOR_GONE"}));
}

TEST(CommandRouterTest, AHandlerThatForgetsItsCompletionHasAnswered) {
  RoutedHost bench(HostBench::Options());
  ASSERT_TRUE(bench.router->Handle("click", [](Command, Completion) {}));
  bench.Run();
  bench.Click();
  EXPECT_EQ(bench.TakeAnswers(), (Strings{"1 INTERNAL_EXECUTOR_GONE"}));
}

TEST(CommandRouterTest, AHandlerMayAnswerLater) {
  RoutedHost bench(HostBench::Options());
  std::vector<Completion> waiting;
  ASSERT_TRUE(bench.router->Handle("click", [&](Command, Completion done) {
    waiting.push_back(std::move(done));
  }));
  bench.Run();
  bench.Click();
  EXPECT_EQ(bench.TakeAnswers(), Strings());
  waiting[0].Succeed(R"({"dialogs":[]})");
  EXPECT_EQ(bench.TakeAnswers(), (Strings{"1 ok"}));
}

TEST(CommandRouterTest, WhatIsWrongIsToldAndNotAdded) {
  CommandRouter router;
  std::string error;
  EXPECT_FALSE(router.Handle("unheard_of", Succeed, &error));
  EXPECT_NE(std::exchange(error, ""), "");
  EXPECT_FALSE(router.Handle(kNotUtf8, Succeed, &error));
  EXPECT_NE(std::exchange(error, ""), "");
  EXPECT_FALSE(router.Handle("ping", "{}", Succeed, &error));
  EXPECT_NE(std::exchange(error, ""), "");
  EXPECT_FALSE(router.Handle("click", CommandRouter::Handler(), &error));
  EXPECT_NE(std::exchange(error, ""), "");
  EXPECT_FALSE(router.Handle("ping", kPing, nullptr));
  EXPECT_TRUE(router.registry().names().empty());
  EXPECT_TRUE(router.Handle("click", Succeed));
  EXPECT_FALSE(router.Handle("click", Succeed, &error));
  EXPECT_NE(std::exchange(error, ""), "");
  EXPECT_FALSE(router.Handle("click", kPing, Succeed));
  EXPECT_EQ(router.registry().names(), (Strings{"click"}));
}

TEST(CommandRouterTest, ACancelledCommandIsTold) {
  CommandRouter router;
  router.Cancel(1);
  uint64_t cancelled = 0;
  router.SetCancelHandler([&](uint64_t seq) { cancelled = seq; });
  router.Cancel(7);
  EXPECT_EQ(cancelled, 7u);
  router.SetCancelHandler(nullptr);
  router.Cancel(8);
  EXPECT_EQ(cancelled, 7u);
}

TEST(CommandRouterTest, AHandlerMayDestroyTheRouterAndTheHost) {
  RoutedHost bench(HostBench::Options());
  std::string kept = "kept for longer than the small string takes";
  ASSERT_TRUE(
      bench.router->Handle("click", [&bench, kept](Command, Completion done) {
        bench.router.reset();
        done.Succeed();
        bench.host.reset();
        EXPECT_EQ(kept.substr(0, 4), "kept");
      }));
  bench.Run();
  bench.Click();
  // The host was destroyed before it could tell of the answer.
  EXPECT_EQ(bench.TakeAnswers(), Strings());
  auto router = std::make_unique<CommandRouter>();
  router->SetCancelHandler([&, kept](uint64_t) {
    router.reset();
    EXPECT_EQ(kept.substr(0, 4), "kept");
  });
  router->Cancel(1);
}

}  // namespace
}  // namespace sgclaw
