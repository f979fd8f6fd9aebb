// A run that is written as the file of a framework is read again as the same run.
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>

#include "sim/config/launch/launch_scenario.h"
#include "sim/import/layer_letters.h"
#include "sim/workload/number_formats.h"

#include "tests/property/flow_random_problem.h"
#include "tests/property/megatron_rules.h"

namespace headway::testing {
namespace {

namespace fs = std::filesystem;
using import::LaunchRun;

const fs::path kConfigs = fs::path(HEADWAY_SOURCE_DIR) / "configs";

/// Runs that Megatron-LM has words for; some it refuses to start.
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
      if (draw_.chance(50)) {
        run_.saves = import::LaunchSaves{1 + draw_.below(5000), draw_.chance(50), draw_.chance(20)};
      }
    }
    if (run_.model.latent) {
      run_.model.query_key_norm = false;  // refused: latent attention has norms of its own
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
    m.attention_gate = draw_.chance(20);
    if (m.latent && draw_.chance(50)) {
      const int period = static_cast<int>(1 + draw_.below(4));
      m.sparse = workload::SparseAttentionSpec{16, 64, 1024, period,
                                               period > 1 ? static_cast<int>(draw_.below(3)) : 0};
    } else if (!m.latent && m.window == 0 && draw_.chance(20)) {
      linear_layers();
    }
  }
  /// Gated delta networks in all layers of a period but the last, or in any.
  void linear_layers() {
    workload::ModelSpec& m = run_.model;
    using L = workload::LayerContent;
    const int heads = static_cast<int>(run_.parallelism.tensor * (2 + draw_.below(4)));
    m.mixer = workload::MixerSpec{workload::MixerKind::gated_delta, 2 * heads, heads};
    const bool periodic = draw_.chance(50);
    const auto count =
        static_cast<std::size_t>(periodic ? 2 + static_cast<int>(draw_.below(4)) : m.layers);
    m.layer_pattern.assign(count, L::mixer);
    m.layer_pattern.back() = L::attention;
    for (std::size_t i = 1; !periodic && i < count; ++i) {
      m.layer_pattern[i] = draw_.chance(50) ? L::mixer : L::attention;
    }
    m.layer_pattern = import::shortest_pattern(m.layer_pattern);
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
    m.biases = false;
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
    if (workload::narrow(t.precision) && draw_.chance(30)) {
      run_.model.sixteen_bit_layers = workload::SixteenBitLayersSpec{
          static_cast<int>(draw_.below(3)), 1 + static_cast<int>(draw_.below(2))};
    }
    using workload::OptimizerState;
    t.optimizer_state = one_of({OptimizerState::adam_fp32, OptimizerState::adam_bf16,
                                OptimizerState::adam_8bit, OptimizerState::sgd_momentum});
    t.framework.data_overlap = !run_.parallelism.reshard || draw_.chance(50);
    t.framework.gather_overlap = draw_.chance(80);
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
      p.recompute_parts = {RecomputePart::mlp};
      const auto& t = run_.training;
      const bool delayed =
          t.precision == core::Precision::fp8 && t.framework.scaling == workload::Scaling::delayed;
      if (run_.model.moe && !delayed) {
        p.recompute_parts.push_back(RecomputePart::norms);
        p.recompute_parts.push_back(RecomputePart::activation);
      }
    }
    using core::Precision;
    auto& framework = run_.training.framework;
    framework.cuda_graphs = framework.cuda_graphs && p.recompute == Recompute::none;
    framework.expert_overlap =
        framework.expert_overlap && p.expert > 1 && p.recompute != Recompute::full &&
        (p.pipeline == 1 || p.virtual_stages > 1) && run_.training.precision != Precision::fp32 &&
        framework.expert_dispatch != workload::ExpertDispatch::all_gather;
    const int chunk = run_.model.layers / p.pipeline / p.virtual_stages;
    if (p.recompute == Recompute::full && draw_.chance(50)) {
      p.recompute_period = chunk;
      p.recompute_layers = 1 + static_cast<int>(draw_.below(static_cast<std::uint32_t>(chunk)));
    }
  }

  network::testing::Draw draw_;
  LaunchRun run_;
};

/// The values that a file of the framework says otherwise, or not.
std::set<std::string> lost(const import::LaunchTable& table, const LaunchRun& run) {
  std::set<std::string> paths;
  for (const auto& [path, asked, said] : config::unsaid(table, run)) {
    paths.insert(path + ": " + asked + " is read as " + said);
  }
  return paths;
}

