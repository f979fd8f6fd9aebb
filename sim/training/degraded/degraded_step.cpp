#include "sim/training/degraded/degraded_step.h"

#include <algorithm>
#include <cmath>

#include "sim/core/error.h"
#include "sim/network/fold/fold.h"

namespace headway::training {

namespace {

constexpr std::uint32_t kNone = 0xffffffffU;

/// The problem's number of each fabric link.
std::vector<std::uint32_t> problem_links(const PreparedStep& step) {
  std::vector<std::uint32_t> number(step.fabric.link_count(), kNone);
  for (std::size_t l = 0; l < step.lowered.fabric_links.size(); ++l) {
    number[step.lowered.fabric_links[l].index()] = static_cast<std::uint32_t>(l);
  }
  return number;
}

/// Colours of a stage's actors are this far from those of the next; marks of places are fewer.
constexpr std::uint32_t kStageColours = 1U << 16U;

void insert(std::vector<std::uint32_t>& list, std::uint32_t value) {
  if (std::find(list.begin(), list.end(), value) == list.end()) {
    list.push_back(value);
  }
}

std::uint32_t stage_of_rank(const PreparedStep& step, core::Rank rank) {
  return static_cast<std::uint32_t>(step.layout.coordinates(rank).pipeline);
}

/// Actors of the folded problem that stand for the ranks of each stage.
std::vector<std::vector<std::uint32_t>> classes_of_stages(
    const PreparedStep& step, const std::vector<std::uint32_t>& class_of_rank) {
  std::vector<std::vector<std::uint32_t>> classes;
  for (std::uint32_t rank = 0; rank < class_of_rank.size(); ++rank) {
    const std::uint32_t stage = stage_of_rank(step, core::Rank(rank));
    classes.resize(std::max<std::size_t>(classes.size(), stage + 1));
    classes[stage].push_back(class_of_rank[rank]);
  }
  for (auto& list : classes) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
  }
  return classes;
}

}  // namespace

PreparedStep prepare_step(const CheckedScenario& checked) {
  const Scenario& s = checked.scenario();
  if (s.cluster.occupancy) {
    refuse(checked, "cluster.occupancy",
           "slow parts and saves on a partly occupied fabric are not modelled; leave 'occupancy' "
           "out");
  }
  RankLayout layout = rank_layout(checked);
  const auto graph = step_graph(checked);
  network::Fabric fabric = build_fabric(s.cluster, hash_seed(s));
  LoweredStep lowered = lower(checked, graph, fabric);
  return {std::move(fabric), std::move(layout), std::move(lowered)};
}

DegradedSteps::DegradedSteps(const PreparedStep& healthy,
                             const std::vector<core::Rank>& places,
                             bool stages) {
  for (const core::Rank rank : places) {
    places_.push_back({rank, 0, {}, {}});
  }
  network::Problem marked = healthy.lowered.problem;
  keep_apart(healthy, marked);
  for (std::uint32_t rank = 0; stages && rank < marked.actors.size(); ++rank) {
    marked.actors[rank].colour += kStageColours * (stage_of_rank(healthy, core::Rank(rank)) + 1);
  }
  network::Folding folding = network::fold(marked);
  if (!folding.folded) {
    folding = network::discrete(marked);
  }
  problem_ = std::move(folding.problem);
  const auto& whole = healthy.lowered.problem;
  for (auto& place : places_) {
    place.actor = folding.actor_class[place.actor];
    problem_.actors[place.actor].colour = whole.actors[place.rank.index()].colour;
    std::vector<std::uint32_t> links;
    for (const std::uint32_t link : place.links) {
      insert(links, folding.link_class[link]);
    }
    place.links = std::move(links);
  }
  if (stages) {
    const auto classes = classes_of_stages(healthy, folding.actor_class);
    for (auto& place : places_) {
      place.stage = classes[stage_of_rank(healthy, place.rank)];
    }
  }
  for (std::size_t l = 0; l < whole.links.size(); ++l) {
    problem_.links[folding.link_class[l]].capacity = whole.links[l].capacity;
    if (healthy.fabric.link(healthy.lowered.fabric_links[l]).tier == network::Tier::nic) {
      cards_.push_back(folding.link_class[l]);
    }
  }
  std::sort(cards_.begin(), cards_.end());
  cards_.erase(std::unique(cards_.begin(), cards_.end()), cards_.end());
}

/// Gives every place a colour of its own, and its card a capacity of its own, so that folding joins
/// them with nothing else.
void DegradedSteps::keep_apart(const PreparedStep& healthy, network::Problem& problem) {
  const std::vector<std::uint32_t> number = problem_links(healthy);
  const auto& whole = healthy.lowered.problem;
  std::uint32_t mark = 0;
  for (auto& place : places_) {
    ++mark;
    place.actor = place.rank.index();
    problem.actors[place.actor].colour = whole.actors[place.actor].colour + mark;
    for (const core::LinkId id : card_links(healthy.fabric, healthy.layout.gpu(place.rank))) {
      const std::uint32_t link = number[id.index()];
      if (link == kNone) {
        continue;  // nothing of the step uses it
      }
      place.links.push_back(link);
      if (problem.links[link].capacity == whole.links[link].capacity) {
        problem.links[link].capacity =
            whole.links[link].capacity * (1 - std::ldexp(static_cast<double>(mark), -20));
      }
    }
  }
}

const DegradedSteps::Place& DegradedSteps::place_of(core::Rank rank) const {
  const auto place = std::find_if(places_.begin(), places_.end(),
                                  [rank](const Place& it) { return it.rank == rank; });
  HEADWAY_CHECK(place != places_.end(), "rank {} was not kept apart", rank.index());
  return *place;
}

core::Seconds DegradedSteps::time(
    const std::vector<Degradation>& degradations,
    const std::function<void(std::size_t done, std::size_t total)>& count) const {
  using Kind = Degradation::Kind;
  network::Problem problem = problem_;
  const auto slow_link = [&](std::uint32_t link, double keeps) {
    auto& capacity = problem.links[link].capacity;
    capacity = std::min(capacity, problem_.links[link].capacity * keeps);
  };
  for (const auto& it : degradations) {
    if (it.kind == Kind::stage) {
      const Place& place = place_of(it.rank);
      HEADWAY_CHECK(!place.stage.empty(), "stages of rank {} were not kept apart", it.rank.index());
      slow_stage(place.stage, it.keeps, problem);
      continue;
    }
    const bool all = it.kind == Kind::all_gpus || it.kind == Kind::all_links;
    if (it.kind == Kind::gpu || it.kind == Kind::all_gpus) {
      const std::int64_t slowdown = slowdown_ppm(it.keeps);
      const std::size_t first = all ? 0 : place_of(it.rank).actor;
      const std::size_t end = all ? problem.actors.size() : first + 1;
      for (std::size_t a = first; a < end; ++a) {
        problem.actors[a].slowdown_ppm = std::max(problem.actors[a].slowdown_ppm, slowdown);
      }
    } else {
      for (const std::uint32_t link : all ? cards_ : place_of(it.rank).links) {
        slow_link(link, it.keeps);
      }
    }
  }
  network::RunOptions options;
  options.progress = network::in_parts(count);
  options.fold = false;  // it is as coarse as the places allow
  return core::Clock::step().to_seconds(network::run(problem, options).end);
}

}  // namespace headway::training
