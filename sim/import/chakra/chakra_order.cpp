#include <fmt/format.h>
#include <functional>
#include <map>
#include <optional>
#include <queue>
#include <tuple>
#include <unordered_map>

#include "sim/import/chakra/chakra_job.h"

namespace headway::import {

namespace {

/// What runs its nodes one after the other: a thread of the CPU or a stream of the GPU.
struct Lane {
  bool cpu = false;
  std::int64_t number = 0;
  auto operator<=>(const Lane&) const = default;
};

/// Collectives and messages without a stream are ordered by their group alone.
std::optional<Lane> lane_of(const ChakraNode& node) {
  constexpr std::int64_t kDefault = -1;
  if (node.kind == ChakraKind::metadata || (communicates(node) && !node.stream)) {
    return std::nullopt;
  }
  return Lane{node.on_cpu, node.stream.value_or(kDefault)};
}

class Ordering {
 public:
  Ordering(const ChakraTrace& trace, core::Diagnostics& complaints)
      : trace_(trace), complaints_(complaints) {
    std::unordered_map<std::uint64_t, std::uint32_t> number_of_id;
    for (const ChakraNode& node : trace.nodes) {
      number_of_id.emplace(node.id, static_cast<std::uint32_t>(number_of_id.size()));
    }
    out_.after.resize(trace.nodes.size());
    children_.resize(trace.nodes.size());
    waits_.resize(trace.nodes.size());
    for (std::uint32_t n = 0; n < trace.nodes.size(); ++n) {
      for (const std::uint64_t parent : trace.nodes[n].after) {
        const std::uint32_t p = number_of_id.at(parent);
        out_.after[n].push_back(p);
        children_[p].push_back(n);
        ++waits_[n];
      }
    }
  }

  ChakraOrder take() {
    sort();
    follow_streams();
    return std::move(out_);
  }

 private:
  void sort() {
    using Key = std::tuple<std::uint64_t, std::uint64_t, std::uint32_t>;
    std::priority_queue<Key, std::vector<Key>, std::greater<>> free;
    const auto set_free = [&](std::uint32_t n) {
      free.emplace(trace_.nodes[n].start_us, trace_.nodes[n].id, n);
    };
    for (std::uint32_t n = 0; n < waits_.size(); ++n) {
      if (waits_[n] == 0) {
        set_free(n);
      }
    }
    while (!free.empty()) {
      const std::uint32_t n = std::get<2>(free.top());
      free.pop();
      out_.nodes.push_back(n);
      for (const std::uint32_t child : children_[n]) {
        check_start(trace_.nodes[n], trace_.nodes[child]);
        if (--waits_[child] == 0) {
          set_free(child);
        }
      }
    }
    if (out_.nodes.size() < trace_.nodes.size()) {
      complain_of_circle();
    }
  }

  /// Causality, where a trace has times: a kernel may start before the call that launched it has
  /// returned, but not before that call.
  void check_start(const ChakraNode& parent, const ChakraNode& child) {
    if (parent.start_us > 0 && child.start_us > 0 && child.start_us < parent.start_us) {
      complaints_.add({}, fmt::format("{}: starts at {} us, before node {} '{}', which it waits "
                                      "for (at {} us)",
                                      where_is(trace_, child), child.start_us, parent.id,
                                      parent.name, parent.start_us));
    }
  }

  /// From a node that was never free back along nodes that were not either, until one comes again.
  void complain_of_circle() {
    std::uint32_t n = 0;
    while (waits_[n] == 0) {
      ++n;
    }
    std::vector<std::uint32_t> path;
    std::vector<bool> seen(trace_.nodes.size());
    while (!seen[n]) {
      seen[n] = true;
      path.push_back(n);
      for (const std::uint32_t parent : out_.after[n]) {
        if (waits_[parent] > 0) {
          n = parent;
          break;
        }
      }
    }
    std::string names = fmt::format("{}", trace_.nodes[n].id);
    for (std::size_t i = path.size(); i-- > 0 && path[i] != n;) {
      names += fmt::format(", {}", trace_.nodes[path[i]].id);
    }
    complaints_.add({}, fmt::format("{}: waits for itself by way of nodes {}: no order runs them",
                                    where_is(trace_, trace_.nodes[n]), names));
  }

  void follow_streams() {
    std::map<Lane, std::uint32_t> last;
    for (const std::uint32_t n : out_.nodes) {
      const auto lane = lane_of(trace_.nodes[n]);
      if (!lane) {
        continue;
      }
      const auto [place, fresh] = last.try_emplace(*lane, n);
      if (!fresh) {
        check_stream(*lane, trace_.nodes[place->second], trace_.nodes[n]);
        out_.after[n].push_back(place->second);
        place->second = n;
      }
    }
  }

  /// Whole microseconds may be one off at either end.
  void check_stream(const Lane& lane, const ChakraNode& before, const ChakraNode& node) {
    if (!lane.cpu && before.start_us > 0 && node.start_us > 0 &&
        before.start_us + before.duration_us > node.start_us + 1) {
      complaints_.add({}, fmt::format("{}: starts on stream {} at {} us, before node {} '{}' of "
                                      "the same stream ends (at {} us)",
                                      where_is(trace_, node), lane.number, node.start_us, before.id,
                                      before.name, before.start_us + before.duration_us));
    }
  }

  const ChakraTrace& trace_;
  core::Diagnostics& complaints_;
  ChakraOrder out_;
  std::vector<std::vector<std::uint32_t>> children_;
  std::vector<std::uint32_t> waits_;  ///< per node: parents that have not run
};

}  // namespace

ChakraOrder order_of(const ChakraTrace& trace, core::Diagnostics& complaints) {
  return Ordering(trace, complaints).take();
}

}  // namespace headway::import
