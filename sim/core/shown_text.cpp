#include "sim/core/shown_text.h"

#include <cstdint>
#include <fmt/format.h>

namespace headway::core {

namespace {

bool is_control(unsigned char byte) { return byte < 0x20 || byte == 0x7F; }

}  // namespace

std::size_t utf8_length(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) -> std::uint32_t {
    return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0U;
  };
  const std::uint32_t first = byte(0);
  const std::size_t length = first < 0x80   ? 1
                             : first < 0xC2 ? 0
                             : first < 0xE0 ? 2
                             : first < 0xF0 ? 3
                             : first < 0xF5 ? 4
                                            : 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0U) != 0x80U) {
      return 0;
    }
  }
  // Overlong forms, surrogates and what lies beyond U+10FFFF show in the second byte.
  const std::uint32_t second = byte(1);
  const bool bad = (first == 0xE0 && second < 0xA0) || (first == 0xED && second > 0x9F) ||
                   (first == 0xF0 && second < 0x90) || (first == 0xF4 && second > 0x8F);
  return bad ? 0 : length;
}

std::optional<std::size_t> find_invalid_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = utf8_length(text, at);
    if (length == 0) {
      return at;
    }
    at += length;
  }
  return std::nullopt;
}

std::string visible(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const auto byte = static_cast<unsigned char>(text[at]);
    const std::size_t length = utf8_length(text, at);
    const bool harmless = byte == '\n' || byte == '\t' || !is_control(byte);
    const bool c1 = length == 2 && byte == 0xC2 && static_cast<unsigned char>(text[at + 1]) < 0xA0;
    if (length > 0 && harmless && !c1) {
      out += text.substr(at, length);
    } else {
      out += fmt::format("\\x{:02x}", c1 ? static_cast<unsigned char>(text[at + 1]) : byte);
    }
    at += length > 0 ? length : 1;
  }
  return out;
}

std::string blanked(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (is_control(static_cast<unsigned char>(c))) {
      c = c == '\t' ? ' ' : '?';
    }
  }
  return out;
}

std::string shortened(std::string_view text, std::size_t most) {
  if (text.size() <= most) {
    return std::string(text);
  }
  std::size_t end = most;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) {
    --end;  // not through the middle of a character
  }
  return std::string(text.substr(0, end)) + "...";
}

std::string shell_word(std::string_view text) {
  constexpr std::string_view kPlain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-+=./:,@%";
  if (!text.empty() && text.find_first_not_of(kPlain) == std::string_view::npos) {
    return std::string(text);
  }
  std::string word = "'";
  for (const char c : text) {
    word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  }
  return word + "'";
}

}  // namespace headway::core
