// Traces of ranks as a problem for the flow engine: what each rank computes takes as long as its
// trace says, and what it communicates is simulated on a fabric.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sim/import/chakra/chakra_job.h"
#include "sim/network/collective/collective.h"
#include "sim/network/collective/collective_flows.h"
#include "sim/network/fabric/fabric.h"
#include "sim/network/flow/problem.h"

namespace headway::study {

/// A machine as transfers see it.
struct ReplayFabric {
  const network::Fabric* fabric = nullptr;
  network::NetworkParameters parameters;
  std::span<const network::CollectiveCurve> curves;
};

/// Transfers of one kind and size between ranks that lie alike.
struct ReplayTransfer {
  core::CollectiveKind kind = core::CollectiveKind::all_reduce;
  core::Bytes bytes;  ///< as nccl-tests counts
  network::GroupShape shape;
  network::CollectiveTime alone;
  std::int64_t calls = 0;  ///< of all groups together
};

/// A stream, a thread or a group of ranks of one rank: what runs its nodes one after the other.
struct ReplayLane {
  std::uint32_t rank = 0;
  std::vector<std::uint32_t> node_of_step;  ///< index into ChakraTrace::nodes
};

struct ReplayProblem {
  network::Problem problem;
  std::vector<ReplayLane> lanes;  ///< one an actor
  std::vector<core::LinkId> fabric_links;
  std::vector<ReplayTransfer> transfers;
};

/// Rank r runs on GPU r. A lane is an actor; a node that waits for one of another lane of its rank
/// waits for a transfer without bytes, which that lane launches.
/// @throws core::Infeasible if a transfer is longer than the clock of a step counts
ReplayProblem replay_problem(const import::ChakraJob& job, const ReplayFabric& on);

/// Bytes of a call as nccl-tests counts them, from what one rank puts in.
core::Bytes call_bytes(core::CollectiveKind kind, std::int64_t input, std::size_t ranks);

/// The call that a node makes. A barrier is an all-reduce of next to nothing, as NCCL has none.
core::CollectiveKind kind_of(const import::ChakraNode& node);

/// @throws core::Error naming a node of each rank that never ends, if ranks wait for one another in
///         a circle
void check_ends(const ReplayProblem& replay, const import::ChakraJob& job);

}  // namespace headway::study
