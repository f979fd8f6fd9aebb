#include "sim/training/imbalance/rank_imbalance.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "sim/training/imbalance/largest_of.h"
#include "sim/training/step/step_inputs.h"
#include "sim/workload/blocks/layer_blocks.h"
#include "sim/workload/closed_form.h"
#include "sim/workload/layout.h"
#include "sim/workload/memory/rank_parameters.h"
#include "sim/workload/number_formats.h"
#include "sim/workload/schedule/schedule.h"
#include "sim/workload/vision/encoder_blocks.h"
#include "sim/workload/vision/work_spread.h"

namespace headway::training {

namespace {

using workload::Block;
using workload::LayerKind;
using workload::ParallelismSpec;

/// Seconds on the GPU of the attention kernels of a block, and of all its other kernels.
struct BlockSeconds {
  double attention = 0, others = 0;
  [[nodiscard]] double total() const { return attention + others; }
  BlockSeconds& operator+=(const BlockSeconds& more) {
    attention += more.attention;
    others += more.others;
    return *this;
  }
};

BlockSeconds seconds_of(const Block& block, const KernelTimes& times) {
  BlockSeconds sum;
  for (const workload::Operation& operation : block.operations) {
    for (const core::Kernel& kernel : operation.kernels) {
      const bool attends = kernel.kind == core::KernelKind::attention_forward ||
                           kernel.kind == core::KernelKind::attention_backward;
      (attends ? sum.attention : sum.others) +=
          gpu::kernel_time(*times.gpu, times.shares, kernel, times.launch).si();
    }
  }
  return sum;
}

/// A layer and micro-batch, forward and backward.
BlockSeconds layer_seconds(const workload::BlockInput& input,
                           const LayerKind& kind,
                           const KernelTimes& times) {
  BlockSeconds sum = seconds_of(workload::layer_forward(input, kind), times);
  sum += seconds_of(workload::layer_backward(input, kind), times);
  return sum;
}

/// Attention of a micro-batch on a stage: through all keys, and through the window.
struct StageAttention {
  double full = 0, windowed = 0;
  [[nodiscard]] double total() const { return full + windowed; }
};

/// Of the stage that has the most of it.
StageAttention most_attention(const workload::BlockInput& input, const KernelTimes& times) {
  const workload::StageLayout layout(input.model, input.parallelism);
  std::map<LayerKind, double> known;
  StageAttention most;
  for (int stage = 0; stage < layout.stages(); ++stage) {
    StageAttention here;
    for (int c = 0; c < layout.chunks(); ++c) {
      const workload::ChunkLayout& chunk = layout.at(stage, c);
      for (const workload::LayerRun& run :
           workload::layer_runs(input.model, input.parallelism, chunk.first_layer, chunk.layers)) {
        if (!run.kind.attends()) {
          continue;
        }
        const auto [place, fresh] = known.try_emplace(run.kind, 0.0);
        if (fresh) {
          place->second = layer_seconds(input, run.kind, times).attention;
        }
        (run.kind.windowed ? here.windowed : here.full) += run.layers * place->second;
      }
    }
    most = here.total() > most.total() ? here : most;
  }
  return most;
}

/// Variance of a micro-batch's attention [s^2].
double attention_variance(const workload::BlockInput& input, const KernelTimes& times) {
  const workload::TrainingSpec& training = input.training;
  if (training.documents.size() < 2) {
    return 0;
  }
  const StageAttention all = most_attention(input, times);
  const double sequences = input.parallelism.micro_batch;
  const double tokens = sequences * training.sequence_length;
  const workload::AttentionWindow window = workload::window_of(input.model);
  // Seconds of a pair of query and key, and pairs of a document.
  const auto pair = [&](double seconds, workload::AttentionWindow seen) {
    return seconds / (tokens * workload::mean_causal_keys(training, seen));
  };
  const double full = pair(all.full, {});
  const double windowed = all.windowed > 0 ? pair(all.windowed, window) : 0.0;
  const auto time = [&](double length) {
    return length * (full * workload::document_keys(length, {}) +
                     windowed * workload::document_keys(length, window));
  };
  return sequences * workload::packed_variance(training, time);
}

/// Kernels of a micro-batch on the stage of the language model that has the most [s].
double longest_stage(const workload::BlockInput& input, const KernelTimes& times) {
  const workload::StageLayout layout(input.model, input.parallelism);
  std::map<LayerKind, double> known;
  double longest = 0;
  for (int stage = 0; stage < layout.stages(); ++stage) {
    double here = 0;
    for (int c = 0; c < layout.chunks(); ++c) {
      const workload::ChunkLayout& chunk = layout.at(stage, c);
      for (const workload::LayerRun& run :
           workload::layer_runs(input.model, input.parallelism, chunk.first_layer, chunk.layers)) {
        const auto [place, fresh] = known.try_emplace(run.kind, 0.0);
        if (fresh) {
          place->second = layer_seconds(input, run.kind, times).total();
        }
        here += run.layers * place->second;
      }
      if (chunk.head) {
        here += seconds_of(workload::head_forward(input), times).total() +
                seconds_of(workload::head_backward(input), times).total();
      }
    }
    longest = std::max(longest, here);
  }
  return longest;
}

/// A micro-batch on an encoder [s]: its mean, and its variance.
struct EncoderTime {
  double mean = 0, variance = 0;
};

/// Attention over whole images grows with their square, all else with their patches.
EncoderTime encoder_time(const workload::BlockInput& input, const KernelTimes& times) {
  if (!input.model.vision || !input.training.images) {
    return {};
  }
  const workload::EncoderBlocks blocks(input);
  double square = 0;
  double linear = 0;
  for (const auto& run : workload::encoder_runs(input.model, input.parallelism)) {
    BlockSeconds sum = seconds_of(blocks.forward(run), times);
    if (workload::trains(input.model, run)) {
      sum += seconds_of(blocks.backward(run), times);
    }
    const bool whole = run.part == workload::EncoderPart::layer && !run.kind.windowed;
    square += run.count * (whole ? sum.attention : 0.0);
    linear += run.count * (sum.others + (whole ? 0.0 : sum.attention));
  }
  workload::ImagesSpec images = *input.training.images;
  const double share = workload::share_of_images(input.model, input.training, input.parallelism);
  images.per_sequence *= share;  // of the context rank with the most
  images.deviation *= share;
  double tokens = 0;
  double squares = 0;
  double shares = 0;
  for (const workload::ImageSize& size : images.sizes) {
    tokens += size.share * size.tokens;
    squares += size.share * size.tokens * size.tokens;
    shares += size.share;
  }
  const double sequences = input.parallelism.micro_batch;
  const double count = sequences * images.per_sequence;
  const double each = linear / (count * tokens / shares);
  const double each_square = square / (count * squares / shares);
  const auto time = [&](double n) { return n * (each + n * each_square); };
  return {linear + square, sequences * workload::images_variance(images, time)};
}

}  // namespace

RankMeetings rank_meetings(const Scenario& scenario,
                           const ParallelismSpec& layout,
                           int data_parallel) {
  RankMeetings meetings;
  meetings.ranks = data_parallel;
  const bool gathers = workload::shards_weights(layout.sharding) &&
                       !workload::gathers_once(scenario.training.framework, layout);
  std::int64_t group = 1;
  if (gathers) {
    group = layout.sharding == workload::Sharding::hsdp
                ? std::max(1, layout.shard_group_size / layout.context)
                : data_parallel;
  }
  const std::int64_t experts = std::int64_t{layout.expert} * layout.expert_tensor;
  const std::int64_t slice = std::int64_t{layout.tensor} * layout.context;
  group = std::max(group, scenario.model.moe ? (experts + slice - 1) / slice : 1);
  meetings.group = std::clamp<std::int64_t>(group, 1, meetings.ranks);
  return meetings;
}

WaitFactors wait_factors(const RankMeetings& meetings) {
  if (meetings.ranks < 2) {
    return {};
  }
  const LargestOf inside = largest_of_normals(meetings.group);
  const LargestOf among =
      largest_of_normals((meetings.ranks + meetings.group - 1) / meetings.group);
  return {inside.mean, inside.deviation * among.mean};
}

core::Seconds expected_wait(const WaitFactors& factors, int micro_batches, StageSpread spread) {
  const double m = micro_batches;
  const double wait = spread.deviation * (m * factors.each + std::sqrt(m) * factors.root);
  return core::Seconds(std::max(0.0, wait - m * spread.spare));
}

MicroBatchSpread micro_batch_spread(const Scenario& scenario, const ParallelismSpec& layout) {
  const workload::TrainingSpec training = workload::in_its_format(scenario.training);
  const workload::BlockInput input = workload::block_input(scenario.model, training, layout, 1);
  const KernelTimes times = kernel_times(scenario, layout);
  const double attention = attention_variance(input, times);
  const EncoderTime encoder = encoder_time(input, times);
  if (workload::encoder_stages(scenario.model) == 0) {
    return {{std::sqrt(attention + encoder.variance), 0}, {}};
  }
  const double longest = longest_stage(input, times);
  return {{std::sqrt(attention), std::max(0.0, encoder.mean - longest)},
          {std::sqrt(encoder.variance), std::max(0.0, longest - encoder.mean)}};
}

StageSpread longest_wait(const WaitFactors& factors,
                         int micro_batches,
                         const MicroBatchSpread& spread) {
  const bool encoder = expected_wait(factors, micro_batches, spread.encoder) >
                       expected_wait(factors, micro_batches, spread.language);
  return encoder ? spread.encoder : spread.language;
}

bool ranks_differ(const Scenario& scenario) {
  const workload::TrainingSpec& training = scenario.training;
  return !training.balanced_ranks && (training.documents.size() > 1 || training.images);
}

core::Seconds rank_imbalance(const Scenario& scenario,
                             const ParallelismSpec& layout,
                             int data_parallel,
                             int micro_batches) {
  if (data_parallel < 2 || !ranks_differ(scenario)) {
    return {};
  }
  const WaitFactors factors = wait_factors(rank_meetings(scenario, layout, data_parallel));
  return expected_wait(factors, micro_batches,
                       longest_wait(factors, micro_batches, micro_batch_spread(scenario, layout)));
}

}  // namespace headway::training
