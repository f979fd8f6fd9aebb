#include "calibrate/measure/host/options.h"

#include <cstdlib>
#include <gtest/gtest.h>
#include <vector>

namespace headway::measure {
namespace {

std::optional<BenchOptions> read(std::vector<const char*> arguments, int* exit_code = nullptr) {
  arguments.insert(arguments.begin(), "headway-calibrate");
  int code = 0;
  const auto options = read_options(static_cast<int>(arguments.size()), arguments.data(), code);
  if (exit_code != nullptr) {
    *exit_code = code;
  }
  return options;
}

TEST(CalibrateOptions, SamplesLieBesideTheProfile) {
  EXPECT_EQ(samples_path("my-node.yaml"), "my-node.csv");
  EXPECT_EQ(samples_path("runs.2026/node"), "runs.2026/node.csv");
  EXPECT_EQ(samples_path("runs.2026/node.h100.yaml"), "runs.2026/node.h100.csv");
}

TEST(CalibrateOptions, ReadsPartsWithCommas) {
  const auto options = read({"--out", "x.yaml", "--quick", "--only", "gemm,storage"});
  ASSERT_TRUE(options);
  EXPECT_TRUE(options->quick);
  EXPECT_EQ(options->only, (std::set<std::string>{"gemm", "storage"}));
}

TEST(CalibrateOptions, TheAllowanceIsAsAsked) {
  EXPECT_EQ(allowance_s(*read({"--out", "x.yaml"})), 870);
  EXPECT_EQ(allowance_s(*read({"--out", "x.yaml", "--quick"})), 165);
  EXPECT_EQ(allowance_s(*read({"--out", "x.yaml", "--quick", "--seconds", "40"})), 40);
}

TEST(CalibrateOptions, BadUsageIsExitCodeTwo) {
  int code = 0;
  EXPECT_FALSE(read({}, &code));
  EXPECT_EQ(code, 2);
  EXPECT_FALSE(read({"--out", "x.yaml", "--only", "gem"}, &code));
  EXPECT_EQ(code, 2);
  EXPECT_FALSE(read({"--out", "x.yaml", "--seconds", "2"}, &code));
  EXPECT_EQ(code, 2);
  EXPECT_FALSE(read({"--out", "x.yaml", "--rank", "2", "--ranks", "2"}, &code));
  EXPECT_EQ(code, 2);
}

/// Sets variables for the length of a test.
class WithEnvironment {
 public:
  explicit WithEnvironment(std::vector<std::pair<std::string, std::string>> variables)
      : variables_(std::move(variables)) {
    for (const auto& [name, value] : variables_) {
      setenv(name.c_str(), value.c_str(), 1);
    }
  }
  ~WithEnvironment() {
    for (const auto& [name, value] : variables_) {
      unsetenv(name.c_str());
    }
  }

 private:
  std::vector<std::pair<std::string, std::string>> variables_;
};

TEST(ProcessPlace, IsReadFromTheLauncher) {
  EXPECT_EQ(process_place(), (ProcessPlace{0, 1, 0, 1}));
  {
    const WithEnvironment open_mpi({{"OMPI_COMM_WORLD_RANK", "3"},
                                    {"OMPI_COMM_WORLD_SIZE", "16"},
                                    {"OMPI_COMM_WORLD_LOCAL_RANK", "3"},
                                    {"OMPI_COMM_WORLD_LOCAL_SIZE", "8"}});
    EXPECT_EQ(process_place(), (ProcessPlace{3, 16, 3, 8}));
    EXPECT_EQ(read({"--out", "x.yaml"})->device, 3);
  }
  const WithEnvironment slurm({{"SLURM_PROCID", "1"}, {"SLURM_STEP_NUM_TASKS", "2"}});
  EXPECT_EQ(process_place(), (ProcessPlace{1, 2, 0, 1}));
}

TEST(ProcessPlace, ABatchScriptIsNotALaunchedProcess) {
  const WithEnvironment batch({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "64"}});
  EXPECT_EQ(process_place(), (ProcessPlace{0, 1, 0, 1}));
}

}  // namespace
}  // namespace headway::measure
