// Traces in Chrome's format.
#include <gtest/gtest.h>

#include "sim/report/trace/trace.h"

#include "tests/report/two_traces.h"

namespace headway::report {
namespace {

TEST(Chrome, TimesAreMicroseconds) {
  const Json events = Json::parse(chrome_trace(one_step()))["traceEvents"];
  EXPECT_EQ(events[0]["args"]["name"], "step");
  EXPECT_EQ(events[1]["args"]["name"], "stage 0");
  EXPECT_EQ(events[2]["ph"], "X");
  EXPECT_EQ(events[2]["dur"], 0.04);
  EXPECT_EQ(events[3]["ts"], 0.05);
  EXPECT_EQ(events[2]["args"]["micro_batch"], 0);
}

TEST(Chrome, MomentsAndCountersHaveTheirPhases) {
  const Json trace = Json::parse(chrome_trace(one_step()));
  const Json& events = trace["traceEvents"];
  EXPECT_EQ(events[5]["ph"], "C");
  EXPECT_EQ(events[5]["name"], "stage 0, memory");
  EXPECT_EQ(events[5]["args"]["value"], 7);
  EXPECT_EQ(events[8]["ph"], "i");
  EXPECT_EQ(events[8]["s"], "t");
  EXPECT_EQ(events[8]["pid"], 2) << "a process a trace";
  EXPECT_EQ(trace["leftOut"], Json::array({"something is left out"}));
}

TEST(Chrome, TheNameOfTheFileAsksForIt) {
  EXPECT_EQ(trace_text(one_step(), "x.json")[0], '{');
  EXPECT_EQ(trace_text(one_step(), "x.pftrace")[0], '\n') << "field 1, bytes";
  EXPECT_EQ(trace_text(one_step(), "x.bin", "chrome")[0], '{');
  EXPECT_EQ(trace_text(one_step(), "x.json", "perfetto")[0], '\n');
}

}  // namespace
}  // namespace headway::report
