#include "sim/validation/cells/cell_words.h"

#include <algorithm>
#include <array>
#include <cctype>

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

/// A clause without what it denies.
std::string undenied_clause(const std::string& clause) {
  static constexpr std::array<std::string_view, 4> kDenies = {"no", "not", "without", "never"};
  static constexpr std::array<std::string_view, 4> kEnds = {"off", "disabled", "unused", "omitted"};
  static constexpr std::array<std::string_view, 3> kDone = {"used", "enabled", "applied"};
  const auto among = [](const auto& words, const std::string& word) {
    return std::find(words.begin(), words.end(), word) != words.end();
  };
  const std::string text = core::lower_case(clause);
  std::string last;
  for (std::size_t at = 0; at < text.size();) {
    const auto begin = std::find_if(text.begin() + static_cast<long>(at), text.end(), letter);
    const auto end = std::find_if_not(begin, text.end(), letter);
    const std::string word(begin, end);
    at = static_cast<std::size_t>(end - text.begin());
    if (among(kDenies, word)) {
      const auto next = std::find_if(end, text.end(), letter);
      const std::string behind(next, std::find_if_not(next, text.end(), letter));
      const bool whole = behind.empty() || among(kDone, behind);
      return whole ? "" : clause.substr(0, static_cast<std::size_t>(begin - text.begin()));
    }
    last = word.empty() ? last : word;
  }
  return among(kEnds, last) ? "" : clause;
}

/// A clause up to where it begins to compare, and from where it comes back to this run: "compared
/// with AdamW we use Adafactor"; nothing of one that judges another run: "Muon is slower".
std::string uncompared_clause(const std::string& clause) {
  static constexpr std::array<std::string_view, 14> kCompares = {
      "unlike",     "than",      "versus",   "vs",      "compare", "compared", "compares",
      "comparison", "comparing", "contrast", "against", "instead", "rather",   "opposed"};
  static constexpr std::array<std::string_view, 6> kOfAnother = {"would", "could",  "gives",
                                                                 "gave",  "slower", "faster"};
  const std::string text = core::lower_case(clause);
  const std::string padded = " " + text + " ";
  for (std::size_t at = 0; at < text.size();) {
    const auto begin = std::find_if(text.begin() + static_cast<long>(at), text.end(), letter);
    const auto end = std::find_if_not(begin, text.end(), letter);
    const bool another = std::find(kOfAnother.begin(), kOfAnother.end(),
                                   std::string_view(begin, end)) != kOfAnother.end();
    if (another && padded.find(" we ") == std::string::npos &&
        padded.find(" this ") == std::string::npos) {
      return "";
    }
    if (std::find(kCompares.begin(), kCompares.end(), std::string_view(begin, end)) !=
        kCompares.end()) {
      const auto back = text.find(" we ", static_cast<std::size_t>(begin - text.begin()));
      return clause.substr(0, static_cast<std::size_t>(begin - text.begin())) +
             (back == std::string::npos ? "" : clause.substr(back));
    }
    at = static_cast<std::size_t>(end - text.begin());
  }
  return clause;
}

/// "w/o" is how tables write "without".
std::string with_without(std::string text) {
  const std::string small = core::lower_case(text);
  for (auto at = small.rfind("w/o"); at != std::string::npos;
       at = at > 0 ? small.rfind("w/o", at - 1) : std::string::npos) {
    const bool whole =
        (at == 0 || !letter(small[at - 1])) && (at + 3 == small.size() || !letter(small[at + 3]));
    if (whole) {
      text.replace(at, 3, "without");
    }
  }
  return text;
}

/// A text whose clauses are each changed so.
template <class Change>
std::string by_clauses(const std::string& text, const Change& change) {
  constexpr std::string_view kEnds = ",;()[]\n";
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = std::min(text.find_first_of(kEnds, at), text.size());
    // A full stop ends a clause, one inside a number does not.
    if (const auto stop = text.find(". ", at); stop < end) {
      end = stop;
    }
    out += change(text.substr(at, end - at)) + text.substr(end, 1);
    at = end + 1;
  }
  return out;
}

}  // namespace

std::string undenied(const std::string& cell) {
  return by_clauses(with_without(cell), undenied_clause);
}

std::string uncompared(const std::string& text) { return by_clauses(text, uncompared_clause); }

std::string undenied_cell(const std::string& cell) {
  std::string left = undenied(cell);
  return pieces_of(left).empty() ? with_without(cell) : left;
}

std::vector<std::string> clauses_of(const std::string& text) {
  const auto digit = [&](std::size_t at) {
    return at < text.size() && text[at] >= '0' && text[at] <= '9';
  };
  std::vector<std::string> clauses(1);
  for (std::size_t at = 0; at < text.size(); ++at) {
    const bool thousands = text[at] == ',' && at > 0 && digit(at - 1) && digit(at + 1);
    if ((std::string_view(",;()\n").find(text[at]) != std::string_view::npos && !thousands) ||
        text.compare(at, 2, ". ") == 0) {
      clauses.emplace_back();
    } else if (text[at] != ' ' || !clauses.back().empty()) {
      clauses.back() += text[at];
    }
  }
  for (std::string& clause : clauses) {
    clause.erase(clause.find_last_not_of(' ') + 1);
  }
  return clauses;
}

bool all_denied(const std::string& cell) {
  return !pieces_of(cell).empty() && pieces_of(undenied(cell)).empty();
}

std::vector<CellWord> read_words(const std::string& text,
                                 std::span<const std::string_view> phrases) {
  std::size_t longest = 0;
  for (const std::string_view phrase : phrases) {
    longest = std::max(longest, phrase.size());
  }
  const std::vector<std::string> pieces = pieces_of(text);
  std::vector<CellWord> words;
  for (std::size_t at = 0; at < pieces.size();) {
    CellWord word{{}, core::whole_text_as<int>(pieces[at]), pieces[at]};
    std::size_t taken = 1;
    std::string joined;
    for (std::size_t end = at; end < pieces.size() && joined.size() < longest; ++end) {
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
