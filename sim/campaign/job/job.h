// The job whose weeks are simulated, as plain numbers: what `simulate_campaign`
// makes of a scenario.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/campaign/closed_form.h"
#include "sim/core/tick.h"
#include "sim/core/units.h"
#include "sim/failures/model.h"

namespace headway::campaign {

/// What a trial counts in: ticks of 1 us.
inline constexpr core::Clock kClock = core::Clock::campaign();

/// When a job is done: with its work, or when its wall clock is up.
struct JobEnd {
  std::optional<core::Seconds> work;  ///< healthy step time of all steps
  std::optional<core::Seconds> wall;
};

/// The recovery of the scenario, every word of it, and what was computed for this job. Detection,
/// diagnosis and replacement let nothing fail (D of the closed forms); from `container_start` on it
/// is the restart R, which a failure interrupts and which then starts anew after another D.
struct JobRecovery : failures::RecoverySpec {
  core::Seconds communicators{};  ///< both parts of the spec's, for the ranks of this job
  core::Seconds load{};           ///< from storage
  core::Seconds refill{};         ///< a spare fills its cache of the data set; once it is in
  double moves = 0;  ///< chance that lost nodes move the job to an island without the data,
  core::Seconds restaging{};        ///< which is copied there in this time
  core::Seconds noticed_earlier{};  ///< taken off every detection and silence, as far as they go

