#include "micro/latency/tlb.cu"

#include "harness/base/text.hpp"
#include "rows_of.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace strata {
namespace {

TEST(TlbWarmLoads, GoRoundOnceWhereTheChainIsShort) {
  EXPECT_EQ(tlb::warm_loads_for(2), 64U);
  EXPECT_EQ(tlb::warm_loads_for(1000), 1008U);
  EXPECT_EQ(tlb::warm_loads_for(65536), 2048U);
}

}  // namespace
}  // namespace strata
