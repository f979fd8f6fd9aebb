// Activations that a rank keeps between forward and backward.
#pragma once

#include "sim/core/units.h"
#include "sim/workload/blocks/layer_kind.h"
#include "sim/workload/rank_shape.h"
#include "sim/workload/spec.h"

namespace headway::workload {

/// Activations one layer keeps from its forward to its backward, for one micro-batch on one rank.
/// Dropout masks are counted where the model has biases (GPT-3 and its time), as in Korthikanti et
/// al. 2022.
core::Bytes saved_per_layer(const ModelSpec& model,
                            const TrainingSpec& training,
                            const ParallelismSpec& parallelism,
                            const LayerKind& kind = {});

/// Extra bytes alive while one layer runs backward: recomputed activations and gradients in flight.
core::Bytes backward_working_set(const ModelSpec& model,
                                 const TrainingSpec& training,
                                 const ParallelismSpec& parallelism,
                                 const LayerKind& kind = {});

/// Logits kept from the head's forward to its backward, for one micro-batch on one rank of the last
/// stage.
core::Bytes logits_bytes(const ModelSpec& model,
                         const TrainingSpec& training,
                         const ParallelismSpec& parallelism);

/// What the loss's backward holds beside them: the gradient of the logits; separate operators the
/// gradients of the logarithms of probabilities and of fp32 logits.
core::Bytes logit_gradient_bytes(const ModelSpec& model,
                                 const TrainingSpec& training,
                                 const ParallelismSpec& parallelism);

/// Inputs of the final norm and, where the head is trained, of the head [B].
double kept_by_head(const ModelSpec& model, const RankShape& shape);

/// What a multi-token prediction module keeps beside its layer: inputs of its two norms and of the
/// matrix that joins them [B].
double kept_by_prediction(const RankShape& shape);

/// The embedding's dropout mask [B].
double kept_by_embedding(const RankShape& shape);

/// Logits of one micro-batch on one rank, in the format of activations [B].
double logit_array(const RankShape& shape);

}  // namespace headway::workload
