// Activations that a rank keeps between forward and backward, beside those of the layers
// (memory.h).
#pragma once

#include "sim/workload/rank_shape.h"

namespace headway::workload {

/// Inputs of the final norm and of the head [B].
double kept_by_head(const RankShape& shape);

/// What a multi-token prediction module keeps beside its layer: inputs of its two norms and of the
/// matrix that joins them [B].
double kept_by_prediction(const RankShape& shape);

/// The embedding's dropout mask [B].
double kept_by_embedding(const RankShape& shape);

/// Logits of one micro-batch on one rank, in the format of activations [B].
double logit_array(const RankShape& shape);

}  // namespace headway::workload