/// The run of every shipped scenario, with its file's name.
std::vector<std::pair<std::string, LaunchRun>> runs_of_scenarios() {
  std::vector<std::pair<std::string, LaunchRun>> runs;
  for (const auto& entry : fs::directory_iterator(kConfigs / "scenarios")) {
    if (entry.path().extension() == ".yaml") {
      const auto loaded = config::load_scenario(entry.path(), {{kConfigs}, {}});
      runs.emplace_back(entry.path().filename().string(),
                        config::run_of(training::check(loaded.scenario, loaded.marks)));
    }
  }
  return runs;
}

/// What the framework cannot say of the shipped scenarios.
std::set<std::string> lost_of_scenarios(const import::LaunchTable& table) {
  std::set<std::string> all;
  for (const auto& [name, run] : runs_of_scenarios()) {
    all.merge(lost(table, run));
  }
  return all;
}

/// The run, changed to one that Megatron-LM starts (megatron_rules.h).
LaunchRun for_megatron(LaunchRun run) {
  workload::ParallelismSpec& p = run.parallelism;
  workload::TrainingSpec& t = run.training;
  const bool experts = run.model.moe.has_value();
  const bool sgd = t.optimizer_state == workload::OptimizerState::sgd_momentum;
  p.sharding = sgd ? workload::Sharding::zero0 : p.sharding;
  const bool torch_fsdp = p.sharding == workload::Sharding::zero3 && p.pipeline == 1 &&
                          (!experts || p.expert == 1) && !run.model.tied_embeddings &&
                          t.precision != core::Precision::fp16;
  p.reshard = p.reshard || !torch_fsdp;
  if (!p.reshard || p.sharding == workload::Sharding::zero0) {
    p.offload = workload::Offload::none;
    t.optimizer_state = sgd ? t.optimizer_state : workload::OptimizerState::adam_fp32;
  }
  t.framework.tensor_overlap = t.framework.tensor_overlap && p.sequence;
  if (run.model.learned_positions > 0) {
    run.model.learned_positions = std::max(run.model.learned_positions, t.sequence_length);
    run.model.multi_token_prediction = 0;
  }
  if ((experts ? p.expert * p.expert_tensor : p.tensor) != p.tensor * p.context) {
    p.rank_order = workload::RankOrder::data_first;
  }
  return import::normalised(run);
}

/// The run, changed to one that NeMo can say.
LaunchRun for_nemo(LaunchRun run) {
  const LaunchRun usual;
  run.model.window = 0;
  run.model.multi_token_prediction = 0;
  run.model.sixteen_bit_layers.reset();
  run = for_megatron(run);
  const workload::ParallelismSpec& p = run.parallelism;
  if (p.context > 1 || (run.model.moe && p.expert > 1)) {
    run.parallelism.rank_order = usual.parallelism.rank_order;
  }
  run.parallelism.reshard = true;
  run.training.optimizer_state = usual.training.optimizer_state;
  if (run.training.precision == core::Precision::mxfp8 ||
      run.training.precision == core::Precision::nvfp4) {
    run.training.precision = core::Precision::fp8;
  }
  run.training.framework.scaling = workload::Scaling::delayed;
  if (run.training.precision == core::Precision::fp8 &&
      run.parallelism.recompute == workload::Recompute::selective) {
    run.parallelism.recompute_parts = {workload::RecomputePart::mlp};
  }
  run.parallelism.offload = run.parallelism.offload == workload::Offload::none
                                ? workload::Offload::none
                                : workload::Offload::activations;
  return import::normalised(run);
}

/// The run, changed to one that DeepSpeed can say.
LaunchRun for_deepspeed(LaunchRun run) {
  run.model.sixteen_bit_layers.reset();
  workload::ParallelismSpec& p = run.parallelism;
  p.virtual_stages = 1;
  p.sequence = false;
  p.context_kind = workload::ContextKind::all_to_all;
  p.expert = p.expert_tensor = 1;
  p.rank_order = workload::RankOrder::data_first;
  p.reshard = true;
  p.recompute_parts.clear();
  p.recompute_period = p.recompute_layers = 1;
  p.recompute = p.pipeline > 1 && p.recompute == workload::Recompute::full
                    ? workload::Recompute::full
                    : workload::Recompute::none;
  run.training.optimizer_state = workload::OptimizerState::adam_fp32;
  run.training.framework.gather_overlap =
      p.sharding != workload::Sharding::zero1 && p.sharding != workload::Sharding::zero2;
  using core::Precision;
  if (run.training.precision != Precision::fp32 && run.training.precision != Precision::fp16) {
    run.training.precision = Precision::bf16;
  }
  run.steps.reset();
  run.saves.reset();
  return import::normalised(run);
}

