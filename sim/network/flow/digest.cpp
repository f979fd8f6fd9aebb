#include "sim/network/flow/digest.h"

namespace headway::network {
namespace {

// Both are 5 mod 8, which gives the longest period (2^62) modulo 2^64.
constexpr PowerTable kStart(0xd1342543de82ef95U);
constexpr PowerTable kEnd(0xaf251af3b0f025b5U);

}  // namespace

TickPowers tick_powers(core::Tick t) { return {kStart(t), kEnd(t)}; }

std::uint64_t geometric_sum(std::uint64_t x, std::int64_t terms) {
  // S(2n) = S(n) (1 + x^n) and S(n + 1) = 1 + x S(n), over the bits of `terms` from the top.
  std::uint64_t sum = 0;
  std::uint64_t power = 1;  // x^n
  for (int bit = 62; bit >= 0; --bit) {
    sum *= 1 + power;
    power *= power;
    if (((terms >> bit) & 1) != 0) {
      sum = 1 + x * sum;
      power *= x;
    }
  }
  return sum;
}

}  // namespace headway::network
