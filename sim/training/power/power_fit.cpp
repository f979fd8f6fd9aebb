#include "sim/training/power/power_fit.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/core/text.h"
#include "sim/training/power/machine_power.h"
#include "sim/training/unequal/node_kinds.h"

namespace headway::training {

using core::Watts;

namespace {

constexpr double kKilo = 1e3, kMega = 1e6;  // Source: the prefixes

/// A full rack of one kind of nodes; the job's spares are of the first kind.
Feed rack_of_kind(const Scenario& s, int kind) {
  const auto& recovery = s.run.recovery;
  const NodeSpec& node = node_of_kind(s.cluster, kind);
  const NodeSpec& spare = s.cluster.node;
  Feed feed;
  feed.nodes = std::min<std::int64_t>(recovery.rack_nodes, nodes_of_kind(s.cluster, kind));
  const auto nodes = static_cast<double>(feed.nodes);
  feed.gpus = nodes * node.gpus;
  feed.idle = node.gpu.idle_power;
  feed.standing = feed.gpus * feed.idle + nodes * node.host_power +
                  recovery.rack_spares *
                      (static_cast<double>(spare.gpus) * spare.gpu.idle_power + spare.host_power);
  feed.board = node.gpu.power;
  feed.limit = *s.cluster.power->rack;
  return feed;
}

/// The building; of nodes of several kinds `idle` and `board` are means over all GPUs.
Feed facility_of(const Scenario& s, const std::vector<BoardLimit>& boards) {
  Feed feed;
  feed.nodes = s.cluster.nodes;
  feed.standing = machine_power(s.cluster, spare_nodes(s), 0).standing;
  Watts idle, at_limit;
  for (int kind = 0; kind < node_kinds(s.cluster); ++kind) {
    const NodeSpec& node = node_of_kind(s.cluster, kind);
    const auto gpus = static_cast<double>(nodes_of_kind(s.cluster, kind) * node.gpus);
    feed.gpus += gpus;
    idle += gpus * node.gpu.idle_power;
    at_limit += gpus * boards[static_cast<std::size_t>(kind)].board;
  }
  const bool one = !unequal(s.cluster);
  feed.idle = one ? s.cluster.node.gpu.idle_power : idle / feed.gpus;
  feed.board = one ? boards.front().board : at_limit / feed.gpus;
  feed.limit = *s.cluster.power->facility;
  feed.pue = pue_of(s);
  return feed;
}

PowerLimit lowered_by(const PowerFit& fit) {
  const BoardLimit limit = fit.boards.front();
  const auto holds = [&](const Feed& feed) { return feed.highest_board() <= limit.board; };
  if (limit.board >= limit.own) {
    return PowerLimit::none;
  }
  if (!fit.racks.empty() && holds(fit.racks.front())) {
    return PowerLimit::rack;
  }
  return fit.facility && holds(*fit.facility) ? PowerLimit::facility : PowerLimit::none;
}

/// Shares that hold at the GPU's own limit.
void hold_at(Watts own, gpu::SustainedShares& shares) {
  if (shares.power <= Watts(0)) {
    shares.power = own;
  }
}

}  // namespace

Watts Feed::headroom() const { return std::max(Watts(0), limit - drawn()); }

std::optional<Feed> PowerFit::rack() const {
  const auto most = std::max_element(racks.begin(), racks.end(), [](const Feed& a, const Feed& b) {
    return a.drawn() < b.drawn();
  });
  return most == racks.end() ? std::nullopt : std::optional(*most);
}

std::optional<PowerFit> power_fit(const Scenario& scenario) {
  const ClusterSpec& cluster = scenario.cluster;
  if (!cluster.power || (!cluster.power->rack && !cluster.power->facility)) {
    return std::nullopt;
  }
  PowerFit fit;
  for (int kind = 0; kind < node_kinds(cluster); ++kind) {
    const auto& gpu = node_of_kind(cluster, kind).gpu;
    BoardLimit board{gpu.own_power > Watts(0) ? gpu.own_power : gpu.power, gpu.power};
    if (cluster.power->rack) {
      Feed& feed = fit.racks.emplace_back(rack_of_kind(scenario, kind));
      board.board = std::min(board.board, feed.highest_board());
      feed.board = board.board;
    }
    fit.boards.push_back(board);
  }
  if (cluster.power->facility) {
    fit.facility = facility_of(scenario, fit.boards);
    if (!unequal(cluster)) {
      auto& board = fit.boards.front().board;
      board = std::min(board, fit.facility->highest_board());
      fit.facility->board = board;
      for (Feed& rack : fit.racks) {
        rack.board = board;
      }
    }
  }
  fit.lowered_by = lowered_by(fit);
  return fit;
}

void limit_boards(Scenario& scenario) {
  const auto fit = power_fit(scenario);
  for (std::size_t kind = 0; fit && kind < fit->boards.size(); ++kind) {
    ClusterSpec& cluster = scenario.cluster;
    auto& gpu = kind == 0 ? cluster.node.gpu : cluster.other_nodes[kind - 1].node.gpu;
    const auto& [own, board] = fit->boards[kind];
    if (board < gpu.power) {
      gpu.own_power = own;
      gpu.power = board;
    }
    if (gpu.own_power > Watts(0)) {
      hold_at(own, gpu.sustained);
      if (scenario.calibration.kernels) {
        hold_at(own, *scenario.calibration.kernels);
      }
    }
  }
}

std::string counted_nodes(std::int64_t nodes) {
  return fmt::format("{} node{}", core::count(static_cast<double>(nodes)), nodes == 1 ? "" : "s");
}

std::string power_in_words(Watts power) {
  const double watts = power.si();
  return watts >= kMega   ? fmt::format("{:.4g} MW", watts / kMega)
         : watts >= kKilo ? fmt::format("{:.4g} kW", watts / kKilo)
                          : fmt::format("{:.4g} W", watts);
}

std::string boards_in_words(const Scenario& scenario, const PowerFit& fit) {
  std::vector<std::string> list;
  for (std::size_t kind = 0; kind < fit.boards.size(); ++kind) {
    const auto& [own, board] = fit.boards[kind];
    const std::string name =
        fit.boards.size() > 1
            ? fmt::format(" of {}", node_of_kind(scenario.cluster, static_cast<int>(kind)).name)
            : "";
    list.push_back(
        board < own ? fmt::format("boards{} limited to {} W of {} W", name,
                                  core::count(std::floor(board.si())), core::count(own.si()))
                    : fmt::format("boards{} at their limit of {} W", name, core::count(own.si())));
  }
  return fmt::format("{}", fmt::join(list, ", "));
}

std::string feeds_in_words(const PowerFit& fit) {
  std::vector<std::string> list;
  const auto of = [](const Feed& feed) {
    const bool mega = feed.limit.si() >= kMega;
    const double unit = mega ? kMega : kKilo;
    return fmt::format("{:.4g} of {:.4g} {}", feed.drawn().si() / unit, feed.limit.si() / unit,
                       mega ? "MW" : "kW");
  };
  if (const auto rack = fit.rack()) {
    list.push_back(fmt::format("a rack of {} draws {}", counted_nodes(rack->nodes), of(*rack)));
  }
  if (fit.facility) {
    list.push_back(
        fmt::format("the building draws {}, PUE {:g}", of(*fit.facility), fit.facility->pue));
  }
  return fmt::format("{}", fmt::join(list, "; "));
}

}  // namespace headway::training
