#include "sgclaw/devtools_executor.h"

#include <map>
#include <string>
#include <utility>

#include "third_party/sgclaw/cpp/bridge.h"

namespace sgclaw {

// As Host::Core: tells Rust first, then drains what Rust has to say.
class DevToolsExecutor::Core : public std::enable_shared_from_this<Core> {
 public:
  Core(const Options& options,
       DevToolsTransport* transport,
       Delegate* delegate,
       const Clock* clock)
      : rust_(ffi::executor_new(Access::Core(options.policy),
                                options.url_parser,
                                options.max_waiting,
                                options.one_page)),
        transport_(transport),
        delegate_(delegate),
        clock_(clock) {}

  ffi::ExecutorCore& rust() { return *rust_; }

  void Detach() {
    delegate_ = nullptr;
    // Dropped in order, and so answered. Out of the map first, since that calls
    // the host, which may hand in the next command.
    while (!completions_.empty())
      completions_.extract(completions_.begin());
  }

  template <typename Call>
  void Tell(Call call) {
    if (!delegate_)
      return;
    std::shared_ptr<Core> alive = shared_from_this();
    call(*rust_, clock_->Now().InMicroseconds());
    Settle();
  }

  void Execute(Command command, Completion completion) {
    // What is dropped on the way out of here is answered by that.
    ffi::CommandCore* core = Access::Release(std::move(command));
    if (!core)
      return;
    auto box = rust::Box<ffi::CommandCore>::from_raw(core);
    Tell([&](ffi::ExecutorCore& rust, uint64_t now) {
      if (!completions_.try_emplace(box->seq(), std::move(completion)).second) {
        completion.Fail(ErrorCode::kInternalUnknown,
                        "the executor has a command of this seq already: it "
                        "serves one host");
        return;
      }
      rust.execute(std::move(box), now);
    });
  }

  void HandleTimeout() {
    deadline_.reset();
    Tell([](ffi::ExecutorCore& rust, uint64_t now) {
      rust.handle_timeout(now);
    });
  }

  void Cancel(uint64_t seq) {
    Tell([&](ffi::ExecutorCore& rust, uint64_t now) {
      rust.cancel(seq, now);
      // Dropped outside of the map, since that calls the host, which may hand
      // in the next command.
      completions_.extract(seq);
    });
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
    if (rust_->next_message()) {
      // A copy, since the answer may come before Send() returns.
      std::string message(View(rust_->message()));
      transport_->Send(message);
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
      case ffi::ExecutorEventKind::Ready:
        delegate_->OnReady();
        return true;
      case ffi::ExecutorEventKind::PageChanged: {
        std::string domain(View(rust_->event_text()));
        if (domain.empty())
          delegate_->OnPageChanged(std::nullopt);
        else
          delegate_->OnPageChanged(domain);
        return true;
      }
      case ffi::ExecutorEventKind::Completed:
        Complete();
        return true;
      case ffi::ExecutorEventKind::Disconnected:
        delegate_->OnDisconnected();
        return true;
      case ffi::ExecutorEventKind::None:
        break;
    }
    return false;
  }

  void Complete() {
    auto found = completions_.find(rust_->event_seq());
    if (found == completions_.end())
      return;
    Completion completion = std::move(found->second);
    completions_.erase(found);
    std::string json(View(rust_->event_json()));
    if (std::optional<ErrorCode> code = Code(rust_->event_code()))
      completion.Fail(Failure{*code, std::string(View(rust_->event_text())),
                              std::move(json)});
    else
      completion.Succeed(json);
  }

  rust::Box<ffi::ExecutorCore> rust_;
  DevToolsTransport* transport_;
  Delegate* delegate_;
  const Clock* clock_;
  // By seq.
  std::map<uint64_t, Completion> completions_;
  bool settling_ = false;
  std::optional<uint64_t> deadline_ = UINT64_MAX;
};

DevToolsExecutor::DevToolsExecutor(Options options,
                                   DevToolsTransport* transport,
                                   Delegate* delegate,
                                   const Clock* clock)
    : core_(std::make_shared<Core>(options, transport, delegate, clock)) {}

DevToolsExecutor::~DevToolsExecutor() {
  core_->Detach();
}

void DevToolsExecutor::Start() {
  core_->Tell([&](ffi::ExecutorCore& rust, uint64_t now) { rust.start(now); });
}

void DevToolsExecutor::HandleMessage(std::string_view message) {
  core_->Tell([&](ffi::ExecutorCore& rust, uint64_t now) {
    rust.handle_message(Bytes(message), now);
  });
}

void DevToolsExecutor::HandleDisconnect() {
  core_->Tell([&](ffi::ExecutorCore& rust, uint64_t now) {
    rust.handle_disconnect(now);
  });
}

void DevToolsExecutor::HandleTimeout() {
  core_->HandleTimeout();
}

void DevToolsExecutor::Execute(Command command, Completion completion) {
  core_->Execute(std::move(command), std::move(completion));
}

void DevToolsExecutor::Cancel(uint64_t seq) {
  core_->Cancel(seq);
}

void DevToolsExecutor::SetPolicy(const Policy& policy) {
  core_->rust().set_policy(Access::Core(policy));
}

}  // namespace sgclaw
