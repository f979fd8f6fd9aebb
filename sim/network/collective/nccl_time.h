// From NCCL's choice to the time that machines really take.
#pragma once

#include "sim/network/collective/collective_call.h"
#include "sim/network/collective/nccl_model.h"

namespace headway::network {

struct TimeEstimate {
  core::Seconds total;
  core::Seconds latency;  ///< the part that does not grow with the message
};

/// Time of the chosen algorithm and protocol alone on a healthy machine.
TimeEstimate nccl_time(const NcclCandidate& choice,
                       const CollectiveCall& call,
                       const GroupShape& group,
                       const NetworkParameters& machine);

/// The least time that NCCL's choice for this size, or its choice for a larger one, takes at this
/// size: so it never falls as messages grow. The time of the choice alone does where NCCL's tables
/// switch at another size than the fitted times meet.
TimeEstimate nccl_least_time(const CollectiveCall& call,
                             const GroupShape& group,
                             const NetworkParameters& machine);

/// Whether the call forces an algorithm that NCCL lacks and a closed form describes: hierarchical
/// or recursive.
bool has_closed_form(const CollectiveCall& call);

/// Its closed form, with the hops of NCCL's Simple protocol.
/// @throws core::Error if the collective has no such algorithm
TimeEstimate closed_form_time(const CollectiveCall& call,
                              const GroupShape& group,
                              const NetworkParameters& machine);

/// All-to-all (pairwise, NVLink and NICs at the same time) and send/receive.
TimeEstimate exchange_time(const CollectiveCall& call,
                           const GroupShape& group,
                           const NetworkParameters& machine);

}  // namespace headway::network
