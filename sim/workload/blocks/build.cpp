#include "sim/workload/blocks/build.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <span>
#include <utility>

#include "sim/core/error.h"
#include "sim/workload/blocks/block_table.h"
#include "sim/workload/blocks/data_parallel_blocks.h"
#include "sim/workload/blocks/layer_blocks.h"
#include "sim/workload/layout.h"
#include "sim/workload/memory/offload.h"
#include "sim/workload/memory/rank_parameters.h"
#include "sim/workload/schedule/chunk_blocks.h"
#include "sim/workload/schedule/end_blocks.h"
#include "sim/workload/schedule/pipeline_blocks.h"
#include "sim/workload/schedule/schedule.h"
#include "sim/workload/teacher/teacher_pass.h"
#include "sim/workload/trained/trained_parameters.h"
#include "sim/workload/vision/encoder_pass.h"

namespace headway::workload {

namespace {

/// Blocks of the layers of one kind.
struct LayerBlocks {
  int forward = kNone, backward = kNone;
  int input_gradient = kNone, weight_gradient = kNone;
};

class GraphBuilder {
 public:
  GraphBuilder(const BlockInput& input,
               int data_parallel,
               int micro_batches,
               int expert_domains,
               GraphDetail detail)
      : input_(input),
        detail_(detail),
        expert_domains_(expert_domains),
        schedule_(effective_schedule(input.parallelism)),
        layout_(input.model, input.parallelism),
        ranks_(data_ranks(input.parallelism, data_parallel)),
        items_(pipeline_schedule(schedule_,
                                 input.parallelism.pipeline,
                                 input.parallelism.virtual_stages,
                                 micro_batches)) {}

  StepGraph build() {
    if (runs_teacher(input_.training)) {
      teacher_.emplace(input_, expert_domains_, several() ? ranks_ : DataRanks{}, detail_, blocks_);
    }
    if (input_.model.vision) {
      encoder_.emplace(input_, detail_, blocks_);
    }
    for (const LayerRun& run :
         layer_runs(input_.model, input_.parallelism, 0, input_.model.layers)) {
      intern_layer(run.kind);
    }
    if (input_.model.multi_token_prediction > 0) {
      intern_layer(prediction_kind(input_.model, input_.parallelism));
    }
    if (shards_weights()) {
      await_weights_ = intern(await_parameters(input_, 0, 1, {}));
    }
    for (int stage = 0; stage < layout_.stages(); ++stage) {
      graph_.stages.push_back(build_stage(stage));
    }
    graph_.blocks = blocks_.take();
    add_copies(input_.model, input_.training, input_.parallelism, layout_, graph_);
    return std::move(graph_);
  }

 private:
  /// Index of a block equal to `block`, added if there is none.
  int intern(Block block) { return blocks_.intern(std::move(block)); }

  /// The same of a block that computes.
  template <class Write>
  int intern(std::string name, Write write) {
    return intern(detail_ != GraphDetail::traffic ? write() : Block{std::move(name), {}});
  }

  void intern_layer(const LayerKind& kind) {
    const auto [place, fresh] = layers_.try_emplace(kind);
    if (!fresh) {
      return;
    }
    LayerBlocks& blocks = place->second;
    const auto backward = [&](BackwardPart part) {
      return [this, &kind, part] { return layer_backward(input_, kind, part); };
    };
    const std::string name = kind_name(kind);
    blocks.forward = intern(name + " forward", [&] { return layer_forward(input_, kind); });
    blocks.backward = intern(name + " backward", backward(BackwardPart::whole));
    if (splits_backward()) {
      blocks.input_gradient =
          intern(name + " input gradient", backward(BackwardPart::input_gradient));
      blocks.weight_gradient =
          intern(name + " weight gradient", backward(BackwardPart::weight_gradient));
    }
  }

  bool splits_backward() const {
    return std::any_of(items_.front().begin(), items_.front().end(),
                       [](const WorkItem& item) { return item.kind == WorkKind::weight_gradient; });
  }

  /// Whether stages exchange messages.
  bool sends() const { return detail_ != GraphDetail::traffic; }
  /// Whether replicas exchange gradients and weights.
  bool several() const { return detail_ != GraphDetail::passes && ranks_.several(); }
  bool reduces_early() const {
    return several() && reduces_beside_backward(input_.training.framework, input_.parallelism);
  }
  bool reduces_always() const {
    return several() && reduces_every_micro_batch(input_.training.framework, input_.parallelism);
  }
  bool shards_weights() const {
    return several() && workload::shards_weights(input_.parallelism.sharding) &&
           !gathers_once(input_.training.framework, input_.parallelism);
  }
  bool gathers_early() const {
    return several() && input_.training.framework.gathers_beside_forward() &&
           input_.parallelism.sharding != Sharding::zero0 && !shards_weights();
  }

