// headway plan --placement, from the outside.
#include <algorithm>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>
#include <set>

#include "tests/apps/program.h"

namespace headway::apps {
namespace {

using nlohmann::json;
using testing::HasSubstr;

/// A fabric of sixteen nodes, two behind each leaf, whose uplinks carry an eighth of that.
constexpr const char* kLeaves =
    " --set cluster.fabric.topology=fat_tree --set cluster.fabric.ports_per_leaf=16"
    " --set cluster.fabric.leaf_oversubscription=8 --set parallelism.sharding=zero3"
    " --set parallelism.pipeline=1 --set cluster.nodes=4";

class PlacementVerb : public ProgramTest {
 protected:
  PlacementVerb() { write_small("s.yaml"); }

  [[nodiscard]] Outcome place(const std::string& occupancy, const std::string& more = "") const {
    return run("plan s.yaml --placement --quiet" + std::string(kLeaves) +
               " --set 'cluster.occupancy=" + occupancy + "' " + more);
  }
  [[nodiscard]] json placed(const std::string& occupancy, const std::string& more = "") const {
    const Outcome outcome = place(occupancy, more + " --format json");
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return json::parse(outcome.out);
  }
  [[nodiscard]] double step_of(const std::string& arguments) const {
    const Outcome outcome = run("run " + arguments + " --format json --quiet");
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return json::parse(outcome.out)["step"]["time_s"].get<double>();
  }
};

/// The best one of a kind.
json of(const json& result, const std::string& choice) {
  const auto& all = result["candidates"];
  const auto one =
      std::find_if(all.begin(), all.end(), [&](const json& c) { return c["choice"] == choice; });
  return one == all.end() ? json() : *one;
}

TEST_F(PlacementVerb, OfAnEmptyFabricTheFirstNodesCostNothing) {
  const json result = placed("{nodes: 16}");
  EXPECT_EQ(result["schema"], "headway.placement/1");
  const json packed = of(result, "packed");
  EXPECT_EQ(packed["nodes"], json({"0-3"}));
  EXPECT_EQ(packed["cost"], 0.0);
  EXPECT_EQ(packed["step_s"], result["empty_step_s"]);
  EXPECT_EQ(packed["step_s"].get<double>(), step_of("s.yaml" + std::string(kLeaves)));
  EXPECT_EQ(result["free"], 16);
  EXPECT_EQ(result["candidates"].size(), 4U + 4);
}

// Free: 1, 3, 5, 7 (a half of four leaves), 8 to 9 whole, 14 and 15 whole. Four nodes need two
// leaves.
TEST_F(PlacementVerb, FindsWhoIsTogether) {
  const json result = placed(
      "{nodes: 16, down: [10-11], jobs: [{name: a, nodes: [0, 2, 4, 6], rate: 300 GB/s}, "
      "{name: b, nodes: [12-13], rate: 10 GB/s}]}");
  EXPECT_EQ(result["free"], 8);
  EXPECT_EQ(result["down"], 2);
  EXPECT_EQ(result["jobs"], 2);
  const json packed = of(result, "packed"), few = of(result, "fewest_leaves");
  EXPECT_EQ(packed["nodes"], json({"1", "3", "5", "7"}));
  EXPECT_EQ(packed["leaves"], 4);
  EXPECT_EQ(few["nodes"], json({"8-9", "14-15"}));
  EXPECT_EQ(few["leaves"], 2);
  EXPECT_EQ(few["cost"], 0.0) << "nobody else is behind these leaves";
  EXPECT_EQ(of(result, "quiet")["nodes"], few["nodes"]);
  EXPECT_GT(packed["by_traffic"].get<double>(), 0.001);
  EXPECT_EQ(result["candidates"][0]["step_s"], few["step_s"]);
  double last = 0;
  for (const json& one : result["candidates"]) {
    const double step = one["step_s"], silent = one["silent_step_s"],
                 empty = result["empty_step_s"];
    EXPECT_GE(step, last);
    last = step;
    EXPECT_NEAR(one["cost"].get<double>(), step / empty - 1, 1e-12);
    EXPECT_NEAR((1 + one["by_places"].get<double>()) * (1 + one["by_traffic"].get<double>()),
                step / empty, 1e-12);
    EXPECT_NEAR(one["behind"].get<double>(),
                step / result["candidates"][0]["step_s"].get<double>() - 1, 1e-12);
    EXPECT_LE(silent, step);
  }
}

TEST_F(PlacementVerb, SavesScenariosThatRunAsItSays) {
  const json result = placed(
      "{nodes: 16, jobs: [{name: a, nodes: [0, 2, 4, 6], rate: 300 GB/s}], take: [1, 3, 5, 7]}",
      "--save out --draws 1");
  EXPECT_EQ(result["candidates"].size(), 6U);
  EXPECT_EQ(of(result, "given")["nodes"], json({"1", "3", "5", "7"}));
  for (std::size_t i = 0; i < result["candidates"].size(); ++i) {
    const std::string file = "out/placement-" + std::to_string(i + 1) + ".yaml";
    ASSERT_TRUE(exists(file));
    EXPECT_EQ(step_of(file), result["candidates"][i]["step_s"].get<double>()) << file;
  }
}

TEST_F(PlacementVerb, DoesNotDependOnThreadsOrFolding) {
  const std::string where = "{nodes: 16, jobs: [{name: a, nodes: [0, 2], rate: 300 GB/s}]}";
  json one = placed(where, "--threads 1"), two = placed(where, "--threads 2"),
       whole = placed(where, "--fold off");
  for (json* result : {&one, &two, &whole}) {
    result->erase("timing");
  }
  EXPECT_EQ(one, two);
  EXPECT_EQ(one, whole);
}

TEST_F(PlacementVerb, PrintsATableThatFitsAndSaysWhatToDo) {
  const std::string where = "{nodes: 16, jobs: [{name: a, nodes: [0, 2, 4], rate: 300 GB/s}]}";
  const Outcome table = place(where);
  EXPECT_THAT(table.out, HasSubstr("Take nodes "));
  EXPECT_THAT(table.out, HasSubstr("longer than on an empty fabric"));
  EXPECT_THAT(place(where, "--format csv").out,
              HasSubstr("choice,leaves,pods,step [s],loss [%],cost [%]"));
}

TEST_F(PlacementVerb, RefusesByNameWhatItDoesNotAnswer) {
  const Outcome none = run("plan s.yaml --placement");
  EXPECT_EQ(none.code, 2);
  EXPECT_THAT(none.err, HasSubstr("write under 'cluster' an 'occupancy'"));
  const Outcome vary = place("{nodes: 16}", "--vary tensor");
  EXPECT_EQ(vary.code, 2);
  EXPECT_THAT(vary.err, HasSubstr("--vary is about layouts or machines"));
  const Outcome full = place("{nodes: 16, down: [0-12]}");
  EXPECT_EQ(full.code, 2);
  EXPECT_THAT(full.err, HasSubstr("this job has 4 nodes, and 3 of the fabric's 16 are free"));
  const Outcome weeks = run("run s.yaml --set cluster.occupancy.nodes=16 --set run.until.steps=10");
  EXPECT_EQ(weeks.code, 2);
  EXPECT_THAT(weeks.err, HasSubstr("ask 'headway plan --placement'"));
  const Outcome drill = run("drill s.yaml --fault gpu-slow@node1 --set cluster.occupancy.nodes=16");
  EXPECT_EQ(drill.code, 2);
  EXPECT_THAT(drill.err, HasSubstr("faults on a partly occupied fabric are not modelled"));
}

// Of a whole run the step is looked at.
TEST_F(PlacementVerb, PassesOverTheWeeksOfARun) {
  const json step = placed("{nodes: 16}");
  json run = placed("{nodes: 16}", "--set run.until.steps=10");
  EXPECT_EQ(run["candidates"], step["candidates"]);
}

}  // namespace
}  // namespace headway::apps
