// Any scenario written and read again is the same scenario; the random one is made from the field
// lists.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <gtest/gtest.h>
#include <string>

#include "sim/config/load.h"
#include "sim/config/spec_type.h"

namespace headway::config {
namespace {

/// SplitMix64 (Steele, Lea, Flood 2014): the same draws everywhere.
class Draws {
 public:
  explicit Draws(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15U);
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31U);
  }
  std::uint64_t below(std::uint64_t n) { return next() % n; }
  double uniform() { return static_cast<double>(next() >> 11U) * 0x1p-53; }

 private:
  std::uint64_t state_;
};

/// A number that `range` allows, spread over many orders of magnitude where it has no end.
double number_in(const core::Range& range, Draws& draws) {
  const double low = std::isfinite(range.low) ? range.low : 0;
  if (std::isfinite(range.high)) {
    return low + (range.high - low) * (0.001 + 0.998 * draws.uniform());
  }
  return low + std::pow(10.0, 30 * draws.uniform() - 14);
}

std::string text(Draws& draws) {
  static constexpr std::string_view kPieces[] = {"a", " ", "ö",  "\"", "\\", ": ", "#", "null",
                                                 "-", "'", "\n", "\t", "7",  "{",  "€"};
  std::string out;
  for (std::uint64_t i = draws.below(12); i > 0; --i) {
    out += kPieces[draws.below(std::size(kPieces))];
  }
  return out;
}

void fill(const SpecType& type, void* value, const core::Range& range, Draws& draws) {
  switch (type.shape) {
    case Shape::number:
    case Shape::quantity:
      type.set_number(value, number_in(range, draws));
      return;
    case Shape::integer: {
      const double high = std::min(static_cast<double>(type.largest), 9e15);
      type.set_integer(value, static_cast<std::int64_t>(std::min(std::ceil(number_in(range, draws)),
                                                                 std::min(high, range.high))));
      return;
    }
    case Shape::flag:
      type.set_integer(value, static_cast<std::int64_t>(draws.below(2)));
      return;
    case Shape::word:
      type.set_integer(value, static_cast<std::int64_t>(draws.below(type.words.size())));
      return;
    case Shape::text:
      *static_cast<std::string*>(value) = text(draws);
      return;
    case Shape::optional:
    case Shape::or_auto:
    case Shape::list:
      type.clear(value);
      for (std::uint64_t i = draws.below(type.shape == Shape::list ? 4 : 2); i > 0; --i) {
        fill(*type.element, type.add_element(value), range, draws);
      }
      return;
    case Shape::record:
      for (const Field& field : type.fields) {
        fill(*field.type, field.in(value), field.range, draws);
      }
      return;
  }
}

TEST(RoundTrip, AWrittenScenarioReadsBackEqual) {
  const SpecType& type = *find_kind("scenarios")->type;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Draws draws(seed);
    training::Scenario scenario;
    fill(type, &scenario, {}, draws);
    scenario.headway = 1;
    const std::string written = write_scenario(scenario);
    const LoadedScenario loaded = load_scenario_text(written, "written.yaml");
    ASSERT_EQ(loaded.scenario, scenario) << "seed " << seed << "\n" << written;
    ASSERT_EQ(loaded.canonical_text, written) << "seed " << seed;
  }
}

TEST(RoundTrip, TheDigestTextTellsScenariosApart) {
  const SpecType& type = *find_kind("scenarios")->type;
  Draws draws(1);
  training::Scenario scenario;
  fill(type, &scenario, {}, draws);
  training::Scenario other = scenario;
  other.cluster.node.gpu.memory_bandwidth =
      core::BytesPerSecond(std::nextafter(scenario.cluster.node.gpu.memory_bandwidth.si(), 1e300));
  EXPECT_NE(write_scenario(other), write_scenario(scenario));
}

}  // namespace
}  // namespace headway::config
