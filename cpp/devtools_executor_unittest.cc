#include "sgclaw/devtools_executor.h"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "third_party/sgclaw/cpp/testing/fake_browser.h"
#include "third_party/sgclaw/cpp/testing/host_bench.h"

namespace sgclaw {
namespace {

using testing::Callback;
using testing::FakeBrowser;
using testing::HostBench;
using testing::kClick;
using testing::kNotUtf8;
using testing::Timer;

using Strings = std::vector<std::string>;

// A host whose commands an executor carries out in a browser, as an embedder
// wires them.
class BrowserBench : public HostBench {
 public:
  explicit BrowserBench(size_t max_waiting = 64, size_t concurrency = 1)
      : HostBench(Concurrent(concurrency)) {
    DevToolsExecutor::Options options;
    options.policy = HostBench::Options().policy;
    options.url_parser = HostBench::Options().url_parser;
    options.max_waiting = max_waiting;
    executor = std::make_unique<DevToolsExecutor>(std::move(options), &browser,
                                                  &delegate_, &clock);
    browser.answer = [this](std::string_view message) {
      Called("message");
      if (executor)
        executor->HandleMessage(message);
    };
    hook = [this](Callback callback) {
      if (callback == Callback::kCommand && executor) {
        auto node = executing.extract(executing.begin());
        executor->Execute(std::move(node.mapped().first),
                          std::move(node.mapped().second));
      }
      // "cancel 7"
      if (callback == Callback::kCancel && executor)
        executor->Cancel(std::strtoull(&events.back()[7], nullptr, 10));
    };
  }
  ~BrowserBench() override {
    browser.answer = [](std::string_view) {};
    executor_hook = nullptr;
  }

  void Start() {
    executor->Start();
    if (host)
      Run();
  }

  void Pass(uint64_t ms) {
    Time end = Time::FromMicroseconds(clock.Now().InMicroseconds() + ms * 1000);
    while (executor && executor_timer && *executor_timer <= end) {
      if (clock.Now() < *executor_timer)
        clock.Set(*executor_timer);
      executor_timer.reset();
      executor->HandleTimeout();
    }
    clock.Set(end);
  }

  bool Pressed() const {
    return std::any_of(
        browser.called.begin(), browser.called.end(),
        [](const std::string& name) { return name.substr(0, 6) == "Input."; });
  }

  FakeBrowser browser;
  Timer executor_timer;
  Strings told;
  // Called within each method of the executor's delegate and transport.
  std::function<void()> executor_hook;
  std::unique_ptr<DevToolsExecutor> executor;

 private:
  // An object of its own, since the host's delegate has a method of the same
  // name.
  struct ExecutorDelegate : DevToolsExecutor::Delegate {
    explicit ExecutorDelegate(BrowserBench* bench) : bench(bench) {}

    void OnReady() override { bench->Called("ready"); }
    void OnPageChanged(std::optional<std::string_view> domain) override {
      if (bench->host) {
        EXPECT_TRUE(bench->host->SetPage(domain));
      }
      bench->Called(domain ? "page " + std::string(*domain) : "no page");
    }
    void OnDisconnected() override { bench->Called("disconnected"); }
    void OnDeadlineChanged(std::optional<Time> deadline) override {
      bench->executor_timer = deadline;
      bench->Called("deadline");
    }

    BrowserBench* bench;
  };

  static HostOptions Concurrent(size_t concurrency) {
    HostOptions options = HostBench::Options();
    options.limits.concurrency = concurrency;
    return options;
  }

  void Called(std::string event) {
    if (event != "deadline" && event != "message")
      told.push_back(std::move(event));
    if (executor_hook)
      executor_hook();
  }

