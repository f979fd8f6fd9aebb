#include "sim/import/measured/profiled_steps.h"

#include <algorithm>
#include <fmt/format.h>
#include <limits>

namespace headway::import {

namespace {

/// Of the median number of kernels, in a step that is whole. Source: chosen; steps of one job
/// launch the same kernels but for a save or a log line.
constexpr double kLeastKernels = 0.9;

/// What the GPU shows of a step.
struct SeenStep {
  StepMark mark;
  core::Seconds first{std::numeric_limits<double>::infinity()};
  core::Seconds last;
  std::size_t kernels = 0;
};

std::vector<SeenStep> see_steps(std::vector<StepMark> marks,
                                const std::vector<ProfiledLaunch>& launches) {
  std::sort(marks.begin(), marks.end(),
            [](const StepMark& a, const StepMark& b) { return a.begin < b.begin; });
  std::vector<SeenStep> seen;
  seen.reserve(marks.size());
  for (const StepMark& mark : marks) {
    seen.push_back({.mark = mark});
  }
  for (const ProfiledLaunch& launch : launches) {
    const auto behind = std::upper_bound(
        seen.begin(), seen.end(), launch.launched,
        [](core::Seconds at, const SeenStep& step) { return at < step.mark.begin; });
    if (behind == seen.begin()) {
      continue;
    }
    SeenStep& step = *(behind - 1);
    if (launch.launched < step.mark.end) {
      step.first = std::min(step.first, launch.span.begin);
      step.last = std::max(step.last, launch.span.end);
      ++step.kernels;
    }
  }
  return seen;
}

double median_kernels(const std::vector<SeenStep>& seen) {
  std::vector<std::size_t> counts;
  for (const SeenStep& step : seen) {
    if (step.kernels > 0) {
      counts.push_back(step.kernels);
    }
  }
  if (counts.empty()) {
    return 0;
  }
  const auto middle = counts.begin() + static_cast<std::ptrdiff_t>(counts.size() / 2);
  std::nth_element(counts.begin(), middle, counts.end());
  return static_cast<double>(*middle);
}

}  // namespace

ProfiledSteps find_steps(std::vector<StepMark> marks, const std::vector<ProfiledLaunch>& launches) {
  const std::vector<SeenStep> seen = see_steps(std::move(marks), launches);
  const double median = median_kernels(seen);
  const auto with_kernels = std::count_if(seen.begin(), seen.end(),
                                          [](const SeenStep& step) { return step.kernels > 0; });
  ProfiledSteps out;
  const auto leave_out = [&out](const SeenStep& step, const std::string& why) {
    out.left_out.push_back(fmt::format("step {} is left out: {}", step.mark.number, why));
  };
  for (std::size_t i = 0; i < seen.size(); ++i) {
    const SeenStep& step = seen[i];
    const bool followed = i + 1 < seen.size() && seen[i + 1].kernels > 0 &&
                          seen[i + 1].mark.number == step.mark.number + 1;
    if (step.kernels == 0) {
      leave_out(step, "it launched no GPU kernel");
    } else if (static_cast<double>(step.kernels) < kLeastKernels * median) {
      leave_out(step, fmt::format("it launched {} kernels, the median step {:.0f}", step.kernels,
                                  median));
    } else if (!followed && with_kernels > 1) {
      leave_out(step, "no step follows it, so its end on the GPU is not in the profile");
    } else {
      out.steps.push_back({step.mark.number, step.first,
                           followed ? std::max(step.first, seen[i + 1].first) : step.last,
                           step.kernels});
    }
  }
  return out;
}

}  // namespace headway::import
