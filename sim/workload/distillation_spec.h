// Training on the probabilities of another model, whose forward runs beside the step or ran before.
#pragma once

#include <optional>
#include <vector>

#include "sim/core/fields.h"
#include "sim/core/ranges.h"
#include "sim/workload/model_spec.h"

namespace headway::workload {

/// Logits of a teacher that ran before: they lie in storage and are read with the batches.
/// Source: NVIDIA/Megatron-LM, megatron/training/distillation (logits_saver.py,
/// cached_logits_loss.py, utils_logits.py), 2026.
struct CachedLogitsSpec {
  int value_bits = 16;
  std::optional<int> token_id_bits;
  template <class V>
  void fields(V& v) {
    v.optional("value_bits", value_bits,
               "Bits of a stored logit or logarithm of a probability (fp16 and bf16: 16).",
               core::number_bits);
    v.optional("token_id_bits", token_id_bits,
               "Bits of the number that says which token a value is of; absent: 24, 16 and a byte "
               "for those above them, as Megatron-LM stores them. Only with `top_k`.",
               core::number_bits);
  }
  bool operator==(const CachedLogitsSpec&) const = default;
};

/// Knowledge distillation by logits: each micro-batch passes through a teacher, which learns
/// nothing, or its logits are read from storage; the loss is the divergence of the student's
/// probabilities from the teacher's.
/// Sources: Hinton et al. 2015 (arXiv 1503.02531); NVIDIA/Model-Optimizer,
/// modelopt/torch/distill/plugins/megatron.py, and NVIDIA-NeMo/Megatron-Bridge,
/// docs/training/distillation.md, 2026.
struct DistillationSpec {
  std::optional<ModelSpec> teacher;
  std::vector<int> teacher_layers;
  int top_k = 0;
  bool label_loss = false;
  std::optional<CachedLogitsSpec> cached{};
  template <class V>
  void fields(V& v) {
    v.optional("teacher", teacher,
               "The model that is learned from, where it runs: on the student's ranks, divided as "
               "the student is, forward only. Either this or `cached`.");
    v.optional("teacher_layers", teacher_layers, "Its layers on each pipeline stage; empty: even.",
               core::up_to_10k);
    v.optional("top_k", top_k,
               "Most probable tokens of the teacher that the loss compares, all others as one; "
               "with `cached` those that are stored; 0: the whole vocabulary.",
               core::up_to_16m);
    v.optional("label_loss", label_loss,
               "Cross entropy with the next token is part of the loss too.");
    v.optional("cached", cached,
               "The teacher ran before: its logits are read from storage with the batches. Either "
               "this or `teacher`.");
  }
  bool operator==(const DistillationSpec&) const = default;
};

}  // namespace headway::workload
