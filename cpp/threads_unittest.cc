// Sessions on threads of their own that share what the headers allow to be
// shared. What this proves is told by ThreadSanitizer.

#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "sgclaw/host.h"
#include "third_party/sgclaw/cpp/testing/host_bench.h"
#include "third_party/sgclaw/cpp/testing/test_hmac.h"

namespace sgclaw {
namespace {

using testing::HostBench;

TEST(ThreadsTest, SessionsShareAParserAnHmacAPolicyAndARegistry) {
  HostOptions options = HostBench::Options();
  options.hmac = std::make_shared<testing::TestHmac>();
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([options] {
      HostBench bench(options);
      bench.Run();
      for (uint64_t seq = 1; seq <= 50; ++seq) {
        bench.Click();
        bench.Succeed(seq);
        bench.host->SetPolicy(Policy(options.policy));
      }
      EXPECT_EQ(bench.TakeAnswers().size(), 50u);
    });
  }
  // The last reference goes on whatever thread ends last.
  options = HostOptions();
  for (std::thread& thread : threads)
    thread.join();
}

TEST(ThreadsTest, AHostMayMoveToAnotherThread) {
  auto bench = std::make_unique<HostBench>();
  bench->Run();
  bench->Click();
  std::thread other([bench = std::move(bench)] {
    bench->Succeed(1);
    EXPECT_EQ(bench->TakeAnswers().size(), 1u);
  });
  other.join();
}

}  // namespace
}  // namespace sgclaw
