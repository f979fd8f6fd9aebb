#include "sim/workload/memory/offload.h"

#include <algorithm>
#include <fmt/format.h>
#include <span>
#include <utility>
#include <vector>

#include "sim/core/error.h"
#include "sim/workload/blocks/block_writer.h"
#include "sim/workload/blocks/layer_kind.h"
#include "sim/workload/memory/activation_memory.h"

namespace headway::workload {

namespace {

/// Waits for a copy, then starts another; either may be missing.
Block copy_block(bool to_host, bool awaits, core::Bytes starts) {
  BlockWriter writer(to_host ? "offload activations" : "reload activations");
  const int ticket = to_host ? kToHostTicket : kFromHostTicket;
  const char* name = to_host ? "activations to host" : "activations from host";
  if (awaits) {
    Operation wait;
    wait.kind = OperationKind::delay;
    wait.activity = core::Activity::other;
    wait.name = name;
    wait.await = {ticket};
    writer.add(std::move(wait));
  }
  if (starts > core::Bytes(0)) {
    Operation copy;
    copy.kind = OperationKind::copy;
    copy.activity = core::Activity::other;
    copy.name = name;
    copy.bytes = starts;
    copy.asynchronous = true;
    copy.ticket = ticket;
    writer.add(std::move(copy));
  }
  return writer.finish();
}

/// Rewrites the passes of a graph.
class CopyWriter {
 public:
  CopyWriter(const ModelSpec& model,
             const TrainingSpec& training,
             const ParallelismSpec& parallelism,
             StepGraph& graph)
      : model_(model), training_(training), parallelism_(parallelism), graph_(graph) {
    for (const Block& block : graph.blocks) {
      layer_forward_.push_back(block.name.ends_with("layer forward"));
      layer_backward_.push_back(block.name.ends_with("layer backward") ||
                                block.name.ends_with("layer input gradient"));
    }
  }

  /// One pass of one micro-batch through a chunk.
  void write_pass(std::span<const Call> calls, const ChunkLayout& chunk, std::vector<Call>& out) {
    const bool forward = calls.front().kind == CallKind::forward;
    const auto& is_layer = forward ? layer_forward_ : layer_backward_;
    const auto copies = OffloadedChunk::of(parallelism_, chunk.layers);
    int runs = 0;
    for (const Call& call : calls) {
      runs += is_layer[static_cast<std::size_t>(call.block)] ? call.repeat : 0;
    }
    if (runs == 0) {  // messages apart: passes that overlap await and send them together
      out.insert(out.end(), calls.begin(), calls.end());
      return;
    }
    HEADWAY_CHECK(runs >= chunk.layers, "{} of a chunk's {} layers run", runs, chunk.layers);
    // The layers of prediction modules come after the chunk's, in backward before them.
    int place = forward ? 0 : runs - 1;
    for (const Call& call : calls) {
      if (!copies.any() || !is_layer[static_cast<std::size_t>(call.block)]) {
        out.push_back(call);
        continue;
      }
      for (int i = 0; i < call.repeat; ++i, place += forward ? 1 : -1) {
        write_layer(call, copies, chunk, place, out);
      }
    }
  }

 private:
  void write_layer(const Call& call,
                   const OffloadedChunk& copies,
                   const ChunkLayout& chunk,
                   int place,
                   std::vector<Call>& out) {
    const bool forward = call.kind == CallKind::forward;
    CopyStep step;
    if (place < chunk.layers) {
      step = forward ? copies.after_forward(place) : copies.before_backward(place);
    }
    Call layer = call;
    layer.repeat = 1;
    Call copy = layer;
    copy.block = block_of(forward, step, chunk);
    if (!forward && copy.block >= 0) {
      out.push_back(copy);
    }
    append(layer, out);
    if (forward && copy.block >= 0) {
      out.push_back(copy);
    }
  }

  /// Equal layers in a row are one call.
  static void append(const Call& layer, std::vector<Call>& out) {
    if (!out.empty()) {
      Call again = out.back();
      again.repeat = 1;
      if (again == layer) {
        ++out.back().repeat;
        return;
      }
    }
    out.push_back(layer);
  }

  /// Index of the block that does `step`, added if there is none; -1 if there is nothing to do.
  int block_of(bool to_host, const CopyStep& step, const ChunkLayout& chunk) {
    if (step.awaits < 0 && step.starts < 0) {
      return -1;
    }
    core::Bytes starts;
    if (step.starts >= 0) {
      const LayerKind kind = layer_kind(model_, parallelism_, chunk.first_layer + step.starts);
      starts = saved_per_layer(model_, training_, parallelism_, kind);
    }
    Block block = copy_block(to_host, step.awaits >= 0, starts);
    const auto first = graph_.blocks.begin() + std::ssize(layer_forward_);
    const auto found = std::find(first, graph_.blocks.end(), block);
    const auto index = static_cast<int>(found - graph_.blocks.begin());
    if (found == graph_.blocks.end()) {
      graph_.blocks.push_back(std::move(block));
    }
    return index;
  }

