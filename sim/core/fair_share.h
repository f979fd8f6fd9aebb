// Weighted max-min fair sharing by progressive filling, in integers, knowing nothing of networks.
//
// Variables share constraints. All rates rise together, each in proportion to its weight, until a
// constraint is full; its variables are frozen there and the others rise on (Bertsekas & Gallager,
// Data Networks, 6.5.2). The level of a constraint is what it can still give per unit of weight:
//     level = floor(remaining capacity / sum over its unfrozen variables of coefficient x weight)
// Rates, capacities and weights are integers, so sums are exact and the result depends on no order,
// to the bit.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/core/units.h"

namespace headway::core {

/// A rate in units of 2^-s byte per picosecond, with s of `RateUnit`.
using Rate = std::int64_t;

/// The unit of rates: 2^-shift byte per picosecond.
class RateUnit {
 public:
  /// The finest unit in which the largest capacity stays below 2^62.
  static RateUnit for_largest(BytesPerSecond capacity);

  [[nodiscard]] int shift() const { return shift_; }
  /// Rounded to nearest. @throws InternalError if it does not fit
  [[nodiscard]] Rate to_rate(BytesPerSecond bandwidth) const;
  [[nodiscard]] BytesPerSecond to_bandwidth(Rate rate) const;

 private:
  explicit RateUnit(int shift) : shift_(shift) {}
  int shift_;
};

/// One constraint a variable uses, and how many times its rate it takes there.
struct SharedUse {
  std::uint32_t constraint = 0;
  std::uint32_t coefficient = 1;
};

/// Something that wants as much rate as it can fairly have.
struct ShareVariable {
  std::uint32_t weight = 1;
  Rate bound = 0;                         ///< a private limit; 0: none
  std::uint32_t first_use = 0, uses = 0;  ///< range in ShareProblem::uses
};

/// Who shares what.
struct ShareProblem {
  std::vector<Rate> capacity;  ///< by constraint; zero for one that is down
  std::vector<ShareVariable> variables;
  std::vector<SharedUse> uses;
};

/// The weighted max-min fair rates, by variable: level at which it froze x weight.
///
/// A bound acts as a constraint that the variable has alone. Constraints at one level are frozen
/// together, so ties are never broken by number. A constraint is left with less than its total
/// weight of units unused. Plain and from scratch, O(levels x uses): what faster solvers are tested
/// against.
/// @throws InternalError if a variable has weight 0, or neither a use nor a bound
std::vector<Rate> max_min_rates(const ShareProblem& problem);

}  // namespace headway::core
