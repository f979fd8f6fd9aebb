// Who made the difference: the fair division of a change among the parts that changed together.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "sim/core/result_fields.h"

namespace headway::study {

/// One part's share of a difference.
struct LayerContribution {
  double shapley = 0;  ///< mean over all orders of switching; these add up to the difference
  double first = 0;    ///< what it changes when it is switched alone
  double last = 0;     ///< what it changes when all others are switched already

  template <class V>
  void fields(V& v) const {
    v.figure("shapley", core::if_finite(shapley), "",
             "part of B - A that the layer has: what switching it from A's to B's changes, "
             "averaged over all orders of switching the layers; the parts add up to B - A");
    v.figure("first", core::if_finite(first), "", "the change if it is switched before all others");
    v.figure("last", core::if_finite(last), "", "the change if it is switched after all others");
  }
};

/// Divides value(all) - value(none) among `parts` parts.
///     phi_i = sum over S without i of |S|! (n - |S| - 1)! / n! (value(S + i) - value(S))
/// @param parts  0 to 20
/// @param value  of a set of switched parts, one bit a part; called once for each of the 2^parts
/// @returns      one contribution a part; their `shapley` add up to the difference
/// Source: Shapley, "A value for n-person games", 1953.
std::vector<LayerContribution> shapley(std::size_t parts,
                                       const std::function<double(std::size_t)>& value);

}  // namespace headway::study
