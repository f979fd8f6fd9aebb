// The faults of a fire drill: what breaks, where, and how badly.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "sim/core/fields.h"
#include "sim/core/units.h"

namespace headway::drill {

/// What breaks. The last two are no exercises of their own interest but the commonest rivals of the
/// others when an engineer asks what it was.
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
                    E{K::software_crash, "software-crash"}};
}
inline constexpr std::size_t kFaultKinds = enum_words(FaultKind{}).size();

/// One fault. Figures that are absent take the default of the kind (`with_defaults`).
struct Fault {
  FaultKind kind = FaultKind::gpu_dead;
  std::int64_t node = 0;                     ///< where; a leaf or rack is the one of this node
  int gpu = 0;                               ///< of the node; its rail is the NIC's
  std::optional<core::BytesPerSecond> rate;  ///< nvme-slow: what the drive still writes
  std::optional<double> factor;              ///< share of its speed that the part keeps
  std::optional<core::Seconds> lasts;        ///< heals itself after; absent: stays until cured
  std::optional<core::Seconds> repair;       ///< to mend what cannot be replaced by a spare
  std::optional<core::Seconds> after;        ///< silent-corruption: until the loss shows it
  std::optional<core::Seconds> down;         ///< optic-flapping: one outage
  std::optional<core::Seconds> every;        ///< optic-flapping: from one outage to the next
  std::optional<int> nodes;                  ///< rack-power-loss: nodes in the rack
  std::optional<std::int64_t> behind;        ///< wrong-checkpoint: saves that the loaded one is old
  std::optional<core::Seconds> since_save;   ///< work since the last save when it strikes
  std::optional<std::int64_t> leaf, rack;    ///< replace `node` by the first one of it
};

/// What must be done to be rid of a fault.
enum class Cure : std::uint8_t {
  replace_node,    ///< drain the node, take a spare
  restart,         ///< nothing is broken: start again
  mend_network,    ///< a switch or a cable, by hands
  mend_storage,    ///< the storage service, by its operators
  roll_back,       ///< back to a checkpoint from before
  load_right_one,  ///< start again from the checkpoint that was meant
};

/// What is known of a kind of fault before anything is simulated.
struct FaultFacts {
  std::string_view part;        ///< what an engineer would call the broken part
  std::string_view parameters;  ///< keys that this kind takes, with blanks between
  Cure cure = Cure::replace_node;
  bool of_one_node = true;  ///< draining the right node ends it, whatever part was blamed
  bool has_place = true;    ///< it is at a node, or at the leaf or rack of one
};
FaultFacts facts_of(FaultKind kind);

}  // namespace headway::drill
