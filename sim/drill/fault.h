// The faults of a fire drill: what breaks, where, and how badly.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "sim/core/durations.h"
#include "sim/core/fields.h"
#include "sim/core/units.h"

namespace headway::drill {

/// What breaks. A dead host and crashed software are no exercises of their own interest but the
/// commonest rivals of the others when an engineer asks what it was.
enum class FaultKind : std::uint8_t {
  gpu_dead,
  hbm_error,
  nvme_slow,
  nvme_stalled,
  nic_down,
  link_half_rate,
  optic_flapping,
  leaf_down,
  gpu_slow,
  hang,
  silent_corruption,
  loss_spike,
  storage_slow,
  storage_full,
  rack_power_loss,
  wrong_checkpoint,
  host_dead,
  software_crash,
  site_cut,
  site_slow,
};
constexpr auto enum_words(FaultKind) {
  using K = FaultKind;
  using E = core::EnumWord<K>;
  return std::array{E{K::gpu_dead, "gpu-dead"},
                    E{K::hbm_error, "hbm-error"},
                    E{K::nvme_slow, "nvme-slow"},
                    E{K::nvme_stalled, "nvme-stalled"},
                    E{K::nic_down, "nic-down"},
                    E{K::link_half_rate, "link-half-rate"},
                    E{K::optic_flapping, "optic-flapping"},
                    E{K::leaf_down, "leaf-down"},
                    E{K::gpu_slow, "gpu-slow"},
                    E{K::hang, "hang"},
                    E{K::silent_corruption, "silent-corruption"},
                    E{K::loss_spike, "loss-spike"},
                    E{K::storage_slow, "storage-slow"},
                    E{K::storage_full, "storage-full"},
                    E{K::rack_power_loss, "rack-power-loss"},
                    E{K::wrong_checkpoint, "wrong-checkpoint"},
                    E{K::host_dead, "host-dead"},
                    E{K::software_crash, "software-crash"},
                    E{K::site_cut, "site-cut"},
                    E{K::site_slow, "site-slow"}};
}
inline constexpr std::size_t kFaultKinds = enum_words(FaultKind{}).size();

/// One fault. Figures that are absent take the default of the kind (`with_defaults`); which kind
/// takes which is in `facts_of`.
struct Fault {
  FaultKind kind = FaultKind::gpu_dead;
  std::int64_t node = 0;
  int gpu = 0;  ///< its rail is the NIC's
  std::optional<std::int64_t> leaf, rack, site;
  std::optional<core::BytesPerSecond> rate;
  std::optional<double> factor;
  std::optional<core::Seconds> lasts, repair, after, down, every;
  std::optional<int> nodes;
  std::optional<std::int64_t> behind;
  std::optional<core::Seconds> since_save;
  template <class V>
  void fields(V& v) {
    v.required("kind", kind, "What breaks.");
    v.optional("node", node, "Where: a node of the job; of many, the first.", core::non_negative);
    v.optional("gpu", gpu, "A GPU of the node.", core::non_negative);
    v.optional("leaf", leaf, "A leaf switch, in place of a node.", core::non_negative);
    v.optional("rack", rack, "A rack, in place of a node.", core::non_negative);
    v.optional("site", site, "A site of several, in place of a node.", core::non_negative);
    v.optional("rate", rate, "bytes/s the drive still writes",
               core::Range{1, 1e15, false, false, "from 1 B/s to 1e6 GB/s"});
    v.optional("factor", factor, "share of its speed that is left",
               core::Range{1e-3, 1, false, false,
                           "above 0 and at most 1, and not below 0.001: a part that slow is as "
                           "good as hung, try 'hang'"});
    v.optional("lasts", lasts, "time until it heals itself", core::some_time);
    v.optional("repair", repair, "time to mend it", core::some_time);
    v.optional("after", after, "time until the loss shows it", core::some_time);
    v.optional("down", down, "time of one outage", core::some_time);
    v.optional("every", every, "time from one outage to the next", core::some_time);
    v.optional("nodes", nodes, "nodes in the rack", core::at_least_one);
    v.optional("behind", behind, "saves that the loaded one is old", core::at_least_one);
    v.optional("since_save", since_save, "work since the last save when it strikes",
               core::duration);
  }
  bool operator==(const Fault&) const = default;
};

/// What must be done to be rid of a fault.
enum class Cure : std::uint8_t {
  replace_node,    ///< drain the node, take a spare
  restart,         ///< nothing is broken: start again
  mend_network,    ///< a switch or a cable, by hands
  mend_storage,    ///< the storage service, by its operators
  mend_way,        ///< a way between sites, by its carrier
  roll_back,       ///< back to a checkpoint from before
  load_right_one,  ///< start again from the checkpoint that was meant
};

/// Whether others mend it, and no node has to leave.
constexpr bool is_mended_elsewhere(Cure cure) {
  return cure == Cure::mend_storage || cure == Cure::mend_way;
}

/// What is known of a kind of fault before anything is simulated.
struct FaultFacts {
  std::string_view part;        ///< what an engineer would call the broken part
  std::string_view parameters;  ///< keys that this kind takes, with blanks between
  Cure cure = Cure::replace_node;
  bool of_one_node = true;  ///< draining the right node ends it, whatever part was blamed
  bool has_place = true;    ///< it is at a node, or at the leaf, rack or site of one
};
FaultFacts facts_of(FaultKind kind);

/// Whether it is of the way between a site and the others: a job on one site knows none.
constexpr bool is_of_ways(FaultKind kind) {
  return kind == FaultKind::site_cut || kind == FaultKind::site_slow;
}

}  // namespace headway::drill
