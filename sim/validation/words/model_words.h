// Names of models and words of notes: architectures that no column of a shape says, and what is
// trained otherwise than all weights by Adam.
#pragma once

#include <optional>
#include <string>

#include "sim/validation/cells/cell_words.h"
#include "sim/validation/run_row.h"
#include "sim/workload/spec.h"

namespace headway::validation {

/// What the shape columns cannot say of the architecture that a model's name tells, "layers of
/// state spaces"; empty: nothing that is known.
std::string untold_architecture(const std::string& model);

/// The word of an attention cell for a kind that is not modelled; empty: none that is known.
std::string other_attention(const std::string& attention);

/// The word of network, sharding, architecture, model, era or notes that says that the run spans
/// several sites ("diloco", "2 sites", "wan"); empty: none does.
std::string several_sites(const RunRow& row);

/// What name, architecture and notes say of the training.
struct TrainingWords : ReadCell {
  std::optional<workload::AdaptersSpec> adapters;
  bool adapters_open = false;  ///< their rank or their products are not stated
  std::optional<workload::OptimizerState> optimizer;
  workload::Offload offload = workload::Offload::none;
  bool offload_open = false;  ///< of what, is not stated
  bool all_weights = false;   ///< fine-tuning of all weights is named
  bool packed = false;        ///< documents in a sequence, of lengths that are not stated
  double power = 0;           ///< limit of a board [W]; 0: none that is stated
  std::string refused;        ///< a word for what is not modelled
};
TrainingWords training_words(const RunRow& row);

}  // namespace headway::validation
