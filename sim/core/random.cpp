#include "sim/core/random.h"

#include <Random123/philox.h>

#include "sim/core/digest.h"
#include "sim/core/math.h"

namespace headway::core {

namespace {

constexpr std::uint32_t low(std::uint64_t word) { return static_cast<std::uint32_t>(word); }
constexpr std::uint32_t high(std::uint64_t word) { return static_cast<std::uint32_t>(word >> 32); }

}  // namespace

std::array<std::uint32_t, 4> philox4x32_10(std::array<std::uint32_t, 4> counter,
                                           std::array<std::uint32_t, 2> key) {
  const philox4x32_ctr_t from{{counter[0], counter[1], counter[2], counter[3]}};
  const philox4x32_key_t with{{key[0], key[1]}};
  const philox4x32_ctr_t bits = philox4x32_R(10, from, with);
  return {bits.v[0], bits.v[1], bits.v[2], bits.v[3]};
}

double normal_from(double uniform, double mean, double deviation) {
  return mean + deviation * normal_quantile(uniform);
}

double lognormal_from(double uniform, double mu, double sigma) {
  return portable_exp(normal_from(uniform, mu, sigma));
}

RandomStream::RandomStream(std::uint64_t seed, std::string_view name, std::uint32_t trial)
    : key_(combine(mix(seed), hash_text(name))), trial_(trial) {}

// Mixed once more, so that a part's stream is no other part's and no named stream's.
RandomStream RandomStream::part(std::uint64_t index) const {
  return RandomStream(combine(mix(key_), index), trial_);
}

RandomBits RandomStream::bits(std::uint64_t event, std::uint32_t purpose) const {
  const auto words =
      philox4x32_10({low(event), high(event), purpose, trial_}, {low(key_), high(key_)});
  return {words[0] | (std::uint64_t{words[1]} << 32), words[2] | (std::uint64_t{words[3]} << 32)};
}

}  // namespace headway::core
