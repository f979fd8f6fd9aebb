#include "sim/config/load.h"

#include <gtest/gtest.h>
#include <string>

#include "tests/config/test_files.h"

namespace headway::config {
namespace {

using test_files::Folder;
using test_files::kScenario;

std::string complaint(std::string_view text, const LoadOptions& options = {}) {
  try {
    load_scenario_text(text, "s.yaml", options);
  } catch (const core::Error& error) {
    return error.what();
  }
  return {};
}

TEST(LoadScenario, FillsTheStructInSiUnits) {
  const auto loaded = load_scenario_text(kScenario, "s.yaml");
  const auto& gpu = loaded.scenario.cluster.node.gpu;
  EXPECT_EQ(gpu.memory.si(), 80.0 * 1024 * 1024 * 1024);
  EXPECT_EQ(gpu.memory_bandwidth.si(), 3.35e12);
  EXPECT_EQ(loaded.scenario.cluster.node.nic.bandwidth.si(), 400e9 / 8);
  EXPECT_EQ(loaded.scenario.run.until->tokens, 15.6e12);
  EXPECT_EQ(loaded.scenario.run.failures->hazards[0].mtbf->si(), 3.0 * 365 * 86400);
  EXPECT_EQ(loaded.scenario.run.failures->hazards[1].component,
            failures::ComponentClass::network_switch);
  EXPECT_EQ(loaded.scenario.run.failures->hazards[1].count, 7);
}

TEST(LoadScenario, KeepsDefaultsWhereTheFileIsSilent) {
  const auto loaded = load_scenario_text(kScenario, "s.yaml");
  EXPECT_EQ(loaded.scenario.run.trials, training::RunSpec{}.trials);
  EXPECT_TRUE(loaded.scenario.parallelism.data.is_auto());
  EXPECT_FALSE(loaded.scenario.run.prices.has_value());
  EXPECT_EQ(loaded.scenario.run.recovery, failures::RecoverySpec{});
}

TEST(LoadScenario, RemembersWhereEachValueWasWritten) {
  const auto loaded = load_scenario_text(kScenario, "s.yaml");
  const core::SourceMark& memory = loaded.marks.at("cluster.node.gpu.memory");
  EXPECT_EQ(memory, (core::SourceMark{"s.yaml", 12, 15, 6, "      memory: 80 GiB"}));
  EXPECT_EQ(loaded.marks.at("cluster.node.gpu").line, 7);
  EXPECT_EQ(loaded.marks.at("run.failures.hazards[1].per").line, 28);
  // A default has no mark of its own; its parent's key is the nearest place.
  EXPECT_EQ(core::find_mark(loaded.marks, "cluster.node.gpu.idle_power")->line, 7);
  EXPECT_EQ(core::find_mark(loaded.marks, "parallelism.tensor")->line, 0);
}

TEST(LoadScenario, KeepsTheSourceOfEachFigure) {
  const auto loaded = load_scenario_text(kScenario, "s.yaml");
  EXPECT_EQ(find_source(loaded.sources, "cluster.node.gpu.memory_bandwidth"), "measured");
  EXPECT_EQ(find_source(loaded.sources, "cluster.node.gpu.peak.bf16"), "data sheet");
  EXPECT_EQ(find_source(loaded.sources, "cluster.node.gpus"), "");
}

TEST(LoadScenario, CanonicalTextReadsBackToAnEqualScenario) {
  const auto loaded = load_scenario_text(kScenario, "s.yaml");
  const auto again = load_scenario_text(loaded.canonical_text, "again.yaml");
  EXPECT_EQ(again.scenario, loaded.scenario);
  EXPECT_EQ(again.canonical_text, loaded.canonical_text);
}

TEST(LoadScenario, CanonicalTextDoesNotDependOnSpellingOrOrder) {
  std::string other(kScenario);
  other.replace(other.find("400 Gbps"), 8, "50GB/s  ");
  other.replace(other.find("name: Small\n"), 12, "");
  other += "name: 'Small'   # last\n";
  EXPECT_EQ(load_scenario_text(other, "other.yaml").canonical_text,
            load_scenario_text(kScenario, "s.yaml").canonical_text);
}

TEST(LoadScenario, IsNamedAfterItsFileIfItSaysNoName) {
  std::string nameless(kScenario);
  nameless.replace(nameless.find("name: Small\n"), 12, "");
  const auto loaded = load_scenario_text(nameless, "folder/two-nodes.yaml");
  EXPECT_EQ(loaded.scenario.name, "two-nodes");
  EXPECT_EQ(load_scenario_text(nameless, "<scenario>").scenario.name, "scenario");
  EXPECT_EQ(load_scenario_text(loaded.canonical_text, "x.yaml").scenario.name, "two-nodes");
}

TEST(LoadScenario, LaysOverridesOverAUsedEntry) {
  const Folder folder;
  (void)folder.write(
      "root/gpus/big.yaml",
      "name: Big\nsource: sheet\narchitecture: hopper\npeak: {bf16: 2 PFLOP/s, fp16: 1 PFLOP/s}\n"
      "memory: 80 GiB\nmemory_bandwidth: 3 TB/s\npower: 700 W\nidle_power: 50 W\n");
  (void)folder.write("root/gpus/other.yaml",
                     "name: Other\narchitecture: ampere\npeak: {bf16: 1 PFLOP/s, fp16: 1 PFLOP/s}\n"
                     "memory: 40 GiB\nmemory_bandwidth: 1 TB/s\npower: 400 W\n");
  (void)folder.write("root/nodes/n.yaml",
                     "name: N\ngpu: {use: big}\ngpus: 8\nscale_up: {kind: mesh, bandwidth: 1 "
                     "GB/s}\nnic: {count: 4, bandwidth: 1 GB/s}\n");
  const LoadOptions options{{folder.path() / "root"}, {}};

  const auto plain = load_entry<training::NodeSpec>(
      folder.write("mine.yaml", "use: n\ngpu: {memory: 94 GiB, peak: {bf16: 3 PFLOP/s}}\n"),
      options);
  EXPECT_EQ(plain.spec.gpu.name, "Big");
  EXPECT_EQ(plain.spec.gpu.memory.si(), 94.0 * (1 << 30));
  EXPECT_EQ(plain.spec.gpu.peak.bf16.si(), 3e15);
  EXPECT_EQ(plain.spec.gpu.peak.fp16.si(), 1e15);
  EXPECT_EQ(plain.marks.at("gpu.memory").file, (folder.path() / "mine.yaml").string());
  EXPECT_EQ(plain.marks.at("gpu.power").file, (folder.path() / "root/gpus/big.yaml").string());
  EXPECT_EQ(find_source(plain.sources, "gpu.power"), "sheet");
  EXPECT_EQ(find_source(plain.sources, "gpu.memory"),
            "stated in " + (folder.path() / "mine.yaml").string() + ":2");
  EXPECT_EQ(plain.files.size(), 3U);

  // Another `use:` replaces the whole GPU, so that nothing of the first one leaks into the second.
  const auto replaced = load_entry<training::NodeSpec>(
      folder.write("mine.yaml", "use: n\ngpu: {use: other}\n"), options);
  EXPECT_EQ(replaced.spec.gpu.name, "Other");
  EXPECT_EQ(replaced.spec.gpu.idle_power, gpu::GpuSpec{}.idle_power);
}

TEST(LoadScenario, LooksBesideTheFileBeforeTheRoots) {
  const Folder folder;
  const std::string_view entry = "name: {}\nwrite_bandwidth: 1 GB/s\nread_bandwidth: 1 GB/s\n";
  const auto named = [&](const char* name) { return std::string(entry).replace(6, 2, name); };
  (void)folder.write("one/storage/disk.yaml", named("one"));
  (void)folder.write("two/storage/disk.yaml", named("two"));
  (void)folder.write("two/storage/tape.yaml", named("tape"));
  const LoadOptions options{{folder.path() / "one", folder.path() / "two"}, {}};
  const auto file = folder.write("here/mine.yaml", "use: disk\n");
  EXPECT_EQ(load_entry<storage::StorageSpec>(file, options).spec.name, "one");
  EXPECT_EQ(load_entry<storage::StorageSpec>(folder.write("here/t.yaml", "use: tape\n"), options)
                .spec.name,
            "tape");
  (void)folder.write("here/disk.yaml", named("beside"));
  EXPECT_EQ(load_entry<storage::StorageSpec>(file, options).spec.name, "beside");
  EXPECT_EQ(load_entry<storage::StorageSpec>(
                folder.write("here/up.yaml", "use: ../two/storage/disk.yaml\n"), options)
                .spec.name,
            "two");
}

TEST(LoadScenario, AnEntryMayUseTheEntryOfItsOwnNameFurtherOn) {
  const Folder folder;
  (void)folder.write("root/storage/disk.yaml",
                     "name: theirs\nwrite_bandwidth: 1 GB/s\nread_bandwidth: 1 GB/s\n");
  const auto file = folder.write("disk.yaml", "use: disk\nname: mine\n");
  EXPECT_EQ(load_entry<storage::StorageSpec>(file, {{folder.path() / "root"}, {}}).spec.name,
            "mine");
}

TEST(LoadScenario, ReadsAModelFromHuggingFaceWithOverrides) {
  const Folder folder;
  (void)folder.write(
      "config.json",
      R"({"model_type": "llama", "hidden_size": 512, "intermediate_size": 2048, "num_hidden_layers": 4,
    "num_attention_heads": 8, "num_key_value_heads": 2, "vocab_size": 1000, "tie_word_embeddings": false})");
  const auto file =
      folder.write("models/m.yaml", "huggingface: ../config.json\nname: Mine\nlayers: 6\n");
  const auto loaded = load_entry<workload::ModelSpec>(file);
  EXPECT_EQ(loaded.spec.name, "Mine");
  EXPECT_EQ(loaded.spec.layers, 6);
  EXPECT_EQ(loaded.spec.key_value_heads, 2);
  EXPECT_EQ(loaded.spec.head_dim, 64);
  EXPECT_EQ(find_source(loaded.sources, "hidden"), (folder.path() / "config.json").string());
}

TEST(LoadScenario, RemarksOnTheConfigurationOfItsModel) {
  const Folder folder;
  (void)folder.write("base.yaml", kScenario);
  (void)folder.write(
      "config.json",
      R"({"model_type": "llama", "hidden_size": 512, "intermediate_size": 2048, "num_hidden_layers": 4,
    "num_attention_heads": 8, "num_key_value_heads": 2, "vocab_size": 1000, "depth_of_dream": 3})");
  const auto loaded = load_scenario(
      folder.write("s.yaml", "use: ./base.yaml\nmodel: {huggingface: config.json}\n"));
  EXPECT_EQ(loaded.remarks, std::vector<std::string>{
                                (folder.path() / "config.json").string() +
                                ": keys that are not read, so what they change of the model is "
                                "left out: depth_of_dream"});
}

