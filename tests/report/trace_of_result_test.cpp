// Traces of results: of a step, of a trial, of a drill.
#include <gtest/gtest.h>

#include "sim/core/error.h"
#include "sim/report/run_json.h"
#include "sim/report/trace/trace.h"

#include "tests/study/sample_report.h"

namespace headway::report {
namespace {

using Values = std::vector<std::pair<std::int64_t, std::int64_t>>;

/// Two stages; the second has a forward pass in two spans.
ReadResult with_pictures() {
  auto report = study::sample_report_with_campaign();
  study::Pictures pictures;
  pictures.timeline.names = {"forward", "backward", "waiting for another stage"};
  pictures.timeline.stages = {{0,
                               0,
                               1,
                               {0, 10, 40},
                               {10, 30, 20},
                               {0, 0, 5},
                               {0, 2, 1},
                               {0, -1, 0},
                               {0, -1, 0},
                               {3 << 20, 2 << 20, 5 << 20},
                               {}},
                              {1,
                               1,
                               1,
                               {10, 16, 20},
                               {6, 4, 20},
                               {0, 0, 0},
                               {0, 0, 1},
                               {0, 0, 0},
                               {0, 0, 0},
                               {1 << 20, 1 << 20, 4 << 20},
                               {}}};
  pictures.timeline.stages_left_out = 3;
  pictures.loads = {
      {"nic", 16, core::BytesPerSecond(50e9), 0, {0, 1500, 2500}, {0, 25'000'000'000, 0}}};
  pictures.stage_memory = {report.step.memory.by_kind};
  pictures.scenario = "name: x\n";
  pictures.campaign = {{0.8, 0.9, {1}},
                       {1,
                        0.8,
                        core::Seconds(100),
                        {"detect", "start"},
                        {{"gpu", {10, 12, 20}, {5, 4, 1}, {0, 1, 0}, {20, 10}}},
                        0,
                        0,
                        {"host", "storage"},
                        {1, {30, 60}, {0, 2}, {0, 2}, {0, 1}}},
                       {}};
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
  EXPECT_EQ(trace.threads[1].counters[0].values, (Values{{0, 0}, {20000, 1}, {40000, 0}}));
}

TEST(Trace, MemoryIsACounterOfItsChanges) {
  const Trace trace = trace_of_step(with_pictures());
  EXPECT_EQ(trace.threads[0].counters[1].name, "memory [MiB]");
  EXPECT_EQ(trace.threads[0].counters[1].values, (Values{{0, 3}, {10000, 2}, {40000, 5}}));
  EXPECT_EQ(trace.threads[1].counters[1].values, (Values{{10000, 1}, {20000, 4}}));
}

TEST(Trace, TheBusiestLinksAreCountersWithHowManyTheyStandFor) {
  const Trace trace = trace_of_links(with_pictures()).value();
  ASSERT_EQ(trace.threads.size(), 1U);
  EXPECT_EQ(trace.threads[0].name, "busiest nic link (one of 16 alike)");
  EXPECT_EQ(trace.threads[0].counters[0].name, "load [MB/s] of 50000");
  EXPECT_EQ(trace.threads[0].counters[0].values, (Values{{0, 0}, {1500, 25000}, {2500, 0}}));
  EXPECT_FALSE(trace_of_links({Json::parse(run_json(study::sample_report_with_campaign())), "r"}));
}

TEST(Trace, FailuresThatOverlapHaveLinesOfTheirOwn) {
  const Trace trace = trace_of_run(with_pictures());
  ASSERT_EQ(trace.threads.size(), 4U);
  EXPECT_EQ(trace.threads[0].name, "gpu");
  EXPECT_EQ(trace.threads[0].slices.size(), 2U);
  EXPECT_EQ(trace.threads[1].name, "gpu (2)");
  EXPECT_EQ(trace.threads[1].slices[0].name, "start");
}

TEST(Trace, FailuresAndCheckpointsWithoutAStallAreMoments) {
  const Trace trace = trace_of_run(with_pictures());
  const TraceThread& failures = trace.threads[2];
  EXPECT_EQ(failures.name, "failures");
  ASSERT_EQ(failures.slices.size(), 2U);
  EXPECT_EQ(failures.slices[0].begin_ns, 10'000'000'000) << "in order of time";
  EXPECT_EQ(failures.slices[0].name, "gpu");
  EXPECT_TRUE(failures.slices[0].instant);
  const TraceThread& saves = trace.threads[3];
  EXPECT_EQ(saves.name, "checkpoints");
  ASSERT_EQ(saves.slices.size(), 2U);
  EXPECT_EQ(saves.slices[0].name, "checkpoint to host");
  EXPECT_TRUE(saves.slices[0].instant);
  EXPECT_EQ(saves.slices[1].name, "checkpoint to storage");
  EXPECT_FALSE(saves.slices[1].instant);
  EXPECT_EQ(saves.slices[1].begin_ns, 60'000'000'000);
  EXPECT_EQ(saves.slices[1].length_ns, 2'000'000'000);
  EXPECT_TRUE(trace.left_out.empty());
}

// Three saves in a row as one span, of which the job stands still for a part.
TEST(Trace, OfManyCheckpointsSeveralAreOneSpan) {
  Json json = with_pictures().json();
  Json& saves = json["pictures"]["campaign"]["trial"]["saves"];
  saves["together"] = 3;
  saves["length_s"] = {10, 20};
  const Trace trace = trace_of_run({json, "r.json"});
  const TraceSlice& last = trace.threads.back().slices.at(1);
  EXPECT_EQ(last.name, "checkpoints to storage");
  EXPECT_EQ(last.length_ns, 20'000'000'000);
  EXPECT_EQ(last.more.back(), (std::pair<std::string, Json>("stands_still_ns", 2'000'000'000)));
  EXPECT_EQ(trace.left_out,
            std::vector<std::string>{
                "every 3 checkpoints in a row are one span, from the first to the last"});
}

// Lists that belong together may differ in a result that somebody edited: what all have is drawn.
TEST(Trace, OfListsThatDifferInLengthWhatAllHaveIsDrawn) {
  Json json = with_pictures().json();
  json["pictures"]["timeline"]["stages"][0]["length_us"].erase(2);
  json["pictures"]["timeline"]["stages"][1]["memory_bytes"].clear();
  json["pictures"]["loads"][0]["load_bytes_per_s"].erase(2);
  json["pictures"]["campaign"]["trial"]["saves"]["level"].erase(1);
  json["pictures"]["campaign"]["trial"]["hazards"][0]["stage"].erase(2);
  const ReadResult result(json, "r.json");
  const Trace step = trace_of_step(result);
  EXPECT_EQ(step.threads[0].slices.size(), 2U);
  EXPECT_TRUE(step.threads[1].counters[1].values.empty());
  EXPECT_EQ(trace_of_links(result)->threads[0].counters[0].values.size(), 2U);
  const Trace run = trace_of_run(result);
  EXPECT_EQ(run.threads.back().slices.size(), 1U);
}

TEST(Trace, WithoutPicturesThereIsNone) {
  const ReadResult bare(Json::parse(run_json(study::sample_report_with_campaign())), "r.json");
  EXPECT_THROW(trace_of_step(bare), core::Error);
  EXPECT_THROW(trace_of_run(bare), core::Error);
  EXPECT_THROW(trace_of_drill(bare), core::Error);
}

}  // namespace
}  // namespace headway::report
