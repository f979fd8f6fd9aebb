// How much longer a step takes while parts are slow: asked of the step simulation once a kind of
// state.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "sim/failures/spec.h"

namespace headway::campaign {

/// Told how many of so many parts are done.
using Progress = std::function<void(std::size_t done, std::size_t total)>;

/// One slow part.
struct SlowState {
  /// What is slow.
  enum class Kind : std::uint8_t {
    gpu,    ///< a GPU computes at `keeps` of its speed
    link,   ///< a network card carries `keeps` of its rate
    flap,   ///< a link is up `keeps` of the time; while it is down the job stands
    site,   ///< the way of a site carries `keeps` of its rate; sites are alike, the slowest decides
    stage,  ///< `keeps` of the ranks of a stage are left, and do the work of the others, too
  };
  Kind kind = Kind::gpu;
  double keeps = 1;
  std::uint16_t position = 0;  ///< symmetry class of its place
  std::uint32_t replica = 0;   ///< data-parallel replica it belongs to
  auto operator<=>(const SlowState&) const = default;
};

/// All that is slow in the cluster at one moment.
struct ClusterState {
  std::vector<SlowState> parts;
  double heat = 1;  ///< share of its speed that every GPU keeps
  auto operator<=>(const ClusterState&) const = default;
};

/// The part that a slow part of this effect is; drives slow saves, not steps.
SlowState slow_state(failures::Effect effect,
                     double keeps,
                     std::uint16_t position,
                     std::uint32_t replica);

/// One of all states that are alike: parts in order, replicas numbered from 0 as they appear, of
/// equal parts in one place the slower.
ClusterState canonical(ClusterState state);

/// Step / healthy step in a canonical state.
using Slowness = std::function<double(const ClusterState&)>;

/// Everyone waits for the slowest part, and nothing else matters: 1 / keeps. An upper bound.
double waits_for_the_slowest(const ClusterState& state);

/// Parts that are simulated together; of more of them the slowest pair decides.
inline constexpr std::size_t kSimulatedTogether = 2;

/// A part that alone makes the step longer by less than this share is left out of pairs.
inline constexpr double kHidden = 1e-4;

/// Step / healthy step in a canonical state, once it is known.
struct StepAnswer {
  ClusterState state;
  double slowness = 1;
};

/// What a job can meet: so many classes of places, and so hot.
struct Circumstances {
  std::uint16_t positions = 1;
  std::vector<double> heats{1};
};

/// Time / time without outages: every outage of a flapping link stops whoever needs it and soon all
/// others; those of several links are independent, so all are up for the product of their shares.
double stretched_by_outages(const ClusterState& state);

/// Remembers the answers. Threads may ask at the same time; an answer is a function of the state
/// alone, so who asks first does not matter.
/// Of two parts at once, places are taken to be alike if a part there slows the step by equally
/// much when it is alone, to the tick and however hot it is: pairs then stay few.
class StepTimes {
 public:
  explicit StepTimes(Slowness slowness = waits_for_the_slowest, Circumstances circumstances = {})
      : slowness_(std::move(slowness)), circumstances_(std::move(circumstances)) {}

  /// Simulates all states with one slow part, or none, in parallel.
  /// @param parts  kinds and severities; positions and replicas are ignored
  /// @param progress  told how many states are done, by several threads; may be empty
  void prepare(const std::vector<SlowState>& parts, int threads, const Progress& progress = {});

  /// At least 1.
  /// @param state  canonical
  double slowness(const ClusterState& state);

  /// Takes over what another process found: its states count as asked for.
  void know(const std::vector<StepAnswer>& answers);

  /// Of all states asked for so far, in the order of states.
  [[nodiscard]] std::vector<StepAnswer> answers() const;

  /// Different states asked for so far: that many step simulations ran.
  [[nodiscard]] std::size_t simulated() const { return known_.size(); }

 private:
  struct Answer {
    std::once_flag once;
    double slowness = 1;
  };
  double remembered(const ClusterState& state);
  double of_pair(const ClusterState& pair);
  ClusterState merged(const ClusterState& pair);
  std::vector<std::uint16_t> alike(const SlowState& part);

  Slowness slowness_;
  Circumstances circumstances_;
  std::mutex mutex_;  // of the maps; simulations run outside it
  std::map<ClusterState, std::unique_ptr<Answer>> known_;
  std::map<ClusterState, double> pairs_;  ///< as they are, places not yet taken to be alike
};

}  // namespace headway::campaign
