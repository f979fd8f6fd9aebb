#include "sim/config/unit_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <system_error>
#include <utility>

#include "sim/core/error.h"
#include "sim/core/text.h"

namespace headway::config {

namespace {

constexpr Dimension kNone{};
constexpr Dimension kTime{1, 0, 0, 0, 0};
constexpr Dimension kFrequency{-1, 0, 0, 0, 0};
constexpr Dimension kData{0, 1, 0, 0, 0};
constexpr Dimension kBandwidth{-1, 1, 0, 0, 0};
constexpr Dimension kWork{0, 0, 1, 0, 0};
constexpr Dimension kRate{-1, 0, 1, 0, 0};
constexpr Dimension kMoney{0, 0, 0, 1, 0};
constexpr Dimension kMoneyPerTime{-1, 0, 0, 1, 0};
constexpr Dimension kMoneyPerData{0, -1, 0, 1, 0};
constexpr Dimension kMoneyPerDataTime{-1, -1, 0, 1, 0};
constexpr Dimension kMoneyPerEnergy{0, 0, 0, 1, -1};
constexpr Dimension kEnergy{0, 0, 0, 0, 1};
constexpr Dimension kPower{-1, 0, 0, 0, 1};

/// A unit of one word. SI value = number * numerator / denominator.
struct Word {
  std::string_view text;
  Dimension dimension;
  double numerator;
  double denominator = 1;
};

constexpr double kHour = 3600;
constexpr double kDay = 86400;
// A year of 365 days has twelve months of 730 hours, the month cloud bills are written in.
constexpr double kMonth = 730 * kHour;
constexpr double kYear = 365 * kDay;

/// What a plain number may be multiplied by.
struct Magnitude {
  std::string_view text;
  double factor;
  std::string_view ambiguous = {};  ///< also written for it, and for a power of ten
  double power_of_ten = 0;
};
constexpr std::array kMagnitudes{Magnitude{"Ki", 1024, "k", 1e3}, Magnitude{"Ki", 1024, "K", 1e3},
                                 Magnitude{"Mi", 1024.0 * 1024, "M", 1e6}, Magnitude{"B", 1e9},
                                 Magnitude{"T", 1e12}};

constexpr std::array kWords{
    // Dividing by 1e6 rounds once, multiplying by 1e-6 twice: so "5 us" is the double 5e-6.
    Word{"ps", kTime, 1, 1e12},
    Word{"ns", kTime, 1, 1e9},
    Word{"us", kTime, 1, 1e6},
    Word{"ms", kTime, 1, 1e3},
    Word{"s", kTime, 1},
    Word{"second", kTime, 1},
    Word{"seconds", kTime, 1},
    Word{"min", kTime, 60},
    Word{"minute", kTime, 60},
    Word{"minutes", kTime, 60},
    Word{"h", kTime, kHour},
    Word{"hour", kTime, kHour},
    Word{"hours", kTime, kHour},
    Word{"d", kTime, kDay},
    Word{"day", kTime, kDay},
    Word{"days", kTime, kDay},
    Word{"week", kTime, 7 * kDay},
    Word{"weeks", kTime, 7 * kDay},
    Word{"month", kTime, kMonth},
    Word{"months", kTime, kMonth},
    Word{"year", kTime, kYear},
    Word{"years", kTime, kYear},
    Word{"Hz", kFrequency, 1},
    Word{"kHz", kFrequency, 1e3},
    Word{"MHz", kFrequency, 1e6},
    Word{"GHz", kFrequency, 1e9},
    Word{"B", kData, 1},
    Word{"kB", kData, 1e3},
    Word{"KB", kData, 1e3},
    Word{"MB", kData, 1e6},
    Word{"GB", kData, 1e9},
    Word{"TB", kData, 1e12},
    Word{"PB", kData, 1e15},
    Word{"EB", kData, 1e18},
    Word{"KiB", kData, 0x1p10},
    Word{"MiB", kData, 0x1p20},
    Word{"GiB", kData, 0x1p30},
    Word{"TiB", kData, 0x1p40},
    Word{"PiB", kData, 0x1p50},
    Word{"EiB", kData, 0x1p60},
    Word{"bps", kBandwidth, 0.125},
    Word{"kbps", kBandwidth, 125},
    Word{"Mbps", kBandwidth, 1.25e5},
    Word{"Gbps", kBandwidth, 1.25e8},
    Word{"Tbps", kBandwidth, 1.25e11},
    Word{"bit", kData, 0.125},
    Word{"kbit", kData, 125},
    Word{"Mbit", kData, 1.25e5},
    Word{"Gbit", kData, 1.25e8},
    Word{"Tbit", kData, 1.25e11},
    Word{"FLOP", kWork, 1},
    Word{"MFLOP", kWork, 1e6},
    Word{"GFLOP", kWork, 1e9},
    Word{"TFLOP", kWork, 1e12},
    Word{"PFLOP", kWork, 1e15},
    Word{"EFLOP", kWork, 1e18},
    Word{"ZFLOP", kWork, 1e21},
    Word{"GFLOPs", kRate, 1e9},
    Word{"TFLOPs", kRate, 1e12},
    Word{"PFLOPs", kRate, 1e15},
    Word{"EFLOPs", kRate, 1e18},
    Word{"GFLOPS", kRate, 1e9},
    Word{"TFLOPS", kRate, 1e12},
    Word{"PFLOPS", kRate, 1e15},
    Word{"EFLOPS", kRate, 1e18},
    Word{"USD", kMoney, 1},
    Word{"J", kEnergy, 1},
    Word{"kJ", kEnergy, 1e3},
    Word{"MJ", kEnergy, 1e6},
    Word{"Wh", kEnergy, kHour},
    Word{"kWh", kEnergy, 1e3 * kHour},
    Word{"MWh", kEnergy, 1e6 * kHour},
    Word{"GWh", kEnergy, 1e9 * kHour},
    Word{"W", kPower, 1},
    Word{"kW", kPower, 1e3},
    Word{"MW", kPower, 1e6},
    Word{"GW", kPower, 1e9},
};

/// What to say of a dimension, and the units to write it in: the first reads best, the last is SI.
struct Naming {
  Dimension dimension;
  std::string_view name;
  std::array<std::string_view, 7> units;  ///< unused places are empty
};

constexpr std::array kNamings{
    Naming{kTime, "a time", {"s", "min", "h", "d", "us", "ms", "ns"}},
    Naming{kFrequency, "a frequency", {"Hz"}},
    Naming{kData, "a size", {"GiB", "GB", "TB", "MiB", "KiB", "B"}},
    Naming{kBandwidth, "a bandwidth", {"Gbps", "GB/s", "TB/s", "MB/s", "B/s"}},
    Naming{kWork, "an amount of work", {"TFLOP", "FLOP"}},
    Naming{kRate, "a compute rate", {"TFLOP/s", "PFLOP/s", "FLOP/s"}},
    Naming{kMoney, "an amount of money", {"USD"}},
    Naming{kMoneyPerTime, "a price per time", {"USD/h", "USD/s"}},
    Naming{kMoneyPerData, "a price per size", {"USD/TB", "USD/GB", "USD/B"}},
    Naming{kMoneyPerDataTime,
           "a price per size and time",
           {"USD/TB/month", "USD/GB/month", "USD/B/s"}},
    Naming{kMoneyPerEnergy, "a price of energy", {"USD/kWh", "USD/MWh", "USD/J"}},
    Naming{kEnergy, "an energy", {"kWh", "MWh", "J"}},
    Naming{kPower, "a power", {"W", "kW", "MW"}},
};

const Naming* naming_of(Dimension dimension) {
  for (const Naming& naming : kNamings) {
    if (naming.dimension == dimension) {
      return &naming;
    }
  }
  return nullptr;
}

const Word* find_word(std::string_view text) {
  for (const Word& word : kWords) {
    if (word.text == text) {
      return &word;
    }
  }
  return nullptr;
}

Dimension plus(Dimension a, Dimension b, int sign) {
  return {a.time + sign * b.time, a.data + sign * b.data, a.work + sign * b.work,
          a.money + sign * b.money, a.energy + sign * b.energy};
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// "write '400 Gbps' or '50 GB/s'": the number with the two likeliest units.
std::string with_units(std::string_view number, double value, const Naming& naming) {
  if (naming.dimension == kBandwidth) {
    return fmt::format("write '{} Gbps' or '{} GB/s'", number, write_number(value / 8));
  }
  if (naming.units[1].empty()) {
    return fmt::format("write '{} {}'", number, naming.units[0]);
  }
  return fmt::format("write '{} {}' or '{} {}'", number, naming.units[0], number, naming.units[1]);
}

/// A number that was rounded to the last whole number that is kept: the next one, where the digits
/// are of more.
double not_rounded_to_limit(std::string_view digits, double value) {
  if (std::abs(value) != kExactIntegers) {
    return value;
  }
  long double exact = value;
  std::from_chars(digits.data(), digits.data() + digits.size(), exact);
  return std::abs(exact) > kExactIntegers ? std::nextafter(value, 2 * value) : value;
}

/// In 15 digits: what a unit made 3.6875000000000004 of was 3.6875.
double without_last_digits(double value) {
  const std::string text = fmt::format("{:.15g}", value);
  double out = value;
  std::from_chars(text.data(), text.data() + text.size(), out);
  return out;
}

std::string unknown_unit(std::string_view text, std::string_view unit, const Naming& naming) {
  // Capital and small b differ by a factor of eight, so the mixed spelling is not guessed at.
  if (naming.dimension == kBandwidth && unit.size() == 4 && unit.substr(1) == "b/s") {
    return fmt::format("'{}': '{}' is easily misread; write '{}bps' for bits or '{}B/s' for bytes",
                       text, unit, unit[0], unit[0]);
  }
  std::string known;
  for (const std::string_view candidate : naming.units) {
    if (!candidate.empty()) {
      known += (known.empty() ? "" : ", ") + std::string(candidate);
    }
  }
  return fmt::format("'{}' has the unknown unit '{}'; {} is written in {}", text, unit, naming.name,
                     known);
}

}  // namespace

std::optional<NumberText> parse_number(std::string_view text, std::string& why) {
  std::string_view digits = text.starts_with('+') ? text.substr(1) : text;
  const std::string_view unsigned_digits = digits.starts_with('-') ? digits.substr(1) : digits;
  // from_chars would also take "inf" and "nan", which no spec can use.
  const bool starts_well = !unsigned_digits.empty() &&
                           (is_digit(unsigned_digits[0]) || unsigned_digits[0] == '.') &&
                           !(text.starts_with('+') && digits.starts_with('-'));
  NumberText number;
  const char* end = digits.data() + digits.size();
  const auto result = starts_well
                          ? std::from_chars(digits.data(), end, number.value)
                          : std::from_chars_result{digits.data(), std::errc::invalid_argument};
  if (result.ec == std::errc::result_out_of_range) {
    why = fmt::format("'{}' lies beyond what a number can hold", text);
    return std::nullopt;
  }
  if (result.ec != std::errc{}) {
    why = fmt::format("'{}' is not a number; write digits, as 8, 0.5 or 1e9", text);
    return std::nullopt;
  }
  number.value = not_rounded_to_limit(digits, number.value);
  number.rest = std::string_view(result.ptr, static_cast<std::size_t>(end - result.ptr));
  if (!number.rest.empty() && (number.rest[0] == '_' || number.rest[0] == ',')) {
    why = fmt::format("'{}' has a '{}' in it; write the digits alone, or 1.5e6", text,
                      number.rest[0]);
    return std::nullopt;
  }
  return number;
}

std::optional<NumberText> parse_count(std::string_view text, std::string& why) {
  auto number = parse_number(text, why);
  if (!number) {
    return std::nullopt;
  }
  const std::string_view word = core::trimmed(number->rest);
  const auto found =
      std::find_if(kMagnitudes.begin(), kMagnitudes.end(), [&](const Magnitude& magnitude) {
        return word == magnitude.text || (!word.empty() && word == magnitude.ambiguous);
      });
  if (found == kMagnitudes.end()) {
    return number;
  }
  if (word != found->text) {
    why = fmt::format("'{}' may be {:.15g} or {:.15g}; write one of them", text,
                      number->value * found->power_of_ten, number->value * found->factor);
    return std::nullopt;
  }
  number->value *= found->factor;
  number->rest = {};
  if (!std::isfinite(number->value)) {
    why = fmt::format("'{}' lies beyond what a number can hold", text);
    return std::nullopt;
  }
  return number;
}

std::string magnitude_pattern() {
  std::string words;
  for (const Magnitude& magnitude : kMagnitudes) {
    if (magnitude.ambiguous != "K") {  // beside k
      words += (words.empty() ? "" : "|") + std::string(magnitude.text);
    }
  }
  return fmt::format("( *({}))?", words);
}

std::optional<Unit> parse_unit(std::string_view text) {
  Unit unit;
  bool first = true;
  while (true) {
    const auto slash = text.find('/');
    const Word* word = find_word(core::trimmed(text.substr(0, slash)));
    if (word == nullptr) {
      return std::nullopt;
    }
    unit.dimension = plus(unit.dimension, word->dimension, first ? 1 : -1);
    (first ? unit.numerator : unit.denominator) *= word->numerator;
    (first ? unit.denominator : unit.numerator) *= word->denominator;
    if (slash == std::string_view::npos) {
      return unit;
    }
    text = text.substr(slash + 1);
    first = false;
  }
}

std::optional<double> parse_quantity(std::string_view text, Dimension dimension, std::string& why) {
  const Naming* naming = naming_of(dimension);
  HEADWAY_CHECK(naming != nullptr, "a field has a dimension that has no name");
  const auto number = parse_number(text, why);
  if (!number) {
    return std::nullopt;
  }
  const std::string_view unit_text = core::trimmed(number->rest);
  if (unit_text.empty()) {
    why = fmt::format("'{}' has no unit; {}", text, with_units(text, number->value, *naming));
    return std::nullopt;
  }
  const auto unit = parse_unit(unit_text);
  if (!unit) {
    why = unknown_unit(text, unit_text, *naming);
    return std::nullopt;
  }
  if (unit->dimension != dimension) {
    const std::string_view is = dimension_name(unit->dimension);
    why =
        fmt::format("'{}' is {}, not {}; write it in {}", text, is, naming->name, naming->units[0]);
    return std::nullopt;
  }
  const double si = number->value * unit->numerator / unit->denominator;
  if (!std::isfinite(si)) {
    why = fmt::format("'{}' lies beyond what a number can hold", text);
    return std::nullopt;
  }
  return si;
}

std::string write_number(double value) { return fmt::format("{}", value); }

std::string write_quantity(double si, Dimension dimension) {
  const Naming* naming = naming_of(dimension);
  HEADWAY_CHECK(naming != nullptr, "a field has a dimension that has no name");
  std::string best;
  for (const std::string_view text : naming->units) {
    const auto unit = parse_unit(text);
    if (!unit) {
      continue;
    }
    const double value = si * unit->denominator / unit->numerator;
    for (const double shown : {without_last_digits(value), value}) {
      std::string number = write_number(shown);
      if (number.ends_with(".0")) {
        number.resize(number.size() - 2);
      }
      if (!best.empty() && number.size() + 1 + text.size() >= best.size()) {
        continue;
      }
      const std::string candidate = fmt::format("{} {}", number, text);
      std::string why;
      if (parse_quantity(candidate, dimension, why) == si) {
        best = candidate;
      }
    }
  }
  HEADWAY_CHECK(!best.empty(), "no unit writes {} exactly", si);
  return best;
}

std::string_view dimension_name(Dimension dimension) {
  const Naming* naming = naming_of(dimension);
  return naming != nullptr    ? naming->name
         : dimension == kNone ? "a plain number"
                              : "of another kind";
}

std::vector<std::string> unit_spellings(Dimension dimension) {
  std::vector<std::string> spellings;
  for (const Word& word : kWords) {
    if (word.dimension == dimension) {
      spellings.emplace_back(word.text);
    }
  }
  return spellings;
}

std::vector<std::string> unit_examples(Dimension dimension) {
  std::vector<std::string> examples;
  if (const Naming* naming = naming_of(dimension)) {
    for (const std::string_view unit : naming->units) {
      if (!unit.empty()) {
        examples.emplace_back(unit);
      }
    }
  }
  for (std::string& spelling : unit_spellings(dimension)) {
    if (std::find(examples.begin(), examples.end(), spelling) == examples.end()) {
      examples.push_back(std::move(spelling));
    }
  }
  return examples;
}

std::string unit_pattern(Dimension dimension) {
  const auto group = [](Dimension of) {
    return fmt::format("({})", fmt::join(unit_spellings(of), "|"));
  };
  const Dimension above{std::max(dimension.time, 0), std::max(dimension.data, 0),
                        std::max(dimension.work, 0), std::max(dimension.money, 0),
                        std::max(dimension.energy, 0)};
  if (above == dimension || dimension == kFrequency) {
    return group(dimension);
  }
  std::string quotient = group(above);
  for (const auto& [exponent, below] :
       {std::pair(dimension.data, kData), std::pair(dimension.energy, kEnergy),
        std::pair(dimension.time, kTime)}) {
    if (exponent < 0) {
      quotient += fmt::format("/{}", group(below));
    }
  }
  return unit_spellings(dimension).empty() ? quotient
                                           : fmt::format("({}|{})", group(dimension), quotient);
}

}  // namespace headway::config
