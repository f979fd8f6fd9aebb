#include "sim/training/occupancy/occupancy.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>

#include "sim/core/error.h"
#include "sim/core/ranges.h"
#include "sim/core/text.h"

namespace headway::training {

namespace {

using workload::Violations;

/// Most nodes of a job that sends to all others: each pair is routed by itself, a microsecond each.
constexpr std::size_t kMostAllToAll = 1024;
/// Most nodes that entries of one list name.
constexpr std::size_t kMostNodes = 1U << 20U;

/// Who has each node of the fabric; empty: nobody.
class Owners {
 public:
  Owners(const OccupancySpec& occupancy, Violations& problems)
      : owner_(static_cast<std::size_t>(occupancy.nodes)), problems_(problems) {}

  /// @param who  "down", "job 'a'"; asks only whether they are free if empty
  /// @returns how many there are
  std::size_t claim(const std::string& path,
                    const std::vector<std::string>& list,
                    const std::string& who) {
    std::vector<std::uint32_t> nodes;
    try {
      nodes = node_numbers(list);
    } catch (const core::Error& error) {
      problems_.push_back({path, error.diagnostics().front().message});
    }
    for (const std::uint32_t node : nodes) {
      if (node >= owner_.size()) {
        problems_.push_back(
            {path, fmt::format("node {}: the fabric has nodes 0 to {}", node, owner_.size() - 1)});
        return nodes.size();
      }
      if (!owner_[node].empty()) {
        problems_.push_back({path, fmt::format("node {} is {}, so it cannot be {}; name it once",
                                               node, owner_[node], who)});
        return nodes.size();
      }
      owner_[node] = who;
    }
    return nodes.size();
  }
  [[nodiscard]] std::int64_t free() const {
    return std::count(owner_.begin(), owner_.end(), std::string());
  }

 private:
  std::vector<std::string> owner_;
  Violations& problems_;
};

void add_job(std::size_t place, const ClusterSpec& cluster, Owners& owners, Violations& list) {
  const OtherJobSpec& job = cluster.occupancy->jobs[place];
  const std::string path = fmt::format("cluster.occupancy.jobs[{}]", place);
  const std::size_t nodes =
      owners.claim(path + ".nodes", job.nodes, fmt::format("of job '{}'", job.name));
  if (nodes < 2) {
    list.push_back({path + ".nodes",
                    fmt::format("job '{}' has {} nodes: what stays inside a node is not on the "
                                "fabric; a node that is taken and sends nothing is 'down'",
                                job.name, nodes)});
  }
  if (job.pattern == TrafficPattern::all_to_all && nodes > kMostAllToAll) {
    list.push_back({path + ".pattern",
                    fmt::format("all_to_all over {} nodes has more pairs than are routed one by "
                                "one; at most {} nodes",
                                nodes, kMostAllToAll)});
  }
  const core::BytesPerSecond line = cluster.node.nic.bandwidth * cluster.node.nic.count;
  if (job.rate > line) {
    list.push_back(
        {path + ".rate",
         fmt::format("job '{}' sends {:.4g} GB/s from each node, whose {} cards carry "
                     "{:.4g} GB/s",
                     job.name, job.rate.si() / 1e9, cluster.node.nic.count, line.si() / 1e9)});
  }
}

void add_unmodelled(const Scenario& s, Violations& list) {
  const ClusterSpec& c = s.cluster;
  if (c.sites) {
    list.push_back({"cluster.occupancy",
                    "a partly occupied fabric on several sites is not modelled; leave one of "
                    "'occupancy' and 'sites' out"});
  }
  if (c.node.scale_up.domain_gpus > c.node.gpus) {
    list.push_back({"cluster.occupancy",
                    fmt::format("NVLink domains of {} GPUs over nodes of {}, some of them taken, "
                                "are not modelled; leave 'occupancy' out",
                                c.node.scale_up.domain_gpus, c.node.gpus)});
  }
  if (s.run.until) {
    list.push_back({"cluster.occupancy",
                    "weeks on a fabric whose other jobs come and go are not modelled, only one "
                    "step beside those of now; leave 'run.until' out, or ask 'headway plan "
                    "--placement', which looks at the step alone"});
  }
}

}  // namespace

std::vector<std::uint32_t> node_numbers(const std::vector<std::string>& list) {
  std::vector<std::uint32_t> nodes;
  for (const std::string& entry : list) {
    const std::size_t dash = entry.find('-');
    const std::string_view text = entry;
    const auto first = core::whole_text_as<std::uint32_t>(text.substr(0, dash));
    const auto last = dash == std::string::npos
                          ? first
                          : core::whole_text_as<std::uint32_t>(text.substr(dash + 1));
    if (!first || !last || *last < *first) {
      throw core::Error(
          fmt::format("'{}' names no nodes; write a number, or a range such as 0-7", entry));
    }
    if (nodes.size() + (*last - *first) >= kMostNodes) {
      throw core::Error(fmt::format("'{}' makes more than {} nodes", entry, kMostNodes));
    }
    for (std::uint32_t more = 0; more <= *last - *first; ++more) {  // the last may be the largest
      nodes.push_back(*first + more);
    }
  }
  return nodes;
}

std::vector<std::string> node_ranges(std::span<const std::uint32_t> nodes) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < nodes.size();) {
    std::size_t end = i + 1;
    while (end < nodes.size() && nodes[end] == nodes[end - 1] + 1) {
      ++end;
    }
    out.push_back(end == i + 1 ? fmt::format("{}", nodes[i])
                               : fmt::format("{}-{}", nodes[i], nodes[end - 1]));
    i = end;
  }
  return out;
}

