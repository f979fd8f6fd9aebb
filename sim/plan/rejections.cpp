#include "sim/plan/rejections.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <string_view>
#include <tuple>

namespace headway::plan {

namespace {

constexpr const char* kExample = "for example: ";

/// Which reason says more about a machine without a plan: the smaller.
int weight(const std::string& kind) {
  constexpr std::array<std::string_view, 6> kLimits{"gpus",     "racks",  "power",
                                                    "deadline", "budget", "goodput"};
  constexpr std::array<std::string_view, 3> kMemories{"memory", "headroom", "host memory"};
  const auto in = [&](const auto& list) {
    return std::find(list.begin(), list.end(), kind) != list.end();
  };
  return in(kLimits) ? 0 : in(kMemories) ? 1 : kind == "slower" ? 3 : 2;
}

}  // namespace

std::string why_none(const std::vector<Rejection>& rejected) {
  const auto rank = [](const Rejection& r) {
    return std::tuple(weight(r.kind), r.distance, -r.count);
  };
  const auto main =
      std::min_element(rejected.begin(), rejected.end(),
                       [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
  return main == rejected.end()
             ? "no layout of it was found"
             : fmt::format("{}: {}{}", main->kind, main->reason,
                           main->nearest.empty() ? "" : "; nearest: " + main->nearest);
}

void Rejections::add(const std::string& kind, const std::string& reason, std::int64_t count) {
  if (count == 0) {
    return;
  }
  const auto same = std::find_if(list_.begin(), list_.end(), [&](const Rejection& entry) {
    const bool examples = entry.reason.starts_with(kExample) && reason.starts_with(kExample);
    return entry.kind == kind && (examples || entry.reason == reason);
  });
  if (same != list_.end()) {
    same->count += count;
  } else {
    list_.push_back({kind, reason, count, {}});
  }
}

void Rejections::add_example(const std::string& kind,
                             const std::string& example,
                             std::int64_t count) {
  add(kind, kExample + example, count);
}

void Rejections::set_nearest(const std::string& kind,
                             const std::string& reason,
                             double distance,
                             const std::string& text) {
  for (Rejection& entry : list_) {
    if (entry.kind == kind && entry.reason == reason && distance < entry.distance) {
      entry.nearest = text;
      entry.distance = distance;
    }
  }
}

void Rejections::add(const std::vector<Rejection>& others, const std::string& where) {
  for (const Rejection& entry : others) {
    add(entry.kind, entry.reason, entry.count);
    set_nearest(entry.kind, entry.reason, entry.distance,
                entry.nearest.empty() ? "" : where + entry.nearest);
  }
}

std::int64_t Rejections::count(const std::string& kind) const {
  std::int64_t sum = 0;
  for (const auto& entry : list_) {
    sum += entry.kind == kind ? entry.count : 0;
  }
  return sum;
}

std::int64_t Rejections::total() const {
  std::int64_t sum = 0;
  for (const auto& entry : list_) {
    sum += entry.count;
  }
  return sum;
}

}  // namespace headway::plan
