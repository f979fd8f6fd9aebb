// What happens between a failure and the first useful step after it: detectors,
// blame, eviction, restart.
#pragma once

#include <cstdint>
#include <optional>

#include "sim/core/durations.h"
#include "sim/core/fields.h"
#include "sim/core/units.h"
#include "sim/failures/detectors_spec.h"
#include "sim/failures/spare_spec.h"

namespace headway::failures {

/// What is taken out of the job when a part of it is blamed.
enum class Eviction { gpu, node, rack, parallel_group };
constexpr auto enum_words(Eviction) {
  using E = core::EnumWord<Eviction>;
  return std::array{E{Eviction::gpu, "gpu"}, E{Eviction::node, "node"}, E{Eviction::rack, "rack"},
                    E{Eviction::parallel_group, "parallel_group"}};
}

/// Where the state of a restarted job comes from.
enum class StateSource { checkpoint, peers };
constexpr auto enum_words(StateSource) {
  using E = core::EnumWord<StateSource>;
  return std::array{E{StateSource::checkpoint, "checkpoint"}, E{StateSource::peers, "peers"}};
}

/// When the job stops for a part that is only slow.
enum class SlowPart { stop_at_once, save_first, keep };
constexpr auto enum_words(SlowPart) {
  using E = core::EnumWord<SlowPart>;
  return std::array{E{SlowPart::stop_at_once, "stop_at_once"},
                    E{SlowPart::save_first, "save_first"}, E{SlowPart::keep, "keep"}};
}

/// What the replica that lost a part does until the part is mended.
enum class BrokenReplica { leaves, reroutes, narrows };
constexpr auto enum_words(BrokenReplica) {
  using E = core::EnumWord<BrokenReplica>;
  return std::array{E{BrokenReplica::leaves, "leaves"}, E{BrokenReplica::reroutes, "reroutes"},
                    E{BrokenReplica::narrows, "narrows"}};
}

/// Elastic data parallelism: the job goes on without the replica that lost a
/// node, or with what is left of it.
struct ElasticSpec {
  core::Seconds stall{90};
  core::Seconds rejoin{100};
  int fewest_replicas = 1;
  BrokenReplica broken_replica = BrokenReplica::leaves;
  double boost = 1;
  bool pack = false;
  template <class V>
  void fields(V& v) {
    v.optional("stall", stall, "Alarm until the other replicas run again.", core::duration);
    v.optional("rejoin", rejoin, "All replicas stand while a mended one joins.", core::duration);
    v.optional("fewest_replicas", fewest_replicas, "With fewer the job stops.", core::at_least_one);
    v.optional("broken_replica", broken_replica,
               "What the replica that lost a part does until it is mended: leaves, and the others "
               "do its work; reroutes: its other stages go on, the same stage of the others does "
               "the micro-batches of the one that is lost (ReCycle); narrows: its tensor groups go "
               "on with the ranks that are left, on as many micro-batches as they keep pace with "
               "(nonuniform tensor parallelism).");
    v.optional("boost", boost,
               "Board power of a narrowed replica / that of the others; needs 'broken_replica: "
               "narrows'.",
               core::Range{1, 2, false, false, "from 1 to 2"});
    v.optional("pack", pack,
               "Tensor groups are dealt anew at each fault, so that those that lost ranks share "
               "replicas; needs 'broken_replica: narrows'.");
  }
  bool operator==(const ElasticSpec&) const = default;
};

/// A spare takes the place of what broke while all other processes stay as they are: the job goes
/// on at the step it was in. Where no spare is ready, it restarts like any other.
struct MigrationSpec {
  core::Seconds stall{30};
  double foreseen = 0;
  std::optional<core::Seconds> false_alarm_every;
  template <class V>
  void fields(V& v) {
    v.required("stall", stall,
               "All ranks stand: alarm (of a foreseen fault: end of a step) until they go on; "
               "finding the rank, copying its state, mending communicators.",
               core::duration);
    v.optional("foreseen", foreseen,
               "Share of the faults of nodes that are announced in time: the node is left between "
               "two steps, and nothing is lost.",
               core::probability);
    v.optional("false_alarm_every", false_alarm_every,
               "Mean time between moves of healthy nodes, of the whole job; absent: none.",
               core::Range{60, core::kCentury, false, false, "between 1 min and 100 years"});
  }
  bool operator==(const MigrationSpec&) const = default;
};

/// What a scheme that tolerates faults step by step takes from every step.
struct StepTaxSpec {
  core::Seconds coordination{0};
  std::optional<core::BytesPerSecond> exchange_bandwidth;
  template <class V>
  void fields(V& v) {
    v.optional("coordination", coordination,
               "A step, as far as nothing hides it: the quorum of those that take part.",
               core::duration);
    v.optional("exchange_bandwidth", exchange_bandwidth,
               "Rate of one GPU at which replicas exchange gradients through the memory of hosts "
               "(Gloo over TCP), nothing beside it; absent: over the fabric, as simulated.",
               core::positive);
  }
  bool operator==(const StepTaxSpec&) const = default;
};

/// What happens between a failure and the first useful step after it.
struct RecoverySpec {
  static constexpr const char* kCatalogue = "recovery";
  core::Seconds detection{60};
  std::optional<DetectorsSpec> detectors;
  core::Seconds diagnosis{120};
  double wrong_blame = 0;
  SlowPart slow_part = SlowPart::save_first;
  Eviction eviction = Eviction::node;
  int rack_nodes = 1;
  core::Seconds replacement{60};
  core::Seconds repair{86400.0 * 3};
  double repair_sigma = 0;
  int repair_crews = 0;
  core::Seconds retest{3600};
  core::Seconds container_start{60};
  std::optional<core::Seconds> in_process_start;
  core::Seconds communicator_start{30};
  core::Seconds communicator_start_per_rank{0};
  StateSource state_from = StateSource::checkpoint;
  std::optional<core::Seconds> peer_load;
  core::Seconds warm_up{30};
  std::optional<ElasticSpec> elastic;
  std::optional<MigrationSpec> migration;
  std::optional<StepTaxSpec> step_tax;
  int rack_spares = 0;
  int retire_after = 0;
  std::optional<RetireScoreSpec> retire_score;
  std::optional<core::Seconds> retired_back;
  std::optional<StandbySpec> standby;
  SpareChoice spare_choice = SpareChoice::first_ready;
  template <class V>
  void fields(V& v) {
    list_finding(v);
    list_replacing(v);
    list_restarting(v);
  }
  bool operator==(const RecoverySpec&) const = default;

