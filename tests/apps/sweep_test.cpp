// headway sweep, worker and collect from the outside: the same bytes on any road.
#include <cstdlib>
#include <filesystem>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>

#include "tests/apps/program.h"

namespace headway::apps {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kBlock =
    "sweep:\n"
    "  grid:\n"
    "    - {key: parallelism.tensor, values: [1, 2, 3, 4]}\n"
    "    - {key: cluster.nodes, from: 1, to: 4, points: 4}\n"
    "  best: step.tokens_per_s\n"
    "  best_is: highest\n";

class SweepVerb : public ProgramTest {
 protected:
  SweepVerb() { write_small("s.yaml", kBlock); }

  /// The rows of one process on one thread.
  std::string rows() const { return run("sweep s.yaml --format jsonl --threads 1").out; }
};

TEST_F(SweepVerb, AnAxisNamesEntriesOfTheCatalogue) {
  const auto swept = [&](const std::string& key) {
    return run("sweep s.yaml --sweep " + key + "=dgx-h100,dgx-h200 --format jsonl");
  };
  const auto plain = swept("cluster.node");
  ASSERT_EQ(plain.code, 0) << plain.err;
  EXPECT_EQ(plain.out, swept("cluster.node").out);
  std::istringstream lines(plain.out);
  std::istringstream with_use(swept("cluster.node.use").out);
  std::string line;
  std::string other;
  while (std::getline(lines, line) && std::getline(with_use, other)) {
    EXPECT_EQ(json::parse(line)["digest"], json::parse(other)["digest"]);
  }
}

TEST_F(SweepVerb, HasAPageOnAnyRoad) {
  ASSERT_EQ(run("sweep s.yaml --report a.html").code, 0);
  const std::string page = read("a.html");
  EXPECT_THAT(page, HasSubstr("<h1>Small</h1>"));
  EXPECT_THAT(page, HasSubstr("Every point of the sweep: tokens a second"));
  ASSERT_EQ(run("sweep s.yaml --keep kept --report b.html").code, 0);
  ASSERT_EQ(run("collect kept --report c.html").code, 0);
  const auto rest = [](const std::string& text) { return text.substr(text.find("</code>")); };
  EXPECT_EQ(rest(read("b.html")), rest(page)) << "but for the command";
  EXPECT_EQ(rest(read("c.html")), rest(page));
}

TEST_F(SweepVerb, ARowIsWhatRunPrints) {
  std::istringstream lines(rows());
  std::string line;
  int ok = 0, refused = 0;
  while (std::getline(lines, line)) {
    const json row = json::parse(line);
    if (row["status"] == "refused") {
      ++refused;
      EXPECT_THAT(row["reason"].get<std::string>(), Not(testing::IsEmpty()));
      EXPECT_TRUE(row["figures"]["step.time_s"].is_null());
      continue;
    }
    ++ok;
    std::string set;
    for (const auto& [key, value] : row["changes"].items()) {
      set += " --set " + key + "=" + value.get<std::string>();
    }
    const json alone = json::parse(run("run s.yaml --format json" + set).out);
    EXPECT_EQ(alone["step"]["time_s"], row["figures"]["step.time_s"]) << set;
    EXPECT_EQ(alone["memory"]["peak_bytes"], row["figures"]["memory.peak_bytes"]) << set;
    EXPECT_EQ(alone["scenario"]["digest"], row["digest"]) << set;
  }
  EXPECT_EQ(ok + refused, 16);
  EXPECT_GE(ok, 8);
  EXPECT_GE(refused, 4);  // three tensor ranks divide no heads
}

TEST_F(SweepVerb, GivesTheSameBytesOnAnyRoad) {
  const std::string one = rows();
  EXPECT_EQ(run("sweep s.yaml --format jsonl --threads 3").out, one);
  EXPECT_EQ(run("sweep s.yaml --format jsonl --keep kept").out, one);
  EXPECT_EQ(run("sweep s.yaml --format jsonl --keep kept").out, one);  // all of it is there
  ASSERT_EQ(run("sweep s.yaml --shards 5 --keep cut").code, 0);
  for (const char* shard : {"4/5", "1/5", "5/5", "2/5", "4/5"}) {
    EXPECT_EQ(run(std::string("worker cut --shard ") + shard).code, 0) << shard;
  }
  const Outcome part = run("collect cut --format jsonl");
  EXPECT_EQ(part.code, 5);
  EXPECT_THAT(part.err, HasSubstr("1 of 5 shards are missing, the first is 3; run headway worker "
                                  "cut --shard 3/5"));
  EXPECT_EQ(run("worker cut").code, 0);
  const Outcome whole = run("collect cut --format jsonl");
  EXPECT_EQ(whole.code, 0);
  EXPECT_EQ(whole.out, one);
}

// Workers are killed, each at a moment of its own from 5 to 154 ms; what they leave is whole or not
// there. 16 shards of a point, in the deep stages 64.
TEST_F(SweepVerb, SurvivesWorkersThatAreKilled) {
  const bool deep = std::getenv("HEADWAY_DEEP") != nullptr;  // NOLINT(concurrency-mt-unsafe)
  const std::string points = deep ? "sweep s.yaml --sweep run.seed=1:4:1 " : "sweep s.yaml ";
  const std::string shards = deep ? "64" : "16";
  const std::string one = run(points + "--format jsonl").out;
  ASSERT_EQ(run(points + "--shards " + shards + " --keep cut").code, 0);
  write("worker.sh",
        "program=$1; shard=$2; round=$3\n"
        "after=$(printf '0.%03d' $(( (shard * 7919 + round * 104729) % 150 + 5 )))\n"
        "timeout -s KILL $after \"$program\" worker cut --shard $shard/" +
            shards + " --quiet\n");
  write("kill.sh",
        "for round in 1 2 3 4 5; do\n"
        "  seq " +
            shards +
            " | xargs -P 2 -I K sh worker.sh \"$1\" K $round\n"
            "done\n"
            "seq " +
            shards + " | xargs -P 2 -I K \"$1\" worker cut --shard K/" + shards + " --quiet\n");
  const std::string command =
      "cd '" + folder_.string() + "' && sh kill.sh '" HEADWAY_PROGRAM "' >.kill 2>&1";
  ASSERT_EQ(std::system(command.c_str()), 0) << read(".kill");
  EXPECT_EQ(run("collect cut --format jsonl").out, one);
}

TEST_F(SweepVerb, SaysWhichPointIsBestAndWhyOthersDidNotWork) {
  const Outcome outcome = run("sweep s.yaml");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.out, HasSubstr("with the highest step.tokens_per_s"));
  EXPECT_THAT(outcome.out, HasSubstr("tensor 3 does not divide the model's heads"));
  const json result = json::parse(run("sweep s.yaml --format json").out);
  EXPECT_EQ(result["points"], 16);
  EXPECT_EQ(result["missing"], 0);
  double most = 0;
  for (const auto& row : result["rows"]) {
    if (row["status"] == "ok") {
      most = std::max(most, row["figures"]["step.tokens_per_s"].get<double>());
    }
  }
  const auto best = result["best_point"].get<std::size_t>();
  EXPECT_EQ(result["rows"][best]["figures"]["step.tokens_per_s"].get<double>(), most);
  EXPECT_EQ(run("sweep s.yaml --sweep parallelism.tensor=3").code, 3);
}

