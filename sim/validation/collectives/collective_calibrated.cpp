// Published collectives, each predicted from the other timings of its own system.
#include <algorithm>
#include <map>
#include <tuple>

#include "sim/network/collective/collective_curve.h"
#include "sim/validation/collectives/collective_rows_parts.h"

namespace headway::validation {

namespace {

using import::CsvTable;
using network::CollectiveCurve;

/// A row with its system; rows that cannot be placed are not among them.
struct Timing {
  std::string system;
  PlacedCollective placed;
};

using CurveKey = std::tuple<core::CollectiveKind, int, int>;  // ranks, ranks a node

CurveKey key_of(const PlacedCollective& placed) {
  return {placed.call.kind, placed.group.ranks, placed.group.ranks_per_node};
}

/// The system's curves without the size of `left_out` in its own group; sizes measured more than
/// once count with their mean.
std::vector<CollectiveCurve> curves_without(const Timing& left_out,
                                            const std::vector<Timing>& timings) {
  std::map<CurveKey, std::map<double, std::pair<double, int>>> sums;
  const CurveKey own = key_of(left_out.placed);
  for (const auto& timing : timings) {
    const auto& placed = timing.placed;
    const bool same = key_of(placed) == own && placed.call.bytes == left_out.placed.call.bytes;
    if (timing.system == left_out.system && !placed.call.algorithm && !same) {
      auto& [sum, count] = sums[key_of(placed)][placed.call.bytes.si()];
      sum += placed.measured_us;
      ++count;
    }
  }
  std::vector<CollectiveCurve> curves;
  for (const auto& [key, sizes] : sums) {
    CollectiveCurve curve;
    std::tie(curve.collective, curve.ranks, curve.ranks_per_node) = key;
    for (const auto& [bytes, sum] : sizes) {
      curve.points.push_back({core::Bytes(bytes), core::Seconds(sum.first / sum.second * 1e-6)});
    }
    curves.push_back(std::move(curve));
  }
  return curves;
}

/// Predicted time [us], or the reason why nothing calibrates the row.
std::optional<double> predict(const Timing& row,
                              const std::vector<Timing>& timings,
                              std::string& why) {
  constexpr std::size_t kCurve = 2;  // fewer points have no slope
  const auto& placed = row.placed;
  if (placed.expert_exchange) {
    why = "an exchange of experts has no curve in this table";
    return std::nullopt;
  }
  if (placed.call.algorithm) {
    why = "a curve is of NCCL's own choice of algorithm, this row of a forced one";
    return std::nullopt;
  }
  const auto curves = curves_without(row, timings);
  const auto* own = network::find_curve(curves, placed.call.kind, placed.group);
  if (!placed.unknown_machine.empty()) {
    if (own == nullptr || own->points.size() < kCurve) {
      why = placed.unknown_machine;
      return std::nullopt;
    }
    return network::interpolate(*own, placed.call.bytes).si() * 1e6;
  }
  if (own == nullptr && network::nearest_curve(curves, placed.call.kind, placed.group) == nullptr) {
    why = "no other timing of this collective on this system";
    return std::nullopt;
  }
  return network::collective_time(placed.call, placed.group, placed.machine, curves).total.si() *
         1e6;
}

}  // namespace

std::vector<CollectivePrediction> predict_collectives_calibrated(const CsvTable& table,
                                                                 const Catalogue& catalogue) {
  std::vector<PlacedCollective> placed;
  std::vector<Timing> timings;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    placed.push_back(place_collective(table, row, catalogue));
    if (placed.back().skipped.empty() && !placed.back().expert_exchange) {
      timings.push_back({table.text(row, "system"), placed.back()});
    }
  }
  std::vector<CollectivePrediction> rows;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    CollectivePrediction p = blank_prediction(table, row, placed[row]);
    std::string why = placed[row].skipped;
    if (why.empty()) {
      if (const auto predicted = predict({p.system, placed[row]}, timings, why)) {
        fill_prediction(p, placed[row], *predicted);
      }
    }
    if (!why.empty()) {
      p.status = "skipped:" + why;
    }
    rows.push_back(std::move(p));
  }
  return rows;
}

}  // namespace headway::validation
