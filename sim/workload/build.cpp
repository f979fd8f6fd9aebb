#include "sim/workload/build.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "sim/core/error.h"
#include "sim/workload/data_parallel_blocks.h"
#include "sim/workload/layer_blocks.h"
#include "sim/workload/layout.h"
#include "sim/workload/pipeline_blocks.h"
#include "sim/workload/rank_parameters.h"
#include "sim/workload/schedule.h"

namespace headway::workload {

namespace {

constexpr int kNone = -1;

/// Blocks of one chunk, by index into the graph; kNone where there is nothing to do.
struct ChunkBlocks {
  int enter_forward = kNone, leave_forward = kNone;
  int enter_backward = kNone, leave_backward = kNone;
  std::vector<Bucket> buckets;  ///< in the order of backward; empty without data parallelism
  std::vector<int> reduce;      ///< one a bucket, where gradients are reduced bucket by bucket
  std::vector<int>
      await_gather;           ///< one a bucket, with overlapped gathers of the optimizer's shards
  std::vector<int> gather;    ///< one a bucket, where weights are sharded: starts its gather
  int last_backward = kNone;  ///< index of the item that completes the gradients
  int first_forward = kNone;
};

class GraphBuilder {
 public:
  GraphBuilder(const ModelSpec& model,
               const TrainingSpec& training,
               const ParallelismSpec& parallelism,
               int data_parallel,
               int micro_batches)
      : input_{model, training, parallelism, rank_shape(model, training, parallelism)},
        schedule_(effective_schedule(parallelism)),
        layout_(model, parallelism),
        data_parallel_(data_parallel * parallelism.context),
        items_(pipeline_schedule(
            schedule_, parallelism.pipeline, parallelism.virtual_stages, micro_batches)) {}

  StepGraph build() {
    layer_forward_ = intern(layer_forward(input_));
    layer_backward_ = intern(layer_backward(input_));
    if (splits_backward()) {
      layer_input_gradient_ = intern(layer_backward(input_, BackwardPart::input_gradient));
      layer_weight_gradient_ = intern(layer_backward(input_, BackwardPart::weight_gradient));
    }
    if (shards_weights()) {
      await_weights_ = intern(await_parameters(0, 0));
    }
    for (int stage = 0; stage < layout_.stages(); ++stage) {
      graph_.stages.push_back(build_stage(stage));
    }
    return std::move(graph_);
  }

 private:
  /// Index of a block equal to `block`, added if there is none.
  int intern(Block block) {
    const auto found = std::find(graph_.blocks.begin(), graph_.blocks.end(), block);
    if (found != graph_.blocks.end()) {
      return static_cast<int>(found - graph_.blocks.begin());
    }
    graph_.blocks.push_back(std::move(block));
    return static_cast<int>(graph_.blocks.size()) - 1;
  }

  bool splits_backward() const {
    for (const WorkItem& item : items_.front()) {
      if (item.kind == WorkKind::weight_gradient) {
        return true;
      }
    }
    return false;
  }

  bool reduces_early() const {
    return data_parallel_ > 1 && input_.training.framework.data_overlap;
  }
  /// Gradients are sharded: they are reduced after every micro-batch, not after the last.
  bool reduces_always() const {
    return data_parallel_ > 1 && shards_gradients(input_.parallelism.sharding);
  }
  bool shards_weights() const {
    return data_parallel_ > 1 && input_.parallelism.sharding == Sharding::zero3;
  }
  bool gathers_early() const {
    return reduces_early() && input_.parallelism.sharding != Sharding::zero0 && !shards_weights();
  }

