// A pipeline of few stages that stands for one of many: what each kind of stage does is read off
// it.
#pragma once

#include <vector>

#include "sim/workload/spec.h"

namespace headway::analytic {

/// A smaller pipeline with the same kinds of stages: an encoder's own, first, inner, last.
struct FewStages {
  workload::ModelSpec model;
  workload::TrainingSpec training;
  workload::ParallelismSpec layout;
  std::vector<int> stage_of;  ///< position in the real order -> stage here
};

/// @param sizes     layers of each stage, in the order of the model
/// @param teachers  a teacher's; empty without one
FewStages few_stages(const workload::ModelSpec& model,
                     const workload::TrainingSpec& training,
                     const std::vector<int>& sizes,
                     const std::vector<int>& teachers,
                     workload::ParallelismSpec p);

}  // namespace headway::analytic
