#include "sim/training/explain/link_map.h"

#include <algorithm>
#include <unordered_map>

namespace headway::training {

namespace {

/// The end of a cable below and above, counted from 0.
struct Ends {
  std::uint32_t leaf = 0, spine = 0;
};

/// The cables between leaves and spines, or between the groups of a dragonfly, by their links.
std::unordered_map<core::LinkId, Ends> cables_of(const network::Fabric& fabric) {
  std::unordered_map<core::LinkId, Ends> ends;
  const network::FabricShape& shape = fabric.shape();
  if (shape.dragonfly) {
    for (std::uint32_t tree = 0; tree < shape.trees; ++tree) {
      for (std::uint32_t a = 0; a < shape.pods_per_tree; ++a) {
        for (std::uint32_t b = 0; b < shape.pods_per_tree; ++b) {
          if (a != b) {
            const std::uint32_t from = tree * shape.pods_per_tree + a;
            ends[fabric.global_link(from, tree * shape.pods_per_tree + b)] = {from, b};
          }
        }
      }
    }
    return ends;
  }
  const std::uint32_t cables = fabric.pooled() ? std::min(1U, shape.uplinks) : shape.uplinks;
  for (std::uint32_t leaf = 0; leaf < shape.leaves; ++leaf) {
    for (std::uint32_t cable = 0; cable < cables; ++cable) {
      for (const bool up : {true, false}) {
        ends[fabric.leaf_link(leaf, cable, up)] = {leaf,
                                                   fabric.pooled() ? 0 : fabric.spine_of(cable)};
      }
    }
  }
  return ends;
}

/// So many neighbours are one row that there are not too many.
std::uint32_t neighbours(std::uint32_t all) {
  const auto most = static_cast<std::uint32_t>(kMostLinkCells);
  return std::max(1U, (all + most - 1) / most);
}

}  // namespace

std::optional<LinkMap> link_map(const network::Fabric& fabric,
                                const LoweredStep& lowered,
                                const network::RunResult& run) {
  const network::FabricShape& shape = fabric.shape();
  const auto cables = cables_of(fabric);
  const std::uint32_t leaves = shape.dragonfly ? shape.trees * shape.pods_per_tree : shape.leaves;
  const std::uint32_t spines = shape.dragonfly   ? shape.pods_per_tree
                               : fabric.pooled() ? 1
                                                 : shape.spines_per_pod;
  const std::uint32_t a_row = neighbours(leaves);
  const std::uint32_t a_column = neighbours(spines);
  const double seconds = core::Clock::step().to_seconds(run.end).si();
  std::vector<LeafUse> rows((leaves + a_row - 1) / a_row);
  for (std::size_t l = 0; l < lowered.fabric_links.size(); ++l) {
    const auto cable = cables.find(lowered.fabric_links[l]);
    const double room = lowered.problem.links[l].capacity.si() * seconds;
    if (cable == cables.end() || room <= 0 || run.link_bytes[l] <= 0) {
      continue;
    }
    LeafUse& row = rows[cable->second.leaf / a_row];
    row.use.resize((spines + a_column - 1) / a_column);
    double& use = row.use[cable->second.spine / a_column];
    use = std::max(use, run.link_bytes[l] / room);
  }
  LinkMap map{static_cast<int>(shape.dragonfly ? spines : shape.spines_per_pod),
              static_cast<int>(a_column),
              fabric.pooled() && !shape.dragonfly,
              {}};
  for (std::uint32_t r = 0; r < rows.size(); ++r) {
    if (!rows[r].use.empty()) {
      rows[r].first = static_cast<int>(r * a_row);
      rows[r].last = static_cast<int>(std::min(leaves, (r + 1) * a_row) - 1);
      map.leaves.push_back(std::move(rows[r]));
    }
  }
  return map.leaves.empty() ? std::nullopt : std::optional(std::move(map));
}

std::string why_no_link_map(const network::Fabric& fabric) {
  const network::FabricShape& shape = fabric.shape();
  if (shape.dragonfly) {
    return "no transfer of the step leaves its group of the dragonfly";
  }
  if (shape.uplinks == 0) {
    return "no switch of this fabric is above the leaves";
  }
  if (fabric.pooled()) {
    return "adaptive routing fills all cables of a leaf evenly, and no leaf here sends more "
           "upwards "
           "than they carry, so that they are never the limit and are not simulated";
  }
  return "no transfer of the step goes above its leaf";
}

}  // namespace headway::training
