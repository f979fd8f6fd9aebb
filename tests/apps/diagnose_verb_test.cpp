// headway diagnose from the outside: logs of a job whose step time the program itself predicts.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "tests/apps/program.h"

namespace headway::apps {
namespace {

using nlohmann::json;
using testing::HasSubstr;

/// Of a step and GPU: 32 sequences of 4,096 on 16 GPUs.
constexpr double kTokens = 8192;

class DiagnoseVerb : public ProgramTest {
 protected:
  /// The healthy step of s.yaml [s].
  double write_job() {
    write_small("s.yaml",
                "run: {until: {steps: 10000}, checkpoint: {interval: 1 h, mode: sync},\n"
                "      prices: {use: h100-on-demand-2026-05}, trials: 2}\n");
    return json::parse(run("run s.yaml --format json").out)["step"]["time_s"];
  }

  /// MaxText's line of each step; every `pause`-th takes `seconds` more, for a save that it says.
  static std::string maxtext(double step, int pause = 0, double seconds = 0) {
    std::string log;
    for (int i = 1; i <= 120; ++i) {
      const double scatter = 1 + 0.004 * (i % 5 - 2);
      const double more = pause > 0 && i % pause == 0 ? seconds : 0;
      log += more > 0 ? fmt::format("Saved a checkpoint at step {}\n", i) : "";
      log += fmt::format(
          "completed step: {}, seconds: {:.4f}, TFLOP/s/device: 400.0, Tokens/s/device: {:.1f}, "
          "total_weights: 131072, loss: 9.1\n",
          i, step * scatter + more, kTokens / (step * scatter + more));
    }
    return log;
  }
};

// torchtitan prints what its allocator holds: a sound job prints what is predicted of that.
TEST_F(DiagnoseVerb, HoldsReservedMemoryBesideReserved) {
  const double step = write_job();
  const json memory = json::parse(run("run s.yaml --format json").out)["memory"];
  const double reserved = memory["reserved_bytes"];
  ASSERT_GT(reserved, 1.01 * memory["allocated_bytes"].get<double>());
  std::string log;
  for (int i = 1; i <= 20; ++i) {
    log += fmt::format("[titan] step: {} loss: 8.1 memory: {:.2f}GiB(50%) tps: {:.0f} mfu: 40%\n",
                       i, reserved / (1 << 30), kTokens / step);
  }
  write("titan.log", log);
  const json result = json::parse(run("diagnose s.yaml titan.log --format json").out);
  for (const json& row : result["compared"]) {
    if (row["feature"] == "reserved_memory") {
      EXPECT_NEAR(row["expected"].get<double>() / reserved, 1, 0.001);
      return;
    }
  }
  ADD_FAILURE() << "no memory is compared";
}

TEST_F(DiagnoseVerb, FindsASaveEveryTenSteps) {
  const double step = write_job();
  const json stall = json::parse(run("expect s.yaml --format json").out);
  double save = 0;
  for (const auto& threshold : stall["thresholds"]) {
    save = threshold["measure"] == "save_stall" ? threshold["expected"].get<double>() : save;
  }
  write("train.log", maxtext(step, 10, save));
  const auto outcome = run("diagnose s.yaml train.log --format json");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const json result = json::parse(outcome.out);
  EXPECT_EQ(result["schema"], "headway.diagnose/1");
  const json& first = result["suspects"][0];
  EXPECT_EQ(first["cause"], "frequent_saves") << result.dump(1);
  EXPECT_THAT(first["words"].get<std::string>(), HasSubstr("a save every 10 steps"));
  EXPECT_GT(first["probability"].get<double>(), 0.9);
  EXPECT_GT(first["mending"]["usd"].get<double>(), 0);
}

// Saves that nothing times are as long as the log's pauses: with n steps of t between them, those
// of s seconds are s / (n t + s) of the time, which mending saves.
TEST_F(DiagnoseVerb, FindsSavesOfAnyLength) {
  const double step = write_job();
  for (const auto& [every, steps] : {std::pair{10, 2.0}, {20, 9.0}, {25, 20.0}}) {
    write("train.log", maxtext(step, every, steps * step));
    const json result = json::parse(run("diagnose s.yaml train.log --format json").out);
    const json& first = result["suspects"][0];
    EXPECT_EQ(first["cause"], "frequent_saves") << result.dump(1);
    EXPECT_GT(first["probability"].get<double>(), 0.9);
    EXPECT_NEAR(first["mending"]["share"].get<double>(), steps / (every + steps), 0.005);
  }
}

TEST_F(DiagnoseVerb, FindsRanksThatWaitForTheirData) {
  const double step = write_job();
  std::string log;
  for (int i = 1; i <= 60; ++i) {
    log += fmt::format(
        " [2026-10-01 10:00:00] iteration {}/ 10000 | elapsed time per iteration (ms): {:.1f} |\n",
        i, 1e3 * step * 1.3 * (1 + 0.003 * (i % 3)));
  }
  log += fmt::format(
      "(min, max) time across ranks (ms):\n    batch-generator ......: ({:.1f}, {:.1f})\n",
      1e3 * 0.29 * step, 1e3 * 0.31 * step);
  write("train.log", log);
  const auto outcome = run("diagnose s.yaml train.log");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("OUTSIDE"));
  EXPECT_THAT(outcome.out, testing::ContainsRegex("Suspects\n.*\n.*\n  data_starvation "));
  // The second is what is not listed: what is to be measured tells the first from the third.
  EXPECT_THAT(outcome.out, HasSubstr("To tell the nearest that are listed from each other and "));
}

TEST_F(DiagnoseVerb, OfASoundJobNothingIsWrong) {
  write("train.log", maxtext(write_job()));
  const auto outcome = run("diagnose s.yaml train.log --format csv");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, testing::StartsWith("cause,probability,words,"));
  EXPECT_THAT(outcome.out, HasSubstr("\nnone,"));
  EXPECT_THAT(run("diagnose s.yaml train.log").out, HasSubstr("0 of 4 figures are outside"));
}