  /// Channels: two a chunk of the receiver, activations and gradients.
  void connect(ChunkBlocks& blocks, const ChunkLayout& chunk) {
    const int p = layout_.stages();
    const StageChunk here{chunk.stage, chunk.chunk};
    if (const auto from = previous_chunk(schedule_, p, layout_.chunks(), here)) {
      if (from->stage != chunk.stage) {
        blocks.enter_forward =
            intern(receive_block(input_, from->stage, Group::pipeline_previous, 2 * chunk.chunk));
        blocks.leave_backward =
            intern(send_block(input_, from->stage, Group::pipeline_previous, 2 * from->chunk + 1));
      }
    } else {
      blocks.enter_forward = intern(embedding_forward(input_));
      blocks.leave_backward = intern(embedding_backward(input_));
    }
    if (const auto to = next_chunk(schedule_, p, layout_.chunks(), here)) {
      if (to->stage != chunk.stage) {
        blocks.leave_forward =
            intern(send_block(input_, to->stage, Group::pipeline_next, 2 * to->chunk));
        blocks.enter_backward =
            intern(receive_block(input_, to->stage, Group::pipeline_next, 2 * chunk.chunk + 1));
      }
    } else {
      blocks.leave_forward = intern(head_forward(input_));
      blocks.enter_backward = intern(head_backward(input_));
    }
  }

  std::vector<ChunkBlocks> stage_blocks(int stage) {
    std::vector<ChunkBlocks> chunks(static_cast<std::size_t>(layout_.chunks()));
    const auto& items = items_[static_cast<std::size_t>(stage)];
    for (int i = 0; i < static_cast<int>(items.size()); ++i) {
      ChunkBlocks& blocks =
          chunks[static_cast<std::size_t>(items[static_cast<std::size_t>(i)].chunk)];
      if (items[static_cast<std::size_t>(i)].kind == WorkKind::forward) {
        blocks.first_forward = blocks.first_forward == kNone ? i : blocks.first_forward;
      } else {
        blocks.last_backward = i;
      }
    }
    for (int c = 0; c < layout_.chunks(); ++c) {
      ChunkBlocks& blocks = chunks[static_cast<std::size_t>(c)];
      connect(blocks, layout_.at(stage, c));
      blocks.buckets =
          chunk_buckets(input_.model, input_.parallelism, layout_.at(stage, c), data_parallel_);
      for (const Bucket& bucket : blocks.buckets) {
        if (reduces_early() || reduces_always()) {
          blocks.reduce.push_back(intern(reduce_bucket(input_, bucket.parameters)));
        }
        if (shards_weights()) {
          blocks.gather.push_back(intern(gather_weights(input_, bucket.parameters)));
        }
      }
    }
    return chunks;
  }

  /// Chains the gathers of a stage: each is started when the one before it is awaited.
  /// @returns the block that starts the first, or kNone
  int plan_gathers(std::vector<ChunkBlocks>& chunks) {
    std::vector<double> order;
    for (const ChunkBlocks& blocks : chunks) {
      for (auto bucket = blocks.buckets.rbegin(); bucket != blocks.buckets.rend(); ++bucket) {
        order.push_back(bucket->parameters);
      }
    }
    if (!gathers_early() || order.empty()) {
      return kNone;
    }
    int index = 0;
    for (ChunkBlocks& blocks : chunks) {
      for (std::size_t i = 0; i < blocks.buckets.size(); ++i, ++index) {
        const auto next = static_cast<std::size_t>(index) + 1;
        blocks.await_gather.push_back(
            intern(await_parameters(index, next < order.size() ? order[next] : 0.0)));
      }
    }
    return intern(start_parameters(order.front()));
  }

  static void call(Stage& stage, int block, const Call& like, int repeat = 1) {
    if (block != kNone && repeat > 0) {
      Call made = like;
      made.block = block;
      made.repeat = repeat;
      stage.calls.push_back(made);
    }
  }

