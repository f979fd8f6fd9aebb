// Reads the word of an enumerator from text that a person wrote, with an error that says which
// words there are.
#pragma once

#include <fmt/format.h>
#include <string>
#include <vector>

#include "sim/core/error.h"
#include "sim/core/fields.h"

namespace headway::core {

/// What to say of a word that is none of an enumeration's: the one it may have been meant to be, or
/// all there are.
template <Worded E>
std::string wrong_word(std::string_view word, std::string_view what) {
  std::vector<std::string> words;
  for (const auto& entry : enum_words(E{})) {
    words.emplace_back(entry.word);
  }
  const auto near = did_you_mean(word, words);
  return fmt::format("unknown {} '{}'{}", what, word,
                     near ? fmt::format("; did you mean '{}'?", *near)
                          : fmt::format("; known: {}", fmt::join(words, ", ")));
}

/// The enumerator of `word`.
/// @param what   what the word names, as "monitor"
/// @param place  where it stands, as "--monitor"
/// @throws Error  "place: unknown what 'word'; did you mean ...?"
template <Worded E>
E parse_word(std::string_view word, std::string_view what, std::string_view place) {
  if (const auto value = from_word<E>(word)) {
    return *value;
  }
  throw Error(fmt::format("{}: {}", place, wrong_word<E>(word, what)));
}

}  // namespace headway::core
