#include "sim/workload/layout.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fmt/format.h>
#include <numeric>
#include <string>
#include <utility>

#include "sim/core/error.h"
#include "sim/workload/blocks/layer_kind.h"
#include "sim/workload/schedule/schedule.h"

namespace headway::workload {

namespace {

bool v_shaped(ScheduleKind schedule) {
  return schedule == ScheduleKind::zero_bubble_v || schedule == ScheduleKind::dual_pipe_v;
}

/// Place of a chunk in the order in which a micro-batch meets the chunks.
int position(ScheduleKind schedule, int stages, StageChunk at) {
  if (v_shaped(schedule)) {
    return at.chunk == 0 ? at.stage : 2 * stages - 1 - at.stage;
  }
  if (schedule == ScheduleKind::dual_pipe) {  // two directions, each a whole model
    return at.chunk == 0 ? at.stage : stages - 1 - at.stage;
  }
  return at.chunk * stages + at.stage;
}

StageChunk at_position(ScheduleKind schedule, int stages, int place, int direction) {
  if (v_shaped(schedule)) {
    return place < stages ? StageChunk{place, 0} : StageChunk{2 * stages - 1 - place, 1};
  }
  if (schedule == ScheduleKind::dual_pipe) {
    return {direction == 0 ? place : stages - 1 - place, direction};
  }
  return {place % stages, place / stages};
}

/// Positions of one model: all chunks, or half of them where two directions hold the model twice.
int positions(ScheduleKind schedule, int stages, int chunks) {
  return schedule == ScheduleKind::dual_pipe ? stages : stages * chunks;
}

/// Layers of each stage; an encoder's own stage has none.
struct StageSizes {
  int stages = 0;
  int ahead = 0;  ///< stages of an encoder
  int first = 0, each = 0, last = 0;

