// Keys of `search:` and `sweep:` that lead to fields of the scenario.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

#include "sim/config/load.h"

#include "tests/config/test_files.h"

namespace headway::config {
namespace {

using test_files::Folder;
using test_files::kScenario;
using testing::HasSubstr;

LoadedScenario searched(const std::string& block, std::vector<std::string> set = {}) {
  return load_scenario_text(std::string(kScenario) + block, "s.yaml", {{}, std::move(set)});
}

std::string refusal_of(const std::string& block) {
  try {
    (void)searched(block);
  } catch (const core::Error& error) {
    return error.what();
  }
  return "";
}

TEST(SearchKeys, NestedAndWholePathsAreTheSame) {
  const auto whole = searched(
      "search:\n"
      "  cluster.nodes: [2, 4]\n"
      "  cluster.spares: auto\n"
      "  cluster.node.gpu.power: {from: 500 W, to: 700 W, points: 3}\n"
      "  run.checkpoint.interval: auto\n"
      "  run.failures.hazards[1].count: [3, 7]\n"
      "  tensor: [1, 2]\n");
  const auto nested = searched(
      "search:\n"
      "  cluster:\n"
      "    nodes: [2, 4]\n"
      "    spares: auto\n"
      "    node.gpu: {power: {from: 500 W, to: 700 W, points: 3}}\n"
      "  run: {checkpoint: {interval: auto}, failures: {'hazards[1]': {count: [3, 7]}}}\n"
      "  tensor: [1, 2]\n");
  EXPECT_EQ(whole.scenario.search, nested.scenario.search);
  EXPECT_EQ(whole.canonical_text, nested.canonical_text);
  EXPECT_EQ(nested.scenario.search.nodes, (std::vector<int>{2, 4}));
  EXPECT_EQ(nested.scenario.search.spares, training::SearchAdvice::automatic);
  ASSERT_EQ(nested.scenario.search.over.size(), 3U);
  EXPECT_EQ(nested.scenario.search.over[0].key, "cluster.node.gpu.power");
  EXPECT_EQ(nested.scenario.search.over[0].points, 3);
  EXPECT_EQ(nested.scenario.search.over[1].values, (std::vector<std::string>{"auto"}));
  EXPECT_EQ(nested.scenario.search.over[2].key, "run.failures.hazards[1].count");
}

// A whole block is an axis of names where the catalogue has entries of it.
TEST(SearchKeys, APartOfTheCatalogueMayBeNamed) {
  const auto over = searched("search: {model: [a, b], cluster: {node: [x], storage.use: [y]}}\n")
                        .scenario.search.over;
  ASSERT_EQ(over.size(), 3U);
  EXPECT_EQ(over[0].key, "model");
  EXPECT_EQ(over[1].key, "cluster.node");
  EXPECT_EQ(over[2].key, "cluster.storage.use");
}

TEST(SearchKeys, OfSweepAreAxesOfItsGrid) {
  const auto whole = searched("sweep: {cluster.nodes: [2, 4], parallelism.tensor: [1, 2]}\n");
  const auto nested =
      searched("sweep: {cluster: {nodes: [2, 4]}, parallelism: {tensor: [1, 2]}}\n");
  const auto listed = searched(
      "sweep: {grid: [{key: cluster.nodes, values: [2, 4]}, "
      "{key: parallelism.tensor, values: [1, 2]}]}\n");
  EXPECT_EQ(whole.scenario.sweep, listed.scenario.sweep);
  EXPECT_EQ(nested.scenario.sweep, listed.scenario.sweep);
}

// What a file lays over the one that it uses replaces it, however either is spelled.
TEST(SearchKeys, OfAFileThatIsUsedAreLaidUnder) {
  const Folder folder;
  const auto base = folder.write(
      "base.yaml",
      std::string(kScenario) +
          "search: {cluster.nodes: [2, 4], run: {seed: [1, 2]}, cluster.spares: auto}\n");
  const auto over = folder.write(
      "over.yaml", "use: ./base.yaml\nsearch: {cluster: {nodes: [8]}, run.seed: [3]}\n");
  EXPECT_EQ(load_scenario(base, {}).scenario.search.nodes, (std::vector<int>{2, 4}));
  const auto search = load_scenario(over, {}).scenario.search;
  EXPECT_EQ(search.nodes, (std::vector<int>{8}));
  EXPECT_EQ(search.spares, training::SearchAdvice::automatic);
  ASSERT_EQ(search.over.size(), 1U);
  EXPECT_EQ(search.over[0].values, (std::vector<std::string>{"3"}));
  const auto set =
      load_scenario(over, {{}, {"search.cluster={nodes: [16]}", "search.run.seed=null"}});
  EXPECT_EQ(set.scenario.search.nodes, (std::vector<int>{16}));
  EXPECT_TRUE(set.scenario.search.over.empty());
}

TEST(SearchKeys, ThatLeadNowhereAreRefused) {
  EXPECT_THAT(refusal_of("search:\n  clustr: {nodes: [2]}\n"),
              HasSubstr("unknown key 'clustr'; did you mean 'cluster'?"));
  EXPECT_THAT(refusal_of("search:\n  cluster:\n    nods: [2]\n"),
              HasSubstr(":5: unknown key 'nods'; did you mean 'nodes'?"));
  EXPECT_THAT(refusal_of("sweep: {sampel: {points: 4}}\n"),
              HasSubstr("unknown key 'sampel'; did you mean 'sample'?"));
}

}  // namespace
}  // namespace headway::config