  /// Channels: two a chunk of the receiver, activations and gradients.
  void connect(ChunkBlocks& blocks, const ChunkLayout& chunk) {
    const int p = layout_.stages();
    const StageChunk here{chunk.stage, chunk.chunk};
    const auto from = previous_chunk(schedule_, p, layout_.chunks(), here);
    if (from && from->stage != chunk.stage && sends()) {
      const bool images = chunk.embedding;  // an encoder is on the stage in front
      const Message what = images ? Message::images : Message::activations;
      (images ? blocks.receive_images : blocks.enter_forward) = intern(
          receive_block(input_, from->stage, Group::pipeline_previous, 2 * chunk.chunk, what));
      (images ? blocks.send_images : blocks.leave_backward) = intern(
          send_block(input_, from->stage, Group::pipeline_previous, 2 * from->chunk + 1, what));
    }
    if (chunk.embedding) {
      blocks.enter_forward = intern("embedding forward", [&] { return embedding_forward(input_); });
      blocks.leave_backward =
          intern("embedding backward", [&] { return embedding_backward(input_); });
    }
    if (const auto to = next_chunk(schedule_, p, layout_.chunks(), here)) {
      if (to->stage != chunk.stage && sends()) {
        const bool images = layout_.at(to->stage, to->chunk).embedding;
        const Message what = images ? Message::images : Message::activations;
        blocks.leave_forward = {
            intern(send_block(input_, to->stage, Group::pipeline_next, 2 * to->chunk, what))};
        blocks.enter_backward = {intern(
            receive_block(input_, to->stage, Group::pipeline_next, 2 * chunk.chunk + 1, what))};
      }
    } else {
      connect_head(blocks);
    }
  }

  /// The head, and after it each multi-token prediction module with its own use of the head;
  /// backward meets them in the opposite order. A module's layer has no half backward.
  void connect_head(ChunkBlocks& blocks) {
    blocks.leave_forward = {intern("head forward", [&] { return head_forward(input_); })};
    blocks.enter_backward = {intern("head backward", [&] { return head_backward(input_); })};
    for (int i = 0; i < input_.model.multi_token_prediction; ++i) {
      const LayerBlocks& layer = layers_.at(prediction_kind(input_.model, input_.parallelism));
      const std::vector<int> forward{
          intern("prediction forward", [&] { return prediction_forward(input_); }), layer.forward,
          blocks.leave_forward.front()};
      const std::vector<int> backward{
          blocks.enter_backward.back(), layer.backward,
          intern("prediction backward", [&] { return prediction_backward(input_); })};
      blocks.leave_forward.insert(blocks.leave_forward.end(), forward.begin(), forward.end());
      blocks.enter_backward.insert(blocks.enter_backward.begin(), backward.begin(), backward.end());
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
      const ChunkLayout& chunk = layout_.at(stage, c);
      connect(blocks, chunk);
      blocks.runs = layer_runs(input_.model, input_.parallelism, chunk.first_layer, chunk.layers);
      if (several()) {
        blocks.buckets =
            chunk_buckets(input_.model, input_.training, input_.parallelism, chunk, ranks_.shared);
        add_traffic(blocks);
      }
    }
    return chunks;
  }

  /// Reductions and gathers of a chunk's buckets; those of buckets of one size are one block.
  void add_traffic(ChunkBlocks& blocks) {
    const Bucket* before = nullptr;
    for (const Bucket& bucket : blocks.buckets) {
      const bool same = before != nullptr && bucket.parameters == before->parameters &&
                        bucket.trained == before->trained && bucket.runs == before->runs &&
                        bucket.encoder.size() == before->encoder.size();
      if (reduces_early() || reduces_always()) {
        blocks.reduce.push_back(!trains(bucket) ? kNone
                                : same          ? blocks.reduce.back()
                                                : intern(reduce_bucket(input_, bucket)));
      }
      if (shards_weights()) {
        blocks.gather.push_back(same ? blocks.gather.back()
                                     : intern(gather_weights(input_, bucket)));
      }
      before = &bucket;
    }
  }

  static bool trains(const Bucket& bucket) { return bucket.trained.total() > 0; }

