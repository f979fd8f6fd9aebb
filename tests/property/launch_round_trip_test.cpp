// A run that is written as the file of a framework is read again as the same run.
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>

#include "sim/config/launch/launch_scenario.h"

#include "tests/property/flow_random_problem.h"

namespace headway::testing {
namespace {

namespace fs = std::filesystem;
using import::LaunchRun;

const fs::path kConfigs = fs::path(HEADWAY_SOURCE_DIR) / "configs";

/// Runs as Megatron-LM can start them.
class RandomRun {
 public:
  explicit RandomRun(std::uint64_t seed) : draw_(seed) {}

  LaunchRun build() {
    layout();
    model();
    recipe();
    recompute();
    run_.parallelism.data = 1 << draw_.below(5);
    const auto& p = run_.parallelism;
    run_.gpus_per_node = p.tensor;
    run_.gpus = std::int64_t{p.tensor} * p.context * p.pipeline * *p.data.value;
    run_.training.global_batch =
        static_cast<int>(*p.data.value * p.micro_batch * (1 + draw_.below(9)));
    if (draw_.chance(50)) {
      run_.steps = 1 + draw_.below(1'000'000);
    }
    return import::normalised(run_);
  }

 private:
  template <class T>
  T one_of(std::initializer_list<T> list) {
    return *(list.begin() + draw_.below(static_cast<std::uint32_t>(list.size())));
  }
  void layout() {
    workload::ParallelismSpec& p = run_.parallelism;
    p.tensor = 1 << draw_.below(4);
    p.pipeline = 1 << draw_.below(4);
    p.virtual_stages = p.pipeline > 1 ? 1 << draw_.below(3) : 1;
    p.context = 1 << draw_.below(3);
    p.context_kind = one_of({workload::ContextKind::ring, workload::ContextKind::all_gather,
                             workload::ContextKind::all_to_all});
    p.sequence = draw_.chance(70);
    p.micro_batch = static_cast<int>(1 + draw_.below(4));
    p.sharding = one_of({workload::Sharding::zero0, workload::Sharding::zero1,
                         workload::Sharding::zero2, workload::Sharding::zero3});
    p.reshard = p.sharding != workload::Sharding::zero3 || draw_.chance(70);
    p.rank_order = one_of({workload::RankOrder::data_first, workload::RankOrder::pipeline_first});
    p.offload =
        one_of({workload::Offload::none, workload::Offload::none, workload::Offload::optimizer});
  }
  void model() {
    workload::ModelSpec& m = run_.model;
    const auto& p = run_.parallelism;
    m.layers = static_cast<int>(p.pipeline * p.virtual_stages * (2 + draw_.below(6)));
    m.heads = static_cast<int>(p.tensor * 4 * (1 + draw_.below(4)));
    m.key_value_heads = draw_.chance(50) ? m.heads : m.heads / 4;
    m.head_dim = one_of({64, 128, 96});
    m.hidden = static_cast<int>(128 * (1 + draw_.below(60)));
    m.ffn = static_cast<int>(64 * p.tensor * (1 + draw_.below(200)));
    m.vocabulary = static_cast<int>(p.tensor * one_of({128, 64, 16, 1}) * (500 + draw_.below(500)));
    m.gated_mlp = draw_.chance(50);
    m.biases = draw_.chance(50);
    m.dropout = draw_.chance(50);
    m.tied_embeddings = draw_.chance(50);
    m.query_key_norm = draw_.chance(20);
    m.learned_positions = draw_.chance(30) ? 4096 : 0;
    m.rotary = draw_.chance(80);
    m.window = draw_.chance(20) ? 1024 : 0;
    m.window_period = m.window > 0 ? 1 + static_cast<int>(draw_.below(6)) : 1;
    if (draw_.chance(40)) {
      experts();
    }
  }
  void experts() {
    workload::ModelSpec& m = run_.model;
    auto& moe = m.moe.emplace();
    moe.experts = 8 << draw_.below(5);
    moe.top_k = static_cast<int>(1 + draw_.below(8));
    moe.ffn = static_cast<int>(64 * (1 + draw_.below(64)));
    moe.shared_experts = static_cast<int>(draw_.below(3));
    moe.leading_dense_layers =
        draw_.chance(50) ? std::min(m.layers - 1, static_cast<int>(1 + draw_.below(3))) : 0;
    moe.period = moe.leading_dense_layers == 0 && m.layers > 2 && draw_.chance(30) ? 2 : 1;
    moe.capacity_factor = draw_.chance(20) ? 1.25 : 0;
    moe.padded = moe.capacity_factor > 0 && draw_.chance(50);
    moe.routing_groups = draw_.chance(30) ? 8 : 1;
    moe.group_limit = moe.routing_groups > 1 ? 4 : 0;
    m.multi_token_prediction = static_cast<int>(draw_.below(2));
    run_.parallelism.expert = 1 << draw_.below(4);
    run_.parallelism.expert_tensor = 1 << draw_.below(2);
    run_.training.framework.expert_dispatch =
        one_of({workload::ExpertDispatch::all_to_all, workload::ExpertDispatch::all_gather,
                workload::ExpertDispatch::deduplicated});
    if (draw_.chance(30)) {
      m.latent =
          workload::LatentAttentionSpec{static_cast<int>(draw_.below(2) * 1536), 512, 128, 64, 128};
    }
  }
  void recipe() {
    using core::Precision;
    workload::TrainingSpec& t = run_.training;
    t.sequence_length = 1024 << draw_.below(6);
    t.precision = one_of({Precision::fp32, Precision::bf16, Precision::fp16, Precision::fp8,
                          Precision::mxfp8, Precision::nvfp4});
    using workload::Scaling;
    t.framework.scaling = t.precision == Precision::fp8
                              ? one_of({Scaling::delayed, Scaling::tensor, Scaling::block})
                              : Scaling::delayed;
    const double bytes = t.precision == Precision::fp32 || draw_.chance(50) ? 4 : 2;
    t.framework.gradient_bytes = t.framework.reduce_bytes = bytes;
    using workload::OptimizerState;
    t.optimizer_state = one_of({OptimizerState::adam_fp32, OptimizerState::adam_bf16,
                                OptimizerState::adam_8bit, OptimizerState::sgd_momentum});
    t.framework.data_overlap = !run_.parallelism.reshard || draw_.chance(50);
    t.framework.tensor_overlap = draw_.chance(50);
    t.framework.cuda_graphs = draw_.chance(20);
    t.framework.fused_permute = draw_.chance(50);
    t.framework.expert_overlap = draw_.chance(20);
    using workload::AttentionKernels;
    t.framework.attention_kernels = one_of({AttentionKernels::newest, AttentionKernels::unfused,
                                            AttentionKernels::flash2, AttentionKernels::cudnn});
  }
  void recompute() {
    workload::ParallelismSpec& p = run_.parallelism;
    using workload::Recompute;
    using workload::RecomputePart;
    p.recompute = one_of({Recompute::none, Recompute::selective, Recompute::full});
    if (p.recompute == Recompute::selective && draw_.chance(50)) {
      p.recompute_parts = {RecomputePart::norms, RecomputePart::mlp};
    }
    const int chunk = run_.model.layers / p.pipeline / p.virtual_stages;
    if (p.recompute == Recompute::full && draw_.chance(50)) {
      p.recompute_period = chunk;
      p.recompute_layers = 1 + static_cast<int>(draw_.below(static_cast<std::uint32_t>(chunk)));
    }
  }

