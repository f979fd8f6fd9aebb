#include "sim/core/ids.h"

#include <gtest/gtest.h>
#include <type_traits>

namespace headway::core {
namespace {

static_assert(!std::is_convertible_v<Rank, GpuId>);
static_assert(!std::is_convertible_v<int, Rank>);
static_assert(sizeof(Rank) == 4);

TEST(Ids, AreInvalidUntilGivenAnIndex) {
  EXPECT_FALSE(LinkId().valid());
  EXPECT_TRUE(LinkId(0).valid());
  EXPECT_EQ(LinkId(7).index(), 7U);
}

TEST(Ids, OrderByIndex) {
  EXPECT_LT(Rank(3), Rank(4));
  EXPECT_EQ(Rank(3), Rank(std::size_t{3}));
  EXPECT_LT(Rank(4), Rank());  // the invalid id sorts last
}

}  // namespace
}  // namespace headway::core
