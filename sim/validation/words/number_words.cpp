#include "sim/validation/words/number_words.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "sim/core/text.h"
#include "sim/validation/words/cell_words.h"

namespace headway::validation {

namespace {

enum class NumberSays { nothing, about, tokens, packed };

struct NumberPhrase {
  std::string_view phrase;
  NumberSays says;
};

constexpr NumberPhrase kNumberPhrases[] = {
    {"about", NumberSays::about},         {"approx", NumberSays::about},
    {"approximately", NumberSays::about}, {"ca", NumberSays::about},
    {"token", NumberSays::tokens},        {"tokens", NumberSays::tokens},
    {"packed", NumberSays::packed},       {"batch", NumberSays::nothing},
    {"per", NumberSays::nothing},         {"samples", NumberSays::nothing},
    {"seq", NumberSays::nothing},         {"seqs", NumberSays::nothing},
    {"sequence", NumberSays::nothing},    {"sequences", NumberSays::nothing},
    {"step", NumberSays::nothing}};

/// Words before or behind a number. Whether all are known.
bool add_words(const std::string& words, NumberWords& out) {
  static const std::vector<std::string_view> known = phrases_of(kNumberPhrases);
  for (const CellWord& word : read_words(words, known)) {
    if (!word.phrase) {
      return false;
    }
    const NumberSays says = kNumberPhrases[*word.phrase].says;
    out.about = out.about || says == NumberSays::about;
    out.tokens = out.tokens || says == NumberSays::tokens;
    out.packed = out.packed || says == NumberSays::packed;
  }
  return words.find_first_of("-%/*") == std::string::npos;
}

/// Digits with their thousands apart ("4,096"), which are whole groups of three.
std::string without_commas(const std::string& digits) {
  std::string out;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    const bool group = digits[i] == ',' && i > 0 && digits.size() - i >= 4 &&
                       digits.find_first_of(",.", i + 1) >= std::min(i + 4, digits.size());
    if (!group) {
      out += digits[i];
    }
  }
  return out;
}

}  // namespace

std::optional<NumberWords> number_words(const std::string& cell) {
  const std::string text = core::lower_case(cell);
  constexpr const char* kFigure = "0123456789.,";
  const auto begin = text.find_first_of("0123456789");
  if (begin == std::string::npos) {
    return std::nullopt;
  }
  const auto end = std::min(text.find_first_not_of(kFigure, begin), text.size());
  const std::string digits = without_commas(text.substr(begin, end - begin));
  if (begin == 0 && end == text.size() && digits == text) {
    return std::nullopt;
  }
  const auto value = core::whole_text_as<double>(digits);
  if (!value) {
    return std::nullopt;
  }
  NumberWords out;
  out.value = *value;
  std::string rest = text.substr(end);
  const bool unit =
      !rest.empty() && (rest.size() == 1 || !std::isalpha(static_cast<unsigned char>(rest[1])));
  if (unit && (rest[0] == 'k' || rest[0] == 'm')) {
    out.scaled = true;
    out.value *= rest[0] == 'k' ? 1024 : 1024 * 1024;
    rest.erase(0, 1);
  }
  const std::string before = text.substr(0, begin);
  out.about = before.find('~') != std::string::npos;
  return add_words(before + " ", out) && add_words(rest, out) ? std::optional(out) : std::nullopt;
}

std::optional<HeadWidths> head_widths(const std::string& cell) {
  static constexpr std::array<std::string_view, 10> kWords = {
      "head", "headdim", "dim", "dimension", "qk", "v", "key", "keys", "value", "values"};
  std::vector<int> numbers;
  bool values = false;
  for (const CellWord& word : read_words(cell, kWords)) {
    if (!word.phrase && !word.number) {
      return std::nullopt;
    }
    values = values || (word.phrase && word.text.starts_with("v"));
    if (word.number) {
      numbers.push_back(*word.number);
    }
  }
  const std::size_t wanted = values ? 2 : 1;  // keys first, then values
  if (numbers.size() != wanted || cell.find('-') != std::string::npos) {
    return std::nullopt;
  }
  return HeadWidths{numbers.front(), values ? numbers.back() : 0};
}

}  // namespace headway::validation
