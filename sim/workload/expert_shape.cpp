#include "sim/workload/expert_shape.h"

#include <algorithm>
#include <cmath>

#include "sim/core/math.h"

namespace headway::workload {

namespace {

/// Probability that none of `k` different ones of `all` is among `few`: C(all - few, k) / C(all,
/// k).
double none_of(int all, int few, int k) {
  double probability = 1;
  for (int i = 0; i < k; ++i) {
    probability *= std::max(0.0, static_cast<double>(all - few - i)) / (all - i);
  }
  return probability;
}

/// C(n, k) as a real number.
double choose(int n, int k) {
  double ways = 1;
  for (int i = 0; i < k; ++i) {
    ways *= static_cast<double>(n - i) / (i + 1);
  }
  return ways;
}

/// Probability that a token, which chooses among `limit` of the groups, visits a place that holds
/// `count` experts from `first` on: some groups whole, and at either end a part of one.
double visits(const ExpertsSpec& moe, int first, int count, int limit) {
  const int groups = moe.routing_groups;
  const int each = moe.experts / groups;
  const int front = std::min(count, (each - first % each) % each);
  const int whole = (count - front) / each;
  const int back = (count - front) % each;
  const int others = groups - whole - (front > 0 ? 1 : 0) - (back > 0 ? 1 : 0);
  double visited = 0;
  for (int f = 0; f <= (front > 0 ? 1 : 0); ++f) {
    for (int b = 0; b <= (back > 0 ? 1 : 0); ++b) {
      for (int w = 0; w <= whole; ++w) {
        const int elsewhere = limit - f - b - w;
        if (elsewhere >= 0 && elsewhere <= others) {
          const double probability =
              choose(whole, w) * choose(others, elsewhere) / choose(groups, limit);
          const int reachable = w * each + f * front + b * back;
          visited += probability * (1 - none_of(limit * each, reachable, moe.top_k));
        }
      }
    }
  }
  return visited;
}

}  // namespace

int scored_experts(const ExpertsSpec& moe) { return moe.experts + moe.null_experts; }

double visited_experts(const ExpertsSpec& moe) {
  return moe.null_experts == 0 ? moe.top_k
                               : moe.top_k * static_cast<double>(moe.experts) / scored_experts(moe);
}

int routed_width(const ModelSpec& model) {
  return model.moe && model.moe->latent > 0 ? model.moe->latent : model.hidden;
}

bool expert_biases(const ModelSpec& model) {
  return model.biases || (model.moe && model.moe->biases);
}

double busiest_load(const ExpertsSpec& moe, int expert_ranks) {
  const double each = static_cast<double>(moe.experts) / expert_ranks;
  return 1 + core::expected_maximum(expert_ranks) * moe.load_spread / std::sqrt(each);
}

double expected_places(const ExpertsSpec& moe, int places) {
  const int groups = moe.routing_groups;
  const int limit = moe.group_limit > 0 ? std::min(moe.group_limit, groups) : groups;
  if (limit == groups) {
    return places * (1 - none_of(scored_experts(moe), moe.experts / places, moe.top_k));
  }
  const int count = moe.experts / places;
  if (groups % places == 0 || places % groups == 0) {
    return places * visits(moe, 0, count, limit);  // all places lie alike in the groups
  }
  double visited = 0;
  for (int place = 0; place < places; ++place) {
    visited += visits(moe, place * count, count, limit);
  }
  return visited;
}

double ExpertShape::sent() const {
  const auto own = static_cast<double>(tokens);
  switch (dispatch) {
    case ExpertDispatch::all_to_all:
      break;
    case ExpertDispatch::deduplicated:
      return own * distinct_ranks;
    case ExpertDispatch::all_gather:
      return own * expert_parallel;
  }
  return copies();
}

ExpertShape expert_shape(const ModelSpec& model,
                         const TrainingSpec& training,
                         const ParallelismSpec& parallelism,
                         const RankShape& rank,
                         int expert_domains) {
  const ExpertsSpec& moe = *model.moe;
  ExpertShape shape;
  shape.tokens = rank.split_tokens;
  shape.visited = visited_experts(moe);
  shape.scored = scored_experts(moe);
  shape.nulls = moe.null_experts;
  shape.width = routed_width(model);
  shape.latent = moe.latent;
  shape.expert_parallel = parallelism.expert;
  shape.expert_tensor = parallelism.expert_tensor;
  shape.local_experts = moe.experts / parallelism.expert;
  shape.ffn = moe.ffn / parallelism.expert_tensor;
  shape.shared_ffn = std::int64_t{moe.shared_experts} * moe.ffn / parallelism.tensor;
  shape.domains = expert_domains;
  shape.load = moe.imbalance * busiest_load(moe, parallelism.expert);
  if (moe.capacity_factor > 0) {
    shape.load = moe.padded ? moe.capacity_factor : std::min(moe.capacity_factor, shape.load);
  }
  const double mean =
      shape.copies() * shape.expert_tensor / static_cast<double>(shape.local_experts);
  shape.rows_each =
      std::max(std::int64_t{1}, static_cast<std::int64_t>(std::ceil(shape.load * mean)));
  shape.distinct_ranks = expected_places(moe, parallelism.expert);
  shape.distinct_domains = expected_places(moe, expert_domains);
  shape.dispatch = training.framework.expert_dispatch;
  return shape;
}

DispatchBytes dispatch_bytes(const ExpertShape& shape, double element) {
  const double row = static_cast<double>(shape.width) * element;
  const core::Bytes inside(shape.arrived() * row);
  if (shape.dispatch != ExpertDispatch::deduplicated || shape.domains == 1) {
    return {inside, {}, {}};
  }
  const double between = shape.load * static_cast<double>(shape.tokens) * shape.distinct_domains;
  return {{}, inside, core::Bytes(between * row)};
}

}  // namespace headway::workload
