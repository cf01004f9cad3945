// The session of main.rs through the C++ surface.

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sgclaw/host.h"

namespace {

class CountingClock : public sgclaw::Clock {
 public:
  sgclaw::Time Now() const override {
    return sgclaw::Time::FromMicroseconds(now_);
  }
  void Tick() { ++now_; }

 private:
  uint64_t now_ = 0;
};

class Embedder : public sgclaw::Host::Delegate {
 public:
  sgclaw::Host* host = nullptr;
  size_t written = 0;

 private:
  void OnCommand(sgclaw::Command, sgclaw::Completion completion) override {
    completion.Succeed("{}");
  }
  void OnOutputReady() override {
    for (size_t count; (count = host->output().size()) > 0;) {
      written += count;
      host->OutputWritten(count);
    }
  }
  void OnDeadlineChanged(std::optional<sgclaw::Time>) override {}
  void OnConfirmationAsked(const sgclaw::ConfirmationRequest&) override {}
  void OnCloseAgentInput() override {}
  void OnTerminateAgent() override {}
  void OnKillAgent() override {}
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fputs("usage: boundary FILE COUNT\n", stderr);
    return 2;
  }
  size_t count = std::strtoull(argv[2], nullptr, 10);
  std::ifstream file(argv[1], std::ios::binary);
  std::string ack;
  std::getline(file, ack);
  std::vector<std::string> commands;
  for (std::string line; commands.size() < count && std::getline(file, line);)
    commands.push_back(line + "\n");

  std::array<uint8_t, 32> seed;
  seed.fill(7);
  sgclaw::HostOptions options;
  options.session = "boundary";
  options.policy = sgclaw::Policy::Loopback();
  CountingClock clock;
  Embedder embedder;
  sgclaw::Host host(std::move(options), sgclaw::HmacSeed(seed), &embedder,
                    &clock);
  embedder.host = &host;
  host.SetPage("localhost");
  host.Start();
  host.HandleInput(ack + "\n");

  auto start = std::chrono::steady_clock::now();
  for (std::string_view line : commands) {
    clock.Tick();
    host.HandleInput(line);
  }
  std::chrono::nanoseconds taken = std::chrono::steady_clock::now() - start;
  if (commands.empty() || host.in_flight() != 0 ||
      embedder.written < commands.size() * 50) {
    std::fputs("not every command was answered\n", stderr);
    return 1;
  }
  std::printf("%llu\n",
              static_cast<unsigned long long>(taken.count()) / commands.size());
  return 0;
}