  /// A recovery in which nothing takes any time: for a job that is described by fewer figures.
  static JobRecovery at_once();
  /// R. `peer_load` is set, measured or computed, where state comes from peers, and nowhere else.
  [[nodiscard]] core::Seconds restart() const {
    return container_start + communicators + load + warm_up;
  }
  /// All nodes of a replica leave with one of them.
  [[nodiscard]] bool evicts_replicas() const {
    return eviction == failures::Eviction::parallel_group;
  }
};

/// What a failure leaves readable.
enum class Reach : std::uint8_t {
  process,  ///< processes died, all nodes are there
  node,     ///< one node is gone
  domain,   ///< several nodes are gone
};

/// A level of saves nearer than the storage.
struct NearLevel {
  std::string name;
  Reach survives = Reach::process;  ///< the widest failure after which it can be read
  std::int64_t every = 1;           ///< each how many-th save goes here
  core::Seconds stall, persist, load;
};

/// Times of the saves while a node's drive is slow.
struct DriveTimes {
  std::uint32_t hazard = 0;  ///< index of the slow_drive hazard
  core::Seconds stall, persist;
  std::vector<core::Seconds> near_stall, near_persist;  ///< one a level
};

/// What a replica goes on with that lost so many ranks of a tensor group.
struct NarrowedReplica {
  double share = 0;     ///< of the micro-batches of a whole replica; 0: it leaves
  double stretch = 1;   ///< step / healthy step while it does them
  core::Seconds moved;  ///< its ranks take over what the lost ones held, from another replica
};

/// Everything a trial needs to know.
struct JobModel {
  std::int64_t gpus = 1;
  int gpus_per_node = 1;
  std::int64_t spare_nodes = 0;  ///< those of the racks (`recovery.rack_spares`) included
  int replicas = 1;  ///< copies of the training state that can go on without one another
  /// Symmetry class of each node's place in the job: parts in one class slow the step alike.
  std::vector<std::uint16_t> class_of_node;  ///< empty: all alike
  /// Data-parallel replica of the first rank on each node.
  std::vector<std::uint32_t> replica_of_node;  ///< empty: nodes of a replica in a row
  int tensor = 1;                              ///< ranks of a tensor group, the fastest of a node
  std::vector<NarrowedReplica> narrowed;       ///< by lost ranks less one; of more: it leaves
  core::Seconds dealt_anew;  ///< a group that changes places gets the state of its new one
  int most_rerouted = 0;     ///< so many peers may be gone from a stage; with more the job stops
  /// Where each node stands in the machine; neighbours share racks.
  std::vector<std::uint32_t> place_of_node;  ///< empty: in the order of the job
  JobEnd end;
  core::Seconds step;  ///< healthy
  core::Seconds tax;   ///< that a fault-tolerance scheme adds to each step
  /// Sites, and the work between exchanges of those that train apart, which may be so much work
  /// late before training waits for them; 0: every step is one of all sites.
  int sites = 1;
  core::Seconds exchange_every, exchange_beside;
  double starved = 1;            ///< step that waits for its input / step, on average over the run
  core::Seconds staging;         ///< copying the data set before the first step
  core::Seconds interval;        ///< useful work between saves; 0: one save at the end
  bool whole_steps = false;      ///< saves and the end of the run wait for the end of a step
  core::Seconds stall, persist;  ///< of a save to storage
  core::Seconds fixed_cost;      ///< of any save, however little it writes; in the stall
  std::int64_t storage_every = 1;  ///< each how many-th save goes to storage
  std::vector<NearLevel> near;
  std::vector<DriveTimes> slow_drives;
  double unreadable = 0;  ///< chance that a save is torn or stale
  int keep = 0;           ///< saves kept in storage; 0: all
  core::Seconds archive;  ///< work between saves that are kept for good; 0: none
  JobRecovery recovery;
  std::vector<failures::Hazard> hazards;
  std::optional<failures::MaintenanceSpec> maintenance;
  std::vector<failures::ThrottleSpec> throttling;
  std::uint64_t seed = 1;
  /// A run of known work is given up when it has been up for so many times its work.
  std::int64_t patience = 1000;
};

/// Work or wall clock after which the run is over at the latest in its own terms: no save can be
/// further apart than this.
core::Seconds length_of(const JobEnd& end);

/// Saves cannot come more often: a step must end, and the fixed cost of a save be paid.
core::Seconds shortest_interval(const JobModel& job);

/// The hazard stops the job when it strikes (and does not only slow it, or announce itself).
bool stops_job(const failures::Hazard& hazard);

/// Rate of the cuts of a way that outlast the wait for the exchange, so that all stand,
///     r e^(-b / L) (L / E) (1 - e^(-E / L)),  L = lasts, E = exchange_every, b = exchange_beside
/// (r alone where every step is one of all sites).
core::PerSecond felt_rate(const JobModel& job, const failures::Hazard& hazard);

/// Rate at which a hazard ends the job at once, so that all start again: all of its strikes where
/// it stops the job; of a cut way those felt that outlast the detection d, too, felt x e^(-d / L);
/// else 0. What else takes a job back to a save is in rates.h.
core::PerSecond ending_rate(const JobModel& job, const failures::Hazard& hazard);

/// Sum of the rates at which hazards end the job, inverted; 0 if nothing fails.
core::Seconds mean_time_between_failures(const JobModel& job);

/// D averaged over the hazards that end the job by their rates.
core::Seconds mean_downtime(const JobModel& job);

/// Work between saves to storage that are really made: `interval` x
/// `storage_every`, or the first multiple of it at which the previous
/// asynchronous save is durable; the whole run where that is shorter.
core::Seconds effective_interval(const JobModel& job);

/// A spare can take the place of what this hazard breaks: a node, or a GPU that is exchanged.
bool moves_away(const failures::Hazard& hazard);

/// Racks of the job, where some of the spares belong to one; else 0.
std::int64_t racks_of(const JobModel& job);

/// The same job in the notation of the closed forms, storage level only.
Rhythm rhythm_of(const JobModel& job);

/// ETTR by the exact formulas, if nothing ever waits for a spare, which the
/// caller knows. For a job of known work with synchronous saves and exponential
/// hazards it is work / E[makespan], else the limit of a long run.
/// @returns nothing where no formula holds: parts that age (but for a single
/// one that is renewed at
///          each failure, an ordinary renewal process), lemons, recorded or
///          silent failures, slow parts, wrong blame, near levels, recovery
///          from peers, elastic jobs, planned work
std::optional<double> exact_ettr(const JobModel& job);

}  // namespace headway::campaign
