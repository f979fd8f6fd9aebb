#include "sim/network/fold/partition.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "sim/network/flow/digest.h"

namespace headway::network {
namespace {

/// Turns counts at [i] into slices: first[i] .. first[i + 1].
void counts_to_offsets(std::vector<std::uint32_t>& first) {
  std::uint32_t next = 0;
  for (std::uint32_t& entry : first) {
    next += std::exchange(entry, next);
  }
}

/// Numbers 64-bit keys in the order they are first seen. Few distinct keys are the case that
/// matters, so the table starts small enough for the cache.
class KeyNumbers {
 public:
  std::uint32_t number(std::uint64_t key) {
    Slot& slot = find(key);
    if (slot.number == kNone) {
      slot = {key, count_++};
      if (2 * count_ > slots_.size()) {
        grow();
      }
      return count_ - 1;
    }
    return slot.number;
  }
  [[nodiscard]] std::uint32_t count() const { return count_; }

 private:
  struct Slot {
    std::uint64_t key = 0;
    std::uint32_t number = kNone;
  };

  Slot& find(std::uint64_t key) {
    const std::size_t mask = slots_.size() - 1;
    std::size_t i = (key >> 20) & mask;
    while (slots_[i].number != kNone && slots_[i].key != key) {
      i = (i + 1) & mask;
    }
    return slots_[i];
  }

  void grow() {
    const std::vector<Slot> old = std::exchange(slots_, std::vector<Slot>(4 * slots_.size()));
    for (const Slot& slot : old) {
      if (slot.number != kNone) {
        find(slot.key) = slot;
      }
    }
  }

  std::vector<Slot> slots_ = std::vector<Slot>(1024);
  std::uint32_t count_ = 0;
};

/// Colours of the four kinds, and one round of refinement.
class Colours {
 public:
  explicit Colours(const FoldGraph& graph)
      : graph_(graph), colour_(graph.nodes), sum_(std::max(graph.groups, graph.links)) {
    const Problem& p = graph.problem;
    for (std::uint32_t i = 0; i < graph.actors; ++i) {
      const Actor& actor = p.actors[i];
      const std::uint64_t what = scramble((std::uint64_t{actor.program} << 32) | actor.colour,
                                          static_cast<std::uint64_t>(actor.slowdown_ppm));
      colour_[i] = scramble(kActor + what, actor.groups.size());
    }
    for (std::uint32_t i = 0; i < graph.groups; ++i) {
      const TransferGroup& group = p.groups[i];
      const std::uint64_t label =
          (std::uint64_t{group.name} << 8) | static_cast<std::uint64_t>(group.activity);
      const std::uint64_t counts = (std::uint64_t{group.need} << 32) | group.flows;
      colour_[graph.first_group + i] =
          scramble(scramble(kGroup + label, counts), static_cast<std::uint64_t>(group.delay));
    }
    for (std::uint32_t i = 0; i < graph.flows; ++i) {
      const Flow& flow = p.flows[i];
      const std::uint64_t numbers = scramble(std::bit_cast<std::uint64_t>(flow.size.si()),
                                             std::bit_cast<std::uint64_t>(flow.bound.si()));
      colour_[graph.first_flow + i] = scramble(scramble(kFlow + numbers, flow.weight),
                                               static_cast<std::uint64_t>(flow.latency));
    }
    for (std::uint32_t i = 0; i < graph.links; ++i) {
      std::uint64_t what = scramble(kLink, std::bit_cast<std::uint64_t>(p.links[i].capacity.si()));
      for (const LinkChange& change :
           graph.changes.empty() ? std::vector<LinkChange>{} : graph.changes[i]) {
        what = scramble(scramble(what, static_cast<std::uint64_t>(change.at)),
                        std::bit_cast<std::uint64_t>(change.capacity.si()));
      }
      colour_[graph.first_link + i] = what;
    }
    for (std::size_t i = 0; i < graph.earlier_class.size(); ++i) {
      colour_[i] = scramble(colour_[i], graph.earlier_class[i]);
    }
  }

  void round() {
    round_groups();
    round_flows();
    round_links();
    round_actors();
  }

  [[nodiscard]] Partition classes() const {
    KeyNumbers numbers;
    Partition partition;
    partition.class_of.reserve(colour_.size());
    for (const std::uint64_t colour : colour_) {
      partition.class_of.push_back(numbers.number(colour));
    }
    partition.classes = numbers.count();
    return partition;
  }

 private:
  static constexpr std::uint64_t kActor = 1ULL << 60, kGroup = 2ULL << 60, kFlow = 3ULL << 60,
                                 kLink = 4ULL << 60;

  /// Cheap and strong enough: the result is checked exactly.
  static std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
    const std::uint64_t x = (a ^ (b + 0x9e3779b97f4a7c15U)) * 0xbf58476d1ce4e5b9U;
    return (x ^ (x >> 29)) * 0x94d049bb133111ebU + (x >> 32);
  }

