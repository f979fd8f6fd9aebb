// In which order pieces of work are taken.
#include "sim/core/progress/spread_order.h"

#include <algorithm>
#include <gtest/gtest.h>

namespace headway::core {
namespace {

TEST(SpreadOrder, EveryPieceIsTakenOnce) {
  for (std::size_t count = 0; count <= 300; ++count) {
    auto order = spread_order(count);
    std::sort(order.begin(), order.end());
    ASSERT_EQ(order.size(), count);
    for (std::size_t i = 0; i < count; ++i) {
      ASSERT_EQ(order[i], i) << count;
    }
  }
}

// Of work that costs more and more, the first tenth costs about a tenth.
TEST(SpreadOrder, TheFirstTenthIsLikeTheRest) {
  constexpr std::size_t kCount = 500;
  const auto order = spread_order(kCount);
  double tenth = 0;
  double all = 0;
  for (std::size_t i = 0; i < kCount; ++i) {
    all += static_cast<double>(order[i]);
    tenth += i < kCount / 10 ? static_cast<double>(order[i]) : 0;
  }
  EXPECT_NEAR(tenth / all, 0.1, 0.01);
}

}  // namespace
}  // namespace headway::core