 private:
  template <class V>
  void list_finding(V& v) {
    v.optional("detection", detection, "Failure to alarm, where `detectors` is absent.",
               core::duration);
    v.optional("detectors", detectors, "Who notices what; replaces `detection`.");
    v.optional("diagnosis", diagnosis, "Alarm to the name of the bad part.", core::duration);
    v.optional("wrong_blame", wrong_blame,
               "Chance that a healthy part is named; the job then restarts, "
               "fails again and is "
               "diagnosed anew.",
               core::Range{0, 0.99, false, false, "from 0 to 0.99"});
    v.optional("slow_part", slow_part,
               "A slow part is found: stop at once, save first, or keep it.");
  }

  template <class V>
  void list_replacing(V& v) {
    v.optional("eviction", eviction, "What leaves the job with a bad part.");
    v.optional("rack_nodes", rack_nodes,
               "Nodes of the job in a rack, for eviction by rack and for `rack_spares`.",
               core::Range{1, 1e6, false, false, "from 1 to 1,000,000"});
    v.optional("replacement", replacement, "Draining the node and taking a hot spare.",
               core::duration);
    v.optional("repair", repair, "Mean time until a lost node is back as a spare.",
               core::some_time);
    v.optional("repair_sigma", repair_sigma,
               "Repair times are lognormal with this deviation of the "
               "logarithm; 0: exponential.",
               core::Range{0, 5, false, false, "from 0 to 5"});
    v.optional("repair_crews", repair_crews, "Nodes repaired at a time; 0: all at once.",
               core::Range{0, 1e6, false, false, "from 0 to 1,000,000"});
    v.optional("retest", retest, "Time until a healthy node that was taken out is back as a spare.",
               core::duration);
    v.optional("rack_spares", rack_spares,
               "Spare nodes in each rack of `rack_nodes` nodes of the job (8 of 72 GPUs: 2 of 18 "
               "trays of 4); only they can take a place in it, else the whole rack is exchanged.",
               core::Range{0, 1e4, false, false, "from 0 to 10,000"});
    v.optional("retire_after", retire_after,
               "Failures of one node after which it leaves the machine; 0: never.",
               core::non_negative);
    v.optional("retire_score", retire_score,
               "Retires nodes by a score that forgets; beside 'retire_after'. Absent: none.");
    v.optional("retired_back", retired_back,
               "Time until a new node stands in the place of one that was retired; absent: none "
               "does.",
               core::some_time);
    v.optional(
        "spare_choice", spare_choice,
        "Which ready spare is taken: the one that waited longest, the one that came back last, "
        "or one that failed least.");
    v.optional("standby", standby,
               "Spares kept warm, with their own takeover time; absent: all spares are cold.");
  }

  template <class V>
  void list_restarting(V& v) {
    v.optional("container_start", container_start, "Scheduling and starting the processes.",
               core::duration);
    v.optional("in_process_start", in_process_start,
               "The same where no node is lost and processes restart in place; "
               "absent: containers "
               "start anew.",
               core::duration);
    v.optional("communicator_start", communicator_start, "NCCL initialisation, fixed part.",
               core::duration);
    v.optional("communicator_start_per_rank", communicator_start_per_rank,
               "NCCL initialisation, part that grows with the ranks.", core::duration);
    v.optional("state_from", state_from,
               "checkpoint: the last durable save; peers: another replica, nothing but the step "
               "under way is lost.");
    v.optional("peer_load", peer_load, "Measured time to copy state from peers; absent: computed.",
               core::duration);
    v.optional("warm_up", warm_up, "Compilation, caches and the first slow step.", core::duration);
    v.optional("elastic", elastic,
               "Go on without the replica that lost a node; absent: the whole job waits.");
    v.optional("migration", migration,
               "A spare takes the place of a lost node, nobody restarts; absent: all restart.");
    v.optional("step_tax", step_tax,
               "What fault tolerance adds to every step (TorchFT's quorum and exchange); absent: "
               "nothing.");
  }
};

}  // namespace headway::failures
