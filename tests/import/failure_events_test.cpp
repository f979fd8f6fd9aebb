// Logs of failures: two published ones, the general form, and errors with their line.
#include "sim/import/measured/failure_events.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/core/error.h"

#include "tests/import/read_file.h"

namespace headway::import {
namespace {

using core::Seconds;
using failures::ComponentClass;
using testing::HasSubstr;

FailureEvents published_log(const char* name) {
  return read_failure_events(text_of(kData + name), name);
}

TEST(FailureEvents, ReadTheLogOfGlm130B) {
  const FailureEvents log = published_log("glm130b_events.csv");
  ASSERT_EQ(log.events.size(), 12U);
  EXPECT_EQ(log.left_out.size(), 2U);  // the start and a slow node
  // 2022-05-06 04:00 to 2022-05-07 20:14 are 40 h 14 min.
  EXPECT_EQ(log.events[0].at, Seconds(40 * 3600.0 + 14 * 60));
  EXPECT_EQ(log.events[0].component, ComponentClass::host);
  EXPECT_EQ(log.events.back().component, ComponentClass::nvlink);
  // To 2022-06-26 16:00: 51.5 days.
  EXPECT_EQ(log.events.back().at, Seconds(51.5 * 86400));
}

TEST(FailureEvents, ReadTheLogOfBloom176B) {
  const FailureEvents log = published_log("bloom176b_events.csv");
  ASSERT_EQ(log.events.size(), 5U);
  EXPECT_EQ(log.events[0].name, "gpu_crash");
  EXPECT_EQ(log.events[0].at, Seconds(10 * 86400.0));
  EXPECT_EQ(log.events[2].nodes_lost, 0);  // a hang
  EXPECT_THAT(log.left_out,
              testing::Contains(HasSubstr(":6: 'gpu_failures_weekly' has no exact time")));
}

TEST(FailureEvents, TakeSecondsComponentsAndRepairTimes) {
  const FailureEvents log = read_failure_events(
      "time,kind,component,repair,nodes_lost\n60,flap,cable,,0\n90.5,dead,nic,3600,1\n", "log.csv");
  ASSERT_EQ(log.events.size(), 2U);
  EXPECT_EQ(log.events[0].at, Seconds(60));
  EXPECT_EQ(log.events[0].component, ComponentClass::cable);
  EXPECT_EQ(log.events[0].nodes_lost, 0);
  EXPECT_FALSE(log.events[0].repair.has_value());
  EXPECT_EQ(log.events[1].repair, Seconds(3600));
}

TEST(FailureEvents, NameTheLineOfAFault) {
  const std::string log = "# a comment\ntime,kind,component\n60,flap,cabel\n";
  try {
    read_failure_events(log, "log.csv");
    FAIL();
  } catch (const core::Error& error) {
    EXPECT_STREQ(error.what(), "log.csv:3:1: 'cabel' is no component that fails\n");
  }
  EXPECT_THROW(read_failure_events("when,what\n1,x\n", "log.csv"), core::Error);
  EXPECT_THROW(
      read_failure_events("date,event\n2022-05-02,start\n2022-05-01,node_failure\n", "log.csv"),
      core::Error);
}

TEST(FailureEvents, BeginWithTheFirstStart) {
  const FailureEvents log = read_failure_events(
      "date,event\n2022-05-01,start\n2022-05-02,gpu_crash\n2022-05-03,start\n2022-05-04,gpu_"
      "crash\n",
      "log.csv");
  ASSERT_EQ(log.events.size(), 2U);
  EXPECT_EQ(log.events[0].at, Seconds(86400));
  EXPECT_EQ(log.events[1].at, Seconds(3 * 86400));
}

TEST(FailureEvents, KnowTheCalendar) {
  const auto at = [](const char* first, const char* second) {
    const std::string log = fmt::format("date,event\n{},start\n{},node_failure\n", first, second);
    return read_failure_events(log, "log.csv").events.at(0).at.si();
  };
  EXPECT_EQ(at("2024-02-28", "2024-03-01"), 2 * 86400);  // a leap year
  EXPECT_EQ(at("2023-12-31 23:59:30", "2024-01-01T00:00"), 30);
}

TEST(FailureEvents, ReadTimesOfIso8601) {
  const auto at = [](const char* first, const char* second) {
    const std::string log = fmt::format("date,event\n{},start\n{},node_failure\n", first, second);
    return read_failure_events(log, "log.csv").events.at(0).at.si();
  };
  EXPECT_EQ(at("2026-01-01T03:15:40Z", "2026-01-01T03:16:40+00:00"), 60);
  EXPECT_NEAR(at("2026-01-01T03:15:40", "2026-01-01T03:15:41.131500"), 1.1315, 1e-6);
  EXPECT_NEAR(at("2026-01-01T03:15:40.5Z", "2026-01-01T03:15:42.25Z"), 1.75, 1e-6);
  // 05:15:40 two hours ahead of UTC is 03:15:40; 22:45:40 the day before, four and a half behind,
  // too.
  EXPECT_EQ(at("2026-01-01T03:15:40Z", "2026-01-01T05:15:50+02:00"), 10);
  EXPECT_EQ(at("2026-01-01T03:15:40Z", "2025-12-31T22:45:50-0430"), 10);
  EXPECT_EQ(at("2026-01-01 03:15:40Z", "2026-01-01 05:15:50 +02"), 10);
  try {
    at("2026-01-01T03:15:40", "2026-01-01T05:15:50+02:00");
    FAIL() << "one clock is unknown";
  } catch (const core::Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("write all times with one, or none"));
  }
  for (const char* wrong :
       {"2026-01-01T03:15:40.Q", "2026-01-01T03:15x40Z", "2026-01-01T03:15:40+2",
        "2026-01-01x03:15:40", "2026-01-01T24:59", "2026-02-29", "2026-13-01", "inf"}) {
    const std::string log = fmt::format("date,event\n2026-01-01,start\n{},hang\n", wrong);
    EXPECT_EQ(read_failure_events(log, "log.csv").events.size(), 0U) << wrong;
  }
}

}  // namespace
}  // namespace headway::import
