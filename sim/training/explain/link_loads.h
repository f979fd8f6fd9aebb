// What the busiest links carry, moment by moment of a step.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/core/result_fields.h"
#include "sim/network/fabric/fabric.h"
#include "sim/network/flow/problem.h"
#include "sim/training/step/lower.h"

namespace headway::training {

/// The busiest link of a tier. Lists are of equal length: from when on it carries how much.
struct LinkLoad {
  std::string tier;
  std::int64_t alike = 1;
  core::BytesPerSecond capacity;
  std::int64_t mean_of = 0;  ///< [ns]
  std::vector<std::int64_t> from, load;

  template <class V>
  void fields(V& v) const {
    v.part("tier", tier, "as in `step.links`");
    v.figure("alike", alike, "", "links of the tier that carry as many bytes in the step",
             core::at_least_one);
    v.figure("capacity_bytes_per_s", capacity, "B/s", "what it can carry");
    v.figure("mean_of_ns", mean_of, "ns",
             "loads are means over windows of this length, where there are more than 1,000 "
             "changes; 0: exact",
             core::non_negative);
    v.figure("from_ns", from, "ns", "from the start of the step, when the load changes",
             core::non_negative);
    v.figure("load_bytes_per_s", load, "B/s", "load from then on", core::non_negative);
  }
};

/// A result stays small.
inline constexpr std::size_t kMostLoads = 1000;

/// One a tier of which a link carries something, with its busiest link. Without that of NVLink
/// where transfers inside a domain are timed as events, which have no flows.
/// @param run  with RunOptions::rates
std::vector<LinkLoad> link_loads(const network::Fabric& fabric,
                                 const LoweredStep& lowered,
                                 const network::RunResult& run);

}  // namespace headway::training