  static std::vector<ChunkBlocks*> in_order_of_use(std::vector<ChunkBlocks>& chunks) {
    std::vector<ChunkBlocks*> used;
    for (ChunkBlocks& blocks : chunks) {
      used.push_back(&blocks);
    }
    std::sort(used.begin(), used.end(), [](const ChunkBlocks* a, const ChunkBlocks* b) {
      return a->first_forward < b->first_forward;
    });
    return used;
  }

  /// Chains the gathers of a stage. One chunk: each gather is started when the one before it is
  /// awaited (forward hooks). Several: those of the next chunk are started when the first of a
  /// chunk is awaited: no stage waits for them in turn while the pipeline fills (Megatron-Core,
  /// param_sync_func). Chunks follow as they are first used: mirrored stages gather in one order.
  /// @returns the block that starts the first, or kNone
  int plan_gathers(std::vector<ChunkBlocks>& chunks) {
    if (!gathers_early()) {
      return kNone;
    }
    const std::vector<ChunkBlocks*> used = in_order_of_use(chunks);
    const bool single = chunks.size() == 1;
    std::vector<RankParameters> bytes;  // in the order in which they are gathered
    std::vector<std::size_t> ends{0};   // per launch: of what is gathered together
    for (const ChunkBlocks* blocks : used) {
      for (auto bucket = blocks->buckets.rbegin(); bucket != blocks->buckets.rend(); ++bucket) {
        if (trains(*bucket)) {
          bytes.push_back(gathered_bytes(input_, bucket->trained, bucket->runs));
          if (single) {
            ends.push_back(bytes.size());
          }
        }
      }
      if (!single && bytes.size() > ends.back()) {
        ends.push_back(bytes.size());
      }
    }
    const std::size_t launches = ends.size() - 1;
    if (launches == 0) {
      return kNone;
    }
    const auto launched = [&](std::size_t place) {
      return std::span(bytes).subspan(ends[place], ends[place + 1] - ends[place]);
    };
    int index = 0;
    std::size_t launch = 0;
    for (ChunkBlocks* blocks : used) {
      const auto trained = std::count_if(blocks->buckets.begin(), blocks->buckets.end(), trains);
      const int together = single ? 1 : static_cast<int>(trained);
      bool first = true;
      for (auto bucket = blocks->buckets.rbegin(); bucket != blocks->buckets.rend(); ++bucket) {
        if (!trains(*bucket)) {
          blocks->await_gather.push_back(kNone);
          continue;
        }
        const bool more = (single || std::exchange(first, false)) && ++launch < launches;
        blocks->await_gather.push_back(intern(await_parameters(
            input_, index, index + together, more ? launched(launch) : launched(0).first(0))));
        ++index;
      }
    }
    return intern(start_parameters(input_, launched(0)));
  }

  static void call(Stage& stage, int block, const Call& like, int repeat = 1) {
    if (block != kNone && repeat > 0) {
      Call made = like;
      made.block = block;
      made.repeat = repeat;
      stage.calls.push_back(made);
    }
  }

  static void call_each(Stage& stage, const std::vector<int>& blocks, const Call& like) {
    for (const int block : blocks) {
      call(stage, block, like);
    }
  }

  void forward_layers(Stage& stage, const auto& runs, const Call& like) const {
    for (const LayerRun& run : runs) {
      call(stage, layers_.at(run.kind).forward, like, run.layers);
    }
  }

