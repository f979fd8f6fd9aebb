#include "sim/study/validate.h"

namespace headway::study {

using validation::RunPrediction;

RunsSummary RunsReport::summary() const {
  return {validation::summarize(rows),
          validation::summarize_by(rows, &RunPrediction::part),
          validation::summarize_by(rows, &RunPrediction::status_class),
          validation::repeat_noise(rows),
          validation::layout_ordering(rows),
          validation::layout_choice(rows)};
}

GoodputSummary GoodputReport::summary() const {
  GoodputSummary sum;
  for (const auto& row : rows) {
    sum.n += row.predicted ? 1 : 0;
    sum.n_skipped += row.predicted ? 0 : 1;
    sum.n_compared += row.agrees() ? 1 : 0;
    sum.n_agree += row.agrees().value_or(false) ? 1 : 0;
  }
  return sum;
}

}  // namespace headway::study