/// The run, changed to one that torchtitan can say.
LaunchRun for_torchtitan(LaunchRun run, std::uint64_t seed) {
  run.model.sixteen_bit_layers.reset();
  if (run.saves) {
    run.saves->weights_only = false;
  }
  network::testing::Draw draw(seed + 1'000'000);
  workload::ParallelismSpec& p = run.parallelism;
  const LaunchRun usual;
  p.sequence = true;
  p.rank_order = usual.parallelism.rank_order;
  p.offload = workload::Offload::none;
  p.context_kind = p.context_kind == workload::ContextKind::ring
                       ? workload::ContextKind::ring
                       : workload::ContextKind::all_gather;
  const int shards = 2 << draw.below(3);
  const int copies = 1 << draw.below(3);
  p.data = shards * copies;
  p.sharding = copies > 1 ? workload::Sharding::hsdp : workload::Sharding::zero3;
  p.shard_group_size = copies > 1 ? shards * p.context : 0;
  if (p.context == 1 && draw.chance(20)) {
    p.sharding = workload::Sharding::zero0;
    p.reshard = true;
  }
  run.gpus = std::int64_t{p.tensor} * p.context * p.pipeline * shards * copies;
  run.training.global_batch = shards * copies * p.micro_batch * static_cast<int>(1 + draw.below(9));
  if (p.virtual_stages == 2 && draw.chance(50)) {
    p.virtual_stages = 1;
    p.schedule = draw.chance(50) ? workload::ScheduleKind::zero_bubble_v
                                 : workload::ScheduleKind::dual_pipe_v;
  } else if (p.virtual_stages == 1 && draw.chance(50)) {
    p.schedule = workload::ScheduleKind::gpipe;
  }
  p.recompute_layers = 1;
  p.recompute_parts.clear();
  if (p.recompute == workload::Recompute::selective && run.model.latent) {
    p.recompute = workload::Recompute::none;  // op is not known of such layers, and no scenario's
  } else if (p.recompute == workload::Recompute::selective) {
    p.recompute_parts = {workload::RecomputePart::operators};
  }
  workload::TrainingSpec& t = run.training;
  using core::Precision;
  if (t.precision == Precision::fp16 || t.precision == Precision::nvfp4) {
    t.precision = Precision::bf16;
  }
  t.framework.scaling = draw.chance(50) ? workload::Scaling::row : workload::Scaling::tensor;
  t.framework.narrow_gathers = draw.chance(50);
  t.framework.elementwise =
      draw.chance(50) ? workload::Elementwise::compiled : workload::Elementwise::eager;
  t.optimizer_state = workload::OptimizerState::adam_fp32;
  return import::normalised(run);
}

TEST(LaunchRoundTrip, KeepsEveryRunThatMegatronCanSay) {
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    SCOPED_TRACE(seed);
    EXPECT_THAT(lost(import::megatron_table(), for_megatron(RandomRun(seed).build())),
                ::testing::IsEmpty());
  }
}

TEST(LaunchRoundTrip, MegatronStartsWithEveryFile) {
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    SCOPED_TRACE(seed);
    const LaunchRun run = RandomRun(seed).build();
    EXPECT_THAT(broken_megatron_rules(run), ::testing::IsEmpty());
    EXPECT_THAT(broken_megatron_rules(for_megatron(run)), ::testing::IsEmpty());
    for (const auto optimizer :
         {workload::OptimizerState::muon, workload::OptimizerState::sgd_momentum}) {
      LaunchRun other = run;
      other.training.optimizer_state = optimizer;
      EXPECT_THAT(broken_megatron_rules(other), ::testing::IsEmpty());
    }
  }
  for (const auto& [name, run] : runs_of_scenarios()) {
    EXPECT_THAT(broken_megatron_rules(run), ::testing::IsEmpty()) << name;
  }
}

TEST(LaunchRoundTrip, KeepsEveryRunThatNemoCanSay) {
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    SCOPED_TRACE(seed);
    EXPECT_THAT(lost(import::nemo_table(), for_nemo(RandomRun(seed).build())),
                ::testing::IsEmpty());
  }
}

TEST(LaunchRoundTrip, KeepsEveryRunThatDeepSpeedCanSay) {
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    SCOPED_TRACE(seed);
    EXPECT_THAT(lost(import::deepspeed_table(), for_deepspeed(RandomRun(seed).build())),
                ::testing::IsEmpty());
  }
}

TEST(LaunchRoundTrip, KeepsEveryRunThatTorchtitanCanSay) {
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    SCOPED_TRACE(seed);
    EXPECT_THAT(lost(import::torchtitan_table(), for_torchtitan(RandomRun(seed).build(), seed)),
                ::testing::IsEmpty());
  }
}

