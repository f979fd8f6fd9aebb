#include "sim/report/trace/trace.h"

#include <gtest/gtest.h>

#include "sim/core/error.h"
#include "sim/report/run_json.h"

#include "tests/study/sample_report.h"

namespace headway::report {
namespace {

/// Two stages; the second has a forward pass in two spans.
ReadResult with_pictures() {
  auto report = study::sample_report_with_campaign();
  study::Pictures pictures;
  pictures.timeline.names = {"forward", "backward", "waiting for another stage"};
  pictures.timeline.stages = {
      {0, {0, 10, 40}, {10, 30, 20}, {0, 0, 5}, {0, 2, 1}, {0, -1, 0}, {0, -1, 0}},
      {1, {10, 16, 20}, {6, 4, 20}, {0, 0, 0}, {0, 0, 1}, {0, 0, 0}, {0, 0, 0}}};
  pictures.timeline.stages_left_out = 3;
  pictures.stage_memory = {report.step.memory.by_kind};
  pictures.scenario = "name: x\n";
  pictures.campaign = {{0.8, 0.9, {1}},
                       {1,
                        0.8,
                        core::Seconds(100),
                        {"detect", "start"},
                        {{"gpu", {10, 12, 20}, {5, 4, 1}, {0, 1, 0}}},
                        0}};
  report.pictures = pictures;
  return {Json::parse(run_json(report)), "r.json"};
}

TEST(Trace, ALineAStageWithItsSpans) {
  const Trace trace = trace_of_step(with_pictures());
  ASSERT_EQ(trace.threads.size(), 2U);
  const auto& slices = trace.threads[0].slices;
  ASSERT_EQ(slices.size(), 3U);
  EXPECT_EQ(slices[2].name, "backward");
  EXPECT_EQ(slices[2].begin_ns, 40000);
  EXPECT_EQ(slices[2].length_ns, 20000);
  EXPECT_EQ(slices[2].more.back(), (std::pair<std::string, Json>("waits_inside_us", 5)));
  EXPECT_TRUE(slices[1].flows.empty()) << "a wait is no pass";
  EXPECT_EQ(slices[0].flows, trace.threads[1].slices[0].flows) << "one micro-batch, forward";
  EXPECT_NE(slices[0].flows, slices[2].flows) << "and backward";
  EXPECT_EQ(trace.left_out, std::vector<std::string>{"3 stages are left out"});
}

// A pass in two spans holds its activations once, from the end of its last span.
TEST(Trace, CountsPassesThatHoldActivations) {
  const Trace trace = trace_of_step(with_pictures());
  using Values = std::vector<std::pair<std::int64_t, std::int64_t>>;
  EXPECT_EQ(trace.threads[1].counters[0].values, (Values{{0, 0}, {20000, 1}, {40000, 0}}));
}

TEST(Trace, FailuresThatOverlapHaveLinesOfTheirOwn) {
  const Trace trace = trace_of_run(with_pictures());
  ASSERT_EQ(trace.threads.size(), 2U);
  EXPECT_EQ(trace.threads[0].name, "gpu");
  EXPECT_EQ(trace.threads[0].slices.size(), 2U);
  EXPECT_EQ(trace.threads[1].name, "gpu (2)");
  EXPECT_EQ(trace.threads[1].slices[0].name, "start");
}

TEST(Trace, WithoutPicturesThereIsNone) {
  const ReadResult bare(Json::parse(run_json(study::sample_report_with_campaign())), "r.json");
  EXPECT_THROW(trace_of_step(bare), core::Error);
  EXPECT_THROW(trace_of_run(bare), core::Error);
  EXPECT_THROW(trace_of_drill(bare), core::Error);
}

TEST(Trace, ChromesFormatHasMicroseconds) {
  const Json json = Json::parse(chrome_trace(trace_of_step(with_pictures())));
  const auto& events = json["traceEvents"];
  EXPECT_EQ(events[0]["args"]["name"], "step of Sample");
  EXPECT_EQ(events[2]["ph"], "X");
  EXPECT_EQ(events[2]["dur"], 10.0);
  EXPECT_EQ(trace_text(trace_of_step(with_pictures()), "x.json")[0], '{');
  EXPECT_EQ(trace_text(trace_of_step(with_pictures()), "x.pftrace")[0], '\n') << "field 1, bytes";
}

}  // namespace
}  // namespace headway::report
