// headway diagnose on logs whose steps do not stay as they were, and on tests that died.
#include <fmt/format.h>
#include <functional>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "tests/apps/program.h"

namespace headway::apps {
namespace {

using nlohmann::json;
using testing::HasSubstr;

/// Of this job a step takes 3.31 s, 1.02 s of it forward and 2.10 s backward passes.
constexpr const char* kSeriesJob = "job.yaml";
constexpr double kSoundStep = 3.31;

/// Megatron-LM's lines of steps that take so long, with a scatter of 0.3 %.
std::string lines_of(int first, int last, const std::function<double(int)>& seconds) {
  std::string log;
  for (int i = first; i <= last; ++i) {
    log += fmt::format(" iteration {}/ 900 | elapsed time per iteration (ms): {:.1f} |\n", i,
                       1e3 * seconds(i) * (1 + 0.003 * (i % 5 - 2)));
  }
  return log;
}

class DiagnoseSeriesVerb : public ProgramTest {
 protected:
  DiagnoseSeriesVerb() {
    write(kSeriesJob,
          read_file(HEADWAY_SOURCE_DIR "/configs/scenarios/diagnose-llama-8b-64-h100.yaml"));
  }

  [[nodiscard]] json diagnosed(const std::string& log) {
    write("train.log", log);
    return of_files("train.log");
  }

  [[nodiscard]] json of_files(const std::string& files) {
    const auto outcome = run(fmt::format("diagnose {} {} --format json", kSeriesJob, files));
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return json::parse(outcome.out);
  }

