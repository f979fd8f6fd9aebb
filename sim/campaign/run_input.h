// What a run reads to train on: its data, and beside them cached logits of a teacher.
#pragma once

#include <optional>
#include <vector>

#include "sim/core/units.h"
#include "sim/storage/spec.h"
#include "sim/training/check.h"

namespace headway::campaign {

/// What is read of each token, what of it lies in storage, and who reads it.
struct RunInput {
  /// With the logits: those of a token beside its bytes, and in the data set those of its tokens.
  storage::DataSpec data;
  core::Bytes logits;          ///< in storage: of every token of the data set, or of the run
  core::Bytes stored;          ///< the data set and the logits, in one island
  double repeats = 1;          ///< read in one pass / stored
  std::vector<double> shares;  ///< of each node of the job in what is read; empty: equal
  double busiest = 1;          ///< what the node that reads most reads / the mean of all
};

/// Data are read by all nodes alike. Logits are read by nodes whose GPUs compute the loss, one
/// share for each group of tensor ranks that is there: its ranks on one node read the same file,
/// the second from the node's memory; where the whole vocabulary is stored, a node reads its ranks'
/// parts. Source: Megatron-LM, cached_logits_loss.py (every tensor rank loads the file of its
/// context and data rank), 2026; that a node keeps what it read until its last rank has it is
/// assumed.
/// @param tokens  of the whole run
/// @returns nothing where nothing is said of the data and no logits are read
std::optional<RunInput> run_input(const training::CheckedScenario& checked, double tokens);

/// Tokens that a run reads, repeated steps not counted.
/// @param step  the healthy step
double tokens_read(const training::CheckedScenario& checked, core::Seconds step);

}  // namespace headway::campaign
