// Whether all ranks of a replay come to their end, without regard to time.
#include <fmt/format.h>
#include <set>

#include "sim/core/error.h"
#include "sim/study/replay/replay_problem.h"

namespace headway::study {

namespace {

/// Runs the programs of a problem as far as they go: a transfer is complete when all have arrived.
class UntimedRun {
 public:
  explicit UntimedRun(const network::Problem& problem)
      : problem_(problem), actors_(problem.actors.size()), groups_(problem.groups.size()) {
    for (std::uint32_t a = 0; a < actors_.size(); ++a) {
      actors_[a].arrived.resize(problem.actors[a].groups.size());
      actors_[a].waited.resize(problem.actors[a].groups.size());
      awake_.push_back(a);
    }
    while (!awake_.empty()) {
      const std::uint32_t actor = awake_.back();
      awake_.pop_back();
      go_on(actor);
    }
  }

  /// The instruction that an actor never gets past; nothing if it ends.
  [[nodiscard]] std::optional<std::size_t> stuck(std::uint32_t actor) const {
    const bool ends = actors_[actor].step == program(actor).size();
    return ends ? std::nullopt : std::optional(actors_[actor].step);
  }

 private:
  struct ActorState {
    std::size_t step = 0;
    std::vector<std::size_t> arrived, waited;  ///< per slot: instances
  };
  struct GroupState {
    std::vector<std::uint32_t> arrivals;  ///< per instance
    std::size_t completed = 0;
    std::vector<std::uint32_t> waiting;
  };

  [[nodiscard]] const network::Program& program(std::uint32_t actor) const {
    return problem_.programs[problem_.actors[actor].program];
  }

  void go_on(std::uint32_t actor) {
    ActorState& state = actors_[actor];
    for (; state.step < program(actor).size(); ++state.step) {
      const auto& step = program(actor)[state.step];
      if (step.code == network::StepCode::compute) {
        continue;
      }
      const std::uint32_t group = problem_.actors[actor].groups[step.slot];
      if (step.code == network::StepCode::arrive) {
        arrive(group, state.arrived[step.slot]++);
      } else if (groups_[group].completed <= state.waited[step.slot]) {
        groups_[group].waiting.push_back(actor);
        return;
      } else {
        ++state.waited[step.slot];
      }
    }
  }

  void arrive(std::uint32_t number, std::size_t instance) {
    GroupState& group = groups_[number];
    if (group.arrivals.size() <= instance) {
      group.arrivals.resize(instance + 1);
    }
    ++group.arrivals[instance];
    while (group.completed < group.arrivals.size() &&
           group.arrivals[group.completed] == problem_.groups[number].need) {
      ++group.completed;
      awake_.insert(awake_.end(), group.waiting.begin(), group.waiting.end());
      group.waiting.clear();
    }
  }

  const network::Problem& problem_;
  std::vector<ActorState> actors_;
  std::vector<GroupState> groups_;
  std::vector<std::uint32_t> awake_;
};

}  // namespace

void check_ends(const ReplayProblem& replay, const import::ChakraJob& job) {
  constexpr std::size_t kMostNamed = 4;
  const UntimedRun run(replay.problem);
  std::set<std::uint32_t> ranks;
  std::string named;
  for (std::uint32_t a = 0; a < replay.lanes.size(); ++a) {
    const auto step = run.stuck(a);
    const ReplayLane& lane = replay.lanes[a];
    if (step && ranks.size() < kMostNamed && ranks.insert(lane.rank).second) {
      const auto& trace = job.traces[lane.rank];
      named +=
          fmt::format("\n  {}", import::where_is(trace, trace.nodes[lane.node_of_step[*step]]));
    }
  }
  if (!named.empty()) {
    throw core::Error(fmt::format(
        "ranks wait for one another in a circle, so that these nodes, among others, never end:{}",
        named));
  }
}

}  // namespace headway::study