  ExecutorDelegate delegate_{this};
};

TEST(DevToolsExecutorTest, ItIsReadyAndTellsThePage) {
  BrowserBench bench;
  bench.executor->Start();
  bench.executor->Start();
  EXPECT_EQ(bench.told, (Strings{"ready", "page erp.example.com"}));
}

TEST(DevToolsExecutorTest, CommandsAreCarriedOut) {
  BrowserBench bench;
  bench.Start();
  bench.Command("getText");
  EXPECT_NE(bench.written.back().find(R"("text":"hi")"), std::string::npos);
  EXPECT_FALSE(bench.Pressed());
  bench.Click();
  EXPECT_TRUE(bench.Pressed());
  EXPECT_EQ(bench.TakeAnswers(), (Strings{"1 ok", "2 ok"}));
  EXPECT_FALSE(bench.executor_timer);
}

TEST(DevToolsExecutorTest, ACommandBeforeTheStartWaitsForIt) {
  BrowserBench bench;
  bench.Run();
  bench.Command("getText");
  EXPECT_EQ(bench.TakeAnswers(), Strings());
  bench.executor->Start();
  EXPECT_EQ(bench.TakeAnswers(), (Strings{"1 ok"}));
}

TEST(DevToolsExecutorTest, ACommandThatIsNotAnsweredEndsAtItsDeadline) {
  BrowserBench bench;
  bench.Start();
  bench.browser.held = "aim";
  bench.Command("click", R"({"selector":"#a","timeout_ms":500})");
  bench.Pass(899);
  EXPECT_EQ(bench.TakeAnswers(), Strings());
  bench.Pass(1);
  EXPECT_EQ(bench.TakeAnswers().size(), 1u);
  EXPECT_FALSE(bench.Pressed());
}

TEST(DevToolsExecutorTest, ATimerThatFiresTooEarlyIsSetAgain) {
  BrowserBench bench;
  bench.Start();
  bench.browser.held = "aim";
  bench.Click();
  ASSERT_TRUE(bench.executor_timer);
  bench.executor_timer.reset();
  bench.executor->HandleTimeout();
  EXPECT_TRUE(bench.executor_timer);
}

TEST(DevToolsExecutorTest, ACancelledCommandDoesNothingMore) {
  BrowserBench bench;
  bench.Start();
  bench.browser.held = "aim";
  bench.Click();
  bench.Command("getText");
  bench.browser.held.clear();
  bench.host->Cancel(1);
  bench.executor->Cancel(1);
  bench.executor->Cancel(77);
  EXPECT_EQ(bench.TakeAnswers(), (Strings{"1 CMD_CANCELLED", "2 ok"}));
  bench.Pass(100'000);
  EXPECT_FALSE(bench.Pressed());
}

TEST(DevToolsExecutorTest, WhatTheExecutorAloneLeavesIsAnswered) {
  BrowserBench bench;
  bench.Start();
  bench.browser.held = "aim";
  bench.Click();
  bench.browser.held.clear();
  // The completion that is dropped brings the next command, from within.
  bench.Command("getText");
  bench.executor->Cancel(1);
  EXPECT_EQ(bench.TakeAnswers(), (Strings{"1 INTERNAL_EXECUTOR_GONE", "2 ok"}));
}

TEST(DevToolsExecutorTest, TheEndOfTheBrowserAnswersEverything) {
  BrowserBench bench;
  bench.Start();
  bench.browser.held = "aim";
  bench.Click();
  bench.Click();
  bench.executor->HandleDisconnect();
  bench.executor->HandleDisconnect();
  bench.Click();
  EXPECT_EQ(bench.TakeAnswers(),
            (Strings{"1 INTERNAL_EXECUTOR_GONE", "2 INTERNAL_EXECUTOR_GONE",
                     "3 INTERNAL_EXECUTOR_GONE"}));
  EXPECT_EQ(std::count(bench.told.begin(), bench.told.end(), "disconnected"),
            1);
}

TEST(DevToolsExecutorTest, ItsDestructionAnswersWhatItHas) {
  BrowserBench bench(64, 3);
  bench.Start();
  bench.browser.held = "aim";
  for (int i = 0; i < 5; ++i)
    bench.Click();
  bench.executor.reset();
  // Two came when their turn came, and found no executor.
  EXPECT_EQ(bench.TakeAnswers(),
            (Strings{"1 INTERNAL_EXECUTOR_GONE", "2 INTERNAL_EXECUTOR_GONE",
                     "3 INTERNAL_EXECUTOR_GONE"}));
  bench.Drop();
  EXPECT_EQ(bench.TakeAnswers().size(), 2u);
}

TEST(DevToolsExecutorTest, TooManyWaitingCommandsAreRefused) {
  BrowserBench bench(1, 3);
  bench.Start();
  bench.browser.held = "aim";
  for (int i = 0; i < 3; ++i)
    bench.Click();
  EXPECT_EQ(bench.TakeAnswers(), (Strings{"3 INTERNAL_OVERLOADED"}));
}

TEST(DevToolsExecutorTest, ASecondCommandOfOneSeqIsRefused) {
  BrowserBench bench;
  HostBench other;
  bench.Start();
  bench.browser.held = "text";
  bench.Command("getText");
  other.Run();
  other.Command("getText");
  auto node = other.executing.extract(1);
  bench.executor->Execute(std::move(node.mapped().first),
                          std::move(node.mapped().second));
  EXPECT_EQ(other.TakeAnswers(), (Strings{"1 INTERNAL_UNKNOWN"}));
  EXPECT_EQ(bench.TakeAnswers(), Strings());
  bench.executor->HandleDisconnect();
  EXPECT_EQ(bench.TakeAnswers(), (Strings{"1 INTERNAL_EXECUTOR_GONE"}));
}

TEST(DevToolsExecutorTest, ACommandThatWasMovedFromIsAnsweredByItsCompletion) {
  BrowserBench bench;
  bench.executor->Start();
  HostBench other;
  other.Run();
  other.Click();
  auto node = other.executing.extract(1);
  Command kept = std::move(node.mapped().first);
  bench.executor->Execute(std::move(node.mapped().first),
                          std::move(node.mapped().second));
  EXPECT_EQ(other.TakeAnswers(), (Strings{"1 INTERNAL_EXECUTOR_GONE"}));
}

TEST(DevToolsExecutorTest, APolicyThatChangedWhileItWaitedCounts) {
  BrowserBench bench;
  bench.Start();
  bench.browser.held = "aim";
  bench.Click();
  bench.executor->SetPolicy(Policy());
  bench.browser.held.clear();
  bench.browser.Event("Runtime.executionContextsCleared", "{}");
  bench.Pass(20);
  EXPECT_EQ(bench.TakeAnswers(), (Strings{"1 MAC_DOMAIN_DENIED"}));
}

TEST(DevToolsExecutorTest, APageOnAnotherHostIsNotActedUpon) {
  BrowserBench bench;
  bench.Start();
  bench.browser.origin = "https://other.example.com";
  bench.Click();
  EXPECT_EQ(bench.TakeAnswers(), (Strings{"1 MAC_DOMAIN_MISMATCH"}));
  EXPECT_FALSE(bench.Pressed());
}

TEST(DevToolsExecutorTest, ACrashEndsTheCommandsAndLeavesThePage) {
  BrowserBench bench;
  bench.Start();
  bench.browser.held = "aim";
  bench.Click();
  bench.browser.Event("Inspector.targetCrashed", "{}");
  bench.Click();
  EXPECT_EQ(bench.TakeAnswers(),
            (Strings{"1 CMD_PAGE_CRASHED", "2 CMD_PAGE_CRASHED"}));
  EXPECT_EQ(bench.told.back(), "page erp.example.com");
}

TEST(DevToolsExecutorTest, ATabThatClosesTakesThePageAway) {
  BrowserBench bench;
  bench.Start();
  bench.executor->HandleMessage(
      R"({"method":"Target.targetDestroyed","params":{"targetId":"T"}})");
  EXPECT_EQ(bench.told.back(), "no page");
  bench.Click();
  EXPECT_EQ(bench.TakeAnswers(), (Strings{"1 MAC_DOMAIN_MISMATCH"}));
}

TEST(DevToolsExecutorTest, WhatABrowserShouldNotSayIsIgnored) {
  BrowserBench bench;
  bench.Start();
  for (std::string_view message :
       {std::string_view(), std::string_view("{"), std::string_view("[]"),
        std::string_view(R"({"id":1e300})"), std::string_view("{\"id\":1}"),
        std::string_view(R"({"method":"Page.frameNavigated"})"), kNotUtf8}) {
    bench.executor->HandleMessage(message);
  }
  bench.executor->HandleMessage(std::string(5'000'000, '['));
  bench.Command("getText");
  EXPECT_EQ(bench.TakeAnswers(), (Strings{"1 ok"}));
}

// A session in which every method of the delegate and the transport is called.
void Play(BrowserBench& bench) {
  auto executor = [&](auto call) {
    if (bench.executor)
      call(*bench.executor);
  };
  executor([&](DevToolsExecutor&) { bench.Start(); });
  bench.Command("getText");
  bench.browser.held = "aim";
  bench.Click();
  bench.Command("getText");
  if (bench.host)
    bench.host->Cancel(2);
  bench.Click();
  bench.Pass(40'000);
  executor([](DevToolsExecutor& executor) { executor.HandleDisconnect(); });
  bench.Click();
}

TEST(DevToolsExecutorTest, EveryMethodMayBeCalledFromEveryCallback) {
  const std::function<void(BrowserBench&)> methods[] = {
      [](BrowserBench& bench) { bench.executor->Start(); },
      [](BrowserBench& bench) { bench.executor->HandleMessage("{}"); },
      [](BrowserBench& bench) { bench.executor->HandleDisconnect(); },
      [](BrowserBench& bench) { bench.executor->HandleTimeout(); },
      [](BrowserBench& bench) { bench.executor->SetPolicy(Policy()); },
      [](BrowserBench& bench) {
        for (uint64_t seq = 1; seq < 9; ++seq)
          bench.executor->Cancel(seq);
      },
      [](BrowserBench& bench) { bench.Click(); },
      [](BrowserBench& bench) {
        if (bench.host)
          bench.host->Stop();
      },
      [](BrowserBench& bench) { bench.clock.AdvanceMs(100'000); },
      [](BrowserBench& bench) { bench.host.reset(); },
      [](BrowserBench& bench) { bench.executor.reset(); },
      [](BrowserBench& bench) {
        bench.host.reset();
        bench.executor.reset();
      },
  };
  for (const auto& method : methods) {
    // At each single call.
    bool reached = true;
    for (int at = 0; reached; ++at) {
      BrowserBench bench;
      reached = false;
      int calls = 0;
      bench.executor_hook = [&] {
        if (bench.executor && calls++ == at) {
          reached = true;
          method(bench);
        }
      };
      Play(bench);
      // What nobody carries out any more is dropped, and so answered, once.
      bench.executor.reset();
      bench.Drop();
      Strings answers = bench.TakeAnswers();
      std::sort(answers.begin(), answers.end());
      for (size_t i = 1; i < answers.size(); ++i) {
        EXPECT_NE(answers[i].substr(0, answers[i].find(' ')),
                  answers[i - 1].substr(0, answers[i - 1].find(' ')));
      }
      ASSERT_LT(at, 1000);
    }
  }
}

}  // namespace
}  // namespace sgclaw
