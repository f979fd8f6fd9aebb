// Random problems for the flow engine: symmetric by construction, then spoilt in places.
#pragma once

#include <cstdint>

#include "sim/network/flow/digest.h"
#include "sim/network/flow/problem.h"

namespace headway::network::testing {

/// Reproducible draws.
class Draw {
 public:
  explicit Draw(std::uint64_t seed) : state_(seed) {}
  std::uint32_t below(std::uint32_t n) {
    return static_cast<std::uint32_t>(scramble(seed_next()) % n);
  }
  bool chance(std::uint32_t percent) { return below(100) < percent; }

 private:
  std::uint64_t seed_next() {
    return state_ = state_ * 6364136223846793005U + 1442695040888963407U;
  }
  std::uint64_t state_;
};

/// Nodes of ranks that meet in their node, along their rail, with the next node and all together,
/// over NICs, node pools and a core, in loops; some stragglers, degraded and changing links,
/// shuffled places, odd sizes.
class RandomProblem {
 public:
  explicit RandomProblem(std::uint64_t seed)
      : draw_(seed), nodes_(2 + draw_.below(5)), ranks_(1 + draw_.below(4)) {}

  Problem build() {
    add_links();
    problem_.names = {"", "node", "rail", "next", "all"};
    const std::uint32_t actors = nodes_ * ranks_;
    place_.resize(actors);
    for (std::uint32_t i = 0; i < actors; ++i) {
      place_[i] = i;
    }
    for (std::uint32_t i = actors; draw_.chance(30) && i > 1; --i) {
      std::swap(place_[i - 1], place_[draw_.below(i)]);
    }
    problem_.actors.resize(actors);
    for (Actor& actor : problem_.actors) {
      actor.groups.assign(5, 0);
    }
    add_groups();
    add_programs();
    spoil();
    return std::move(problem_);
  }

 private:
  enum SlotName : std::uint32_t { kNode, kRail, kOut, kIn, kAll };
  struct Template {
    core::Bytes size;
    core::Tick latency;
    core::BytesPerSecond bound;
    std::uint32_t weight;
    std::uint32_t reach;  ///< from each member to the member `reach` places on
  };

  void add_links() {
    const double rate = 1e9 * (1 + draw_.below(50));
    problem_.coefficient_unit = 1 + draw_.below(3);
    const std::uint32_t actors = nodes_ * ranks_;
    problem_.links.assign(std::size_t{2} * actors, {core::BytesPerSecond(rate)});
    const double pool = rate * ranks_ / (1 + draw_.below(4));
    problem_.links.insert(problem_.links.end(), std::size_t{2} * nodes_,
                          {core::BytesPerSecond(pool)});
    problem_.links.push_back({core::BytesPerSecond(pool * nodes_ / (1 + draw_.below(3)))});
  }

  Template random_template() {
    const bool odd = draw_.chance(50);
    const double size = draw_.chance(5) ? 0
                        : odd           ? 1 + draw_.below(3'000'000)
                                        : 1e6 * (1 + draw_.below(3));
    const double bound = draw_.chance(20) ? 1e8 * (1 + draw_.below(100)) : 0;
    return {core::Bytes(size), core::Tick{1000} * draw_.below(4) * (odd ? 317 : 1000),
            core::BytesPerSecond(bound), 1 + (draw_.chance(20) ? draw_.below(3) : 0),
            1 + draw_.below(3)};
  }

  void add_flow(std::uint32_t from, std::uint32_t to, const Template& t) {
    const std::uint32_t unit = problem_.coefficient_unit;
    const std::uint32_t actors = nodes_ * ranks_;
    const auto first = static_cast<std::uint32_t>(problem_.uses.size());
    const std::uint32_t here = place_[from] / ranks_;
    const std::uint32_t there = place_[to] / ranks_;
    problem_.uses.push_back({2 * place_[from], unit});
    if (here != there) {
      problem_.uses.push_back({2 * actors + 2 * here, unit});
      problem_.uses.push_back({2 * actors + 2 * nodes_, 1});
      problem_.uses.push_back({2 * actors + 2 * there + 1, unit});
    }
    problem_.uses.push_back({2 * place_[to] + 1, unit});
    const auto uses = static_cast<std::uint32_t>(problem_.uses.size()) - first;
    const auto group = static_cast<std::uint32_t>(problem_.groups.size() - 1);
    problem_.flows.push_back({group, t.size, t.latency, t.bound, t.weight, first, uses, 1});
    ++problem_.groups.back().flows;
  }

  std::uint32_t open_group(std::uint32_t need,
                           core::Tick delay,
                           core::Activity activity,
                           std::uint16_t name) {
    problem_.groups.push_back(
        {need, delay, static_cast<std::uint32_t>(problem_.flows.size()), 0, activity, name, 1});
    return static_cast<std::uint32_t>(problem_.groups.size() - 1);
  }