TEST_F(SweepVerb, ListsPointsWithoutSimulatingThem) {
  const json result =
      json::parse(run("sweep s.yaml --dry-run --sweep cluster.nodes=8:16:8 --format json").out);
  EXPECT_EQ(result["points"], 8);  // the axis of the command line replaces the file's
  EXPECT_EQ(result["rows"][1]["changes"]["cluster.nodes"], "16");
  EXPECT_EQ(result["rows"][1]["status"], "listed");
}

// An axis of the command line stands in place of the file's, of whatever kind that is.
TEST_F(SweepVerb, TheCommandLinesAxesStandInPlaceOfTheFiles) {
  const std::pair<const char*, int> blocks[] = {
      {"sweep: {zip: [{key: cluster.nodes, values: [1, 2, 4]}, {key: training.global_batch, "
       "values: "
       "[64, 128, 256]}]}\n",
       6},
      {"sweep: {rows: ['cluster.nodes=1; parallelism.tensor=2', 'parallelism.tensor=4; "
       "cluster.nodes=2', 'cluster.nodes=4; parallelism.tensor=2']}\n",
       4},
      // A row that changed nothing else is the scenario as it is.
      {"sweep: {rows: ['cluster.nodes=1; parallelism.tensor=2', cluster.nodes=2]}\n", 4},
      {"sweep: {sample: {points: 5, axes: [{key: cluster.nodes, values: [1, 2]}]}}\n", 2}};
  for (const auto& [block, points] : blocks) {
    write_small("other.yaml", block);
    const json result = json::parse(
        run("sweep other.yaml --dry-run --sweep cluster.nodes=8:16:8 --format json").out);
    EXPECT_EQ(result["points"], points) << block;
    for (const json& row : result["rows"]) {
      EXPECT_THAT(row["changes"]["cluster.nodes"], testing::AnyOf("8", "16")) << block;
    }
  }
}

