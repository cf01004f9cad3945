#include "sgclaw/agent.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "third_party/sgclaw/cpp/testing/host_bench.h"
#include "third_party/sgclaw/cpp/testing/test_url_parser.h"

namespace sgclaw {
namespace {

using testing::Field;
using testing::HostBench;
using testing::kClick;
using testing::kDomain;
using testing::kNotUtf8;
using testing::TestClock;
using testing::TestUrlParser;
using testing::Timer;

using Strings = std::vector<std::string>;

constexpr std::string_view kInit =
    R"({"type":"init","version":"1.0",)"
    R"("hmac_seed":"5eedc0de5eedc0de5eedc0de5eedc0de"})"
    "\n";

std::string Response(uint64_t seq, std::string_view code = {}) {
  std::string line =
      R"({"type":"response","seq":)" + std::to_string(seq) + R"(,"success":)";
  if (code.empty())
    return line + R"(true,"data":{"text":"hi"}})" + "\n";
  return line + R"(false,"error":{"code":")" + std::string(code) +
         R"(","message":"no","details":{"reason":"covered"}}})" + "\n";
}

// An agent whose host is the test.
class AgentBench : public Agent::Delegate {
 public:
  explicit AgentBench(
      std::string agent_id = "0b7e2a54-3c1d-4e8f-9a6b-5c4d3e2f1a0b") {
    AgentOptions options;
    options.agent_id = std::move(agent_id);
    options.url_parser = std::make_shared<TestUrlParser>();
    agent = std::make_unique<Agent>(std::move(options), this, &clock);
  }

  void Run() { agent->HandleInput(kInit); }

  RequestStatus Click() { return Ask("click"); }
  RequestStatus Ask(std::string_view action) {
    return agent->Request(action, kClick, kDomain, [this](AgentResult result) {
      std::string event = "done " + std::to_string(result.seq) + " " +
                          std::to_string(result.attempts) + " ";
      if (result.failure)
        event.append(ErrorCodeName(result.failure->code))
            .append(result.failure->details);
      event += result.data;
      events.push_back(std::move(event));
      Called();
    });
  }

  void WaitMs(uint64_t ms) {
    Time end = Time::FromMicroseconds(clock.Now().InMicroseconds() + ms * 1000);
    while (agent && timer && *timer <= end) {
      clock.Set(*timer);
      timer.reset();
      agent->HandleTimeout();
    }
    clock.Set(end);
  }

  Strings TakeEvents() { return std::exchange(events, {}); }

  TestClock clock;
  Timer timer;
  Strings events;
  Strings written;
  std::function<void()> hook;
  std::unique_ptr<Agent> agent;

 private:
  void OnReady() override { Event("ready"); }
  void OnOutputReady() override {
    while (!agent->output().empty()) {
      written.emplace_back(agent->output());
      agent->OutputWritten(written.back().size());
    }
    Called();
  }
  void OnDeadlineChanged(std::optional<Time> deadline) override {
    timer = deadline;
    Called();
  }
  void OnActionStopped(std::string_view action) override {
    Event("stopped " + std::string(action));
  }
  void OnLog(std::string_view line) override {
    EXPECT_FALSE(line.empty());
    Event("log");
  }
  void OnEnded(const std::optional<Failure>& failure) override {
    Event("ended" + (failure ? " " + std::string(ErrorCodeName(failure->code))
                             : std::string()));
  }

  void Event(std::string event) {
    events.push_back(std::move(event));
    Called();
  }
  void Called() {
    if (hook)
      hook();
  }
};

TEST(AgentTest, ItAnswersInitAndAsks) {
  AgentBench bench;
  EXPECT_EQ(bench.Click(), RequestStatus::kNotRunning);
  bench.Run();
  ASSERT_EQ(bench.written.size(), 1u);
  EXPECT_EQ(Field(bench.written[0], "type"), "init_ack");
  EXPECT_EQ(bench.Click(), RequestStatus::kSent);
  EXPECT_EQ(Field(bench.written[1], "action"), "click");
  EXPECT_EQ(bench.agent->in_flight(), 1u);
  bench.agent->HandleInput(Response(1));
  EXPECT_EQ(bench.agent->in_flight(), 0u);
  EXPECT_EQ(bench.TakeEvents(),
            (Strings{"ready", R"(done 1 1 {"text":"hi"})"}));
}

