#include "sim/training/explain/ways.h"

#include <fmt/format.h>

namespace headway::training {

using core::Activity;

namespace {

std::vector<Way> all_ways(Activity cause, const Scenario& s) {
  const auto& framework = s.training.framework;
  const bool zero_bubble = workload::splits_backward(s.parallelism.schedule);
  switch (cause) {
    case Activity::tensor:
      return {{"a smaller tensor degree"},
              {"training.framework.tensor_overlap", !framework.tensor_overlap},
              {"a faster NVLink domain"}};
    case Activity::pipeline_p2p:
      return {
          {"fewer stages or chunks"},
          {"sends that overlap (training.framework.pipeline_overlap)", !framework.pipeline_overlap},
          {"a faster network"}};
    case Activity::pipeline_bubble:
      return {{"more micro-batches"},
              {"more virtual stages", !zero_bubble},
              {"fewer stages"},
              {"a zero-bubble schedule", !zero_bubble}};
    case Activity::stage_imbalance:
      return {{"layers moved to other stages (parallelism.chunk_layers)"}};
    case Activity::data:
      return {{"training.framework.data_overlap", !framework.data_overlap},
              {"more micro-batches a step"},
              {"narrower gradients"},
              {"a faster network"}};
    case Activity::rank_imbalance:
      return {
          {"sequences dealt by their work (training.balanced_ranks)", !s.training.balanced_ranks},
          {"more micro-batches a step"},
          {"weights that stay gathered, so that ranks meet once a step"}};
    case Activity::context:
      return {{"a smaller context degree"},
              {"another context_kind"},
              {"context ranks in one NVLink domain"}};
    case Activity::expert:
      return {{"a smaller expert degree"}, {"experts in one NVLink domain"}, {"a faster network"}};
    case Activity::launch:
      return {{"CUDA graphs (training.framework.cuda_graphs)", !framework.cuda_graphs},
              {"grouped launches and fused kernels"},
              {"a larger micro-batch"}};
    case Activity::optimizer:
      return {{"an optimizer sharded over more ranks (zero1)",
               s.parallelism.sharding == workload::Sharding::zero0},
              {"narrower states"}};
    case Activity::input:
      return {{"a data loader with more bandwidth"}};
    case Activity::checkpoint:
      return {{"asynchronous saves (run.checkpoint.mode)",
               s.run.checkpoint.mode == storage::CheckpointMode::synchronous},
              {"saves less often"}};
    default:
      return {{"a faster network"}};
  }
}

}  // namespace

std::string open_ways(const std::vector<Way>& ways) {
  std::string text;
  for (const Way& way : ways) {
    text += way.open ? fmt::format("{}{}", text.empty() ? "" : "; ", way.words) : "";
  }
  return text;
}

std::string ways_to_shorten(Activity cause, const Scenario& scenario) {
  return open_ways(all_ways(cause, scenario));
}

}  // namespace headway::training