  /// Runs the buckets of a chunk with sharded weights: while one computes, the next one's weights
  /// arrive. `compute(bucket)` makes the calls of a bucket; `needs(bucket)` says whether its
  /// weights must be gathered.
  template <class Compute, class Needs>
  void run_sharded(Stage& stage,
                   const Call& like,
                   const ChunkBlocks& blocks,
                   const std::vector<std::size_t>& order,
                   Needs needs,
                   Compute compute) const {
    const auto start_next = [&](std::size_t place) {
      for (; place < order.size(); ++place) {
        if (needs(blocks.buckets[order[place]])) {
          call(stage, blocks.gather[order[place]], like);
          return;
        }
      }
    };
    start_next(0);
    for (std::size_t place = 0; place < order.size(); ++place) {
      if (needs(blocks.buckets[order[place]])) {
        call(stage, await_weights_, like);
        start_next(place + 1);
      }
      compute(order[place]);
    }
  }

  void forward_sharded(Stage& stage,
                       const ChunkBlocks& blocks,
                       const ChunkLayout& chunk,
                       const Call& like) const {
    if (!chunk.embedding) {
      call(stage, blocks.enter_forward, like);
    }
    std::vector<std::size_t> order(blocks.buckets.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
      order[i] = order.size() - 1 - i;
    }
    const auto all = [](const Bucket&) { return true; };
    run_sharded(stage, like, blocks, order, all, [&](std::size_t i) {
      const Bucket& bucket = blocks.buckets[i];
      call(stage, bucket.embedding ? blocks.enter_forward : kNone, like);
      call(stage, layer_forward_, like, bucket.layers);
    });
    call(stage, blocks.leave_forward, like);
  }

