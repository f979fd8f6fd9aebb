// Sizes that cannot wrap: products and sums of degrees, counts and bytes, and narrow conversions.
//
//     const core::Checked ranks = core::Checked(tensor) * context * pipeline * data;
//     if (!ranks.fits()) { complain("tensor {} x ... = {} ranks", tensor, ranks); }
//
// Nothing here throws on a large number: that a size does not fit is a value, so that the rule that
// multiplied can say which fields did it.
#pragma once

#include <concepts>
#include <cstdint>
#include <fmt/format.h>
#include <limits>
#include <optional>
#include <utility>

#include "sim/core/error.h"

namespace headway::core {

/// `value` as a `To`, if it has it. Fractions are cut off towards zero; NaN has no value.
template <std::integral To, class From>
requires std::integral<From> || std::floating_point<From>
constexpr std::optional<To> narrow(From value) {
  if constexpr (std::integral<From>) {
    return std::in_range<To>(value) ? std::optional<To>(static_cast<To>(value)) : std::nullopt;
  } else {
    // Both bounds are powers of two (or 0), so they are exact as floating-point numbers.
    const From above =
        From{2} * static_cast<From>(std::uint64_t{1} << (std::numeric_limits<To>::digits - 1));
    const From below = std::signed_integral<To> ? -above : From{0};
    return value >= below && value < above ? std::optional<To>(static_cast<To>(value))
                                           : std::nullopt;
  }
}

/// A whole number from 0 to 2^63 - 1, or the knowledge that it is larger: what was once added or
/// multiplied beyond that stays so, and prints as "more than 9.2e18".
class Checked {
 public:
  /// @param value  zero or more
  template <std::integral T>
  constexpr Checked(T value)  // NOLINT(google-explicit-constructor): a factor reads as a number
      : value_(narrow<std::int64_t>(value)) {
    HEADWAY_CHECK(!value_ || *value_ >= 0, "a size of {}", *value_);
  }

  [[nodiscard]] constexpr bool fits() const { return value_.has_value(); }
  /// The number as a `To`, if it fits there.
  template <std::integral To>
  [[nodiscard]] constexpr std::optional<To> as() const {
    return value_ ? narrow<To>(*value_) : std::nullopt;
  }
  /// The number, where it is known to fit.
  /// @throws InternalError if it does not
  [[nodiscard]] constexpr std::int64_t value() const {
    HEADWAY_CHECK(fits(), "a size of more than 2^63 was used");
    return *value_;
  }
  /// The number for estimates: rounded to 53 bits, 2^63 if it does not fit.
  [[nodiscard]] constexpr double approximate() const {
    return value_ ? static_cast<double>(*value_) : 0x1p63;
  }

  friend constexpr Checked operator*(Checked a, Checked b) {
    if (a == Checked(0) || b == Checked(0)) {
      return 0;
    }
    std::int64_t out = 0;
    const bool wraps = !a.value_ || !b.value_ || __builtin_mul_overflow(*a.value_, *b.value_, &out);
    return wraps ? Checked() : Checked(out);
  }
  friend constexpr Checked operator+(Checked a, Checked b) {
    std::int64_t out = 0;
    const bool wraps = !a.value_ || !b.value_ || __builtin_add_overflow(*a.value_, *b.value_, &out);
    return wraps ? Checked() : Checked(out);
  }
  /// By order of size; what does not fit is above all that does.
  friend constexpr bool operator<(Checked a, Checked b) {
    return a.value_ && (!b.value_ || *a.value_ < *b.value_);
  }
  friend constexpr bool operator>(Checked a, Checked b) { return b < a; }
  friend constexpr bool operator==(Checked, Checked) = default;

 private:
  constexpr Checked() = default;
  std::optional<std::int64_t> value_;
};

/// True if `size` is known to be a multiple of `divisor`; false if one of them does not fit.
constexpr bool is_multiple(Checked size, Checked divisor) {
  return size.fits() && divisor.fits() && divisor != Checked(0) &&
         size.value() % divisor.value() == 0;
}

}  // namespace headway::core

template <>
struct fmt::formatter<headway::core::Checked> : fmt::formatter<std::string> {
  template <class Context>
  auto format(headway::core::Checked size, Context& context) const {
    return fmt::formatter<std::string>::format(
        size.fits() ? fmt::format("{}", size.value()) : "more than 9.2e18", context);
  }
};