TEST(AgentTest, InputMayBeSplitAnywhere) {
  AgentBench bench;
  std::string input = std::string(kInit) + Response(7);
  for (char c : input)
    bench.agent->HandleInput(std::string_view(&c, 1));
  bench.agent->HandleInput(std::string_view());
  EXPECT_EQ(bench.TakeEvents(), (Strings{"ready", "log"}));
}

TEST(AgentTest, WhatCannotBeSentIsRefusedWithItsReason) {
  AgentBench bench;
  bench.Run();
  Agent& agent = *bench.agent;
  auto never = [](AgentResult) { ADD_FAILURE(); };
  EXPECT_EQ(agent.Request("a-b", kClick, kDomain, never),
            RequestStatus::kInvalidAction);
  EXPECT_EQ(agent.Request(kNotUtf8, kClick, kDomain, never),
            RequestStatus::kInvalidAction);
  EXPECT_EQ(agent.Request({}, {}, {}, never), RequestStatus::kInvalidAction);
  EXPECT_EQ(agent.Request("click", "[]", kDomain, never),
            RequestStatus::kInvalidParams);
  EXPECT_EQ(agent.Request("click", kNotUtf8, kDomain, never),
            RequestStatus::kInvalidParams);
  EXPECT_EQ(agent.Request("click", R"({"a":1,"a":1})", kDomain, never),
            RequestStatus::kInvalidParams);
  EXPECT_EQ(agent.Request("click", kClick, "ERP.example.com", never),
            RequestStatus::kInvalidDomain);
  EXPECT_EQ(agent.Request("click", kClick, kNotUtf8, never),
            RequestStatus::kInvalidDomain);
  std::string large =
      R"({"selector":")" + std::string(1'048'576, 'x') + R"("})";
  EXPECT_EQ(agent.Request("click", large, kDomain, never),
            RequestStatus::kTooLarge);
  std::string deep =
      "{\"a\":" + std::string(63, '[') + std::string(63, ']') + "}";
  EXPECT_EQ(agent.Request("click", deep, kDomain, never),
            RequestStatus::kTooDeep);
  EXPECT_EQ(agent.in_flight(), 0u);
  EXPECT_EQ(bench.written.size(), 1u);
}

