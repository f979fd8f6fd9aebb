// Why a machine without a plan has none.
#include "sim/plan/rejections.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace headway::plan {
namespace {

using testing::StartsWith;

Rejections left_out() {
  Rejections rejected;
  rejected.add("slower", "others are faster", 4'000'000);
  rejected.set_nearest("slower", "others are faster", 1e-6, "3.6 s");
  rejected.add("memory", "needs more", 100);
  rejected.set_nearest("memory", "needs more", 0.01, "1 GiB more");
  rejected.add("batch", "no multiple", 1000);
  return rejected;
}

// What is slower than others is not why there is none: those others have failed on something.
TEST(WhyNone, NamesALimitBeforeMemoryAndNeverWhatIsSlower) {
  Rejections rejected = left_out();
  EXPECT_EQ(why_none(rejected.list()), "memory: needs more; nearest: 1 GiB more");
  rejected.add("deadline", "takes longer", 2);
  rejected.set_nearest("deadline", "takes longer", 0.5, "14 days");
  EXPECT_EQ(why_none(rejected.list()), "deadline: takes longer; nearest: 14 days");
  rejected.add("budget", "costs more", 1);
  rejected.set_nearest("budget", "costs more", 0.2, "9 USD");
  EXPECT_THAT(why_none(rejected.list()), StartsWith("budget: costs more"));
}

TEST(WhyNone, TakesWhatThereIs) {
  EXPECT_EQ(why_none({}), "no layout of it was found");
  Rejections rejected;
  rejected.add("slower", "others are faster", 3);
  EXPECT_EQ(why_none(rejected.list()), "slower: others are faster");
  rejected.add("batch", "no multiple", 1);
  EXPECT_EQ(why_none(rejected.list()), "batch: no multiple");
}

// A text of no layout stays none when another machine's name would come before it.
TEST(Rejections, SayNothingWhereNothingIsNearest) {
  Rejections here;
  here.add("power", "64 nodes draw 1.19 MW, the limit is 0.250", 5);
  here.set_nearest("power", "64 nodes draw 1.19 MW, the limit is 0.250", 3.8, "");
  Rejections all;
  all.add(here, "a machine: ");
  ASSERT_EQ(all.list().size(), 1U);
  EXPECT_EQ(all.list()[0].nearest, "");
  EXPECT_EQ(all.list()[0].distance, 3.8);
}

}  // namespace
}  // namespace headway::plan
