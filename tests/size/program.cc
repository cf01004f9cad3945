// The smallest host: every way into the library that a browser takes.

#include <cstdio>

#include "sgclaw/command_router.h"
#include "sgclaw/host.h"

namespace {

class FixedClock : public sgclaw::Clock {
 public:
  sgclaw::Time Now() const override { return sgclaw::Time(); }
};

class Delegate : public sgclaw::Host::Delegate {
 public:
  void OnCommand(sgclaw::Command command,
                 sgclaw::Completion completion) override {
    router_.Dispatch(std::move(command), std::move(completion));
  }
  void OnOutputReady() override {}
  void OnDeadlineChanged(std::optional<sgclaw::Time>) override {}
  void OnConfirmationAsked(const sgclaw::ConfirmationRequest&) override {}
  void OnCloseAgentInput() override {}
  void OnTerminateAgent() override {}
  void OnKillAgent() override {}
  void OnTraceRecord(const sgclaw::TraceRecord& record) override {
    std::fputs(record.ToJsonLine().c_str(), stderr);
  }

  sgclaw::CommandRouter router_;
};

}  // namespace

int main(int argc, char** argv) {
  FixedClock clock;
  Delegate delegate;
  sgclaw::HostOptions options;
  std::string error;
  if (argc > 1) {
    if (auto policy = sgclaw::Policy::Parse(argv[1], nullptr, &error))
      options.policy = *policy;
  }
  sgclaw::Host host(std::move(options), sgclaw::HmacSeed({}), &delegate,
                    &clock);
  host.Start();
  char bytes[4096];
  while (size_t count = std::fread(bytes, 1, sizeof bytes, stdin)) {
    host.HandleInput({bytes, count});
    host.HandleTimeout();
    host.OutputWritten(
        std::fwrite(host.output().data(), 1, host.output().size(), stdout));
  }
  host.HandleEndOfInput();
  host.HandleExitCode(0);
}
