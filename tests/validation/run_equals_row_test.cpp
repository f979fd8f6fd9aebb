// A scenario that says what a published row says gives the row's prediction: 'validate' knows
// nothing that 'run' cannot be told by catalogue entries.
#include <array>
#include <gtest/gtest.h>

#include "sim/config/load.h"
#include "sim/training/step/step.h"

#include "tests/validation/published_rows.h"

namespace headway::validation {
namespace {

double tokens_of_row(const Cells& changes) {
  const RunPrediction p = predict_runs(table_of({with(changes)}), catalogue()).front();
  EXPECT_TRUE(p.predicted.has_value()) << p.status;
  return p.predicted.value_or(0);
}

/// @param cluster, model, training, parallelism  bodies of the scenario's mappings
double tokens_of_scenario(const std::string& cluster,
                          const std::string& model,
                          const std::string& training,
                          const std::string& parallelism,
                          const std::string& calibration) {
  const std::string text = "headway: 1\nname: x\ncluster: {" + cluster +
                           ", storage: {use: lustre}}\nmodel: {" + model + "}\ntraining: {" +
                           training + "}\nparallelism: {" + parallelism +
                           "}\ncalibration: {use: " + calibration + "}\n";
  config::LoadOptions options;
  options.roots = {HEADWAY_SOURCE_DIR "/configs"};
  const auto loaded = config::load_scenario_text(text, "row.yaml", options);
  return training::simulate_step(training::check(loaded.scenario, loaded.marks))
      .tokens_per_s_per_gpu;
}

constexpr const char* kRails =
    "fabric: {name: rails, topology: rail_optimized, link_bandwidth: 400 Gbps}";
constexpr const char* kMixture =
    "name: mixture, layers: 8, hidden: 4096, heads: 32, key_value_heads: 8, head_dim: 128, ffn: 0, "
    "gated_mlp: true, vocabulary: 128256, moe: {experts: 8, top_k: 2, ffn: 14336}";

/// The stated run with experts in every layer.
Cells mixture(const Cells& more) {
  Cells cells{{"arch", "moe"},     {"n_experts", "8"}, {"top_k", "2"}, {"n_dense_layers", "0"},
              {"tp", "1"},         {"pp", "1"},        {"ep", "8"},    {"sequence_parallel", "no"},
              {"vocab", "128256"}, {"dp", "16"}};
  for (const auto& [column, text] : more) {
    cells[column] = text;
  }
  return cells;
}

TEST(RunEqualsRow, OfADenseModel) {
  const double run = tokens_of_scenario(
      std::string("nodes: 2, node: {use: dgx-h100}, ") + kRails,
      "name: x, layers: 8, hidden: 4096, heads: 32, key_value_heads: 8, head_dim: 128, ffn: 14336, "
      "gated_mlp: true, vocabulary: 128256",
      "sequence_length: 4096, global_batch: 32, precision: bf16, framework: {use: "
      "megatron-core-2024}",
      "tensor: 2, sequence: true, pipeline: 2, sharding: zero1", "nccl-h100-sxm");
  EXPECT_DOUBLE_EQ(run, tokens_of_row({}));
}

TEST(RunEqualsRow, OfADenseModelWithShardedWeights) {
  const double run = tokens_of_scenario(
      "nodes: 2, node: {use: dgx-a100}, fabric: {name: rails, topology: rail_optimized, "
      "link_bandwidth: 200 Gbps}",
      "name: x, layers: 8, hidden: 4096, heads: 32, key_value_heads: 8, head_dim: 128, ffn: 14336, "
      "gated_mlp: true, vocabulary: 128256",
      "sequence_length: 4096, global_batch: 32, precision: bf16, framework: {use: pytorch-fsdp}",
      "sequence: false, sharding: zero3, recompute: full, micro_batch: 2", "nccl-a100-sxm");
  EXPECT_DOUBLE_EQ(run, tokens_of_row({{"gpu", "A100-80G-SXM"},
                                       {"nic_gbps", "200"},
                                       {"era", "pytorch-fsdp"},
                                       {"tp", "1"},
                                       {"pp", "1"},
                                       {"dp", "16"},
                                       {"micro_batch", "2"},
                                       {"sharding", "fsdp"},
                                       {"recompute", "full"}}));
}

TEST(RunEqualsRow, OfMixturesOfEachProfile) {
  for (const auto& [release, profile, curves] :
       {std::array{"v24.11", "nemo-1-2024", "nccl-h100-sxm"},
        std::array{"v25.05", "nemo-2024", "nccl-h100-sxm"},
        std::array{"26.04", "megatron-bridge-2025", "deepep-h100-sxm"}}) {
    const double run = tokens_of_scenario(
        std::string("nodes: 2, node: {use: dgx-h100}, ") + kRails, kMixture,
        std::string("sequence_length: 4096, global_batch: 32, precision: bf16, framework: {use: ") +
            profile + "}",
        "sequence: false, expert: 8, sharding: zero1", curves);
    EXPECT_DOUBLE_EQ(run, tokens_of_row(mixture({{"release", release}}))) << profile;
  }
}

TEST(RunEqualsRow, OfAMixtureInARack) {
  const double run = tokens_of_scenario(
      std::string("nodes: 18, node: {use: nvl72-gb200}, ") + kRails, kMixture,
      "sequence_length: 4096, global_batch: 144, precision: bf16, framework: {use: "
      "megatron-bridge-2026-nvl72}",
      "sequence: false, expert: 8, sharding: zero1", "nccl-gb200");
  EXPECT_DOUBLE_EQ(run, tokens_of_row(mixture({{"release", "26.06"},
                                               {"gpu", "GB200"},
                                               {"n_gpus", "72"},
                                               {"dp", "72"},
                                               {"gpus_per_node", "4"},
                                               {"nics_per_node", "4"},
                                               {"nvlink_domain", "72"},
                                               {"global_batch", "144"}})));
}

}  // namespace
}  // namespace headway::validation
