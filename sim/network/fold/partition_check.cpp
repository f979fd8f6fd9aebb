// The exact check of a partition: no hashes, so that a collision can never make a wrong result.
#include <algorithm>

#include "sim/network/fold/partition.h"

namespace headway::network {
namespace {

/// Compares every node with the first of its class.
class Checker {
 public:
  Checker(const FoldGraph& graph, const Partition& partition)
      : graph_(graph),
        class_of_(partition.class_of),
        first_(partition.classes, kNone),
        kept_for_(kNone) {}

  bool run() {
    for (std::uint32_t node = 0; node < graph_.nodes; ++node) {
      std::uint32_t& first = first_[class_of_[node]];
      if (first == kNone) {
        first = node;
      } else if (kind(first) != kind(node) || earlier(first) != earlier(node) ||
                 !alike(first, node)) {
        return false;
      }
    }
    return true;
  }

 private:
  [[nodiscard]] int kind(std::uint32_t node) const {
    return (node >= graph_.first_group ? 1 : 0) + (node >= graph_.first_flow ? 1 : 0) +
           (node >= graph_.first_link ? 1 : 0);
  }

  [[nodiscard]] std::uint32_t earlier(std::uint32_t node) const {
    return graph_.earlier_class.empty() ? 0 : graph_.earlier_class[node];
  }

  bool alike(std::uint32_t a, std::uint32_t b) {
    const Problem& p = graph_.problem;
    switch (kind(a)) {
      case 0:
        return actors_alike(p.actors[a], p.actors[b]);
      case 1:
        return groups_alike(a - graph_.first_group, b - graph_.first_group);
      case 2:
        return flows_alike(a - graph_.first_flow, b - graph_.first_flow);
      default:
        return links_alike(a - graph_.first_link, b - graph_.first_link);
    }
  }

  [[nodiscard]] bool actors_alike(const Actor& a, const Actor& b) const {
    if (a.program != b.program || a.colour != b.colour || a.slowdown_ppm != b.slowdown_ppm) {
      return false;
    }
    return std::equal(a.groups.begin(), a.groups.end(), b.groups.begin(), b.groups.end(),
                      [this](std::uint32_t x, std::uint32_t y) {
                        return class_of_[graph_.first_group + x] ==
                               class_of_[graph_.first_group + y];
                      });
  }

  bool groups_alike(std::uint32_t a, std::uint32_t b) {
    const TransferGroup& x = graph_.problem.groups[a];
    const TransferGroup& y = graph_.problem.groups[b];
    if (x.need != y.need || x.delay != y.delay || x.activity != y.activity || x.name != y.name ||
        x.across_stages != y.across_stages || x.flows != y.flows) {
      return false;
    }
    return same_view(graph_.first_group + a, graph_.first_group + b);
  }

  bool flows_alike(std::uint32_t a, std::uint32_t b) {
    const Flow& x = graph_.problem.flows[a];
    const Flow& y = graph_.problem.flows[b];
    if (x.size != y.size || x.latency != y.latency || x.bound != y.bound || x.weight != y.weight ||
        x.uses != y.uses) {
      return false;
    }
    if (class_of_[graph_.first_group + x.group] != class_of_[graph_.first_group + y.group]) {
      return false;
    }
    return same_view(graph_.first_flow + a, graph_.first_flow + b);
  }

  bool links_alike(std::uint32_t a, std::uint32_t b) {
    if (graph_.problem.links[a].capacity != graph_.problem.links[b].capacity) {
      return false;
    }
    if (!graph_.changes.empty()) {
      const bool equal =
          std::equal(graph_.changes[a].begin(), graph_.changes[a].end(), graph_.changes[b].begin(),
                     graph_.changes[b].end(), [](const LinkChange& x, const LinkChange& y) {
                       return x.at == y.at && x.capacity == y.capacity;
                     });
      if (!equal) {
        return false;
      }
    }
    return same_view(graph_.first_link + a, graph_.first_link + b);
  }

  /// The multiset of (class of neighbour, label) around a node.
  void view(std::uint32_t node, std::vector<std::uint64_t>& out) const {
    out.clear();
    const auto see = [&](std::uint32_t neighbour, std::uint32_t label) {
      out.push_back((std::uint64_t{class_of_[neighbour]} << 32) | label);
    };
    if (node >= graph_.first_link) {
      for (const FoldGraph::User& user : graph_.users(node - graph_.first_link)) {
        see(graph_.first_flow + user.flow, user.coefficient);
      }
    } else if (node >= graph_.first_flow) {
      for (const FlowOnLink& use : graph_.uses(graph_.problem.flows[node - graph_.first_flow])) {
        see(graph_.first_link + use.link, use.coefficient);
      }
    } else {
      for (const FoldGraph::Member& member : graph_.members(node - graph_.first_group)) {
        see(member.actor, member.slot);
      }
      const TransferGroup& group = graph_.problem.groups[node - graph_.first_group];
      for (std::uint32_t f = group.first_flow; f < group.first_flow + group.flows; ++f) {
        see(graph_.first_flow + f, 0);
      }
    }
    std::sort(out.begin(), out.end());
  }

  bool same_view(std::uint32_t first, std::uint32_t node) {
    if (kept_for_ != first) {  // neighbours in the numbering often share a class
      view(first, kept_);
      kept_for_ = first;
    }
    view(node, other_);
    return kept_ == other_;
  }

  const FoldGraph& graph_;
  const std::vector<std::uint32_t>& class_of_;
  std::vector<std::uint32_t> first_;
  std::uint32_t kept_for_;
  std::vector<std::uint64_t> kept_, other_;
};

}  // namespace

bool is_stable(const FoldGraph& graph, const Partition& partition) {
  return Checker(graph, partition).run();
}

}  // namespace headway::network
