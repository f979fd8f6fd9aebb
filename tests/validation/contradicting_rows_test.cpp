// Rows that contradict themselves, their repeats, or the same layout on more GPUs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/validation/training_runs.h"

#include "tests/validation/published_rows.h"

namespace headway::validation {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

TEST(ContradictingRows, ARowThatContradictsItselfSaysSo) {
  EXPECT_EQ(predicted({{"notes", "table prints DP=4: INCONSISTENT"}}).status_class,
            "ok-contradictory");
  EXPECT_EQ(predicted({{"dp", "8"}}).status, "ok-contradictory: 16 GPUs, but the degrees make 32");
  EXPECT_EQ(predicted({{"dp", ""}}).status, "ok");
  // 32 x 4,096 tokens / 16 GPUs in 1 s are 8,192 tokens/s/GPU, not 10,000.
  EXPECT_EQ(predicted({{"step_time_s", "1"}}).status,
            "ok-contradictory: 1e+04 tokens/s/GPU, but its step time makes 8192");
  EXPECT_EQ(predicted({{"step_time_s", "0.8192"}}).status, "ok");
  // 10,000 tokens of 60 GFLOP each are 600 TFLOP/s.
  const Cells rate{{"model_flops_per_token", "6e10"}, {"tflops_per_gpu", "300"}};
  EXPECT_THAT(predicted(rate).status, StartsWith("ok-contradictory: 300 TFLOP/s"));
}

// 10,000 tokens of 15.2 GFLOP each are 15.4 % of 989 TFLOP/s; attention and recomputation are
// conventions.
TEST(ContradictingRows, TheMfuOfTheNotesIsTheFiguresOwn) {
  for (const char* notes : {"MFU 17%", "~16 % MFU", "HFU 21%", "33%-42% MFU", "MFU of others 50"}) {
    EXPECT_EQ(but_unread(predicted({{"notes", notes}}).status), "ok") << notes;
  }
  const RunPrediction other = predicted({{"notes", "MFU 40%"}});
  EXPECT_THAT(
      other.status,
      StartsWith("ok-contradictory: notes state 40 % of the peak, but its tokens/s make 15.4"));
  EXPECT_GT(width(other), 1.5 * width(predicted({})));
}

TEST(ContradictingRows, RepeatsThatDisagreeAreContradictory) {
  const auto runs = [](const std::vector<std::pair<const char*, const char*>>& repeats) {
    std::vector<Cells> rows;
    for (const auto& [release, measured] : repeats) {
      rows.push_back(with({{"release", release}, {"measured_tokens_per_s_per_gpu", measured}}));
    }
    std::vector<std::string> classes;
    for (const auto& p : predict_runs(table_of(rows), catalogue())) {
      classes.push_back(p.status_class);
    }
    return classes;
  };
  EXPECT_THAT(runs({{"1", "10000"}, {"1", "10200"}, {"1", "8000"}}),
              testing::ElementsAre("ok", "ok", "ok-contradictory"));
  EXPECT_THAT(runs({{"1", "10000"}, {"2", "7000"}, {"3", "10100"}}),
              testing::ElementsAre("ok", "ok-contradictory", "ok"));
  EXPECT_THAT(runs({{"1", "7000"}, {"2", "10000"}}),
              testing::ElementsAre("ok", "ok"));  // got faster
}

// 32 GPUs with 8 replicas and twice the sequences run the micro-batches of 16 with 4. A micro-batch
// on 16 takes 10/6 = 1.67 times as long there, or 10/7 = 1.43; slower on more GPUs is no
// contradiction.
TEST(ContradictingRows, MicroBatchesThatAreFasterOnMoreGpusContradict) {
  const auto classes = [](const char* on_16, const char* on_32) {
    std::vector<std::string> found;
    for (const auto& p : predict_runs(table_of({with({{"measured_tokens_per_s_per_gpu", on_16}}),
                                                with({{"n_gpus", "32"},
                                                      {"dp", "8"},
                                                      {"global_batch", "64"},
                                                      {"measured_tokens_per_s_per_gpu", on_32}})}),
                                      catalogue())) {
      found.push_back(p.status);
    }
    return found;
  };
  EXPECT_THAT(classes("6000", "10000"),
              testing::ElementsAre("ok-contradictory: a micro-batch takes 1.7 times what it takes "
                                   "in the same layout on 32 GPUs",
                                   "ok"));
  EXPECT_THAT(classes("7000", "10000"), testing::ElementsAre("ok", "ok"));
  EXPECT_THAT(classes("10000", "6000"), testing::ElementsAre("ok", "ok"));
}

// Twice the micro-batches on twice the GPUs share what a step costs once; a pipeline's bubble
// counts.
TEST(ContradictingRows, WhatElseMakesMicroBatchesFasterIsNoContradiction) {
  const auto first = [](const Cells& here, const Cells& there) {
    return predict_runs(table_of({with(here), with(there)}), catalogue()).front().status_class;
  };
  const char* slow = "6000";
  Cells more{{"n_gpus", "32"}, {"dp", "8"}, {"global_batch", "64"}};
  EXPECT_EQ(first({{"measured_tokens_per_s_per_gpu", slow}}, more), "ok-contradictory");
  more["global_batch"] = "128";
  EXPECT_EQ(first({{"measured_tokens_per_s_per_gpu", slow}}, more), "ok");
  // Two stages, 8 micro-batches here and 4 there: at 10/7.14 = 1.40 of the rate a micro-batch takes
  // 1.40 x (8 / 9) / (4 / 5) = 1.56 times as long, with two chunks a stage 1.40 x (8 / 8.5) / (4
  // / 4.5) = 1.48 times.
  more["global_batch"] = "32";
  Cells here{{"measured_tokens_per_s_per_gpu", "7140"}};
  EXPECT_EQ(first(here, more), "ok-contradictory");
  here["vpp"] = more["vpp"] = "2";
  EXPECT_EQ(first(here, more), "ok");
}

}  // namespace
}  // namespace headway::validation