  /// The head's weights are still there from the forward; the embedding's backward needs none.
  void backward_sharded(Stage& stage,
                        const ChunkBlocks& blocks,
                        const Call& like,
                        WorkKind kind) const {
    const bool passes_on = kind != WorkKind::weight_gradient;
    const int layer = layer_block(kind);
    int leave = passes_on ? blocks.leave_backward : kNone;
    call(stage, passes_on ? blocks.enter_backward : kNone, like);
    std::vector<std::size_t> order(blocks.buckets.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto needs = [&](const Bucket& bucket) { return passes_on && bucket.layers > 0; };
    run_sharded(stage, like, blocks, order, needs, [&](std::size_t i) {
      call(stage, layer, like, blocks.buckets[i].layers);
      if (blocks.buckets[i].embedding) {
        call(stage, std::exchange(leave, kNone), like);
      }
      if (kind != WorkKind::input_gradient) {
        call(stage, blocks.reduce[i], like);
      }
    });
    call(stage, leave, like);
  }

  int layer_block(WorkKind kind) const {
    return kind == WorkKind::backward         ? layer_backward_
           : kind == WorkKind::input_gradient ? layer_input_gradient_
                                              : layer_weight_gradient_;
  }

  void forward(Stage& stage,
               const ChunkBlocks& blocks,
               const ChunkLayout& chunk,
               const Call& like,
               bool first) const {
    if (!blocks.gather.empty()) {
      forward_sharded(stage, blocks, chunk, like);
      return;
    }
    if (!first || blocks.await_gather.empty()) {
      call(stage, blocks.enter_forward, like);
      call(stage, layer_forward_, like, chunk.layers);
      call(stage, blocks.leave_forward, like);
      return;
    }
    // A stage without an embedding receives before it waits for its first weights.
    if (!chunk.embedding) {
      call(stage, blocks.enter_forward, like);
    }
    std::size_t index = 0;
    for (auto bucket = blocks.buckets.rbegin(); bucket != blocks.buckets.rend();
         ++bucket, ++index) {
      call(stage, blocks.await_gather[index], like);
      call(stage, bucket->embedding ? blocks.enter_forward : kNone, like);
      call(stage, layer_forward_, like, bucket->layers);
    }
    call(stage, blocks.leave_forward, like);
  }

  /// A whole backward, or one of its halves: the first passes gradients on, the second completes
  /// those of weights.
  void backward(Stage& stage,
                const ChunkBlocks& blocks,
                const ChunkLayout& chunk,
                const Call& like,
                WorkKind kind,
                bool last) const {
    if (!blocks.gather.empty()) {
      backward_sharded(stage, blocks, like, kind);
      return;
    }
    const bool passes_on = kind != WorkKind::weight_gradient;
    const int layer = layer_block(kind);
    const bool completes = kind != WorkKind::input_gradient && (last || reduces_always());
    int leave = passes_on ? blocks.leave_backward : kNone;
    call(stage, passes_on ? blocks.enter_backward : kNone, like);
    if (completes && !blocks.reduce.empty()) {
      for (std::size_t i = 0; i < blocks.buckets.size(); ++i) {
        call(stage, layer, like, blocks.buckets[i].layers);
        if (blocks.buckets[i].embedding) {
          call(stage, std::exchange(leave, kNone), like);
        }
        call(stage, blocks.reduce[i], like);
      }
    } else {
      call(stage, layer, like, chunk.layers);
    }
    call(stage, leave, like);
  }

  Block finish_block(int stage) const {
    OptimizerInput optimizer;
    optimizer.parameters = parameters_per_rank(input_.model, input_.parallelism, stage);
    optimizer.layers = layout_.layers(stage);
    optimizer.data_parallel = data_parallel_;
    bool first = false;
    bool last = false;
    for (int c = 0; c < layout_.chunks(); ++c) {
      first = first || layout_.at(stage, c).embedding;
      last = last || layout_.at(stage, c).head;
    }
    optimizer.embedding = first != last && input_.model.tied_embeddings;
    return finish_step(input_, optimizer);
  }

  Stage build_stage(int index) {
    std::vector<ChunkBlocks> chunks = stage_blocks(index);
    Stage stage;
    const int first_gather = plan_gathers(chunks);
    call(stage, first_gather, {0, CallKind::prologue, -1, 0, 1});
    const StageSchedule& items = items_[static_cast<std::size_t>(index)];
    for (int i = 0; i < static_cast<int>(items.size()); ++i) {
      const WorkItem& item = items[static_cast<std::size_t>(i)];
      const ChunkBlocks& blocks = chunks[static_cast<std::size_t>(item.chunk)];
      const ChunkLayout& chunk = layout_.at(index, item.chunk);
      if (item.kind == WorkKind::forward) {
        forward(stage, blocks, chunk, {0, CallKind::forward, item.micro_batch, item.chunk, 1},
                i == blocks.first_forward);
      } else {
        const CallKind kind =
            item.kind == WorkKind::weight_gradient ? CallKind::weight_gradient : CallKind::backward;
        backward(stage, blocks, chunk, {0, kind, item.micro_batch, item.chunk, 1}, item.kind,
                 i == blocks.last_backward);
      }
    }
    call(stage, intern(finish_block(index)), {0, CallKind::epilogue, -1, 0, 1});
    return stage;
  }

  BlockInput input_;
  ScheduleKind schedule_;
  StageLayout layout_;
  int data_parallel_;  ///< ranks with the same weights: data x context
  std::vector<StageSchedule> items_;
  StepGraph graph_;
  int layer_forward_ = kNone, layer_backward_ = kNone;
  int layer_input_gradient_ = kNone, layer_weight_gradient_ = kNone;
  int await_weights_ = kNone;
};

}  // namespace

StepGraph build_step_graph(const ModelSpec& model,
                           const TrainingSpec& training,
                           const ParallelismSpec& parallelism,
                           int data_parallel,
                           int micro_batches) {
  core::Diagnostics diagnostics;
  for (std::string& sentence : violations(model, training, parallelism, micro_batches)) {
    diagnostics.add(std::nullopt, std::move(sentence));
  }
  diagnostics.throw_if_any();
  return GraphBuilder(model, training, parallelism, data_parallel, micro_batches).build();
}

}  // namespace headway::workload
