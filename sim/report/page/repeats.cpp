#include "sim/report/page/repeats.h"

#include <algorithm>
#include <cstddef>

namespace headway::report {

namespace {

/// How far back an entry may be the same; the longest round of micro-batches that is usual.
constexpr std::size_t kFarthest = 16;
/// A pair is longer than two entries.
constexpr std::size_t kLeast = 4;

/// From `place` on, how many entries are the same as those `back` before them.
std::size_t repeats(const Json& list, std::size_t place, std::size_t back) {
  std::size_t count = 0;
  while (place + count < list.size() && list[place + count] == list[place + count - back]) {
    ++count;
  }
  return count;
}

}  // namespace

Json without_repeats(const Json& list) {
  Json out = Json::array();
  for (std::size_t place = 0; place < list.size();) {
    std::size_t most = 0, distance = 0;
    for (std::size_t back = 1; back <= std::min(place, kFarthest); ++back) {
      if (const std::size_t count = repeats(list, place, back); count > most) {
        most = count;
        distance = back;
      }
    }
    if (most >= kLeast) {
      out.push_back(Json::array({most, distance}));
      place += most;
    } else {
      out.push_back(list[place]);
      ++place;
    }
  }
  return out;
}

}  // namespace headway::report