  void round_groups() {
    const Problem& p = graph_.problem;
    std::fill_n(sum_.begin(), graph_.groups, 0);
    for (std::uint32_t a = 0; a < graph_.actors; ++a) {
      const std::vector<std::uint32_t>& groups = p.actors[a].groups;
      for (std::uint32_t slot = 0; slot < groups.size(); ++slot) {
        sum_[groups[slot]] += mix(colour_[a], slot);
      }
    }
    for (std::uint32_t f = 0; f < graph_.flows; ++f) {
      sum_[p.flows[f].group] += mix(colour_[graph_.first_flow + f], kFlow);
    }
    for (std::uint32_t g = 0; g < graph_.groups; ++g) {
      colour_[graph_.first_group + g] = mix(colour_[graph_.first_group + g], sum_[g]);
    }
  }

  void round_flows() {
    for (std::uint32_t f = 0; f < graph_.flows; ++f) {
      const Flow& flow = graph_.problem.flows[f];
      std::uint64_t sum = colour_[graph_.first_group + flow.group];
      for (const FlowOnLink& use : graph_.uses(flow)) {
        sum += mix(colour_[graph_.first_link + use.link], use.coefficient);
      }
      colour_[graph_.first_flow + f] = mix(colour_[graph_.first_flow + f], sum);
    }
  }

  void round_links() {
    std::fill_n(sum_.begin(), graph_.links, 0);
    for (std::uint32_t f = 0; f < graph_.flows; ++f) {
      for (const FlowOnLink& use : graph_.uses(graph_.problem.flows[f])) {
        sum_[use.link] += mix(colour_[graph_.first_flow + f], use.coefficient);
      }
    }
    for (std::uint32_t l = 0; l < graph_.links; ++l) {
      colour_[graph_.first_link + l] = mix(colour_[graph_.first_link + l], sum_[l]);
    }
  }

  void round_actors() {
    for (std::uint32_t a = 0; a < graph_.actors; ++a) {
      for (const std::uint32_t group : graph_.problem.actors[a].groups) {
        colour_[a] = mix(colour_[a], colour_[graph_.first_group + group]);
      }
    }
  }

  const FoldGraph& graph_;
  std::vector<std::uint64_t> colour_, sum_;
};

}  // namespace

FoldGraph::FoldGraph(const Problem& whole)
    : problem(whole),
      actors(static_cast<std::uint32_t>(whole.actors.size())),
      groups(static_cast<std::uint32_t>(whole.groups.size())),
      flows(static_cast<std::uint32_t>(whole.flows.size())),
      links(static_cast<std::uint32_t>(whole.links.size())),
      first_group(actors),
      first_flow(actors + groups),
      first_link(first_flow + flows),
      nodes(first_link + links),
      first_member(groups + std::size_t{1}),
      first_user(links + std::size_t{1}) {
  for (const Actor& actor : problem.actors) {
    for (const std::uint32_t group : actor.groups) {
      ++first_member[group];
    }
  }
  for (const Flow& flow : problem.flows) {
    for (const FlowOnLink& use : uses(flow)) {
      ++first_user[use.link];
    }
  }
  counts_to_offsets(first_member);
  counts_to_offsets(first_user);
  member.resize(first_member.back());
  user.resize(first_user.back());
  std::vector<std::uint32_t> next = first_member;
  for (std::uint32_t a = 0; a < actors; ++a) {
    const std::vector<std::uint32_t>& slots = problem.actors[a].groups;
    for (std::uint32_t slot = 0; slot < slots.size(); ++slot) {
      member[next[slots[slot]]++] = {a, slot};
    }
  }
  next = first_user;
  for (std::uint32_t f = 0; f < flows; ++f) {
    for (const FlowOnLink& use : uses(problem.flows[f])) {
      user[next[use.link]++] = {f, use.coefficient};
    }
  }
  if (!problem.link_changes.empty()) {
    changes.resize(links);
    for (const LinkChange& change : problem.link_changes) {
      changes[change.link].push_back(change);
    }
    for (std::vector<LinkChange>& list : changes) {
      std::stable_sort(list.begin(), list.end(),
                       [](const LinkChange& a, const LinkChange& b) { return a.at < b.at; });
    }
  }
}

Partition hash_refine(const FoldGraph& graph, int rounds) {
  Colours colours(graph);
  Partition partition = colours.classes();
  for (int i = 0; i < rounds; ++i) {
    colours.round();
    Partition finer = colours.classes();
    const bool grew = finer.classes > partition.classes;
    partition = std::move(finer);
    if (!grew || partition.classes > graph.nodes / 2) {
      break;
    }
  }
  return partition;
}

void renumber(Partition& partition) {
  std::vector<std::uint32_t> number(partition.classes, kNone);
  std::uint32_t next = 0;
  for (std::uint32_t& c : partition.class_of) {
    if (number[c] == kNone) {
      number[c] = next++;
    }
    c = number[c];
  }
  partition.classes = next;
}

}  // namespace headway::network
