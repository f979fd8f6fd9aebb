// The kinds that training software has of one thing: orders of ranks, offload, schedules, kernels,
// losses.
#pragma once

#include <array>

#include "sim/core/fields.h"

namespace headway::workload {

/// Which dimension varies faster from node to node: neighbours in it are neighbours in the cluster.
enum class RankOrder { data_first, pipeline_first };
constexpr auto enum_words(RankOrder) {
  using E = core::EnumWord<RankOrder>;
  return std::array{E{RankOrder::data_first, "tp-cp-dp-pp"},
                    E{RankOrder::pipeline_first, "tp-cp-pp-dp"}};
}

/// What leaves the GPU's memory for the host's.
enum class Offload { none, optimizer, activations, all };
constexpr auto enum_words(Offload) {
  using E = core::EnumWord<Offload>;
  return std::array{E{Offload::none, "none"}, E{Offload::optimizer, "optimizer"},
                    E{Offload::activations, "activations"}, E{Offload::all, "all"}};
}
constexpr bool offloads_optimizer(Offload offload) {
  return offload == Offload::optimizer || offload == Offload::all;
}
constexpr bool offloads_activations(Offload offload) {
  return offload == Offload::activations || offload == Offload::all;
}

/// The order of passes on a pipeline's stages.
enum class ScheduleKind {
  gpipe,
  one_f_one_b,
  interleaved,
  zero_bubble_h1,
  zero_bubble_h2,
  zero_bubble_v,
  dual_pipe,
  dual_pipe_v
};
constexpr auto enum_words(ScheduleKind) {
  using S = ScheduleKind;
  using E = core::EnumWord<S>;
  return std::array{E{S::gpipe, "gpipe"},
                    E{S::one_f_one_b, "1f1b"},
                    E{S::interleaved, "interleaved"},
                    E{S::zero_bubble_h1, "zb-h1"},
                    E{S::zero_bubble_h2, "zb-h2"},
                    E{S::zero_bubble_v, "zb-v"},
                    E{S::dual_pipe, "dualpipe"},
                    E{S::dual_pipe_v, "dualpipe-v"}};
}
/// Whether the gradients of inputs and of weights are passes of their own, so that the latter fill
/// bubbles.
constexpr bool splits_backward(ScheduleKind schedule) {
  return schedule != ScheduleKind::gpipe && schedule != ScheduleKind::one_f_one_b &&
         schedule != ScheduleKind::interleaved;
}

/// The attention kernels a software stack calls.
enum class AttentionKernels { newest, unfused, flash2, flash3, cudnn, sdpa };
constexpr auto enum_words(AttentionKernels) {
  using K = AttentionKernels;
  using E = core::EnumWord<K>;
  return std::array{E{K::newest, "newest"}, E{K::unfused, "unfused"}, E{K::flash2, "flash2"},
                    E{K::flash3, "flash3"}, E{K::cudnn, "cudnn"},     E{K::sdpa, "sdpa"}};
}

/// Who writes the kernels between the matrix products.
enum class Elementwise { fused, compiled, eager };
constexpr auto enum_words(Elementwise) {
  using E = core::EnumWord<Elementwise>;
  return std::array{E{Elementwise::fused, "fused"}, E{Elementwise::compiled, "compiled"},
                    E{Elementwise::eager, "eager"}};
}

/// How cross entropy reads the logits.
enum class Loss { fused, in_place, copied, separate };
constexpr auto enum_words(Loss) {
  using E = core::EnumWord<Loss>;
  return std::array{E{Loss::fused, "fused"}, E{Loss::in_place, "in-place"},
                    E{Loss::copied, "copied"}, E{Loss::separate, "separate"}};
}

/// Where the scales of 8-bit operands come from.
enum class Scaling { delayed, tensor, row, block };
constexpr auto enum_words(Scaling) {
  using E = core::EnumWord<Scaling>;
  return std::array{E{Scaling::delayed, "delayed"}, E{Scaling::tensor, "tensor"},
                    E{Scaling::row, "row"}, E{Scaling::block, "block"}};
}

/// How tokens reach their experts.
enum class ExpertDispatch { all_to_all, deduplicated, all_gather };
constexpr auto enum_words(ExpertDispatch) {
  using E = core::EnumWord<ExpertDispatch>;
  return std::array{E{ExpertDispatch::all_to_all, "all-to-all"},
                    E{ExpertDispatch::deduplicated, "deduplicated"},
                    E{ExpertDispatch::all_gather, "all-gather"}};
}

/// Whose launch files start the software, as `headway export` names them.
enum class LaunchWords { none, megatron, torchtitan, deepspeed, nemo, maxtext };
constexpr auto enum_words(LaunchWords) {
  using W = LaunchWords;
  using E = core::EnumWord<W>;
  return std::array{
      E{W::none, "none"},           E{W::megatron, "megatron"}, E{W::torchtitan, "torchtitan"},
      E{W::deepspeed, "deepspeed"}, E{W::nemo, "nemo"},         E{W::maxtext, "maxtext"}};
}

}  // namespace headway::workload
