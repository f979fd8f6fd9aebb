// What `headway sweep` changes in a scenario, and with which values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/core/fields.h"

namespace headway::training {

enum class SweepScale { linear, log };
constexpr auto enum_words(SweepScale) {
  using E = core::EnumWord<SweepScale>;
  return std::array{E{SweepScale::linear, "linear"}, E{SweepScale::log, "log"}};
}

enum class SampleKind { random, latin_hypercube };
constexpr auto enum_words(SampleKind) {
  using E = core::EnumWord<SampleKind>;
  return std::array{E{SampleKind::random, "random"},
                    E{SampleKind::latin_hypercube, "latin_hypercube"}};
}

enum class Best { lowest, highest };
constexpr auto enum_words(Best) {
  using E = core::EnumWord<Best>;
  return std::array{E{Best::lowest, "lowest"}, E{Best::highest, "highest"}};
}

/// A field and the values that it takes: a list, or a range between two numbers with one unit.
/// Where both ends, and the step, are written as whole numbers without a unit, all values are
/// whole.
struct SweepAxisSpec {
  std::string key;
  std::vector<std::string> values;
  std::string from, to, step;
  int points = 0;
  SweepScale scale = SweepScale::linear;
  template <class V>
  void fields(V& v) {
    v.required("key", key, "Path of the field, as `--set` takes it.");
    v.optional("values", values, "Values, as they would stand in the file.");
    v.optional("from", from, "First value of a range, with its unit.");
    v.optional("to", to, "Last value of a range, in the same unit.");
    v.optional("step", step, "Distance of two values of a range, in the same unit.");
    v.optional("points", points, "Number of values of a range, in place of step.",
               core::Range{0, 1e6, false, false, "at most 1,000,000"});
    v.optional("scale", scale, "log: equal ratios between values, not equal distances.");
  }
  bool operator==(const SweepAxisSpec&) const = default;
};

/// Points drawn from the product of some axes.
struct SweepSampleSpec {
  SampleKind kind = SampleKind::latin_hypercube;
  int points = 0;
  std::int64_t seed = 1;
  std::vector<SweepAxisSpec> axes;
  template <class V>
  void fields(V& v) {
    v.optional("kind", kind,
               "random: each value is drawn alone; latin_hypercube: each axis is cut into as many "
               "parts as there are points, and each part is met once.");
    v.required("points", points, "Points that are drawn.",
               core::Range{1, 1e6, false, false, "from 1 to 1,000,000"});
    v.optional("seed", seed, "Of the draws.", core::non_negative);
    v.required("axes", axes, "Fields that are drawn together.");
  }
  bool operator==(const SweepSampleSpec&) const = default;
};

/// The points are the product of every axis of `grid`, the rows of `zip`, `rows` and `sample`.
struct SweepSpec {
  std::vector<SweepAxisSpec> grid, zip;
  std::vector<std::string> rows;
  std::optional<SweepSampleSpec> sample;
  std::vector<std::string> figures;
  std::string best = "step.time_s";
  std::optional<Best> best_is;
  template <class V>
  void fields(V& v) {
    v.optional("grid", grid,
               "Fields of which every combination is a point. A path as a key of `sweep` says the "
               "same, `cluster.nodes: [16, 32]`, or nested keys, `cluster: {nodes: [16, 32]}`.");
    v.optional("zip", zip, "Fields that change together: first with first, second with second.");
    v.optional("rows", rows, "Points one by one, as \"cluster.nodes=16; parallelism.tensor=2\".");
    v.optional("sample", sample, "Points that are drawn.");
    v.optional("figures", figures,
               "Paths of the figures of a run that the table has (docs/definitions.md); empty: the "
               "usual ones.");
    v.optional("best", best, "Path of the figure by which points are ranked.");
    v.optional("best_is", best_is,
               "Which end of it is best; not written: the highest of throughput, utilization and "
               "shares of useful time, the lowest of all else.");
  }
  bool operator==(const SweepSpec&) const = default;
};

}  // namespace headway::training
