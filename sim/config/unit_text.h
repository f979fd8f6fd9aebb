// Units as users write them: "400 Gbps", "80GiB", "2.95 USD/h", "30 USD/TB/month".
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/config/spec_type.h"

namespace headway::config {

/// Up to here (2^53) every whole number is kept as it is written.
inline constexpr double kExactIntegers = 9007199254740992.0;

/// A number parsed from the front of a text.
struct NumberText {
  double value = 0;
  std::string_view rest;  ///< what follows the number
};

/// Reads a decimal number such as -1.5, .5 or 15.6e12 from the front of `text`. What is written
/// above `kExactIntegers` is above it as a number too, so that limits refuse it.
/// @returns the number, or empty with the reason in `why` ("is not a number", "is too large")
std::optional<NumberText> parse_number(std::string_view text, std::string& why);

/// The same of a plain number, which may be written with a magnitude: 15T, 1.5B, and 8Ki or 4Mi for
/// powers of 1,024. What k and M mean is not guessed: a context of 8k is 8,192 tokens, 8k USD are
/// 8,000.
/// @returns the number times its magnitude, or empty with the reason in `why`
std::optional<NumberText> parse_count(std::string_view text, std::string& why);

/// Regular expression (ECMA 262) of the magnitudes that `parse_count` takes, for the schema.
std::string magnitude_pattern();

/// A unit: its dimension and its size in SI units.
struct Unit {
  Dimension dimension;
  double numerator = 1;    ///< SI value = number * numerator / denominator
  double denominator = 1;  ///< a second factor keeps "USD/kWh" exact to the last bit
};

/// The unit written as `text` ("GB/s", "USD/TB/month"); empty if it is none.
std::optional<Unit> parse_unit(std::string_view text);

/// A value in SI units from text such as "400 Gbps", if it is one of `dimension`.
/// @returns the value, or empty with the complaint in `why`: "'400' has no unit; write ..."
std::optional<double> parse_quantity(std::string_view text, Dimension dimension, std::string& why);

/// `si` in the unit that gives the shortest text which reads back to the same bits.
std::string write_quantity(double si, Dimension dimension);

/// A double as the shortest text that reads back to the same bits.
std::string write_number(double value);

/// "a bandwidth", "a time", ...: what a value of `dimension` is called.
std::string_view dimension_name(Dimension dimension);

/// Regular expression (ECMA 262) of all units of `dimension`, for the schema.
std::string unit_pattern(Dimension dimension);

/// Units that quantities of `dimension` are written in, what reads best first.
std::vector<std::string> unit_examples(Dimension dimension);

/// All spellings of single units of `dimension`, for tests and documentation.
std::vector<std::string> unit_spellings(Dimension dimension);

}  // namespace headway::config
