#include "sim/workload/memory/memory.h"

#include <algorithm>
#include <map>

#include "sim/workload/layout.h"
#include "sim/workload/memory/activation_memory.h"
#include "sim/workload/memory/narrow_copies.h"
#include "sim/workload/memory/offload.h"
#include "sim/workload/memory/optimizer_state.h"
#include "sim/workload/memory/outer_state.h"
#include "sim/workload/memory/owned_matrices.h"
#include "sim/workload/memory/rank_parameters.h"
#include "sim/workload/muon/muon.h"
#include "sim/workload/preconditioner/preconditioner.h"
#include "sim/workload/rank_shape.h"
#include "sim/workload/schedule/schedule.h"
#include "sim/workload/teacher/teacher.h"
#include "sim/workload/trained/trained_parameters.h"
#include "sim/workload/vision/encoder_memory.h"
#include "sim/workload/vision/image_places.h"

namespace headway::workload {

namespace {

using core::Bytes;

/// Activations and logits at one moment.
struct Live {
  double activations = 0, logits = 0;
  [[nodiscard]] double total() const { return activations + logits; }
  [[nodiscard]] LiveActivations bytes() const { return {Bytes(activations), Bytes(logits)}; }
};

/// The fullest moments of a stage: while the head runs, and while a layer runs backward.
struct Peaks {
  Live head, layers;
};

/// Follows the activations of one stage through its schedule.
class Liveness {
 public:
  Liveness(const ModelSpec& model, const TrainingSpec& training, const ParallelismSpec& parallelism)
      : model_(model),
        parallelism_(parallelism),
        shape_(rank_shape(model, training, parallelism)),
        logits_(logits_bytes(model, training, parallelism).si()),
        logit_gradients_(logit_gradient_bytes(model, training, parallelism).si()),
        teacher_(teacher_working_set(training, parallelism)),
        encoder_(encoder_memory(model, training, parallelism)),
        embedding_(shape_.element * embedding_working_elements(model, training, parallelism)) {
    if (encoder_stages(model) > 0) {
      images_ = shape_.element * image_elements(model, training, parallelism);
    }
    if (training.framework.allocation.sent_outputs && parallelism.pipeline > 1) {
      sent_ = shape_.element * shape_.split_stream();
      sent_images_ = images_;
    }
    const auto bytes_of = [&](const LayerKind& kind) -> LayerBytes {
      return {saved_per_layer(model, training, parallelism, kind).si(),
              backward_working_set(model, training, parallelism, kind).si()};
    };
    for (const LayerRun& run : layer_runs(model, parallelism, 0, model.layers)) {
      if (const auto [place, fresh] = layers_.try_emplace(run.kind); fresh) {
        place->second = bytes_of(run.kind);
      }
      const auto layers = static_cast<std::size_t>(run.layers);
      by_layer_.insert(by_layer_.end(), layers, &layers_.at(run.kind));
    }
    prediction_ = bytes_of(prediction_kind(model, parallelism));
    prediction_.kept += kept_by_prediction(shape_);
  }

  Peaks peaks(const StageLayout& layout, int stage, const StageSchedule& items) {
    begin(layout, stage);
    for (const WorkItem& item : items) {
      work(layout.at(stage, item.chunk), item.kind);
    }
    return peaks_;
  }

  /// @param of_moment  told after each item its own peaks, and what is live then
  template <class OfMoment>
  void each_moment(const StageLayout& layout,
                   int stage,
                   const StageSchedule& items,
                   OfMoment of_moment) {
    begin(layout, stage);
    for (const WorkItem& item : items) {
      peaks_ = {};
      work(layout.at(stage, item.chunk), item.kind);
      of_moment(peaks_, now_);
    }
  }

  /// Activations in host memory at their own peak, of the stage that `peaks` was last called for.
  [[nodiscard]] double host_peak() const { return host_peak_; }

 private:
  struct LayerBytes {
    double kept = 0, working = 0;
  };

  /// Some layers in a row that are alike.
  struct AlikeLayers {
    int layers = 0;
    const LayerBytes* each = nullptr;
  };

  /// A chunk of the stage at hand.
  struct Chunk {
    std::vector<AlikeLayers> runs;
    CopySteps copies;
  };

