// Runs a recorded session through the C++ surface; README.md tells the form.

#include <cstdio>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <utility>

#include "sgclaw/host.h"

namespace {

using sgclaw::Command;
using sgclaw::Completion;
using sgclaw::Time;

std::string FromHex(const std::string& hex) {
  std::string bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2)
    bytes.push_back(
        static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16)));
  return bytes;
}

std::string ToHex(std::string_view bytes) {
  std::string hex;
  for (unsigned char byte : bytes) {
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", byte);
    hex += digits;
  }
  return hex.empty() ? "-" : hex;
}

class FakeClock : public sgclaw::Clock {
 public:
  Time Now() const override { return now_; }
  void Set(Time now) { now_ = now; }

 private:
  Time now_;
};

// Keeps what is told, to print it kind by kind after the step.
class Recorder : public sgclaw::Host::Delegate {
 public:
  void OnCommand(Command command, Completion completion) override {
    events_ << "execute " << command.seq() << ' ' << command.action() << ' '
            << command.expected_domain() << ' ' << command.timeout_us() << ' '
            << command.params() << '\n';
    completions_.emplace(command.seq(), std::move(completion));
  }
  void OnCancel(uint64_t seq) override { events_ << "cancel " << seq << '\n'; }
  void OnOutputReady() override {}
  void OnDeadlineChanged(std::optional<Time> deadline) override {
    deadline_ = deadline ? std::to_string(deadline->InMicroseconds()) : "-";
  }
  void OnStateChanged(sgclaw::HostState state,
                      std::optional<sgclaw::ErrorCode> code,
                      std::string_view message) override {
    events_ << "state " << sgclaw::HostStateName(state) << ' '
            << (code ? static_cast<int>(*code) : 0) << ' ' << message << '\n';
  }
  void OnConfirmationAsked(
      const sgclaw::ConfirmationRequest& request) override {
    events_ << "ask " << request.seq << ' ' << request.action << ' '
            << request.expected_domain << ' ' << request.params << '\n';
  }
  void OnConfirmationOver(uint64_t seq) override {
    events_ << "over " << seq << '\n';
  }
  void OnBreakerOpened(std::string_view action) override {
    events_ << "breaker " << action << '\n';
  }
  void OnCloseAgentInput() override { events_ << "close\n"; }
  void OnTerminateAgent() override { events_ << "terminate\n"; }
  void OnKillAgent() override { events_ << "kill\n"; }
  void OnTraceRecord(const sgclaw::TraceRecord& record) override {
    trace_ << "trace " << record.ToJsonLine();
  }

  Completion Take(uint64_t seq) {
    Completion completion = std::move(completions_.at(seq));
    completions_.erase(seq);
    return completion;
  }

  void Print(std::string_view output) {
    std::cout << trace_.str() << events_.str();
    trace_.str("");
    events_.str("");
    if (deadline_ != printed_deadline_) {
      printed_deadline_ = deadline_;
      std::cout << "deadline " << deadline_ << '\n';
    }
    if (output != printed_output_) {
      printed_output_ = output;
      std::cout << "output " << ToHex(output) << '\n';
    }
  }

 private:
  std::map<uint64_t, Completion> completions_;
  std::ostringstream trace_;
  std::ostringstream events_;
  std::string deadline_ = "-";
  std::string printed_deadline_ = "-";
  std::string printed_output_;
};

sgclaw::Policy ParsePolicy(const std::string& hex) {
  std::string error;
  auto policy = sgclaw::Policy::Parse(FromHex(hex), nullptr, &error);
  if (!policy) {
    std::cerr << error << '\n';
    std::exit(1);
  }
  return *policy;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: replay_cc RECORDING\n";
    return 2;
  }
  std::ifstream file(argv[1]);
  std::string word;
  std::string seed_hex;
  std::string derivation;
  std::string policy_hex;
  file >> word >> seed_hex >> word >> derivation >> word >> policy_hex;
  std::array<uint8_t, 32> seed_bytes;
  std::string seed = FromHex(seed_hex);
  std::copy(seed.begin(), seed.end(), seed_bytes.begin());

  FakeClock clock;
  Recorder recorder;
  sgclaw::HostOptions options;
  options.session = "replay";
  options.policy = ParsePolicy(policy_hex);
  if (derivation == "seed")
    options.key_derivation = sgclaw::KeyDerivation::kSeed;
  sgclaw::Host host(std::move(options), sgclaw::HmacSeed(seed_bytes), &recorder,
                    &clock);

  uint64_t time;
  while (file >> time >> word) {
    clock.Set(Time::FromMicroseconds(time));
    std::string text;
    uint64_t seq = 0;
    if (word == "start") {
      host.Start();
    } else if (word == "input") {
      file >> text;
      host.HandleInput(FromHex(text));
    } else if (word == "end_of_input") {
      host.HandleEndOfInput();
    } else if (word == "output_closed") {
      host.HandleOutputClosed();
    } else if (word == "exit") {
      file >> seq;
      host.HandleExitCode(static_cast<int>(seq));
    } else if (word == "signal") {
      file >> seq;
      host.HandleExitSignal(static_cast<int>(seq));
    } else if (word == "timeout") {
      host.HandleTimeout();
    } else if (word == "succeed") {
      file >> seq >> text;
      recorder.Take(seq).Succeed(FromHex(text));
    } else if (word == "fail") {
      int code;
      std::string message;
      file >> seq >> code >> message >> text;
      recorder.Take(seq).Fail(
          sgclaw::Failure{static_cast<sgclaw::ErrorCode>(code),
                          FromHex(message), FromHex(text)});
    } else if (word == "abandon") {
      file >> seq;
      recorder.Take(seq);
    } else if (word == "confirm") {
      file >> seq >> text;
      host.Confirm(seq, text == "1");
    } else if (word == "cancel") {
      file >> seq;
      host.Cancel(seq);
    } else if (word == "reset") {
      file >> text;
      host.ResetBreaker(text);
    } else if (word == "page") {
      file >> text;
      if (text == "-")
        host.SetPage(std::nullopt);
      else
        host.SetPage(text);
    } else if (word == "policy") {
      file >> text;
      host.SetPolicy(ParsePolicy(text));
    } else if (word == "written") {
      file >> seq;
      host.OutputWritten(seq);
    } else if (word == "stop") {
      host.Stop();
    } else {
      std::cerr << "unknown step " << word << '\n';
      return 1;
    }
    recorder.Print(host.output());
  }
}
