// How much each uplink of a leaf carries in a step: where flows meet in the same spine.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "sim/core/result_fields.h"
#include "sim/network/fabric/fabric.h"
#include "sim/network/flow/problem.h"
#include "sim/training/step/lower.h"

namespace headway::training {

/// Neighbouring leaves, and what the cables between them and each group of spines carry.
struct LeafUse {
  int first = 0, last = 0;
  std::vector<double> use;  ///< one a group of spines: the busiest cable, either direction

  template <class V>
  void fields(V& v) const {
    v.figure("first", first, "", "leaf, counted over all pods and planes", core::non_negative);
    v.figure("last", last, "", "of the neighbours that are one row", core::non_negative);
    v.figure("use", use, "1",
             "of each group of spines the busiest cable, in the busier direction: bytes carried / "
             "(capacity x step)",
             core::non_negative);
  }
};

/// Of a fabric with leaves and spines. Of a dragonfly, groups of leaves stand for leaves and for
/// spines.
struct LinkMap {
  int spines = 0, spines_a_column = 1;
  bool pooled = false;
  std::vector<LeafUse> leaves;

  template <class V>
  void fields(V& v) const {
    v.figure("spines", spines, "", "that a leaf has cables to; of a dragonfly, groups",
             core::at_least_one);
    v.figure("spines_a_column", spines_a_column, "", "neighbouring spines that are one column",
             core::at_least_one);
    v.part("pooled", pooled, "adaptive routing fills all cables of a leaf evenly: one column");
    v.part("leaves", leaves,
           "leaves whose cables carry something; where ranks are alike, those that stand for the "
           "others");
  }
};

/// A report stays small: rows and columns at most.
inline constexpr std::size_t kMostLinkCells = 64;

/// @returns nothing where no leaf has a spine above it, or none carries anything
std::optional<LinkMap> link_map(const network::Fabric& fabric,
                                const LoweredStep& lowered,
                                const network::RunResult& run);

/// Why a fabric has no such map: a sentence without its stop.
std::string why_no_link_map(const network::Fabric& fabric);

}  // namespace headway::training