  /// Before the first item of a stage.
  void begin(const StageLayout& layout, int stage) {
    now_ = {};
    peaks_ = {};
    host_ = host_peak_ = 0;
    chunks_.resize(static_cast<std::size_t>(layout.chunks()));
    for (int i = 0; i < layout.chunks(); ++i) {
      const ChunkLayout& here = layout.at(stage, i);
      Chunk& chunk = chunks_[static_cast<std::size_t>(i)];
      chunk.copies.set(OffloadedChunk::of(parallelism_, here.layers));
      chunk.runs.clear();
      for (int place = 0; place < here.layers; ++place) {
        const LayerBytes& layer = layer_at(here, place);
        if (chunk.runs.empty() || chunk.runs.back().each != &layer) {
          chunk.runs.push_back({0, &layer});
        }
        ++chunk.runs.back().layers;
      }
    }
  }

  void work(const ChunkLayout& chunk, WorkKind kind) {
    if (kind == WorkKind::forward) {
      forward(chunk);
    } else if (kind == WorkKind::weight_gradient) {
      drop(chunk);
    } else {  // after the input half the weight gradients still need the activations
      backward(chunk, kind == WorkKind::backward);
    }
  }

  [[nodiscard]] const Chunk& of(const ChunkLayout& chunk) const {
    return chunks_[static_cast<std::size_t>(chunk.chunk)];
  }

  void forward(const ChunkLayout& chunk) {
    note({teacher_, 0}, peaks_.layers);
    if (chunk.encoder) {
      note({encoder_.kept + encoder_.forward, 0}, peaks_.layers);
    }
    now_.activations += kept_at_front(chunk);
    embed(chunk);
    forward_layers(chunk);
    now_.activations += sent_by(chunk);
    if (chunk.head) {
      keep_head(1);
      for (int i = 0; i < model_.multi_token_prediction; ++i) {
        now_.activations += prediction_.kept;
        keep_head(1);
      }
    }
    note({}, chunk.head ? peaks_.head : peaks_.layers);
  }

  void backward(const ChunkLayout& chunk, bool drops) {
    if (chunk.head) {
      for (int i = 0; i < model_.multi_token_prediction; ++i) {
        finish_head();
        note({prediction_.working, 0}, peaks_.head);
        now_.activations -= prediction_.kept;
      }
      finish_head();
    }
    backward_layers(chunk, drops);
    now_.activations -= sent_by(chunk);
    embed(chunk);
    if (chunk.encoder) {
      note({encoder_.backward, 0}, peaks_.layers);
    }
    now_.activations -= drops ? kept_at_front(chunk) : 0.0;
  }

  /// What the embedding holds while it runs, either way.
  void embed(const ChunkLayout& chunk) {
    if (chunk.embedding && embedding_ > 0) {
      note({embedding_, 0}, peaks_.layers);
    }
  }

  /// What embedding and encoder keep, and the tokens of images that came from a stage in front.
  [[nodiscard]] double kept_at_front(const ChunkLayout& chunk) const {
    return (chunk.embedding ? kept_by_embedding(shape_) + images_ : 0.0) +
           (chunk.encoder ? encoder_.kept : 0.0);
  }

  /// Outputs that stay until their backward; an encoder's own stage sends tokens of images.
  [[nodiscard]] double sent_by(const ChunkLayout& chunk) const {
    const bool own_stage = chunk.encoder && !chunk.embedding;
    return chunk.head ? 0.0 : own_stage ? sent_images_ : sent_;
  }

  void forward_layers(const ChunkLayout& chunk) {
    const CopySteps& copies = of(chunk).copies;
    if (!copies.any()) {
      for (const AlikeLayers& run : of(chunk).runs) {
        now_.activations += run.layers * run.each->kept;
      }
      return;
    }
    for (int place = 0; place < chunk.layers; ++place) {
      now_.activations += layer_at(chunk, place).kept;
      note({}, peaks_.layers);
      const CopyStep step = copies.after_forward(place);
      now_.activations -= step.awaits >= 0 ? layer_at(chunk, step.awaits).kept : 0.0;
      host_ += step.starts >= 0 ? layer_at(chunk, step.starts).kept : 0.0;
      host_peak_ = std::max(host_peak_, host_);
    }
  }

