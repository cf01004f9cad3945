#include "sgclaw/posix/child_process.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <utility>

#include "gtest/gtest.h"
#include "third_party/sgclaw/cpp/posix/test_clock.h"

namespace sgclaw::posix {
namespace {

std::optional<ExitStatus> WaitFor(ChildProcess* child) {
  TestClock clock;
  Time end = clock.In(10000);
  while (clock.Now() < end) {
    if (std::optional<ExitStatus> exit = child->TryReap())
      return exit;
    WaitSet wait_set;
    child->AddTo(&wait_set, clock.Now());
    wait_set.WaitUntil(end);
    if (!wait_set.Wait(clock))
      break;
  }
  return std::nullopt;
}

std::string ReadAll(int fd) {
  std::string text;
  char buffer[4096];
  for (;;) {
    IoResult read = ReadOnce(fd, buffer, sizeof(buffer));
    if (read.status != IoStatus::kMoved)
      return text;
    text.append(buffer, read.count);
  }
}

// What `script` writes to its stdout until all who hold it are gone.
std::string Output(const std::string& script,
                   std::optional<ExitStatus>* exit = nullptr) {
  ScopedFd reader, writer;
  EXPECT_TRUE(MakePipe(&reader, &writer));
  std::string error;
  std::optional<ChildProcess> child = ChildProcess::Spawn(
      {"sh", "-c", script}, {{STDOUT_FILENO, writer.get()}}, &error);
  EXPECT_TRUE(child) << error;
  writer.Close();
  std::optional<ExitStatus> status = WaitFor(&*child);
  if (exit)
    *exit = status;
  return ReadAll(reader.get());
}

TEST(ChildProcessTest, TellsHowItEnded) {
  std::optional<ExitStatus> exit;
  EXPECT_EQ(Output("echo said; exit 7", &exit), "said\n");
  ASSERT_TRUE(exit);
  EXPECT_EQ(exit->ToString(), "exited with status 7");
  Output("kill -SEGV $$", &exit);
  ASSERT_TRUE(exit);
  EXPECT_EQ(exit->ToString(), "was ended by signal 11");
}

TEST(ChildProcessTest, AProgramThatIsNotThereIsAnError) {
  std::string error;
  EXPECT_FALSE(ChildProcess::Spawn({"/nowhere/agent"}, {}, &error));
  EXPECT_EQ(error, "No such file or directory");
  EXPECT_FALSE(ChildProcess::Spawn({}, {}, nullptr));
}

TEST(ChildProcessTest, WhatItStartedGoesWithIt) {
  // The sleeper holds stdout: where it lived on, this would not return.
  EXPECT_EQ(Output("sleep 600 & echo started"), "started\n");
}

TEST(ChildProcessTest, GoesWithItsObject) {
  ScopedFd reader, writer;
  ASSERT_TRUE(MakePipe(&reader, &writer));
  {
    std::optional<ChildProcess> child =
        ChildProcess::Spawn({"sh", "-c", "trap '' TERM INT HUP; sleep 600"},
                            {{STDOUT_FILENO, writer.get()}}, nullptr);
    ASSERT_TRUE(child);
    writer.Close();
    ChildProcess moved = std::move(*child);
    EXPECT_FALSE(moved.TryReap());
  }
  EXPECT_EQ(ReadAll(reader.get()), "");
}

TEST(ChildProcessTest, MappingsMayCross) {
  ScopedFd first_reader, first, second_reader, second;
  ASSERT_TRUE(MakePipe(&first_reader, &first));
  ASSERT_TRUE(MakePipe(&second_reader, &second));
  std::string script = "echo first >&" + std::to_string(second.get()) +
                       "; echo second >&" + std::to_string(first.get());
  std::string error;
  std::optional<ChildProcess> child = ChildProcess::Spawn(
      {"bash", "-c", script},
      {{first.get(), second.get()}, {second.get(), first.get()}}, &error);
  ASSERT_TRUE(child) << error;
  first.Close();
  second.Close();
  EXPECT_EQ(WaitFor(&*child)->ToString(), "exited with status 0");
  EXPECT_EQ(ReadAll(first_reader.get()), "first\n");
  EXPECT_EQ(ReadAll(second_reader.get()), "second\n");
}

TEST(ChildProcessTest, SignalsAreAsAProgramExpectsThem) {
  // Ours: SIGPIPE is ignored by Spawn() at the latest, SIGTERM blocked here.
  sigset_t blocked, old;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGTERM);
  ASSERT_EQ(pthread_sigmask(SIG_BLOCK, &blocked, &old), 0);
  for (const char* name : {"PIPE", "TERM"}) {
    std::optional<ExitStatus> exit;
    EXPECT_EQ(Output(std::string("kill -") + name + " $$; echo alive", &exit),
              "");
    ASSERT_TRUE(exit);
    EXPECT_TRUE(exit->by_signal);
  }
  pthread_sigmask(SIG_SETMASK, &old, nullptr);
}

#if defined(__GLIBC_PREREQ)
#if __GLIBC_PREREQ(2, 34)
TEST(ChildProcessTest, InheritsNothingByAccident) {
  ScopedFd careless(open("/dev/null", O_RDONLY));
  ASSERT_GT(careless.get(), STDERR_FILENO);
  // 3 is the folder that ls reads.
  EXPECT_EQ(Output("exec ls /proc/self/fd"), "0\n1\n2\n3\n");
}
#endif
#endif

}  // namespace
}  // namespace sgclaw::posix
