// Words of a cell: phrases of a list and numbers, however they are written and joined.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headway::validation {

/// A phrase of a list, a number, or a word that the list does not have.
struct CellWord {
  std::optional<std::size_t> phrase;  ///< place in the list
  std::optional<int> number;          ///< a whole number that is in no phrase
  std::string text;                   ///< as the cell has it, in small letters
};

/// The text without what it denies: of each clause what stands before "no", "not", "without" or
/// "w/o"; all of it goes where nothing, or "used", stands behind, and where it ends in "off" or
/// "disabled".
std::string undenied(const std::string& text);
/// The same, or the whole cell where it is all denied: "no" is a word too.
std::string undenied_cell(const std::string& cell);
/// The text without what it compares with: of each clause what stands before "unlike", "than",
/// "compared" and the like; nothing of a clause that judges another run ("Muon is slower").
std::string uncompared(const std::string& text);
/// Clauses of a text, without spaces at their ends. A comma between digits, and a full stop inside
/// a number, are no ends.
std::vector<std::string> clauses_of(const std::string& text);
/// Whether nothing is left of a cell without what it denies: "no AC", "w/o offload", "disabled".
bool all_denied(const std::string& cell);

/// The words of a cell, of which the longest phrases are taken: "ZeRO-3", "zero 3" and "zero_3" are
/// the phrase "zero3", "3.0" is the number 3, and "++" and "%" are words.
/// @param phrases  in small letters, without spaces
std::vector<CellWord> read_words(const std::string& text,
                                 std::span<const std::string_view> phrases);

/// The first members of a list whose members begin with a phrase.
template <class List>
std::vector<std::string_view> phrases_of(const List& list) {
  std::vector<std::string_view> phrases;
  for (const auto& entry : list) {
    phrases.push_back(entry.phrase);
  }
  return phrases;
}

/// What a reader of a cell says of it beside its meaning.
struct ReadCell {
  bool open = false;     ///< not all of it is stated
  std::string unknown;   ///< words that were not understood; empty: all were
  std::string nearness;  ///< what stands for something that is not modelled exactly; empty: nothing
};

/// Adds a word to a text of words.
inline void add_word(std::string& words, const std::string& word) {
  words += (words.empty() || word.empty() ? "" : " ") + word;
}

}  // namespace headway::validation
