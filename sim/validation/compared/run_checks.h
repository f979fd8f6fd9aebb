// What a table of published runs says beyond single errors: how far repeats differ, whether layouts
// are put in the right order, and what one measured step of a machine does to the others.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/validation/training_runs.h"

namespace headway::validation {

/// How far measurements of one configuration differ from each other: no prediction can be nearer
/// than that.
struct RepeatNoise {
  std::size_t groups = 0, rows = 0;
  double mean_deviation = 0;  ///< mean over the rows of |measured / median of its group - 1|
};

/// Repeats are predicted rows of one source whose predictions are equal to 1e-9: same
/// configuration, same profile.
RepeatNoise repeat_noise(const std::vector<RunPrediction>& rows);

/// Whether the faster of two layouts is predicted to be the faster.
struct LayoutOrdering {
  std::size_t pairs = 0;  ///< pairs of rows of one source, model, GPU, GPU count and precision that
                          ///< differ by more than 10 % in speed
  double right = 0;       ///< share of them in the right order
};
LayoutOrdering layout_ordering(const std::vector<RunPrediction>& rows);

/// What choosing a layout by its prediction costs: rows of one source, model, GPU, GPU count,
/// precision and sequence length are the layouts of one decision.
struct LayoutChoice {
  std::size_t groups = 0;  ///< decisions between layouts that are predicted to differ
  double mean_regret = 0;  ///< mean of 1 - measured of the layout predicted fastest / best measured
  double worst_regret = 0;
};
LayoutChoice layout_choice(const std::vector<RunPrediction>& rows);

/// Order and choice of the layouts of each source that has any to choose from, and, where a row of
/// it contradicts itself or another, also without such; of several such sources also of all rows,
/// as "all".
struct SourceLayouts {
  std::string source;
  bool consistent = false;  ///< rows whose status is `ok-contradictory` were left out
  LayoutOrdering ordering;
  LayoutChoice choice;

  template <class V>
  void fields(V& v) const {
    v.part("source", source, "of the rows, or `all`");
    v.part("consistent", consistent,
           "rows whose status is `ok-contradictory` were left out; false: of all");
    v.figure("pairs", ordering.pairs, "", "pairs of layouts that differ by more than 10 %",
             core::non_negative);
    v.figure("pairs_right", ordering.right, "1", "share of these in the right order",
             core::non_negative);
    v.figure("decisions", choice.groups, "", "sets of layouts to choose from", core::non_negative);
    v.figure("mean_regret", choice.mean_regret, "1",
             "mean of 1 - measured speed of the layout predicted fastest / of the best measured",
             core::non_negative);
    v.figure("worst_regret", choice.worst_regret, "1", "the largest of them", core::non_negative);
  }
};
std::vector<SourceLayouts> layouts_by_source(const std::vector<RunPrediction>& rows);

/// One factor on the matrix products of a profile, from one measured step.
struct Anchor {
  std::string id;          ///< row that is matched
  double gemm_factor = 1;  ///< on the framework's gemm_share
  std::vector<RunPrediction>
      before;  ///< rows of the same GPU, precision and framework profile, the anchor among them
  std::vector<RunPrediction> after;
};

/// Scales `gemm_share` of the row's framework profile until the row is predicted to 0.1 %.
/// @throws core::Error if there is no such row, it cannot be predicted, or no factor in 0.2 to 5
/// matches it
Anchor anchor_runs(const import::CsvTable& table,
                   const Catalogue& catalogue,
                   const std::string& id);

}  // namespace headway::validation
