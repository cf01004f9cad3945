#include "session.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <utility>

#include "chromium.h"
#include "file.h"
#include "json.h"
#include "memory_page.h"
#include "sgclaw/posix/random_seed.h"

namespace cpp_host {

namespace {

using sgclaw::ErrorCode;
using sgclaw::HostState;
using sgclaw::Policy;
using sgclaw::posix::ProcessHost;

constexpr uint64_t kMicrosecondsPerSecond = 1000000;

// A misspelt name in `confirm` would never be asked for.
void WarnOfUnknownActions(const Policy& policy) {
  for (const std::string& name :
       policy.UnknownActions(sgclaw::Registry::Standard()))
    Log("the policy names the action " + JsonString(name) +
        ", which this host does not have");
}

}  // namespace

std::optional<Policy> ReadPolicy(const std::optional<std::string>& file,
                                 std::string* error) {
  if (!file)
    return Policy::Loopback();
  std::optional<std::string> document = ReadFile(*file);
  if (!document) {
    *error = "--policy " + *file + ": " + strerror(errno);
    return std::nullopt;
  }
  std::optional<Policy> policy = Policy::Parse(*document, nullptr, error);
  if (policy)
    WarnOfUnknownActions(*policy);
  else
    *error = "--policy " + *file + ": " + *error;
  return policy;
}

Session::Session(const Options& options,
                 Policy policy,
                 std::optional<TraceFile> trace)
    : options_(options),
      policy_(std::move(policy)),
      trace_(std::move(trace)),
      confirmations_(options.confirm) {}

Session::~Session() = default;

Session::Ended Session::Run() {
  if (StartBrowser() && StartAgent())
    Loop();
  if (trace_)
    trace_->Flush();
  return ended_;
}

bool Session::StartBrowser() {
  std::optional<sgclaw::HmacSeed> seed = sgclaw::posix::RandomSeed();
  if (!seed)
    return Crash(
        ErrorCode::kInternalUnknown,
        std::string("the system gives no random numbers: ") + strerror(errno));
  // Before the browser starts, so that a signal finds somebody who takes it
  // down.
  if (!signals_.Register())
    return Crash(ErrorCode::kInternalUnknown,
                 std::string("signals cannot be handled: ") + strerror(errno));
  sgclaw::HostOptions host_options;
  host_options.session =
      std::to_string(clock_.Now().InMicroseconds() / kMicrosecondsPerSecond) +
      "-" + std::to_string(getpid());
  host_options.key_derivation = options_.key_derivation;
  host_options.policy = policy_;
  host_options.limits.handshake_timeout_ms = options_.handshake_timeout_ms;
  // Before the browser, whose page it is told of; the agent starts later.
  host_.emplace(std::move(host_options), *seed, this, &clock_);
  if (options_.browser == "memory") {
    auto page = std::make_unique<MemoryPage>(this, &clock_);
    if (options_.url)
      page->Open(*options_.url);
    browser_ = std::move(page);
    return true;
  }
  Log("the browser is starting");
  auto chromium = std::make_unique<Chromium>(policy_, this, &clock_);
  std::string error;
  if (!chromium->Start({options_.browser, options_.headful, options_.url},
                       &signals_, &error))
    return Crash(ErrorCode::kInternalExecutorGone, error);
  browser_ = std::move(chromium);
  return true;
}

bool Session::StartAgent() {
  std::string error;
  if (host_->Start(options_.agent, &error))
    return true;
  return Crash(ErrorCode::kPipeClosed, "the agent " +
                                           JsonString(options_.agent[0]) +
                                           " cannot be started: " + error);
}

void Session::Loop() {
  while (!host_->ended()) {
    // What was told is on disk before a wait.
    if (trace_)
      trace_->Flush();
    sgclaw::posix::WaitSet wait_set;
    signals_.AddTo(&wait_set);
    host_->AddTo(&wait_set);
    browser_->AddTo(&wait_set);
    confirmations_.AddTo(&wait_set);
    if (!wait_set.Wait(clock_)) {
      Crash(ErrorCode::kInternalUnknown,
            std::string("the session's loop failed: ") + strerror(errno));
      return;
    }
    browser_->Turn();
    while (auto answer = confirmations_.Read())
      host_->host().Confirm(answer->seq, answer->allow);
    Signals::Seen seen = signals_.Take();
    if (seen.stop) {
      Log("a signal asks to stop");
      host_->host().Stop();
    }
    if (seen.reload)
      ReloadPolicy();
    host_->Turn();
  }
}

void Session::ReloadPolicy() {
  if (!options_.policy) {
    Log("SIGHUP reads the policy again; there is none, since --policy was not "
        "given");
    return;
  }
  std::string error;
  std::optional<Policy> policy = ReadPolicy(options_.policy, &error);
  if (!policy) {
    Log("the old policy stays in force: " + error);
    return;
  }
  host_->host().SetPolicy(*policy);
  browser_->SetPolicy(*policy);
  Log("the policy was read again and is in force");
}

bool Session::Crash(ErrorCode code, std::string message) {
  ended_ = {HostState::kCrashed, code, std::move(message)};
  return false;
}

void Session::OnCommand(sgclaw::Command command,
                        sgclaw::Completion completion) {
  browser_->Execute(std::move(command), std::move(completion));
}

void Session::OnCancel(uint64_t seq) {
  browser_->Cancel(seq);
}

void Session::OnStateChanged(HostState state,
                             std::optional<ErrorCode> code,
                             std::string_view message) {
  std::string line(sgclaw::HostStateName(state));
  line += ": ";
  if (code)
    line.append(sgclaw::ErrorCodeName(*code)).append(": ");
  Log(line.append(message));
}

void Session::OnConfirmationAsked(const sgclaw::ConfirmationRequest& request) {
  if (std::optional<bool> allow = confirmations_.Ask(request))
    host_->host().Confirm(request.seq, *allow);
}

void Session::OnConfirmationOver(uint64_t seq) {
  confirmations_.Withdraw(seq);
}

void Session::OnBreakerOpened(std::string_view action) {
  Log("the breaker of " + std::string(action) +
      " is open: more than 10 failures in a row; the action is refused in this "
      "session");
}

void Session::OnTraceRecord(const sgclaw::TraceRecord& record) {
  if (trace_)
    trace_->Write(record);
}

void Session::OnAgentLine(std::string_view line) {
  LogLine("agent: " + std::string(line));
}

void Session::OnEnded(const ProcessHost::End& end) {
  ended_ = {end.state, end.code, end.message};
  // A crash is told at once; how the agent ended is known only now.
  std::string exit = end.agent.ToString();
  if (end.state == HostState::kCrashed &&
      end.message.find(exit) == std::string::npos) {
    Log("the agent " + exit);
    ended_.message += "; the agent " + exit;
  }
  if (end.dropped_stderr > 0)
    Log(std::to_string(end.dropped_stderr) +
        " more bytes of the agent's stderr were read and dropped");
}

void Session::OnPageChanged(std::optional<std::string_view> domain) {
  host_->host().SetPage(domain);
}

void Session::OnBrowserGone() {
  Log("INTERNAL_EXECUTOR_GONE: the browser is gone; commands fail from now on");
}

}  // namespace cpp_host
