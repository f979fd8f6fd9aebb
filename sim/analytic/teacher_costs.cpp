#include "sim/analytic/teacher_costs.h"

#include <algorithm>

#include "sim/workload/teacher/teacher.h"

namespace headway::analytic {

using training::Scenario;
using workload::Call;

std::vector<workload::ChunkLayout> teacher_chunks(const Scenario& s,
                                                  const workload::ParallelismSpec& layout) {
  std::vector<workload::ChunkLayout> chunks;
  if (workload::runs_teacher(s.training)) {
    const workload::StageLayout stages(workload::teacher_model(s.training),
                                       workload::teacher_layout(s.training, layout));
    for (int stage = 0; stage < stages.stages(); ++stage) {
      chunks.push_back(stages.at(stage, 0));
    }
  }
  return chunks;
}

PassPart teacher_part(const workload::ChunkLayout& chunk,
                      const workload::ChunkLayout& teacher,
                      int run,
                      int repeat) {
  PassPart part;
  part.teacher = true;
  const int layer = run - (chunk.embedding ? 1 : 0);
  part.embedding = layer < 0;
  part.head = layer >= teacher.layers;
  if (!part.embedding && !part.head) {
    part.first_layer = layer;
    part.layers = repeat;
  }
  return part;
}

workload::TrainingSpec probed_training(const Scenario& s, int stages) {
  workload::TrainingSpec training = s.training;
  if (workload::runs_teacher(training)) {
    workload::ModelSpec& teacher = *training.distillation->teacher;
    teacher.layers = layers_alike(teacher) ? std::min(teacher.layers, stages) : teacher.layers;
    training.distillation->teacher_layers =
        stages == 1 ? std::vector<int>{teacher.layers} : std::vector<int>{1, teacher.layers - 1};
  }
  return training;
}

void add_teacher(const Scenario& s, const Probe& probe, int stage, int stages, RankCosts& costs) {
  constexpr int kMiddle = 1;
  const auto calls = probe.teacher_calls(stage, kMiddle);
  if (calls.empty()) {
    return;
  }
  const bool first = stage == 0, last = stage + 1 == stages;
  const int before = first ? 1 : 0;
  const int probed = repeats(calls) - before - (last ? 1 : 0);
  const int layers = s.training.distillation->teacher->layers;
  const int held = stages == 1 ? layers : first ? 1 : layers - 1;
  const int each = probed == 0 ? 0 : held / probed;
  append_layers(probe, calls, before, before + probed, each, costs.teacher);
  if (first) {
    costs.teacher_embedding = seconds_between(probe, calls, 0, before);
  }
  if (last) {
    costs.teacher_head = seconds_between(probe, calls, before + probed, repeats(calls));
  }
}

}  // namespace headway::analytic