// An entry of the catalogue is named by its field or by `use`: either stands in place of the other.
TEST_F(SweepVerb, AnEntryIsOneFieldHoweverItIsNamed) {
  write_small("entries.yaml", "sweep: {rows: [cluster.node=dgx-a100]}\n");
  const json result = json::parse(
      run("sweep entries.yaml --dry-run --sweep cluster.node.use=dgx-b200 --format json").out);
  EXPECT_EQ(result["rows"].size(), 1U);
  EXPECT_EQ(result["rows"][0]["changes"].size(), 1U);
  const Outcome twice =
      run("sweep s.yaml --sweep cluster.node=dgx-a100 --sweep cluster.node.use=dgx-b200 --dry-run "
          "--format json");
  EXPECT_EQ(json::parse(twice.out)["rows"][0]["changes"].count("cluster.node"), 0U)
      << "the last of them counts";
}

// Which end is best follows from the figure, unless it is said.
// Values that are lists themselves: on the command line, in a block, as a path.
TEST_F(SweepVerb, TakesListsAsValues) {
  write_small("s.yaml");
  const auto line = run("sweep s.yaml --sweep 'parallelism.chunk_recompute=[0,0],[1,1]' --dry-run");
  ASSERT_EQ(line.code, 0) << line.err;
  EXPECT_THAT(line.out, HasSubstr("[0,0]"));
  EXPECT_THAT(line.out, HasSubstr("[1,1]"));
  for (const char* block :
       {"sweep: {grid: [{key: parallelism.chunk_recompute, values: [[0, 0], [1, 1]]}]}\n",
        "sweep: {parallelism.chunk_recompute: [[0, 0], [1, 1]]}\n"}) {
    write_small("t.yaml", block);
    const auto file = run("sweep t.yaml --dry-run");
    ASSERT_EQ(file.code, 0) << file.err;
    EXPECT_THAT(file.out, HasSubstr("[0, 0]")) << block;
    EXPECT_THAT(file.out, HasSubstr("[1, 1]")) << block;
  }
}

TEST_F(SweepVerb, TheBestOfAShareIsTheHighest) {
  write_small("plain.yaml", "sweep: {parallelism.tensor: [1, 8]}\n");
  const json mfu = json::parse(run("sweep plain.yaml --best step.mfu --format json").out);
  EXPECT_EQ(mfu["best_is"], "highest");
  EXPECT_EQ(mfu["best_point"], 0);
  EXPECT_EQ(json::parse(run("sweep plain.yaml --format json").out)["best_is"], "lowest");
  const json least =
      json::parse(run("sweep plain.yaml --best step.mfu --best-is lowest --format json").out);
  EXPECT_EQ(least["best_point"], 1);
  EXPECT_EQ(json::parse(run("sweep s.yaml --best step.time_s --format json").out)["best_is"],
            "lowest")
      << "the file says it of its own figure";
  EXPECT_EQ(json::parse(run("sweep plain.yaml --set sweep.best_is=lowest --best step.hfu --format "
                            "json")
                            .out)["best_is"],
            "lowest")
      << "the command line says it of any";
  EXPECT_EQ(json::parse(run("sweep s.yaml --best step.tokens_per_s --format json").out)["best_is"],
            "highest");
}

// The storage is not in a step: all points have one time of it, and what tells them apart is said,
// ranks them, and is what the chart shows.
TEST_F(SweepVerb, EqualsAreToldApartByTheNextFigure) {
  write_small("plain.yaml",
              "run: {until: {tokens: 1.0e9}, trials: 2, failures: {use: llama-3-54-days}, "
              "checkpoint: {interval: 60 s, mode: sync}}\n");
  const std::string words =
      "sweep plain.yaml --sweep run.checkpoint.interval=60s,600s,30s --best step.time_s ";
  const json result = json::parse(run(words + "--format json").out);
  EXPECT_EQ(result["best_point"], 1);
  const Outcome text = run(words + "--report page.html");
  EXPECT_THAT(text.out, HasSubstr("Best is point 1: run.checkpoint.interval=600s"));
  EXPECT_THAT(text.out, HasSubstr("2 others have as much: of them it has the highest "
                                  "campaign.ettr.p50 (`--best campaign.ettr.p50` ranks by that)."));
  EXPECT_THAT(read("page.html"), HasSubstr("Every point of the sweep: ETTR"));
  EXPECT_THAT(run("sweep plain.yaml --sweep run.seed=1,2 --figures step.time_s").out,
              HasSubstr("1 other has as much, and no other figure differs: the first is named."));
}

