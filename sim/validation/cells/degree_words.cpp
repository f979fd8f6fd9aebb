#include "sim/validation/cells/degree_words.h"

#include <algorithm>
#include <array>
#include <vector>

#include "sim/validation/cells/cell_words.h"

namespace headway::validation {

std::optional<int> degree_words(std::string_view column, const std::string& cell) {
  static constexpr std::array<std::string_view, 14> kWords = {
      "way",  "ways",  "degree", "size",   "intra", "inter",   "node",
      "rank", "ranks", "stages", "chunks", "gpus",  "virtual", "within"};
  static constexpr std::array<std::string_view, 7> kColumns = {"tp", "pp",  "vpp", "cp",
                                                               "ep", "etp", "dp"};
  if (std::find(kColumns.begin(), kColumns.end(), column) == kColumns.end() ||
      cell.find_first_of("./<>~+*^%") != std::string::npos) {
    return std::nullopt;
  }
  std::vector<std::string_view> known(kWords.begin(), kWords.end());
  known.push_back(column);
  std::optional<int> degree;
  bool others = false;
  for (const CellWord& word : read_words(cell, known)) {
    if (word.number ? degree.has_value() : !word.phrase) {
      return std::nullopt;
    }
    degree = word.number ? word.number : degree;
    others = others || word.phrase;
  }
  return others ? degree : std::nullopt;
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
