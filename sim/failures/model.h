// Draws the failures of one job in one trial: when, of which hazard, and how
// long the repair takes.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sim/core/random.h"
#include "sim/core/tick.h"
#include "sim/failures/ageing.h"
#include "sim/failures/closed_form.h"
#include "sim/failures/lemons.h"
#include "sim/failures/spec.h"

namespace headway::failures {

/// How the parts of a hazard age; absent in a `Hazard`: they do not.
struct Ageing {
  Law law;  ///< of one part
  std::int64_t parts = 1;
  core::Seconds age;
  AfterFailure after_failure = AfterFailure::renewed;
};

/// A failure that is replayed.
struct Recorded {
  core::Seconds at;                     ///< wall clock since the start of the run
  std::optional<core::Seconds> repair;  ///< of its lost nodes; absent: drawn
  bool operator==(const Recorded&) const = default;
};

/// One hazard as one job of known size sees it.
struct Hazard {
  std::string name;
  ComponentClass component = ComponentClass::unknown;
  core::PerSecond rate;         ///< of the whole job, while it is exposed; of ageing
                                ///< parts in the long run
  core::Seconds detection;      ///< added to the recovery's own
  std::int64_t nodes_lost = 1;  ///< at each strike; 0: the job restarts where it was
  Effect effect = Effect::stop;
  double keeps = 1;                    ///< share of its speed or rate that a slow part keeps
  std::optional<core::Seconds> lasts;  ///< mean, until a slow part is well by itself
  core::Seconds notice;                ///< of preemption
  std::int64_t evicted = 0;            ///< nodes that leave the job with a lost one; 0: itself only
  double foreseen = 0;   ///< share of its strikes that are announced in time to move away first
  bool swapped = false;  ///< no node is lost, but something is replaced (eviction by GPU)
  std::optional<core::Seconds>
      latent;  ///< silent: the job runs on for so long, then all since is lost
  std::optional<Ageing> ageing;
  std::optional<LemonModel> lemons;  ///< struck by lemons only, each with its own stream
  std::vector<Recorded> recorded;    ///< struck at these wall times only, rising
};

/// The hazards that can strike a job on `fleet`, in the order of the table;
/// those of rate 0 are left out. Lemons and recorded failures follow as hazards
/// of their own. With lemons the table's rates are the mean of all nodes: a
/// good node fails 1 / (1 - share + share factor) times as often as it says.
/// @param spares  nodes held ready, some of which may be lemons
/// @throws Error as `job_rate` does, or if a law that ages has no mtbf
std::vector<Hazard> hazards_of(const FailureSpec& failures, Fleet fleet, std::int64_t spares = 0);

/// The next failure of a job.
struct Strike {
  core::Tick exposed = 0;    ///< on the clock that only runs while the job can
                             ///< fail; never recorded ones
  std::uint32_t hazard = 0;  ///< index into the hazards
  std::uint64_t event = 0;   ///< number of this strike of this hazard
};

/// What a draw of a hazard's stream decides.
enum class Draw : std::uint32_t {
  time,
  victim,
  repair,
  check_phase,   ///< of the next health check
  check_found,   ///< by which health check
  window_found,  ///< in which window of the straggler monitor
  blame,         ///< the right part, or a healthy one
  innocent,      ///< which healthy one
  lasts,         ///< a slow part is well again
  unreadable,    ///< a save cannot be read
  island,        ///< the job moves to where the data are not
  foreseen,      ///< announced in time
  cured,         ///< the repair finds what made a lemon of it
  tensor_group,  ///< which tensor group of a node the GPU was in
};

/// The failures of one trial in order of time, by superposition: each hazard is
/// one stream of its own, keyed by (seed, its name, trial), so that adding or
/// changing one never moves another's draws. Times are on the exposed clock,
/// which stands still while the job is down: nothing fails or ages then.
class HazardSampler {
 public:
  /// @param hazards  must outlive the sampler
  HazardSampler(std::span<const Hazard> hazards,
                std::uint64_t seed,
                std::uint32_t trial,
                core::Clock clock);

  /// The earliest strike not yet taken; `core::kEndOfTime` if nothing ever
  /// fails.
  [[nodiscard]] Strike next() const;
  /// Takes the strike that `next` returned and draws its hazard's next one.
  void take(const Strike& strike);
  /// Repair time of the `node`-th node lost in `strike`: exponential, or
  /// lognormal of the same mean if `sigma` > 0.
  [[nodiscard]] core::Tick repair(const Strike& strike,
                                  std::uint64_t node,
                                  core::Seconds mean,
                                  double sigma = 0) const;
  /// A number in (0, 1) that decides `what` about `strike`, for the `turn`-th
  /// time.
  [[nodiscard]] double draw(const Strike& strike, Draw what, std::uint64_t turn = 0) const;
  /// A number below `bound`, likewise.
  [[nodiscard]] std::uint64_t index(const Strike& strike,
                                    Draw what,
                                    std::uint64_t turn,
                                    std::uint64_t bound) const;
  /// First slot that `strike` empties, of the job's `nodes`; a strike takes
  /// `nodes_lost` slots in a row.
  [[nodiscard]] std::uint64_t victim(const Strike& strike, std::uint64_t nodes) const;
  /// A slot that is blamed for `strike` instead, for the `turn`-th time; any where all are guilty.
  /// @param guilty  slots that leave the job if the right one is blamed, rising
  [[nodiscard]] std::uint64_t innocent(const Strike& strike,
                                       std::uint64_t turn,
                                       const std::vector<std::uint64_t>& guilty,
                                       std::uint64_t nodes) const;
  /// The lemons of this trial, if the job has any.
  [[nodiscard]] LemonNodes* lemons() { return lemons_ ? &*lemons_ : nullptr; }
  [[nodiscard]] const LemonNodes* lemons() const { return lemons_ ? &*lemons_ : nullptr; }

 private:
  struct Pending {
    core::Tick exposed = 0;
    std::uint64_t event = 0;
  };

  [[nodiscard]] core::Tick ticks_or_never(double seconds) const;
  [[nodiscard]] core::Tick gap(std::size_t hazard, std::uint64_t event) const;

  std::span<const Hazard> hazards_;
  core::Clock clock_;
  std::vector<core::RandomStream> streams_;
  std::vector<Pending> pending_;
  std::vector<std::optional<AgeingPopulation>> populations_;  // empty where parts do not age
  std::optional<LemonNodes> lemons_;
  std::uint32_t lemon_hazard_ = 0;
};

}  // namespace headway::failures
