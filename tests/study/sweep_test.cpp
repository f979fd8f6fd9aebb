// Points of a sweep on several threads.
#include "sim/study/points/sweep.h"

#include <gtest/gtest.h>
#include <stdexcept>
#include <string>
#include <tuple>

#include "sim/core/read_file.h"

namespace headway::study {
namespace {

// What is kept is written in between: a disk that is full ends the sweep with its error, on
// whichever thread, and no further point is begun.
TEST(SweepRows, EndWithTheErrorOfWhoKeepsThem) {
  const std::string root = HEADWAY_SOURCE_DIR "/configs";
  SweepRequest request;
  request.file = root + "/scenarios/small-llama-8b-64-h100.yaml";
  request.text = core::read_file(request.file, core::kLargestConfiguration);
  request.set = {"run.trials=1"};
  request.axes = {"training.global_batch=128,256,384,512,640,768,896,1024"};
  const Sweep sweep(request, {root});
  for (const int threads : {1, 2, 4}) {
    std::size_t told = 0;
    SweepOptions options;
    options.threads = threads;
    options.progress = [&](std::size_t, std::size_t, const SweepRow&) {
      if (++told == 1) {
        throw std::runtime_error("no space left on device");
      }
    };
    EXPECT_THROW(std::ignore = sweep.rows({0, 1, 2, 3, 4, 5, 6, 7}, options), std::runtime_error);
    EXPECT_LE(told, static_cast<std::size_t>(threads));
  }
}

SweepRow row_of(std::int64_t point, double step, const std::string& memory_warning) {
  return {point,
          {{"parallelism.tensor", std::to_string(point)}},
          "",
          PointStatus::ok,
          "",
          {{"step.time_s", step}},
          memory_warning};
}

// A plan leaves out what leaves its allocator no room; so does the best of a sweep.
TEST(SweepReport, TheBestHasRoomInItsMemory) {
  SweepReport report;
  report.best = "step.time_s";
  report.points = 3;
  report.rows = {row_of(0, 3, "the peak is 96 %"), row_of(1, 4, ""), row_of(2, 5, "")};
  EXPECT_EQ(report.best_point(), 1);
  EXPECT_EQ(*report.verdict(),
            "Best is point 1: parallelism.tensor=1, with the lowest step.time_s, 4.00. Point 0 "
            "(parallelism.tensor=0) has 3.00, but its memory has no room to spare.");
  report.rows[0].figures[0].second = 4.5;
  EXPECT_EQ(*report.verdict(),
            "Best is point 1: parallelism.tensor=1, with the lowest step.time_s, 4.00.");
  report.rows = {row_of(0, 3, "the peak is 96 %")};
  EXPECT_EQ(report.best_point(), 0) << "where no other works";
  EXPECT_EQ(*report.verdict(),
            "Best is point 0: parallelism.tensor=0, with the lowest step.time_s, 3.00. Its memory "
            "has no room to spare: see its warning.");
}

// Fewer tokens a step take less time: the throughput ranks them, unless something else is asked.
TEST(SweepRequest, RanksPointsOfDifferentBatchesByTheirThroughput) {
  const std::string root = HEADWAY_SOURCE_DIR "/configs";
  SweepRequest request;
  request.file = root + "/scenarios/small-llama-8b-64-h100.yaml";
  request.text = core::read_file(request.file, core::kLargestConfiguration);
  request.axes = {"training.global_batch=128,256"};
  const Sweep sweep(request, {root});
  EXPECT_EQ(sweep.best(), "step.tokens_per_s");
  EXPECT_EQ(sweep.best_is(), training::Best::highest);
  request.set = {"sweep.best=step.time_s"};
  EXPECT_EQ(Sweep(request, {root}).best(), "step.time_s");
  request.set = {};
  request.best = "step.time_s";
  EXPECT_EQ(Sweep(request, {root}).best(), "step.time_s");
  request.best = "";
  request.axes = {"parallelism.tensor=1,2"};
  EXPECT_EQ(Sweep(request, {root}).best(), "step.time_s");
}

}  // namespace
}  // namespace headway::study