  [[nodiscard]] int of(int stage) const {
    return stage < ahead ? 0 : stage == ahead ? first : stage == stages - 1 ? last : each;
  }
};

/// Nothing if the layers do not divide.
std::optional<StageSizes> stage_layers(const ModelSpec& model, const ParallelismSpec& parallelism) {
  const int ahead = encoder_stages(model);
  const int p = parallelism.pipeline - ahead;
  const int first = p > 1 ? parallelism.first_stage_layers : 0;
  const int last = p > 1 ? parallelism.last_stage_layers : 0;
  const int fixed_stages = (first > 0 ? 1 : 0) + (last > 0 ? 1 : 0);
  const int rest = model.layers - first - last;
  const int rest_stages = p - fixed_stages;
  if (p < 1 || rest < 0 || (rest_stages == 0 && rest != 0) ||
      (rest_stages > 0 && rest % rest_stages != 0)) {
    return std::nullopt;
  }
  const int each = rest_stages > 0 ? rest / rest_stages : 0;
  return StageSizes{parallelism.pipeline, ahead, first > 0 ? first : each, each,
                    last > 0 ? last : each};
}

/// Why the list of chunk sizes does not fit; empty if it does.
std::string chunk_list_problem(const ModelSpec& model, const ParallelismSpec& parallelism) {
  const std::vector<int>& list = parallelism.chunk_layers;
  if (parallelism.first_stage_layers > 0 || parallelism.last_stage_layers > 0) {
    return "chunk_layers already says what first_stage_layers and last_stage_layers say; keep one";
  }
  const ScheduleKind schedule = effective_schedule(parallelism);
  const int chunks = chunks_per_stage(schedule, parallelism.virtual_stages);
  const int places = positions(schedule, parallelism.pipeline, chunks);
  if (static_cast<int>(list.size()) != places) {
    return fmt::format("chunk_layers has {} entries, but a micro-batch meets {} chunks",
                       list.size(), places);
  }
  const std::int64_t sum = std::accumulate(list.begin(), list.end(), std::int64_t{0});
  if (sum != model.layers) {
    return fmt::format("chunk_layers adds up to {} layers, but the model has {}", sum,
                       model.layers);
  }
  if (encoder_stages(model) > 0 && list.front() != 0) {
    return "the first stage is the encoder's own (model.vision.stage): let chunk_layers begin with "
           "0";
  }
  return {};
}

/// Layers of a chunk of a stage where the user lists none, or nothing if they do not divide. The
/// chunk with the embedding or the head gets what is missing to equal chunks.
std::optional<int> even_chunk(
    int layers, int chunks, int chunk, bool first_stage, bool last_stage) {
  const int each = (layers + chunks - 1) / chunks;
  const int missing = each * chunks - layers;
  if (missing == 0) {
    return each;
  }
  if ((!first_stage && !last_stage) || missing > each) {
    return std::nullopt;
  }
  const int short_one = first_stage ? 0 : chunks - 1;
  return chunk == short_one ? each - missing : each;
}

/// Layers of all chunks in the order in which a micro-batch meets them; the layout must have no
/// problem.
std::vector<int> layers_in_order(const ModelSpec& model, const ParallelismSpec& parallelism) {
  if (!parallelism.chunk_layers.empty()) {
    return parallelism.chunk_layers;
  }
  const ScheduleKind schedule = effective_schedule(parallelism);
  const int p = parallelism.pipeline;
  const int chunks = chunks_per_stage(schedule, parallelism.virtual_stages);
  const StageSizes sizes = *stage_layers(model, parallelism);
  std::vector<int> result;
  result.reserve(static_cast<std::size_t>(positions(schedule, p, chunks)));
  for (int place = 0; place < positions(schedule, p, chunks); ++place) {
    const StageChunk at = at_position(schedule, p, place, 0);
    const int size = sizes.of(at.stage);
    // Two directions hold every layer twice, so a chunk is the whole stage.
    result.push_back(schedule == ScheduleKind::dual_pipe
                         ? size
                         : *even_chunk(size, chunks, at.chunk, at.stage == 0, at.stage == p - 1));
  }
  return result;
}

}  // namespace

bool has_other_data_ranks(const ModelSpec& model, const ParallelismSpec& layout) {
  const std::int64_t experts =
      model.moe ? std::int64_t{layout.expert} * layout.expert_tensor : layout.tensor;
  return experts != std::int64_t{layout.tensor} * layout.context;
}

int chunks_per_stage(ScheduleKind schedule, int virtual_stages) {
  return v_shaped(schedule) || schedule == ScheduleKind::dual_pipe ? 2 : virtual_stages;
}

std::optional<StageChunk> previous_chunk(ScheduleKind schedule, int stages, int, StageChunk at) {
  const int place = position(schedule, stages, at);
  if (place == 0) {
    return std::nullopt;
  }
  return at_position(schedule, stages, place - 1, at.chunk);
}

std::optional<StageChunk> next_chunk(ScheduleKind schedule, int stages, int chunks, StageChunk at) {
  const int place = position(schedule, stages, at);
  if (place + 1 == positions(schedule, stages, chunks)) {
    return std::nullopt;
  }
  return at_position(schedule, stages, place + 1, at.chunk);
}

namespace {

/// Why the layers cannot be divided as asked.
std::optional<Violation> division_problem(const ModelSpec& model,
                                          const ParallelismSpec& parallelism) {
  const int p = parallelism.pipeline;
  const ScheduleKind schedule = effective_schedule(parallelism);
  // Two directions hold every layer twice, so a chunk is the whole stage.
  const int chunks = schedule == ScheduleKind::dual_pipe
                         ? 1
                         : chunks_per_stage(schedule, parallelism.virtual_stages);
  if (!parallelism.chunk_layers.empty()) {
    std::string text = chunk_list_problem(model, parallelism);
    return text.empty() ? std::nullopt
                        : std::optional(Violation{"parallelism.chunk_layers", std::move(text)});
  }
  const auto stages = stage_layers(model, parallelism);
  if (!stages) {
    const int own = p - encoder_stages(model);
    std::string text = fmt::format("{} layers do not divide over {} pipeline stages{}",
                                   model.layers, own, own < p ? " behind the encoder's" : "");
    if (parallelism.first_stage_layers == 0 && parallelism.last_stage_layers == 0 && own > 0 &&
        (model.layers + 2) % own == 0) {
      const int each = (model.layers + 2) / own - 1;
      text += fmt::format("; set first_stage_layers and last_stage_layers to {}", each);
    } else {
      text += "; choose first_stage_layers and last_stage_layers so that the rest divides evenly";
    }
    return Violation{"parallelism.pipeline", std::move(text)};
  }
  for (int stage = 0; stage < p; ++stage) {
    const int layers = stages->of(stage);
    if (!even_chunk(layers, chunks, 0, stage == 0, stage == p - 1)) {
      // Schedules of two chunks a stage have them without the user's asking.
      return Violation{
          parallelism.virtual_stages > 1 ? "parallelism.virtual" : "parallelism.schedule",
          fmt::format("the {} layers of pipeline stage {} do not divide over {} virtual stages",
                      layers, stage, chunks)};
    }
  }
  return std::nullopt;
}

/// Chunks begin with a layer that has an indexer: which keys were chosen is not sent to another
/// stage. Source: Megatron-LM, experimental_attention_variant_module_specs.py,
/// _validate_dsa_index_share_pipeline_split, 2026.
std::optional<Violation> indexer_problem(const ModelSpec& model,
                                         const ParallelismSpec& parallelism) {
  if (!model.sparse || model.sparse->period == 1) {
    return std::nullopt;
  }
  int first = 0;
  for (const int layers : layers_in_order(model, parallelism)) {
    if (layers > 0 && layer_kind(model, {}, first).reuses) {
      return Violation{
          parallelism.chunk_layers.empty() ? "parallelism.pipeline" : "parallelism.chunk_layers",
          fmt::format(
              "layer {} begins a stage and attends to keys that the indexer of an earlier "
              "layer chose; which they are is not sent to another stage: write chunk_layers "
              "that begin with layers 0 to {} or with one of every {} after it",
              first, model.sparse->leading_layers, model.sparse->period)};
    }
    first += layers;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Violation> layout_problem(const ModelSpec& model,
                                        const ParallelismSpec& parallelism) {
  auto problem = division_problem(model, parallelism);
  return problem ? std::move(problem) : indexer_problem(model, parallelism);
}

StageLayout::StageLayout(const ModelSpec& model, const ParallelismSpec& parallelism)
    : stages_(parallelism.pipeline),
      chunks_(chunks_per_stage(effective_schedule(parallelism), parallelism.virtual_stages)) {
  if (auto problem = layout_problem(model, parallelism)) {
    throw core::Error(std::move(problem->text));
  }
  const ScheduleKind schedule = effective_schedule(parallelism);
  table_.resize(static_cast<std::size_t>(stages_ * chunks_));
  const int directions = schedule == ScheduleKind::dual_pipe ? 2 : 1;
  const std::vector<int> sizes = layers_in_order(model, parallelism);
  const int places = positions(schedule, stages_, chunks_);
  const int ahead = encoder_stages(model);
  for (int direction = 0; direction < directions; ++direction) {
    int layer = 0;
    for (int place = 0; place < places; ++place) {
      const StageChunk at = at_position(schedule, stages_, place, direction);
      const int layers = sizes[static_cast<std::size_t>(place)];
      table_[static_cast<std::size_t>(at.stage * chunks_ + at.chunk)] = {
          at.stage,
          at.chunk,
          layer,
          layers,
          place == ahead,
          place + 1 == places,
          place == 0 && model.vision.has_value()};
      layer += layers;
    }
  }
}

int StageLayout::layers(int stage) const {
  int sum = 0;
  for (int chunk = 0; chunk < chunks_; ++chunk) {
    sum += at(stage, chunk).layers;
  }
  return sum;
}

int copies_of_layers(const ParallelismSpec& parallelism) {
  return parallelism.schedule == ScheduleKind::dual_pipe ? 2 : 1;
}

bool ends_share_stage(const ModelSpec& model, const ParallelismSpec& parallelism) {
  return parallelism.pipeline - encoder_stages(model) == 1 || v_shaped(parallelism.schedule) ||
         copies_of_layers(parallelism) == 2;
}

std::vector<int> layers_by_cost(const ModelSpec& model, int stages) {
  const ForwardFlops flops = forward_flops_per_token(model, 1);
  const double layer = (flops.projections + flops.mlp).si() / model.layers;
  const double share = (model.layers + flops.head.si() / layer) / stages;
  std::vector<int> layers(static_cast<std::size_t>(stages), 0);
  int placed = 0;
  for (int stage = 0; stage + 1 < stages; ++stage) {
    const int full = static_cast<int>(std::ceil(share * (stage + 1)));
    const int left_for_others = model.layers - (stages - 2 - stage);
    const int end = std::max(placed + 1, std::min(full, left_for_others));
    layers[static_cast<std::size_t>(stage)] = end - placed;
    placed = end;
  }
  layers.back() = model.layers - placed;
  return layers;
}

std::vector<int> layers_of_chunks(const ModelSpec& model, const ParallelismSpec& parallelism) {
  return layers_in_order(model, parallelism);
}

std::vector<int> first_of_stages(const ParallelismSpec& parallelism, std::vector<int> layers) {
  const ScheduleKind schedule = effective_schedule(parallelism);
  std::vector<int> list;
  for (std::size_t place = 0; place < parallelism.chunk_layers.size(); ++place) {
    const StageChunk at = at_position(schedule, parallelism.pipeline, static_cast<int>(place), 0);
    int& left = layers[static_cast<std::size_t>(at.stage)];
    list.push_back(std::min(left, parallelism.chunk_layers[place]));
    left -= list.back();
  }
  return list;
}

bool recomputes_alike(const ParallelismSpec& parallelism) {
  const auto& layers = parallelism.chunk_layers;
  const auto& again = parallelism.chunk_recompute;
  if (again.empty() || again.size() != layers.size()) {
    return again.empty();
  }
  const int most = *std::max_element(again.begin(), again.end());
  for (std::size_t i = 0; i < again.size(); ++i) {
    if (again[i] != std::min(most, layers[i])) {
      return false;
    }
  }
  return true;
}

std::vector<int> chunks_of_stages(const ParallelismSpec& parallelism,
                                  const std::vector<int>& layers) {
  const ScheduleKind schedule = effective_schedule(parallelism);
  const int stages = parallelism.pipeline;
  const int chunks = chunks_per_stage(schedule, parallelism.virtual_stages);
  std::vector<int> list;
  for (int place = 0; place < positions(schedule, stages, chunks); ++place) {
    const StageChunk at = at_position(schedule, stages, place, 0);
    const int all = layers[static_cast<std::size_t>(at.stage)];
    // The first chunks hold one more; of the first stage the last, since the first embeds.
    const int from_front = at.stage == 0 ? chunks - 1 - at.chunk : at.chunk;
    list.push_back(all / chunks + (from_front < all % chunks ? 1 : 0));
  }
  return list;
}

std::vector<int> layers_of_stages(const ParallelismSpec& parallelism) {
  const ScheduleKind schedule = effective_schedule(parallelism);
  std::vector<int> layers(static_cast<std::size_t>(parallelism.pipeline), 0);
  for (std::size_t place = 0; place < parallelism.chunk_layers.size(); ++place) {
    const StageChunk at = at_position(schedule, parallelism.pipeline, static_cast<int>(place), 0);
    layers[static_cast<std::size_t>(at.stage)] += parallelism.chunk_layers[place];
  }
  return layers;
}

}  // namespace headway::workload
