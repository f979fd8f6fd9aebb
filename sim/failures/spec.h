// Which parts fail, how often, and how a failure shows.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/core/fields.h"
#include "sim/core/units.h"
#include "sim/failures/law_spec.h"

namespace headway::failures {

/// The classes of parts that interrupt a job.
enum class ComponentClass {
  gpu,
  gpu_memory,
  nvlink,
  nic,
  cable,
  network_switch,
  power_supply,
  host,
  host_memory,
  cpu,
  ssd,
  storage_service,
  software,
  silent_corruption,
  power,
  cooling,
  maintenance,
  unknown
};
constexpr auto enum_words(ComponentClass) {
  using C = ComponentClass;
  using E = core::EnumWord<C>;
  return std::array{E{C::gpu, "gpu"},
                    E{C::gpu_memory, "gpu_memory"},
                    E{C::nvlink, "nvlink"},
                    E{C::nic, "nic"},
                    E{C::cable, "cable"},
                    E{C::network_switch, "switch"},
                    E{C::power_supply, "power_supply"},
                    E{C::host, "host"},
                    E{C::host_memory, "host_memory"},
                    E{C::cpu, "cpu"},
                    E{C::ssd, "ssd"},
                    E{C::storage_service, "storage_service"},
                    E{C::software, "software"},
                    E{C::silent_corruption, "silent_corruption"},
                    E{C::power, "power"},
                    E{C::cooling, "cooling"},
                    E{C::maintenance, "maintenance"},
                    E{C::unknown, "unknown"}};
}

/// What a hazard's rate is counted over.
enum class Population { gpu, node, domain, job };
constexpr auto enum_words(Population) {
  using E = core::EnumWord<Population>;
  return std::array{E{Population::gpu, "gpu"}, E{Population::node, "node"},
                    E{Population::domain, "domain"}, E{Population::job, "job"}};
}

/// One class of failures over one population.
struct HazardSpec {
  std::string name;
  ComponentClass component = ComponentClass::unknown;
  Population per = Population::gpu;
  std::optional<core::Seconds> mtbf;
  std::optional<std::int64_t> count;
  bool node_lost = true;
  core::Seconds detection{0};
  int nodes_lost = 1;
  std::optional<core::Seconds> latent;
  LawSpec law;
  core::Seconds age{0};
  AfterFailure after_failure = AfterFailure::renewed;
  template <class V>
  void fields(V& v) {
    v.required("name", name,
               "What the source calls it; also names the random stream, so it must be unique.");
    v.required("component", component, "Class of the failing part.");
    v.optional("per", per, "What the rate is counted over.");
    v.optional("mtbf", mtbf, "Mean time between failures of one gpu, node, domain or job.",
               core::positive);
    v.optional("count", count,
               "Failures counted over the list's `observed` exposure, instead of mtbf.",
               core::non_negative);
    v.optional("node_lost", node_lost,
               "The node must be replaced; false: the job restarts where it was.");
    v.optional("detection", detection,
               "Added to the recovery's own detection time (a hang waits for its watchdog).",
               core::non_negative);
    v.optional(
        "nodes_lost", nodes_lost,
        "Nodes one failure takes at once, the size of a failure domain (rack, leaf, power unit).",
        core::at_least_one);
    v.optional("latent", latent,
               "Silent (corruption, loss spike): the job runs on for so long, then goes back to "
               "the last save before.",
               core::non_negative);
    v.optional("law", law, "How the rate changes with age; only with mtbf.");
    v.optional("age", age, "Age of the parts when the run starts.", core::non_negative);
    v.optional(
        "after_failure", after_failure,
        "renewed: a new part takes its place; as_old: the part is mended and goes on ageing.");
  }
  bool operator==(const HazardSpec&) const = default;
};

/// The exposure over which counts were taken.
struct ExposureSpec {
  std::int64_t gpus = 1;
  int gpus_per_node = 8;
  core::Seconds wall;
  template <class V>
  void fields(V& v) {
    v.required("gpus", gpus, "GPUs observed.", core::at_least_one);
    v.optional("gpus_per_node", gpus_per_node, "GPUs in one node of them.", core::at_least_one);
    v.required("wall", wall, "Time observed.", core::positive);
  }
  bool operator==(const ExposureSpec&) const = default;
};

/// One failure that really happened, to be replayed.
struct RecordedFailureSpec {
  core::Seconds at;
  std::string name;
  ComponentClass component = ComponentClass::unknown;
  int nodes_lost = 1;
  core::Seconds detection{0};
  std::optional<core::Seconds> repair;
  template <class V>
  void fields(V& v) {
    v.required("at", at, "Wall clock since the start of the run.", core::non_negative);
    v.required("name", name, "What happened; failures of one name are counted together.");
    v.required("component", component, "Class of the failing part.");
    v.optional("nodes_lost", nodes_lost,
               "Nodes that must be replaced; 0: the job restarts where it was.",
               core::non_negative);
    v.optional("detection", detection, "Added to the recovery's own detection time.",
               core::non_negative);
    v.optional("repair", repair, "Time until the lost nodes were back; absent: drawn.",
               core::non_negative);
  }
  bool operator==(const RecordedFailureSpec&) const = default;
};

/// Planned work: the job saves in time, stands still and restarts.
struct MaintenanceSpec {
  core::Seconds every;
  core::Seconds lasts;
  template <class V>
  void fields(V& v) {
    v.required("every", every, "From one beginning to the next.", core::positive);
    v.required("lasts", lasts, "How long the job stands still.", core::non_negative);
  }
  bool operator==(const MaintenanceSpec&) const = default;
};

/// A table of hazards.
struct FailureSpec {
  static constexpr const char* kCatalogue = "failures";
  std::string name;
  std::optional<ExposureSpec> observed;
  std::vector<HazardSpec> hazards;
  std::optional<LemonSpec> lemons;
  std::vector<RecordedFailureSpec> recorded;
  std::optional<MaintenanceSpec> maintenance;
  template <class V>
  void fields(V& v) {
    v.required("name", name, "Name printed in reports.");
    v.optional("observed", observed, "Exposure of the counts below.");
    v.optional("hazards", hazards, "One entry a class of failures.");
    v.optional("recorded", recorded, "Failures replayed at the time they had, in every trial.");
    v.optional("maintenance", maintenance, "Planned work, at fixed times.");
    v.optional("lemons", lemons, "Nodes that fail more often than the rest.");
  }
  bool operator==(const FailureSpec&) const = default;
};

/// What happens between a failure and the first useful step after it.
struct RecoverySpec {
  static constexpr const char* kCatalogue = "recovery";
  core::Seconds detection{60};
  core::Seconds diagnosis{120};
  core::Seconds replacement{60};
  core::Seconds repair{86400.0 * 3};
  core::Seconds container_start{60};
  core::Seconds communicator_start{30};
  core::Seconds communicator_start_per_rank{0};
  core::Seconds warm_up{30};
  template <class V>
  void fields(V& v) {
    v.optional("detection", detection, "Failure to alarm.", core::non_negative);
    v.optional("diagnosis", diagnosis, "Alarm to the name of the bad part.", core::non_negative);
    v.optional("replacement", replacement, "Draining the node and taking a hot spare.",
               core::non_negative);
    v.optional("repair", repair, "Mean time until a lost node is back as a spare.", core::positive);
    v.optional("container_start", container_start, "Scheduling and starting the processes.",
               core::non_negative);
    v.optional("communicator_start", communicator_start, "NCCL initialisation, fixed part.",
               core::non_negative);
    v.optional("communicator_start_per_rank", communicator_start_per_rank,
               "NCCL initialisation, part that grows with the ranks.", core::non_negative);
    v.optional("warm_up", warm_up, "Compilation, caches and the first slow step.",
               core::non_negative);
  }
  bool operator==(const RecoverySpec&) const = default;
};

}  // namespace headway::failures
