// Which parts fail, how often, and how a failure shows.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/core/fields.h"
#include "sim/core/units.h"
#include "sim/failures/law_spec.h"
#include "sim/failures/recovery_spec.h"

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
  wide_area,
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
                    E{C::wide_area, "wide_area"},
                    E{C::unknown, "unknown"}};
}

/// What a hazard's rate is counted over.
enum class Population { gpu, node, domain, domain_pair, site, job };
constexpr auto enum_words(Population) {
  using E = core::EnumWord<Population>;
  return std::array{E{Population::gpu, "gpu"},       E{Population::node, "node"},
                    E{Population::domain, "domain"}, E{Population::domain_pair, "domain_pair"},
                    E{Population::site, "site"},     E{Population::job, "job"}};
}

/// What a fault does to the job.
enum class Effect {
  stop,
  hang,
  slow_gpu,
  slow_link,
  flapping_link,
  slow_drive,
  slow_site,
  cut_site,
  preemption,
  false_alarm
};
constexpr auto enum_words(Effect) {
  using E = core::EnumWord<Effect>;
  return std::array{E{Effect::stop, "stop"},
                    E{Effect::hang, "hang"},
                    E{Effect::slow_gpu, "slow_gpu"},
                    E{Effect::slow_link, "slow_link"},
                    E{Effect::flapping_link, "flapping_link"},
                    E{Effect::slow_drive, "slow_drive"},
                    E{Effect::slow_site, "slow_site"},
                    E{Effect::cut_site, "cut_site"},
                    E{Effect::preemption, "preemption"},
                    E{Effect::false_alarm, "false_alarm"}};
}

/// The job runs on under this effect, only slower.
constexpr bool is_slow(Effect effect) {
  return effect == Effect::slow_gpu || effect == Effect::slow_link ||
         effect == Effect::flapping_link || effect == Effect::slow_drive ||
         effect == Effect::slow_site;
}

/// It strikes a site's way into the wide area: no node is lost, nobody replaces anything, and it is
/// mended from outside.
constexpr bool is_of_a_way(Effect effect) {
  return effect == Effect::slow_site || effect == Effect::cut_site;
}

/// What keeps less of its speed is as good as gone: say `stop` or `hang`.
inline constexpr core::Range keeps_range{1e-3, 1, false, false, "from 0.001 to 1"};
/// From a second to 1e9 hours, the longest mean life that data sheets of parts give.
inline constexpr core::Range mtbf_range{1, 3.6e12, false, false, "between 1 s and 1e9 h"};

/// One class of failures over one population.
struct HazardSpec {
  std::string name;
  ComponentClass component = ComponentClass::unknown;
  Population per = Population::gpu;
  Effect effect = Effect::stop;
  double keeps = 0.5;
  std::optional<core::Seconds> lasts;
  core::Seconds notice{0};
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
               "What the source calls it; also names the random stream, so it "
               "must be unique.");
    v.required("component", component, "Class of the failing part.");
    v.optional("per", per, "What the rate is counted over.");
    v.optional("effect", effect, "What the fault does to the job.");
    v.optional("keeps", keeps,
               "Share of its speed or rate that a slow part keeps, a site's way "
               "too; of a flapping link the share of time it is up.",
               keeps_range);
    v.optional("lasts", lasts,
               "Mean time until a slow part, or the way of a site, is well again by "
               "itself; absent: until it is replaced.",
               core::some_time);
    v.optional("notice", notice, "Warning before capacity is taken back (preemption).",
               core::duration);
    v.optional("mtbf", mtbf, "Mean time between failures of one gpu, node, domain, site or job.",
               mtbf_range);
    v.optional("count", count,
               "Failures counted over the list's `observed` exposure, instead "
               "of mtbf.",
               core::Range{0, 1e9, false, false, "from 0 to 1e9"});
    v.optional("node_lost", node_lost,
               "The node must be replaced; false: the job restarts where it was.");
    v.optional("detection", detection,
               "Added to the recovery's own detection time (a hang waits for "
               "its watchdog).",
               core::duration);
    v.optional("nodes_lost", nodes_lost,
               "Nodes one failure takes at once, the size of a failure domain "
               "(rack, leaf, power unit).",
               core::Range{1, 1e6, false, false, "from 1 to 1,000,000"});
    v.optional("latent", latent,
               "Silent (corruption, loss spike): the job runs on for so long, "
               "then goes back to "
               "the last save before.",
               core::duration);
    v.optional("law", law, "How the rate changes with age; only with mtbf.");
    v.optional("age", age, "Age of the parts when the run starts.", core::duration);
    v.optional("after_failure", after_failure,
               "renewed: a new part takes its place; as_old: the part is "
               "mended and goes on ageing.");
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
    v.required("gpus", gpus, "GPUs observed.", core::Range{1, 1e9, false, false, "from 1 to 1e9"});
    v.optional("gpus_per_node", gpus_per_node, "GPUs in one node of them.", core::at_least_one);
    v.required("wall", wall, "Time observed.", core::some_time);
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
    v.required("at", at, "Wall clock since the start of the run.", core::duration);
    v.required("name", name, "What happened; failures of one name are counted together.");
    v.required("component", component, "Class of the failing part.");
    v.optional("nodes_lost", nodes_lost,
               "Nodes that must be replaced; 0: the job restarts where it was.",
               core::Range{0, 1e6, false, false, "from 0 to 1,000,000"});
    v.optional("detection", detection, "Added to the recovery's own detection time.",
               core::duration);
    v.optional("repair", repair, "Time until the lost nodes were back; absent: drawn.",
               core::duration);
  }
  bool operator==(const RecordedFailureSpec&) const = default;
};

/// Planned work: the job saves in time, stands still and restarts.
struct MaintenanceSpec {
  core::Seconds every;
  core::Seconds lasts;
  template <class V>
  void fields(V& v) {
    v.required("every", every, "From one beginning to the next.",
               core::Range{60, core::kCentury, false, false, "between 1 min and 100 years"});
    v.required("lasts", lasts, "How long the job stands still.", core::duration);
  }
  bool operator==(const MaintenanceSpec&) const = default;
};

/// Hours of each day in which all GPUs are throttled.
struct ThrottleSpec {
  core::Seconds from;
  core::Seconds until;
  double keeps = 0.98;
  template <class V>
  void fields(V& v) {
    v.required("from", from, "Time of day it begins; the run starts at 0 h.",
               core::Range{0, 86400, false, true, "0 h or more and below 24 h"});
    v.required("until", until, "Time of day it ends.",
               core::Range{0, 86400, true, false, "above 0 h and at most 24 h"});
    v.required("keeps", keeps, "Share of its speed that every GPU keeps.", keeps_range);
  }
  bool operator==(const ThrottleSpec&) const = default;
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
  std::vector<ThrottleSpec> throttling;
  template <class V>
  void fields(V& v) {
    v.required("name", name, "Name printed in reports.");
    v.optional("observed", observed, "Exposure of the counts below.");
    v.optional("hazards", hazards, "One entry a class of failures.");
    v.optional("recorded", recorded, "Failures replayed at the time they had, in every trial.");
    v.optional("maintenance", maintenance, "Planned work, at fixed times.");
    v.optional("throttling", throttling, "Hours of each day in which all GPUs run slower (heat).");
    v.optional("lemons", lemons, "Nodes that fail more often than the rest.");
  }
  bool operator==(const FailureSpec&) const = default;
};

}  // namespace headway::failures
