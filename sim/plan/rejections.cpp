#include "sim/plan/rejections.h"

#include <algorithm>

namespace headway::plan {

namespace {

constexpr const char* kExample = "for example: ";

}  // namespace

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
    set_nearest(entry.kind, entry.reason, entry.distance, where + entry.nearest);
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
