#include "sim/study/validate.h"

namespace headway::study {

using validation::RunPrediction;

RunsSummary RunsReport::summary() const {
  return {validation::summarize(rows),
          validation::summarize_by(rows, &RunPrediction::part),
          validation::summarize_by(rows, &RunPrediction::status_class),
          validation::repeat_noise(rows),
          validation::layout_ordering(rows),
          validation::layouts_by_source(rows)};
}

LeavingOut leave_out(const std::vector<RunPrediction>& rows) {
  const auto by = [&](const validation::GroupOf& group, auto&& name) {
    auto out = validation::left_out(rows, group);
    for (auto& row : out) {
      name(row);
    }
    return out;
  };
  const auto whole_part = [](RunPrediction& row) {
    row.part = row.part.substr(0, row.part.size() - row.table.size());
  };
  LeavingOut out;
  const auto unseen = by(validation::source_of, whole_part);
  out.parts = validation::summarize_by(unseen, &RunPrediction::part);
  out.sources = validation::summarize_by(unseen, &RunPrediction::source);
  for (const auto& [source, summary] : out.sources) {
    out.mean_of_source_medians +=
        summary.median_abs_error / static_cast<double>(out.sources.size());
  }
  const auto called = [](const auto& group) {
    return [group](RunPrediction& row) { row.group = group(row); };
  };
  out.frameworks = validation::summarize_by(
      by(validation::framework_of, called(validation::framework_of)), &RunPrediction::group);
  out.gpus = validation::summarize_by(by(validation::gpu_of, called(validation::gpu_of)),
                                      &RunPrediction::group);
  std::vector<std::string> names;
  for (const auto& constant : validation::judged_constants()) {
    names.emplace_back(constant.name);
  }
  out.constants = validation::fit_constants(rows, names);
  return out;
}

GoodputSummary GoodputReport::summary() const {
  GoodputSummary sum;
  for (const auto& row : rows) {
    sum.n += row.predicted ? 1 : 0;
    sum.n_skipped += row.predicted ? 0 : 1;
    sum.n_compared += row.agrees() ? 1 : 0;
    sum.n_agree += row.agrees().value_or(false) ? 1 : 0;
    sum.n_inside += row.is_inside() ? 1 : 0;
  }
  return sum;
}

}  // namespace headway::study
