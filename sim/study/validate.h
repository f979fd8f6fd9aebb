// The results of `headway validate`: rows of published measurements and what they come to.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "sim/validation/collectives/collective_rows.h"
#include "sim/validation/compared/constant_fit.h"
#include "sim/validation/compared/run_checks.h"
#include "sim/validation/goodput/goodput_cases.h"
#include "sim/validation/read_inputs.h"
#include "sim/validation/training_runs.h"

namespace headway::study {

/// The rows of published runs taken together.
struct RunsSummary {
  using ByName = std::vector<std::pair<std::string, validation::RunSummary>>;

  validation::RunSummary all;
  ByName parts, statuses;
  validation::RepeatNoise repeats;
  validation::LayoutOrdering layouts;
  std::vector<validation::SourceLayouts> choices;

  template <class V>
  void fields(V& v) const {
    all.fields(v);
    v.part("parts", parts, "the same summary of each part");
    v.part("statuses", statuses, "the same summary of `ok` and of `ok-assumed` rows");
    v.figure("repeat_rows", repeats.rows, "", "rows that repeat the configuration of another",
             core::non_negative);
    v.figure("repeat_mean_deviation", repeats.mean_deviation, "1",
             "mean distance of repeats from the median of their configuration: the noise of the "
             "data",
             core::non_negative);
    v.figure("layout_pairs", layouts.pairs, "",
             "pairs of rows that differ in layout only and by more than 10 %", core::non_negative);
    v.figure("layout_pairs_right", layouts.right, "1",
             "share of these that are predicted in the right order", core::non_negative);
    v.part("layouts", choices, "order and choice of layouts, by source");
  }
};

/// The rows as somebody sees them who has not seen their like: the constants fitted again without
/// each source, and the interval of one who never compared its runs; the same without each
/// framework and each GPU. Rows of the layout sweep are not among them.
struct LeavingOut {
  using ByName = RunsSummary::ByName;

  ByName parts, sources, frameworks, gpus;
  double mean_of_source_medians = 0;
  std::vector<validation::FittedConstant> constants;

  template <class V>
  void fields(V& v) const {
    v.part("parts", parts, "leaving out one source: dense NVIDIA, mixtures of experts");
    v.figure("mean_of_source_medians", mean_of_source_medians, "1",
             "mean over the sources of the median absolute error of their rows",
             core::non_negative);
    v.part("sources", sources, "leaving out one source: by source");
    v.part("frameworks", frameworks, "leaving out one framework: by framework");
    v.part("gpus", gpus, "leaving out one GPU: by GPU");
    v.part("constants", constants, "constants that are judged from runs, fitted again");
  }
};
LeavingOut leave_out(const std::vector<validation::RunPrediction>& rows);

/// "12 of 13 runs were predicted: median error ..."
std::string errors_in_words(const validation::RunSummary& rows);
/// The errors of rows that the constants have not seen; of all rows where none was left out.
std::string runs_verdict(const std::vector<validation::RunPrediction>& rows,
                         const LeavingOut& left_out);

/// `headway validate --runs`
struct RunsReport {
  std::vector<validation::RunPrediction> rows;
  bool fitted =
      false;  ///< the constants were fitted to these rows, so each source is left out once
  validation::ReadInputs made_from = {};

  [[nodiscard]] RunsSummary summary() const;

  template <class V>
  void fields(V& v) const {
    const LeavingOut out = fitted ? leave_out(rows) : LeavingOut{};
    made_from.fields(v);
    v.on_request(
        "verdict", std::optional(runs_verdict(rows, out)),
        "what it comes to: the errors of rows whose source the constants have not seen; of a "
        "table of one's own, of all its rows");
    v.part("left_out", out, "Errors of rows whose source the constants have not seen.");
    v.part("rows", rows, "one a published measurement");
    v.part("summary", summary(), "Over the rows.");
  }
};

/// `headway validate --anchor`
struct AnchorReport {
  validation::Anchor anchor;
  validation::ReadInputs made_from = {};

  template <class V>
  void fields(V& v) const {
    made_from.fields(v);
    v.part("anchor", anchor.id, "the row that is matched");
    v.figure("gemm_factor", anchor.gemm_factor, "1",
             "factor on the speed of matrix products that makes the row exact", core::positive);
    v.part("before", validation::summarize(anchor.before), "the rows like it, before");
    v.part("after", validation::summarize(anchor.after), "the same, matched");
  }
};

/// Cases of goodput taken together.
struct GoodputSummary {
  std::size_t n = 0, n_skipped = 0, n_compared = 0, n_agree = 0, n_inside = 0;

  template <class V>
  void fields(V& v) const {
    v.figure("n", n, "", "rows predicted", core::non_negative);
    v.figure("n_skipped", n_skipped, "", "rows not predicted", core::non_negative);
    v.figure("n_compared", n_compared, "",
             "predicted rows whose source reports a figure of the same definition",
             core::non_negative);
    v.figure("n_agree", n_agree, "", "of these, rows that agree", core::non_negative);
    v.figure("n_inside", n_inside, "", "of these, rows whose median is within the reported range",
             core::non_negative);
  }
};

/// `headway validate --goodput`
struct GoodputReport {
  std::vector<validation::GoodputPrediction> rows;
  validation::ReadInputs made_from = {};

  [[nodiscard]] GoodputSummary summary() const;

  template <class V>
  void fields(V& v) const {
    made_from.fields(v);
    v.part("rows", rows, "one a published case");
    v.part("summary", summary(), "Over the rows.");
  }
};

/// Which of `predict_collectives` and `predict_collectives_calibrated` made the rows.
enum class Calibration { none, leave_one_out };
constexpr auto enum_words(Calibration) {
  using E = core::EnumWord<Calibration>;
  return std::array{E{Calibration::none, "none"}, E{Calibration::leave_one_out, "leave_one_out"}};
}

/// `headway validate --collectives`
struct CollectivesReport {
  std::vector<validation::CollectivePrediction> rows;
  Calibration calibration = Calibration::none;
  validation::ReadInputs made_from = {};

  template <class V>
  void fields(V& v) const {
    made_from.fields(v);
    v.part("calibration", calibration, "none, or by the system's other rows");
    v.part("rows", rows, "one a published timing");
    v.part("summary", validation::summarize(rows), "Over the rows.");
  }
};

}  // namespace headway::study
