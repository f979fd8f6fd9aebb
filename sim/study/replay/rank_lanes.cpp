#include "sim/study/replay/rank_lanes.h"

#include <algorithm>
#include <map>
#include <utility>

namespace headway::study {

namespace {

using import::ChakraKind;
using import::ChakraNode;

LaneKey key_of(const ChakraNode& node, const std::map<std::string, std::uint32_t>& communicators) {
  constexpr std::int64_t kDefault = -1;  // of nodes that name no stream
  if (node.kind == ChakraKind::metadata) {
    return {LaneKey::Kind::metadata, 0, 0};
  }
  if (!import::communicates(node)) {
    return {node.on_cpu ? LaneKey::Kind::thread : LaneKey::Kind::stream,
            node.stream.value_or(kDefault), 0};
  }
  if (node.kind == ChakraKind::collective) {
    return {LaneKey::Kind::group, communicators.at(node.group), 0};
  }
  return node.kind == ChakraKind::send ? LaneKey{LaneKey::Kind::sends, *node.destination, node.tag}
                                       : LaneKey{LaneKey::Kind::receives, *node.source, node.tag};
}

class Dividing {
 public:
  Dividing(const import::ChakraJob& job, std::size_t rank)
      : trace_(job.traces[rank]),
        order_(job.orders[rank]),
        communicators_(job.of_name[rank]),
        places_(trace_.nodes.size()) {}

  std::vector<RankLane> take() {
    for (const std::uint32_t n : order_.nodes) {
      place(n);
      wait(n);
    }
    return std::move(lanes_);
  }

 private:
  struct Place {
    std::uint32_t lane = 0, index = 0;
  };

  void place(std::uint32_t n) {
    const LaneKey key = key_of(trace_.nodes[n], communicators_);
    const auto [found, fresh] =
        number_of_.try_emplace(key, static_cast<std::uint32_t>(lanes_.size()));
    if (fresh) {
      lanes_.push_back({key, {}});
    }
    auto& nodes = lanes_[found->second].nodes;
    places_[n] = {found->second, static_cast<std::uint32_t>(nodes.size())};
    nodes.push_back({n, {}, {}});
  }

  /// Of the nodes of one other lane the last one counts, and only if this lane has not waited for
  /// it or one behind it.
  void wait(std::uint32_t n) {
    const Place here = places_[n];
    std::map<std::uint32_t, std::uint32_t> last;  // per lane
    for (const std::uint32_t parent : order_.after[n]) {
      const Place there = places_[parent];
      if (there.lane != here.lane) {
        auto& index = last[there.lane];
        index = std::max(index, there.index);
      }
    }
    for (const auto& [lane, index] : last) {
      std::uint32_t& seen = seen_[{lane, here.lane}];
      if (index >= seen) {
        seen = index + 1;
        lanes_[lane].nodes[index].tells.push_back(here.lane);
        lanes_[here.lane].nodes[here.index].waits.push_back(lane);
      }
    }
  }

  const import::ChakraTrace& trace_;
  const import::ChakraOrder& order_;
  const std::map<std::string, std::uint32_t>& communicators_;
  std::vector<Place> places_;
  std::map<LaneKey, std::uint32_t> number_of_;
  /// Per lane and lane that waits for it: nodes that it has waited for.
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> seen_;
  std::vector<RankLane> lanes_;
};

}  // namespace

std::vector<RankLane> lanes_of(const import::ChakraJob& job, std::size_t rank) {
  return Dividing(job, rank).take();
}

}  // namespace headway::study
