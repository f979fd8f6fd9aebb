#include "apps/headway/input.h"

#include <algorithm>

#include "sim/core/error.h"
#include "sim/core/read_file.h"
#include "sim/core/shown_text.h"
#include "sim/import/gzip.h"
#include "sim/import/text_mark.h"

namespace headway::apps {

std::string read_input(const std::string& path) {
  std::string text = core::read_file(path, core::kLargestMeasurement);
  if (import::is_gzip(text)) {
    text = import::gunzip(text, path, core::kLargestMeasurement);
  }
  if (const auto at = core::find_invalid_utf8(text)) {
    auto mark = import::mark_at(text, path, *at);
    mark.text.clear();  // its bytes are what cannot be shown
    throw core::Error(std::move(mark),
                      fmt::format("byte 0x{:02x} is not valid UTF-8; save the file as UTF-8 text "
                                  "(iconv -f LATIN1 -t UTF-8)",
                                  static_cast<unsigned char>(text[*at])));
  }
  return text;
}

}  // namespace headway::apps
