// Random numbers without state: a draw is a function of (seed, stream name, trial, event number,
// purpose).
//
// Nothing is consumed, so adding or changing one stream never moves another's draws, and any thread
// may draw any number at any time. Generator: Philox4x32-10 of Random123 (Salmon et al., "Parallel
// random numbers: as easy as 1, 2, 3", SC 2011); transforms: inverse, with the logarithm and
// exponential of math.h.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "sim/core/math.h"

namespace headway::core {

/// 128 random bits, as two words.
using RandomBits = std::array<std::uint64_t, 2>;

/// A number in the open interval (0, 1): (k + 1/2) / 2^52, with k the word's upper 52 bits.
constexpr double unit_interval(std::uint64_t word) {
  return (static_cast<double>(word >> 12) + 0.5) * 0x1p-52;  // exact: 53 bits, never 0 and never 1
}

/// An integer below `bound`, from one word; the bias is at most bound / 2^64.
constexpr std::uint64_t index_below(std::uint64_t word, std::uint64_t bound) {
  __extension__ using Product = unsigned __int128;
  return static_cast<std::uint64_t>((Product{word} * bound) >> 64);
}

// Inverse transforms of a number in (0, 1). Each falls or rises with `uniform` alone, one draw a
// value.

/// Mean `mean`: -mean log(u).
inline double exponential_from(double uniform, double mean) {
  return -mean * portable_log(uniform);
}
/// Mean and standard deviation.
double normal_from(double uniform, double mean, double deviation);
/// exp of a normal variable with mean `mu` and deviation `sigma`; its median is exp(mu).
double lognormal_from(double uniform, double mu, double sigma);

/// The draws of one hazard or other source of randomness in one trial.
class RandomStream {
 public:
  /// @param seed   of the whole run
  /// @param name   of the hazard or stream; only its hash is kept
  /// @param trial  of the campaign, 0 where there is one run
  RandomStream(std::uint64_t seed, std::string_view name, std::uint32_t trial = 0);

  /// A stream of its own for one part, such as a lemon node or a part that renews.
  [[nodiscard]] RandomStream part(std::uint64_t index) const;

  /// All bits of a draw.
  /// @param event    number of the event in this stream
  /// @param purpose  what the draw decides about the event (time, victim, ...): the model's own
  /// enumeration
  [[nodiscard]] RandomBits bits(std::uint64_t event, std::uint32_t purpose = 0) const;

  /// One number in (0, 1).
  [[nodiscard]] double uniform(std::uint64_t event, std::uint32_t purpose = 0) const {
    return unit_interval(bits(event, purpose)[0]);
  }
  /// One integer in 0 to bound - 1.
  [[nodiscard]] std::uint64_t index(std::uint64_t event,
                                    std::uint32_t purpose,
                                    std::uint64_t bound) const {
    return index_below(bits(event, purpose)[0], bound);
  }

 private:
  explicit RandomStream(std::uint64_t key, std::uint32_t trial) : key_(key), trial_(trial) {}

  std::uint64_t key_;
  std::uint32_t trial_;
};

/// The generator itself: 128 bits from a counter of four words and a key of two.
std::array<std::uint32_t, 4> philox4x32_10(std::array<std::uint32_t, 4> counter,
                                           std::array<std::uint32_t, 2> key);

}  // namespace headway::core
