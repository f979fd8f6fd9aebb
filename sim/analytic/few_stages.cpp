#include "sim/analytic/few_stages.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "sim/analytic/probe.h"

namespace headway::analytic {

using workload::ParallelismSpec;
using workload::ScheduleKind;

FewStages few_stages(const workload::ModelSpec& model,
                     const workload::TrainingSpec& training,
                     const std::vector<int>& sizes,
                     const std::vector<int>& teachers,
                     ParallelismSpec p) {
  const auto first = static_cast<std::size_t>(workload::encoder_stages(model));
  const std::size_t inner = first + 1, last = first + 2;  // of the few
  const std::size_t stages = sizes.size();
  const auto inner_alike = [&](const std::vector<int>& all) {
    return all.empty() ||
           (all.size() > last + 1 &&
            std::all_of(all.begin() + static_cast<std::ptrdiff_t>(inner), all.end() - 1,
                        [&](int size) { return size == all[inner]; }));
  };
  const bool fewer = inner_alike(sizes) && inner_alike(teachers) && layers_alike(model) &&
                     (teachers.empty() || layers_alike(*training.distillation->teacher));
  const std::size_t kept = fewer ? last + 1 : stages;
  FewStages few{model, training, std::move(p), {}};
  few.stage_of.reserve(stages);
  if (teachers.empty()) {
    few.training.distillation.reset();
  }
  for (std::size_t i = 0; i < stages; ++i) {
    few.stage_of.push_back(static_cast<int>(!fewer || i <= first ? i
                                            : i + 1 == stages    ? last
                                                                 : inner));
  }
  // A list, since an end with the embedding or the head may hold no layer at all.
  few.layout.first_stage_layers = 0;
  few.layout.last_stage_layers = 0;
  const auto of_kept = [&](const std::vector<int>& all) {
    if (!fewer) {
      return all;
    }
    std::vector<int> some(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(last));
    some.push_back(all.back());
    return some;
  };
  few.layout.chunk_layers = of_kept(sizes);
  few.model.layers =
      std::accumulate(few.layout.chunk_layers.begin(), few.layout.chunk_layers.end(), 0);
  if (!teachers.empty()) {
    auto& distillation = *few.training.distillation;
    distillation.teacher_layers = of_kept(teachers);
    distillation.teacher->layers =
        std::accumulate(distillation.teacher_layers.begin(), distillation.teacher_layers.end(), 0);
  }
  few.layout.pipeline = static_cast<int>(kept);
  few.layout.virtual_stages = 1;
  few.layout.schedule = ScheduleKind::one_f_one_b;
  return few;
}

}  // namespace headway::analytic
