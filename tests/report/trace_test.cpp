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
  const Json json = Json::parse(chrome_trace({trace_of_step(with_pictures())}));
  const auto& events = json["traceEvents"];
  EXPECT_EQ(events[0]["args"]["name"], "step of Sample");
  EXPECT_EQ(events[2]["ph"], "X");
  EXPECT_EQ(events[2]["dur"], 10.0);
  EXPECT_EQ(trace_text({trace_of_step(with_pictures())}, "x.json")[0], '{');
  EXPECT_EQ(trace_text({trace_of_step(with_pictures())}, "x.pftrace")[0], '\n') << "field 1, bytes";
}

training::ObservedRanks one_rank(std::vector<core::GpuSpan> spans) {
  return {core::Seconds(1), {{core::Rank(9), {.pipeline = 1}, std::move(spans)}}};
}

core::GpuSpan span(double begin, double end, core::GpuWork work, double nic_bytes = 0) {
  core::GpuSpan out{core::Seconds(begin), core::Seconds(end), work};
  out.nic_bytes = core::Bytes(nic_bytes);
  return out;
}

TEST(Trace, ARankHasALineOfKernelsAndAsManyOfTransfersAsOverlap) {
  using core::GpuWork;
  const auto traces = traces_of_ranks(
      one_rank({span(0.2, 0.4, GpuWork::attention), span(0, 0.2, GpuWork::matrix_products),
                span(0.1, 0.3, GpuWork::all_gather), span(0.2, 0.5, GpuWork::all_gather)}));
  ASSERT_EQ(traces.size(), 1U);
  EXPECT_EQ(traces[0].process, "rank 9 (stage 1)");
  ASSERT_EQ(traces[0].threads.size(), 3U);
  EXPECT_EQ(traces[0].threads[0].name, "all gather");
  EXPECT_EQ(traces[0].threads[1].name, "all gather (2)");
  EXPECT_EQ(traces[0].threads[2].name, "kernels");
  EXPECT_EQ(traces[0].threads[2].slices[0].name, "matrix products");
  EXPECT_EQ(traces[0].threads[2].slices[1].begin_ns, 200'000'000);
}

// 40 MB in 0.2 s beside 30 MB in 0.3 s: 200, then 300, then 100 MB/s.
TEST(Trace, WhatARankSendsIsSpreadOverItsTransfers) {
  using core::GpuWork;
  const auto traces = traces_of_ranks(one_rank(
      {span(0.1, 0.3, GpuWork::all_gather, 40e6), span(0.2, 0.5, GpuWork::all_reduce, 30e6)}));
  using Values = std::vector<std::pair<std::int64_t, std::int64_t>>;
  EXPECT_EQ(traces[0].threads[0].counters[1].values,
            (Values{{100'000'000, 200}, {200'000'000, 300}, {300'000'000, 100}, {500'000'000, 0}}));
}

TEST(Trace, OfTooManySpansTheLastAreLeftOutAndSaidSo) {
  std::vector<core::GpuSpan> spans;
  for (int i = 0; i < 100'002; ++i) {
    spans.push_back(span(i * 1e-6, (i + 1) * 1e-6, core::GpuWork::attention));
  }
  EXPECT_EQ(traces_of_ranks(one_rank(spans))[0].left_out,
            std::vector<std::string>{"the last 2 spans of rank 9 are left out"});
}

TEST(Trace, PowerIsACounterThatNamesItsChanges) {
  study::PowerReport power;
  power.window = core::Seconds(0.25);
  power.gpus = {core::Watts(10), core::Watts(10), core::Watts(30)};
  power.beside = core::Watts(5);
  const Trace trace = trace_of_power(power);
  using Values = std::vector<std::pair<std::int64_t, std::int64_t>>;
  EXPECT_EQ(trace.threads[0].counters[0].values, (Values{{0, 15}, {500'000'000, 35}}));
}

}  // namespace
}  // namespace headway::report
