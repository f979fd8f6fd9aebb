#include "sim/config/text_check.h"

#include <cstdint>
#include <string_view>

namespace headway::config {

namespace {

/// Bytes of the UTF-8 character that starts at `at`; 0 if there is none (RFC 3629).
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

bool is_control(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (byte < 0x20 && c != '\t' && c != '\n' && c != '\r') || byte == 0x7F;
}

/// The fault at byte `at`, without the line, whose bytes a terminal cannot show.
core::Diagnostic byte_fault(const SourceFile& file, std::size_t at, std::string_view words) {
  const auto byte = static_cast<unsigned char>(file.text()[at]);
  const Place place = place_of_offset(file, at);
  return {core::SourceMark{file.name(), place.line, place.column, 1, ""},
          fmt::format("byte 0x{:02x} {}", byte, words)};
}

}  // namespace

std::optional<core::Diagnostic> check_text(const SourceFile& file) {
  const std::string_view text = file.text();
  bool in_indentation = true;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = utf8_length(text, i);
    if (length == 0) {
      return byte_fault(file, i, "is not valid UTF-8; save the file as UTF-8 text");
    }
    if (is_control(text[i])) {
      return byte_fault(file, i, "is a control character; this is not a text file");
    }
    if (in_indentation && text[i] == '\t') {
      return core::Diagnostic{to_mark(place_of_offset(file, i)),
                              "a tab in the indentation; YAML is indented with spaces"};
    }
    in_indentation = text[i] == '\n' || (in_indentation && text[i] == ' ');
    i += length;
  }
  return std::nullopt;
}

}  // namespace headway::config
