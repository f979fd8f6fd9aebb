// The vocabulary of field lists of results: what a result struct says about each of its figures,
// once.
//
//     struct LinkUse {
//       std::string tier;
//       double mean = 0;
//       std::optional<core::Seconds> queue;
//       template <class V>
//       void fields(V& v) const {
//         v.part("tier", tier, "tier of links");
//         v.figure("mean", mean, "1", "bytes carried / (capacity x step)", core::non_negative);
//         v.figure("queue_s", queue, "s", "wait in front of the tier");
//       }
//     };
//
// `figure` is for what has a unit: numbers, counts (unit ""), intervals, distributions. `part` is
// for all else: words, records, lists. `on_request` is a part that a result lacks, key and all,
// unless it was asked for. Values may be expressions: `flops.si() / 1e12`.
// Values may be: double, integers, bool, a Quantity (written in SI units), strings, an enum with
// `enum_words`, Hexadecimal, std::optional (absent: null), std::vector, std::array, std::map from
// strings, and structs with a list of their own, whose parts without a unit have that of the
// figure they are part of.
//
// From the list come the JSON, the CSV, the schema of the result, docs/definitions.md and the
// paths of `assert:` (core/figures.h).
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <optional>

#include "sim/core/fields.h"

namespace headway::core {

/// A digest: written as 16 hexadecimal digits, because JSON numbers of many readers hold 53 bits.
struct Hexadecimal {
  std::uint64_t value = 0;
};

/// Absent unless finite.
constexpr std::optional<double> if_finite(double value) {
  return value - value == 0 ? std::optional(value) : std::nullopt;
}

/// Absent unless above zero: for members whose zero says that there is none.
template <class Number>
constexpr std::optional<Number> if_positive(Number value) {
  return value > Number{} ? std::optional(value) : std::nullopt;
}

}  // namespace headway::core
