// headway replay and headway export chakra: what one writes the other reads.
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "tests/apps/program.h"

namespace headway::apps {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class ReplayVerb : public ProgramTest {
 protected:
  const std::string two_layers_ = HEADWAY_ROOT "/tests/data/chakra/two_layers.";
};

TEST_F(ReplayVerb, AnExportedStepTakesAsLongWhereItCameFrom) {
  write_small("s.yaml");
  const auto written = run("export chakra s.yaml --out traces");
  ASSERT_EQ(written.code, 0) << written.err;
  EXPECT_EQ(written.err, "headway: wrote 16 traces of 16 ranks into traces\n");
  const auto replayed = run("replay traces --cluster s.yaml --format json");
  ASSERT_EQ(replayed.code, 0) << replayed.err;
  const json step = json::parse(run("run s.yaml --format json").out)["step"];
  EXPECT_EQ(json::parse(replayed.out)["time_s"], step["time_s"]);
  const auto slower =
      run("replay traces --cluster s.yaml --set cluster.fabric.link_bandwidth='100 Gbps' --format "
          "json");
  ASSERT_EQ(slower.code, 0) << slower.err;
  EXPECT_GT(json::parse(slower.out)["time_s"], step["time_s"]);
}

TEST_F(ReplayVerb, WithoutAClusterTracesAreOnlyChecked) {
  const auto outcome = run("replay " + two_layers_ + "0.et " + two_layers_ + "1.et");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("Traces of 2 ranks, 10 nodes\n"));
  EXPECT_THAT(outcome.out, HasSubstr("  all_reduce          67.1      2      -      1"));
  EXPECT_THAT(outcome.out, HasSubstr("The traces are whole: causes come before effects, streams "
                                     "keep their order, and what is sent is received."));
}

TEST_F(ReplayVerb, OneTraceOnRanksAlike) {
  const auto outcome = run("replay " + two_layers_ + "0.et --ranks 2 --cluster dgx-h100");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("  0 and 1 like it"));
  const auto many = run("replay " + two_layers_ + "0.et " + two_layers_ + "1.et --ranks 2");
  EXPECT_EQ(many.code, 2);
  EXPECT_EQ(many.err, "--ranks lays one trace on ranks that all do the same; give one file\n");
}

TEST_F(ReplayVerb, FoldersWithoutTracesAreRefused) {
  const auto outcome = run("replay .");
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.err, ".: the folder has no trace (*.et)\n");
}

TEST_F(ReplayVerb, SomeRanksCanBeExported) {
  write_small("s.yaml");
  ASSERT_EQ(run("export chakra s.yaml --ranks 0-1,9 --out t").code, 0);
  EXPECT_TRUE(exists("t/step.0.et"));
  EXPECT_TRUE(exists("t/step.9.et"));
  EXPECT_FALSE(exists("t/step.2.et"));
  EXPECT_TRUE(exists("t/comm_groups.json"));
  EXPECT_EQ(run("export chakra s.yaml --ranks 0-1,9 --out t").code, 2) << "without --force";
  EXPECT_EQ(run("export chakra s.yaml --ranks 16 --out u").err,
            "--ranks: there is no rank 16; the job has 16, from 0\n");
  EXPECT_EQ(run("export chakra s.yaml --ranks 3-1 --out u").err,
            "--ranks '3-1': is no rank and no range; write 0-7,64\n");
  EXPECT_EQ(run("export chakra s.yaml").err,
            "chakra writes a file each rank: name a folder for them with --out\n");
  EXPECT_EQ(run("replay t").err,
            "there is no trace of rank 2, and one of rank 9 (t/step.9.et); a replay needs all "
            "ranks from 0\n");
}

}  // namespace
}  // namespace headway::apps
