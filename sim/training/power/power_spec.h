// What feeds a cluster's racks and its building.
#pragma once

#include <optional>

#include "sim/core/fields.h"
#include "sim/core/units.h"

namespace headway::training {

/// What is done where boards at their limit draw more than feeds them.
enum class PowerExcess { cap, refuse };
constexpr auto enum_words(PowerExcess) {
  using E = core::EnumWord<PowerExcess>;
  return std::array{E{PowerExcess::cap, "cap"}, E{PowerExcess::refuse, "refuse"}};
}

/// What can be fed; the nodes of a rack are `run.recovery.rack_nodes`, and where no PUE is
/// written that of `run.prices` counts.
struct PowerSpec {
  std::optional<core::Watts> rack, facility;
  std::optional<double> pue;
  PowerExcess excess = PowerExcess::cap;
  std::optional<core::Watts> least_board;
  template <class V>
  void fields(V& v) {
    // The largest buildings announced take gigawatts.
    constexpr core::Range feed{1, 1e12, false, false, "from 1 W to 1 TW"};
    v.optional("rack", rack,
               "What feeds a rack of `run.recovery.rack_nodes` nodes of the job and its "
               "`rack_spares`; absent: enough.",
               feed);
    v.optional("facility", facility,
               "What the utility feeds the building: IT equipment times its PUE; absent: enough.",
               feed);
    v.optional("pue", pue,
               "Power usage effectiveness of the building; absent: that of `run.prices`, or 1 "
               "without prices.",
               core::Range{1, 10, false, false, "from 1 to 10"});
    v.optional("excess", excess,
               "Where boards at their limit draw more: cap lowers the limit of all boards until "
               "rack and building feed them; refuse says so.");
    v.optional("least_board", least_board,
               "Lowest limit that a board can be set to (`nvidia-smi -q -d power`: Min Power "
               "Limit); absent: 2/7 of its own.",
               core::Range{1, 1e6, false, false, "from 1 W to 1 MW"});
  }
  bool operator==(const PowerSpec&) const = default;
};

}  // namespace headway::training
