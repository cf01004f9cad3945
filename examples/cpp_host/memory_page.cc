#include "memory_page.h"

#include <algorithm>
#include <utility>

#include "clock.h"
#include "log.h"

namespace cpp_host {

namespace {

using sgclaw::Command;
using sgclaw::Completion;
using sgclaw::ErrorCode;
using sgclaw::Failure;

std::string Reason(std::string_view reason) {
  return "{\"reason\":" + JsonString(reason) + "}";
}

// What a command gets whose element was not in time as it had to be.
Failure TimedOut(const Params& params) {
  std::string state = params.String("state").value_or("");
  if (state == "hidden")
    return {ErrorCode::kCmdSelectorTimeout,
            "the element of the memory page is still visible",
            Reason("visible")};
  if (state == "detached")
    return {ErrorCode::kCmdSelectorTimeout,
            "the element of the memory page is still there",
            Reason("attached")};
  return {ErrorCode::kCmdSelectorTimeout,
          "no element of the memory page matches in time", Reason("not_found")};
}

Failure NotSupported(std::string_view action) {
  return {ErrorCode::kCmdExecutionFailed,
          "the memory page does not do " + std::string(action) +
              " here; use a real browser",
          Reason("not_supported")};
}

}  // namespace

MemoryPage::MemoryPage(Delegate* delegate, const sgclaw::Clock* clock)
    : delegate_(delegate), clock_(clock) {
  for (const std::string& name : sgclaw::Registry::Standard().names()) {
    if (name == "navigate")
      continue;
    Handle(name, name == "click"          ? &MemoryPage::Click
                 : name == "getAttribute" ? &MemoryPage::GetAttribute
                 : name == "getText"      ? &MemoryPage::GetText
                 : name == "type"         ? &MemoryPage::Type
                 : name == "waitFor"      ? &MemoryPage::WaitFor
                                          : nullptr);
  }
  std::string error;
  if (!router_.Handle(
          "navigate",
          [this](Command command, Completion completion) {
            Navigate(std::move(command), std::move(completion));
          },
          &error))
    Log(error);
  router_.SetCancelHandler([this](uint64_t seq) {
    waiting_.erase(std::remove_if(waiting_.begin(), waiting_.end(),
                                  [seq](const Waiting& waiting) {
                                    return waiting.command.seq() == seq;
                                  }),
                   waiting_.end());
  });
}

void MemoryPage::Open(std::string_view url) {
  sgclaw::ParsedUrl parsed;
  host_ = url_parser_->Parse(url, &parsed) ? parsed.host : std::string();
  user_.clear();
  password_.clear();
  greeting_.reset();
  if (host_.empty())
    delegate_->OnPageChanged(std::nullopt);
  else
    delegate_->OnPageChanged(host_);
}

void MemoryPage::Execute(Command command, Completion completion) {
  router_.Dispatch(std::move(command), std::move(completion));
}

void MemoryPage::Cancel(uint64_t seq) {
  router_.Cancel(seq);
}

void MemoryPage::AddTo(sgclaw::posix::WaitSet* wait_set) const {
  for (const Waiting& waiting : waiting_)
    wait_set->WaitUntil(waiting.until);
}

void MemoryPage::Turn() {
  sgclaw::Time now = clock_->Now();
  auto over = std::stable_partition(
      waiting_.begin(), waiting_.end(),
      [now](const Waiting& waiting) { return now < waiting.until; });
  // Taken out first: an answer may bring the next command.
  std::vector<Waiting> late(std::make_move_iterator(over),
                            std::make_move_iterator(waiting_.end()));
  waiting_.erase(over, waiting_.end());
  for (Waiting& waiting : late)
    waiting.completion.Fail(TimedOut(Params(waiting.command.params())));
}

void MemoryPage::Handle(const std::string& name, Action action) {
  std::string error;
  if (!router_.Handle(
          name,
          [this, action](Command command, Completion completion) {
            Act(action, std::move(command), std::move(completion));
          },
          &error))
    Log(error);
}

void MemoryPage::Act(Action action, Command command, Completion completion) {
  Params params(command.params());
  // Compared again right before acting: pages navigate.
  if (command.expected_domain() != host_ || params.Has("frame")) {
    completion.Fail(ErrorCode::kMacDomainMismatch,
                    "the memory page is on another domain");
    return;
  }
  std::optional<Answer> answer =
      action ? (this->*action)(params) : Answer{NotSupported(command.action())};
  if (!answer) {
    sgclaw::Time until = After(clock_->Now(), command.timeout_us());
    waiting_.push_back({std::move(command), std::move(completion), until});
  } else if (answer->failure) {
    completion.Fail(*answer->failure);
  } else {
    completion.Succeed(answer->data);
  }
}

void MemoryPage::Navigate(Command command, Completion completion) {
  std::string url = Params(command.params()).String("url").value_or("");
  Open(url);
  completion.Succeed("{\"url\":" + JsonString(url) + ",\"status\":null}");
}

std::optional<MemoryPage::Answer> MemoryPage::Click(const Params& params) {
  if (!Content(params))
    return std::nullopt;
  if (params.String("selector") == "#login")
    greeting_ = "Hello, " + user_;
  return Answer();
}

std::optional<MemoryPage::Answer> MemoryPage::GetAttribute(
    const Params& params) {
  if (!Content(params))
    return std::nullopt;
  bool value = params.String("name") == "value";
  if (value && params.String("selector") == "#password")
    return Answer{Failure{ErrorCode::kMacActionDenied,
                          "the value of a password field is not read", ""}};
  bool user = value && params.String("selector") == "#user";
  return Answer{std::nullopt,
                "{\"value\":" + (user ? JsonString(user_) : "null") + "}"};
}

std::optional<MemoryPage::Answer> MemoryPage::GetText(const Params& params) {
  std::optional<std::string> text = Content(params);
  if (!text)
    return std::nullopt;
  if (params.String("selector") == "#login")
    text = "Log in";
  return Answer{std::nullopt,
                "{\"text\":" + JsonString(*text) + ",\"truncated\":false}"};
}

std::optional<MemoryPage::Answer> MemoryPage::Type(const Params& params) {
  if (!Content(params))
    return std::nullopt;
  std::string selector = params.String("selector").value_or("");
  if (selector != "#user" && selector != "#password")
    return Answer{NotSupported("type")};
  std::string& field = selector == "#user" ? user_ : password_;
  if (params.IsTrue("clear"))
    field.clear();
  field += params.String("text").value_or("");
  return Answer();
}

std::optional<MemoryPage::Answer> MemoryPage::WaitFor(const Params& params) {
  std::string state = params.String("state").value_or("");
  bool wants_none = state == "hidden" || state == "detached";
  if (wants_none == Content(params).has_value())
    return std::nullopt;
  return Answer();
}

std::optional<std::string> MemoryPage::Content(const Params& params) const {
  std::string selector = params.String("selector").value_or("");
  if (selector == "#user" || selector == "#password" || selector == "#login")
    return "";
  if (selector == "h1" || selector == "body")
    return "sgclaw memory page";
  if (selector == "#greeting")
    return greeting_;
  return std::nullopt;
}

}  // namespace cpp_host
