#include "sim/report/verbs/calibrate_report.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "sim/report/result_json.h"
#include "sim/study/nccl_tests_names.h"

namespace headway::report {

using namespace core::literals;

namespace {

constexpr double kMicro = 1e-6;
constexpr double kGiga = 1e9;

}  // namespace

Table comparison_table(const study::ProfileComparison& comparison) {
  Table table;
  table.columns = {{"message", false},
                   {"bytes"},
                   {"predicted [us]"},
                   {"measured [us]"},
                   {"predicted busbw [GB/s]"},
                   {"measured busbw [GB/s]"},
                   {"error [%]"}};
  for (const auto& row : comparison.rows) {
    table.rows.push_back({study::size_words(static_cast<std::uint64_t>(row.bytes.si())),
                          fmt::format("{:.0f}", row.bytes.si()),
                          number(row.predicted.si() / kMicro), number(row.measured.si() / kMicro),
                          number(row.predicted_bus_bandwidth.si() / kGiga),
                          number(row.measured_bus_bandwidth.si() / kGiga),
                          fmt::format("{:+.1f}", row.error() * 100)});
  }
  return table;
}

Document comparison_document(const study::ProfileComparison& comparison) {
  Document document;
  document.title = fmt::format("{} against {}", comparison.profile, comparison.log);
  document.opening = {
      study::group_words(comparison.kind, comparison.ranks, comparison.ranks_per_node) + "."};
  document.tables = {comparison_table(comparison)};
  const study::ProfileErrors errors = comparison.errors();
  const auto& last = comparison.rows.back();
  document.closing = {fmt::format(
      "Median error {} % over {} sizes{}; at {} the bus bandwidth is {} GB/s predicted, {} GB/s "
      "measured.",
      percent(errors.median_abs_error.value_or(0)), errors.n,
      errors.median_abs_error_large
          ? fmt::format(", {} % over the {} of 1 MiB and more",
                        percent(*errors.median_abs_error_large), errors.n_large)
          : "",
      study::size_words(static_cast<std::uint64_t>(last.bytes.si())),
      number(last.predicted_bus_bandwidth.si() / kGiga),
      number(last.measured_bus_bandwidth.si() / kGiga))};
  return document;
}

std::string comparison_json(const study::ProfileComparison& comparison) {
  return dump(result_object("headway.calibrate-compare/1", core::figures_of(comparison)));
}

Document profile_document(const fit::Profile& profile) {
  Document document;
  document.title = fmt::format("Calibration profile '{}'", profile.spec.name);
  Table table;
  table.columns = {{"figure", false},     {"value"},   {"unit", false}, {"standard error [%]"},
                   {"leave one out [%]"}, {"samples"}, {"left out"}};
  for (const auto& f : profile.spec.figures) {
    table.rows.push_back({f.name, fmt::format("{:.4g}", f.value), f.unit,
                          f.value > 0 ? percent(f.standard_error / f.value) : "-",
                          percent(f.leave_one_out), fmt::format("{}", f.samples),
                          fmt::format("{}", f.flagged)});
  }
  document.tables = {std::move(table)};
  document.closing = profile.remarks;
  document.closing.push_back(
      fmt::format("Standard error of a predicted step with this profile: {} %.",
                  percent(profile.spec.relative_error)));
  return document;
}

Document anchor_document(const training::StepAnchor& anchor,
                         core::Seconds measured,
                         const std::vector<AnchoredStep>& steps) {
  Document document;
  document.title = fmt::format("Matrix products x {:.3f}", anchor.factor);
  Table table{"Step", {{"scenario", false}, {"before [s]"}, {"after [s]"}, {"change [%]"}}, {}};
  for (const AnchoredStep& step : steps) {
    table.rows.push_back({step.scenario, fmt::format("{:.4g}", step.before.si()),
                          fmt::format("{:.4g}", step.after.si()),
                          fmt::format("{:+.1f}", 100 * (step.after / step.before - 1))});
  }
  document.tables.push_back(std::move(table));
  document.closing.push_back(fmt::format(
      "{} was predicted {:+.1f} % from the measured {:.4g} s; with matrix products {:.3f} times as "
      "fast it is matched. One step cannot tell which kernel or transfer differs: where layouts "
      "differ much from it, measure another.",
      steps.front().scenario, 100 * (anchor.predicted / measured - 1), measured.si(),
      anchor.factor));
  return document;
}

}  // namespace headway::report