  network::testing::Draw draw_;
  LaunchRun run_;
};

/// The paths that a file of the framework says otherwise, or not.
std::set<std::string> lost(const import::LaunchTable& table, const LaunchRun& run) {
  const std::string text = table.text(import::write_launch(table, run), {});
  std::set<std::string> paths;
  for (const auto& [path, asked, said] : config::unsaid(table, table.read(text, "file"), run)) {
    paths.insert(path + ": " + asked + " is read as " + said);
  }
  return paths;
}

TEST(MegatronRoundTrip, KeepsEveryRunThatItsArgumentsCanSay) {
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    SCOPED_TRACE(seed);
    EXPECT_THAT(lost(import::megatron_table(), RandomRun(seed).build()), ::testing::IsEmpty());
  }
}

/// What Megatron-LM cannot say of the shipped scenarios.
TEST(MegatronRoundTrip, OfShippedScenariosLosesWhatItHasNoWordFor) {
  std::set<std::string> all;
  int scenarios = 0;
  for (const auto& entry : fs::directory_iterator(kConfigs / "scenarios")) {
    if (entry.path().extension() != ".yaml") {
      continue;
    }
    ++scenarios;
    const auto loaded = config::load_scenario(entry.path(), {{kConfigs}, {}});
    const auto run = config::run_of(training::check(loaded.scenario, loaded.marks));
    all.merge(lost(import::megatron_table(), run));
  }
  EXPECT_GE(scenarios, 10);
  EXPECT_THAT(all, ::testing::ElementsAre("parallelism.schedule: dualpipe is read as 1f1b"));
}

TEST(MegatronRoundTrip, SaysWhatIsLost) {
  LaunchRun run = RandomRun(1).build();
  run.model.norms = 4;
  run.parallelism.pipeline = 4;
  run.model.layers = 8;
  run.parallelism.virtual_stages = 1;
  run.parallelism.schedule = workload::ScheduleKind::zero_bubble_h1;
  run.training.documents = {{1024, 1}};
  run = import::normalised(run);
  const auto paths = lost(import::megatron_table(), run);
  EXPECT_THAT(paths, ::testing::Contains("model.norms: 4 is read as 2"));
  EXPECT_THAT(paths, ::testing::Contains("parallelism.schedule: zb-h1 is read as 1f1b"));
  EXPECT_THAT(paths, ::testing::Contains(::testing::HasSubstr("training.documents")));
}

}  // namespace
}  // namespace headway::testing
