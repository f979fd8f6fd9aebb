#include "sim/validation/words/cell_words.h"

#include <algorithm>
#include <cctype>
#include <charconv>

#include "sim/core/text.h"

namespace headway::validation {

namespace {

bool letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }
bool digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

/// Letters, digits with a point between them, "++" and "%", each apart.
std::vector<std::string> pieces_of(const std::string& cell) {
  const std::string text = core::lower_case(cell);
  std::vector<std::string> pieces;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    if (letter(text[at])) {
      end = static_cast<std::size_t>(
          std::find_if_not(text.begin() + static_cast<long>(at), text.end(), letter) -
          text.begin());
    } else if (digit(text[at])) {
      while (end < text.size() && (digit(text[end]) || (text[end] == '.' && end + 1 < text.size() &&
                                                        digit(text[end + 1])))) {
        ++end;
      }
    } else {
      end += text.compare(at, 2, "++") == 0 ? 2 : text[at] == '%' ? 1 : 0;
    }
    if (end > at) {
      pieces.push_back(text.substr(at, end - at));
      if (pieces.back().ends_with(".0")) {
        pieces.back().erase(pieces.back().size() - 2);
      }
    }
    at = std::max(end, at + 1);
  }
  return pieces;
}

std::optional<int> whole_number(const std::string& piece) {
  int number = 0;
  const auto [end, error] = std::from_chars(piece.data(), piece.data() + piece.size(), number);
  return error == std::errc{} && end == piece.data() + piece.size() ? std::optional(number)
                                                                    : std::nullopt;
}

}  // namespace

std::vector<CellWord> read_words(const std::string& text,
                                 std::span<const std::string_view> phrases) {
  const std::vector<std::string> pieces = pieces_of(text);
  std::vector<CellWord> words;
  for (std::size_t at = 0; at < pieces.size();) {
    CellWord word{{}, whole_number(pieces[at]), pieces[at]};
    std::size_t taken = 1;
    std::string joined;
    for (std::size_t end = at; end < pieces.size(); ++end) {
      joined += pieces[end];
      const auto found = std::find(phrases.begin(), phrases.end(), joined);
      if (found != phrases.end()) {
        word = {static_cast<std::size_t>(found - phrases.begin()), {}, joined};
        taken = end + 1 - at;
      }
    }
    words.push_back(std::move(word));
    at += taken;
  }
  return words;
}

}  // namespace headway::validation
