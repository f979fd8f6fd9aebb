#include "sim/training/placement.h"

#include "sim/core/error.h"

namespace headway::training {

using core::Rank;
using workload::Group;

RankLayout::RankLayout(const workload::ParallelismSpec& p, int data_parallel)
    : tensor_(p.tensor),
      context_(p.context),
      data_(data_parallel),
      pipeline_(p.pipeline),
      pipeline_first_(p.rank_order == workload::RankOrder::pipeline_first) {}

RankCoordinates RankLayout::coordinates(Rank rank) const {
  int rest = static_cast<int>(rank.index());
  const auto take = [&rest](int degree) {
    const int here = rest % degree;
    rest /= degree;
    return here;
  };
  RankCoordinates at;
  at.tensor = take(tensor_);
  at.context = take(context_);
  if (pipeline_first_) {
    at.pipeline = take(pipeline_);
    at.data = take(data_);
  } else {
    at.data = take(data_);
    at.pipeline = take(pipeline_);
  }
  return at;
}

Rank RankLayout::rank(const RankCoordinates& at) const {
  const int outer = pipeline_first_ ? at.pipeline + pipeline_ * at.data : at.data + data_ * at.pipeline;
  return Rank(at.tensor + tensor_ * (at.context + context_ * outer));
}

Rank RankLayout::leader(Group group, Rank of) const {
  RankCoordinates at = coordinates(of);
  switch (group) {
    case Group::tensor:
      at.tensor = 0;
      return rank(at);
    case Group::context:
      at.context = 0;
      return rank(at);
    case Group::data:
      at.data = 0;
      return rank(at);
    case Group::data_context:
      at.data = 0;
      at.context = 0;
      return rank(at);
    case Group::embedding:
      at.pipeline = 0;
      return rank(at);
    case Group::world:
      return Rank(0);
    case Group::pipeline_next:
    case Group::pipeline_previous:
      return of;
    case Group::expert:
    case Group::expert_data:
      break;
  }
  HEADWAY_CHECK(false, "group {} has no placement yet", static_cast<int>(group));
}

Rank RankLayout::context_neighbour(Rank rank, int distance) const {
  RankCoordinates at = coordinates(rank);
  at.context = ((at.context + distance) % context_ + context_) % context_;
  return this->rank(at);
}

std::vector<Rank> RankLayout::members(Group group, Rank of) const {
  std::vector<Rank> ranks;
  RankCoordinates at = coordinates(of);
  switch (group) {
    case Group::tensor:
      for (at.tensor = 0; at.tensor < tensor_; ++at.tensor) {
        ranks.push_back(rank(at));
      }
      return ranks;
    case Group::context:
      for (at.context = 0; at.context < context_; ++at.context) {
        ranks.push_back(rank(at));
      }
      return ranks;
    case Group::data:
      for (at.data = 0; at.data < data_; ++at.data) {
        ranks.push_back(rank(at));
      }
      return ranks;
    case Group::data_context:
      for (at.data = 0; at.data < data_; ++at.data) {
        for (at.context = 0; at.context < context_; ++at.context) {
          ranks.push_back(rank(at));
        }
      }
      return ranks;
    case Group::embedding:
      at.pipeline = 0;
      ranks.push_back(rank(at));
      at.pipeline = pipeline_ - 1;
      if (pipeline_ > 1) {
        ranks.push_back(rank(at));
      }
      return ranks;
    case Group::world:
      for (std::int64_t r = 0; r < this->ranks(); ++r) {
        ranks.push_back(Rank(static_cast<std::uint32_t>(r)));
      }
      return ranks;
    case Group::pipeline_next:
    case Group::pipeline_previous: {
      const int shift = group == Group::pipeline_next ? 1 : pipeline_ - 1;
      ranks.push_back(of);
      at.pipeline = (at.pipeline + shift) % pipeline_;
      ranks.push_back(rank(at));
      return ranks;
    }
    case Group::expert:
    case Group::expert_data:
      break;
  }
  HEADWAY_CHECK(false, "group {} has no placement yet", static_cast<int>(group));
}

}  // namespace headway::training
