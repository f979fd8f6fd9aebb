#include "sim/core/ids.h"

#include <gtest/gtest.h>
#include <map>
#include <type_traits>

#include "sim/core/component_id.h"

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

TEST(ComponentIds, OrderByKindThenIndex) {
  const ComponentId gpu{ComponentKind::gpu, 9};
  const ComponentId node{ComponentKind::node, 1};
  EXPECT_LT(gpu, node);
  EXPECT_LT(node, (ComponentId{ComponentKind::node, 2}));
  EXPECT_EQ(node, (ComponentId{ComponentKind::node, 1}));
  const std::map<ComponentId, int> downtime{{gpu, 1}, {node, 2}};
  EXPECT_EQ(downtime.at(node), 2);
}

TEST(ComponentIds, HaveAWordForEveryKind) {
  EXPECT_EQ(to_word(ComponentKind::network_switch), "switch");
  EXPECT_EQ(from_word<ComponentKind>("power_domain"), ComponentKind::power_domain);
  EXPECT_EQ(from_word<ComponentKind>("toaster"), std::nullopt);
}

}  // namespace
}  // namespace headway::core
