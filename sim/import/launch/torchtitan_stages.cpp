#include "sim/import/launch/torchtitan_stages.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <vector>

#include "sim/workload/layout.h"

namespace headway::import {

namespace {

using workload::ScheduleKind;

bool is_folded(ScheduleKind kind) {
  return kind == ScheduleKind::zero_bubble_v || kind == ScheduleKind::dual_pipe_v;
}

/// Layers of each of `chunks` stages where the ends of the model count as layers, the first stages
/// having one more where that does not divide.
std::vector<int> titan_chunks(int layers, int chunks, int first_less, int last_less) {
  const int all = layers + first_less + last_less;
  std::vector<int> out(static_cast<std::size_t>(chunks), all / chunks);
  for (int i = 0; i < all % chunks; ++i) {
    ++out[static_cast<std::size_t>(i)];
  }
  out.front() -= first_less;
  out.back() -= last_less;
  return out;
}

/// Layers of the chunks in the order in which a micro-batch meets them; empty if they do not
/// divide.
std::vector<int> chunks_in_order(const LaunchRun& run, int chunks) {
  const workload::ParallelismSpec& p = run.parallelism;
  if (!p.chunk_layers.empty() || workload::layout_problem(run.model, p)) {
    return p.chunk_layers;
  }
  const workload::StageLayout layout(run.model, p);
  std::vector<int> list;
  for (int i = 0; i < chunks; ++i) {
    const bool back = is_folded(p.schedule) && i >= p.pipeline;
    const int stage = back ? chunks - 1 - i : i % p.pipeline;
    list.push_back(layout.at(stage, i / p.pipeline).layers);
  }
  return list;
}

/// What torchtitan is told of stages.
struct TitanStages {
  int less_first = 0, less_last = 0;
  int per_stage = 0;  ///< layers; 0: not said, for the number of stages that a schedule has unasked
};

/// The words for so many stages of which the ends count as so many layers, if there are any: their
/// number is the layers divided by those of a stage, rounded up.
std::optional<TitanStages> titan_stages(
    int layers, int chunks, int unasked, int less_first, int less_last) {
  const int all = layers + less_first + less_last;
  const int each = (all + chunks - 1) / chunks;
  if (each > 0 && (all + each - 1) / each == chunks) {
    return TitanStages{less_first, less_last, each};
  }
  return chunks == unasked ? std::optional(TitanStages{less_first, less_last, 0}) : std::nullopt;
}

/// The words that are read as these chunks; if none are, as so many; if none are either, as those
/// that the schedule has unasked.
TitanStages titan_words(int layers, const std::vector<int>& list, int chunks, int unasked) {
  const int most = list.empty() ? -1 : *std::ranges::max_element(list);
  for (int first = 0; first <= most; ++first) {
    for (int last = 0; last <= most; ++last) {
      if (titan_chunks(layers, chunks, first, last) == list) {
        if (const auto words = titan_stages(layers, chunks, unasked, first, last)) {
          return *words;
        }
      }
    }
  }
  return titan_stages(layers, chunks, unasked, 0, 0).value_or(TitanStages{});
}

}  // namespace

void read_titan_stages(LaunchReader& reader, LaunchRun& run) {
  workload::ParallelismSpec& p = run.parallelism;
  const auto first = reader.whole("parallelism.pipeline_parallel_first_stage_less_layers", 0);
  const auto last = reader.whole("parallelism.pipeline_parallel_last_stage_less_layers", 0);
  constexpr std::string_view kLayersKey = "parallelism.pipeline_parallel_layers_per_stage";
  const auto per_stage = reader.whole(kLayersKey);
  reader.place("parallelism.chunk_layers", kLayersKey);
  const int layers = run.model.layers;
  if (p.pipeline == 1 || layers == 0) {
    return;
  }
  const int less_first = first.value_or(1);
  const int less_last = last.value_or(1);
  const int all = layers + less_first + less_last;
  const bool looped = p.schedule == ScheduleKind::interleaved || is_folded(p.schedule);
  int chunks = p.pipeline * (looped ? 2 : 1);
  if (per_stage) {
    chunks = (all + *per_stage - 1) / *per_stage;
    if (chunks % p.pipeline != 0) {
      reader.complain(kLayersKey,
                      fmt::format("{} layers, {} of them for the ends, in stages of {} are {} "
                                  "stages, which {} ranks do not share evenly",
                                  all, less_first + less_last, *per_stage, chunks, p.pipeline));
      return;
    }
  }
  constexpr int kMostChunks = 10000;
  if (layers > kMostChunks || chunks > kMostChunks) {
    reader.complain(kLayersKey, fmt::format("{} layers in {} stages; at most {} of each are read",
                                            layers, chunks, kMostChunks));
    return;
  }
  const std::vector<int> list = titan_chunks(layers, chunks, less_first, less_last);
  if (list.front() < 0 || list.back() < 0) {
    reader.complain(kLayersKey, "the ends of the model count as more layers than a stage has");
    return;
  }
  p.virtual_stages = is_folded(p.schedule) ? 1 : chunks / p.pipeline;
  if (std::ranges::adjacent_find(list, std::ranges::not_equal_to{}) != list.end()) {
    p.chunk_layers = list;
  }
}

void write_titan_stages(const LaunchRun& run, LaunchWriter& out) {
  const workload::ParallelismSpec& p = run.parallelism;
  if (p.pipeline == 1) {
    return;
  }
  const int chunks = p.pipeline * (is_folded(p.schedule) ? 2 : p.virtual_stages);
  const bool looped = p.schedule == ScheduleKind::interleaved || is_folded(p.schedule);
  const TitanStages words = titan_words(run.model.layers, chunks_in_order(run, chunks), chunks,
                                        p.pipeline * (looped ? 2 : 1));
  out.whole("parallelism.pipeline_parallel_first_stage_less_layers", words.less_first);
  out.whole("parallelism.pipeline_parallel_last_stage_less_layers", words.less_last);
  if (words.per_stage > 0) {
    out.whole("parallelism.pipeline_parallel_layers_per_stage", words.per_stage);
  }
}

}  // namespace headway::import
