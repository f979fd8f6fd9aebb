#include "sim/network/fold/fold.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "sim/core/error.h"
#include "sim/network/flow/compiled.h"
#include "sim/network/fold/partition.h"

namespace headway::network {
namespace {

constexpr int kHashRounds = 8;  // enough for node-local symmetry; long chains are left to splitting

/// Classes of one kind of node, numbered from 0, with the first member of each.
struct Kind {
  std::vector<std::uint32_t> class_of;
  std::vector<std::uint32_t> first;
};

Kind kind_of(const Partition& partition,
             std::uint32_t begin,
             std::uint32_t end,
             std::vector<std::uint32_t>& number) {
  Kind kind;
  kind.class_of.reserve(end - begin);
  for (std::uint32_t node = begin; node < end; ++node) {
    std::uint32_t& n = number[partition.class_of[node]];
    if (n == kNone) {
      n = static_cast<std::uint32_t>(kind.first.size());
      kind.first.push_back(node - begin);
    }
    kind.class_of.push_back(n);
  }
  return kind;
}

/// Builds the problem whose nodes are the classes.
class Quotient {
 public:
  Quotient(const FoldGraph& graph, const CompiledPrograms& programs, const Partition& partition)
      : graph_(graph), programs_(programs), whole_(graph.problem) {
    std::vector<std::uint32_t> number(partition.classes, kNone);
    actors_ = kind_of(partition, 0, graph.first_group, number);
    groups_ = kind_of(partition, graph.first_group, graph.first_flow, number);
    flows_ = kind_of(partition, graph.first_flow, graph.first_link, number);
    links_ = kind_of(partition, graph.first_link, graph.nodes, number);
  }

  Folding build() {
    out_.folded = true;
    out_.problem.names = whole_.names;
    out_.problem.coefficient_unit = whole_.coefficient_unit;
    build_links();
    build_groups();
    build_uses();
    build_actors();
    count_needs();
    number_flows();
    out_.actor_class = std::move(actors_.class_of);
    out_.group_class = std::move(groups_.class_of);
    out_.flow_class = std::move(flows_.class_of);
    out_.link_class = std::move(links_.class_of);
    return std::move(out_);
  }

 private:
  void build_links() {
    for (const std::uint32_t link : links_.first) {
      out_.problem.links.push_back(whole_.links[link]);
    }
    for (const LinkChange& change : whole_.link_changes) {
      const std::uint32_t c = links_.class_of[change.link];
      if (links_.first[c] == change.link) {
        out_.problem.link_changes.push_back({change.at, c, change.capacity});
      }
    }
  }

  /// Groups, and their flow classes in consecutive places: place_[flow class].
  void build_groups() {
    place_.assign(flows_.first.size(), kNone);
    Problem& p = out_.problem;
    for (std::uint32_t c = 0; c < groups_.first.size(); ++c) {
      TransferGroup group = whole_.groups[groups_.first[c]];
      const std::uint32_t begin = group.first_flow;
      const std::uint32_t end = begin + group.flows;
      group.first_flow = static_cast<std::uint32_t>(p.flows.size());
      group.multiplicity = 0;
      for (std::uint32_t f = begin; f < end; ++f) {
        const std::uint32_t flow_class = flows_.class_of[f];
        if (place_[flow_class] == kNone) {
          place_[flow_class] = static_cast<std::uint32_t>(p.flows.size());
          p.flows.push_back(whole_.flows[f]);
          p.flows.back().group = c;
          p.flows.back().multiplicity = 0;
        }
      }
      group.flows = static_cast<std::uint32_t>(p.flows.size()) - group.first_flow;
      p.groups.push_back(group);
    }
    for (std::uint32_t g = 0; g < graph_.groups; ++g) {
      p.groups[groups_.class_of[g]].multiplicity += whole_.groups[g].multiplicity;
    }
    for (std::uint32_t f = 0; f < graph_.flows; ++f) {
      p.flows[place_[flows_.class_of[f]]].multiplicity += whole_.flows[f].multiplicity;
    }
  }

