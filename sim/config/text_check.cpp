#include "sim/config/text_check.h"

#include <string_view>

#include "sim/core/shown_text.h"

namespace headway::config {

namespace {

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
    const std::size_t length = core::utf8_length(text, i);
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