TEST_F(SweepVerb, ADryRunListsEveryPointAndDoesNothingElse) {
  const Outcome many = run("sweep s.yaml --dry-run --sweep training.global_batch=64:6400:64");
  EXPECT_THAT(many.out, HasSubstr("1,600 points"));
  EXPECT_THAT(many.out, HasSubstr("6400"));
  EXPECT_THAT(many.out, Not(HasSubstr("best")));
  const Outcome kept = run("sweep s.yaml --dry-run --keep kept");
  EXPECT_EQ(kept.code, 2);
  EXPECT_THAT(kept.err, HasSubstr("--dry-run lists the points and does nothing else"));
  EXPECT_FALSE(exists("kept"));
}

TEST_F(SweepVerb, FindsSlipsBeforeAnythingIsSimulated) {
  const Outcome key = run("sweep s.yaml --sweep parallelism.tensr=1,2");
  EXPECT_EQ(key.code, 2);
  EXPECT_THAT(key.err,
              HasSubstr("sweep, parallelism.tensr=1: unknown key 'tensr'; did you mean 'tensor'?"));
  const Outcome value = run("sweep s.yaml --sweep cluster.nodes=2,many");
  EXPECT_EQ(value.code, 2);
  EXPECT_THAT(value.err, HasSubstr("sweep, cluster.nodes=many: nodes 'many' is not a number"));
  const Outcome figure = run("sweep s.yaml --figures step.mf");
  EXPECT_EQ(figure.code, 2);
  EXPECT_THAT(figure.err, HasSubstr("a run has no figure 'step.mf'; did you mean 'step.mfu'?"));
  EXPECT_EQ(run("sweep s.yaml --keep run --shards 0").code, 2);
  EXPECT_FALSE(exists("run"));
}

TEST_F(SweepVerb, KeepsSweepsApart) {
  ASSERT_EQ(run("sweep s.yaml --keep kept --shards 2").code, 0);
  const Outcome other = run("sweep s.yaml --keep kept --set training.global_batch=128");
  EXPECT_EQ(other.code, 2);
  EXPECT_THAT(other.err, HasSubstr("kept holds another sweep"));
  const Outcome count = run("sweep s.yaml --keep kept --shards 3");
  EXPECT_EQ(count.code, 2);
  EXPECT_THAT(count.err, HasSubstr("kept is cut into 2 shards, not 3"));
  EXPECT_THAT(run("worker kept --shard 3/2").err, HasSubstr("write 1/2 to 2/2"));
  EXPECT_THAT(run("worker kept --shard 1/3").err, HasSubstr("the sweep has 2 shards"));
  EXPECT_EQ(run("sweep s.yaml --keep . --shards 2").code, 2);  // other files are there
  EXPECT_EQ(run("worker nowhere").code, 2);
}

// A point's digest is that of the scenario alone, whatever else is swept beside it.
TEST_F(SweepVerb, DoesNotTouchTheDigestOfAPoint) {
  write_small("alone.yaml");
  const json alone = json::parse(run("run alone.yaml --format json").out);
  const json whole = json::parse(run("run s.yaml --format json").out);
  EXPECT_EQ(alone["scenario"]["digest"], whole["scenario"]["digest"]);
  const json row = json::parse(
      run("sweep alone.yaml --sweep parallelism.tensor=2 --format jsonl --figures step.mfu").out);
  EXPECT_EQ(row["digest"], alone["scenario"]["digest"]);
}

// A machine whose catalogue reads otherwise would make other rows.
TEST_F(SweepVerb, IsRefusedWhereTheCatalogueDiffers) {
  ASSERT_EQ(run("sweep s.yaml --keep cut --shards 2").code, 0);
  fs::create_directories(folder_ / "other");
  fs::copy(HEADWAY_SOURCE_DIR "/configs", folder_ / "other", fs::copy_options::recursive);
  const std::string text = read("other/fabrics/rail-optimized-ndr.yaml");
  const auto at = text.find("efficiency: ");
  ASSERT_NE(at, std::string::npos);
  write("other/fabrics/rail-optimized-ndr.yaml",
        std::regex_replace(text, std::regex(R"(efficiency: (\{value: )?[0-9.]+)"),
                           "efficiency: $010.5"));
  const Outcome outcome = run("worker cut --shard 1/2", "HEADWAY_CONFIGS=other");
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("make both installations equal, or begin the sweep anew"));
}