TEST(LoadScenario, NullTakesAnOptionalValueAway) {
  const Folder folder;
  const auto base = folder.write("base.yaml", kScenario);
  const auto loaded =
      load_scenario(folder.write("s.yaml", "use: ./base.yaml\nrun: {failures: null}\n"));
  EXPECT_FALSE(loaded.scenario.run.failures.has_value());
}

TEST(LoadScenario, RefusesAFileOverSixteenMebibytes) {
  const Folder folder;
  const auto file = folder.write("big.yaml", std::string((16U << 20U) + 1, '#'));
  try {
    load_scenario(file);
    FAIL();
  } catch (const core::Error& error) {
    EXPECT_EQ(std::string(error.what()),
              file.string() +
                  ": is larger than 16 MiB, the most that is read of such a file; is it the right "
                  "one? If so, cut it down to the part that is needed\n");
  }
}

TEST(LoadScenario, ShowsFiftyComplaintsAndCountsTheRest) {
  std::string text = "headway: 1\n";
  for (int i = 0; i < 80; ++i) {
    text += "key" + std::to_string(i) + ": 1\n";
  }
  const std::string said = complaint(text);
  EXPECT_NE(said.find("unknown key 'key49'"), std::string::npos);
  EXPECT_EQ(said.find("unknown key 'key50'"), std::string::npos);
  // 80 unknown keys and 3 missing ones
  EXPECT_NE(said.find("... and 33 more"), std::string::npos);
}

