#include <gmock/gmock.h>
#include <string>
#include <vector>

#include "sim/config/load.h"

#include "tests/config/test_files.h"

namespace headway::config {
namespace {

using test_files::Folder;
using test_files::kScenario;

LoadedScenario with(std::vector<std::string> set) {
  return load_scenario_text(kScenario, "s.yaml", {{}, std::move(set)});
}

TEST(SetArgument, ReplacesAValueAndIsItsSource) {
  const auto loaded = with({"cluster.node.gpu.memory=94 GiB"});
  EXPECT_EQ(loaded.scenario.cluster.node.gpu.memory.si(), 94.0 * (1 << 30));
  EXPECT_EQ(loaded.marks.at("cluster.node.gpu.memory").file,
            "argument --set cluster.node.gpu.memory=94 GiB");
  EXPECT_EQ(find_source(loaded.sources, "cluster.node.gpu.memory"),
            "argument --set cluster.node.gpu.memory=94 GiB");
}

TEST(SetArgument, MakesTheMappingsOnItsWay) {
  const auto loaded =
      with({"claim.mfu=0.5", "parallelism.tensor=8", "run.checkpoint.interval=auto"});
  EXPECT_EQ(loaded.scenario.claim.mfu, 0.5);
  EXPECT_EQ(loaded.scenario.parallelism.tensor, 8);
}

TEST(SetArgument, TheLastOneCounts) {
  EXPECT_EQ(with({"run.trials=5", "run.trials=7"}).scenario.run.trials, 7);
}

TEST(SetArgument, ReachesIntoAList) {
  const auto loaded = with({"run.failures.hazards[1].count=9"});
  EXPECT_EQ(loaded.scenario.run.failures->hazards[1].count, 9);
  EXPECT_EQ(loaded.scenario.run.failures->hazards[0].name, "a");
}

TEST(SetArgument, SaysWhatIsNoListAndWhatIsNotInOne) {
  const auto reason = [](const char* set) {
    try {
      (void)with({set});
    } catch (const core::Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(reason("cluster[3]=3"),
            "argument --set cluster[3]=3: 'cluster' is no list: write 'cluster' without '[3]'\n");
  EXPECT_THAT(reason("run.failures.hazards[7].count=9"),
              testing::HasSubstr("there is no 'hazards[7]'; the list has 2 items"));
  EXPECT_THAT(reason("assert[0]=step.mfu > 0.3"),
              testing::HasSubstr("there is no 'assert[0]'; the list has 0 items"));
}

TEST(SetArgument, TakesListsAndMappings) {
  const auto loaded =
      with({"assert=[\"step.mfu > 0.3\", b]", "run.until={steps: 10}", "name='a: b'"});
  EXPECT_EQ(loaded.scenario.assertions, (std::vector<std::string>{"step.mfu > 0.3", "b"}));
  EXPECT_EQ(loaded.scenario.run.until->steps, 10);
  EXPECT_FALSE(loaded.scenario.run.until->tokens.has_value());
  EXPECT_EQ(loaded.scenario.name, "a: b");
}

TEST(SetArgument, KeepsColonsAndEqualSignsOfAText) {
  EXPECT_EQ(with({"name=a: b=c"}).scenario.name, "a: b=c");
}

// A path below `search` is one key of it, as in a file; a list of its own is replaced.
TEST(SetArgument, PathsBelowSearchAreKeysOfIt) {
  EXPECT_EQ(with({"search.cluster.nodes=[4, 8]"}).scenario.search.nodes, (std::vector<int>{4, 8}));
  EXPECT_EQ(with({"search.nodes=[2]", "search.cluster.nodes=[4]"}).scenario.search.nodes,
            (std::vector<int>{4}));
  const auto over = with({"search.run.seed=[1, 2]"}).scenario.search.over;
  ASSERT_EQ(over.size(), 1U);
  EXPECT_EQ(over[0].key, "run.seed");
  EXPECT_EQ(over[0].values, (std::vector<std::string>{"1", "2"}));
}

TEST(SetArgument, PathsBelowSweepAreKeysOfIt) {
  const auto sweep = with({"sweep.run.seed=[1, 2]"}).scenario.sweep;
  ASSERT_TRUE(sweep.has_value());
  ASSERT_EQ(sweep->grid.size(), 1U);
  EXPECT_EQ(sweep->grid[0].key, "run.seed");
}

TEST(SetArgument, NullTakesAnOptionalValueAway) {
  EXPECT_FALSE(with({"run.failures=null"}).scenario.run.failures.has_value());
}

// A text can be nothing but the name of an entry there.
TEST(SetArgument, APartOfTheCatalogueIsNamedWithoutUse) {
  const Folder folder;
  (void)folder.write("storage/disk.yaml",
                     "name: disk\nwrite_bandwidth: 1 GB/s\nread_bandwidth: 2 GB/s\n");
  const auto loaded =
      load_scenario_text(kScenario, "s.yaml", {{folder.path()}, {"cluster.storage=disk"}});
  EXPECT_EQ(loaded.scenario.cluster.storage->name, "disk");
  EXPECT_EQ(loaded.scenario.cluster.storage->read_bandwidth.si(), 2e9);
}

TEST(SetArgument, UseReplacesAMappingThatWasWrittenOut) {
  const Folder folder;
  (void)folder.write("storage/disk.yaml",
                     "name: disk\nwrite_bandwidth: 1 GB/s\nread_bandwidth: 2 GB/s\n");
  const auto loaded =
      load_scenario_text(kScenario, "s.yaml", {{folder.path()}, {"cluster.storage.use=disk"}});
  EXPECT_EQ(loaded.scenario.cluster.storage->name, "disk");
  EXPECT_EQ(loaded.scenario.cluster.storage->read_bandwidth.si(), 2e9);
}

TEST(SetArgument, UseKeepsTheOverridesOfAMappingThatUsedAnother) {
  const Folder folder;
  (void)folder.write("storage/disk.yaml",
                     "name: disk\nwrite_bandwidth: 1 GB/s\nread_bandwidth: 2 GB/s\n");
  (void)folder.write("storage/tape.yaml",
                     "name: tape\nwrite_bandwidth: 3 GB/s\nread_bandwidth: 4 GB/s\n");
  (void)folder.write("base.yaml", kScenario);
  const auto file =
      folder.write("s.yaml", "use: ./base.yaml\ncluster: {storage: {use: tape, latency: 7 ms}}\n");
  const auto loaded = load_scenario(
      file, {{folder.path()}, {"cluster.storage.use=disk", "cluster.storage.capacity=1 TB"}});
  EXPECT_EQ(loaded.scenario.cluster.storage->name, "disk");
  EXPECT_EQ(loaded.scenario.cluster.storage->latency.si(), 7e-3);
  EXPECT_EQ(loaded.scenario.cluster.storage->capacity.si(), 1e12);
}

}  // namespace
}  // namespace headway::config
