#include "apps/headway/measured/rank_list.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <set>
#include <utility>

#include "sim/core/error.h"
#include "sim/core/shown_text.h"

namespace headway::apps {

namespace {

/// A range as "0-7" or a rank as "64".
std::pair<std::int64_t, std::int64_t> range_of(std::string_view part, const std::string& option) {
  const char* const end = part.data() + part.size();
  std::int64_t first = 0;
  auto read = std::from_chars(part.data(), end, first);
  std::int64_t last = first;
  if (read.ec == std::errc{} && read.ptr != end && *read.ptr == '-') {
    read = std::from_chars(read.ptr + 1, end, last);
  }
  if (read.ec != std::errc{} || read.ptr != end || first < 0 || last < first) {
    throw core::Error(fmt::format("{} '{}': is no rank and no range; write 0-7,64", option,
                                  core::shortened(part)));
  }
  return {first, last};
}

}  // namespace

std::vector<std::int64_t> ranks_of(std::string_view text,
                                   const std::string& option,
                                   std::int64_t there) {
  std::set<std::int64_t> ranks;
  while (true) {
    const auto comma = std::min(text.find(','), text.size());
    const auto [first, last] = range_of(text.substr(0, comma), option);
    if (last >= there) {
      throw core::Error(
          fmt::format("{}: there is no rank {}; the job has {}, from 0", option, last, there));
    }
    for (std::int64_t rank = first; rank <= last; ++rank) {
      ranks.insert(rank);
    }
    if (comma == text.size()) {
      return {ranks.begin(), ranks.end()};
    }
    text.remove_prefix(comma + 1);
  }
}

}  // namespace headway::apps
