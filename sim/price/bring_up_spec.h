// From the order of a cluster until it trains at full speed.
#pragma once

#include "sim/core/durations.h"
#include "sim/core/fields.h"
#include "sim/core/units.h"

namespace headway::price {

/// Nobody publishes these for a catalogue of machines, so none has a default but "none of it".
struct BringUpSpec {
  core::Seconds delivery{0};
  core::Seconds burn_in{0};
  double fail_share = 0;
  core::Seconds replacement{0};
  core::Seconds ramp{0};
  double ramp_from = 0;
  double billed = 1;
  template <class V>
  void fields(V& v) {
    v.optional("delivery", delivery, "From the order until all nodes are racked and cabled.",
               core::duration);
    v.optional("burn_in", burn_in, "Test of a node before it may train; all at the same time.",
               core::duration);
    v.optional("fail_share", fail_share,
               "Share of nodes that fail one test, each test on its own chance.",
               core::Range{0, 0.9, false, false, "from 0 to 0.9"});
    v.optional("replacement", replacement,
               "From a failed test until the node that is mended or takes its place is tested.",
               core::duration);
    v.optional("ramp", ramp, "From the first step on until the job runs at full speed.",
               core::duration);
    v.optional("ramp_from", ramp_from,
               "Share of full speed at the first step; it rises evenly from there.",
               core::probability);
    v.optional("billed", billed,
               "Share of the price of a GPU-hour that is paid from delivery to the first step.",
               core::probability);
  }
  bool operator==(const BringUpSpec&) const = default;
};

}  // namespace headway::price
