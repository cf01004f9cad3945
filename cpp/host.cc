#include "sgclaw/host.h"

#include <utility>

#include "third_party/sgclaw/cpp/bridge.h"

namespace sgclaw {

namespace {

constexpr uint64_t kMicrosecondsPerMillisecond = 1000;

rust::Box<ffi::HostCore> MakeCore(const HostOptions& options,
                                  const HmacSeed& seed) {
  auto microseconds = [](uint64_t milliseconds) {
    return milliseconds > UINT64_MAX / kMicrosecondsPerMillisecond
               ? UINT64_MAX
               : milliseconds * kMicrosecondsPerMillisecond;
  };
  const HostLimits& limits = options.limits;
  ffi::HostSetup setup;
  setup.session = Bytes(options.session);
  setup.seed = Access::Bytes(seed);
  setup.seed_is_key = options.key_derivation == KeyDerivation::kSeed;
  setup.handshake_timeout = microseconds(limits.handshake_timeout_ms);
  setup.contiguous_seq = limits.contiguous_seq;
  setup.max_rejections = limits.max_rejections;
  setup.capacity = limits.capacity;
  setup.concurrency = limits.concurrency;
  setup.confirmation_timeout = microseconds(limits.confirmation_timeout_ms);
  setup.grace = microseconds(limits.grace_ms);
  setup.stop_grace = microseconds(limits.stop_grace_ms);
  setup.terminate_grace = microseconds(limits.terminate_grace_ms);
  setup.max_output_bytes = limits.max_output_bytes;
  auto core = ffi::host_new(setup, Access::Core(options.registry),
                            Access::Core(options.policy), options.url_parser,
                            options.hmac);
  ffi::wipe(setup.seed);
  return core;
}

}  // namespace

std::string_view HostStateName(HostState state) {
  switch (state) {
    case HostState::kIdle:
      return "Idle";
    case HostState::kHandshaking:
      return "Handshaking";
    case HostState::kRunning:
      return "Running";
    case HostState::kStopping:
      return "Stopping";
    case HostState::kStopped:
      return "Stopped";
    case HostState::kCrashed:
      return "Crashed";
  }
  return "";
}

HmacSeed::~HmacSeed() {
  ffi::wipe(bytes_);
}

void Host::Delegate::OnCancel(uint64_t) {}

void Host::Delegate::OnStateChanged(HostState,
                                    std::optional<ErrorCode>,
                                    std::string_view) {}

void Host::Delegate::OnConfirmationOver(uint64_t) {}

void Host::Delegate::OnBreakerOpened(std::string_view) {}

void Host::Delegate::OnTraceRecord(const TraceRecord&) {}

// Every method of Host tells Rust first and then settles: it drains what Rust
// has to say to the delegate. What the delegate calls from there tells Rust too
// and returns; the loop that runs already drains that as well.
class Host::Core : public CompletionSink,
                   public std::enable_shared_from_this<Core> {
 public:
  Core(const HostOptions& options,
       const HmacSeed& seed,
       Delegate* delegate,
       const Clock* clock)
      : rust_(MakeCore(options, seed)), delegate_(delegate), clock_(clock) {}

  ffi::HostCore& rust() { return *rust_; }

  void OutputWritten(size_t count) {
    Tell([&](ffi::HostCore& rust, uint64_t) {
      rust.output_written(count);
      // Here and not in Step(): before that runs, the delegate may have written
      // everything and then caused more.
      if (rust.output().empty())
        output_told_ = false;
    });
  }

  void HandleTimeout() {
    deadline_.reset();
    Tell([](ffi::HostCore& rust, uint64_t now) { rust.handle_timeout(now); });
  }

  // The host is gone: nobody is called any more.
  void Detach() { delegate_ = nullptr; }

  template <typename Call>
  void Tell(Call call) {
    if (!delegate_)
      return;
    // The delegate may destroy the host, and with it the last other reference.
    std::shared_ptr<Core> alive = shared_from_this();
    call(*rust_, clock_->Now().InMicroseconds());
    Settle();
  }

  void OnSuccess(uint64_t seq, std::string_view data) override {
    Tell([&](ffi::HostCore& rust, uint64_t now) {
      rust.succeed(seq, Bytes(data), now);
    });
  }

  void OnFailure(uint64_t seq, const Failure& failure) override {
    Tell([&](ffi::HostCore& rust, uint64_t now) {
      rust.fail(seq, failure.code, Bytes(failure.message),
                Bytes(failure.details), now);
    });
  }

  void OnDropped(uint64_t seq) override {
    Tell([&](ffi::HostCore& rust, uint64_t now) { rust.abandon(seq, now); });
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

  // Tells the delegate one thing. False where there is nothing left to tell or
  // nobody to tell it to.
  bool Step() {
    if (!delegate_)
      return false;
    if (rust_->next_trace()) {
      delegate_->OnTraceRecord(Access::MakeTraceRecord(*rust_));
      return true;
    }
    // Before the events, since after one the child's stdin may be closed.
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

  // What is a view of Rust's current event is copied before the delegate is
  // called, who may cause the next.
  bool TellEvent() {
    switch (rust_->next_event()) {
      case ffi::HostEventKind::StateChanged: {
        std::string message(View(rust_->event_message()));
        delegate_->OnStateChanged(rust_->event_state(),
                                  Code(rust_->event_code()), message);
        return true;
      }
      case ffi::HostEventKind::Execute: {
        Command command = Access::MakeCommand(rust_->take_command());
        Completion completion(weak_from_this(), command.seq());
        delegate_->OnCommand(std::move(command), std::move(completion));
        return true;
      }
      case ffi::HostEventKind::Cancel:
        delegate_->OnCancel(rust_->event_seq());
        return true;
      case ffi::HostEventKind::ConfirmationAsked: {
        ConfirmationRequest request;
        request.seq = rust_->event_seq();
        request.action = View(rust_->event_action());
        request.expected_domain = View(rust_->event_domain());
        request.params = View(rust_->event_params());
        delegate_->OnConfirmationAsked(request);
        return true;
      }
      case ffi::HostEventKind::ConfirmationOver:
        delegate_->OnConfirmationOver(rust_->event_seq());
        return true;
      case ffi::HostEventKind::BreakerOpened: {
        std::string action(View(rust_->event_action()));
        delegate_->OnBreakerOpened(action);
        return true;
      }
      case ffi::HostEventKind::CloseStdin:
        delegate_->OnCloseAgentInput();
        return true;
      case ffi::HostEventKind::Terminate:
        delegate_->OnTerminateAgent();
        return true;
      case ffi::HostEventKind::Kill:
        delegate_->OnKillAgent();
        return true;
      case ffi::HostEventKind::None:
        break;
    }
    return false;
  }

  rust::Box<ffi::HostCore> rust_;
  Delegate* delegate_;
  const Clock* clock_;
  bool settling_ = false;
  // The delegate knows that bytes wait.
  bool output_told_ = false;
  // As the delegate knows it; empty where it is to be told again.
  std::optional<uint64_t> deadline_ = UINT64_MAX;
};

Host::Host(HostOptions options,
           HmacSeed seed,
           Delegate* delegate,
           const Clock* clock)
    : core_(std::make_shared<Core>(options, seed, delegate, clock)) {}

Host::~Host() {
  core_->Detach();
}

void Host::Start() {
  core_->Tell([&](ffi::HostCore& rust, uint64_t now) { rust.start(now); });
}

void Host::HandleInput(std::string_view bytes) {
  core_->Tell([&](ffi::HostCore& rust, uint64_t now) {
    rust.handle_input(Bytes(bytes), now);
  });
}

void Host::HandleEndOfInput() {
  core_->Tell([&](ffi::HostCore& rust, uint64_t now) {
    rust.handle_end_of_input(now);
  });
}

void Host::HandleOutputClosed() {
  core_->Tell([&](ffi::HostCore& rust, uint64_t now) {
    rust.handle_output_closed(now);
  });
}

void Host::HandleExitCode(int code) {
  core_->Tell([&](ffi::HostCore& rust, uint64_t now) {
    rust.handle_exit_code(code, now);
  });
}

void Host::HandleExitSignal(int signal) {
  core_->Tell([&](ffi::HostCore& rust, uint64_t now) {
    rust.handle_exit_signal(signal, now);
  });
}

void Host::HandleTimeout() {
  core_->HandleTimeout();
}

std::string_view Host::output() const {
  return View(core_->rust().output());
}

void Host::OutputWritten(size_t count) {
  core_->OutputWritten(count);
}

bool Host::wants_input() const {
  return core_->rust().wants_input();
}

void Host::Confirm(uint64_t seq, bool allow) {
  core_->Tell([&](ffi::HostCore& rust, uint64_t now) {
    rust.confirm(seq, allow, now);
  });
}

void Host::Cancel(uint64_t seq) {
  core_->Tell(
      [&](ffi::HostCore& rust, uint64_t now) { rust.cancel(seq, now); });
}

void Host::SetPolicy(const Policy& policy) {
  core_->rust().set_policy(Access::Core(policy));
}

bool Host::SetPage(std::optional<std::string_view> domain) {
  if (domain)
    return core_->rust().set_page(Bytes(*domain));
  core_->rust().clear_page();
  return true;
}

void Host::ResetBreaker(std::string_view action) {
  core_->rust().reset_breaker(Bytes(action));
}

void Host::Stop() {
  core_->Tell([&](ffi::HostCore& rust, uint64_t now) { rust.stop(now); });
}

HostState Host::state() const {
  return core_->rust().state();
}

size_t Host::in_flight() const {
  return core_->rust().in_flight();
}

std::vector<std::string> Host::negotiated_actions() const {
  return Strings(core_->rust().negotiated_actions());
}

Time TraceRecord::time() const {
  return Time::FromMicroseconds(core_.trace_time());
}

uint64_t TraceRecord::seq() const {
  return core_.trace_seq();
}

TraceStage TraceRecord::stage() const {
  return core_.trace_stage();
}

std::string_view TraceRecord::action() const {
  return View(core_.trace_action());
}

std::optional<ErrorCode> TraceRecord::code() const {
  return Code(core_.trace_code());
}

std::string TraceRecord::ToJsonLine() const {
  rust::String line = core_.trace_line();
  return std::string(line.data(), line.size());
}

}  // namespace sgclaw
