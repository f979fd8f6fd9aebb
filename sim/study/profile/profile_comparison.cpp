#include "sim/study/profile/profile_comparison.h"

#include <cmath>
#include <fmt/format.h>
#include <map>

#include "sim/core/error.h"
#include "sim/network/collective/closed_form.h"
#include "sim/network/collective/collective_curve.h"

#include "calibrate/fit/least_squares.h"

namespace headway::study {

using namespace core::literals;

namespace {

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

}  // namespace

std::string group_words(core::CollectiveKind kind, int ranks, int ranks_per_node) {
  return fmt::format("{} over {} ranks, {} a node", core::to_word(kind), ranks, ranks_per_node);
}

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

ProfileErrors ProfileComparison::errors() const {
  std::vector<double> all;
  std::vector<double> large;
  for (const ProfileRow& row : rows) {
    all.push_back(std::abs(row.error()));
    if (row.bytes >= 1_MiB) {
      large.push_back(all.back());
    }
  }
  const auto median = [](const std::vector<double>& errors) {
    return errors.empty() ? std::nullopt : std::optional(fit::median(errors));
  };
  return {all.size(), large.size(), median(all), median(large)};
}

}  // namespace headway::study
