#include "sim/report/calibrate_report.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <nlohmann/json.hpp>

#include "sim/core/error.h"
#include "sim/network/collective/closed_form.h"
#include "sim/network/collective/collective_curve.h"
#include "sim/report/nccl_tests_names.h"

#include "calibrate/fit/least_squares.h"

namespace headway::report {

using namespace core::literals;

namespace {

constexpr double kMicro = 1e-6;
constexpr double kGiga = 1e9;

std::string group_words(core::CollectiveKind kind, int ranks, int ranks_per_node) {
  return fmt::format("{} over {} ranks, {} a node", core::to_word(kind), ranks, ranks_per_node);
}

const network::CollectiveCurve& curve_of(const training::CalibrationSpec& profile,
                                         core::CollectiveKind kind,
                                         const fit::Sample& sample,
                                         const std::string& log) {
  std::string there;
  for (const auto& curve : profile.collectives) {
    if (curve.collective == kind && curve.ranks == sample.ranks &&
        curve.ranks_per_node == sample.ranks_per_node) {
      return curve;
    }
    there +=
        fmt::format("\n  {}", group_words(curve.collective, curve.ranks, curve.ranks_per_node));
  }
  throw core::Error(fmt::format("{}: the profile '{}' has no curve of {}{}", log, profile.name,
                                group_words(kind, sample.ranks, sample.ranks_per_node),
                                there.empty() ? "" : "; it has" + there));
}

std::vector<double> errors_of(const ProfileComparison& comparison, double least_bytes) {
  std::vector<double> errors;
  for (const auto& row : comparison.rows) {
    if (row.bytes.si() >= least_bytes) {
      errors.push_back(std::abs(row.error()));
    }
  }
  return errors;
}

}  // namespace

ProfileComparison compare_profile(const training::CalibrationSpec& profile,
                                  const std::vector<fit::Sample>& samples,
                                  const std::string& log) {
  if (samples.empty()) {
    throw core::Error(fmt::format("{}: holds no timing above zero", log));
  }
  const auto kind = core::from_word<core::CollectiveKind>(samples.front().op);
  HEADWAY_CHECK(kind.has_value(), "collective '{}'", samples.front().op);
  const auto& curve = curve_of(profile, *kind, samples.front(), log);
  std::map<double, std::vector<double>> by_bytes;
  for (const auto& sample : samples) {
    by_bytes[sample.bytes].push_back(sample.seconds);
  }
  ProfileComparison out{profile.name, log, *kind, curve.ranks, curve.ranks_per_node, {}};
  for (const auto& [bytes, seconds] : by_bytes) {
    ProfileRow row;
    row.bytes = core::Bytes(bytes);
    row.predicted = network::interpolate(curve, row.bytes);
    for (const double one : seconds) {
      row.measured += core::Seconds(one / static_cast<double>(seconds.size()));
    }
    row.predicted_bus_bandwidth =
        network::bus_bandwidth(*kind, row.bytes, curve.ranks, row.predicted);
    row.measured_bus_bandwidth =
        network::bus_bandwidth(*kind, row.bytes, curve.ranks, row.measured);
    out.rows.push_back(row);
  }
  return out;
}

Table comparison_table(const ProfileComparison& comparison) {
  Table table;
  table.columns = {{"message", false},
                   {"bytes"},
                   {"predicted [us]"},
                   {"measured [us]"},
                   {"predicted busbw [GB/s]"},
                   {"measured busbw [GB/s]"},
                   {"error [%]"}};
  for (const auto& row : comparison.rows) {
    table.rows.push_back({size_words(static_cast<std::uint64_t>(row.bytes.si())),
                          fmt::format("{:.0f}", row.bytes.si()),
                          number(row.predicted.si() / kMicro), number(row.measured.si() / kMicro),
                          number(row.predicted_bus_bandwidth.si() / kGiga),
                          number(row.measured_bus_bandwidth.si() / kGiga),
                          fmt::format("{:+.1f}", row.error() * 100)});
  }
  return table;
}

Document comparison_document(const ProfileComparison& comparison) {
  Document document;
  document.title = fmt::format("{} against {}", comparison.profile, comparison.log);
  document.opening = {group_words(comparison.kind, comparison.ranks, comparison.ranks_per_node) +
                      "."};
  document.tables = {comparison_table(comparison)};
  const auto all = errors_of(comparison, 0);
  const auto large = errors_of(comparison, (1_MiB).si());
  const auto& last = comparison.rows.back();
  document.closing = {fmt::format(
      "Median error {} % over {} sizes{}; at {} the bus bandwidth is {} GB/s predicted, {} GB/s "
      "measured.",
      percent(fit::median(all)), all.size(),
      large.empty() ? ""
                    : fmt::format(", {} % over the {} of 1 MiB and more",
                                  percent(fit::median(large)), large.size()),
      size_words(static_cast<std::uint64_t>(last.bytes.si())),
      number(last.predicted_bus_bandwidth.si() / kGiga),
      number(last.measured_bus_bandwidth.si() / kGiga))};
  return document;
}

std::string comparison_json(const ProfileComparison& comparison) {
  nlohmann::ordered_json out;
  out["schema"] = "headway.calibrate-compare/1";
  out["version"] = HEADWAY_VERSION;
  out["profile"] = comparison.profile;
  out["log"] = comparison.log;
  out["collective"] = core::to_word(comparison.kind);
  out["ranks"] = comparison.ranks;
  out["ranks_per_node"] = comparison.ranks_per_node;
  out["rows"] = nlohmann::ordered_json::array();
  for (const auto& row : comparison.rows) {
    out["rows"].push_back({{"message_bytes", row.bytes.si()},
                           {"predicted_s", row.predicted.si()},
                           {"measured_s", row.measured.si()},
                           {"predicted_bus_bytes_per_s", row.predicted_bus_bandwidth.si()},
                           {"measured_bus_bytes_per_s", row.measured_bus_bandwidth.si()},
                           {"error", row.error()}});
  }
  const auto large = errors_of(comparison, (1_MiB).si());
  auto& summary = out["summary"];
  summary["n"] = comparison.rows.size();
  summary["median_abs_error"] = fit::median(errors_of(comparison, 0));
  summary["n_large"] = large.size();
  summary["median_abs_error_large"] = nullptr;
  if (!large.empty()) {
    summary["median_abs_error_large"] = fit::median(large);
  }
  return out.dump(2) + "\n";
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