TEST(LaunchRoundTrip, TorchtitanWritesAFileForEveryChoiceOfStages) {
  int said = 0;
  for (const auto& [pipeline, virtual_stages, ends] :
       {std::tuple{2, 4, 0}, {2, 8, 0}, {4, 4, 0},  {4, 2, 0},  {8, 4, 0},  {8, 1, 4},  {4, 1, 7},
        {4, 1, 4},           {4, 2, 6}, {2, 16, 0}, {3, 1, 10}, {3, 4, 10}, {16, 2, 0}, {18, 1, 0},
        {2, 9, 0},           {2, 6, 0}, {2, 7, 0},  {2, 9, 15}, {2, 9, 17}, {4, 3, 7}}) {
    for (const auto schedule :
         {workload::ScheduleKind::one_f_one_b, workload::ScheduleKind::interleaved,
          workload::ScheduleKind::zero_bubble_v}) {
      SCOPED_TRACE(::testing::Message() << pipeline << " " << virtual_stages << " " << ends << " "
                                        << core::to_word(schedule));
      LaunchRun run = for_torchtitan(RandomRun(1).build(), 1);
      run.model.layers = 32;
      workload::ParallelismSpec& p = run.parallelism;
      p.pipeline = pipeline;
      p.virtual_stages = schedule == workload::ScheduleKind::interleaved ? virtual_stages : 1;
      p.schedule = schedule;
      p.chunk_layers.clear();
      p.first_stage_layers = ends;
      p.last_stage_layers = pipeline == 2 ? 0 : ends;
      run.gpus = std::int64_t{p.tensor} * p.context * p.pipeline * *p.data.value;
      std::vector<std::string> stages;
      for (const std::string& line : lost(import::torchtitan_table(), import::normalised(run))) {
        const bool of_stages =
            line.find("layers") != std::string::npos || line.find("virtual") != std::string::npos;
        EXPECT_FALSE(line.find("schedule") != std::string::npos) << line;
        if (of_stages) {
          stages.push_back(line);
        }
      }
      said += stages.empty() ? 1 : 0;
    }
  }
  EXPECT_GE(said, 20);  // of 60; some are no layout at all
}

TEST(LaunchRoundTrip, OfShippedScenariosLosesWhatAFrameworkHasNoWordFor) {
  using ::testing::AnyOf, ::testing::Contains, ::testing::Each, ::testing::StartsWith;
  EXPECT_THAT(
      lost_of_scenarios(import::megatron_table()),
      ::testing::AllOf(
          Contains("parallelism.schedule: dualpipe is read as 1f1b"),
          Contains("model.mixer.kind: mamba1 is read as -"),
          Contains("training.optimizer_state: shampoo is read as adam_fp32"),
          Each(AnyOf(StartsWith("parallelism.schedule: dualpipe"),
                     // Of delayed fp8 scales, and of a pipeline without chunks.
                     StartsWith("parallelism.recompute_parts: "),
                     StartsWith("training.framework.expert_overlap: "),
                     StartsWith("model.layer_pattern: "), StartsWith("model.native_sparse."),
                     StartsWith("model.full_attention."), StartsWith("model.value_dim"),
                     StartsWith("model.leading_full_layers"), StartsWith("model.dense_prediction"),
                     StartsWith("model.windowed_prediction"), StartsWith("model.norms: 4"),
                     StartsWith("training.framework.attention_kernels: sdpa"),
                     StartsWith("training.nvfp4.hadamard"), StartsWith("model.mixer."),
                     StartsWith("model.adapters."), StartsWith("training.documents"),
                     StartsWith("training.optimizer_state: shampoo"),
                     StartsWith("training.preconditioner."), StartsWith("model.vision."),
                     StartsWith("training.images."), StartsWith("training.distillation."),
                     // Of a stage with an encoder of images alone.
                     StartsWith("parallelism.chunk_layers: "),
                     StartsWith("training.local_steps.")))));
  for (const import::LaunchTable* table :
       {&import::nemo_table(), &import::torchtitan_table(), &import::deepspeed_table()}) {
    for (const std::string& loss : lost_of_scenarios(*table)) {
      // What every framework can say is never among it.
      EXPECT_FALSE(loss.starts_with("model.layers") || loss.starts_with("training.global_batch") ||
                   loss.starts_with("parallelism.tensor") || loss.starts_with("parallelism.data") ||
                   loss.starts_with("parallelism.pipeline"))
          << table->name << ": " << loss;
    }
  }
}

TEST(LaunchRoundTrip, SaysWhatIsLost) {
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
  // What is only written names what has no row.
  EXPECT_THAT(lost(import::maxtext_table(), run),
              ::testing::Contains("model.norms: 4 is read as 2"));
}

}  // namespace
}  // namespace headway::testing
