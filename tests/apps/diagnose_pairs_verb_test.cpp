// headway diagnose where one cause does not explain what the logs say.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "tests/apps/program.h"

namespace headway::apps {
namespace {

using nlohmann::json;
using testing::HasSubstr;

/// Of the job of kPairsJob: 3.31 s a step, 1.02 s forward, 2.10 s backward.
constexpr const char* kPairsJob = "job.yaml";

struct PrintedSteps {
  double seconds = 3.31;
  double slowest = 1;  ///< rank / fastest
  double input = 0;
  int every = 0;  ///< steps from a save of six seconds to the next
};

/// Megatron-LM's lines of a hundred steps, and its timers at the end.
std::string printed(const PrintedSteps& steps) {
  std::string log;
  for (int i = 1; i <= 100; ++i) {
    const double pause = steps.every > 0 && i % steps.every == 0 ? 6.0 : 0;
    log += fmt::format(" iteration {}/ 900 | elapsed time per iteration (ms): {:.1f} |\n", i,
                       1e3 * (steps.seconds * (1 + 0.003 * (i % 5 - 2)) + pause));
    log += pause > 0 ? fmt::format("saving checkpoint at iteration {:8d} to /ckpt\n", i) : "";
  }
  log += "(min, max) time across ranks (ms):\n";
  const auto timer = [&](const char* name, double ms, double ratio) {
    log += fmt::format("    {} ....: ({:.1f}, {:.1f})\n", name, ms, ms * ratio);
  };
  // It runs while `batch-generator` does.
  timer("forward-compute", 1020 + 1e3 * steps.input, steps.slowest);
  timer("backward-compute", 2100, steps.slowest);
  if (steps.input > 0) {
    timer("batch-generator", 1e3 * steps.input, 1.1);
  }
  return log;
}

class DiagnosePairsVerb : public ProgramTest {
 protected:
  DiagnosePairsVerb() {
    write(kPairsJob,
          read_file(HEADWAY_SOURCE_DIR "/configs/scenarios/diagnose-llama-8b-64-h100.yaml"));
  }

  [[nodiscard]] json diagnosed(const std::string& files) {
    const auto outcome = run(fmt::format("diagnose {} {} --format json", kPairsJob, files));
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return json::parse(outcome.out);
  }

  static void expect_parts(const json& result, const std::vector<std::string>& causes) {
    const json& first = result["suspects"][0];
    std::vector<std::string> found;
    for (const json& part : first["parts"]) {
      found.push_back(part["cause"]);
      EXPECT_GT(part["mending"]["share"].get<double>(), 0);
      EXPECT_GT(part["mending"]["usd"].get<double>(), 0);
    }
    EXPECT_EQ(found, causes) << result.dump(1);
    EXPECT_GT(first["probability"].get<double>(), 0.9);
  }
};

TEST_F(DiagnosePairsVerb, FindsASlowNodeAndDataStarvation) {
  write("a.log", printed({3.31 * 1.25 + 0.8, 1.25, 0.8}));
  const json result = diagnosed("a.log");
  expect_parts(result, {"slow_node", "data_starvation"});
  // Without the wait a step takes 0.8 s less.
  EXPECT_NEAR(result["suspects"][0]["parts"][1]["mending"]["share"].get<double>(), 0.8 / 4.94,
              0.02);
  const std::string table = run(fmt::format("diagnose {} a.log", kPairsJob)).out;
  EXPECT_THAT(table, HasSubstr("slow_node+data_starvation"));
  EXPECT_THAT(table, HasSubstr(" AND each step waits "));
  EXPECT_THAT(table, HasSubstr("the first alone"));
}

TEST_F(DiagnosePairsVerb, FindsASlowNodeAndSaves) {
  write("a.log", printed({3.31 * 1.25, 1.25, 0, 10}));
  expect_parts(diagnosed("a.log"), {"slow_node", "frequent_saves"});
}

// Waits of 0.5 s a step, and loads of 150 s where this storage takes 15.
TEST_F(DiagnosePairsVerb, FindsDataStarvationAndSlowStorageInASummary) {
  write("g.json", R"({"goodput_time": {"TOTAL": 80000}, "badput_time": {"DATA_LOADING_SYNC": 12000,
      "UNPRODUCTIVE_CHECKPOINT_RESTORE_TIME": 300}, "total_elapsed_time": 94100,
      "disruption_count": 2, "max_productive_step": 24169, "ideal_step_time": 3.31})");
  const json result = diagnosed("g.json");
  const json& parts = result["suspects"][0]["parts"];
  ASSERT_EQ(parts.size(), 2U) << result.dump(1);
  EXPECT_EQ(parts[0]["cause"], "data_starvation");
  EXPECT_EQ(parts[1]["cause"], "slow_storage");
}

TEST_F(DiagnosePairsVerb, OneCauseIsNoPair) {
  write("a.log", printed({3.31 * 1.25, 1.25}));
  const json result = diagnosed("a.log");
  EXPECT_EQ(result["suspects"][0]["cause"], "slow_node");
  EXPECT_EQ(result["suspects"][0]["parts"].size(), 0U);
  EXPECT_THAT(result["limit"].get<std::string>(), Not(HasSubstr("Left unexplained")));
}

/// all_reduce_perf of two nodes.
std::string two_nodes(const char* a, const char* b, double busbw) {
  std::string log = "# Collective test starting: all_reduce_perf\n";
  for (int rank = 0; rank < 16; ++rank) {
    log += fmt::format("#  Rank {} Group 0 Pid 1 on {} device {} [0x00] NVIDIA H100\n", rank,
                       rank < 8 ? a : b, rank % 8);
  }
  const double algbw = busbw * 16 / 30;
  return log + fmt::format("4294967296 1073741824 float sum -1 {:.1f} {:.2f} {:.2f} 0\n",
                           4294967.296 / algbw, algbw, busbw);
}

// A card that is found costs the step little: what else makes it longer is said.
TEST_F(DiagnosePairsVerb, SaysWhatIsLeftUnexplained) {
  std::string log;
  for (int i = 1; i <= 60; ++i) {
    log += fmt::format(" iteration {}/ 900 | elapsed time per iteration (ms): {:.1f} |\n", i,
                       3972 * (1 + 0.004 * (i % 5 - 2)));
  }
  write("a.log", log);
  write("p12.log", two_nodes("n1", "n2", 480));
  write("p34.log", two_nodes("n3", "n4", 240));
  write("p13.log", two_nodes("n1", "n3", 478));
  write("p24.log", two_nodes("n2", "n4", 240));
  const json result = diagnosed("a.log p12.log p34.log p13.log p24.log");
  EXPECT_EQ(result["suspects"][0]["cause"], "half_rate_nic") << result.dump(1);
  EXPECT_THAT(result["limit"].get<std::string>(),
              HasSubstr("Left unexplained: median step, 3.97 s beside 3.3"));
  const json& step = result["compared"][0];
  EXPECT_EQ(step["feature"], "step_time");
  EXPECT_EQ(step["explained"], false);
  EXPECT_NEAR(step["if_so"].get<double>(), 3.33, 0.05);
}

}  // namespace
}  // namespace headway::apps
