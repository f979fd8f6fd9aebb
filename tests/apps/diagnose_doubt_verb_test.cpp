// headway diagnose where one witness speaks against the others.
#include <algorithm>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "tests/apps/program.h"

namespace headway::apps {
namespace {

using nlohmann::json;
using testing::HasSubstr;

/// Of this job a step takes 3.31 s.
constexpr const char* kDoubtJob = "job.yaml";
constexpr double kStepOfDoubtJob = 3.31;

class DiagnoseDoubtVerb : public ProgramTest {
 protected:
  DiagnoseDoubtVerb() {
    write(kDoubtJob,
          read_file(HEADWAY_SOURCE_DIR "/configs/scenarios/diagnose-llama-8b-64-h100.yaml"));
  }

  [[nodiscard]] json diagnosed(const std::string& files) {
    const auto outcome = run(fmt::format("diagnose {} {} --format json", kDoubtJob, files));
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return json::parse(outcome.out);
  }

  static std::string steps(double seconds, double memory_gb = 0) {
    std::string log;
    for (int i = 1; i <= 60; ++i) {
      log += fmt::format(" iteration {}/ 900 | elapsed time per iteration (ms): {:.1f} |\n", i,
                         1e3 * seconds * (1 + 0.003 * (i % 5 - 2)));
    }
    return memory_gb > 0 ? log + fmt::format(
                                     "[Rank 0] (after 60 iterations) memory (MB) | "
                                     "allocated: 100.0 | max allocated: {:.1f} |\n",
                                     memory_gb * 1e9 / 1048576)
                         : log;
  }

  static double probability_of(const json& result, const std::string& cause) {
    for (const json& suspect : result["suspects"]) {
      if (suspect["cause"] == cause && suspect["parts"].empty()) {
        return suspect["probability"].get<double>();
      }
    }
    return 0;
  }
};

// What a program counts as memory is no proof of a cause that the step's time speaks against.
TEST_F(DiagnoseDoubtVerb, MemoryAloneConvictsNothing) {
  write("train.log", steps(kStepOfDoubtJob, 1));
  double expected = 0;
  const json compared = diagnosed("train.log")["compared"];
  for (const json& row : compared) {
    expected = row["feature"] == "memory" ? row["expected"].get<double>() / 1e9 : expected;
  }
  for (const double times : {0.65, 1.25, 1.45}) {
    write("train.log", steps(kStepOfDoubtJob, times * expected));
    const json result = diagnosed("train.log");
    EXPECT_EQ(result["suspects"][0]["cause"], "none") << times << result["suspects"].dump(1);
    EXPECT_LT(probability_of(result, "eager_kernels") + probability_of(result, "recompute"),
              probability_of(result, "none"));
    EXPECT_THAT(result["limit"].get<std::string>(),
                HasSubstr("The step is as predicted, memory alone is off."));
  }
  // Where both agree it still tells eager kernels from a cap of power.
  double step = 0;
  const json suspects = diagnosed("train.log")["suspects"];
  for (const json& suspect : suspects) {
    step = suspect["cause"] == "eager_kernels" ? suspect["step_s"].get<double>() : step;
  }
  const auto power = [&] { return probability_of(diagnosed("train.log"), "power_cap"); };
  write("train.log", steps(step));
  const double without = power();
  write("train.log", steps(step, 1.3 * expected));
  EXPECT_LT(power(), 0.7 * without);
}

// No cause explains more of a step than it is longer.
TEST_F(DiagnoseDoubtVerb, MendingSavesNoMoreThanTheStepHasAboveTheSoundOne) {
  double healthy = 0;
  write("train.log", steps(kStepOfDoubtJob));
  const json suspects = diagnosed("train.log")["suspects"];
  for (const json& suspect : suspects) {
    healthy = suspect["cause"] == "none" ? suspect["step_s"].get<double>() : healthy;
  }
  for (const double times : {0.97, 1.02, 1.2, 1.5}) {
    write("train.log", steps(times * healthy));
    const double most = std::max(0.0, 1 - 1 / times);
    double largest = 0;
    const json suspects = diagnosed("train.log")["suspects"];
    for (const json& suspect : suspects) {
      const double share = suspect["mending"]["share"];
      EXPECT_LE(share, most + 2e-3) << times << suspect.dump(1);
      largest = std::max(largest, share);
      // Less where the cause explains less: of the measured step what it is simulated to add.
      const double adds =
          suspect["step_s"].is_null() ? 0 : suspect["step_s"].get<double>() / healthy - 1;
      EXPECT_NEAR(share, std::min(most, std::max(0.0, adds) / times), 2e-3) << suspect.dump(1);
    }
    EXPECT_NEAR(largest, most, 2e-3) << times;
  }
}

// A node whose clock is at three quarters cannot leave the step as it should be.
TEST_F(DiagnoseDoubtVerb, FilesThatContradictEachOtherAreTold) {
  const auto table = [](int slow) {
    std::string text = "# Entity  POWER  SMCLK\n";
    for (int gpu = 0; gpu < 8; ++gpu) {
      text += fmt::format("GPU {}   640.0  {}\n", gpu, gpu == 5 ? slow : 1755);
    }
    return text;
  };
  write("train.log", steps(kStepOfDoubtJob));
  write("dcgm.csv", table(1300));
  const json result = diagnosed("dcgm.csv train.log");
  EXPECT_THAT(
      result["findings"].dump(),
      HasSubstr("dcgm.csv and train.log contradict each other: GPU 5 of the node of dcgm.csv "
                "at 74.1 % of the others' clock would make a step of "));
  EXPECT_THAT(result["limit"].get<std::string>(), HasSubstr("contradict each other"));
  EXPECT_LT(probability_of(result, "slow_node"), 0.3) << result["suspects"].dump(1);
  // A step as long as that clock makes it does not, and the suspect is named.
  write("train.log", steps(kStepOfDoubtJob / 0.741));
  const json agreed = diagnosed("dcgm.csv train.log");
  EXPECT_TRUE(agreed["findings"].empty()) << agreed["findings"].dump(1);
  EXPECT_EQ(agreed["suspects"][0]["cause"], "slow_node");
  EXPECT_THAT(agreed["suspects"][0]["words"].get<std::string>(),
              HasSubstr("one node (lowest clock: GPU 5 of the node of dcgm.csv) computes at 7"));
  write("dcgm.csv", table(1750));
  EXPECT_TRUE(diagnosed("dcgm.csv train.log")["findings"].empty());
}

}  // namespace
}  // namespace headway::apps
