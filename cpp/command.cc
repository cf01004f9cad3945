#include "sgclaw/command.h"

#include <utility>

#include "third_party/sgclaw/cpp/bridge.h"

namespace sgclaw {

Command::Command(Command&& other) noexcept
    : core_(std::exchange(other.core_, nullptr)) {}

Command& Command::operator=(Command&& other) noexcept {
  Free(std::exchange(core_, std::exchange(other.core_, nullptr)));
  return *this;
}

Command::~Command() {
  Free(core_);
}

uint64_t Command::seq() const {
  return core_ ? core_->seq() : 0;
}

std::string_view Command::action() const {
  return core_ ? View(core_->action()) : std::string_view();
}

std::string_view Command::params() const {
  return core_ ? View(core_->params()) : std::string_view();
}

std::string_view Command::expected_domain() const {
  return core_ ? View(core_->expected_domain()) : std::string_view();
}

uint64_t Command::timeout_us() const {
  return core_ ? core_->timeout_us() : 0;
}

Completion::Completion(std::weak_ptr<CompletionSink> sink, uint64_t seq)
    : sink_(std::move(sink)), seq_(seq) {}

Completion::Completion(Completion&& other) noexcept
    : sink_(std::move(other.sink_)),
      seq_(other.seq_),
      pending_(std::exchange(other.pending_, false)) {}

Completion& Completion::operator=(Completion&& other) noexcept {
  if (this != &other) {
    // Answers what was here, where nobody has.
    Completion dropped(std::move(*this));
    sink_ = std::move(other.sink_);
    seq_ = other.seq_;
    pending_ = std::exchange(other.pending_, false);
  }
  return *this;
}

Completion::~Completion() {
  if (std::shared_ptr<CompletionSink> sink = Take())
    sink->OnDropped(seq_);
}

void Completion::Succeed(std::string_view data) {
  if (std::shared_ptr<CompletionSink> sink = Take())
    sink->OnSuccess(seq_, data);
}

void Completion::Fail(const Failure& failure) {
  if (std::shared_ptr<CompletionSink> sink = Take())
    sink->OnFailure(seq_, failure);
}

void Completion::Fail(ErrorCode code, std::string_view message) {
  Fail(Failure{code, std::string(message), std::string()});
}

std::shared_ptr<CompletionSink> Completion::Take() {
  if (!std::exchange(pending_, false))
    return nullptr;
  return std::exchange(sink_, {}).lock();
}

}  // namespace sgclaw
