// Splitting a partition until it is stable.
#include <algorithm>
#include <utility>

#include "sim/network/flow/digest.h"
#include "sim/network/fold/partition.h"

namespace headway::network {
namespace {

/// Nodes grouped by class in one array, so that a class can be split in place.
class Splitter {
 public:
  Splitter(const FoldGraph& graph, const Partition& partition)
      : graph_(graph),
        nodes_(graph.nodes),
        place_(graph.nodes),
        class_of_(partition.class_of),
        seen_(graph.nodes, 0) {
    classes_.resize(partition.classes);
    for (const std::uint32_t c : class_of_) {
      ++classes_[c].end;
    }
    std::uint32_t next = 0;
    for (Class& c : classes_) {
      next += std::exchange(c.end, next);
      c.first = c.end;
    }
    for (std::uint32_t node = 0; node < graph.nodes; ++node) {
      put(node, classes_[class_of_[node]].end++);
    }
    for (std::uint32_t c = 0; c < classes_.size(); ++c) {
      enqueue(c);
    }
  }

  bool run(std::uint32_t limit) {
    while (!queue_.empty() && classes_.size() <= limit) {
      const std::uint32_t by = queue_.back();
      queue_.pop_back();
      classes_[by].queued = false;
      look_at(by);
      split_touched();
    }
    return classes_.size() <= limit;
  }

  [[nodiscard]] Partition result() && {
    return {std::move(class_of_), static_cast<std::uint32_t>(classes_.size())};
  }

 private:
  struct Class {
    std::uint32_t first = 0, end = 0;  ///< its nodes in nodes_
    std::uint32_t touched = 0;         ///< of these at the front
    bool queued = false;
  };

  void put(std::uint32_t node, std::uint32_t place) {
    nodes_[place] = node;
    place_[node] = place;
  }

  void enqueue(std::uint32_t c) {
    if (!classes_[c].queued) {
      classes_[c].queued = true;
      queue_.push_back(c);
    }
  }

  /// `node` sees the splitting class once more, by an edge with this label.
  void touch(std::uint32_t node, std::uint64_t label) {
    if (seen_[node] == 0) {
      Class& c = classes_[class_of_[node]];
      if (c.touched == 0) {
        touched_classes_.push_back(class_of_[node]);
      }
      const std::uint32_t front = c.first + c.touched++;
      const std::uint32_t other = nodes_[front];
      put(other, place_[node]);
      put(node, front);
    }
    seen_[node] += scramble(label) | 1;
  }

  void look_at(std::uint32_t by) {
    splitter_.assign(nodes_.begin() + classes_[by].first, nodes_.begin() + classes_[by].end);
    for (const std::uint32_t node : splitter_) {
      if (node < graph_.first_group) {
        from_actor(node);
      } else if (node < graph_.first_flow) {
        from_group(node - graph_.first_group);
      } else if (node < graph_.first_link) {
        from_flow(node - graph_.first_flow);
      } else {
        for (const FoldGraph::User& user : graph_.users(node - graph_.first_link)) {
          touch(graph_.first_flow + user.flow, user.coefficient);
        }
      }
    }
  }

  void from_actor(std::uint32_t actor) {
    const std::vector<std::uint32_t>& groups = graph_.problem.actors[actor].groups;
    for (std::uint32_t slot = 0; slot < groups.size(); ++slot) {
      touch(graph_.first_group + groups[slot], slot);
    }
  }

  void from_group(std::uint32_t index) {
    for (const FoldGraph::Member& member : graph_.members(index)) {
      touch(member.actor, member.slot);
    }
    const TransferGroup& group = graph_.problem.groups[index];
    for (std::uint32_t f = group.first_flow; f < group.first_flow + group.flows; ++f) {
      touch(graph_.first_flow + f, 0);
    }
  }

  void from_flow(std::uint32_t index) {
    const Flow& flow = graph_.problem.flows[index];
    touch(graph_.first_group + flow.group, 0);
    for (const FlowOnLink& use : graph_.uses(flow)) {
      touch(graph_.first_link + use.link, use.coefficient);
    }
  }

  void split_touched() {
    for (const std::uint32_t c : touched_classes_) {
      split_class(c);
    }
    touched_classes_.clear();
  }

  /// Parts: touched nodes by what they saw, and the untouched rest. The largest keeps the number.
  void split_class(std::uint32_t c) {
    const Class whole = classes_[c];
    const std::uint32_t touched_end = whole.first + std::exchange(classes_[c].touched, 0);
    const auto begin = nodes_.begin() + whole.first;
    const auto end = nodes_.begin() + touched_end;
    const auto by_seen = [this](std::uint32_t a, std::uint32_t b) { return seen_[a] < seen_[b]; };
    if (!std::all_of(begin, end,
                     [&](std::uint32_t node) { return seen_[node] == seen_[*begin]; })) {
      std::sort(begin, end, by_seen);
    }
    parts_.clear();
    for (std::uint32_t i = whole.first; i < touched_end; ++i) {
      if (i == whole.first || seen_[nodes_[i]] != seen_[nodes_[i - 1]]) {
        parts_.push_back({i, i, 0, false});
      }
      parts_.back().end = i + 1;
      place_[nodes_[i]] = i;
    }
    for (std::uint32_t i = whole.first; i < touched_end; ++i) {
      seen_[nodes_[i]] = 0;
    }
    if (touched_end < whole.end) {
      parts_.push_back({touched_end, whole.end, 0, false});
    }
    if (parts_.size() > 1) {
      name_parts(c);
    }
  }

  void name_parts(std::uint32_t c) {
    const auto largest = std::max_element(
        parts_.begin(), parts_.end(),
        [](const Class& a, const Class& b) { return a.end - a.first < b.end - b.first; });
    for (auto part = parts_.begin(); part != parts_.end(); ++part) {
      if (part == largest) {
        classes_[c].first = part->first;
        classes_[c].end = part->end;
        continue;
      }
      const auto number = static_cast<std::uint32_t>(classes_.size());
      classes_.push_back(*part);
      for (std::uint32_t i = part->first; i < part->end; ++i) {
        class_of_[nodes_[i]] = number;
      }
      enqueue(number);
    }
  }

  const FoldGraph& graph_;
  std::vector<std::uint32_t> nodes_, place_, class_of_;
  std::vector<Class> classes_;
  std::vector<std::uint32_t> queue_, splitter_, touched_classes_;
  std::vector<std::uint64_t> seen_;  // sum over the edges from the splitting class; 0: none
  std::vector<Class> parts_;
};

}  // namespace

bool split_until_stable(const FoldGraph& graph, Partition& partition, std::uint32_t limit) {
  Splitter splitter(graph, partition);
  if (!splitter.run(limit)) {
    return false;
  }
  partition = std::move(splitter).result();
  renumber(partition);
  return true;
}

}  // namespace headway::network
