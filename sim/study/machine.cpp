#include "sim/study/machine.h"

#include <fmt/format.h>
#include <optional>

#include "sim/config/suggestions/suggest.h"
#include "sim/core/error.h"
#include "sim/core/shown_text.h"
#include "sim/training/check.h"
#include "sim/training/unequal/check_unequal.h"

namespace headway::study {

namespace {

namespace fs = std::filesystem;

constexpr const char* kDefaultNode = "dgx-h100";

struct Found {
  std::string kind;
  fs::path path;
};

std::optional<fs::path> entry_path(const std::string& kind,
                                   const std::string& name,
                                   const config::LoadOptions& options) {
  for (const auto& entry : config::list_entries(kind, options.roots)) {
    if (entry.name == name) {
      return entry.path;
    }
  }
  return std::nullopt;
}

/// A file, else an entry of that name; the path of a file that does not exist is left to the
/// reader's error.
Found find(const std::string& file, const config::LoadOptions& options) {
  if (!file.empty() && !fs::exists(file) && file.find('/') == std::string::npos) {
    std::vector<std::string> names;
    for (const char* kind : {"clusters", "fabrics", "nodes"}) {
      for (const auto& entry : config::list_entries(kind, options.roots)) {
        if (entry.name == file) {
          return {kind, entry.path};
        }
        names.push_back(entry.name);
      }
    }
    const std::string meant = config::entry_suggestion(file, names);
    if (!meant.empty() || !file.ends_with(".yaml")) {
      throw core::Error(
          fmt::format("{}: there is no such file, and no cluster, fabric or node of "
                      "the catalogue has that name{}",
                      core::shortened(file), meant));
    }
  }
  return {config::kind_of_file(file), file};
}

template <class Spec>
Spec load_named(const std::string& name, const config::LoadOptions& options) {
  config::LoadOptions plain{options.roots, {}};
  const auto path = fs::exists(name) ? fs::path(name) : entry_path(Spec::kCatalogue, name, plain);
  if (!path) {
    std::vector<std::string> names;
    for (const auto& entry : config::list_entries(Spec::kCatalogue, options.roots)) {
      names.push_back(entry.name);
    }
    const auto guess = core::did_you_mean(name, names);
    throw core::Error(fmt::format("'{}' is no file and '{}' has no such entry{}", name,
                                  Spec::kCatalogue,
                                  guess ? fmt::format("; did you mean '{}'?", *guess) : ""));
  }
  return config::load_entry<Spec>(*path, plain).spec;
}

/// Refuses changes of what a file of this kind has no part of, which an option names.
/// @param part  "fabric"
void refuse_changes_of(const char* part,
                       const char* kind,
                       const fs::path& path,
                       const config::LoadOptions& options) {
  for (const std::string& change : options.set) {
    const std::string key = change.substr(0, change.find('='));
    for (const std::string& start : {std::string(part), std::string("cluster.") + part}) {
      if (key == start || key.starts_with(start + ".")) {
        throw core::Error(fmt::format(
            "argument --set {}: {} is a {} and has no {}; name one of the catalogue with --{} "
            "ENTRY, or let FILE be a cluster or a scenario, which have both",
            core::shortened(change), path.stem().string(), kind, part, part));
      }
    }
  }
}

Machine from_scenario(const fs::path& path, const config::LoadOptions& options) {
  const auto loaded = config::load_scenario(path, options);
  training::refuse_unequal(training::check(loaded.scenario, loaded.marks),
                           "a network without a job on");
  return {
      loaded.scenario.name, loaded.scenario.cluster, loaded.scenario.calibration.collectives, {}};
}

Machine from_fabric(const fs::path& path,
                    const MachineOptions& how,
                    const config::LoadOptions& options) {
  refuse_changes_of("node", "fabric", path, options);
  Machine machine;
  machine.cluster.fabric = config::load_entry<network::FabricSpec>(path, options).spec;
  machine.cluster.node =
      load_named<training::NodeSpec>(how.node.empty() ? kDefaultNode : how.node, options);
  if (how.nodes == 0) {
    throw core::Error(fmt::format(
        "{}: a fabric does not say how many nodes hang on it; add --nodes N", path.string()));
  }
  machine.cluster.nodes = how.nodes;
  machine.name =
      fmt::format("{}, {} x {}", machine.cluster.fabric.name, how.nodes, machine.cluster.node.name);
  if (how.node.empty()) {
    machine.assumptions.push_back(
        fmt::format("the fabric does not name its nodes; {} is taken (--node ENTRY)",
                    machine.cluster.node.name));
  }
  return machine;
}

/// Leaves that just carry the node's own cards: nothing above a server limits it.
network::FabricSpec fabric_of(const training::NodeSpec& node) {
  network::FabricSpec fabric;
  fabric.name = "one leaf a rail at the rate of the cards";
  fabric.topology = network::Topology::rail_only;
  fabric.tiers = 1;
  fabric.link_bandwidth = node.nic.bandwidth;
  return fabric;
}

Machine from_node(const fs::path& path,
                  const MachineOptions& how,
                  const config::LoadOptions& options) {
  refuse_changes_of("fabric", "node", path, options);
  Machine machine;
  machine.cluster.node = config::load_entry<training::NodeSpec>(path, options).spec;
  machine.cluster.nodes = how.nodes == 0 ? 1 : how.nodes;
  if (how.fabric.empty()) {
    machine.cluster.fabric = fabric_of(machine.cluster.node);
    machine.assumptions.push_back("a node does not name its fabric; " +
                                  machine.cluster.fabric.name + " is taken (--fabric ENTRY)");
  } else {
    machine.cluster.fabric = load_named<network::FabricSpec>(how.fabric, options);
  }
  machine.name = fmt::format("{} x {}", machine.cluster.nodes, machine.cluster.node.name);
  return machine;
}

Machine from_cluster(const fs::path& path, const config::LoadOptions& options) {
  Machine machine;
  machine.cluster = config::load_entry<training::ClusterSpec>(path, options).spec;
  machine.name = path.stem().string();
  return machine;
}

void refuse_what_the_file_says(const Found& found, const MachineOptions& how) {
  const bool whole = found.kind == "clusters" || found.kind == "scenarios";
  const auto refuse = [&](bool given, const char* option) {
    if (given) {
      throw core::Error(fmt::format("{}: {} already says what {} would; use --set instead",
                                    found.path.string(), whole ? "the file" : "its kind", option));
    }
  };
  refuse(whole && how.nodes != 0, "--nodes");
  refuse(found.kind != "fabrics" && !how.node.empty(), "--node");
  refuse(found.kind != "nodes" && !how.fabric.empty(), "--fabric");
}

}  // namespace

Machine load_machine(const std::string& file,
                     const MachineOptions& how,
                     const config::LoadOptions& options) {
  const Found found = find(file, options);
  refuse_what_the_file_says(found, how);
  if (found.kind == "scenarios") {
    return from_scenario(found.path, options);
  }
  if (found.kind == "clusters") {
    return from_cluster(found.path, options);
  }
  if (found.kind == "fabrics") {
    return from_fabric(found.path, how, options);
  }
  if (found.kind == "nodes") {
    return from_node(found.path, how, options);
  }
  throw core::Error(fmt::format("{}: is one of '{}'; a cluster, fabric, node or scenario is needed",
                                found.path.string(), found.kind));
}

}  // namespace headway::study
