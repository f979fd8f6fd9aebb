// headway run and plan with --keep and --shards from the outside: the answer of one process,
// however many work it out.
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "tests/apps/program.h"

namespace headway::apps {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;

constexpr const char* kFolderRun =
    "run:\n"
    "  until: {steps: 20000}\n"
    "  failures: {use: llama-3-54-days}\n"
    "  recovery: {use: automated-2024}\n"
    "  prices: {use: h100-on-demand-2026-05}\n"
    "  trials: 60\n";
constexpr const char* kSearch =
    "search:\n"
    "  vary: [tensor, micro_batch]\n"
    "  machines:\n"
    "    - cluster.node=dgx-a100; run.prices=a100-80gb-on-demand-2026-05\n"
    "    - cluster.node=dgx-h100; run.prices=h100-on-demand-2026-05\n"
    "    - cluster.node=dgx-b200; run.prices=b200-on-demand-2026-06\n"
    "    - cluster.node=dgx-a100; training.precision=fp8\n";

class KeptWork : public ProgramTest {
 protected:
  KeptWork() { write_small("s.yaml", std::string(kFolderRun) + kSearch); }

  /// A result without what depends on the clock.
  [[nodiscard]] json result(const std::string& arguments) const {
    const Outcome outcome = run(arguments + " --format json --quiet");
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    json out = json::parse(outcome.out);
    out.erase("timing");
    return out;
  }
  [[nodiscard]] std::size_t shards(const std::string& folder) const {
    std::size_t count = 0;
    for (const auto& entry : fs::directory_iterator(folder_ / folder)) {
      count += entry.path().extension() == ".jsonl" ? 1 : 0;
    }
    return count;
  }
};

TEST_F(KeptWork, TrialsInShardsGiveTheRunOfOneProcess) {
  const json alone = result("run s.yaml --threads 1");
  const auto cut = run("run s.yaml --keep kept --shards 7 --emit slurm");
  ASSERT_EQ(cut.code, 0) << cut.err;
  EXPECT_THAT(cut.out, AllOf(HasSubstr("60 trials in 7 shards"),
                             HasSubstr("headway worker kept --shard 1/7"), HasSubstr("sbatch")));
  EXPECT_THAT(read("kept/sweep.slurm"), HasSubstr("--array=1-7"));
  for (const char* shard : {"7/7", "2/7", "2/7"}) {
    EXPECT_EQ(run(std::string("worker kept --quiet --shard ") + shard).code, 0);
  }
  EXPECT_EQ(shards("kept"), 2U);
  // The same line without --shards does what is missing, and prints.
  EXPECT_EQ(result("run s.yaml --keep kept --threads 2"), alone);
  EXPECT_EQ(shards("kept"), 7U);
  // Other ways to cut it.
  EXPECT_EQ(result("run s.yaml --keep other"), alone);
  EXPECT_EQ(shards("other"), 1U);
  EXPECT_EQ(run("run s.yaml --keep each --shards 60").code, 0);
  EXPECT_EQ(run("worker each --quiet").code, 0);
  EXPECT_EQ(result("run s.yaml --keep each"), alone);
}

TEST_F(KeptWork, MachinesInShardsGiveThePlanOfOneProcess) {
  const std::string words = "plan s.yaml --objective dollars,days --top 4 --verify 3 ";
  const json alone = result(words);
  ASSERT_EQ(alone["machines"].size(), 4U);
  EXPECT_EQ(alone["machines"][3]["gpus"], nullptr);  // an A100 has no fp8
  ASSERT_EQ(run(words + "--keep kept --shards 3").code, 0);
  ASSERT_EQ(run("worker kept --quiet").code, 0);
  EXPECT_EQ(result(words + "--keep kept"), alone);
  const auto table = [&](const std::string& more) { return run(words + more + " --quiet").out; };
  EXPECT_EQ(table("--keep kept"), table(""));
  EXPECT_EQ(result(words + "--keep other --threads 1"), alone);
  EXPECT_EQ(shards("other"), 4U);
}

TEST_F(KeptWork, WhatIsMissingOrBrokenIsWorkedOutAgain) {
  const json alone = result("run s.yaml");
  ASSERT_EQ(run("run s.yaml --keep kept --shards 3").code, 0);
  ASSERT_EQ(run("worker kept --quiet").code, 0);
  std::string name;
  for (const auto& entry : fs::directory_iterator(folder_ / "kept")) {
    if (entry.path().filename().string().find("-00002-of-00003") != std::string::npos) {
      name = "kept/" + entry.path().filename().string();
    }
  }
  const std::string whole = read(name);
  write(name, whole.substr(0, whole.size() / 2));
  const auto broken = run("run s.yaml --keep kept");
  EXPECT_EQ(broken.code, 2);
  EXPECT_THAT(broken.err, HasSubstr("remove the file, and it is worked out again"));
  write(name, whole.substr(whole.find('\n') + 1));  // a trial less
  EXPECT_THAT(run("run s.yaml --keep kept").err,
              HasSubstr("does not have the trials of its shard"));
  fs::remove(folder_ / name);
  EXPECT_EQ(result("run s.yaml --keep kept"), alone);
  EXPECT_EQ(read(name), whole);
}

TEST_F(KeptWork, SaysWhatCannotBeShared) {
  const auto refused = [&](const std::string& arguments) {
    const auto done = run(arguments);
    EXPECT_EQ(done.code, 2) << arguments;
    return done.err;
  };
  EXPECT_THAT(refused("run s.yaml --keep a --set run.until=null"), HasSubstr("no run.until"));
  EXPECT_THAT(refused("run s.yaml --keep a --set run.mean_within=0.01"),
              HasSubstr("leave it out and write run.trials"));
  EXPECT_THAT(refused("plan s.yaml --keep a --set search.machines=[]"),
              HasSubstr("with --over cluster.nodes=32,64"));
  EXPECT_THAT(refused("run s.yaml --shards 3"), HasSubstr("--shards requires --keep"));
  EXPECT_THAT(refused("run s.yaml --keep a --shards 61"), HasSubstr("there are 60 parts to share"));
  ASSERT_EQ(run("run s.yaml --keep a --shards 2").code, 0);
  EXPECT_THAT(refused("run s.yaml --keep a --seed 7"), HasSubstr("a holds another run"));
  EXPECT_THAT(refused("run s.yaml --keep a --shards 3"), HasSubstr("is cut into 2 shards, not 3"));
  EXPECT_THAT(refused("worker a --shard 3/2"), HasSubstr("argument --shard 3/2"));
  EXPECT_THAT(refused("plan s.yaml --placement --keep a"), HasSubstr("--keep"));
  write("a/work.json", "{}");
  EXPECT_THAT(refused("worker a"), HasSubstr("this is no shared question of this program"));
}

// `headway collect` is of sweeps.
TEST_F(KeptWork, IsNoSweep) {
  ASSERT_EQ(run("run s.yaml --keep kept --shards 2").code, 0);
  const auto of_run = run("collect kept");
  EXPECT_EQ(of_run.code, 2);
  EXPECT_THAT(of_run.err, HasSubstr("kept: it keeps the trials of a run, not the points of a "
                                    "sweep"));
  EXPECT_THAT(of_run.err, HasSubstr("s.yaml ... --keep kept"));
  ASSERT_EQ(run("plan s.yaml --keep planned --shards 2").code, 0);
  EXPECT_THAT(run("collect planned").err, HasSubstr("planned: it keeps the machines of a plan"));
}

}  // namespace
}  // namespace headway::apps
