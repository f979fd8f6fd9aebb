// Whether a text has a word or a part.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace headway::validation {

/// Whether a text in small letters has this word whole: "efa" is none of "default".
bool has_word(std::string_view text, std::string_view word);

inline bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// Whether one of these words is in the text.
template <std::size_t kCount>
bool contains_any(std::string_view text, const std::array<const char*, kCount>& words) {
  return std::any_of(words.begin(), words.end(),
                     [&](const char* word) { return contains(text, word); });
}

}  // namespace headway::validation