  const ModelSpec& model_;
  const TrainingSpec& training_;
  const ParallelismSpec& parallelism_;
  StepGraph& graph_;
  std::vector<bool> layer_forward_, layer_backward_;  ///< per block of the graph as it was
};

bool same_pass(const Call& a, const Call& b) {
  return a.kind == b.kind && a.micro_batch == b.micro_batch && a.chunk == b.chunk;
}

}  // namespace

void OffloadedChunk::check(int layers, int offloaded) {
  HEADWAY_CHECK(offloaded >= 0 && offloaded <= std::max(0, layers - 1),
                "{} of {} layers are offloaded", offloaded, layers);
}

OffloadedChunk OffloadedChunk::of(const ParallelismSpec& parallelism, int layers) {
  if (!offloads_activations(parallelism.offload)) {
    return {layers, 0};
  }
  const int most = std::max(0, layers - 1);
  return {layers, std::min(most, parallelism.offload_layers.value.value_or(most))};
}

int OffloadedChunk::window_end(int copy) const {
  return (copy + 1) * (layers_ / offloaded_) - 1 + std::min(copy + 1, layers_ % offloaded_);
}

int OffloadedChunk::copy_ending_at(int place) const {
  // The first n mod k windows are n / k + 1 layers long, the others one less.
  const int shortest = layers_ / offloaded_;
  const int longer = layers_ % offloaded_;
  const bool in_longer = place + 1 <= longer * (shortest + 1);
  const int layers = in_longer ? place + 1 : place + 1 - longer;
  const int copy = layers / (in_longer ? shortest + 1 : shortest) - 1;
  return copy >= 0 && copy < offloaded_ && window_end(copy) == place ? copy : -1;
}

CopyStep OffloadedChunk::after_forward(int place) const {
  if (!any()) {
    return {};
  }
  if (place == 0) {
    return {-1, 0};
  }
  const int copy = copy_ending_at(place);
  return copy < 0 ? CopyStep{} : CopyStep{copy, copy + 1 < offloaded_ ? copy + 1 : -1};
}

CopyStep OffloadedChunk::before_backward(int place) const {
  if (!any()) {
    return {};
  }
  if (place == 0) {
    return {0, -1};
  }
  const int copy = copy_ending_at(place);
  return copy < 0 ? CopyStep{} : CopyStep{copy + 1 < offloaded_ ? copy + 1 : -1, copy};
}

void CopySteps::work_out(const OffloadedChunk& chunk) {
  chunk_ = chunk;
  after_forward_.clear();
  before_backward_.clear();
  for (int place = 0; chunk.any() && place < chunk.layers(); ++place) {
    after_forward_.push_back(chunk.after_forward(place));
    before_backward_.push_back(chunk.before_backward(place));
  }
}

void add_copies(const ModelSpec& model,
                const TrainingSpec& training,
                const ParallelismSpec& parallelism,
                const StageLayout& layout,
                StepGraph& graph) {
  if (!offloads_activations(parallelism.offload)) {
    return;
  }
  CopyWriter writer(model, training, parallelism, graph);
  for (std::size_t stage = 0; stage < graph.stages.size(); ++stage) {
    const std::vector<Call> calls = std::exchange(graph.stages[stage].calls, {});
    std::vector<Call>& out = graph.stages[stage].calls;
    for (auto begin = calls.begin(); begin != calls.end();) {
      const auto end = std::find_if_not(begin, calls.end(),
                                        [&](const Call& call) { return same_pass(call, *begin); });
      if (begin->kind == CallKind::forward || begin->kind == CallKind::backward) {
        writer.write_pass({begin, end}, layout.at(static_cast<int>(stage), begin->chunk), out);
      } else {
        out.insert(out.end(), begin, end);
      }
      begin = end;
    }
  }
}

std::optional<Violation> offload_problem(const ModelSpec& model,
                                         const ParallelismSpec& parallelism) {
  const char* layers = "parallelism.offload_layers";
  if (!offloads_activations(parallelism.offload)) {
    if (!parallelism.offload_layers.value) {
      return std::nullopt;
    }
    return Violation{layers, "offload_layers belongs to offload: activations or all"};
  }
  if (layout_problem(model, parallelism)) {
    return std::nullopt;  // said elsewhere
  }
  const StageLayout layout(model, parallelism);
  int longest = 0;
  for (int stage = 0; stage < layout.stages(); ++stage) {
    for (int chunk = 0; chunk < layout.chunks(); ++chunk) {
      longest = std::max(longest, layout.at(stage, chunk).layers);
    }
  }
  if (longest < 2) {
    return Violation{"parallelism.offload",
                     "offload of activations moves nothing: chunks have one layer, which backward "
                     "needs at once; use fewer stages or virtual stages"};
  }
  const int wanted = parallelism.offload_layers.value.value_or(1);
  if (wanted >= longest) {
    return Violation{
        layers,
        fmt::format("offload_layers {} leaves no layer of a chunk of {} behind, and backward "
                    "needs the last at once; write at most {} or auto",
                    wanted, longest, longest - 1)};
  }
  return std::nullopt;
}

}  // namespace headway::workload