  /// A group of `members`, each sending by every template.
  void add_group(const std::vector<std::uint32_t>& members,
                 SlotName slot,
                 core::Tick delay,
                 const std::vector<Template>& templates) {
    const auto size = static_cast<std::uint32_t>(members.size());
    const std::uint32_t group = open_group(size, delay, core::Activity::data,
                                           static_cast<std::uint16_t>(slot == kAll ? 4 : slot + 1));
    for (std::uint32_t i = 0; i < size; ++i) {
      problem_.actors[members[i]].groups[slot] = group;
      for (const Template& t : templates) {
        add_flow(members[i], members[(i + t.reach) % size], t);
      }
    }
  }

  std::vector<Template> random_templates() {
    std::vector<Template> templates;
    for (std::uint32_t i = draw_.below(3); i > 0; --i) {
      templates.push_back(random_template());
    }
    return templates;
  }

  void add_groups() {
    const core::Tick delay = core::Tick{1000} * draw_.below(3000);
    const std::vector<Template> node = random_templates();
    const std::vector<Template> rail = random_templates();
    std::vector<std::uint32_t> all;
    for (std::uint32_t n = 0; n < nodes_; ++n) {
      std::vector<std::uint32_t> members;
      for (std::uint32_t r = 0; r < ranks_; ++r) {
        members.push_back(n * ranks_ + r);
        all.push_back(n * ranks_ + r);
      }
      add_group(members, kNode, delay, node);
    }
    for (std::uint32_t r = 0; r < ranks_; ++r) {
      std::vector<std::uint32_t> members;
      for (std::uint32_t n = 0; n < nodes_; ++n) {
        members.push_back(n * ranks_ + r);
      }
      add_group(members, kRail, 0, rail);
    }
    const Template next = random_template();
    for (std::uint32_t from = 0; from < nodes_ * ranks_; ++from) {
      const std::uint32_t to = (from + ranks_) % (nodes_ * ranks_);
      const std::uint32_t group = open_group(1, 0, core::Activity::pipeline_p2p, 3);
      add_flow(from, to, next);
      problem_.actors[from].groups[kOut] = group;
      problem_.actors[to].groups[kIn] = group;
    }
    add_group(all, kAll, 0, random_templates());
  }

  /// Programs of equal communication and different compute, so that no mixture of them can lock up.
  void add_programs() {
    std::vector<ProgramStep> steps;
    for (std::uint32_t i = 1 + draw_.below(3); i > 0; --i) {
      steps.push_back({StepCode::loop, core::Activity::other, 0, 0, 1 + draw_.below(4)});
      for (std::uint32_t k = 1 + draw_.below(4); k > 0; --k) {
        add_phrase(steps);
      }
      steps.push_back({StepCode::end_loop, core::Activity::other, 0, 0, 0});
    }
    problem_.programs = {steps, steps};
    for (ProgramStep& step : problem_.programs[1]) {
      step.ticks += step.code == StepCode::compute ? 12'345 : 0;
    }
    const std::uint32_t kinds = draw_.chance(30) ? 2 : 1;
    for (std::uint32_t a = 0; a < problem_.actors.size(); ++a) {
      problem_.actors[a].program = a % ranks_ % kinds;
    }
  }

  void add_phrase(std::vector<ProgramStep>& steps) {
    const auto arrive = [&](std::uint32_t slot) {
      steps.push_back({StepCode::arrive, core::Activity::other, 0, slot, 0});
    };
    const auto wait = [&](std::uint32_t slot) {
      steps.push_back({StepCode::wait, core::Activity::other, 0, slot, 0});
    };
    const auto compute = [&] {
      steps.push_back({StepCode::compute, core::Activity::compute, 0, 0,
                       core::Tick{1000} * draw_.below(20'000)});
    };
    switch (draw_.below(5)) {
      case 0:
        compute();
        break;
      case 1:
        arrive(kOut), wait(kIn);
        break;
      case 2:
        arrive(kOut), compute(), wait(kIn), wait(kOut);
        break;
      case 3:
        arrive(kNode), arrive(kRail), compute(), wait(kRail), wait(kNode);
        break;
      default:
        arrive(kAll), wait(kAll);
    }
    // Waits for a neighbour's message are taken for every arrival, so receives never pile up.
  }

  void spoil() {
    const auto actors = static_cast<std::uint32_t>(problem_.actors.size());
    const auto links = static_cast<std::uint32_t>(problem_.links.size());
    while (draw_.chance(30)) {
      problem_.actors[draw_.below(actors)].slowdown_ppm = 10'000 * draw_.below(50);
    }
    while (draw_.chance(30)) {
      problem_.links[draw_.below(links)].capacity /= 1 + draw_.below(3);
    }
    while (draw_.chance(25)) {
      problem_.link_changes.push_back({core::Tick{1'000'000} * draw_.below(400), draw_.below(links),
                                       core::BytesPerSecond(1e8 * (1 + draw_.below(100)))});
    }
    if (draw_.chance(10)) {
      problem_.actors[draw_.below(actors)].colour = 1;
    }
    if (draw_.chance(10) && !problem_.flows.empty()) {
      problem_.flows[draw_.below(static_cast<std::uint32_t>(problem_.flows.size()))].size *= 1.5;
    }
  }

  Draw draw_;
  std::uint32_t nodes_, ranks_;
  std::vector<std::uint32_t> place_;  // actor -> seat
  Problem problem_;
};

}  // namespace headway::network::testing