  void backward_layers(Stage& stage, const auto& runs, const Call& like, WorkKind kind) const {
    for (auto run = runs.rbegin(); run != runs.rend(); ++run) {
      call(stage, layer_block(layers_.at(run->kind), kind), like, run->layers);
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
                   Compute compute,
                   bool started = false) const {
    const auto start_next = [&](std::size_t place) {
      for (; place < order.size(); ++place) {
        if (needs(blocks.buckets[order[place]])) {
          call(stage, blocks.gather[order[place]], like);
          return;
        }
      }
    };
    start_next(started ? order.size() : 0);
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
    std::iota(order.rbegin(), order.rend(), std::size_t{0});
    const auto all = [](const Bucket&) { return true; };
    teach(stage, chunk, like, blocks.gather[order.front()]);
    const auto compute = [&](std::size_t i) {
      const Bucket& bucket = blocks.buckets[i];
      see(stage, bucket.encoder, like);
      call(stage, bucket.embedding ? blocks.enter_forward : kNone, like);
      forward_layers(stage, bucket.runs, like);
    };
    run_sharded(stage, like, blocks, order, all, compute, teacher_.has_value());
    call_each(stage, blocks.leave_forward, like);
  }

  /// The head's weights are still there from the forward; the embedding's backward needs none.
  void backward_sharded(Stage& stage,
                        const ChunkBlocks& blocks,
                        const Call& like,
                        WorkKind kind) const {
    const bool passes_on = kind != WorkKind::weight_gradient;
    int leave = passes_on ? blocks.leave_backward : kNone;
    call_each(stage, passes_on ? blocks.enter_backward : std::vector<int>{}, like);
    std::vector<std::size_t> order(blocks.buckets.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto needs = [&](const Bucket& bucket) {
      const bool learns = !bucket.encoder.empty() && trains(bucket);
      return passes_on && input_.parallelism.reshard && (learns || !bucket.runs.empty());
    };
    run_sharded(stage, like, blocks, order, needs, [&](std::size_t i) {
      backward_layers(stage, blocks.buckets[i].runs, like, kind);
      if (blocks.buckets[i].embedding) {
        call(stage, std::exchange(leave, kNone), like);
      }
      see_back(stage, blocks.buckets[i].encoder, like, passes_on);
      if (kind != WorkKind::input_gradient) {
        call(stage, blocks.reduce[i], like);
      }
    });
    call(stage, leave, like);
  }

  /// A teacher's forward of this micro-batch; where weights are sharded, `after` starts beside its
  /// last bucket.
  void teach(Stage& stage, const ChunkLayout& chunk, const Call& like, int after = kNone) const {
    if (teacher_) {
      teacher_->forward(stage, chunk.stage, like, await_weights_, after);
    }
  }

  /// Parts of an encoder before the embedding.
  void see(Stage& stage, const std::vector<EncoderRun>& parts, const Call& like) const {
    if (encoder_) {
      encoder_->forward(stage, parts, like);
    }
  }

  /// Their backward after the embedding's; nobody below waits for it, so it is not halved.
  void see_back(Stage& stage,
                const std::vector<EncoderRun>& parts,
                const Call& like,
                bool passes_on) const {
    if (encoder_ && passes_on) {
      encoder_->backward(stage, parts, like);
    }
  }

  /// All parts, on the chunk that has the encoder.
  [[nodiscard]] std::vector<EncoderRun> seen_by(const ChunkLayout& chunk) const {
    return chunk.encoder ? encoder_->parts() : std::vector<EncoderRun>{};
  }

  static int layer_block(const LayerBlocks& blocks, WorkKind kind) {
    return kind == WorkKind::backward         ? blocks.backward
           : kind == WorkKind::input_gradient ? blocks.input_gradient
                                              : blocks.weight_gradient;
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
      see(stage, seen_by(chunk), like);
      call(stage, blocks.enter_forward, like);
      teach(stage, chunk, like);
      forward_layers(stage, blocks.runs, like);
      call_each(stage, blocks.leave_forward, like);
      return;
    }
    // A stage without an embedding receives before it waits for its first weights.
    if (!chunk.embedding) {
      call(stage, blocks.enter_forward, like);
    }
    teach(stage, chunk, like);
    std::size_t index = 0;
    for (auto bucket = blocks.buckets.rbegin(); bucket != blocks.buckets.rend();
         ++bucket, ++index) {
      call(stage, blocks.await_gather[index], like);
      see(stage, bucket->encoder, like);
      call(stage, bucket->embedding ? blocks.enter_forward : kNone, like);
      forward_layers(stage, bucket->runs, like);
    }
    call_each(stage, blocks.leave_forward, like);
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
    const bool completes = kind != WorkKind::input_gradient && (last || reduces_always());
    int leave = passes_on ? blocks.leave_backward : kNone;
    call_each(stage, passes_on ? blocks.enter_backward : std::vector<int>{}, like);
    if (completes && !blocks.reduce.empty()) {
      for (std::size_t i = 0; i < blocks.buckets.size(); ++i) {
        backward_layers(stage, blocks.buckets[i].runs, like, kind);
        if (blocks.buckets[i].embedding) {
          call(stage, std::exchange(leave, kNone), like);
        }
        see_back(stage, blocks.buckets[i].encoder, like, passes_on);
        call(stage, blocks.reduce[i], like);
      }
      call(stage, leave, like);
      return;
    }
    backward_layers(stage, blocks.runs, like, kind);
    call(stage, leave, like);
    see_back(stage, seen_by(chunk), like, passes_on);
  }

  static Call call_of(const WorkItem& item) {
    const CallKind kind = item.kind == WorkKind::forward           ? CallKind::forward
                          : item.kind == WorkKind::weight_gradient ? CallKind::weight_gradient
                                                                   : CallKind::backward;
    return {0, kind, item.micro_batch, item.chunk, 1};
  }

  /// Item `i` of a stage's schedule.
  void run_item(Stage& stage, int index, const ChunkBlocks& blocks, int i) const {
    const WorkItem& item = items_[static_cast<std::size_t>(index)][static_cast<std::size_t>(i)];
    if (item.kind == WorkKind::forward) {
      call(stage, blocks.receive_images, call_of(item));
      forward(stage, blocks, layout_.at(index, item.chunk), call_of(item),
              i == blocks.first_forward);
    } else {
      backward(stage, blocks, layout_.at(index, item.chunk), call_of(item), item.kind,
               i == blocks.last_backward);
      call(stage, blocks.send_images, call_of(item));
    }
  }

  /// Forward `i` and the backward after it as one pass.
  void run_pair(Stage& stage, int index, const std::vector<ChunkInside>& inside, int i) const {
    const StageSchedule& items = items_[static_cast<std::size_t>(index)];
    const WorkItem& first = items[static_cast<std::size_t>(i)];
    const WorkItem& second = items[static_cast<std::size_t>(i) + 1];
    const ChunkInside& ahead = inside[static_cast<std::size_t>(first.chunk)];
    const ChunkInside& back = inside[static_cast<std::size_t>(second.chunk)];
    call(stage, ahead.receive_forward, call_of(first));
    call(stage, back.receive_backward, call_of(second));
    run_item(stage, index, ahead.blocks, i);
    run_item(stage, index, back.blocks, i + 1);
    call(stage, ahead.send_forward, call_of(first));
    call(stage, back.send_backward, call_of(second));
  }

  Stage build_stage(int index) {
    std::vector<ChunkBlocks> chunks = stage_blocks(index);
    Stage stage;
    const int first_gather = plan_gathers(chunks);
    call(stage, first_gather, {0, CallKind::prologue, -1, 0, 1});
    const StageSchedule& items = items_[static_cast<std::size_t>(index)];
    constexpr std::size_t kUsualCalls = 8;  // of a pass: layers, their traffic, messages
    stage.calls.reserve(kUsualCalls * items.size());
    const bool pairs =
        std::any_of(items.begin(), items.end(), [](const WorkItem& one) { return one.with_next; });
    std::vector<ChunkInside> inside;
    for (int c = 0; pairs && c < layout_.chunks(); ++c) {
      inside.push_back(inside_of(chunks[static_cast<std::size_t>(c)], layout_.at(index, c)));
    }
    for (int i = 0; i < static_cast<int>(items.size()); ++i) {
      const WorkItem& item = items[static_cast<std::size_t>(i)];
      if (item.with_next) {
        run_pair(stage, index, inside, i);
        ++i;
      } else {
        run_item(stage, index, chunks[static_cast<std::size_t>(item.chunk)], i);
      }
    }
    const int end = intern(detail_ == GraphDetail::whole ? end_block(input_, layout_, ranks_, index)
                                                         : Block{"finish step", {}});
    call(stage, end, {0, CallKind::epilogue, -1, 0, 1});
    return stage;
  }

  BlockInput input_;
  GraphDetail detail_;
  int expert_domains_;
  ScheduleKind schedule_;
  StageLayout layout_;
  DataRanks ranks_;
  std::vector<StageSchedule> items_;
  StepGraph graph_;
  BlockTable blocks_;
  std::map<LayerKind, LayerBlocks> layers_;
  int await_weights_ = kNone;
  std::optional<TeacherPass> teacher_;
  std::optional<EncoderPass> encoder_;
};

}  // namespace

StepGraph build_step_graph(const ModelSpec& model,
                           const TrainingSpec& training,
                           const ParallelismSpec& parallelism,
                           int data_parallel,
                           int micro_batches,
                           int expert_domains,
                           GraphDetail detail) {
  core::Diagnostics diagnostics;
  for (Violation& one : violations(model, training, parallelism, data_parallel, micro_batches)) {
    diagnostics.add(std::nullopt, std::move(one.text));
  }
  diagnostics.throw_if_any();
  const TrainingSpec resolved = in_its_format(training);
  const BlockInput input = block_input(model, resolved, parallelism, expert_domains);
  return GraphBuilder(input, data_parallel, micro_batches, expert_domains, detail).build();
}

}  // namespace headway::workload
