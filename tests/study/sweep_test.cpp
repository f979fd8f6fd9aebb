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

}  // namespace
}  // namespace headway::study