TEST_F(SweepVerb, TakesNoShardThatLacksAPoint) {
  ASSERT_EQ(run("sweep s.yaml --keep cut --shards 2").code, 0);
  ASSERT_EQ(run("worker cut").code, 0);
  for (const auto& entry : fs::directory_iterator(folder_ / "cut")) {
    const std::string name = entry.path().filename().string();
    if (name.ends_with("00002-of-00002.jsonl")) {
      const std::string text = read("cut/" + name);
      write("cut/" + name, text.substr(text.find('\n') + 1));
    }
  }
  const Outcome short_one = run("collect cut");
  EXPECT_EQ(short_one.code, 2);
  EXPECT_THAT(short_one.err, HasSubstr("does not have the points of its shard; remove it"));
}

// What keeps the rules and cannot be is infeasible, as `headway run` says by its exit code.
TEST_F(SweepVerb, TellsWhatCannotBeFromWhatIsWrong) {
  const json rows = json::parse(
      run("sweep s.yaml --sweep parallelism.tensor=2 --sweep cluster.nodes=2 --sweep "
          "training.global_batch=32,33 --set cluster.node.gpu.memory='8 GiB' --format json")
          .out)["rows"];
  EXPECT_EQ(rows[0]["status"], "infeasible");  // 8 GiB hold no eighth of it
  EXPECT_FALSE(rows[0]["figures"]["step.time_s"].is_null());
  EXPECT_EQ(rows[1]["status"], "refused");
  const json large =
      json::parse(run("sweep s.yaml --fold off --sweep parallelism.tensor=8 --sweep "
                      "cluster.nodes=1048576 --set "
                      "training.global_batch=8388608 --set cluster.fabric.planes=64 --format json")
                      .out)["rows"][0];
  EXPECT_EQ(large["status"], "infeasible");
  EXPECT_THAT(large["reason"].get<std::string>(), HasSubstr("simulating this needs about"));
}

TEST_F(SweepVerb, WritesJobFiles) {
  const std::pair<const char*, const char*> files[] = {{"slurm", "sweep.slurm"},
                                                       {"k8s", "sweep-job.yaml"},
                                                       {"hq", "sweep-hq.sh"},
                                                       {"condor", "sweep.condor"}};
  for (const auto& [system, file] : files) {
    const std::string folder = std::string("of_") + system;
    const Outcome outcome = run("sweep s.yaml --shards 7 --keep " + folder + " --emit " + system);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_THAT(outcome.out, HasSubstr(file));
    const std::string text = read(folder + "/" + file);
    EXPECT_THAT(text, HasSubstr("headway worker"));
    EXPECT_THAT(text, HasSubstr("/7"));
  }
  // The array's script is a shell script that runs one shard.
  const std::string command =
      "cd '" + folder_.string() +
      "' && mkdir bin && ln -s '" HEADWAY_PROGRAM
      "' bin/headway && "
      "PATH=\"$PWD/bin:$PATH\" SLURM_ARRAY_TASK_ID=3 sh of_slurm/sweep.slurm";
  EXPECT_EQ(std::system(command.c_str()), 0);
  EXPECT_THAT(run("collect of_slurm").err, HasSubstr("6 of 7 shards are missing"));
  EXPECT_EQ(run("collect of_slurm --quiet").err, "");
  EXPECT_FALSE(exists("of_slurm/shard-3.err"));
  // One that fails leaves its reason, and its exit code.
  write("of_slurm/sweep.json", "{}");
  EXPECT_NE(std::system(("cd '" + folder_.string() +
                         "' && PATH=\"$PWD/bin:$PATH\" SLURM_ARRAY_TASK_ID=4 sh "
                         "of_slurm/sweep.slurm")
                            .c_str()),
            0);
  EXPECT_THAT(read("of_slurm/shard-4.err"), HasSubstr("sweep.json"));
  // Shells take both scripts as they are.
  for (const char* script : {"of_slurm/sweep.slurm", "of_hq/sweep-hq.sh"}) {
    EXPECT_EQ(std::system(("bash -n '" + (folder_ / script).string() + "'").c_str()), 0) << script;
  }
}

}  // namespace
}  // namespace headway::apps
