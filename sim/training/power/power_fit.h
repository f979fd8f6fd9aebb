// What `cluster.power` leaves the boards: the limit that they run at, and what is left of each
// feed.
//
//     board = min(own limit, idle + (feed - drawn while all GPUs idle) / GPUs that train)
//
// of a rack, and of the building with its feed divided by the PUE. A rack holds nodes of one kind
// and its spares, which idle; switches of the fabric stand elsewhere and count for the building.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/core/result_fields.h"
#include "sim/training/scenario.h"

namespace headway::training {

enum class PowerLimit { none, rack, facility };
constexpr auto enum_words(PowerLimit) {
  using E = core::EnumWord<PowerLimit>;
  return std::array{E{PowerLimit::none, "none"}, E{PowerLimit::rack, "rack"},
                    E{PowerLimit::facility, "facility"}};
}

/// What feeds a rack, or the building, beside what it draws with boards at a limit.
struct Feed {
  std::int64_t nodes = 0;  ///< of the job
  double gpus = 0;         ///< of these nodes
  core::Watts standing;    ///< drawn while all GPUs idle, hosts, switches and spares included
  core::Watts idle;        ///< of one GPU
  core::Watts board;       ///< the limit that its boards run at
  core::Watts limit;       ///< what feeds it
  double pue = 1;          ///< of the building; of a rack 1

  /// Drawn with its boards at a limit, times the PUE.
  [[nodiscard]] core::Watts drawn_at(core::Watts of_board) const {
    return pue * (standing + gpus * (of_board - idle));
  }
  [[nodiscard]] core::Watts drawn() const { return drawn_at(board); }
  [[nodiscard]] core::Watts headroom() const;
  /// The highest limit of its boards at which it is fed; below `idle`: not even idle ones are.
  [[nodiscard]] core::Watts highest_board() const { return idle + (limit / pue - standing) / gpus; }

  template <class V>
  void fields(V& v) const {
    v.figure("nodes", nodes, "", "nodes of the job that it feeds", core::at_least_one);
    v.figure("limit_w", limit, "W", "what feeds it", core::positive);
    v.figure("drawn_w", drawn(), "W",
             "boards at the limit they run at, hosts and idle spares; of the building with "
             "switches and times PUE",
             core::non_negative);
    v.figure("headroom_w", headroom(), "W", "limit_w - drawn_w", core::non_negative);
    v.figure("swing_w", pue * (gpus * (board - idle)), "W",
             "the most that it can swing: all its GPUs from idle to their limit at once",
             core::non_negative);
  }
};

/// The limit of a board as the scenario has it, and the one it runs at.
struct BoardLimit {
  core::Watts own, board;
};

/// What `cluster.power` comes to.
struct PowerFit {
  std::vector<BoardLimit> boards;            ///< by kind of nodes
  std::vector<Feed> racks;                   ///< a full rack of each kind of nodes; empty: no limit
  std::optional<Feed> facility;              ///< where it has a limit
  PowerLimit lowered_by = PowerLimit::none;  ///< what lowers the boards of `cluster.node`

  /// Of `cluster.node`; nothing of what was default-constructed.
  [[nodiscard]] BoardLimit first() const { return boards.empty() ? BoardLimit{} : boards.front(); }
  /// The rack that draws most.
  [[nodiscard]] std::optional<Feed> rack() const;

  template <class V>
  void fields(V& v) const {
    v.figure("board_w", first().board, "W", "limit that boards of `cluster.node` run at",
             core::positive);
    v.figure("own_board_w", first().own, "W", "their limit as the scenario has it", core::positive);
    v.part("lowered_by", lowered_by, "which limit lowers it: none, that of a rack or the building");
    v.part("rack", rack(), "the rack that draws most; null where racks have no limit");
    v.part("facility", facility, "the building; null where it has no limit");
  }
};

/// Of a cluster that keeps its rules, boards lowered or not yet.
/// @returns nothing where `cluster.power` limits nothing: it is not written, or a PUE alone is
std::optional<PowerFit> power_fit(const Scenario& scenario);

/// Lowers the limits of boards to what `power_fit` finds; as often as one likes. A share of a peak
/// that holds at "the GPU's own limit" (`sustained.power` 0) goes on holding at that.
void limit_boards(Scenario& scenario);

/// "boards limited to 871 W of 1,200 W".
std::string boards_in_words(const Scenario& scenario, const PowerFit& fit);
/// "a rack of 18 nodes draws 120 of 120 kW; the building draws 18.9 of 20 MW, PUE 1.25".
std::string feeds_in_words(const PowerFit& fit);
/// "18 nodes", "1 node".
std::string counted_nodes(std::int64_t nodes);
/// "1.179 MW", "120 kW", "871 W".
std::string power_in_words(core::Watts power);

}  // namespace headway::training