TEST(AgentTest, ASelectorThatTimedOutIsTriedTwiceMore) {
  AgentBench bench;
  bench.Run();
  (void)bench.Click();
  bench.agent->HandleInput(Response(1, "CMD_SELECTOR_TIMEOUT"));
  bench.WaitMs(499);
  EXPECT_EQ(bench.written.size(), 2u);
  bench.WaitMs(1);
  EXPECT_EQ(Field(bench.written.back(), "seq"), "2");
  bench.agent->HandleInput(Response(2, "CMD_SELECTOR_TIMEOUT"));
  bench.WaitMs(1000);
  EXPECT_EQ(bench.agent->in_flight(), 1u);
  bench.agent->HandleInput(Response(3, "CMD_SELECTOR_TIMEOUT"));
  bench.WaitMs(100'000);
  EXPECT_EQ(bench.TakeEvents(),
            (Strings{"ready",
                     R"(done 3 3 CMD_SELECTOR_TIMEOUT{"reason":"covered"})"}));
  EXPECT_FALSE(bench.timer);
}

TEST(AgentTest, AnActionThatFailsInternallyIsStoppedUntilItsReset) {
  AgentBench bench;
  bench.Run();
  (void)bench.Click();
  bench.agent->HandleInput(Response(1, "INTERNAL_UNKNOWN"));
  bench.WaitMs(1000);
  bench.agent->HandleInput(Response(2, "INTERNAL_UNKNOWN"));
  EXPECT_EQ(bench.TakeEvents()[1], "stopped click");
  EXPECT_EQ(bench.Click(), RequestStatus::kActionStopped);
  EXPECT_EQ(bench.Ask("hover"), RequestStatus::kSent);
  bench.agent->ResetAction(kNotUtf8);
  EXPECT_EQ(bench.Click(), RequestStatus::kActionStopped);
  bench.agent->ResetAction("click");
  EXPECT_EQ(bench.Click(), RequestStatus::kSent);
}

TEST(AgentTest, ADuplicatesRefusalIsNotTheAnswerToTheOriginal) {
  AgentBench bench;
  bench.Run();
  (void)bench.Click();
  bench.agent->HandleInput(Response(1, "PIPE_SEQ_DUPLICATE"));
  bench.agent->HandleInput(Response(1));
  bench.agent->HandleInput(Response(1));
  EXPECT_EQ(bench.TakeEvents(),
            (Strings{"ready", "log", R"(done 1 1 {"text":"hi"})", "log"}));
}

TEST(AgentTest, WhatWaitsAtTheEndIsAnsweredPipeClosed) {
  AgentBench bench;
  bench.Run();
  (void)bench.Click();
  (void)bench.Click();
  bench.agent->HandleEndOfInput();
  bench.agent->HandleEndOfInput();
  EXPECT_EQ(bench.TakeEvents(),
            (Strings{"ready", "done 1 1 PIPE_CLOSED", "done 2 1 PIPE_CLOSED",
                     "ended PIPE_CLOSED"}));
  EXPECT_EQ(bench.Click(), RequestStatus::kNotRunning);
}

TEST(AgentTest, TheEndWithNothingWaitingIsNoFailure) {
  AgentBench bench;
  bench.Run();
  bench.agent->HandleEndOfInput();
  EXPECT_EQ(bench.TakeEvents(), (Strings{"ready", "ended"}));
}

TEST(AgentTest, AHostThatIsWrongEndsIt) {
  const std::pair<std::string, std::string> wrong[] = {
      {"nonsense\n", "ended PIPE_INVALID_JSON"},
      {std::string(kNotUtf8) + "\n", "ended PIPE_INVALID_JSON"},
      {std::string(2'000'000, 'x'), "ended PIPE_MESSAGE_TOO_LARGE"},
      {Response(1), "ended PIPE_UNEXPECTED_MESSAGE"},
      {R"({"type":"init","version":"9.9","hmac_seed":"00"})"
       "\n",
       "ended PIPE_VERSION_MISMATCH"},
  };
  for (const auto& [input, event] : wrong) {
    AgentBench bench;
    bench.agent->HandleInput(input);
    EXPECT_EQ(bench.TakeEvents(), (Strings{event}));
  }
}

TEST(AgentTest, AnIdThatIsNoneIsRefusedByTheHostAndEndsNothingHere) {
  AgentBench bench{std::string(kNotUtf8)};
  bench.Run();
  EXPECT_EQ(bench.written.size(), 1u);
  HostBench host;
  host.host->Start();
  host.host->HandleInput(bench.written[0]);
  EXPECT_EQ(host.TakeAnswers(), (Strings{"0 PIPE_SCHEMA_INVALID"}));
}

TEST(AgentTest, ACallbackMayBeLeftOut) {
  AgentBench bench;
  bench.Run();
  EXPECT_EQ(bench.agent->Request("click", kClick, kDomain, nullptr),
            RequestStatus::kSent);
  bench.agent->HandleInput(Response(1));
  EXPECT_EQ(bench.TakeEvents(), (Strings{"ready"}));
}

TEST(AgentTest, WhatACallbackHoldsGoesWithTheAgent) {
  AgentBench bench;
  bench.Run();
  auto held = std::make_shared<int>(1);
  (void)bench.agent->Request("click", kClick, kDomain,
                             [held](AgentResult) { ADD_FAILURE(); });
  (void)bench.agent->Request("a-b", kClick, kDomain, [held](AgentResult) {});
  EXPECT_EQ(held.use_count(), 2);
  bench.agent.reset();
  EXPECT_EQ(held.use_count(), 1);
}

TEST(AgentTest, OutputIsToldAgainWhenItWasWrittenAndCausedInOneCall) {
  AgentBench bench;
  bench.Run();
  bench.hook = [&] {
    if (bench.agent->in_flight() < 20)
      (void)bench.Click();
  };
  (void)bench.Click();
  EXPECT_EQ(bench.written.size(), 21u);
}

// A session with a host, in which every method of the delegate is called.
void Play(AgentBench& bench) {
  auto agent = [&](auto call) {
    if (bench.agent)
      call(*bench.agent);
  };
  auto input = [&](std::string_view bytes) {
    agent([&](Agent& agent) { agent.HandleInput(bytes); });
  };
  input(kInit);
  agent([&](Agent&) { (void)bench.Click(); });
  input(Response(1));
  input(Response(99));
  agent([&](Agent&) { (void)bench.Ask("hover"); });
  input(Response(2, "INTERNAL_UNKNOWN"));
  bench.WaitMs(1000);
  input(Response(3, "INTERNAL_UNKNOWN"));
  agent([&](Agent&) { (void)bench.Click(); });
  agent([](Agent& agent) { agent.HandleEndOfInput(); });
}

TEST(AgentTest, EveryMethodMayBeCalledFromEveryCallback) {
  const std::function<void(AgentBench&)> methods[] = {
      [](AgentBench& bench) { (void)bench.Click(); },
      [](AgentBench& bench) { bench.agent->HandleInput(kInit); },
      [](AgentBench& bench) { bench.agent->HandleInput(Response(1)); },
      [](AgentBench& bench) { bench.agent->HandleEndOfInput(); },
      [](AgentBench& bench) { bench.agent->HandleTimeout(); },
      [](AgentBench& bench) { bench.agent->OutputWritten(1); },
      [](AgentBench& bench) { bench.agent->ResetAction("hover"); },
      [](AgentBench& bench) { bench.clock.AdvanceMs(100'000); },
      [](AgentBench& bench) { bench.agent.reset(); },
  };
  for (const auto& method : methods) {
    // At each single call of the delegate.
    bool reached = true;
    for (int at = 0; reached; ++at) {
      AgentBench bench;
      reached = false;
      int calls = 0;
      bench.hook = [&] {
        // Nobody is called after the end.
        ASSERT_TRUE(bench.agent);
        if (calls++ == at) {
          reached = true;
          method(bench);
        }
      };
      Play(bench);
      ASSERT_LT(at, 1000);
    }
  }
}

// A host and an agent in one program, wired back to back.
TEST(AgentTest, AHostAndAnAgentUnderstandEachOther) {
  HostBench host;
  AgentBench agent;
  agent.hook = [&] {
    while (!agent.written.empty()) {
      std::string line = std::move(agent.written.front());
      agent.written.erase(agent.written.begin());
      host.host->HandleInput(line);
    }
  };
  size_t carried = 0;
  host.hook = [&](testing::Callback callback) {
    if (callback == testing::Callback::kCommand)
      host.Succeed(host.executing.begin()->first, R"({"text":"你好"})");
    while (carried < host.written.size())
      agent.agent->HandleInput(host.written[carried++] + "\n");
  };
  host.host->Start();
  EXPECT_EQ(host.host->state(), HostState::kRunning);
  for (int i = 0; i < 10; ++i)
    EXPECT_EQ(agent.Click(), RequestStatus::kSent);
  Strings events = agent.TakeEvents();
  ASSERT_EQ(events.size(), 11u);
  EXPECT_EQ(events.back(), R"(done 10 1 {"text":"你好"})");
}

}  // namespace
}  // namespace sgclaw
