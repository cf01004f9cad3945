#include "sgclaw/posix/devtools_pipe.h"

#include <signal.h>

#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace sgclaw::posix {
namespace {

// A pipe, and in the same process the browser's ends of it.
class DevToolsPipeTest : public ::testing::Test, public DevToolsPipe::Delegate {
 protected:
  void SetUp() override {
    // As every embedder of a process has it: child_process.h.
    signal(SIGPIPE, SIG_IGN);
    ASSERT_TRUE(pipe_.Open(&commands_, &messages_));
    ASSERT_TRUE(SetNonBlocking(commands_.get()));
  }

  void OnMessage(std::string_view message) override {
    received_.emplace_back(message);
    if (!answer_.empty())
      pipe_.Send(answer_);
  }
  void OnClosed() override { ++closed_; }

  void BrowserWrites(std::string_view bytes) {
    ASSERT_EQ(WriteOnce(messages_.get(), bytes).count, bytes.size());
  }

  // What the browser reads now.
  std::string BrowserReads() {
    std::string text;
    char buffer[65536];
    for (;;) {
      IoResult read = ReadOnce(commands_.get(), buffer, sizeof(buffer));
      if (read.status != IoStatus::kMoved)
        return text;
      text.append(buffer, read.count);
    }
  }

  size_t Interests() {
    WaitSet wait_set;
    pipe_.AddTo(&wait_set);
    return wait_set.fds().size();
  }

  DevToolsPipe pipe_{this};
  ScopedFd commands_;
  ScopedFd messages_;
  std::vector<std::string> received_;
  std::string answer_;
  int closed_ = 0;
};

using namespace std::literals;

TEST_F(DevToolsPipeTest, MessagesArriveWholeHoweverTheyAreCut) {
  std::string_view bytes = "{\"id\":1}\0{}\0\0{\"id\":2}\0"sv;
  for (char byte : bytes) {
    BrowserWrites({&byte, 1});
    pipe_.Turn();
  }
  std::vector<std::string> expected = {"{\"id\":1}", "{}", "", "{\"id\":2}"};
  EXPECT_EQ(received_, expected);
  received_.clear();
  BrowserWrites(bytes);
  pipe_.Turn();
  EXPECT_EQ(received_, expected);
}

TEST_F(DevToolsPipeTest, AnAnswerFromWithinAMessageLeavesAtOnce) {
  answer_ = "{\"id\":7}";
  BrowserWrites("{}\0{}\0"sv);
  pipe_.Turn();
  EXPECT_EQ(BrowserReads(), "{\"id\":7}\0{\"id\":7}\0"sv);
}

TEST_F(DevToolsPipeTest, WhatTheBrowserDoesNotTakeIsKept) {
  EXPECT_EQ(Interests(), 1u);
  std::string sent;
  for (char c = 'a'; c <= 'z'; ++c) {
    std::string message(100000, c);
    pipe_.Send(message);
    sent.append(message).push_back('\0');
  }
  // It waits for room too.
  EXPECT_EQ(Interests(), 2u);
  std::string read;
  while (read.size() < sent.size()) {
    std::string more = BrowserReads();
    ASSERT_FALSE(more.empty());
    read += more;
    pipe_.Turn();
  }
  EXPECT_EQ(read, sent);
  EXPECT_EQ(Interests(), 1u);
}

TEST_F(DevToolsPipeTest, TheEndIsToldOnceAfterTheLastMessage) {
  BrowserWrites("{}\0cut"sv);
  messages_.Close();
  pipe_.Turn();
  pipe_.Turn();
  EXPECT_EQ(received_, std::vector<std::string>{"{}"});
  EXPECT_EQ(closed_, 1);
  EXPECT_EQ(Interests(), 0u);
  pipe_.Send("{}");
  EXPECT_EQ(BrowserReads(), "");
}

TEST_F(DevToolsPipeTest, ABrowserThatReadsNoMoreIsStillHeard) {
  commands_.Close();
  pipe_.Send("{}");
  EXPECT_EQ(Interests(), 1u);
  BrowserWrites("{}\0"sv);
  pipe_.Turn();
  EXPECT_EQ(received_.size(), 1u);
  EXPECT_EQ(closed_, 0);
}

}  // namespace
}  // namespace sgclaw::posix
