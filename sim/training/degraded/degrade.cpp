#include "sim/training/degraded/degrade.h"

#include <algorithm>
#include <cmath>

#include "sim/core/error.h"
#include "sim/training/step/lower.h"

namespace headway::training {

namespace {

using Kind = Degradation::Kind;

void slow_actors(const Degradation& degradation, network::Problem& problem) {
  const std::int64_t slowdown = slowdown_ppm(degradation.keeps);
  const auto slow = [slowdown](network::Actor& actor) {
    actor.slowdown_ppm = std::max(actor.slowdown_ppm, slowdown);
  };
  if (degradation.kind == Kind::all_gpus) {
    std::for_each(problem.actors.begin(), problem.actors.end(), slow);
    return;
  }
  HEADWAY_CHECK(degradation.rank.index() < problem.actors.size(), "rank {} of {}",
                degradation.rank.index(), problem.actors.size());
  slow(problem.actors[degradation.rank.index()]);
}

std::vector<std::uint32_t> ranks_alike(const RankLayout& layout, core::Rank rank) {
  const int stage = layout.coordinates(rank).pipeline;
  std::vector<std::uint32_t> ranks;
  for (std::uint32_t other = 0; other < layout.ranks(); ++other) {
    if (layout.coordinates(core::Rank(other)).pipeline == stage) {
      ranks.push_back(other);
    }
  }
  return ranks;
}

}  // namespace

std::int64_t slowdown_ppm(double keeps) {
  HEADWAY_CHECK(keeps > 0 && keeps <= 1, "a slow part keeps {} of its speed", keeps);
  constexpr double kPerMillion = 1e6;
  return std::llround((1 / keeps - 1) * kPerMillion);
}

std::vector<core::LinkId> card_links(const network::Fabric& fabric, core::GpuId gpu) {
  const auto place = fabric.place(gpu);
  std::vector<core::LinkId> links;
  for (std::uint32_t plane = 0; plane < fabric.shape().planes; ++plane) {
    for (const bool up : {true, false}) {
      links.push_back(fabric.nic_link(place.node, place.rail, plane, up));
    }
  }
  return links;
}

void slow_stage(const std::vector<std::uint32_t>& actors, double keeps, network::Problem& problem) {
  const std::int64_t slowdown = slowdown_ppm(keeps);
  std::vector<std::uint32_t> groups;
  for (const std::uint32_t a : actors) {
    network::Actor& actor = problem.actors[a];
    actor.slowdown_ppm = std::max(actor.slowdown_ppm, slowdown);
    groups.insert(groups.end(), actor.groups.begin(), actor.groups.end());
  }
  std::sort(groups.begin(), groups.end());
  groups.erase(std::unique(groups.begin(), groups.end()), groups.end());
  for (const std::uint32_t g : groups) {
    network::TransferGroup& group = problem.groups[g];
    if (group.activity != core::Activity::tensor && group.activity != core::Activity::context) {
      continue;
    }
    group.delay = std::llround(static_cast<double>(group.delay) / keeps);
    for (std::uint32_t f = group.first_flow; f < group.first_flow + group.flows; ++f) {
      problem.flows[f].size /= keeps;
    }
  }
}

void degrade(const std::vector<Degradation>& degradations,
             const RankLayout& layout,
             const network::Fabric& fabric,
             LoweredStep& lowered) {
  for (const auto& it : degradations) {
    HEADWAY_CHECK(it.kind != Kind::ways,
                  "slow ways between sites are of another scenario, {} keeps", it.keeps);
    if (it.kind == Kind::stage) {
      slow_stage(ranks_alike(layout, it.rank), it.keeps, lowered.problem);
      continue;
    }
    if (it.kind == Kind::gpu || it.kind == Kind::all_gpus) {
      slow_actors(it, lowered.problem);
      continue;
    }
    HEADWAY_CHECK(it.keeps > 0 && it.keeps <= 1, "a slow card keeps {} of its rate", it.keeps);
    const auto hit = it.kind == Kind::link ? card_links(fabric, layout.gpu(it.rank))
                                           : std::vector<core::LinkId>{};
    for (std::size_t l = 0; l < lowered.fabric_links.size(); ++l) {
      const core::LinkId id = lowered.fabric_links[l];
      const bool slow = it.kind == Kind::all_links
                            ? fabric.link(id).tier == network::Tier::nic
                            : std::find(hit.begin(), hit.end(), id) != hit.end();
      if (slow) {
        auto& capacity = lowered.problem.links[l].capacity;
        capacity = std::min(capacity, fabric.link(id).nominal * it.keeps);
      }
    }
  }
}

}  // namespace headway::training
