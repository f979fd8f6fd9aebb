// What the training software asks of the CPU that drives a GPU.
#pragma once

#include "sim/core/fields.h"
#include "sim/core/ranges.h"
#include "sim/core/units.h"

namespace headway::workload {

/// CPU time of one rank's process. Of a block of work it is
///     H = (launches + collectives x collective + passes x layer) x (1 + stall x tensor)
/// with the stall only where messages between stages leave the NVLink domain. Recorded graphs
/// (`cuda_graphs`) need none of it.
struct HostSpec {
  core::Seconds launch{5e-6};
  core::Seconds loop_launch{5e-6};
  core::Seconds collective{0};
  core::Seconds layer{0};
  core::Seconds token_counts{0};
  core::Seconds piece{0};
  double stall = 0;
  template <class V>
  void fields(V& v) {
    v.optional("launch", launch,
               "CPU time to launch one kernel: Python, the dispatcher, autograd, the driver.",
               core::launch_time);
    v.optional("loop_launch", loop_launch,
               "CPU time of each further launch of a loop of library calls, which no Python stands "
               "between: products of experts one by one (grouped_launch: false).",
               core::launch_time);
    v.optional("collective", collective,
               "CPU time to start one collective and to make what follows wait for it.",
               core::launch_time);
    v.optional("layer", layer,
               "CPU time of one pass through a layer beside its launches and collectives: calls of "
               "modules, their hooks, autograd functions written in Python.",
               core::launch_time);
    v.optional("token_counts", token_counts,
               "Time the GPU waits in each pass through a layer of experts while the CPU reads how "
               "many tokens each expert has and launches what follows.",
               core::launch_time);
    v.optional("piece", piece,
               "Where updated weights are gathered at the end of the step (gather_overlap: false): "
               "CPU time to copy one rank's piece of one weight into its place, with sharding that "
               "gives each data rank a piece of every weight; 0: weights are gathered in place.",
               core::launch_time);
    v.optional("stall", stall,
               "Where pipeline messages leave the NVLink domain: time that the launches of each "
               "rank stand still / time they take. A rank that stands still holds its tensor "
               "group, so the group's stalls add up.",
               core::lost_share);
  }
  bool operator==(const HostSpec&) const = default;
};

}  // namespace headway::workload