// A job exactly as predicted, whose log rounds its figures or hardly scatters, is within all
// intervals.
TEST_F(DiagnoseVerb, AConstantLogIsWithin) {
  const double step = write_job();
  std::string log;
  for (int i = 1; i <= 120; ++i) {
    log += fmt::format("completed step: {}, seconds: {:.2f}, Tokens/s/device: {:.1f}\n", i, step,
                       kTokens / step);
  }
  write("train.log", log);
  const auto outcome = run("diagnose s.yaml train.log");
  EXPECT_THAT(outcome.out, HasSubstr("0 of 4 figures are outside"));
  EXPECT_THAT(outcome.out, Not(HasSubstr("OUTSIDE")));
  EXPECT_THAT(outcome.out, HasSubstr("no cause is likelier than"));
}

TEST_F(DiagnoseVerb, ReadsDetailsOfGoodput) {
  const double step = write_job();
  write("goodput.json", fmt::format(R"({{"goodput_time": {{"TOTAL": {}}}, "badput_time": {{
            "UNPRODUCTIVE_CHECKPOINT_SAVE_TIME": {}, "DATA_LOADING_SYNC": {}}},
            "max_productive_step": 1000, "total_elapsed_time": {}, "ideal_step_time": {}}})",
                                    1000 * step, 120 * step, 1, 1300 * step, step));
  const auto outcome = run("diagnose s.yaml goodput.json --format json");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const json result = json::parse(outcome.out);
  EXPECT_EQ(result["suspects"][0]["cause"], "frequent_saves") << result.dump(1);
  EXPECT_THAT(result["remarks"].dump(), HasSubstr("neither of steps nor of saves and input"));
  write("bad.json", R"({"goodput_time": 1, "badput_time": {}, "total_elapsed_time": 1})");
  const auto refused = run("diagnose s.yaml bad.json");
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err, HasSubstr("'goodput_time' is no object of times"));
}

TEST_F(DiagnoseVerb, WrongDataAreSaidFirstAndLast) {
  const double step = write_job();
  write("train.log", maxtext(step));
  write("bad.log",
        "# Collective test starting: all_reduce_perf\n"
        "# Rank 0 Group 0 Pid 1 on n0 device 0 [0x00] NVIDIA H100\n"
        "# Rank 1 Group 0 Pid 2 on n0 device 1 [0x00] NVIDIA H100\n"
        "1073741824 268435456 float sum -1 3000 357.91 357.91 7\n"
        "# Out of bounds values : 7 FAILED\n");
  const auto outcome = run("diagnose s.yaml train.log bad.log");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const std::string what =
      "WRONG DATA: bad.log: 1 of 1 sizes have wrong values, 7 out of bounds, on n0";
  EXPECT_LT(outcome.out.find(what), outcome.out.find("Suspects"));
  EXPECT_THAT(outcome.err, HasSubstr(what));
  EXPECT_THAT(outcome.out, HasSubstr("WRONG DATA: mend that first, whatever the step takes."));
  const json result = json::parse(run("diagnose s.yaml train.log bad.log --format json").out);
  EXPECT_EQ(result["wrong_data"].size(), 1U);
  const auto alone = run("diagnose s.yaml bad.log");
  EXPECT_EQ(alone.code, 2);
  EXPECT_THAT(alone.err, HasSubstr("WRONG DATA (bad.log: "));
}

