// Calls from within calls: every method of Host from within every method of its
// delegate, and its end from within each.

#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "sgclaw/host.h"
#include "third_party/sgclaw/cpp/testing/host_bench.h"

namespace sgclaw {
namespace {

using testing::Callback;
using testing::Field;
using testing::HostBench;
using testing::kCallbacks;
using testing::kClick;
using testing::kDomain;

using Method = std::pair<const char*, std::function<void(HostBench&)>>;

// A session in which every method of the delegate is called.
void Play(HostBench& bench) {
  auto host = [&](auto call) {
    if (bench.host)
      call(*bench.host);
  };
  bench.Run();
  bench.Click();
  bench.Succeed(1);
  bench.Command("hover");
  host([](Host& host) { host.Confirm(2, true); });
  bench.Fail(2, ErrorCode::kCmdTimeout);
  bench.Click();
  host([](Host& host) { host.Cancel(3); });
  for (int i = 0; i < 11; ++i)
    bench.Command("type", "{}");
  bench.Click();
  bench.Click();
  bench.Drop();
  host([](Host& host) { host.Stop(); });
  bench.WaitMs(2000);
  bench.WaitMs(1000);
  host([](Host& host) { host.HandleExitSignal(9); });
}

// No seq was answered twice. (A duplicate's refusal is no answer to its seq.)
void ExpectNoSecondAnswer(HostBench& bench) {
  std::map<std::string, int> answers;
  for (const std::string& line : bench.written) {
    std::string seq = Field(line, "seq");
    if (!seq.empty() && seq != "0" &&
        Field(line, "code") != "PIPE_SEQ_DUPLICATE") {
      EXPECT_EQ(++answers[seq], 1) << line;
    }
  }
}

std::vector<Method> Methods() {
  return {
      {"Start", [](HostBench& bench) { bench.host->Start(); }},
      {"HandleInput", [](HostBench& bench) { bench.host->HandleInput("x\n"); }},
      {"a command", [](HostBench& bench) { bench.Click(); }},
      {"a whole flood",
       [](HostBench& bench) {
         for (int i = 0; i < 100; ++i)
           bench.Click();
       }},
      {"HandleEndOfInput",
       [](HostBench& bench) { bench.host->HandleEndOfInput(); }},
      {"HandleOutputClosed",
       [](HostBench& bench) { bench.host->HandleOutputClosed(); }},
      {"HandleExitCode",
       [](HostBench& bench) { bench.host->HandleExitCode(0); }},
      {"HandleExitSignal",
       [](HostBench& bench) { bench.host->HandleExitSignal(9); }},
      {"HandleTimeout", [](HostBench& bench) { bench.host->HandleTimeout(); }},
      {"OutputWritten",
       [](HostBench& bench) {
         bench.host->OutputWritten(bench.host->output().size());
       }},
      {"wants_input",
       [](HostBench& bench) { (void)bench.host->wants_input(); }},
      {"Confirm", [](HostBench& bench) { bench.host->Confirm(2, true); }},
      {"Refuse", [](HostBench& bench) { bench.host->Confirm(2, false); }},
      {"Cancel",
       [](HostBench& bench) {
         for (uint64_t seq = 1; seq < 20; ++seq)
           bench.host->Cancel(seq);
       }},
      {"SetPolicy", [](HostBench& bench) { bench.host->SetPolicy(Policy()); }},
      {"SetPage", [](HostBench& bench) { bench.host->SetPage(std::nullopt); }},
      {"ResetBreaker",
       [](HostBench& bench) { bench.host->ResetBreaker("type"); }},
      {"Stop", [](HostBench& bench) { bench.host->Stop(); }},
      {"the getters",
       [](HostBench& bench) {
         bench.host->state();
         bench.host->in_flight();
         bench.host->negotiated_actions();
         bench.host->output();
       }},
      {"an answer",
       [](HostBench& bench) {
         for (uint64_t seq = 1; seq < 20; ++seq)
           bench.Succeed(seq);
       }},
      {"a failure",
       [](HostBench& bench) {
         for (uint64_t seq = 1; seq < 20; ++seq)
           bench.Fail(seq, ErrorCode::kCmdTimeout);
       }},
      {"a drop", [](HostBench& bench) { bench.Drop(); }},
      {"time", [](HostBench& bench) { bench.clock.AdvanceMs(1'000'000); }},
      {"the end", [](HostBench& bench) { bench.host.reset(); }},
  };
}

TEST(HostReentrancyTest, TheSessionOfTheseTestsCallsEverything) {
  HostBench bench;
  std::set<Callback> called;
  bench.hook = [&](Callback callback) { called.insert(callback); };
  Play(bench);
  EXPECT_EQ(called.size(), static_cast<size_t>(kCallbacks));
  ExpectNoSecondAnswer(bench);
  EXPECT_EQ(bench.host->state(), HostState::kStopped);
}

TEST(HostReentrancyTest, EveryMethodMayBeCalledOnceFromEveryCallback) {
  for (int at = 0; at < kCallbacks; ++at) {
    for (const auto& [name, method] : Methods()) {
      SCOPED_TRACE(std::string(name) + " in callback " + std::to_string(at));
      HostBench bench;
      bool called = false;
      bench.hook = [&, &call = method](Callback callback) {
        if (bench.host && callback == static_cast<Callback>(at) &&
            !std::exchange(called, true)) {
          call(bench);
        }
      };
      Play(bench);
      EXPECT_TRUE(called);
      ExpectNoSecondAnswer(bench);
    }
  }
}

TEST(HostReentrancyTest, EveryMethodMayBeCalledAlwaysFromEveryCallback) {
  for (int at = 0; at < kCallbacks; ++at) {
    for (const auto& [name, method] : Methods()) {
      SCOPED_TRACE(std::string(name) + " in callback " + std::to_string(at));
      HostBench bench;
      // What goes on for ever would go on for ever.
      int left = 50;
      bench.hook = [&, &call = method](Callback callback) {
        if (bench.host && callback == static_cast<Callback>(at) && left-- > 0)
          call(bench);
      };
      Play(bench);
      ExpectNoSecondAnswer(bench);
    }
  }
}

TEST(HostReentrancyTest, NobodyIsCalledAfterTheEnd) {
  // At each single call of the delegate.
  for (int at = 0;; ++at) {
    HostBench bench;
    int calls = 0;
    bench.hook = [&](Callback) {
      EXPECT_LE(calls, at);
      if (calls++ == at)
        bench.host.reset();
    };
    Play(bench);
    if (bench.host)
      break;
  }
}

TEST(HostReentrancyTest, CallsDoNotNest) {
  HostBench bench;
  int depth = 0;
  int deepest = 0;
  HostOptions options = HostBench::Options();
  bench.hook = [&](Callback callback) {
    deepest = std::max(deepest, ++depth);
    // Each answer brings the next command.
    if (callback == Callback::kCommand) {
      while (!bench.executing.empty())
        bench.Succeed(bench.executing.begin()->first);
    }
    --depth;
  };
  bench.Run();
  std::string lines;
  for (int i = 0; i < 64; ++i)
    lines += bench.signer.Sign("click", kClick);
  bench.host->HandleInput(lines);
  EXPECT_EQ(bench.TakeAnswers().size(), 64u);
  EXPECT_EQ(deepest, 1);
}

TEST(HostReentrancyTest, EventsComeInTheOrderInWhichTheyWereCaused) {
  HostBench bench;
  bench.hook = [&](Callback callback) {
    if (callback == Callback::kCommand)
      bench.host->Stop();
  };
  bench.Run();
  bench.Click();
  EXPECT_EQ(bench.TakeEvents(),
            (std::vector<std::string>{"Handshaking", "Running", "execute 1",
                                      "cancel 1", "Stopping", "close stdin"}));
}

}  // namespace
}  // namespace sgclaw
