// The steps of a profile, as the GPU has them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/core/profile/gpu_work.h"

namespace headway::import {

/// A kernel or copy in a profile. Times count from the first event of the profile.
struct ProfiledLaunch {
  core::GpuSpan span;
  core::Seconds launched;  ///< by the CPU; where the profile does not say, its begin
};

/// "ProfilerStep#7": what the CPU did between two calls of the profiler's step().
struct StepMark {
  std::int64_t number = 0;
  core::Seconds begin, end;
};

/// One step on the GPU: from its first kernel to the first of the step behind it.
struct ProfiledStep {
  std::int64_t number = 0;
  core::Seconds begin, end;
  std::size_t kernels = 0;  ///< that the CPU launched in it
};

/// Complete steps, and a sentence for each that is left out.
struct ProfiledSteps {
  std::vector<ProfiledStep> steps;
  std::vector<std::string> left_out;
};

/// A step has the kernels that the CPU launched between the marks of it. Left out are steps without
/// kernels, with less than 90 % of the median number of kernels (the profiler lost some, or began
/// in their middle), and those behind which none follows, whose end the GPU does not show; a single
/// step ends with its last kernel.
ProfiledSteps find_steps(std::vector<StepMark> marks, const std::vector<ProfiledLaunch>& launches);

}  // namespace headway::import
