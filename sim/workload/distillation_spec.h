// Training on the probabilities of another model, whose forward runs beside the step.
#pragma once

#include <vector>

#include "sim/core/fields.h"
#include "sim/core/ranges.h"
#include "sim/workload/model_spec.h"

namespace headway::workload {

/// Knowledge distillation by logits: each micro-batch passes through a teacher, which learns
/// nothing, and the loss is the divergence of the student's probabilities from the teacher's.
/// Sources: Hinton et al. 2015 (arXiv 1503.02531); NVIDIA/Model-Optimizer,
/// modelopt/torch/distill/plugins/megatron.py, and NVIDIA-NeMo/Megatron-Bridge,
/// docs/training/distillation.md, 2026.
struct DistillationSpec {
  ModelSpec teacher;
  std::vector<int> teacher_layers;
  int top_k = 0;
  bool label_loss = false;
  template <class V>
  void fields(V& v) {
    v.required("teacher", teacher,
               "The model that is learned from. It runs on the student's ranks, divided as the "
               "student is, forward only.");
    v.optional("teacher_layers", teacher_layers, "Its layers on each pipeline stage; empty: even.",
               core::up_to_10k);
    v.optional("top_k", top_k,
               "Most probable tokens of the teacher that the loss compares, all others as one; 0: "
               "the whole vocabulary.",
               core::up_to_16m);
    v.optional("label_loss", label_loss,
               "Cross entropy with the next token is part of the loss too.");
  }
  bool operator==(const DistillationSpec&) const = default;
};

}  // namespace headway::workload
