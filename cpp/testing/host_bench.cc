#include "third_party/sgclaw/cpp/testing/host_bench.h"

#include "gtest/gtest.h"
#include "third_party/sgclaw/cpp/testing/test_url_parser.h"

namespace sgclaw::testing {

namespace {

constexpr std::string_view kPolicy = R"({"version":1,"confirm":["hover"],
    "domains":[{"pattern":"erp.example.com","actions":["*"]},
               {"pattern":"read.example.com","actions":["getText"]}]})";

}  // namespace

std::string Field(std::string_view json, std::string_view name) {
  std::string key = "\"" + std::string(name) + "\":";
  size_t at = json.find(key);
  if (at == std::string_view::npos)
    return std::string();
  std::string_view value = json.substr(at + key.size());
  if (value.substr(0, 1) == "\"") {
    value.remove_prefix(1);
    return std::string(value.substr(0, value.find('"')));
  }
  return std::string(value.substr(0, value.find_first_of(",}]\n")));
}

std::string Summary(std::string_view response) {
  std::string code = Field(response, "code");
  return Field(response, "seq") + " " + (code.empty() ? "ok" : code);
}

Signer::Signer(KeyDerivation key_derivation) {
  AgentOptions options;
  options.agent_id = "0b7e2a54-3c1d-4e8f-9a6b-5c4d3e2f1a0b";
  options.key_derivation = key_derivation;
  options.url_parser = std::make_shared<TestUrlParser>();
  agent_ = std::make_unique<Agent>(std::move(options), this, &clock_);
}

std::string Signer::Ack(std::string_view init) {
  agent_->HandleInput(init);
  return TakeOutput();
}

std::string Signer::Sign(std::string_view action,
                         std::string_view params,
                         std::string_view domain) {
  (void)agent_->Request(action, params, domain, nullptr);
  return TakeOutput();
}

std::string Signer::TakeOutput() {
  std::string output(agent_->output());
  agent_->OutputWritten(output.size());
  return output;
}

// static
HostOptions HostBench::Options() {
  HostOptions options;
  options.session = "test";
  options.url_parser = std::make_shared<TestUrlParser>();
  std::string error;
  std::optional<Policy> policy =
      Policy::Parse(kPolicy, options.url_parser, &error);
  EXPECT_TRUE(policy) << error;
  if (policy)
    options.policy = *std::move(policy);
  return options;
}

// static
HmacSeed HostBench::Seed() {
  std::array<uint8_t, 32> bytes;
  bytes.fill(0x5e);
  return HmacSeed(bytes);
}

HostBench::HostBench(HostOptions options) : signer(options.key_derivation) {
  host = std::make_unique<Host>(std::move(options), Seed(), this, &clock);
  EXPECT_TRUE(host->SetPage(kDomain));
}

HostBench::~HostBench() {
  hook = nullptr;
}

void HostBench::Run() {
  host->Start();
  if (written.empty())
    return;
  std::string ack = signer.Ack(written[0] + "\n");
  if (host)
    host->HandleInput(ack);
}

void HostBench::Command(std::string_view action,
                        std::string_view params,
                        std::string_view domain) {
  std::string line = signer.Sign(action, params, domain);
  if (host)
    host->HandleInput(line);
}

void HostBench::Succeed(uint64_t seq, std::string_view data) {
  auto node = executing.extract(seq);
  if (node)
    node.mapped().second.Succeed(data);
}

void HostBench::Fail(uint64_t seq, ErrorCode code) {
  auto node = executing.extract(seq);
  if (node)
    node.mapped().second.Fail(code, "no");
}

void HostBench::WaitMs(uint64_t ms) {
  Time end = Time::FromMicroseconds(clock.Now().InMicroseconds() + ms * 1000);
  int fired = 0;
  while (host && timer && *timer <= end) {
    if (clock.Now() < *timer)
      clock.Set(*timer);
    timer.reset();
    host->HandleTimeout();
    // Else an embedder's loop would not come to rest.
    ASSERT_LT(++fired, 100);
  }
  clock.Set(end);
}

std::vector<std::string> HostBench::TakeAnswers() {
  std::vector<std::string> answers;
  for (; answers_taken_ < written.size(); ++answers_taken_) {
    if (Field(written[answers_taken_], "type") == "response")
      answers.push_back(Summary(written[answers_taken_]));
  }
  return answers;
}

void HostBench::OnCommand(sgclaw::Command command, Completion completion) {
  uint64_t seq = command.seq();
  EXPECT_EQ(completion.seq(), seq);
  events.push_back("execute " + std::to_string(seq));
  bool first =
      executing.try_emplace(seq, std::move(command), std::move(completion))
          .second;
  EXPECT_TRUE(first) << seq << " was given out twice";
  Called(Callback::kCommand);
}

void HostBench::OnCancel(uint64_t seq) {
  events.push_back("cancel " + std::to_string(seq));
  executing.erase(seq);
  Called(Callback::kCancel);
}

void HostBench::OnOutputReady() {
  EXPECT_FALSE(host->output().empty());
  while (!unread && !host->output().empty()) {
    std::string bytes(host->output());
    host->OutputWritten(bytes.size());
    for (char c : bytes) {
      if (c == '\n')
        written.push_back(std::exchange(line_, std::string()));
      else
        line_.push_back(c);
    }
  }
  Called(Callback::kOutputReady);
}

void HostBench::OnDeadlineChanged(std::optional<Time> deadline) {
  timer = deadline;
  Called(Callback::kDeadlineChanged);
}

void HostBench::OnStateChanged(HostState state,
                               std::optional<ErrorCode> code,
                               std::string_view message) {
  std::string event(HostStateName(state));
  if (code)
    event.append(" ").append(ErrorCodeName(*code));
  events.push_back(std::move(event));
  log.emplace_back(message);
  Called(Callback::kStateChanged);
}

void HostBench::OnConfirmationAsked(const ConfirmationRequest& request) {
  events.push_back("ask " + std::to_string(request.seq) + " " + request.action +
                   " " + request.expected_domain + " " + request.params);
  Called(Callback::kConfirmationAsked);
}

void HostBench::OnConfirmationOver(uint64_t seq) {
  events.push_back("over " + std::to_string(seq));
  Called(Callback::kConfirmationOver);
}

void HostBench::OnBreakerOpened(std::string_view action) {
  events.push_back("breaker " + std::string(action));
  Called(Callback::kBreakerOpened);
}

void HostBench::OnCloseAgentInput() {
  events.emplace_back("close stdin");
  Called(Callback::kCloseAgentInput);
}

void HostBench::OnTerminateAgent() {
  events.emplace_back("terminate");
  Called(Callback::kTerminateAgent);
}

void HostBench::OnKillAgent() {
  events.emplace_back("kill");
  Called(Callback::kKillAgent);
}

void HostBench::OnTraceRecord(const TraceRecord& record) {
  trace.push_back(record.ToJsonLine());
  Called(Callback::kTraceRecord);
  // The record is still the same, whatever the hook did.
  EXPECT_EQ(record.ToJsonLine(), trace.back());
}

void HostBench::Called(Callback callback) {
  if (hook)
    hook(callback);
}

}  // namespace sgclaw::testing
