#include "sim/training/power/check_power.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fmt/format.h>
#include <string>

#include "sim/core/text.h"
#include "sim/training/power/machine_power.h"
#include "sim/training/power/power_fit.h"
#include "sim/training/unequal/node_kinds.h"

namespace headway::training {

using core::Watts;
using workload::Violations;

namespace {

constexpr const char* kRack = "cluster.power.rack";
constexpr const char* kFacility = "cluster.power.facility";

/// A feed that is too small, and what there is to say of it.
struct Shortage {
  const Feed& feed;
  bool rack;        ///< else the building
  std::string of;   ///< "a rack of 18 nodes"
  std::string key;  ///< of the limit of its boards
  Watts own;        ///< that limit
  Watts least;      ///< that it can be set to
};

/// Limits are set in whole watts.
std::string board_in_words(Watts board) { return core::count(std::floor(board.si())) + " W"; }

/// The most nodes of a rack that are fed with boards at a limit.
std::int64_t most_of_rack(const Scenario& s, const Feed& feed, Watts board) {
  const NodeSpec& spare = s.cluster.node;
  const Watts spares = s.run.recovery.rack_spares *
                       (static_cast<double>(spare.gpus) * spare.gpu.idle_power + spare.host_power);
  const auto nodes = static_cast<double>(feed.nodes);
  const Watts node = (feed.drawn_at(board) - spares) / nodes;
  return static_cast<std::int64_t>(std::clamp((feed.limit - spares) / node, 0.0, nodes));
}

/// The most nodes of the building that are fed with boards at a limit, by halving: spares of racks
/// go with them.
std::int64_t most_of_building(Scenario s, const Feed& feed, Watts board) {
  s.cluster.node.gpu.power = board;
  std::int64_t fed = 0, not_fed = s.cluster.nodes;
  while (not_fed - fed > 1) {
    const std::int64_t middle = fed + (not_fed - fed) / 2;
    s.cluster.nodes = static_cast<int>(middle);
    (feed.pue * peak_power(s) <= feed.limit ? fed : not_fed) = middle;
  }
  return fed;
}

/// "put at most 14 nodes in a rack (run.recovery.rack_nodes)", with boards at that limit.
std::string fewer_nodes(const Scenario& s, const Shortage& x, Watts board) {
  const auto most = x.rack ? most_of_rack(s, x.feed, board) : most_of_building(s, x.feed, board);
  const std::string nodes = counted_nodes(most);
  if (most == 0) {
    return "choose another node: not even one is fed";
  }
  return x.rack ? fmt::format("put at most {} in a rack (run.recovery.rack_nodes)", nodes)
                : fmt::format("use at most {} (cluster.nodes)", nodes);
}

/// Boards at their limit draw more, and nothing shall lower it.
std::string refused_excess(const Scenario& s, const Shortage& x) {
  const Watts board = x.feed.highest_board();
  const std::string capped =
      board < x.least ? ""
                      : fmt::format("limit boards to {} ({}), as 'excess: cap' does, or ",
                                    board_in_words(board), x.key);
  return fmt::format("{} draws {} with boards at {}, and {} feed it: {}{}", x.of,
                     power_in_words(x.feed.drawn_at(x.own)), board_in_words(x.own),
                     power_in_words(x.feed.limit), capped, fewer_nodes(s, x, x.own));
}

/// Even boards at the lowest limit draw more.
std::string refused_least(const Scenario& s, const Shortage& x) {
  const Watts board = x.feed.highest_board();
  const std::string fed = power_in_words(x.feed.limit);
  const std::string left =
      board > x.feed.idle
          ? fmt::format(
                "{} feed {} with boards at {}, and none can be limited to less than {} "
                "(cluster.power.least_board{})",
                fed, x.of, board_in_words(board), board_in_words(x.least),
                s.cluster.power->least_board ? "" : ", 2/7 of its own where absent")
          : fmt::format("{} do not feed {} even while its GPUs idle, when it draws {}", fed, x.of,
                        power_in_words(x.feed.drawn_at(x.feed.idle)));
  return fmt::format("{}: feed {} or more, or {}", left, power_in_words(x.feed.drawn_at(x.least)),
                     fewer_nodes(s, x, x.least));
}

/// @param kind  of the nodes whose boards a rack feeds; of the building the first
void add_shortage(const Scenario& s,
                  const Feed& feed,
                  const BoardLimit& board,
                  int kind,
                  bool rack,
                  Violations& list) {
  const Watts highest = feed.highest_board();
  const Watts least = s.cluster.power->least_board.value_or(kLeastBoardShare * board.own);
  const Shortage shortage{
      feed,
      rack,
      fmt::format("{} of {}{}", rack ? "a rack" : "the building", counted_nodes(feed.nodes),
                  unequal(s.cluster) ? " of " + node_of_kind(s.cluster, kind).name : ""),
      kind == 0 ? "cluster.node.gpu.power"
                : fmt::format("cluster.other_nodes[{}].node.gpu.power", kind - 1),
      board.own,
      std::max(feed.idle, std::min(board.own, least))};  // what idles is not limited
  const char* const path = rack ? kRack : kFacility;
  if (highest < board.own && s.cluster.power->excess == PowerExcess::refuse) {
    list.push_back({path, refused_excess(s, shortage)});
  } else if (highest < shortage.least) {
    list.push_back({path, refused_least(s, shortage)});
  }
}

}  // namespace

Violations power_violations(const Scenario& s) {
  Violations list;
  if (!s.cluster.power) {
    return list;
  }
  const auto& power = *s.cluster.power;
  if (!power.rack && !power.facility && !power.pue) {
    list.push_back({"cluster.power",
                    "neither 'rack' nor 'facility' is written, so that nothing is limited, nor "
                    "'pue'; write one of them, or leave out 'power'"});
  }
  if (power.rack && s.run.recovery.rack_nodes == 1) {
    const Watts board = (*power.rack - s.cluster.node.host_power) / s.cluster.node.gpus;
    const Watts own = s.cluster.node.gpu.power;
    list.push_back(
        {kRack, fmt::format("a rack of one node: set 'run.recovery.rack_nodes', the nodes of the "
                            "job in a rack (18 of an NVL72); where each node has its own, {}",
                            board < own ? fmt::format("limit its boards to {} "
                                                      "(cluster.node.gpu.power)",
                                                      board_in_words(board))
                                        : fmt::format("its boards are fed at their {}: leave out "
                                                      "'rack'",
                                                      board_in_words(own)))});
  }
  if (power.facility && s.cluster.sites) {
    list.push_back({kFacility,
                    "one limit for the buildings of several sites is not modelled; limit 'rack', "
                    "or set cluster.node.gpu.power"});
  }
  if (power.facility && s.cluster.occupancy) {
    list.push_back({kFacility,
                    "the limit of a building that jobs of others (cluster.occupancy) draw from "
                    "too is not modelled; limit 'rack', or set cluster.node.gpu.power"});
  }
  return list;
}

Violations power_shortages(const Scenario& s) {
  Violations list;
  const auto fit = power_fit(s);
  if (!fit) {
    return list;
  }
  for (std::size_t kind = 0; kind < fit->racks.size(); ++kind) {
    add_shortage(s, fit->racks[kind], fit->boards[kind], static_cast<int>(kind), true, list);
  }
  if (fit->facility && !unequal(s.cluster)) {
    add_shortage(s, *fit->facility, fit->boards.front(), 0, false, list);
  } else if (fit->facility && fit->facility->drawn() > fit->facility->limit) {
    list.push_back(
        {kFacility, fmt::format("the building draws {}, and {} feed it: which of several kinds of "
                                "boards is lowered for it is not modelled; set the power of their "
                                "GPUs, or use fewer nodes",
                                power_in_words(fit->facility->drawn()),
                                power_in_words(fit->facility->limit))});
  }
  return list;
}

}  // namespace headway::training
