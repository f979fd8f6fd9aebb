// Which nodes of a partly occupied fabric are free, and which this job takes.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sim/training/scenario.h"
#include "sim/workload/violation.h"

namespace headway::training {

/// Nodes of a list of numbers and ranges, in the order in which they are written.
/// @throws core::Error  if an entry is neither "7" nor "0-7"
std::vector<std::uint32_t> node_numbers(const std::vector<std::string>& list);

/// The same back, for people and for files: rising runs as ranges.
std::vector<std::string> node_ranges(std::span<const std::uint32_t> nodes);

/// Nodes that are neither down nor of another job, rising. The rules of `occupancy_violations`
/// hold.
std::vector<std::uint32_t> free_nodes(const OccupancySpec& occupancy);

/// Nodes of this job, in the order in which ranks fill them; empty: all, in the fabric's order.
std::vector<std::uint32_t> taken_nodes(const ClusterSpec& cluster);

/// What of a partly occupied fabric breaks a rule or is not modelled.
workload::Violations occupancy_violations(const Scenario& scenario);

}  // namespace headway::training
