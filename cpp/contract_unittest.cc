#include "gtest/gtest.h"
#include "sgclaw/json.h"

namespace sgclaw {
namespace {

TEST(JsonTest, TheContractHasAVersion) {
  EXPECT_EQ(ContractVersion(), "1.0");
}

}  // namespace
}  // namespace sgclaw
