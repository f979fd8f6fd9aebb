#include "sim/import/text_file.h"

#include <algorithm>

#include "sim/core/error.h"
#include "sim/core/read_file.h"
#include "sim/core/shown_text.h"
#include "sim/import/gzip.h"
#include "sim/import/text_mark.h"

namespace headway::import {

namespace {

constexpr std::string_view kNoCharacter = "\xef\xbf\xbd";  // U+FFFD

/// How to make UTF-8 of a text that is none: byte order marks tell UTF-16.
std::string encoding_of(std::string_view text) {
  const bool wide = text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff");
  return wide ? "UTF-16" : "LATIN1";
}

std::string unpacked(const std::string& path) {
  std::string text = core::read_file(path, core::kLargestMeasurement);
  return is_gzip(text) ? gunzip(text, path, core::kLargestMeasurement) : text;
}

[[noreturn]] void refuse_byte(const std::string& text, const std::string& path, std::size_t at) {
  auto mark = mark_at(text, path, at);
  mark.text.clear();  // its bytes are what cannot be shown
  throw core::Error(std::move(mark),
                    fmt::format("byte 0x{:02x} is not valid UTF-8; save the file as UTF-8 text "
                                "(iconv -f {} -t UTF-8)",
                                static_cast<unsigned char>(text[at]), encoding_of(text)));
}

}  // namespace

std::string read_input(const std::string& path) {
  std::string text = unpacked(path);
  if (const auto at = core::find_invalid_utf8(text)) {
    refuse_byte(text, path, *at);
  }
  return text;
}

std::string read_log(const std::string& path) {
  const std::string text = unpacked(path);
  std::string read;
  std::string_view rest = text;
  while (const auto at = core::find_invalid_utf8(rest)) {
    if (encoding_of(text) == "UTF-16") {
      refuse_byte(text, path, 0);
    }
    read.append(rest.substr(0, *at)).append(kNoCharacter);
    rest.remove_prefix(*at + 1);
  }
  return read.append(rest);
}

}  // namespace headway::import
