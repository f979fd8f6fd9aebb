// The vocabulary of field lists: what a spec struct says about each of its fields, once.
//
// A spec struct lists its fields in `template <class V> void fields(V& v)`:
//
//     struct LinkSpec {
//       core::BytesPerSecond bandwidth;
//       core::Seconds latency{1e-6};
//       template <class V> void fields(V& v) {
//         v.required("bandwidth", bandwidth, "Payload rate of one direction.", core::positive);
//         v.optional("latency", latency, "Propagation and switching delay.", core::non_negative);
//       }
//     };
//
// Visitors (reader, schema, writer) live in `config`; this file knows no YAML and no JSON.
// An optional field's default is the member's own initial value. Members may be: double, int,
// std::int64_t, bool, std::string, a Quantity, an enum with `enum_words`, OrAuto<T>,
// std::optional<T>, std::vector<T>, or another spec struct.
// A struct that has a folder of catalogue entries says `static constexpr const char* kCatalogue =
// "gpus";`.
#pragma once

#include <array>
#include <concepts>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

namespace headway::core {

/// Allowed values of one field, in SI units.
struct Range {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  bool low_open = false;   ///< low itself is not allowed
  bool high_open = false;  ///< high itself is not allowed
  const char* words = "";  ///< completes "must be ...", as in "must be positive"

  [[nodiscard]] constexpr bool contains(double value) const {
    return (low_open ? value > low : value >= low) && (high_open ? value < high : value <= high);
  }
};

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();
inline constexpr Range any_value{};
inline constexpr Range positive{0, kInfinity, true, true, "positive"};
inline constexpr Range non_negative{0, kInfinity, false, true, "zero or more"};
inline constexpr Range at_least_one{1, kInfinity, false, true, "at least 1"};
/// An efficiency or share: 0 < x <= 1.
inline constexpr Range fraction{0, 1, true, false, "above 0 and at most 1"};
/// A probability: 0 <= x <= 1.
inline constexpr Range probability{0, 1, false, false, "between 0 and 1"};

/// A value, or the word `auto`: let the program choose.
template <class T>
struct OrAuto {
  std::optional<T> value;

  constexpr OrAuto() = default;
  constexpr OrAuto(T given)  // NOLINT(google-explicit-constructor): reads as a value
      : value(given) {}
  [[nodiscard]] constexpr bool is_auto() const { return !value.has_value(); }
  bool operator==(const OrAuto&) const = default;
};

/// One enumerator and the word users write for it.
template <class E>
struct EnumWord {
  E value;
  std::string_view word;
};

// For an enum E that appears in a spec, declare beside it, found by argument-dependent lookup:
//     constexpr auto enum_words(E) { return std::array{EnumWord<E>{E::ring, "ring"}, ...}; }
template <class E>
concept Worded = requires(E e) {
  enum_words(e).size();
};

/// The word users write for `value`.
template <Worded E>
constexpr std::string_view to_word(E value) {
  for (const auto& entry : enum_words(value)) {
    if (entry.value == value) {
      return entry.word;
    }
  }
  return "?";
}

/// The enumerator for `word`, if there is one.
template <Worded E>
constexpr std::optional<E> from_word(std::string_view word) {
  for (const auto& entry : enum_words(E{})) {
    if (entry.word == word) {
      return entry.value;
    }
  }
  return std::nullopt;
}

}  // namespace headway::core
