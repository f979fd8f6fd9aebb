// headway diagnose and expect refuse, or tell of, what was measured on another machine or job.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "tests/apps/program.h"

namespace headway::apps {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class DiagnoseOtherJob : public ProgramTest {
 protected:
  static constexpr const char* kJob = "job.yaml";

  DiagnoseOtherJob() {
    write(kJob, read_file(HEADWAY_SOURCE_DIR "/configs/scenarios/diagnose-llama-8b-64-h100.yaml"));
  }

  [[nodiscard]] Outcome diagnose(const std::string& files) {
    return run(fmt::format("diagnose {} {}", kJob, files));
  }

  /// Megatron-LM's lines of steps of 3.3 s.
  static std::string megatron(double tflops) {
    std::string log;
    for (int i = 1; i <= 20; ++i) {
      log += fmt::format(
          " iteration {}/ 90 | elapsed time per iteration (ms): {:.1f} | throughput per GPU "
          "(TFLOP/s/GPU): {:.1f} | global batch size: 256 |\n",
          i, 3300.0 + i % 5, tflops);
    }
    return log;
  }

  static std::string monitor(const char* name) {
    std::string table = "name, index, power.draw [W], clocks.current.sm [MHz]\n";
    for (int gpu = 0; gpu < 8; ++gpu) {
      table += fmt::format("{}, {}, 650.0 W, 1700 MHz\n", name, gpu);
    }
    return table;
  }

  static std::string nccl_tests(const char* device) {
    std::string log = "# Collective test starting: all_reduce_perf\n";
    for (int rank = 0; rank < 8; ++rank) {
      log +=
          fmt::format("#  Rank {} Group 0 Pid 1 on n0 device {} [0x00] {}\n", rank, rank, device);
    }
    return log + "1073741824 268435456 float sum -1 4000 268 470 0\n";
  }
};

TEST_F(DiagnoseOtherJob, RefusesAMonitorOfOtherGpus) {
  write("a.csv", monitor("NVIDIA A100-SXM4-80GB"));
  const auto other = diagnose("a.csv");
  EXPECT_EQ(other.code, 2);
  EXPECT_THAT(other.err, HasSubstr("a.csv:2:1: its GPUs are 'NVIDIA A100-SXM4-80GB', the scenario "
                                   "has H100 80 GB SXM"));
  // The board is another; what cannot be told from this one's name, or is no name, passes.
  write("pcie.csv", monitor("NVIDIA H100 PCIe"));
  EXPECT_EQ(diagnose("pcie.csv").code, 2);
  for (const char* same : {"NVIDIA H100 80GB HBM3", "NVIDIA H100", "NVIDIA PG509-210", "[N/A]"}) {
    write("same.csv", monitor(same));
    const auto outcome = diagnose("same.csv");
    EXPECT_EQ(outcome.code, 0) << same << outcome.err;
  }
}

TEST_F(DiagnoseOtherJob, RefusesCollectivesOfOtherGpus) {
  write("a.log", nccl_tests("NVIDIA A100-SXM4-80GB"));
  const std::string what = "a.log:9:1: its GPUs are 'NVIDIA A100-SXM4-80GB', the scenario has H100";
  EXPECT_THAT(diagnose("a.log").err, HasSubstr(what));
  const auto held = run(fmt::format("expect {} --against a.log", kJob));
  EXPECT_EQ(held.code, 2);
  EXPECT_THAT(held.err, HasSubstr(what));
  write("h.log", nccl_tests("NVIDIA H100 80GB HBM3"));
  EXPECT_EQ(diagnose("h.log").code, 0);
}

TEST_F(DiagnoseOtherJob, RefusesStepsOfOtherGpus) {
  std::string log = "[titan] CUDA capacity: NVIDIA H200 with 139.80GiB memory\n";
  for (int i = 1; i <= 20; ++i) {
    log += fmt::format("[titan] step: {} loss: 8.1 memory: 45.00GiB(50%) tps: 9,900 mfu: 40%\n", i);
  }
  write("t.log", log);
  EXPECT_THAT(diagnose("t.log").err, HasSubstr("t.log:1:1: its GPUs are 'NVIDIA H200', the"));
}

// Llama 3.1 8B has 8.0e9 parameters: 6 N = 48 GFLOP a token, 42 without embeddings, and attention
// of 8,192 tokens 12 x 32 x 4096 x 8192 = 12.9, or half of it. A step of 3.3 s has
// 256 x 8192 / 64 / 3.3 = 9,930 tokens a second and GPU.
TEST_F(DiagnoseOtherJob, TellsOfOtherOperationsAToken) {
  const auto remarks = [&](double gigaflop) {
    write("a.log", megatron(gigaflop * 9.93));
    return run(fmt::format("diagnose {} a.log --format json", kJob));
  };
  const std::string what = "which no way of counting explains";
  for (const double counted : {42.0, 48.0, 54.6, 61.0}) {
    const auto outcome = remarks(counted);
    EXPECT_THAT(json::parse(outcome.out)["remarks"].dump(), Not(HasSubstr(what))) << counted;
  }
  for (const double counted : {30.0, 92.0}) {
    EXPECT_THAT(json::parse(remarks(counted).out)["remarks"].dump(), HasSubstr(what)) << counted;
  }
  // With recomputation the hardware's operations count: four thirds.
  write("a.log", megatron(80 * 9.93));
  const auto again =
      run(fmt::format("diagnose {} a.log --set parallelism.recompute=full --format json", kJob));
  EXPECT_THAT(json::parse(again.out)["remarks"].dump(), Not(HasSubstr(what))) << again.err;
}

TEST_F(DiagnoseOtherJob, TellsOfAnotherProgram) {
  write("m.log", megatron(480));
  EXPECT_THAT(diagnose("m.log").out, Not(HasSubstr("its lines are those of")));
  std::string log;
  for (int i = 1; i <= 20; ++i) {
    log += fmt::format("completed step: {}, seconds: 3.31, Tokens/s/device: 9900.0\n", i);
  }
  write("x.log", log);
  EXPECT_THAT(diagnose("x.log").out, HasSubstr("x.log: its lines are those of MaxText"));
}

// dcgmi dmon calls a GPU "GPU 0".
TEST_F(DiagnoseOtherJob, NamesTheSlowestGpuOnce) {
  write("node3.csv",
        "#Entity POWER SMCLK\nID W MHz\nGPU 0 650 1500\nGPU 1 651 1705\nGPU 2 652 1705\n");
  EXPECT_THAT(diagnose("node3.csv").out, HasSubstr("is that of node3 GPU 0."));
}

}  // namespace
}  // namespace headway::apps
