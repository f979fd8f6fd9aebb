// Exact arithmetic of the flow engine: integer rates, 128-bit volumes, times rounded to nearest.
#pragma once

#include <cstdint>

#include "sim/core/tick.h"
#include "sim/core/units.h"

namespace headway::network {

__extension__ using Int128 = __int128;

/// The unit of rates and volumes of one problem.
///     rate   = bytes per tick x 2^shift        (tick: 1 ps)
///     volume = bytes x 2^shift
/// Sums of rates are exact, so no order of operations and no multiplicity can change a result.
class RateUnit {
 public:
  /// The finest unit in which `largest` still is below 2^62.
  /// @param largest  fastest link of the problem, times its common denominator [B/s]; positive
  explicit RateUnit(core::BytesPerSecond largest);

  /// Nearest whole rate. @throws core::InternalError if negative, not finite or above 2^62
  [[nodiscard]] std::int64_t rate(core::BytesPerSecond value) const;
  /// Nearest whole volume. @throws core::InternalError if negative, not finite or above 2^120
  [[nodiscard]] Int128 volume(core::Bytes value) const;
  [[nodiscard]] int shift() const { return shift_; }

 private:
  int shift_;
};

/// Time to move a volume at a rate, rounded to the nearest tick; remembers the last division,
/// since flows of one size at one rate come in crowds.
class TransferTime {
 public:
  /// @param volume  not negative
  /// @param rate    positive
  core::Tick operator()(Int128 volume, std::int64_t rate) {
    if (volume != volume_ || rate != rate_) {
      divide(volume, rate);
    }
    return ticks_;
  }

 private:
  void divide(Int128 volume, std::int64_t rate);

  Int128 volume_ = 0;
  std::int64_t rate_ = 1;
  core::Tick ticks_ = 0;
};

}  // namespace headway::network
