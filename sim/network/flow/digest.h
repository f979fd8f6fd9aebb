// Digests that do not depend on the order of operations and can be carried over repeated periods.
//
// An operation of kind `key` that ran from tick a to tick b adds
//     multiplicity x key x P(a) x Q(b)    (mod 2^64),    P(t) = p^t, Q(t) = q^t, p and q odd
// to the sum. P and Q are exponential, so the same operations dt later add the sum times P(dt)
// Q(dt): m further periods of a repeating run are a geometric series, and skipping them changes no
// digest.
#pragma once

#include <array>
#include <cstdint>

#include "sim/core/tick.h"

namespace headway::network {

/// Scrambles 64 bits (the finalizer of SplitMix64: Steele, Lea, Flood, OOPSLA 2014).
constexpr std::uint64_t scramble(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}

/// A hash of two values, in order.
constexpr std::uint64_t scramble(std::uint64_t a, std::uint64_t b) {
  return scramble(scramble(a) ^ (b * 0x9e3779b97f4a7c15U));
}

/// Powers of an odd number modulo 2^64, by a table of 8 bits of the exponent at a time.
class PowerTable {
 public:
  constexpr explicit PowerTable(std::uint64_t base) {
    for (auto& row : table_) {
      row[0] = 1;
      for (std::size_t i = 1; i < row.size(); ++i) {
        row[i] = row[i - 1] * base;
      }
      base *= row.back();
    }
  }

  /// base^exponent mod 2^64. @param exponent  not negative
  [[nodiscard]] constexpr std::uint64_t operator()(core::Tick exponent) const {
    auto rest = static_cast<std::uint64_t>(exponent);
    std::uint64_t result = 1;
    for (std::size_t row = 0; rest != 0; ++row, rest >>= 8) {
      result *= table_[row][rest & 0xff];
    }
    return result;
  }

 private:
  std::array<std::array<std::uint64_t, 256>, 8> table_{};
};

/// The two factors of one tick.
struct TickPowers {
  std::uint64_t start = 1;  ///< P(t)
  std::uint64_t end = 1;    ///< Q(t)
};

/// @param t  not negative
TickPowers tick_powers(core::Tick t);

/// 1 + x + x^2 + ... + x^(terms - 1) mod 2^64.
std::uint64_t geometric_sum(std::uint64_t x, std::int64_t terms);

}  // namespace headway::network
