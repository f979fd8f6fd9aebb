#include "sim/campaign/run_input.h"

#include <algorithm>

#include "sim/training/step/placement.h"
#include "sim/workload/layout.h"
#include "sim/workload/teacher/cached_logits.h"

namespace headway::campaign {

namespace {

/// Of all micro-batches, those whose loss each stage computes.
std::vector<double> losses_of_stages(const training::Scenario& s) {
  const workload::StageLayout layout(s.model, s.parallelism);
  std::vector<double> heads(static_cast<std::size_t>(layout.stages()), 0.0);
  for (int stage = 0; stage < layout.stages(); ++stage) {
    for (int chunk = 0; chunk < layout.chunks(); ++chunk) {
      heads[static_cast<std::size_t>(stage)] += layout.at(stage, chunk).head ? 1 : 0;
    }
  }
  double all = 0;
  for (const double head : heads) {
    all += head;
  }
  for (double& head : heads) {
    head /= all;
  }
  return heads;
}

/// Logits that each node reads, in those of one data and context rank. Tensor ranks count first.
std::vector<double> read_by_nodes(const training::CheckedScenario& checked) {
  const training::Scenario& s = checked.scenario();
  const training::RankLayout layout(s.parallelism, checked.data_parallel());
  const std::vector<double> losses = losses_of_stages(s);
  const bool whole = s.training.distillation->top_k == 0;
  const auto per_node = static_cast<std::int64_t>(s.cluster.node.gpus);
  std::vector<double> reads(static_cast<std::size_t>(s.cluster.nodes), 0.0);
  for (std::int64_t rank = 0; rank < layout.ranks(); ++rank) {
    const auto at = layout.coordinates(core::Rank(static_cast<std::uint32_t>(rank)));
    const bool first_here = at.tensor == 0 || rank % per_node == 0;
    const double share = whole ? 1.0 / s.parallelism.tensor : first_here ? 1.0 : 0.0;
    reads[static_cast<std::size_t>(rank / per_node)] +=
        share * losses[static_cast<std::size_t>(at.pipeline)];
  }
  return reads;
}

/// Adds a teacher's logits to what is read and stored.
void add_logits(const training::CheckedScenario& checked, double tokens, RunInput& input) {
  const training::Scenario& s = checked.scenario();
  const core::Bytes token(workload::stored_logit_bytes(s.model, s.training));
  const core::Bytes own = input.data.bytes_per_token;
  const core::Bytes set = input.data.dataset;
  input.logits = (set.si() > 0 ? std::min(tokens, set / own) : tokens) * token;
  const std::vector<double> reads = read_by_nodes(checked);
  double copies = 0;
  for (const double read : reads) {
    copies += read;
  }
  const double of_one =
      copies / (static_cast<double>(checked.data_parallel()) * s.parallelism.context);
  const core::Bytes logits = of_one * token;
  input.data.bytes_per_token = own + logits;
  input.stored = set + input.logits;
  if (set.si() > 0) {
    input.data.dataset = set + of_one * input.logits;
    input.repeats = input.data.dataset / input.stored;
  }
  const auto nodes = static_cast<double>(reads.size());
  for (const double read : reads) {
    input.shares.push_back((own / nodes + read / copies * logits) / input.data.bytes_per_token);
  }
  input.busiest = nodes * *std::max_element(input.shares.begin(), input.shares.end());
}

}  // namespace

std::optional<RunInput> run_input(const training::CheckedScenario& checked, double tokens) {
  const training::Scenario& s = checked.scenario();
  const bool logits = workload::reads_logits(s.training);
  if (!s.run.data && !logits) {
    return std::nullopt;
  }
  RunInput input;
  input.data.bytes_per_token = core::Bytes(0);  // of tokens that nothing is said of
  if (s.run.data) {
    input.data = *s.run.data;
    input.stored = input.data.dataset;
  }
  if (logits) {
    add_logits(checked, tokens, input);
  }
  return input;
}

double tokens_read(const training::CheckedScenario& checked, core::Seconds step) {
  const auto& until = *checked.scenario().run.until;
  const double steps =
      until.steps ? static_cast<double>(*until.steps) : (until.wall ? *until.wall / step : 0);
  return until.tokens.value_or(steps * checked.tokens_per_step());
}

}  // namespace headway::campaign