std::vector<std::uint32_t> free_nodes(const OccupancySpec& occupancy) {
  std::vector<bool> taken(static_cast<std::size_t>(occupancy.nodes), false);
  const auto take = [&taken](const std::vector<std::string>& list) {
    for (const std::uint32_t node : node_numbers(list)) {
      taken[node] = true;
    }
  };
  take(occupancy.down);
  for (const OtherJobSpec& job : occupancy.jobs) {
    take(job.nodes);
  }
  std::vector<std::uint32_t> free;
  for (std::uint32_t node = 0; node < taken.size(); ++node) {
    if (!taken[node]) {
      free.push_back(node);
    }
  }
  return free;
}

std::vector<std::uint32_t> taken_nodes(const ClusterSpec& cluster) {
  if (!cluster.occupancy) {
    return {};
  }
  if (!cluster.occupancy->take.empty()) {
    return node_numbers(cluster.occupancy->take);
  }
  std::vector<std::uint32_t> nodes = free_nodes(*cluster.occupancy);
  nodes.resize(static_cast<std::size_t>(cluster.nodes));
  return nodes;
}

Violations occupancy_violations(const Scenario& scenario) {
  Violations list;
  const ClusterSpec& cluster = scenario.cluster;
  if (!cluster.occupancy) {
    return list;
  }
  const OccupancySpec& occupancy = *cluster.occupancy;
  add_unmodelled(scenario, list);
  if (std::int64_t{occupancy.nodes} * cluster.node.gpus > core::kMostGpus) {
    list.push_back({"cluster.occupancy.nodes",
                    fmt::format("{} nodes x {} GPUs; at most {} GPUs "
                                "are simulated",
                                occupancy.nodes, cluster.node.gpus, core::kMostGpus)});
    return list;
  }
  Owners owners(occupancy, list);
  owners.claim("cluster.occupancy.down", occupancy.down, "down");
  for (std::size_t i = 0; i < occupancy.jobs.size(); ++i) {
    add_job(i, cluster, owners, list);
  }
  if (owners.free() < cluster.nodes) {
    list.push_back(
        {"cluster.occupancy", fmt::format("this job has {} nodes, and {} of the "
                                          "fabric's {} are free; use fewer nodes",
                                          cluster.nodes, owners.free(), occupancy.nodes)});
  }
  if (!occupancy.take.empty()) {
    const std::size_t taken = owners.claim("cluster.occupancy.take", occupancy.take, "of this job");
    if (list.empty() && taken != static_cast<std::size_t>(cluster.nodes)) {
      list.push_back({"cluster.occupancy.take", fmt::format("{} nodes are named, and the job has "
                                                            "{}",
                                                            taken, cluster.nodes)});
    }
  }
  return list;
}

}  // namespace headway::training
