// Logs of a job with one thing wrong, made from its simulation with noise.
#pragma once

#include <cmath>
#include <fmt/format.h>
#include <string>
#include <vector>

#include "sim/core/random.h"
#include "sim/study/diagnose/cause.h"

namespace headway::study {

/// 128 GPUs whose network, stages and kernels all matter.
inline const char* planted_scenario() {
  return "headway: 1\n"
         "name: Planted\n"
         "cluster:\n"
         "  nodes: 16\n"
         "  node: {use: dgx-h100}\n"
         "  fabric: {use: fat-tree-2-tier}\n"
         "  storage: {use: lustre}\n"
         "model: {use: llama-3.1-8b}\n"
         "training: {sequence_length: 8192, global_batch: 256, framework: {use: megatron-core}}\n"
         "parallelism: {tensor: 2, pipeline: 2, data: auto}\n"
         "run:\n"
         "  until: {steps: 20000}\n"
         "  checkpoint: {interval: 30 min, mode: async}\n"
         "  prices: {use: h100-on-demand-2026-05}\n"
         "  trials: 5\n";
}

/// Noise of one set of logs: every figure has its own draw.
class Noise {
 public:
  explicit Noise(std::uint64_t seed) : stream_(seed, "noise") {}
  /// A factor around one.
  double operator()(double deviation) {
    return core::lognormal_from(stream_.uniform(next_++), 0, deviation);
  }

 private:
  core::RandomStream stream_;
  std::uint64_t next_ = 0;
};

/// What Megatron-LM prints of 150 steps: of each the time, which leaves saves out, with the timers
/// of saves between them; at the end other timers and memory.
/// The speed of all kernels is off by `model` (a factor), as a model of a machine is.
inline std::string megatron_log(const Imagined& job,
                                const Hypothesis& planted,
                                double model,
                                Noise& noise) {
  const Hypothesis* saves = part_of(planted, Cause::frequent_saves);
  const Hypothesis* pauses = part_of(planted, Cause::regular_pauses);
  std::string log;
  for (int i = 1; i <= 150; ++i) {
    double seconds = job.step.time.si() * model * noise(job.spread);
    if (pauses != nullptr && i % pauses->every == 0) {
      seconds += pauses->severity * job.step.time.si() * noise(0.1);
    }
    log += fmt::format(
        " [2026-10-01 10:00:00] iteration {:8d}/   20000 | consumed samples: {:12d} | elapsed time "
        "per iteration (ms): {:.1f} | learning rate: 3.000000E-04 |\n",
        i, i * 256, 1e3 * seconds);
    if (saves != nullptr && i % saves->every == 0) {
      const double stall = 1e3 * saves->severity * job.step.time.si() * noise(0.1);
      log += fmt::format(
          "(min, max) time across ranks (ms):\n    save-checkpoint ....: ({:.2f}, {:.2f})\n",
          0.99 * stall, stall);
    }
  }
  using core::Activity;
  const auto& b = job.step.breakdown;
  const auto line = [&](const char* name, double least, double most) {
    log += fmt::format("    {} ....................: ({:.2f}, {:.2f})\n", name, 1e3 * least,
                       1e3 * most);
  };
  const double input = (job.input.si() + 0.002) * noise(0.1);
  const auto pass = [&](const char* name, const training::OverRanks& over, double waits) {
    const double least = over.least.si() * model * noise(0.03);
    line(name, waits + least, waits + least * (over.most / over.least) * noise(0.01) * 1.01);
  };
  log += "(min, max) time across ranks (ms):\n";
  pass("forward-compute", job.step.forward, input);  // it times `batch-generator` too
  pass("backward-compute", job.step.backward, 0);
  line("batch-generator", input, input * 1.05);
  const double data = b[Activity::data].si() * noise(0.2);
  line("all-grads-sync", data * 0.9, data * 1.1);
  const double optimizer = b[Activity::optimizer].si() * noise(0.1);
  line("optimizer", optimizer, optimizer);
  log += fmt::format(
      "[Rank 0] (after 150 iterations) memory (MB) | allocated: 100.0 | max "
      "allocated: {:.1f} |\n",
      job.step.allocated.si() * noise(0.03) / 1048576);
  return log;
}

/// all_reduce_perf of sixteen GPUs on two named nodes, or of all on sixteen.
inline std::string nccl_log(const Laboratory& laboratory,
                            const Imagined& job,
                            const Hypothesis& planted,
                            const std::vector<std::string>& nodes,
                            double model,
                            Noise& noise) {
  const int ranks = static_cast<int>(nodes.size()) * 8;
  std::string log = "# Collective test starting: all_reduce_perf\n";
  for (int r = 0; r < ranks; ++r) {
    log += fmt::format("#  Rank {} Group 0 Pid {} on {} device {} [0000:19:00] NVIDIA H100\n", r,
                       1000 + r, nodes[static_cast<std::size_t>(r / 8)], r % 8);
  }
  for (const std::uint64_t size : {std::uint64_t{1} << 30, std::uint64_t{4} << 30}) {
    const MeasuredCall call{core::CollectiveKind::all_reduce, ranks, 8, {size}};
    const double bus =
        laboratory.bus_bandwidth(job, planted, call, nodes) * model * noise(0.02) / 1e9;
    const double algorithm = bus * ranks / (2.0 * (ranks - 1));
    log += fmt::format("{} {} float sum -1 {:.2f} {:.2f} {:.2f} 0 {:.2f} {:.2f} {:.2f} 0\n", size,
                       size / 4, static_cast<double>(size) / algorithm / 1e3, algorithm, bus,
                       static_cast<double>(size) / algorithm / 1e3, algorithm, bus);
  }
  return log;
}

/// nvidia-smi dmon on one node; `slow` if its clocks are those of the slow node.
inline std::string dmon_table(const Imagined& job, bool slow, Noise& noise) {
  std::string table =
      "# gpu    pwr  gtemp     sm   mclk   pclk\n# Idx      W      C      %    MHz    MHz\n";
  for (int sample = 0; sample < 5; ++sample) {
    for (int gpu = 0; gpu < 8; ++gpu) {
      table += fmt::format("    {} {:.0f} 60 99 2619 {:.0f}\n", gpu, job.power.si() * noise(0.05),
                           1700 * (slow ? job.clock_ratio : 1) * noise(0.005));
    }
  }
  return table;
}

/// The same six files whatever is wrong: a training log, nccl-tests on two pairs of nodes and on
/// all, dmon on two nodes.
inline std::vector<LogFile> planted_logs(const Laboratory& laboratory,
                                         const Hypothesis& planted,
                                         std::uint64_t seed) {
  const Imagined job = laboratory.imagine(planted);
  Noise noise(seed);
  const double kernels = noise(0.03);
  const double network = noise(0.1);
  std::vector<std::string> all;
  for (int n = 0; n < 16; ++n) {
    all.push_back(fmt::format("n{:02d}", n));
  }
  return {{"train.log", megatron_log(job, planted, kernels, noise)},
          {"pair-a.log", nccl_log(laboratory, job, planted, {"n00", "n01"}, network, noise)},
          {"pair-b.log", nccl_log(laboratory, job, planted, {"n02", "n03"}, network, noise)},
          {"all.log", nccl_log(laboratory, job, planted, all, network, noise)},
          {"n00.txt", dmon_table(job, true, noise)},
          {"n01.txt", dmon_table(job, false, noise)}};
}

}  // namespace headway::study