TEST(Catalogue, ListsEveryEntryOnce) {
  const Folder folder;
  (void)folder.write("one/gpus/b.yaml", "");
  (void)folder.write("two/gpus/a.yaml", "");
  (void)folder.write("two/gpus/b.yaml", "");
  (void)folder.write("two/gpus/notes.txt", "");
  const auto entries = list_entries("gpus", {folder.path() / "one", folder.path() / "two"});
  ASSERT_EQ(entries.size(), 2U);
  EXPECT_EQ(entries[0].name, "a");
  EXPECT_EQ(entries[1].path, folder.path() / "one/gpus/b.yaml");
  EXPECT_THROW(list_entries("gpu", {}), core::Error);
}

// A scenario is one in any folder: of `models` too its key decides.
TEST(Catalogue, AScenarioIsOneInAFolderOfAnotherName) {
  const Folder folder;
  const auto scenario = folder.write("models/ok.yaml", "headway: 1\nname: a\n");
  EXPECT_EQ(kind_of_file(scenario), "scenarios");
  EXPECT_EQ(kind_of_file(folder.write("models/a.yaml", "name: a\n")), "models");
}

TEST(Catalogue, EveryFileOfTheSourceTreePassesTheCheck) {
  const std::filesystem::path configs = std::filesystem::path(HEADWAY_SOURCE_DIR) / "configs";
  std::size_t files = 0;
  for (const std::string& kind : catalogue_kinds()) {
    for (const auto& entry : list_entries(kind, {configs})) {
      EXPECT_EQ(kind_of_file(entry.path), kind);
      EXPECT_NO_THROW(check_entry(entry.path, {{configs}, {}})) << entry.path;
      ++files;
    }
  }
  EXPECT_GT(files, 50U);
}

}  // namespace
}  // namespace headway::config
