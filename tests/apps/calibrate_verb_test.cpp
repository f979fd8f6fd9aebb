// headway calibrate: from a log over samples and a profile to a scenario that uses it.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "tests/apps/program.h"

namespace headway::apps {
namespace {

using testing::HasSubstr;

/// An all-reduce over 8 GPUs of one node: 20 us + S / 270 GB/s; in place 1 % slower.
std::string log_of(double alpha_us) {
  std::string text = "# Collective test starting: all_reduce_perf\n";
  for (int rank = 0; rank < 8; ++rank) {
    text += fmt::format("#  Rank  {} Group  0 Pid 1 on a device  {} [0000:19:00] NVIDIA H100\n",
                        rank, rank);
  }
  text +=
      "#  size  count  type  redop  root  time  algbw  busbw #wrong  time  algbw  busbw #wrong\n";
  for (double bytes = 1024; bytes <= 1073741824; bytes *= 4) {
    const double us = alpha_us + bytes / 270e3;
    const double rate = bytes / us * 1e-3;
    text += fmt::format(
        "{:.0f} {:.0f} float sum -1 {:.3f} {:.2f} {:.2f} 0 {:.3f} {:.2f} {:.2f} 0\n", bytes,
        bytes / 4, us, rate, 1.75 * rate, 1.01 * us, rate / 1.01, 1.75 * rate / 1.01);
  }
  return text;
}

class CalibrateVerb : public ProgramTest {};

TEST_F(CalibrateVerb, ALogBecomesAProfileThatAScenarioUses) {
  write("a.log", log_of(20));
  const auto imported = run("calibrate import nccl-tests a.log --out samples.csv");
  ASSERT_EQ(imported.code, 0) << imported.err;
  EXPECT_THAT(read("samples.csv"), HasSubstr("# headway-samples 1\n# device: NVIDIA H100\n"));
  const auto fitted = run("calibrate fit samples.csv --name 'our node' --out ours.yaml");
  ASSERT_EQ(fitted.code, 0) << fitted.err;
  EXPECT_THAT(fitted.err, HasSubstr("collectives.all_reduce.8x8.beta"));
  EXPECT_THAT(read("ours.yaml"), HasSubstr("name: \"our node\"\n"));
  EXPECT_EQ(run("check ours.yaml").out, "ours.yaml: correct (calibrations)\n");

  write_small("s.yaml");
  write("s.yaml", read("s.yaml") + "calibration: {use: ours}\n");
  const auto step = run("run s.yaml");
  EXPECT_EQ(step.code, 0) << step.err;
  const auto table = run("collective all_reduce --cluster s.yaml -b 1G -e 1G --format csv");
  EXPECT_THAT(table.out, HasSubstr("measured curve")) << table.err;
}

TEST_F(CalibrateVerb, AProfileIsComparedWithALogItDidNotSee) {
  write("a.log", log_of(20));
  write("b.log", log_of(25));
  ASSERT_EQ(run("calibrate import nccl-tests a.log --out samples.csv").code, 0);
  ASSERT_EQ(run("calibrate fit samples.csv --out ours.yaml").code, 0);
  const auto compared = run("calibrate compare ours.yaml b.log --format csv");
  ASSERT_EQ(compared.code, 0) << compared.err;
  // At 1 KiB 20 of 25 us; the two placements differ by 1 %: the same on both sides.
  EXPECT_THAT(compared.out, HasSubstr("1 KiB,1024,"));
  EXPECT_THAT(compared.out, HasSubstr(",-20.0\n"));
  EXPECT_THAT(run("calibrate compare ours.yaml b.log").out, HasSubstr("Median error"));
}

TEST_F(CalibrateVerb, AProfileWithoutTheGroupSaysWhatItHas) {
  write("a.log", log_of(20));
  ASSERT_EQ(run("calibrate import nccl-tests a.log --out samples.csv").code, 0);
  ASSERT_EQ(run("calibrate fit samples.csv --out ours.yaml").code, 0);
  write("c.log", "1048576 262144 float sum -1 27.37 38.31 57.47 0\n");
  const auto compared = run("calibrate compare ours.yaml c.log --ranks 4 --ranks-per-node 4");
  EXPECT_EQ(compared.code, 2);
  EXPECT_THAT(compared.err, HasSubstr("has no curve of all_reduce over 4 ranks, 4 a node; it has\n"
                                      "  all_reduce over 8 ranks, 8 a node"));
}

TEST_F(CalibrateVerb, OneMeasuredStepRescalesAProfile) {
  write_small("s.yaml");
  const auto anchored =
      run("calibrate anchor s.yaml s.yaml --step '3 s' --name ours --out ours.yaml");
  ASSERT_EQ(anchored.code, 0) << anchored.err;
  EXPECT_THAT(anchored.err, HasSubstr("with matrix products"));
  EXPECT_EQ(run("check ours.yaml").out, "ours.yaml: correct (calibrations)\n");
  write("s.yaml", read("s.yaml") + "calibration: {use: ours}\n");
  const auto again = run("calibrate anchor s.yaml --step '3 s'");
  EXPECT_THAT(again.err, HasSubstr("Matrix products x 1.000")) << again.err;
}

TEST_F(CalibrateVerb, AnImpossibleStepIsRefusedWithItsBounds) {
  write_small("s.yaml");
  const auto refused = run("calibrate anchor s.yaml --step '1 us' --out ours.yaml");
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err, HasSubstr("no rate of the matrix products makes a step of 1e-06 s"));
  EXPECT_FALSE(exists("ours.yaml"));
  EXPECT_THAT(run("calibrate anchor s.yaml --step 3").err, HasSubstr("--step 3: "));
}

TEST_F(CalibrateVerb, WithoutAnActionItPrintsTheThree) {
  const auto help = run("calibrate");
  EXPECT_EQ(help.code, 2);
  EXPECT_THAT(help.err, HasSubstr("calibrate import FORMAT FILE..."));
  EXPECT_EQ(run("calibrate --help").code, 0);
  EXPECT_EQ(run("calibrate import nccl-tests").code, 2);
  write("bad.csv", "kind,op\n");
  const auto bad = run("calibrate fit bad.csv --out ours.yaml");
  EXPECT_EQ(bad.code, 2);
  EXPECT_THAT(bad.err, HasSubstr("bad.csv:1:1: a table of samples begins with the line"));
  EXPECT_FALSE(exists("ours.yaml"));
}

}  // namespace
}  // namespace headway::apps
