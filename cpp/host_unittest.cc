#include "sgclaw/host.h"

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "third_party/sgclaw/cpp/testing/host_bench.h"
#include "third_party/sgclaw/cpp/testing/test_hmac.h"

namespace sgclaw {
namespace {

using testing::Callback;
using testing::Field;
using testing::HostBench;
using testing::kClick;
using testing::kDomain;
using testing::kNotUtf8;
using testing::TestHmac;

using Strings = std::vector<std::string>;

constexpr size_t kLimit = 1'048'576;

// The line with another HMAC.
std::string Forged(std::string line) {
  size_t at = line.find("\"hmac\":\"") + 8;
  line[at] = line[at] == '0' ? '1' : '0';
  return line;
}

TEST(HostTest, ACommandGoesThroughAndIsAnsweredOnce) {
  HostBench bench;
  EXPECT_EQ(bench.host->state(), HostState::kIdle);
  bench.Run();
  EXPECT_EQ(bench.host->state(), HostState::kRunning);
  EXPECT_EQ(bench.TakeEvents(), (Strings{"Handshaking", "Running"}));
  EXPECT_EQ(bench.host->negotiated_actions().size(), 17u);
  bench.Click();
  EXPECT_EQ(bench.TakeEvents(), (Strings{"execute 1"}));
  EXPECT_EQ(bench.host->in_flight(), 1u);
  bench.Succeed(1, R"({"opened_tab":"7"})");
  EXPECT_EQ(bench.TakeAnswers(), (Strings{"1 ok"}));
  EXPECT_NE(bench.written.back().find(R"("data":{"opened_tab":"7"})"),
            std::string::npos);
  EXPECT_EQ(bench.host->in_flight(), 0u);
}

TEST(HostTest, InputMayBeSplitAnywhere) {
  for (size_t size : {1, 2, 3, 7, 1000000}) {
    HostBench bench;
    bench.Run();
    std::string input = bench.signer.Sign("click", R"({"selector":"#你😀"})");
    input += bench.signer.Sign("getText", kClick);
    input += "\n{\n";
    input += Forged(bench.signer.Sign("click", kClick));
    for (size_t at = 0; at < input.size(); at += size)
      bench.host->HandleInput(std::string_view(input).substr(at, size));
    bench.host->HandleInput(std::string_view());
    bench.Succeed(1);
    bench.Succeed(2);
    EXPECT_EQ(bench.TakeAnswers(),
              (Strings{"0 PIPE_INVALID_JSON", "0 PIPE_INVALID_JSON",
                       "3 PIPE_HMAC_INVALID", "1 ok", "2 ok"}));
  }
}

TEST(HostTest, AReplayIsRefusedAndExecutesNothing) {
  HostBench bench;
  bench.Run();
  std::string first = bench.signer.Sign("click", kClick);
  std::string second = bench.signer.Sign("click", kClick);
  bench.host->HandleInput(first);
  // In flight, and again when it was answered.
  bench.host->HandleInput(first);
  bench.Succeed(1);
  bench.host->HandleInput(first);
  std::string third = bench.signer.Sign("click", kClick);
  bench.host->HandleInput(third);
  bench.Succeed(3);
  bench.host->HandleInput(second);
  EXPECT_EQ(bench.TakeAnswers(),
            (Strings{"1 PIPE_SEQ_DUPLICATE", "1 ok", "1 PIPE_SEQ_DUPLICATE",
                     "3 ok", "2 PIPE_SEQ_OUT_OF_ORDER"}));
  EXPECT_EQ(bench.TakeEvents(),
            (Strings{"Handshaking", "Running", "execute 1", "execute 3"}));
}

TEST(HostTest, AGapIsRefusedWhereSeqsMustBeContiguous) {
  HostOptions options = HostBench::Options();
  options.limits.contiguous_seq = true;
  HostBench bench(std::move(options));
  bench.Run();
  bench.Click();
  bench.signer.Sign("click", kClick);
  bench.Click();
  EXPECT_EQ(bench.TakeAnswers(), (Strings{"3 PIPE_SEQ_OUT_OF_ORDER"}));
}

TEST(HostTest, ALineThatIsTooLongIsRefusedOnceAndSkipped) {
  HostBench bench;
  bench.Run();
  const std::string chunk(100'000, 'x');
  for (size_t sent = 0; sent < 3 * kLimit; sent += chunk.size())
    bench.host->HandleInput(chunk);
  bench.host->HandleInput("\n");
  bench.Click();
  bench.Succeed(1);
  EXPECT_EQ(bench.TakeAnswers(), (Strings{"0 PIPE_MESSAGE_TOO_LARGE", "1 ok"}));
}

TEST(HostTest, AFloodOfRejectionsEndsTheSession) {
  HostBench bench;
  bench.Run();
  bench.TakeEvents();
  for (int i = 0; i < 100; ++i)
    bench.host->HandleInput("nonsense\n");
  EXPECT_EQ(bench.TakeAnswers().size(), 16u);
  EXPECT_EQ(bench.TakeEvents(),
            (Strings{"Crashed PIPE_INVALID_JSON", "close stdin", "kill"}));
  EXPECT_EQ(bench.host->state(), HostState::kCrashed);
}

TEST(HostTest, AFloodOfCommandsIsRefusedBeyondTheCapacity) {
  HostBench bench;
  bench.Run();
  for (int i = 0; i < 100; ++i)
    bench.Click();
  EXPECT_EQ(bench.host->in_flight(), 64u);
  EXPECT_EQ(bench.executing.size(), 1u);
  EXPECT_EQ(bench.TakeAnswers().size(), 36u);
  for (uint64_t seq = 1; seq <= 64; ++seq)
    bench.Succeed(seq);
  EXPECT_EQ(bench.TakeAnswers().size(), 64u);
  EXPECT_EQ(bench.host->in_flight(), 0u);
}

TEST(HostTest, AnAgentThatDoesNotReadIsNotReadFrom) {
  HostBench bench;
  bench.Run();
  bench.unread = true;
  int sent = 0;
  while (bench.host->wants_input() && sent < 1000) {
    bench.Click();
    bench.Succeed(static_cast<uint64_t>(++sent),
                  "{\"text\":\"" + std::string(100'000, 'x') + "\"}");
  }
  EXPECT_EQ(sent, 42);
  // It reads again.
  while (!bench.host->output().empty())
    bench.host->OutputWritten(bench.host->output().size());
  EXPECT_TRUE(bench.host->wants_input());
}

TEST(HostTest, OutputIsWrittenInPartsOfAnySize) {
  HostBench bench;
  bench.Run();
  bench.unread = true;
  bench.Click();
  bench.Succeed(1);
  bench.Click();
  bench.Succeed(2);
  std::string written;
  while (!bench.host->output().empty()) {
    written.push_back(bench.host->output().front());
    bench.host->OutputWritten(1);
  }
  // More than there is.
  bench.host->OutputWritten(1000);
  size_t lf = written.find('\n');
  EXPECT_EQ(testing::Summary(written.substr(0, lf)), "1 ok");
  EXPECT_EQ(testing::Summary(written.substr(lf)), "2 ok");
  EXPECT_EQ(written.back(), '\n');
}

TEST(HostTest, OutputIsToldOnceAndAgainAfterAllWasWritten) {
  HostBench bench;
  bench.Run();
  int told = 0;
  bench.unread = true;
  bench.hook = [&](Callback callback) {
    told += callback == Callback::kOutputReady;
  };
  bench.host->HandleInput("1\n2\n");
  EXPECT_EQ(told, 1);
  bench.host->HandleInput("3\n");
  bench.host->OutputWritten(1);
  EXPECT_EQ(told, 1);
  while (!bench.host->output().empty())
    bench.host->OutputWritten(bench.host->output().size());
  EXPECT_EQ(told, 1);
  bench.host->HandleInput("4\n");
  EXPECT_EQ(told, 2);
}

TEST(HostTest, OutputIsToldAgainWhenItWasWrittenAndCausedInOneCall) {
  HostBench bench;
  bench.Run();
  bench.unread = true;
  bench.host->HandleInput("1\n");
  int told = 0;
  bench.hook = [&](Callback callback) {
    told += callback == Callback::kOutputReady;
    if (callback != Callback::kCommand)
      return;
    while (!bench.host->output().empty())
      bench.host->OutputWritten(bench.host->output().size());
    bench.Succeed(1);
  };
  bench.Click();
  EXPECT_FALSE(bench.host->output().empty());
  EXPECT_EQ(told, 1);
}

TEST(HostTest, TheHandshakeHasATime) {
  HostBench bench;
  bench.host->Start();
  bench.WaitMs(4999);
  EXPECT_EQ(bench.host->state(), HostState::kHandshaking);
  bench.WaitMs(1);
  EXPECT_EQ(bench.TakeEvents(),
            (Strings{"Handshaking", "Crashed PIPE_HANDSHAKE_TIMEOUT",
                     "close stdin", "kill"}));
  EXPECT_FALSE(bench.timer);
}

TEST(HostTest, ATimerThatFiresTooEarlyIsSetAgain) {
  HostBench bench;
  bench.host->Start();
  ASSERT_TRUE(bench.timer);
  Time deadline = *bench.timer;
  bench.timer.reset();
  bench.host->HandleTimeout();
  ASSERT_TRUE(bench.timer);
  EXPECT_EQ(*bench.timer, deadline);
}

TEST(HostTest, TheTimerIsTakenDownWhenNothingWaits) {
  HostBench bench;
  bench.Run();
  EXPECT_FALSE(bench.timer);
  bench.Click();
  ASSERT_TRUE(bench.timer);
  EXPECT_EQ(bench.timer->InMicroseconds(),
            bench.clock.Now().InMicroseconds() + 31'000'000);
  bench.Succeed(1);
  EXPECT_FALSE(bench.timer);
}

TEST(HostTest, ACommandThatIsNotCompletedIsAnsweredAtItsDeadline) {
  HostBench bench;
  bench.Run();
  bench.TakeEvents();
  bench.Command("click", R"({"selector":"#a","timeout_ms":200})");
  Completion late = std::move(bench.executing.at(1).second);
  bench.WaitMs(1199);
  EXPECT_EQ(bench.TakeAnswers(), Strings());
  bench.WaitMs(1);
  EXPECT_EQ(bench.TakeAnswers(), (Strings{"1 CMD_TIMEOUT"}));
  EXPECT_EQ(bench.TakeEvents(), (Strings{"execute 1", "cancel 1"}));
  bench.trace.clear();
  late.Succeed();
  EXPECT_EQ(bench.TakeAnswers(), Strings());
  ASSERT_EQ(bench.trace.size(), 1u);
  EXPECT_EQ(Field(bench.trace[0], "stage"), "dropped");
}

TEST(HostTest, ADroppedCompletionIsAnsweredExecutorGone) {
  HostBench bench;
  bench.Run();
  bench.Click();
  bench.Drop();
  EXPECT_EQ(bench.TakeAnswers(), (Strings{"1 INTERNAL_EXECUTOR_GONE"}));
}

TEST(HostTest, ACompletionOutlivesTheHostAndDoesNothing) {
  HostBench bench;
  bench.Run();
  HostOptions options = HostBench::Options();
  options.limits.concurrency = 3;
  HostBench other(std::move(options));
  other.Run();
  for (int i = 0; i < 3; ++i)
    other.Click();
  other.host.reset();
  other.Succeed(1);
  other.Fail(2, ErrorCode::kCmdTimeout);
  other.Drop();
  EXPECT_EQ(other.TakeAnswers(), Strings());
}

TEST(HostTest, DataThatIsNoObjectIsAnsweredInternalUnknown) {
  for (std::string_view data :
       {std::string_view(), std::string_view("[]"), std::string_view("{"),
        std::string_view("null"), std::string_view(R"({"a":1,"a":2})"),
        std::string_view("{\"a\":\"\xff\"}"), kNotUtf8}) {
    HostBench bench;
    bench.Run();
    bench.Click();
    bench.Succeed(1, data);
    EXPECT_EQ(bench.TakeAnswers(), (Strings{"1 INTERNAL_UNKNOWN"})) << data;
  }
}

TEST(HostTest, DataThatFitsIntoNoMessageIsAnsweredResultTooLarge) {
  HostBench bench;
  bench.Run();
  bench.Click();
  bench.Succeed(1, "{\"text\":\"" + std::string(4 * kLimit, 'x') + "\"}");
  bench.Click();
  bench.Succeed(2,
                "{\"a\":" + std::string(63, '[') + std::string(63, ']') + "}");
  EXPECT_EQ(bench.TakeAnswers(),
            (Strings{"1 CMD_RESULT_TOO_LARGE", "2 CMD_RESULT_TOO_LARGE"}));
  for (const std::string& line : bench.written)
    EXPECT_LE(line.size(), kLimit);
}

TEST(HostTest, AFailureReachesTheWire) {
  HostBench bench;
  bench.Run();
  bench.Click();
  bench.executing.at(1).second.Fail(Failure{ErrorCode::kCmdSelectorTimeout,
                                            "no \"a\"\n",
                                            R"({ "reason" : "covered" })"});
  EXPECT_NE(
      bench.written.back().find(
          R"("error":{"code":"CMD_SELECTOR_TIMEOUT","message":"no \"a\"\n",)"
          R"("details":{"reason":"covered"}})"),
      std::string::npos)
      << bench.written.back();
  bench.Click();
  bench.executing.at(2).second.Fail(
      Failure{static_cast<ErrorCode>(200), std::string(kNotUtf8), "[]"});
  EXPECT_EQ(Field(bench.written.back(), "code"), "INTERNAL_UNKNOWN");
  EXPECT_EQ(bench.written.back().find("details"), std::string::npos);
  bench.Click();
  bench.executing.at(3).second.Fail(
      Failure{ErrorCode::kCmdTimeout, std::string(4 * kLimit, 'x'), "{}"});
  EXPECT_LE(bench.written.back().size(), kLimit);
  EXPECT_EQ(bench.TakeAnswers().size(), 3u);
}

TEST(HostTest, APersonConfirmsRefusesOrDoesNotCome) {
  HostBench bench;
  bench.Run();
  bench.TakeEvents();
  bench.Command("hover");
  EXPECT_EQ(bench.TakeEvents(),
            (Strings{R"(ask 1 hover erp.example.com {"selector":"#a"})"}));
  bench.host->Confirm(1, true);
  EXPECT_EQ(bench.TakeEvents(), (Strings{"over 1", "execute 1"}));
  bench.Succeed(1);
  bench.Command("hover");
  bench.host->Confirm(2, false);
  EXPECT_EQ(bench.TakeEvents().back(), "over 2");
  bench.Command("hover");
  bench.WaitMs(60'000);
  EXPECT_EQ(bench.TakeEvents().back(), "over 3");
  // Nobody is asked of these.
  bench.host->Confirm(3, true);
  bench.host->Confirm(99, true);
  bench.host->Confirm(UINT64_MAX, false);
  EXPECT_EQ(bench.TakeAnswers(), (Strings{"1 ok", "2 MAC_CONFIRMATION_DENIED",
                                          "3 MAC_CONFIRMATION_TIMEOUT"}));
  EXPECT_EQ(bench.TakeEvents(), Strings());
}

TEST(HostTest, ACommandIsCancelledWhereverItStands) {
  HostBench bench;
  bench.Run();
  bench.Click();
  bench.Click();
  bench.Command("hover");
  bench.TakeEvents();
  bench.host->Cancel(2);
  bench.host->Cancel(3);
  bench.host->Cancel(1);
  bench.host->Cancel(1);
  bench.host->Cancel(0);
  EXPECT_EQ(bench.TakeEvents(), (Strings{"over 3", "cancel 1"}));
  EXPECT_EQ(bench.TakeAnswers(),
            (Strings{"2 CMD_CANCELLED", "3 CMD_CANCELLED", "1 CMD_CANCELLED"}));
}

TEST(HostTest, TheElevenFailuresThatOpenABreakerAndItsReset) {
  HostBench bench;
  bench.Run();
  bench.TakeEvents();
  for (int i = 0; i < 11; ++i)
    bench.Command("click", "{}");
  EXPECT_EQ(bench.TakeEvents(), (Strings{"breaker click"}));
  bench.TakeAnswers();
  bench.Click();
  EXPECT_EQ(bench.TakeAnswers(), (Strings{"12 INTERNAL_CIRCUIT_OPEN"}));
  bench.host->ResetBreaker(kNotUtf8);
  bench.host->ResetBreaker("unheard_of");
  bench.host->ResetBreaker("click");
  bench.Click();
  EXPECT_EQ(bench.TakeEvents(), (Strings{"execute 13"}));
}

TEST(HostTest, ThePageMustBeTheExpectedOne) {
  HostBench bench;
  bench.Run();
  EXPECT_TRUE(bench.host->SetPage("other.example.com"));
  bench.Click();
  EXPECT_TRUE(bench.host->SetPage(std::nullopt));
  bench.Click();
  for (std::string_view no_host :
       {std::string_view(), std::string_view("ERP.example.com"),
        std::string_view("erp.example.com:80"), kNotUtf8,
        std::string_view("erp.example.com\0", 16)}) {
    EXPECT_FALSE(bench.host->SetPage(no_host)) << no_host;
    bench.Click();
  }
  EXPECT_TRUE(bench.host->SetPage("erp.example.com"));
  for (const std::string& answer : bench.TakeAnswers())
    EXPECT_NE(answer.find("MAC_DOMAIN_MISMATCH"), std::string::npos);
  bench.host->ResetBreaker("click");
  bench.Click();
  EXPECT_EQ(bench.executing.size(), 1u);
}

TEST(HostTest, AnotherPolicyCountsForWhatWaits) {
  HostBench bench;
  bench.Run();
  bench.Click();
  bench.Click();
  bench.host->SetPolicy(Policy());
  bench.Succeed(1);
  bench.Click();
  EXPECT_EQ(bench.TakeAnswers(),
            (Strings{"1 ok", "2 MAC_DOMAIN_DENIED", "3 MAC_DOMAIN_DENIED"}));
}

TEST(HostTest, AStopClosesTerminatesAndKills) {
  HostBench bench;
  bench.Run();
  bench.Click();
  bench.TakeEvents();
  bench.host->Stop();
  EXPECT_EQ(bench.TakeEvents(),
            (Strings{"cancel 1", "Stopping", "close stdin"}));
  EXPECT_EQ(bench.TakeAnswers(), (Strings{"1 CMD_CANCELLED"}));
  bench.WaitMs(2000);
  EXPECT_EQ(bench.TakeEvents(), (Strings{"terminate"}));
  bench.WaitMs(1000);
  EXPECT_EQ(bench.TakeEvents(), (Strings{"kill"}));
  bench.WaitMs(100'000);
  bench.host->HandleEndOfInput();
  bench.host->HandleExitSignal(9);
  bench.host->HandleExitCode(0);
  bench.host->Stop();
  EXPECT_EQ(bench.TakeEvents(), (Strings{"Stopped"}));
  EXPECT_EQ(bench.host->state(), HostState::kStopped);
  bench.Click();
  bench.host->Start();
  EXPECT_EQ(bench.TakeAnswers(), Strings());
}

TEST(HostTest, AChildThatGoesBeforeItsTimeIsACrash) {
  const std::function<void(Host&)> ends[] = {
      [](Host& host) { host.HandleExitCode(1); },
      [](Host& host) { host.HandleExitCode(-1); },
      [](Host& host) { host.HandleExitSignal(11); },
      [](Host& host) { host.HandleOutputClosed(); },
      [](Host& host) {
        host.HandleInput("{\"type\":");
        host.HandleEndOfInput();
        host.HandleExitCode(1);
      },
  };
  for (const auto& end : ends) {
    HostBench bench;
    bench.Run();
    end(*bench.host);
    EXPECT_EQ(bench.host->state(), HostState::kCrashed);
    ASSERT_GE(bench.log.size(), 3u);
    EXPECT_FALSE(bench.log.back().empty());
  }
}

TEST(HostTest, AnAgentThatIsDoneEndsTheSession) {
  HostBench bench;
  bench.Run();
  bench.TakeEvents();
  bench.host->HandleEndOfInput();
  bench.host->HandleExitCode(0);
  EXPECT_EQ(bench.TakeEvents(),
            (Strings{"Stopping", "close stdin", "Stopped"}));
}

TEST(HostTest, AForeignVersionIsACrashWithAReadableLine) {
  HostBench bench;
  bench.host->Start();
  std::string ack = bench.signer.Ack(bench.written[0] + "\n");
  ack.replace(ack.find("1.0"), 3, "2.0");
  bench.host->HandleInput(ack);
  EXPECT_EQ(bench.TakeEvents()[1], "Crashed PIPE_VERSION_MISMATCH");
  EXPECT_NE(bench.log.back().find("1.0"), std::string::npos);
  EXPECT_NE(bench.log.back().find("2.0"), std::string::npos);
}

TEST(HostTest, AnActionOfTheHostsOwnIsChecked) {
  HostOptions options = HostBench::Options();
  ASSERT_TRUE(options.registry.Add(
      "echo",
      R"({"type":"object","properties":{"text":{"type":"string"}},
          "additionalProperties":false})"));
  HostBench bench(std::move(options));
  bench.host->Start();
  bench.signer.Ack(bench.written[0] + "\n");
  bench.host->HandleInput(
      R"({"type":"init_ack","version":"1.0",)"
      R"("agent_id":"0b7e2a54-3c1d-4e8f-9a6b-5c4d3e2f1a0b",)"
      R"("supported_actions":["echo","click","unheard_of"]})"
      "\n");
  EXPECT_EQ(bench.host->negotiated_actions(), (Strings{"click", "echo"}));
  bench.Command("echo", R"({"text":1})");
  bench.Command("unheard_of", "{}");
  bench.Command("type", R"({"selector":"#a","text":""})");
  bench.Command("echo", R"({"text":"a"})");
  bench.Succeed(4, R"({"text":"a"})");
  EXPECT_EQ(bench.TakeAnswers(),
            (Strings{"1 CMD_PARAMS_INVALID", "2 CMD_ACTION_UNKNOWN",
                     "3 MAC_ACTION_DENIED", "4 ok"}));
}

TEST(HostTest, TheHmacOfTheEmbedderGivesWhatTheLibrarysGives) {
  for (KeyDerivation derivation :
       {KeyDerivation::kHkdf, KeyDerivation::kSeed}) {
    auto hmac = std::make_shared<TestHmac>();
    HostOptions options = HostBench::Options();
    options.key_derivation = derivation;
    options.hmac = hmac;
    HostBench bench(std::move(options));
    bench.Run();
    int before = hmac->calls();
    bench.Click();
    EXPECT_GT(hmac->calls(), before);
    bench.Succeed(1);
    bench.host->HandleInput(Forged(bench.signer.Sign("click", kClick)));
    EXPECT_EQ(bench.TakeAnswers(), (Strings{"1 ok", "2 PIPE_HMAC_INVALID"}));
  }
}

TEST(HostTest, BothSidesMustDeriveTheKeyInOneWay) {
  HostBench bench;
  testing::Signer signer(KeyDerivation::kSeed);
  bench.host->Start();
  bench.host->HandleInput(signer.Ack(bench.written[0] + "\n"));
  bench.host->HandleInput(signer.Sign("click", kClick));
  EXPECT_EQ(bench.TakeAnswers(), (Strings{"1 PIPE_HMAC_INVALID"}));
}

TEST(HostTest, TheTraceFollowsASeqAndHoldsNoSecret) {
  HostBench bench;
  bench.Run();
  bench.trace.clear();
  bench.Command("type", R"({"selector":"#a","text":"geheim"})");
  bench.Succeed(1, R"({"text":"geheim"})");
  Strings stages;
  for (const std::string& line : bench.trace) {
    EXPECT_EQ(Field(line, "session"), "test");
    EXPECT_EQ(Field(line, "seq"), "1");
    EXPECT_EQ(line.find("geheim"), std::string::npos);
    EXPECT_EQ(line.back(), '\n');
    stages.push_back(Field(line, "stage"));
  }
  EXPECT_EQ(stages, (Strings{"received", "verified", "authorized", "dispatched",
                             "completed", "responded"}));
}

// Looks at each record as a program would.
class TraceReader : public HostBench {
 public:
  struct Record {
    Time time;
    uint64_t seq;
    TraceStage stage;
    std::string action;
    std::optional<ErrorCode> code;
  };

  std::vector<Record> records;

 private:
  void OnTraceRecord(const TraceRecord& record) override {
    records.push_back({record.time(), record.seq(), record.stage(),
                       std::string(record.action()), record.code()});
  }
};

TEST(HostTest, ATraceRecordIsReadWithoutItsLine) {
  TraceReader bench;
  bench.Run();
  bench.records.clear();
  bench.clock.AdvanceMs(5);
  bench.Command("click", kClick, "elsewhere.example.com");
  ASSERT_EQ(bench.records.size(), 3u);
  EXPECT_EQ(bench.records[0].stage, TraceStage::kReceived);
  EXPECT_EQ(bench.records[0].action, "");
  EXPECT_EQ(bench.records[0].time, bench.clock.Now());
  EXPECT_EQ(bench.records[1].stage, TraceStage::kVerified);
  EXPECT_EQ(bench.records[1].action, "click");
  EXPECT_EQ(bench.records[1].code, std::nullopt);
  EXPECT_EQ(bench.records[2].stage, TraceStage::kResponded);
  EXPECT_EQ(bench.records[2].seq, 1u);
  EXPECT_EQ(bench.records[2].code, ErrorCode::kMacDomainDenied);
}

TEST(HostTest, TextThatIsNotUtf8EndsNothing) {
  HostOptions options = HostBench::Options();
  options.session = std::string(kNotUtf8);
  HostBench bench(std::move(options));
  bench.Run();
  EXPECT_EQ(Field(bench.trace[0], "session"), "session");
  bench.host->HandleInput(std::string(kNotUtf8) + "\n");
  EXPECT_EQ(bench.TakeAnswers(), (Strings{"0 PIPE_INVALID_JSON"}));
  bench.Click();
  bench.Succeed(1);
  EXPECT_EQ(bench.TakeAnswers(), (Strings{"1 ok"}));
}

// Writes a host of URLs that is not UTF-8.
class WrongUrlParser : public UrlParser {
 public:
  bool Parse(std::string_view, ParsedUrl* parsed) const override {
    parsed->scheme = kNotUtf8;
    parsed->host = kNotUtf8;
    return true;
  }
};

TEST(HostTest, AUrlParserThatIsWrongRefusesEverything) {
  HostOptions options = HostBench::Options();
  options.url_parser = std::make_shared<WrongUrlParser>();
  Host host(std::move(options), HostBench::Seed(), nullptr, nullptr);
  EXPECT_FALSE(host.SetPage(kDomain));
}

TEST(HostTest, WithoutAUrlParserItHasTheLibrarysOrRefuses) {
  HostOptions options = HostBench::Options();
  options.url_parser = nullptr;
  testing::TestClock clock;
  HostBench delegate;
  Host host(std::move(options), HostBench::Seed(), &delegate, &clock);
  // Which of both depends on the build; neither may crash.
  host.SetPage(kDomain);
  Policy::Loopback();
  EXPECT_FALSE(host.SetPage("a b"));
}

TEST(HostTest, LimitsOfZeroEndEverythingAndHangNothing) {
  HostOptions options = HostBench::Options();
  options.limits = HostLimits{0, false, 0, 0, 0, 0, 0, 0, 0, 0};
  HostBench bench(std::move(options));
  bench.host->Start();
  bench.WaitMs(0);
  EXPECT_EQ(bench.host->state(), HostState::kCrashed);
  bench.WaitMs(1000);
  EXPECT_FALSE(bench.timer);

  options = HostBench::Options();
  options.limits = HostLimits{1, false, 0, 0, 0, 0, 0, 0, 0, 0};
  HostBench late(std::move(options));
  late.Run();
  late.Click();
  EXPECT_EQ(late.TakeAnswers(), (Strings{"1 INTERNAL_OVERLOADED"}));
  late.host->Stop();
  late.WaitMs(0);
  EXPECT_EQ(late.TakeEvents().back(), "kill");
}

TEST(HostTest, LimitsWithoutAnEndAreWithoutAnEnd) {
  HostOptions options = HostBench::Options();
  options.limits =
      HostLimits{UINT64_MAX, true,       UINT32_MAX, SIZE_MAX,   SIZE_MAX,
                 UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, SIZE_MAX};
  HostBench bench(std::move(options));
  bench.Run();
  for (int i = 0; i < 200; ++i)
    bench.Click();
  EXPECT_EQ(bench.executing.size(), 200u);
  EXPECT_FALSE(bench.timer);
}

TEST(HostTest, MethodsBeforeTheStartChangeNothing) {
  HostBench bench;
  bench.host->HandleInput("{}\n");
  bench.host->HandleTimeout();
  bench.host->HandleEndOfInput();
  bench.host->HandleOutputClosed();
  bench.host->OutputWritten(10);
  bench.host->Confirm(1, true);
  bench.host->Cancel(1);
  EXPECT_TRUE(bench.host->output().empty());
  EXPECT_TRUE(bench.host->negotiated_actions().empty());
  EXPECT_EQ(bench.host->state(), HostState::kIdle);
  bench.Run();
  bench.host->Start();
  EXPECT_EQ(bench.host->state(), HostState::kRunning);
}

}  // namespace
}  // namespace sgclaw