  static json figure(const json& result, const char* feature) {
    for (const json& row : result["compared"]) {
      if (row["feature"] == feature) {
        return row;
      }
    }
    ADD_FAILURE() << "no " << feature;
    return {};
  }
};

// Megatron-LM's `forward-compute` runs while a rank waits in `batch-generator`.
TEST_F(DiagnoseSeriesVerb, AWaitForDataIsInTheForwardPassToo) {
  for (const double wait : {0.4, 1.2, 2.0}) {
    const json result = diagnosed(
        lines_of(1, 60, [&](int) { return kSoundStep + wait; }) +
        "(min, max) time across ranks (ms):\n" +
        fmt::format("    forward-compute ....: ({:.1f}, {:.1f})\n", 1020 + 1e3 * wait,
                    1030 + 1e3 * wait) +
        "    backward-compute ....: (2100.0, 2110.0)\n" +
        fmt::format("    batch-generator ....: ({:.1f}, {:.1f})\n", 1e3 * wait, 4 + 1e3 * wait));
    const json& first = result["suspects"][0];
    EXPECT_EQ(first["cause"], "data_starvation") << result.dump(1);
    EXPECT_GT(first["probability"].get<double>(), 0.95);
    EXPECT_EQ(figure(result, "forward")["explained"], true);
    EXPECT_EQ(figure(result, "input")["explained"], true);
  }
}

// Steps that are slow from one on are no pauses: the state that lasts is judged.
TEST_F(DiagnoseSeriesVerb, AChangeOnTheWayIsToldAndTheLastStateJudged) {
  for (const double slow : {1.13, 1.4}) {
    for (const int change : {60, 85}) {
      const json result =
          diagnosed(lines_of(1, 120, [&](int i) { return kSoundStep * (i < change ? 1 : slow); }));
      EXPECT_THAT(
          result["findings"].dump(),
          HasSubstr(fmt::format("train.log: a step changed at step {} from 3.31 s to {:.2f}",
                                change, slow * kSoundStep)));
      EXPECT_NEAR(figure(result, "step_time")["measured"].get<double>() / kSoundStep, slow, 0.003);
      EXPECT_EQ(figure(result, "pauses")["measured"], 0);
      EXPECT_EQ(figure(result, "regularity")["measured"], 0);
      EXPECT_NE(result["suspects"][0]["cause"], "frequent_saves") << result.dump(1);
    }
  }
  // What passed is told, and what is now is as predicted.
  const json passed = diagnosed(
      lines_of(1, 200, [](int i) { return kSoundStep * (i >= 71 && i <= 110 ? 1.5 : 1); }));
  EXPECT_THAT(
      passed["findings"].dump(),
      HasSubstr("changed at step 71 from 3.31 s to 4.96 s, at step 111 from 4.96 s to 3.31"));
  EXPECT_EQ(passed["suspects"][0]["cause"], "none");
  EXPECT_TRUE(diagnosed(lines_of(1, 200, [](int) { return kSoundStep; }))["findings"].empty());
}

// Timers of before a change say nothing of what came after.
TEST_F(DiagnoseSeriesVerb, TimersOfTheLastStateAreJudged) {
  const auto timers = [](double forward) {
    return fmt::format(
        "(min, max) time across ranks (ms):\n    forward-compute ....: ({:.1f}, {:.1f})\n", forward,
        1.01 * forward);
  };
  const json result =
      diagnosed(lines_of(1, 50, [](int) { return kSoundStep; }) + timers(1020) + timers(1020) +
                lines_of(51, 100, [](int) { return 1.3 * kSoundStep; }) + timers(1326));
  EXPECT_NEAR(figure(result, "forward")["measured"].get<double>(), 1.326, 1e-9);
}

TEST_F(DiagnoseSeriesVerb, ATrendIsNoScatter) {
  const json result =
      diagnosed(lines_of(1, 200, [](int i) { return kSoundStep * (1 + 0.3 * i / 200); }));
  EXPECT_THAT(result["findings"].dump(), HasSubstr("a step grew steadily from "));
  EXPECT_THAT(result["findings"].dump(), HasSubstr("a trend, no scatter"));
  EXPECT_NEAR(figure(result, "step_time")["measured"].get<double>() / kSoundStep, 1.3, 0.01);
  EXPECT_EQ(figure(result, "spread")["within"], true);
  for (const json& suspect : result["suspects"]) {
    EXPECT_FALSE(suspect["cause"] == "jitter" && suspect["probability"].get<double>() > 0.01);
  }
}

TEST_F(DiagnoseSeriesVerb, TheLastRunOfALogIsJudged) {
  const auto seconds = [](double times) { return [times](int) { return times * kSoundStep; }; };
  const std::string log =
      lines_of(1, 60, seconds(1)) + "a restart\n" + lines_of(41, 90, seconds(1.2));
  const json result = diagnosed(log);
  EXPECT_NEAR(figure(result, "step_time")["measured"].get<double>(), 1.2 * kSoundStep, 0.02);
  EXPECT_THAT(
      result["findings"].dump(),
      HasSubstr("train.log:62: steps come again from 41 on, as after a restart: the last run "
                "is judged, of 3.97 s a step; the run before this line, steps 1 to 60, had "
                "3.31 s"));
  // The lines of a second rank are no second run.
  std::string ranks;
  for (int i = 1; i <= 40; ++i) {
    for (const char* rank : {"[rank0]:", "[rank1]:"}) {
      ranks += rank + lines_of(i, i, seconds(1));
    }
  }
  EXPECT_TRUE(diagnosed(ranks)["findings"].empty());
  // Nor are those of one that is a line behind and has no label, nor is a line that is late.
  std::string behind;
  for (int i = 1; i < 40; i += 2) {
    behind += lines_of(i, i + 1, seconds(1)) + lines_of(i, i + 1, seconds(1));
  }
  const std::string late = lines_of(1, 38, seconds(1)) + lines_of(40, 40, seconds(1)) +
                           lines_of(39, 39, seconds(1)) + lines_of(41, 60, seconds(1));
  for (const std::string& one : {behind, late}) {
    EXPECT_THAT(diagnosed(one)["findings"].dump(), testing::Not(HasSubstr("come again")));
  }
}

// A test that died, or that was cut off, was fast until then and is not passed.
TEST_F(DiagnoseSeriesVerb, ATestThatDidNotEndIsNoPass) {
  const std::string head =
      "# Collective test starting: all_reduce_perf\n"
      "# nThread 1 nGpus 1 minBytes 1073741824 maxBytes 8589934592 step: 2(factor)\n"
      "# Rank 0 Group 0 Pid 1 on n0 device 0 [0x00] NVIDIA H100\n"
      "# Rank 1 Group 0 Pid 2 on n0 device 1 [0x00] NVIDIA H100\n"
      "1073741824 268435456 float sum -1 3000 357.91 357.91 0\n";
  const std::string end = "# Out of bounds values : 0 OK\n# Avg bus bandwidth : 357.91\n";
  struct Ending {
    std::string text, said;
  };
  for (const auto& [text, said] :
       {Ending{"",
               "a.log: DID NOT END: it ends without '# Avg bus bandwidth'; its last size is "
               "1073741824 B; on n0"},
        Ending{"n0: Test NCCL failure common.cu:401 'error'\n",
               "a.log: DID NOT END: line 6 says 'n0: Test NCCL failure common.cu:401 'error''"}}) {
    write("a.log", head + text);
    const auto held = run(fmt::format("expect {} --against a.log", kSeriesJob));
    EXPECT_EQ(held.code, 4);
    EXPECT_THAT(held.err, HasSubstr(said));
    EXPECT_THAT(held.out, HasSubstr("nodes that failed: n0"));
    const auto told = run(fmt::format("diagnose {} a.log", kSeriesJob));
    EXPECT_THAT(told.err, HasSubstr("DID NOT END: a.log: "));
    EXPECT_THAT(told.out, HasSubstr("A TEST DID NOT END: mend that first"));
    EXPECT_EQ(of_files("a.log")["unfinished"].size(), 1U);
  }
  write("a.log", head + end);
  EXPECT_EQ(run(fmt::format("expect {} --against a.log", kSeriesJob)).code, 0);
  EXPECT_TRUE(of_files("a.log")["unfinished"].empty());
}

// Files of one node are of one node, and a file that is named after none does not name one.
TEST_F(DiagnoseSeriesVerb, ANodeIsCalledAsOtherFilesCallIt) {
  std::string rings;
  for (int r = 0; r < 16; ++r) {
    rings += fmt::format("# Rank {} Group 0 Pid 1 on n0{} device {} [0x00] NVIDIA H100\n", r, r / 8,
                         r % 8);
  }
  write("pair.log", rings + "1073741824 268435456 float sum -1 4300 249.7 468.2 0\n");
  const std::string table = "# gpu pwr pclk\n0 650 1700\n1 650 1190\n";
  for (const char* file : {"n00.dmon.txt", "n01.csv", "n02.dcgm.csv", "n03.smi"}) {
    write(file, table);
    EXPECT_EQ(of_files(std::string("pair.log ") + file)["slowest_gpu"],
              std::string(file).substr(0, 3) + " GPU 1");
  }
  write("q.csv", table);
  const json result = of_files("pair.log q.csv");
  EXPECT_EQ(result["slowest_gpu"], "GPU 1 of the node of q.csv");
  for (const json& suspect : result["suspects"]) {
    EXPECT_THAT(suspect["words"].get<std::string>(), Not(HasSubstr("card of q")));
  }
}

}  // namespace
}  // namespace headway::apps