  /// The host's copy goes when the layer's activations are back, whole.
  void backward_layers(const ChunkLayout& chunk, bool drops) {
    const CopySteps& copies = of(chunk).copies;
    if (!copies.any()) {
      const std::vector<AlikeLayers>& runs = of(chunk).runs;
      for (auto run = runs.rbegin(); run != runs.rend(); ++run) {
        note({run->each->working, 0}, peaks_.layers);
        now_.activations -= drops ? run->layers * run->each->kept : 0.0;
      }
      return;
    }
    for (int place = chunk.layers - 1; place >= 0; --place) {
      const CopyStep step = copies.before_backward(place);
      host_ -= step.awaits >= 0 ? layer_at(chunk, step.awaits).kept : 0.0;
      now_.activations += step.starts >= 0 ? layer_at(chunk, step.starts).kept : 0.0;
      note({layer_at(chunk, place).working, 0}, peaks_.layers);
      now_.activations -= drops ? layer_at(chunk, place).kept : 0.0;
    }
  }

  [[nodiscard]] const LayerBytes& layer_at(const ChunkLayout& chunk, int place) const {
    return *by_layer_[static_cast<std::size_t>(chunk.first_layer + place)];
  }

  /// After weight gradients that ran by themselves.
  void drop(const ChunkLayout& chunk) {
    for (const AlikeLayers& run : of(chunk).runs) {
      now_.activations -= run.layers * run.each->kept;
    }
    now_.activations -= kept_at_front(chunk);
  }

  void finish_head() {
    note({0, logit_gradients_}, peaks_.head);
    keep_head(-1);
  }

  void keep_head(int sign) {
    now_.activations += sign * kept_by_head(model_, shape_);
    now_.logits += sign * logits_;
  }

  void note(Live extra, Live& peak) const {
    const Live moment{now_.activations + extra.activations, now_.logits + extra.logits};
    if (moment.total() > peak.total()) {
      peak = moment;
    }
  }

