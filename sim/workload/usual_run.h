// How runs of a training software are usually laid out: taken where a published run does not say.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "sim/core/fields.h"
#include "sim/core/precision.h"
#include "sim/core/ranges.h"

namespace headway::workload {

enum class Sharding { zero0, zero1, zero2, zero3, hsdp };
constexpr auto enum_words(Sharding) {
  using E = core::EnumWord<Sharding>;
  return std::array{E{Sharding::zero0, "zero0"}, E{Sharding::zero1, "zero1"},
                    E{Sharding::zero2, "zero2"}, E{Sharding::zero3, "zero3"},
                    E{Sharding::hsdp, "hsdp"}};
}

enum class Recompute { none, selective, full };
constexpr auto enum_words(Recompute) {
  using E = core::EnumWord<Recompute>;
  return std::array{E{Recompute::none, "none"}, E{Recompute::selective, "selective"},
                    E{Recompute::full, "full"}};
}

/// What selective recomputation makes again in backward instead of keeping it.
enum class RecomputePart { core_attention, latent_up, norms, activation, mlp, experts, operators };
constexpr auto enum_words(RecomputePart) {
  using P = RecomputePart;
  using E = core::EnumWord<P>;
  return std::array{E{P::core_attention, "core_attention"},
                    E{P::latent_up, "latent_up"},
                    E{P::norms, "norms"},
                    E{P::activation, "activation"},
                    E{P::mlp, "mlp"},
                    E{P::experts, "experts"},
                    E{P::operators, "operators"}};
}

/// How ranks that share a sequence meet each other's keys and values.
enum class ContextKind { ring, all_gather, all_to_all };
constexpr auto enum_words(ContextKind) {
  using E = core::EnumWord<ContextKind>;
  return std::array{E{ContextKind::ring, "ring"}, E{ContextKind::all_gather, "all-gather"},
                    E{ContextKind::all_to_all, "all-to-all"}};
}

/// What a software prints as its peak memory: its tensors; what its allocator holds for them; all
/// that the driver shows.
enum class ReportedMemory { allocated, reserved, device };
constexpr auto enum_words(ReportedMemory) {
  using E = core::EnumWord<ReportedMemory>;
  return std::array{E{ReportedMemory::allocated, "allocated"},
                    E{ReportedMemory::reserved, "reserved"}, E{ReportedMemory::device, "device"}};
}

/// Whose peak it prints: that of the stage whose GPU is fullest, of the first (rank 0), of the
/// last.
enum class ReportingStage { fullest, first, last };
constexpr auto enum_words(ReportingStage) {
  using E = core::EnumWord<ReportingStage>;
  return std::array{E{ReportingStage::fullest, "fullest"}, E{ReportingStage::first, "first"},
                    E{ReportingStage::last, "last"}};
}

/// What `headway validate` takes for a run of this software where its source is silent. Nothing
/// else reads it: a scenario states its own layout.
struct UsualRunSpec {
  core::Precision precision = core::Precision::bf16;
  Recompute recompute = Recompute::none;
  std::vector<RecomputePart> selective_parts;
  int micro_batch_tokens = 0;
  int most_virtual_stages = 1;
  bool sequence = false;
  Sharding sharding = Sharding::zero1;
  ContextKind context_kind = ContextKind::ring;
  int vocabulary_multiple = 1;
  bool experts_follow_tensor = false;
  bool stages_by_cost = false;
  std::optional<bool> dropout;
  ReportedMemory reported_memory = ReportedMemory::device;
  ReportingStage reporting_stage = ReportingStage::fullest;
  template <class V>
  void fields(V& v) {
    v.optional("precision", precision, "Operand format of the matrix products.");
    v.optional("recompute", recompute,
               "What is recomputed; where that does not fit the memory, the next stronger kind.");
    v.optional("selective_parts", selective_parts,
               "Parts that 'selective' recomputes; empty: core_attention.");
    v.optional("micro_batch_tokens", micro_batch_tokens,
               "Tokens of a micro-batch, rounded down to whole sequences; 0: one sequence.",
               core::window_tokens);
    v.optional("most_virtual_stages", most_virtual_stages,
               "Chunks of a stage: the largest divisor of its layers up to this; 1: never divided.",
               core::from_one_to_10k);
    v.optional("sequence", sequence, "Sequence parallelism wherever there is tensor parallelism.");
    v.optional("sharding", sharding, "What data-parallel ranks shard.");
    v.optional("context_kind", context_kind, "How a context group exchanges keys and values.");
    v.optional("vocabulary_multiple", vocabulary_multiple,
               "The vocabulary of each tensor rank is padded to a multiple of this.",
               core::from_one_to_16m);
    v.optional("experts_follow_tensor", experts_follow_tensor,
               "Experts are divided over the tensor ranks (expert_tensor = tensor), but those of "
               "models with latent attention.");
    v.optional(
        "stages_by_cost", stages_by_cost,
        "Layers are divided over the stages by the weights that they multiply with, those of "
        "the head counted.");
    v.optional("dropout", dropout,
               "Whether its models train with dropout; unstated: those with biases do.");
    v.optional("reported_memory", reported_memory,
               "What its logs call the peak of memory: allocated: tensors alone; reserved: what "
               "the allocator holds; device: all that the driver shows.");
    v.optional("reporting_stage", reporting_stage,
               "Of a pipeline, whose peak that is: of the stage whose GPU is fullest, of the first "
               "(rank 0 prints), of the last (the rank that has the loss prints).");
  }
  bool operator==(const UsualRunSpec&) const = default;
};

}  // namespace headway::workload
