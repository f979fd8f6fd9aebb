// The layout of a published run.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <fmt/format.h>

#include "sim/core/checked.h"
#include "sim/core/error.h"
#include "sim/core/text.h"
#include "sim/validation/run_parts.h"
#include "sim/validation/words/attention_words.h"
#include "sim/validation/words/layout_words.h"
#include "sim/validation/words/model_words.h"
#include "sim/workload/memory/offload.h"

namespace headway::validation {

namespace {

using workload::Recompute;
using workload::RecomputePart;
using workload::Sharding;

struct NamedDegree {
  const char* column;
  Degree degree;
};
constexpr std::array<NamedDegree, 3> kDegreeColumns{
    {{"tp", &RunRow::tp}, {"pp", &RunRow::pp}, {"cp", &RunRow::cp}}};

/// Replicas x stated degrees, without one of them; 0: one is not stated, or they fill no machine.
int known_product(const RunRow& row, Degree without) {
  core::Checked product = row.dp.value_or(0);
  for (const auto& [column, degree] : kDegreeColumns) {
    if (degree != without) {
      product = product * (row.*degree).value_or(0);
    }
  }
  return product.as<int>().value_or(0);
}

/// A degree as stated, or as it follows from the others, or `otherwise`.
int degree_or(const RunRow& row, Degree degree, int otherwise) {
  if (row.*degree) {
    return *(row.*degree);
  }
  const int others = known_product(row, degree);
  const int gpus = row.n_gpus.value_or(0);
  return others > 0 && gpus % others == 0 ? gpus / others : otherwise;
}

/// Stages whose layers divide only when embedding and loss count as layers have one layer fewer at
/// each end; others are as equal as the layers allow (the layouts of Megatron-Bridge's recipes).
void fit_layers(int layers, workload::ParallelismSpec& p) {
  const int chunks = p.pipeline * p.virtual_stages;
  if (p.pipeline > 1 && layers % chunks != 0 && (layers + 2) % chunks == 0) {
    p.first_stage_layers = (layers + 2) / p.pipeline - 1;
    p.last_stage_layers = p.first_stage_layers;
  } else if (p.pipeline > 1 && layers % chunks != 0) {
    const int each = (layers + chunks - 1) / chunks;
    for (int left = layers, i = 0; i < chunks; ++i, left -= p.chunk_layers.back()) {
      p.chunk_layers.push_back(std::min(left, each));
    }
  }
}

/// The largest divisor of a stage's layers up to the most that recipes use.
int usual_virtual_stages(int most, int layers, int pipeline, int micro_batches) {
  if (micro_batches < pipeline) {
    return 1;  // interleaved stages need as many
  }
  const int counted = layers % pipeline == 0 ? layers : layers + 2;
  if (pipeline == 1 || counted % pipeline != 0) {
    return 1;
  }
  const int stage = counted / pipeline;
  int best = 1;
  for (int chunks = 2; chunks <= std::min(stage, most); ++chunks) {
    best = stage % chunks == 0 ? chunks : best;
  }
  return best;
}

/// Sequences of the usual micro-batch; of those that divide a replica's the nearest by ratio.
/// Stages get enough micro-batches to be filled.
int usual_micro_batch(const RunRow& row,
                      const workload::UsualRunSpec& usual,
                      int ranks,
                      int stages) {
  const int replicas = std::max(1, row.n_gpus.value_or(1) / ranks);
  const int sequences = std::max(1, row.global_batch.value_or(1) / replicas);
  const int most = stages > 1 ? std::max(1, sequences / (kMicroBatchesAStage * stages)) : sequences;
  const int wanted =
      std::min(most, std::max(1, usual.micro_batch_tokens / row.seq_len.value_or(1)));
  int below = std::min(wanted, sequences);
  while (sequences % below != 0) {
    --below;
  }
  int above = std::min(wanted, sequences);
  while (sequences % above != 0) {
    ++above;
  }
  const bool nearer = std::int64_t{above} * below < std::int64_t{wanted} * wanted;
  return nearer ? above : below;
}

/// Chunks of a stage as stated; the usual where the row is silent or its micro-batches are too few
/// for what it says.
void set_virtual_stages(const RunRow& row,
                        const workload::UsualRunSpec& usual,
                        const workload::ModelSpec& model,
                        int ranks,
                        workload::ParallelismSpec& p,
                        Assumed& assumed) {
  const int replicas = std::max(1, row.n_gpus.value_or(1) / ranks);
  const auto micro_batches =
      static_cast<int>(row.global_batch.value_or(1) / (std::int64_t{replicas} * p.micro_batch));
  const int stated = row.certain("vpp") ? row.vpp.value_or(0) : 0;
  const bool enough = stated <= 1 || micro_batches >= p.pipeline;
  p.virtual_stages = stated > 0 && enough
                         ? stated
                         : usual_virtual_stages(usual.most_virtual_stages, model.layers, p.pipeline,
                                                micro_batches);
  if (p.pipeline > 1 && (stated == 0 || !enough)) {
    assume(assumed, "vpp");
  }
}

/// "about 47% of the blocks": 47; "every 2nd layer recomputed whole": 50; 0: no such words.
int percent_of_blocks(const std::string& detail) {
  const auto sign = detail.find("% of the blocks");
  if (sign != std::string::npos) {
    const auto first = detail.find_last_not_of("0123456789", sign - 1) + 1;
    const std::size_t digits = sign > first ? std::min<std::size_t>(sign - first, 3) : 0;
    return core::whole_text_as<int>(detail.substr(first, digits)).value_or(0);
  }
  const auto every = detail.find("every ");
  if (every != std::string::npos && contains(detail, "whole")) {
    const int n = std::atoi(detail.c_str() + every + 6);
    return n > 0 ? 100 / n : 0;
  }
  return 0;
}

/// The first layers of each chunk, as Megatron-LM's recompute_num_layers counts them.
void recompute_first_layers(int first, int layers, workload::ParallelismSpec& p, Assumed& assumed) {
  const int chunks = p.pipeline * p.virtual_stages;
  if (layers % chunks != 0) {
    assume(assumed, "recompute");
  }
  const int each = (layers + chunks - 1) / chunks;
  if (first < each) {
    p.recompute_period = each;
    p.recompute_layers = first;
  }
}

/// Recomputation in a table's words. "Block" and "partial" are of a number of layers that is not
/// stated: every second one is taken, half way between none and all.
void set_recompute(const RunRow& row,
                   const workload::UsualRunSpec& usual,
                   const workload::ModelSpec& model,
                   workload::ParallelismSpec& p,
                   Assumed& assumed) {
  const RecomputeWords words = recompute_words(row.recompute);
  if (!row.certain("recompute") || words.open) {
    assume(assumed, "recompute");
  }
  p.recompute = words.kind.value_or(usual.recompute);
  p.recompute_period = words.period;
  p.recompute_layers = words.layers;
  if (words.first_layers > 0) {
    recompute_first_layers(words.first_layers, model.layers, p, assumed);
  }
  const std::string& detail = row.recompute_detail;
  if (p.recompute == Recompute::selective && contains(detail, "SAVE_DOT_ONLY")) {
    p.recompute =
        Recompute::none;  // element-wise operations only: the profile's recompute_elementwise
  }
  if (const int percent = percent_of_blocks(detail); percent > 0 && percent < 100) {
    p.recompute = Recompute::full;
    p.recompute_period = 100;
    p.recompute_layers = percent;
  }
  if (p.recompute == Recompute::selective) {
    p.recompute_parts = parts_in_detail(detail);
    p.recompute_parts = p.recompute_parts.empty() ? words.parts : p.recompute_parts;
    p.recompute_parts = p.recompute_parts.empty() ? usual.selective_parts : p.recompute_parts;
  }
}

/// What is sharded; the usual where nothing is stated, or ZeRO of a stage that is not. Beside
/// stages that is ZeRO-1: gradients that are reduced, or weights that are gathered, in every
/// micro-batch are what no pipeline of that name does (DeepSpeed, PipelineEngine).
Sharding sharding_of(const ShardingWords& words,
                     const RunRow& row,
                     const workload::UsualRunSpec& usual,
                     int stages,
                     Assumed& assumed) {
  if (!row.certain("sharding") || words.open) {
    assume(assumed, "sharding");
  }
  const bool first = words.stage_open && (stages > 1 || usual.sharding == Sharding::zero0);
  const auto optimizer = training_words(row).optimizer;
  const bool whole = optimizer == workload::OptimizerState::muon ||
                     optimizer == workload::OptimizerState::shampoo ||
                     optimizer == workload::OptimizerState::soap;  // matrices that no shard cuts
  const Sharding weakest = whole ? std::min(usual.sharding, Sharding::zero1) : usual.sharding;
  return words.kind.value_or(first ? Sharding::zero1 : weakest);
}

/// Whether the column of a degree has another figure than these words ("tp" beside a column of 1).
bool contradicts(const RunRow& row, const std::string& column, int degree) {
  const std::optional<int> stated = column == "tp"   ? row.tp
                                    : column == "pp" ? row.pp
                                    : column == "cp" ? row.cp
                                                     : row.ep;
  return stated && (degree > 0 ? *stated != degree : *stated == 1);
}

void set_sharding(const RunRow& row,
                  const workload::UsualRunSpec& usual,
                  workload::ParallelismSpec& p,
                  Assumed& assumed) {
  const ShardingWords words = sharding_words(row.sharding);
  p.sharding = sharding_of(words, row, usual, p.pipeline, assumed);
  p.offload = words.offload ? workload::Offload::optimizer : p.offload;
  for (const auto& [column, degree] : words.degrees) {
    if (contradicts(row, column, degree)) {
      assume(assumed, column);
    }
  }
  if (p.sharding != Sharding::hsdp) {
    return;
  }
  p.reshard = words.resharded;
  const int worded = words.group > 0 ? words.group : row.gpus_per_node.value_or(8);
  const int group = row.shard_group_size.value_or(worded);
  const int ranks = row.n_gpus.value_or(1) / (p.tensor * p.pipeline);
  if (!row.shard_group_size && (words.group == 0 || words.open)) {
    assume(assumed, "shard_group_size");
  }
  if (group < ranks) {
    p.shard_group_size = group;
  } else {
    p.sharding = Sharding::zero3;  // one copy
  }
}

/// The most expert-parallel ranks that share NVLink, divide the experts and, with the tensor ranks
/// inside an expert, a stage's ranks.
int usual_expert_ranks(const RunRow& row,
                       const workload::ModelSpec& model,
                       const workload::ParallelismSpec& p) {
  const int domain = row.nvlink_domain.value_or(row.gpus_per_node.value_or(8));
  const int ranks = row.n_gpus.value_or(1) / p.pipeline;
  int best = 1;
  for (int expert = 2; expert * p.expert_tensor <= std::min(domain, ranks); ++expert) {
    const bool divides =
        model.moe->experts % expert == 0 && ranks % (expert * p.expert_tensor) == 0;
    best = divides ? expert : best;
  }
  return best;
}

/// "ETP = TP", "ETP 1" or "expert tensor parallel 1" in a row's notes; nothing without such words.
std::optional<int> expert_tensor_in_words(const RunRow& row, int tensor) {
  const std::string notes = core::lower_case(row.notes);
  for (const std::string_view word : {"expert tensor parallel ", "etp = ", "etp=", "etp "}) {
    const auto found = notes.find(word);
    if (found == std::string::npos) {
      continue;
    }
    const std::string value = notes.substr(found + word.size(), 5);
    if (value.starts_with("tp")) {
      return tensor;
    }
    if (const int degree = std::atoi(value.c_str()); degree > 0) {
      return degree;
    }
  }
  return std::nullopt;
}

void set_experts(const RunRow& row,
                 const workload::FrameworkSpec& framework,
                 const workload::ModelSpec& model,
                 workload::ParallelismSpec& p,
                 Assumed& assumed) {
  if (!model.moe) {
    if (row.ep.value_or(1) > 1) {
      assume(assumed, "ep");  // a dense model has none
    }
    return;
  }
  p.expert = row.ep.value_or(1);
  const bool follow = framework.usual.experts_follow_tensor && !model.latent;
  const auto in_words = expert_tensor_in_words(row, p.tensor);
  p.expert_tensor = row.etp ? *row.etp : in_words.value_or(follow ? p.tensor : 1);
  const int ranks = row.n_gpus.value_or(1) / p.pipeline;
  if (!row.etp && !in_words && ranks % (std::int64_t{p.expert} * p.expert_tensor) != 0) {
    p.expert_tensor = 1;  // experts cannot follow there
  }
  if (!row.ep) {
    p.expert = usual_expert_ranks(row, model, p);
  }
  if (!row.certain("ep")) {
    assume(assumed, "ep");
  }
}

/// Layers whose activations the row says are offloaded (Transformer Engine's cpu_offloading); at
/// most all but the last of a chunk, none where chunks have one layer.
void set_offload(const RunRow& row,
                 const workload::ModelSpec& model,
                 workload::ParallelismSpec& p,
                 Assumed& assumed) {
  const TrainingWords words = training_words(row);
  if (workload::offloads_optimizer(words.offload)) {
    p.offload = workload::Offload::optimizer;
  }
  if (words.offload_open) {
    assume(assumed, "offload");
  }
  const int stated = row.cpu_offload_layers.value_or(0);
  if (stated <= 0 && !workload::offloads_activations(words.offload) &&
      !recompute_words(row.recompute).offload) {
    return;
  }
  p.offload = workload::offloads_optimizer(p.offload) ? workload::Offload::all
                                                      : workload::Offload::activations;
  if (stated > 0) {
    p.offload_layers = stated;
  }
  if (workload::offload_problem(model, p)) {
    p.offload_layers = {};
    assume(assumed, "cpu_offload_layers");
  }
  if (workload::offload_problem(model, p)) {
    p.offload = workload::offloads_optimizer(p.offload) ? workload::Offload::optimizer
                                                        : workload::Offload::none;
  }
}

}  // namespace

void assume(Assumed& assumed, const std::string& field) {
  if (std::find(assumed.begin(), assumed.end(), field) == assumed.end()) {
    assumed.push_back(field);
  }
}

bool degree_open(const RunRow& row, Degree degree) { return degree_or(row, degree, 0) == 0; }

int padded_vocabulary(int stated, const workload::UsualRunSpec& usual, int tensor) {
  const int unit = usual.vocabulary_multiple > 1 ? usual.vocabulary_multiple * tensor : 1;
  return (stated + unit - 1) / unit * unit;
}

workload::ParallelismSpec row_parallelism(const RunRow& row,
                                          const workload::FrameworkSpec& framework,
                                          const workload::ModelSpec& model,
                                          Degrees open,
                                          Assumed& assumed) {
  const workload::UsualRunSpec& usual = framework.usual;
  constexpr int kLongSequence = 16384;  // shorter ones are hardly ever divided
  workload::ParallelismSpec p;
  p.tensor = degree_or(row, &RunRow::tp, open.tensor);
  p.pipeline = degree_or(row, &RunRow::pp, open.pipeline);
  p.context = degree_or(row, &RunRow::cp, 1);
  for (const auto& [column, degree] : kDegreeColumns) {
    const bool matters = degree != &RunRow::cp || row.seq_len.value_or(0) > kLongSequence;
    if (matters && (degree_open(row, degree) || row.listed_as_not_stated(column))) {
      assume(assumed, column);
    }
  }
  p.sequence =
      p.tensor > 1 &&
      (row.sequence_parallel.has_value() ? row.sequence_parallel.value_or(false) : usual.sequence);
  if (p.tensor > 1 && !row.certain("sequence_parallel")) {
    assume(assumed, "sequence_parallel");
  }
  p.context_kind = attention_words(row.attention).context.value_or(usual.context_kind);
  const bool chooses = model.sparse || model.native_sparse;
  if ((model.window > 0 || chooses) && p.context > 1) {
    p.context_kind = workload::ContextKind::all_gather;  // no public ring takes windows or choices
    assume(assumed, "context_kind");
  }
  if (!row.certain("micro_batch")) {
    assume(assumed, "micro_batch");
  }
  if (p.pipeline > model.layers || row.vpp.value_or(1) > model.layers) {
    throw core::Error(
        fmt::format("pp {} x vpp {} of {} layers", p.pipeline, row.vpp.value_or(1), model.layers));
  }
  const core::Checked product = core::Checked(p.tensor) * p.pipeline * p.context;
  if (core::Checked(row.n_gpus.value_or(1)) < product) {
    throw core::Error(fmt::format("tp {} x pp {} x cp {} are more ranks than {} GPUs", p.tensor,
                                  p.pipeline, p.context, row.n_gpus.value_or(1)));
  }
  const auto ranks = static_cast<int>(product.value());
  p.micro_batch = row.micro_batch.value_or(usual_micro_batch(row, usual, ranks, p.pipeline));
  set_virtual_stages(row, usual, model, ranks, p, assumed);
  set_sharding(row, usual, p, assumed);
  set_experts(row, framework, model, p, assumed);
  set_recompute(row, usual, model, p, assumed);
  if (usual.stages_by_cost && p.pipeline > 1 && p.pipeline <= model.layers + 1 &&
      p.virtual_stages == 1) {
    p.chunk_layers = workload::layers_by_cost(model, p.pipeline);
  } else {
    fit_layers(model.layers, p);
  }
  set_offload(row, model, p, assumed);
  return p;
}

}  // namespace headway::validation
