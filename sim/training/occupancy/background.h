// Traffic of other jobs beside a step: flows that last as long as the step does.
#pragma once

#include <string>
#include <vector>

#include "sim/core/ids.h"
#include "sim/core/units.h"
#include "sim/network/fabric/fabric.h"
#include "sim/network/flow/problem.h"
#include "sim/training/cluster_spec.h"

namespace headway::training {

/// What one other job puts on the links: one flow whose rate is that of a network card, all its
/// cards in lockstep.
struct BackgroundFlow {
  std::string job;
  core::BytesPerSecond bound;             ///< of a card, while nothing is in the way
  std::vector<network::FlowOnLink> uses;  ///< links of the problem beside which it runs
};

/// The flows of all other jobs, on the links of a problem.
struct Background {
  std::vector<BackgroundFlow> flows;
  std::vector<network::ProblemLink> links;  ///< numbered after the problem's: nobody else uses them

  [[nodiscard]] bool empty() const { return flows.empty(); }
};

/// @param fabric_links  of the problem's links, in order
/// @throws core::Error if a way of theirs is not there
Background background_of(const ClusterSpec& cluster,
                         const network::Fabric& fabric,
                         const std::vector<core::LinkId>& fabric_links);

/// Runs a problem beside the others' flows until its own last actor has ended. Flows of both share
/// every link max-min fairly, by the rates of their cards. The result is of the problem's own
/// actors and bytes; without others it is that of `network::run`.
network::RunResult run_beside(const network::Problem& problem,
                              const Background& background,
                              const network::RunOptions& options);

}  // namespace headway::training