  /// A flow class takes from a link class what all its flows take from the representative link.
  void build_uses() {
    Problem& p = out_.problem;
    std::vector<std::vector<FlowOnLink>> uses(p.flows.size());
    for (std::uint32_t c = 0; c < links_.first.size(); ++c) {
      for (const FoldGraph::User& user : graph_.users(links_.first[c])) {
        std::vector<FlowOnLink>& list = uses[place_[flows_.class_of[user.flow]]];
        if (!list.empty() && list.back().link == c) {
          HEADWAY_CHECK(list.back().coefficient <= UINT32_MAX - user.coefficient,
                        "a class of flows takes link {} too often", c);
          list.back().coefficient += user.coefficient;
        } else {
          list.push_back({c, user.coefficient});
        }
      }
    }
    for (std::size_t f = 0; f < uses.size(); ++f) {
      p.flows[f].first_use = static_cast<std::uint32_t>(p.uses.size());
      p.flows[f].uses = static_cast<std::uint32_t>(uses[f].size());
      p.uses.insert(p.uses.end(), uses[f].begin(), uses[f].end());
    }
  }

  void build_actors() {
    Problem& p = out_.problem;
    for (const std::uint32_t actor : actors_.first) {
      p.actors.push_back(whole_.actors[actor]);
      p.actors.back().multiplicity = 0;
      for (std::uint32_t& group : p.actors.back().groups) {
        group = groups_.class_of[group];
      }
    }
    for (std::uint32_t a = 0; a < graph_.actors; ++a) {
      p.actors[actors_.class_of[a]].multiplicity += whole_.actors[a].multiplicity;
    }
  }

  /// A group waits for the classes that arrive at it, each once a slot.
  void count_needs() {
    Problem& p = out_.problem;
    std::vector<std::uint32_t> need(p.groups.size(), 0);
    for (const Actor& actor : p.actors) {
      const std::vector<bool>& slots = programs_.arriving[actor.program];
      for (std::size_t slot = 0; slot < slots.size(); ++slot) {
        need[actor.groups[slot]] += slots[slot] ? 1 : 0;
      }
    }
    for (std::size_t g = 0; g < need.size(); ++g) {
      p.groups[g].need = need[g] > 0 ? need[g] : p.groups[g].need;
    }
  }

  void number_flows() {
    for (std::uint32_t& c : flows_.class_of) {
      c = place_[c];
    }
  }

  const FoldGraph& graph_;
  const CompiledPrograms& programs_;
  const Problem& whole_;
  Kind actors_, groups_, flows_, links_;
  std::vector<std::uint32_t> place_;
  Folding out_;
};

}  // namespace

Folding fold(const Problem& problem, const Folding* before) {
  Folding folding = fold(problem, compile_programs(problem), before);
  if (folding.folded) {
    folding.problem.programs = problem.programs;
  }
  return folding;
}

Folding fold(const Problem& problem, const CompiledPrograms& programs, const Folding* before) {
  FoldGraph graph(problem);
  if (before != nullptr) {
    for (const auto* classes :
         {&before->actor_class, &before->group_class, &before->flow_class, &before->link_class}) {
      graph.earlier_class.insert(graph.earlier_class.end(), classes->begin(), classes->end());
    }
  }
  const std::uint32_t limit = graph.nodes / 2;  // beyond that the whole problem runs as fast
  Partition partition = hash_refine(graph, kHashRounds);
  if (partition.classes > limit) {
    return {};
  }
  if (!is_stable(graph, partition)) {
    // Not yet converged, or two hashes met.
    if (!split_until_stable(graph, partition, limit) || !is_stable(graph, partition)) {
      return {};
    }
  }
  return Quotient(graph, programs, partition).build();
}

Folding discrete(const Problem& problem) {
  Folding folding;
  folding.folded = true;
  folding.problem = problem;
  const auto count_up = [](std::vector<std::uint32_t>& classes, std::size_t nodes) {
    classes.resize(nodes);
    std::iota(classes.begin(), classes.end(), 0U);
  };
  count_up(folding.actor_class, problem.actors.size());
  count_up(folding.group_class, problem.groups.size());
  count_up(folding.flow_class, problem.flows.size());
  count_up(folding.link_class, problem.links.size());
  return folding;
}

RunResult unfold_result(const Folding& folding, RunResult result) {
  const std::vector<double> class_bytes = std::exchange(result.link_bytes, {});
  result.link_bytes.reserve(folding.link_class.size());
  for (const std::uint32_t c : folding.link_class) {
    result.link_bytes.push_back(class_bytes[c]);
  }
  if (!result.class_of_flow.empty()) {
    result.class_of_flow = folding.flow_class;
  }
  result.class_of_actor = folding.actor_class;
  result.actors = folding.actor_class.size();
  return result;
}

}  // namespace headway::network
