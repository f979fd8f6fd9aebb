// Details of ml-goodput-measurement.
#include "sim/import/measured/goodput_summary.h"

#include <gmock/gmock.h>

#include "sim/core/error.h"

namespace headway::import {
namespace {

using testing::HasSubstr;

const std::string kDetails =
    R"({"goodput_time": {"TOTAL": 900.0},
        "badput_time": {"BadputType.DATA_LOADING_SYNC": 20.5, "tpu_initialization": 30,
                        "CUSTOM_BADPUT_EVENTS": {"eval": 5, "warm": 2.5},
                        "UNPRODUCTIVE_CHECKPOINT_SAVE_TIME": 42},
        "max_productive_step": 300, "total_elapsed_time": 1000, "disruption_count": 2,
        "step_time_deviation": {"7": 0.1}, "ideal_step_time": 3.0})";

TEST(GoodputSummary, TimesAreReadByKind) {
  ASSERT_TRUE(is_goodput_summary(kDetails));
  const auto summary = read_goodput_summary(kDetails, "g.json");
  EXPECT_EQ(summary.productive, 900);
  EXPECT_EQ(summary.elapsed, 1000);
  EXPECT_EQ(summary.ideal_step, 3);
  EXPECT_EQ(summary.steps, 300);
  EXPECT_EQ(summary.disruptions, 2);
  EXPECT_EQ(summary.lost_to("DATA_LOADING_SYNC"), 20.5);
  EXPECT_EQ(summary.lost_to("TPU_INITIALIZATION"), 30);
  EXPECT_EQ(summary.lost_to("CUSTOM_BADPUT_EVENTS"), 7.5);
  EXPECT_EQ(summary.lost_to("OTHER"), 0);
}

TEST(GoodputSummary, NamesWhatIsNoTime) {
  EXPECT_FALSE(is_goodput_summary(R"({"goodput": 97})"));
  try {
    read_goodput_summary(
        R"({"goodput_time": 3, "badput_time": {"OTHER": "x"}, "total_elapsed_time": -1})",
        "g.json");
    FAIL();
  } catch (const core::Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("'goodput_time' is no object of times"));
    EXPECT_THAT(error.what(), HasSubstr("'badput_time' holds \"x\""));
    EXPECT_THAT(error.what(), HasSubstr("'total_elapsed_time' holds -1"));
  }
}

}  // namespace
}  // namespace headway::import
