#include "sim/plan/search_progress.h"

#include <algorithm>
#include <utility>

namespace headway::plan {

namespace {

constexpr std::string_view kAll = "searching layouts";

}  // namespace

bool is_told_as_share(std::string_view what) {
  return what == kAll || what == kPhases[static_cast<std::size_t>(Phase::search)] ||
         what == kPhases[static_cast<std::size_t>(Phase::simulate)];
}

core::Count told_by_all(const PhaseTold& told) {
  if (!told) {
    return {};
  }
  return [told](std::size_t done, std::size_t total) { told(kAll.data(), done, total); };
}

PhaseTold told_by_one(const PhaseTold& told, core::JointProgress& joint, std::size_t searches) {
  if (!told || searches == 1) {
    return told;
  }
  return [told, tell = joint.piece()](const char* what, std::size_t done, std::size_t total) {
    const auto* const phase = std::find(kPhases.begin(), kPhases.end(), what);
    const double here = total == 0 ? 0 : static_cast<double>(done) / static_cast<double>(total);
    const double quarter = 1.0 / std::ssize(kPhases);
    if (phase != kPhases.end()) {
      tell((static_cast<double>(phase - kPhases.begin()) + here) * quarter);
    } else if (what == kAll) {  // it has several searches itself; why others lost follows
      tell(here * (1 - quarter));
    } else {
      told(what, done, total);
    }
  };
}

void tell_end(const PhaseTold& told_by_one, std::size_t searches) {
  if (told_by_one && searches > 1) {
    told_by_one(kPhases.back().data(), 1, 1);
  }
}

void SearchProgress::tell(Phase phase, double done, double total) {
  constexpr auto kParts = core::JointProgress::kParts;
  const double share = total > 0 ? std::min(1.0, done / total) : 0;
  count(phase, static_cast<std::size_t>(share * static_cast<double>(kParts)), kParts);
}

void SearchProgress::open_shapes(std::size_t left) {
  std::size_t all = 0;
  {
    const std::lock_guard guard(mutex_);
    all = shapes_ = std::max(shapes_, left);
  }
  tell(Phase::search, static_cast<double>(all - left), static_cast<double>(all));
}

void SearchProgress::simulate(double done, double left) {
  tell(Phase::simulate, done, done + left);
}

void SearchProgress::count(Phase phase, std::size_t done, std::size_t total) {
  const std::lock_guard guard(mutex_);
  if (!told_) {
    return;
  }
  // Threads reach this in any order: what one had counted before another is not told after it.
  done_ = phase == phase_ ? std::max(done_, done) : done;
  phase_ = phase;
  total_ = total;
  told_(kPhases[static_cast<std::size_t>(phase_)].data(), done_, total_);
}

void SearchProgress::look() {
  const std::lock_guard guard(mutex_);
  if (told_) {
    told_(kPhases[static_cast<std::size_t>(phase_)].data(), done_, total_);
  }
}

}  // namespace headway::plan
