#include "sim/validation/cells/text_has.h"

#include <cctype>

namespace headway::validation {

bool has_word(std::string_view text, std::string_view word) {
  const auto inside = [&](std::size_t at) {
    return at < text.size() && std::isalpha(static_cast<unsigned char>(text[at])) != 0;
  };
  for (auto at = text.find(word); at != text.npos; at = text.find(word, at + 1)) {
    if (!(at > 0 && inside(at - 1)) && !inside(at + word.size())) {
      return true;
    }
  }
  return false;
}

}  // namespace headway::validation
