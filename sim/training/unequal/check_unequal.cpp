#include "sim/training/unequal/check_unequal.h"

#include <cstdint>
#include <fmt/format.h>
#include <numeric>
#include <string>

#include "sim/training/unequal/node_kinds.h"

namespace headway::training {

namespace {

using workload::Violations;

/// What must be as in `cluster.node`, since the fabric is numbered by it.
void add_equal_parts(const NodeSpec& first,
                     const NodeSpec& other,
                     const std::string& path,
                     Violations& list) {
  const auto same = [&](const char* key, const auto& ours, const auto& theirs) {
    if (ours != theirs) {
      list.push_back({fmt::format("{}.{}", path, key),
                      fmt::format("{} has {} {}, and {} has {}: nodes of one job that differ in "
                                  "this are not modelled",
                                  other.name, key, theirs, first.name, ours)});
    }
  };
  same("gpus", first.gpus, other.gpus);
  same("scale_up.kind", core::to_word(first.scale_up.kind), core::to_word(other.scale_up.kind));
  same("scale_up.domain_gpus", first.scale_up.domain_gpus, other.scale_up.domain_gpus);
  same("nic.count", first.nic.count, other.nic.count);
}

void add_rates(const NodeSpec& first,
               const NodeSpec& other,
               const std::string& path,
               Violations& list) {
  const auto at_most = [&](const char* key, core::BytesPerSecond ours,
                           core::BytesPerSecond theirs) {
    if (theirs > ours) {
      list.push_back(
          {fmt::format("{}.{}", path, key),
           fmt::format("{} of {:g} GB/s of {} is above the {:g} GB/s of {}; make the nodes with "
                       "the fastest links 'cluster.node', and the others 'other_nodes'",
                       key, theirs.si() / 1e9, other.name, ours.si() / 1e9, first.name)});
    }
  };
  at_most("scale_up.bandwidth", first.scale_up.bandwidth, other.scale_up.bandwidth);
  at_most("nic.bandwidth", first.nic.bandwidth, other.nic.bandwidth);
}

void add_surroundings(const Scenario& s, Violations& list) {
  const auto& c = s.cluster;
  const auto refuse = [&](const char* path, const char* what, const char* instead) {
    list.push_back(
        {path, fmt::format("{} beside 'other_nodes' is not modelled; {}", what, instead)});
  };
  if (c.placement != Placement::packed) {
    refuse("cluster.placement", "a placement that moves nodes", "write 'placement: packed'");
  }
  if (c.sites) {
    refuse("cluster.sites", "a cluster on several sites", "leave one of them out");
  }
  if (c.occupancy) {
    refuse("cluster.occupancy", "a partly occupied fabric", "leave one of them out");
  }
  if (c.node.scale_up.kind == network::ScaleUpKind::mesh) {
    refuse("cluster.node.scale_up.kind", "a mesh of cables", "choose nodes with switches");
  }
  if (c.node.scale_up.domain_gpus > c.node.gpus) {
    refuse("cluster.node.scale_up.domain_gpus", "an NVLink domain of several nodes",
           "choose nodes that are domains of their own");
  }
  const auto& measured = s.calibration;
  if (measured.kernels || !measured.collectives.empty() || measured.kernel_launch ||
      measured.host_bandwidth) {
    refuse("calibration", "a calibration, which is of one kind of GPU,",
           "write what was measured into the GPUs of both kinds");
  }
}

}  // namespace

Violations unequal_violations(const Scenario& s) {
  const auto& c = s.cluster;
  Violations list;
  if (!unequal(c)) {
    return list;
  }
  const std::int64_t others = std::accumulate(
      c.other_nodes.begin(), c.other_nodes.end(), std::int64_t{0},
      [](std::int64_t sum, const OtherNodesSpec& kind) { return sum + kind.nodes; });
  if (others >= c.nodes) {
    list.push_back({"cluster.other_nodes",
                    fmt::format("{} other nodes leave none of the {} for 'cluster.node'; 'nodes' "
                                "counts all",
                                others, c.nodes)});
  }
  for (std::size_t i = 0; i < c.other_nodes.size(); ++i) {
    const std::string path = fmt::format("cluster.other_nodes[{}].node", i);
    add_equal_parts(c.node, c.other_nodes[i].node, path, list);
    add_rates(c.node, c.other_nodes[i].node, path, list);
    if (c.other_nodes[i].gpu_hour && !(s.run.prices && s.run.prices->gpu_hour.si() > 0)) {
      list.push_back({fmt::format("cluster.other_nodes[{}].gpu_hour", i),
                      "a price of these GPUs without one of the others in 'run.prices.gpu_hour'; "
                      "write both or neither"});
    }
  }
  add_surroundings(s, list);
  return list;
}

Violations unequal_layout_violations(const Scenario& s, const workload::ParallelismSpec& layout) {
  const auto& c = s.cluster;
  const std::int64_t slice = std::int64_t{layout.tensor} * layout.context;
  Violations list;
  for (int kind = 1; kind < node_kinds(c); ++kind) {
    const std::int64_t before = first_node(c, kind) * c.node.gpus;
    if (before % slice != 0) {
      list.push_back(
          {"parallelism.tensor",
           fmt::format("tensor {} x context {} = {} ranks of one stage would lie on both {} and "
                       "{}, which is not modelled: they do not divide the {} GPUs before the first "
                       "{}",
                       layout.tensor, layout.context, slice, node_of_kind(c, kind - 1).name,
                       node_of_kind(c, kind).name, before, node_of_kind(c, kind).name)});
    }
  }
  return list;
}

void refuse_unequal(const CheckedScenario& checked, std::string_view what) {
  if (unequal(checked.scenario().cluster)) {
    refuse(checked, "cluster.other_nodes",
           fmt::format("{} nodes of several kinds is not modelled; leave 'other_nodes' out", what));
  }
}

}  // namespace headway::training
