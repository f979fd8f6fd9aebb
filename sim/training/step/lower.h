// From step graph, placement and fabric to one flow problem.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sim/network/collective/collective_flows.h"
#include "sim/network/fabric/fabric.h"
#include "sim/network/flow/problem.h"
#include "sim/training/check.h"
#include "sim/training/occupancy/background.h"
#include "sim/training/orbits/rank_orbits.h"
#include "sim/training/step/critical_path.h"
#include "sim/training/step/placement.h"
#include "sim/training/step/program.h"
#include "sim/training/step/step_inputs.h"
#include "sim/workload/step_graph.h"

namespace headway::training {

/// Whose program it is: that of a stage, on one kind of node.
struct ProgramOwner {
  int stage = 0, kind = 0;
  bool operator==(const ProgramOwner&) const = default;
};

/// The time of one kind of collective of the step, alone on the fabric: what reports and
/// explanations quote.
struct CollectiveUse {
  std::string name;
  network::CollectiveCall call;
  network::GroupShape shape;
  network::CollectiveTime alone;
  std::size_t machine = 0;  ///< of those that groups of the step lie on: which kinds of nodes
};

/// A training step as a problem for the flow engine.
struct LoweredStep {
  network::Problem problem;
  std::vector<core::LinkId> fabric_links;        ///< problem link -> fabric link
  std::vector<std::uint32_t> link_multiplicity;  ///< problem link -> fabric links it stands for
  std::vector<ProgramOwner> owners;              ///< per program of the stages
  std::vector<CollectiveUse> collectives;        ///< each distinct one once, in order of first use
  std::vector<core::Bytes>
      timed_bytes;  ///< per group: bytes one rank sends over NVLink in a timed event, else 0
  std::vector<core::Bytes>
      copied_bytes;  ///< per group: of a copy between GPU and host memory, else 0
  std::vector<std::uint32_t>
      use_of_group;    ///< per group: its entry in `collectives`; of a copy none
  LaunchTicks launch;  ///< per program and step
  LaunchTicks idle;    ///< the same: StageProgram::idle
  std::vector<std::vector<StepOrigin>> origins;  ///< per program and step, if asked for
  /// Per kind of node and block of the graph, block_stretch; with origins.
  std::vector<std::vector<double>> stretches;
  Background background;  ///< other jobs on the fabric; none where transfers do not contend

  /// The stage whose program this is; of one that is no stage's its own number.
  [[nodiscard]] int stage_of(std::uint32_t program) const {
    return program < owners.size() ? owners[program].stage : static_cast<int>(program);
  }
};

/// Below, a program without loops is simulated in a fraction of a second.
inline constexpr std::int64_t kFewestLoops = 1024;

struct LowerOptions {
  bool contention = true;  ///< false: every transfer is a timed event that takes its time alone
  bool origins = false;    ///< fill LoweredStep::origins and stretches
  /// Calls of a stage that repeat at least so often become a loop of its program; 0: never, as
  /// with origins.
  std::int64_t loops_from = 0;
  const RankOrbits* orbits = nullptr;  ///< lower only the ranks that these keep
};

/// One actor a rank, one group for every set of ranks that communicates; with
/// `options.orbits` only those that they keep, with multiplicities: the same ticks and result
/// digest. Groups inside one NVLink domain are timed events: the domain is taken to serve one group
/// at a time.
/// @throws core::Infeasible if the steps of so many micro-batches without loops have no room
LoweredStep lower(const CheckedScenario& checked,
                  const workload::StepGraph& graph,
                  const network::Fabric& fabric,
                  const LowerOptions& options = {});

}  // namespace headway::training
