#include "sim/network/flow/integer.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "sim/core/error.h"
#include "sim/core/infeasible.h"

namespace headway::network {
namespace {

constexpr int kRateBits = 62;
constexpr int kFinest = 80;  // 2^40 B at this unit still fit in 120 bits
constexpr double kSecondsPerTick = core::Clock::step().to_seconds(1).si();

}  // namespace

RateUnit::RateUnit(core::BytesPerSecond largest) {
  const double per_tick = largest.si() * kSecondsPerTick;
  HEADWAY_CHECK(per_tick > 0 && std::isfinite(per_tick), "fastest rate is {} B/s", largest.si());
  int exponent = 0;
  std::frexp(per_tick, &exponent);  // per_tick < 2^exponent
  shift_ = std::min(kRateBits - exponent, kFinest);
  HEADWAY_CHECK(shift_ >= 0, "a rate of {} B/s is outside the engine's range", largest.si());
}

std::int64_t RateUnit::rate(core::BytesPerSecond value) const {
  const double scaled = std::ldexp(value.si() * kSecondsPerTick, shift_);
  HEADWAY_CHECK(scaled >= 0 && scaled <= std::ldexp(1.0, kRateBits), "rate of {} B/s", value.si());
  return std::llround(scaled);
}

Int128 RateUnit::volume(core::Bytes value) const {
  int exponent = 0;
  const double mantissa = std::frexp(value.si(), &exponent);
  HEADWAY_CHECK(mantissa >= 0 && exponent + shift_ <= 120, "volume of {} B", value.si());
  // 2^53 mantissa is a whole number: the shift below is the only rounding.
  const auto digits = static_cast<std::int64_t>(std::ldexp(mantissa, 53));
  const int left = exponent + shift_ - 53;
  if (left >= 0) {
    return static_cast<Int128>(digits) << left;
  }
  return left < -62 ? 0 : (digits + (std::int64_t{1} << (-left - 1))) >> -left;
}

void TransferTime::divide(Int128 volume, std::int64_t rate) {
  const Int128 quotient = volume / rate;
  const Int128 rest = volume - quotient * rate;
  const Int128 ticks = quotient + (rest >= rate - rest ? 1 : 0);
  if (ticks > std::numeric_limits<core::Tick>::max()) {
    throw core::Infeasible("a transfer would take more than 106 days (2^63 ticks of 1 ps)");
  }
  volume_ = volume;
  rate_ = rate;
  ticks_ = static_cast<core::Tick>(ticks);
}

}  // namespace headway::network
