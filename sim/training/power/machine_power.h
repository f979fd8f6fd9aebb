// What a machine draws while it trains, stands still and waits.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/core/units.h"
#include "sim/training/scenario.h"

namespace headway::training {

/// Power of all IT equipment paid for, in two states.
struct MachinePower {
  core::Watts training;  ///< steps run
  core::Watts standing;  ///< saves, failures, restarts
};

/// Ports of the compute fabric, both ends of its cables, host side of the NICs not counted.
/// One leaf port a NIC; a cable from leaf to spine per `leaf_oversubscription` of them; in a fabric
/// of three tiers a cable from spine to core per `spine_oversubscription` of those.
///     nodes x NICs x (1 + 2 / leaf_os [tiers >= 2] + 2 / (leaf_os spine_os) [tiers = 3])
double switch_ports(const ClusterSpec& cluster, std::int64_t spares);

/// @param spares       nodes beside the job's
/// @param busy_shares  of each kind of node: share of the healthy step in which its GPUs compute;
///                     there they draw their board power, else, and whenever no step runs, their
///                     idle power
///
///     training = sum of gpus (idle + busy (power - idle)) + rest
///     standing = sum of gpus idle + rest
///     rest = spare GPUs idle + (nodes + spares) host + ports x power of a port
MachinePower machine_power(const ClusterSpec& cluster,
                           std::int64_t spares,
                           const std::vector<double>& busy_shares);
/// The same where all kinds are busy for one share.
MachinePower machine_power(const ClusterSpec& cluster, std::int64_t spares, double busy_share);

/// Of `run.prices`; 1 without prices.
double pue_of(const Scenario& scenario);

/// The most that all IT equipment draws: boards at their limit, hosts, switches, idle spares. A
/// building draws it times `pue_of`.
core::Watts peak_power(const Scenario& scenario);

}  // namespace headway::training
