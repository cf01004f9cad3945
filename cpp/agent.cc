#include "sgclaw/agent.h"

#include <map>
#include <utility>

#include "third_party/sgclaw/cpp/bridge.h"

namespace sgclaw {

void Agent::Delegate::OnActionStopped(std::string_view) {}

void Agent::Delegate::OnLog(std::string_view) {}

// As Host::Core: tells Rust first, then drains what Rust has to say.
class Agent::Core : public std::enable_shared_from_this<Core> {
 public:
  Core(const AgentOptions& options, Delegate* delegate, const Clock* clock)
      : rust_(ffi::agent_new(Bytes(options.agent_id),
                             Access::Core(options.registry),
                             options.key_derivation == KeyDerivation::kSeed,
                             options.url_parser)),
        delegate_(delegate),
        clock_(clock) {}

  ffi::AgentCore& rust() { return *rust_; }

  void Detach() {
    delegate_ = nullptr;
    std::exchange(callbacks_, {});
  }

  void OutputWritten(size_t count) {
    Tell([&](ffi::AgentCore& rust, uint64_t) {
      rust.output_written(count);
      if (rust.output().empty())
        output_told_ = false;
    });
  }

  void HandleTimeout() {
    deadline_.reset();
    Tell([](ffi::AgentCore& rust, uint64_t now) { rust.handle_timeout(now); });
  }

  template <typename Call>
  void Tell(Call call) {
    if (!delegate_)
      return;
    std::shared_ptr<Core> alive = shared_from_this();
    call(*rust_, clock_->Now().InMicroseconds());
    Settle();
  }

  RequestStatus Request(std::string_view action,
                        std::string_view params,
                        std::string_view expected_domain,
                        ResultCallback callback) {
    RequestStatus status = RequestStatus::kNotRunning;
    Tell([&](ffi::AgentCore& rust, uint64_t now) {
      uint64_t call = 0;
      status = rust.request(Bytes(action), Bytes(params),
                            Bytes(expected_domain), now, call);
      if (status == RequestStatus::kSent)
        callbacks_.emplace(call, std::move(callback));
    });
    return status;
  }

 private:
  void Settle() {
    if (settling_)
      return;
    settling_ = true;
    while (Step()) {
    }
    settling_ = false;
  }

  bool Step() {
    if (!delegate_)
      return false;
    if (!output_told_ && !rust_->output().empty()) {
      output_told_ = true;
      delegate_->OnOutputReady();
      return true;
    }
    if (TellEvent())
      return true;
    uint64_t deadline = rust_->poll_timeout();
    if (deadline_ != deadline) {
      deadline_ = deadline;
      delegate_->OnDeadlineChanged(Deadline(deadline));
      return true;
    }
    return false;
  }

  bool TellEvent() {
    switch (rust_->next_event()) {
      case ffi::AgentEventKind::Ready:
        delegate_->OnReady();
        return true;
      case ffi::AgentEventKind::Done:
        TellResult();
        return true;
      case ffi::AgentEventKind::ActionStopped: {
        std::string action(View(rust_->event_text()));
        delegate_->OnActionStopped(action);
        return true;
      }
      case ffi::AgentEventKind::Log: {
        std::string line(View(rust_->event_text()));
        delegate_->OnLog(line);
        return true;
      }
      case ffi::AgentEventKind::Ended:
        delegate_->OnEnded(TakeFailure());
        return true;
      case ffi::AgentEventKind::None:
        break;
    }
    return false;
  }

  void TellResult() {
    AgentResult result;
    result.seq = rust_->event_seq();
    result.attempts = rust_->event_attempts();
    result.failure = TakeFailure();
    if (!result.failure)
      result.data = View(rust_->event_json());
    auto found = callbacks_.find(rust_->event_call());
    if (found == callbacks_.end())
      return;
    ResultCallback callback = std::move(found->second);
    callbacks_.erase(found);
    if (callback)
      callback(std::move(result));
  }

  std::optional<Failure> TakeFailure() const {
    std::optional<ErrorCode> code = Code(rust_->event_code());
    if (!code)
      return std::nullopt;
    return Failure{*code, std::string(View(rust_->event_text())),
                   std::string(View(rust_->event_json()))};
  }

  rust::Box<ffi::AgentCore> rust_;
  Delegate* delegate_;
  const Clock* clock_;
  std::map<uint64_t, ResultCallback> callbacks_;
  bool settling_ = false;
  bool output_told_ = false;
  std::optional<uint64_t> deadline_ = UINT64_MAX;
};

Agent::Agent(AgentOptions options, Delegate* delegate, const Clock* clock)
    : core_(std::make_shared<Core>(options, delegate, clock)) {}

Agent::~Agent() {
  core_->Detach();
}

RequestStatus Agent::Request(std::string_view action,
                             std::string_view params,
                             std::string_view expected_domain,
                             ResultCallback callback) {
  return core_->Request(action, params, expected_domain, std::move(callback));
}

void Agent::HandleInput(std::string_view bytes) {
  core_->Tell([&](ffi::AgentCore& rust, uint64_t now) {
    rust.handle_input(Bytes(bytes), now);
  });
}

void Agent::HandleEndOfInput() {
  core_->Tell([&](ffi::AgentCore& rust, uint64_t now) {
    rust.handle_end_of_input(now);
  });
}

void Agent::HandleTimeout() {
  core_->HandleTimeout();
}

std::string_view Agent::output() const {
  return View(core_->rust().output());
}

void Agent::OutputWritten(size_t count) {
  core_->OutputWritten(count);
}

void Agent::ResetAction(std::string_view action) {
  core_->rust().reset_action(Bytes(action));
}

size_t Agent::in_flight() const {
  return core_->rust().in_flight();
}

}  // namespace sgclaw
