// What can be wrong with a job, and what a simulation of the job with that wrong shows of it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/core/fields.h"
#include "sim/core/progress/joint_progress.h"
#include "sim/drill/setup.h"
#include "sim/network/fabric/fabric.h"
#include "sim/study/evidence/evidence.h"
#include "sim/training/check.h"
#include "sim/training/explain/observed_step.h"

namespace headway::study {

enum class Cause : std::uint8_t {
  none,
  slow_node,
  half_rate_nic,
  slow_way,
  hashed_collisions,
  power_cap,
  eager_kernels,
  wrong_attention,
  data_starvation,
  recompute,
  frequent_saves,
  regular_pauses,
  slow_storage,
  jitter,
  unlisted
};
constexpr auto enum_words(Cause) {
  using E = core::EnumWord<Cause>;
  return std::array{E{Cause::none, "none"},
                    E{Cause::slow_node, "slow_node"},
                    E{Cause::half_rate_nic, "half_rate_nic"},
                    E{Cause::slow_way, "slow_way"},
                    E{Cause::hashed_collisions, "hashed_collisions"},
                    E{Cause::power_cap, "power_cap"},
                    E{Cause::eager_kernels, "eager_kernels"},
                    E{Cause::wrong_attention, "wrong_attention"},
                    E{Cause::data_starvation, "data_starvation"},
                    E{Cause::recompute, "recompute"},
                    E{Cause::frequent_saves, "frequent_saves"},
                    E{Cause::regular_pauses, "regular_pauses"},
                    E{Cause::slow_storage, "slow_storage"},
                    E{Cause::jitter, "jitter"},
                    E{Cause::unlisted, "unlisted"}};
}

/// One cause of one severity, at one place where logs name places; or two at once.
struct Hypothesis {
  Cause cause = Cause::none;
  std::string words;       ///< "every GPU capped at 70 % of its power"
  double severity = 1;     ///< what the cause's words have: a share kept, of a step, a deviation;
                           ///< of a save or a pause its time / a healthy step
  int variant = 0;         ///< which hash, which kernels
  std::int64_t every = 0;  ///< frequent_saves, regular_pauses: steps from one to the next
  std::string node = {};   ///< half_rate_nic, slow_node (with its GPU): where; empty: any
  std::vector<std::string> not_told_apart = {};  ///< other places that are about as likely as
                                                 ///< `node`; empty among them: one of no file
  std::string ruled_out = {};         ///< why what files say rules it out; empty: it is tried
  std::vector<Hypothesis> also = {};  ///< of a pair the other cause
};

/// The part of a hypothesis that is this cause; null: none is.
const Hypothesis* part_of(const Hypothesis& hypothesis, Cause cause);

/// The words of a cause whose severities are numbers, as its severity and places are.
std::string words_of(const Hypothesis& hypothesis);

/// A job with a hypothesis come true, simulated.
struct Imagined {
  training::ObservedStep step;
  core::Seconds mean_step;  ///< with pauses
  double spread = 0;        ///< of steps
  double pauses = 0;        ///< share of the time
  double regularity = 0;
  core::Seconds input;
  core::Seconds save;           ///< that training stands still for one
  core::Seconds load;           ///< of a checkpoint
  double clock_ratio = 1;       ///< lowest / median of the GPUs
  core::Watts power;            ///< of a GPU at work
  double products = 1;          ///< time of matrix products / healthy
  training::Scenario scenario;  ///< as simulated
};

/// Simulates one job with one thing wrong after the other.
class Laboratory {
 public:
  /// @param checked  the healthy job
  /// @param passes   simulate forward and backward passes too; takes several times as long
  /// @param count    told how much of both healthy simulations is done; may be empty
  explicit Laboratory(const training::CheckedScenario& checked,
                      bool passes = true,
                      const core::Count& count = {});

  [[nodiscard]] const Imagined& healthy() const { return healthy_; }
  [[nodiscard]] const drill::DrillSetup& setup() const { return setup_; }
  [[nodiscard]] const training::CheckedScenario& checked() const { return checked_; }

  /// @param told  which share of the step is simulated; may be empty
  /// @throws core::Error if the scenario cannot be so
  [[nodiscard]] Imagined imagine(const Hypothesis& hypothesis,
                                 const std::function<void(double share)>& told = {}) const;
  /// The same from the step of a hypothesis that differs in its place, or in its saves, alone.
  [[nodiscard]] Imagined imagine(const Hypothesis& hypothesis,
                                 const training::ObservedStep& step) const;

  /// Bus bandwidth of a call if the hypothesis holds: the geometric mean over its sizes [B/s].
  /// @param nodes  that took part, where the log names them
  [[nodiscard]] double bus_bandwidth(const Imagined& imagined,
                                     const Hypothesis& hypothesis,
                                     const MeasuredCall& call,
                                     const std::vector<std::string>& nodes) const;

  /// Time that a save stops the job for.
  /// @param slower  what storage takes / what it should take
  [[nodiscard]] core::Seconds save_stall(bool synchronous, double slower = 1) const;

 private:
  [[nodiscard]] training::Scenario changed(const Hypothesis& hypothesis) const;
  void change(const Hypothesis& hypothesis, training::Scenario& scenario) const;
  [[nodiscard]] std::vector<training::Degradation> slow_parts(const Hypothesis& hypothesis) const;

  training::CheckedScenario checked_;
  bool passes_;
  drill::DrillSetup setup_;
  Imagined healthy_;
};

/// Whether a feature is of passes, which only some logs show.
bool is_of_passes(Feature feature);

/// What is tried: every cause in a few severities. A cause that the scenario has already, or cannot
/// have, is not among them; one that a file rules out says why, and is not tried.
std::vector<Hypothesis> hypotheses(const Laboratory& laboratory, const Evidence& evidence);

/// The figure of an observation if the hypothesis holds, in the observation's unit.
double predicted(const Laboratory& laboratory,
                 const Imagined& imagined,
                 const Hypothesis& hypothesis,
                 const Observation& observation);

}  // namespace headway::study
