#include "sim/network/fold/unfold.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "sim/network/flow/compiled.h"
#include "sim/network/flow/engine.h"
#include "sim/network/fold/fold.h"

namespace headway::network {
namespace {

constexpr std::size_t kMostStages = 16;

/// A part of the run between two changes: the folding, and the engine that runs its problem.
struct Stage {
  std::unique_ptr<Folding> folding;
  std::unique_ptr<Engine> engine;

  Stage(Folding made, const RunOptions& options, const RateUnit& unit)
      : folding(std::make_unique<Folding>(std::move(made))),
        engine(std::make_unique<Engine>(folding->problem, options, unit)) {}
};

/// The earlier class of each new one, given both classes of every node.
std::vector<std::uint32_t> parents(const std::vector<std::uint32_t>& now,
                                   const std::vector<std::uint32_t>& before) {
  std::vector<std::uint32_t> from;
  for (std::size_t node = 0; node < now.size(); ++node) {
    if (now[node] >= from.size()) {
      from.resize(now[node] + std::size_t{1});
    }
    from[now[node]] = before[node];
  }
  return from;
}

Ancestry ancestry(const Folding& now, const Folding& before) {
  return {parents(now.actor_class, before.actor_class),
          parents(now.group_class, before.group_class), parents(now.flow_class, before.flow_class)};
}

/// The changes of a problem, tick by tick.
class Changes {
 public:
  explicit Changes(const Problem& problem) : changes_(problem.link_changes) {
    std::stable_sort(changes_.begin(), changes_.end(),
                     [](const LinkChange& x, const LinkChange& y) { return x.at < y.at; });
    for (const LinkChange& change : changes_) {
      if (ticks_.empty() || ticks_.back() != change.at) {
        ticks_.push_back(change.at);
      }
    }
  }

  [[nodiscard]] std::size_t stages() const { return std::min(ticks_.size(), kMostStages); }
  [[nodiscard]] core::Tick tick(std::size_t stage) const { return ticks_[stage]; }
  /// Those of one tick; the last stage has all that are left.
  [[nodiscard]] std::vector<LinkChange> of(std::size_t stage) const {
    std::vector<LinkChange> some;
    for (const LinkChange& change : changes_) {
      const bool last = stage + 1 == stages() && change.at > ticks_[stage];
      if (change.at == ticks_[stage] || last) {
        some.push_back(change);
      }
    }
    return some;
  }

 private:
  std::vector<LinkChange> changes_;
  std::vector<core::Tick> ticks_;
};

}  // namespace

RunResult run_unfolding(const Problem& problem, const RunOptions& options) {
  const Changes changes(problem);
  const RateUnit unit = rate_unit(problem);
  Problem now = problem;
  now.link_changes.clear();
  Folding first = fold(now);
  if (!first.folded) {
    return Engine(problem, options).run();
  }
  Stage stage(std::move(first), options, unit);
  for (std::size_t i = 0; i < changes.stages() && !stage.engine->run_until(changes.tick(i)); ++i) {
    now.link_changes = changes.of(i);
    Folding refined = fold(now, stage.folding.get());
    Stage finer(refined.folded ? std::move(refined) : discrete(now), options, unit);
    finer.engine->adopt(*stage.engine, ancestry(*finer.folding, *stage.folding));
    for (const LinkChange& change : now.link_changes) {
      now.links[change.link].capacity = change.capacity;
    }
    stage = std::move(finer);
  }
  return unfold_result(*stage.folding, stage.engine->run());
}

}  // namespace headway::network
