// The host on agents that are wrong, hostile, slow or dead is tested through
// examples/cpp_host by apps/sgclaw/tests/host_process.rs. Here is what a
// program cannot show.

#include "sgclaw/posix/process_host.h"

#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "sgclaw/posix/random_seed.h"
#include "third_party/sgclaw/cpp/posix/test_clock.h"

namespace sgclaw::posix {
namespace {

constexpr char kAck[] =
    "read init; echo '{\"type\":\"init_ack\",\"version\":\"1.0\",\"agent_id\":"
    "\"0b7e2a54-3c1d-4e8f-9a6b-5c4d3e2f1a0b\",\"supported_actions\":"
    "[\"click\"]}'; ";

class ProcessHostTest : public ::testing::Test, public ProcessHost::Delegate {
 protected:
  ProcessHostTest() {
    host_.emplace(HostOptions(), *RandomSeed(), this, &clock_);
  }

  void OnCommand(Command, Completion) override {}
  void OnConfirmationAsked(const ConfirmationRequest&) override {}
  void OnStateChanged(HostState state,
                      std::optional<ErrorCode>,
                      std::string_view) override {
    if (state == HostState::kRunning && stop_when_running_)
      host_->host().Stop();
  }
  void OnAgentLine(std::string_view line) override {
    lines_.emplace_back(line);
  }
  void OnEnded(const ProcessHost::End& end) override {
    end_ = end;
    ++ends_;
  }

  bool Start(const std::string& script) {
    std::string error;
    return host_->Start({"sh", "-c", script}, &error);
  }

  void RunToTheEnd() {
    Time limit = clock_.In(10000);
    while (!host_->ended() && clock_.Now() < limit) {
      WaitSet wait_set;
      host_->AddTo(&wait_set);
      wait_set.WaitUntil(limit);
      ASSERT_TRUE(wait_set.Wait(clock_));
      host_->Turn();
    }
    ASSERT_TRUE(host_->ended());
    host_->Turn();
    EXPECT_EQ(ends_, 1);
  }

  TestClock clock_;
  bool stop_when_running_ = false;
  std::vector<std::string> lines_;
  std::optional<ProcessHost::End> end_;
  int ends_ = 0;
  std::optional<ProcessHost> host_;
};

TEST_F(ProcessHostTest, TellsTheEndAndTheLastLineOfStderr) {
  ASSERT_TRUE(Start(std::string(kAck) + "printf 'one\\r\\ntwo' >&2"));
  RunToTheEnd();
  EXPECT_EQ(end_->state, HostState::kStopped);
  EXPECT_EQ(end_->agent.ToString(), "exited with status 0");
  EXPECT_EQ(lines_, (std::vector<std::string>{"one", "two"}));
  EXPECT_EQ(end_->dropped_stderr, 0u);
}

TEST_F(ProcessHostTest, TheDelegateMayStopItFromWithinACall) {
  stop_when_running_ = true;
  ASSERT_TRUE(Start(std::string(kAck) + "cat > /dev/null"));
  RunToTheEnd();
  EXPECT_EQ(end_->state, HostState::kStopped);
}

TEST_F(ProcessHostTest, AnAgentThatDoesNotReadIsNotListenedTo) {
  HostOptions options;
  options.limits.max_rejections = UINT32_MAX;
  options.limits.max_output_bytes = 65536;
  host_.emplace(std::move(options), *RandomSeed(), this, &clock_);
  ASSERT_TRUE(Start(std::string(kAck) + "yes garbage"));
  Time limit = clock_.In(10000);
  auto turn = [&](Time until) {
    WaitSet wait_set;
    host_->AddTo(&wait_set);
    wait_set.WaitUntil(until);
    ASSERT_TRUE(wait_set.Wait(clock_));
    host_->Turn();
  };
  while (host_->host().wants_input() && clock_.Now() < limit)
    turn(limit);
  EXPECT_FALSE(host_->host().wants_input());
  // It sleeps now, and does not spin.
  int turns = 0;
  for (Time end = clock_.In(200); clock_.Now() < end; ++turns)
    turn(end);
  EXPECT_LT(turns, 20);
  EXPECT_EQ(host_->host().state(), HostState::kRunning);
  host_->host().Stop();
  RunToTheEnd();
  EXPECT_EQ(end_->state, HostState::kStopped);
}

TEST_F(ProcessHostTest, WhatCannotBeStartedHasNotBegun) {
  std::string error;
  EXPECT_FALSE(host_->Start({"/nowhere/agent"}, &error));
  EXPECT_EQ(error, "No such file or directory");
  host_->Turn();
  WaitSet wait_set;
  host_->AddTo(&wait_set);
  EXPECT_TRUE(wait_set.fds().empty());
  EXPECT_EQ(host_->host().state(), HostState::kIdle);
  host_->host().Stop();
}

TEST_F(ProcessHostTest, ItServesOneAgent) {
  ASSERT_TRUE(Start(std::string(kAck) + "cat > /dev/null"));
  std::string error;
  EXPECT_FALSE(host_->Start({"true"}, &error));
  EXPECT_EQ(error, "an agent was started already: a host serves one");
  EXPECT_FALSE(host_->Start({"true"}, nullptr));
  host_->host().Stop();
  RunToTheEnd();
  EXPECT_EQ(end_->state, HostState::kStopped);
  EXPECT_FALSE(host_->Start({"true"}, &error));
}

TEST_F(ProcessHostTest, TheAgentGoesWithIt) {
  ASSERT_TRUE(Start("trap '' TERM; sleep 600"));
  host_.reset();
  EXPECT_EQ(ends_, 0);
}

}  // namespace
}  // namespace sgclaw::posix
