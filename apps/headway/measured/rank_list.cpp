#include "apps/headway/measured/rank_list.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>
#include <utility>

#include "sim/core/error.h"
#include "sim/core/shown_text.h"
#include "sim/core/text.h"

namespace headway::apps {

namespace {

/// A range as "0-7" or a rank as "64".
std::pair<std::int64_t, std::int64_t> range_of(std::string_view part, const std::string& option) {
  const std::size_t dash = part.find('-');
  const auto first = core::whole_text_as<std::int64_t>(part.substr(0, dash));
  const auto last = dash == std::string_view::npos
                        ? first
                        : core::whole_text_as<std::int64_t>(part.substr(dash + 1));
  if (!first || !last || *last < *first) {
    throw core::Error(fmt::format("{} '{}': is no rank and no range; write 0-7,64", option,
                                  core::shortened(part)));
  }
  return {*first, *last};
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