  const ModelSpec& model_;
  const ParallelismSpec& parallelism_;
  RankShape shape_;
  std::map<LayerKind, LayerBytes> layers_;
  std::vector<const LayerBytes*> by_layer_;  ///< of the model
  std::vector<Chunk> chunks_;                ///< of the stage at hand
  LayerBytes prediction_;  ///< of a multi-token prediction module, head not counted
  double logits_, logit_gradients_;
  double teacher_;  ///< alive in a layer of a teacher's forward
  EncoderMemory encoder_;
  double embedding_ = 0;
  double images_ = 0;  ///< tokens of images between an encoder's own stage and the next
  double sent_ = 0, sent_images_ = 0;  ///< output of a chunk that stays until its backward
  Live now_;
  Peaks peaks_;
  double host_ = 0, host_peak_ = 0;  ///< activations in host memory
};

/// Weights, gradients and optimizer of one rank [B], and what is there for a while.
struct States {
  double weights = 0, gradients = 0, optimizer = 0, gathered = 0;
  double at_head = 0, at_layers = 0;
  double pool = 0;
  double host = 0;
};

/// Parameters of the largest buckets of a stage.
struct LargestBuckets {
  double layers = 0, head = 0, embedding = 0;
  double trained = 0, trained_layers = 0, trained_head = 0;  ///< of what has gradients
};

LargestBuckets largest_buckets(const ModelSpec& model,
                               const TrainingSpec& training,
                               const ParallelismSpec& parallelism,
                               const StageLayout& layout,
                               int stage,
                               int ranks) {
  LargestBuckets largest;
  for (int chunk = 0; chunk < layout.chunks(); ++chunk) {
    const ChunkLayout& here = layout.at(stage, chunk);
    for (const Bucket& b : chunk_buckets(model, training, parallelism, here, ranks)) {
      double& kind = b.head ? largest.head : b.embedding ? largest.embedding : largest.layers;
      kind = std::max(kind, b.parameters.total());
      const double trained = b.trained.total();
      largest.trained = std::max(largest.trained, trained);
      double& of_kind = b.head ? largest.trained_head : largest.trained_layers;
      of_kind = !b.embedding ? std::max(of_kind, trained) : of_kind;
    }
  }
  return largest;
}

/// Adds what sharded weights and gradients hold for a while: two layers, one in use while the next
/// arrives, and their gradients, one in reduction; beside the logits the head, whose gradient comes
/// when they go. The embedding is gathered before there are activations and reduced after the last,
/// unless it shares a group with the head, which then is there all the time.
void add_passing(const TrainingSpec& training,
                 bool reshard,
                 const LargestBuckets& largest,
                 States& states) {
  const double weight = element_bytes(training.precision);
  const AllocationSpec& allocation = training.framework.allocation;
  const double root = allocation.root_gathered ? weight * (largest.head + largest.embedding) : 0.0;
  const double group = std::max({root, weight * largest.head, weight * largest.layers});
  states.pool = allocation.gather_pool ? group : 0.0;
  const double reduced = 2.0 * training.framework.reduce_bytes * largest.trained_layers;
  states.at_layers = reduced + (reshard ? root + 2.0 * weight * largest.layers : 0.0);
  states.at_head = reshard ? std::max(root, weight * largest.head) : 0.0;
}

/// The empty weight gradients that products leave for autograd where they add to the gradient
/// buffer themselves: one for each shape of a layer, from the first step on, and the head's while
/// its gradient is computed.
void add_empty_gradients(const ModelSpec& model,
                         const TrainingSpec& training,
                         const ParallelismSpec& parallelism,
                         const LargestBuckets& largest,
                         States& states) {
  if (!training.framework.allocation.empty_gradients) {
    return;
  }
  const double held =
      model.moe ? static_cast<double>(model.moe->experts) / parallelism.expert : 1.0;
  double shared = 0, expert = 0;
  for (const LayerRun& run : layer_runs(model, parallelism, 0, model.layers)) {
    const RankParameters layer = held_by_layer(model, parallelism, run.kind).trained;
    shared = std::max(shared, layer.shared);
    expert = std::max(expert, layer.experts / held);
  }
  const double element = element_bytes(training.precision);
  states.gathered += element * (shared + expert);
  states.at_head += element * largest.trained_head;
}

/// Moments of a parameter of a stage [B]; Muon's are those of matrices, others have Adam's in fp32.
double mean_moments(const ModelSpec& model,
                    const TrainingSpec& training,
                    const ParallelismSpec& parallelism,
                    const StageLayout& layout,
                    int stage) {
  const OptimizerState state = training.optimizer_state;
  if (state != OptimizerState::muon) {
    return moment_bytes(state);
  }
  const double share =
      matrix_share(stage_matrices(model, parallelism, layout, stage),
                   stage_parameters_per_rank(model, parallelism, layout, stage).total());
  return share * moment_bytes(state) + (1 - share) * moment_bytes(OptimizerState::adam_fp32);
}

/// Copies of the largest matrix that is made orthogonal [B].
double update_space(const ModelSpec& model,
                    const TrainingSpec& training,
                    const ParallelismSpec& parallelism,
                    const StageLayout& layout,
                    int stage) {
  if (training.optimizer_state != OptimizerState::muon) {
    return 0;
  }
  return newton_schulz_bytes(stage_matrices(model, parallelism, layout, stage),
                             muon_mode(training));
}

/// ZeRO-3 keeps fp32 shards, of which the weights that are multiplied are made when gathered; a
/// layer is used while the next arrives, or all stay gathered. Sharded gradients exist whole for
/// one bucket while the one before is reduced. Where gradients are not sharded, software may copy
/// them into buckets that are reduced.
States model_states(const TrainingSpec& training,
                    const ParallelismSpec& parallelism,
                    const HeldParameters& held,
                    const LargestBuckets& largest,
                    DataRanks ranks,
                    double moments) {
  const double stored = held.stored.total();
  const double parameters = held.trained.total();
  const double shard = ranks.shard_of(held.trained);
  const double gradient = training.framework.gradient_bytes;
  const bool full = full_precision(training.precision);
  const double weight = element_bytes(training.precision);
  const double optimizer = (full ? 0 : kMasterBytes) + moments;
  const double in_reduction = 2.0 * training.framework.reduce_bytes * largest.trained;
  const double buckets =
      ranks.several() ? training.framework.allocation.bucket_bytes * parameters : 0.0;
  const bool once = gathers_once(training.framework, parallelism);
  const bool reshard = parallelism.reshard && !once;
  switch (parallelism.sharding) {
    case Sharding::zero0:
      return {weight * stored, gradient * parameters, optimizer * parameters, buckets};
    case Sharding::zero1:
      return {weight * stored, gradient * parameters, optimizer * shard, buckets};
    case Sharding::zero2:
      return {weight * stored, gradient * shard, optimizer * shard, in_reduction};
    case Sharding::zero3:
    case Sharding::hsdp: {
      const double frozen = ranks.shard_of(held.stored) - shard;
      States states{kMasterBytes * shard + weight * frozen,
                    once ? training.framework.reduce_bytes * parameters : gradient * shard,
                    moments * shard, reshard ? 0.0 : weight * stored};
      add_passing(training, reshard, largest, states);
      return states;
    }
  }
  return {};
}

/// Master weights and moments (12 B a parameter with Adam in fp32) move to the host; the 16-bit
/// weights stay, and gradients wait on the GPU for the update.
States offloaded(States states,
                 const TrainingSpec& training,
                 const ParallelismSpec& parallelism,
                 double updated) {
  if (offloads_optimizer(parallelism.offload)) {
    const bool shards_weights =
        parallelism.sharding == Sharding::zero3 || parallelism.sharding == Sharding::hsdp;
    states.weights = shards_weights ? element_bytes(training.precision) * updated : states.weights;
    states.optimizer = 0;
    // The CPUs update a copy of their own, in full precision too.
    states.host = optimizer_bytes(training.optimizer_state) * updated;
  }
  return states;
}

/// Two messages each way: one in use, one in flight. An encoder's own stage sends tokens of images.
double transfer_buffers(const ModelSpec& model,
                        const TrainingSpec& training,
                        const ParallelismSpec& parallelism,
                        const RankShape& shape,
                        int stage) {
  const bool images = stage < encoder_stages(model);
  const bool split = (shape.gathers && !images) || training.framework.scatter_gather_p2p;
  const double elements =
      images ? image_elements(model, training, parallelism) : message_elements(training, shape);
  return parallelism.pipeline > 1 ? 4.0 * shape.element * elements / (split ? shape.tensor : 1)
                                  : 0.0;
}

}  // namespace

int peak_micro_batches(ScheduleKind schedule, int stages, int micro_batches) {
  constexpr int kRounds = 4;
  const int fewest = kRounds * stages + micro_batches % stages;
  return schedule == ScheduleKind::gpipe ? micro_batches : std::min(micro_batches, fewest);
}

std::vector<StageStates> stage_states(const ModelSpec& model,
                                      const TrainingSpec& given,
                                      const ParallelismSpec& parallelism,
                                      int data_parallel) {
  const TrainingSpec training = in_its_format(given);
  const StageLayout layout(model, parallelism);
  const RankShape shape = rank_shape(model, training, parallelism);
  const DataRanks ranks = data_ranks(parallelism, data_parallel);
  std::vector<StageStates> stages;
  for (int stage = 0; stage < layout.stages(); ++stage) {
    const LargestBuckets largest =
        largest_buckets(model, training, parallelism, layout, stage, ranks.shared);
    const HeldParameters held = held_by_stage(model, parallelism, layout, stage);
    const double shard = ranks.shard_of(held.trained);
    const double updated = parallelism.sharding == Sharding::zero0 ? held.trained.total() : shard;
    const double moments = mean_moments(model, training, parallelism, layout, stage);
    States states = offloaded(model_states(training, parallelism, held, largest, ranks, moments),
                              training, parallelism, updated);
    add_empty_gradients(model, training, parallelism, largest, states);
    states.at_layers += widened_matrix(model);
    StageStates memory;
    const TeacherBytes teacher = teacher_bytes(training, parallelism, stage, ranks);
    memory.weights =
        Bytes(states.weights + narrow_copies(model, training, parallelism, shape, layout, stage) +
              teacher.weights);
    memory.gradients = Bytes(states.gradients);
    memory.optimizer = Bytes(states.optimizer);
    memory.at_update = Bytes(update_space(model, training, parallelism, layout, stage));
    if (preconditions(training.optimizer_state)) {
      const auto matrices = stage_matrices(model, parallelism, layout, stage);
      memory.optimizer +=
          Bytes(factor_bytes(busiest_blocks(matrices, training, parallelism, ranks)));
    }
    memory.buffers = Bytes(states.gathered);
    memory.at_head = Bytes(states.at_head + teacher.at_head);
    memory.at_layers = Bytes(std::max(states.at_layers, teacher.at_layers));
    memory.pool = Bytes(states.pool);
    memory.host = Bytes(states.host);
    if (training.local_steps) {
      const double values = exchanged_values(model, parallelism, layout, stage, data_parallel);
      memory.optimizer += Bytes(kOuterBytes * values);
      // A fragment's change, packed: what is sent and what comes.
      memory.buffers += Bytes(2 * training.local_steps->exchange_bits / 8 * values /
                              training.local_steps->fragments);
    }
    stages.push_back(memory);
  }
  return stages;
}

std::vector<StageActivations> stage_activations(const ModelSpec& model,
                                                const TrainingSpec& given,
                                                const ParallelismSpec& parallelism,
                                                const std::vector<StageSchedule>& schedule) {
  const TrainingSpec training = in_its_format(given);
  const StageLayout layout(model, parallelism);
  const RankShape shape = rank_shape(model, training, parallelism);
  Liveness liveness(model, training, parallelism);
  std::vector<StageActivations> stages;
  for (int stage = 0; stage < layout.stages(); ++stage) {
    const Peaks peaks = liveness.peaks(layout, stage, schedule[static_cast<std::size_t>(stage)]);
    stages.push_back({peaks.head.bytes(), peaks.layers.bytes(),
                      Bytes(transfer_buffers(model, training, parallelism, shape, stage)),
                      Bytes(liveness.host_peak())});
  }
  return stages;
}

std::vector<StageMoments> stage_moments(const ModelSpec& model,
                                        const TrainingSpec& given,
                                        const ParallelismSpec& parallelism,
                                        const std::vector<StageSchedule>& schedule) {
  const TrainingSpec training = in_its_format(given);
  const StageLayout layout(model, parallelism);
  const RankShape shape = rank_shape(model, training, parallelism);
  Liveness liveness(model, training, parallelism);
  std::vector<StageMoments> stages(static_cast<std::size_t>(layout.stages()));
  for (int stage = 0; stage < layout.stages(); ++stage) {
    StageMoments& moments = stages[static_cast<std::size_t>(stage)];
    const Bytes buffers(transfer_buffers(model, training, parallelism, shape, stage));
    liveness.each_moment(
        layout, stage, schedule[static_cast<std::size_t>(stage)],
        [&](const Peaks& item, const Live& now) {
          moments.during.push_back({item.head.bytes(), item.layers.bytes(), buffers, Bytes(0)});
          moments.after.push_back(now.bytes());
        });
  }
  return stages;
}

StageMemory at_peak(const StageActivations& activations, const StageStates& states) {
  const bool head = activations.at_head.total() + states.at_head >
                    activations.at_layers.total() + states.at_layers;
  const LiveActivations& live = head ? activations.at_head : activations.at_layers;
  const Bytes passing = head ? states.at_head : states.at_layers;
  const Bytes updating = std::max(Bytes(0), states.at_update - live.total() - passing);
  return {states.weights,   states.gradients,
          states.optimizer, live.activations,
          live.logits,      states.buffers + passing + updating + activations.buffers,
          states.pool,      states.host + activations.host};
}

std::vector<StageMemory> stage_memory(const ModelSpec& model,
                                      const TrainingSpec& training,
                                      const ParallelismSpec& parallelism,
                                      int data_parallel,
                                      int micro_batches) {
  const ScheduleKind schedule = effective_schedule(parallelism);
  const auto activations = stage_activations(
      model, training, parallelism,
      pipeline_schedule(schedule, parallelism.pipeline, parallelism.virtual_stages,
                        peak_micro_batches(schedule, parallelism.pipeline, micro_batches)));
  const auto states = stage_states(model, training, parallelism, data_parallel);
  std::vector<StageMemory> stages;
  for (std::size_t stage = 0; stage < states.size(); ++stage) {
    stages.push_back(at_peak(activations[stage], states[stage]));
  }
  return stages;
}

}  // namespace headway::workload
