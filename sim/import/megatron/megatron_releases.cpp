// Which releases of megatron-core take what is written: settings that are younger than 0.14, and
// what older ones refused. Source: NVIDIA/Megatron-LM, megatron/training/arguments.py and
// megatron/core/model_parallel_config.py of core_v0.14.0 to core_v0.19.0.
#include <algorithm>

#include "sim/import/megatron/megatron_rows.h"

namespace headway::import {

namespace {

/// The minor number of the first release, 0.N, that has an argument.
struct Younger {
  std::string_view key;
  int since;
};

constexpr Younger kYounger[]{
    {"fp4-format", 15},
    {"window-size", 15},
    {"cpu-offloading-num-layers", 16},
    {"attention-output-gate", 16},
    {"experimental-attention-variant", 16},
    {"moe-latent-size", 16},
    {"muon-tp-mode", 16},
    {"hybrid-layer-pattern", 18},  // 0.17, and the module of --spec
    {"dsa-indexer-topk-freq", 19},
    {"dsa-indexer-skip-topk-offset", 19},
};

/// A run that older releases refuse.
struct Refused {
  std::string_view what;
  int since;
  bool (*is)(const LaunchRun&);
};

bool has_expert_ranks(const LaunchRun& run) { return run.model.moe && run.parallelism.expert > 1; }

constexpr Refused kRefused[]{
    {"--fp16 with expert ranks", 16,
     [](const LaunchRun& run) {
       return run.training.precision == core::Precision::fp16 && has_expert_ranks(run);
     }},
    {"--moe-grouped-gemm without --bf16", 16,
     [](const LaunchRun& run) {
       const core::Precision precision = run.training.precision;
       return run.model.moe &&
              (precision == core::Precision::fp16 || precision == core::Precision::fp32 ||
               precision == core::Precision::tf32);
     }},
    {"--optimizer muon, with or without --use-distributed-optimizer", 18,
     [](const LaunchRun& run) {
       return run.training.optimizer_state == workload::OptimizerState::muon;
     }},
    {"expert and tensor ranks without --sequence-parallel", 15,
     [](const LaunchRun& run) {
       return has_expert_ranks(run) && run.parallelism.tensor > 1 && !run.parallelism.sequence;
     }},
};

}  // namespace

std::vector<std::string> megatron_remarks(const LaunchRun& run,
                                          const std::vector<LaunchLine>& lines) {
  std::vector<std::string> out;
  const auto needs = [&out](std::string_view what, int since) {
    out.push_back(fmt::format("{} needs megatron-core 0.{} or later", what, since));
  };
  for (const auto& [key, since] : kYounger) {
    if (std::ranges::find(lines, key, &LaunchLine::key) != lines.end()) {
      needs(fmt::format("--{}", key), since);
    }
  }
  for (const auto& [what, since, is] : kRefused) {
    if (is(run)) {
      needs(what, since);
    }
  }
  return out;
}

}  // namespace headway::import