TEST_F(DiagnoseVerb, AJobThatIsFasterIsAnother) {
  write("train.log", maxtext(write_job() / 3));
  EXPECT_THAT(run("diagnose s.yaml train.log").out,
              HasSubstr("its steps are faster than the scenario allows"));
}

// Twice the sequences in twice the time is no slow job but another one.
TEST_F(DiagnoseVerb, ALogOfAnotherBatchIsNoSlowJob) {
  const double step = write_job();
  std::string log;
  for (int i = 1; i <= 20; ++i) {
    log += fmt::format(
        " iteration {}/ 90 | elapsed time per iteration (ms): {:.1f} | global batch size: 64 |\n",
        i, 2e3 * step);
  }
  write("train.log", log);
  for (const char* arguments : {"diagnose s.yaml train.log", "expect s.yaml --against train.log"}) {
    const auto outcome = run(arguments);
    EXPECT_EQ(outcome.code, 2);
    EXPECT_THAT(
        outcome.err,
        HasSubstr("train.log:20:1: the log says 64 sequences in a step, the scenario has 32"));
  }
}

TEST_F(DiagnoseVerb, RefusesOtherFilesByName) {
  write_job();
  write("notes.txt", "slow since Tuesday\n");
  const auto outcome = run("diagnose s.yaml notes.txt");
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, HasSubstr("notes.txt: is no log of a training program"));
  write("bad.log", "completed step: 1, seconds: x, Tokens/s/device: 1\n");
  EXPECT_THAT(run("diagnose s.yaml bad.log").err, HasSubstr("bad.log:1:"));
  for (const char* text : {"{'loss': 2.97, 'epoch': 0.02}\n", "{\"log_history\": []}"}) {
    write("hf.log", text);
    EXPECT_THAT(run("diagnose s.yaml hf.log").err,
                HasSubstr("hf.log: Hugging Face's Trainer says no time of a step"));
  }
}

// One measurement is one piece of evidence, whatever its files are called.
TEST_F(DiagnoseVerb, OneLogTwiceIsRefused) {
  const double step = write_job();
  write("a.log", maxtext(step));
  write("b.log", maxtext(step));
  const auto outcome = run("diagnose s.yaml a.log b.log");
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("b.log: the same text as a.log, which would count twice"));
}

// A progress bar that is cut in the middle of a character does not make a log unreadable.
TEST_F(DiagnoseVerb, BrokenBytesOfALogArePassedOver) {
  const double step = write_job();
  write("a.log", maxtext(step));
  const auto whole = run("diagnose s.yaml a.log --format json");
  write("a.log", "50%|\xe2\x96" + maxtext(step) + "\x96\n");
  EXPECT_EQ(run("diagnose s.yaml a.log --format json").out, whole.out);
  // A mark stands for the byte, so that what is around it does not become one word.
  write("a.log",
        "completed st\xff"
        "ep: 1, seconds: 999.0, TFLOP/s/device: 4.0, Tokens/s/device: 1.0, "
        "total_weights: 131072, loss: 9.1\n" +
            maxtext(step));
  EXPECT_EQ(run("diagnose s.yaml a.log --format json").out, whole.out);
  write("b.log",
        "\xff\xfe"
        "s t");
  EXPECT_THAT(run("diagnose s.yaml b.log").err, HasSubstr("iconv -f UTF-16 -t UTF-8"));
}

// Steps that come again after a restart are saved again: the saves are no closer for it.
TEST_F(DiagnoseVerb, StepsAfterARestartDoNotHalveTheWayBetweenSaves) {
  const double step = write_job();
  const auto run_of = [&](int from, int to) {
    std::string log;
    for (int i = from; i <= to; i += 10) {
      log += fmt::format(" iteration {}/ 3000 | elapsed time per iteration (ms): {:.1f} |\n", i,
                         1e3 * step * (1 + 0.002 * (i % 3)));
      if (i % 500 == 0) {
        log +=
            "(min, max) time across ranks (ms):\n    save-checkpoint ......: (41234.12, "
            "41236.80)\n";
      }
    }
    return log;
  };
  write("whole.log", run_of(10, 1500));
  write("again.log", run_of(10, 890) + run_of(410, 1500));
  const auto saves = [&](const std::string& log) {
    const auto said = run("diagnose s.yaml " + log).out;
    const auto at = said.find("a save every ");
    return at == std::string::npos ? "" : said.substr(at, 22);
  };
  EXPECT_EQ(saves("again.log"), saves("whole.log"));
  EXPECT_THAT(saves("whole.log"), HasSubstr("every 500"));
}

}  // namespace
}  // namespace headway::apps
