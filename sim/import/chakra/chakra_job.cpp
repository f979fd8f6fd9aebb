#include "sim/import/chakra/chakra_job.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>
#include <tuple>
#include <utility>

namespace headway::import {

namespace {

/// One call of a rank, by its place in the trace.
struct Call {
  std::size_t rank = 0;
  const ChakraNode* node = nullptr;
};

std::string words_of(const ChakraNode& node) {
  return fmt::format("{} of {} bytes", core::to_word(*node.collective), node.bytes.value_or(0));
}

class Joining {
 public:
  Joining(std::vector<ChakraTrace> traces, const ChakraGroups& groups) : groups_(groups) {
    job_.traces = std::move(traces);
  }

  ChakraJob join() {
    check_ranks();
    complaints_.throw_if_any();
    for (const ChakraTrace& trace : job_.traces) {
      job_.orders.push_back(order_of(trace, complaints_));
    }
    complaints_.throw_if_any();
    job_.of_name.resize(job_.traces.size());
    for (std::size_t rank = 0; rank < job_.traces.size(); ++rank) {
      see_transfers(rank);
    }
    complaints_.throw_if_any();
    check_collectives();
    check_messages();
    complaints_.throw_if_any();
    return std::move(job_);
  }

 private:
  void check_ranks() {
    std::stable_sort(job_.traces.begin(), job_.traces.end(),
                     [](const auto& a, const auto& b) { return a.rank < b.rank; });
    std::int64_t next = 0;
    for (const ChakraTrace& trace : job_.traces) {
      if (trace.rank < next) {
        complaints_.add(
            {}, fmt::format("{}: there is another trace of rank {}", trace.file, trace.rank));
      } else if (trace.rank > next) {
        complaints_.add({}, fmt::format("there is no trace of rank {}, and one of rank {} ({}); a "
                                        "replay needs all ranks from 0",
                                        next, trace.rank, trace.file));
      }
      next = trace.rank + 1;
    }
  }

  /// What a rank calls and sends, in its order.
  void see_transfers(std::size_t rank) {
    const ChakraTrace& trace = job_.traces[rank];
    for (const std::uint32_t n : job_.orders[rank].nodes) {
      const ChakraNode& node = trace.nodes[n];
      if (!communicates(node)) {
        continue;
      }
      if (node.kind == ChakraKind::collective) {
        see_collective(rank, node);
      } else {
        see_message(rank, node);
      }
    }
  }

  void see_collective(std::size_t rank, const ChakraNode& node) {
    const ChakraTrace& trace = job_.traces[rank];
    const ChakraCollective kind = *node.collective;
    if (kind == ChakraCollective::reduce || kind == ChakraCollective::gather ||
        kind == ChakraCollective::scatter) {
      complaints_.add({}, fmt::format("{}: {} is not simulated; ALL_REDUCE, ALL_GATHER, "
                                      "REDUCE_SCATTER, ALL_TO_ALL, BROADCAST and BARRIER are",
                                      where_is(trace, node), core::to_word(kind)));
    }
    const auto [place, fresh] = job_.of_name[rank].try_emplace(node.group, kUnknown);
    if (fresh) {
      place->second = communicator(rank, node);
    }
    if (place->second != kUnknown) {
      calls_[{place->second, static_cast<std::int64_t>(rank)}].push_back({rank, &node});
    }
  }

  std::uint32_t communicator(std::size_t rank, const ChakraNode& node) {
    const ChakraTrace& trace = job_.traces[rank];
    const auto ranks = ranks_of(trace, node.group);
    if (!ranks) {
      complaints_.add({}, fmt::format("{}: its group '{}' is not defined, neither by the trace's "
                                      "metadata nor by a file of process groups (--groups)",
                                      where_is(trace, node), node.group));
      return kUnknown;
    }
    const auto [place, fresh] = numbers_.try_emplace(
        {node.group, *ranks}, static_cast<std::uint32_t>(job_.communicators.size()));
    if (fresh) {
      check_members(trace, node, *ranks);
      job_.communicators.push_back({node.group, *ranks});
    }
    if (std::find(ranks->begin(), ranks->end(), trace.rank) == ranks->end()) {
      complaints_.add(
          {}, fmt::format("{}: rank {} is not in its group '{}' ({})", where_is(trace, node),
                          trace.rank, node.group, fmt::join(*ranks, ", ")));
    }
    return place->second;
  }

  [[nodiscard]] std::optional<std::vector<std::int64_t>> ranks_of(const ChakraTrace& trace,
                                                                  const std::string& name) const {
    for (const ChakraGroups* groups : {&trace.groups, &groups_}) {
      const auto found = groups->find(name);
      if (found != groups->end()) {
        return found->second.empty() ? all_ranks() : found->second;
      }
    }
    return name.empty() || name == "0" ? std::optional(all_ranks()) : std::nullopt;
  }

  [[nodiscard]] std::vector<std::int64_t> all_ranks() const {
    std::vector<std::int64_t> ranks;
    for (const ChakraTrace& trace : job_.traces) {
      ranks.push_back(trace.rank);
    }
    return ranks;
  }

  void check_members(const ChakraTrace& trace,
                     const ChakraNode& node,
                     const std::vector<std::int64_t>& ranks) {
    std::set<std::int64_t> seen;
    for (const std::int64_t rank : ranks) {
      if (rank < 0 || rank >= static_cast<std::int64_t>(job_.traces.size())) {
        complaints_.add(
            {}, fmt::format("{}: its group '{}' has rank {}, of which there is no "
                            "trace (there are ranks 0 to {})",
                            where_is(trace, node), node.group, rank, job_.traces.size() - 1));
      } else if (!seen.insert(rank).second) {
        complaints_.add({}, fmt::format("{}: its group '{}' has rank {} twice",
                                        where_is(trace, node), node.group, rank));
      }
    }
  }

  void see_message(std::size_t rank, const ChakraNode& node) {
    const ChakraTrace& trace = job_.traces[rank];
    const bool sends = node.kind == ChakraKind::send;
    const std::int64_t own = (sends ? node.source : node.destination).value_or(trace.rank);
    const std::int64_t other = sends ? *node.destination : *node.source;
    if (own != trace.rank) {
      complaints_.add({}, fmt::format("{}: {} is {} in the trace of rank {}", where_is(trace, node),
                                      sends ? "comm_src" : "comm_dst", own, trace.rank));
    }
    if (other < 0 || other >= static_cast<std::int64_t>(job_.traces.size()) ||
        other == trace.rank) {
      complaints_.add({}, fmt::format("{}: {} is {}; it is one of the other ranks of 0 to {}",
                                      where_is(trace, node), sends ? "comm_dst" : "comm_src", other,
                                      job_.traces.size() - 1));
      return;
    }
    auto& [sent, received] =
        sends ? messages_[{trace.rank, other, node.tag}] : messages_[{other, trace.rank, node.tag}];
    (sends ? sent : received).push_back({rank, &node});
  }

  /// Ranks of a group call the same collectives of the same size, in one order.
  void check_collectives() {
    for (std::uint32_t c = 0; c < job_.communicators.size(); ++c) {
      const auto& ranks = job_.communicators[c].ranks;
      const auto& first = calls_[{c, ranks.front()}];
      for (const std::int64_t rank : ranks) {
        compare_calls(job_.communicators[c], rank, first, calls_[{c, rank}]);
      }
    }
  }

  void compare_calls(const ChakraCommunicator& group,
                     std::int64_t rank,
                     const std::vector<Call>& first,
                     const std::vector<Call>& calls) {
    for (std::size_t i = 0; i < std::min(first.size(), calls.size()); ++i) {
      const ChakraNode& a = *first[i].node;
      const ChakraNode& b = *calls[i].node;
      if (a.collective != b.collective || a.bytes != b.bytes) {
        complaints_.add(
            {}, fmt::format("{}: call {} of group '{}' is {}, and {} of rank {} (node {} '{}'); "
                            "all ranks of a group call the same",
                            where_is(job_.traces[calls[i].rank], b), i + 1, group.name, words_of(b),
                            words_of(a), group.ranks.front(), a.id, a.name));
        return;  // what follows is shifted
      }
    }
    if (first.size() != calls.size()) {
      const bool fewer = calls.size() < first.size();
      const Call& extra = fewer ? first[calls.size()] : calls[first.size()];
      complaints_.add(
          {}, fmt::format("{}: rank {} has no call to meet it: in group '{}' it has {} and rank {} "
                          "has {}",
                          where_is(job_.traces[extra.rank], *extra.node),
                          fewer ? rank : group.ranks.front(), group.name,
                          std::min(first.size(), calls.size()), fewer ? group.ranks.front() : rank,
                          std::max(first.size(), calls.size())));
    }
  }

  void check_messages() {
    for (const auto& [ends, both] : messages_) {
      const auto& [sent, received] = both;
      const auto& [from, to, tag] = ends;
      if (sent.size() != received.size()) {
        const Call& extra =
            sent.size() > received.size() ? sent[received.size()] : received[sent.size()];
        complaints_.add({}, fmt::format("{}: rank {} sends {} messages to rank {} with tag {}, "
                                        "which receives {}",
                                        where_is(job_.traces[extra.rank], *extra.node), from,
                                        sent.size(), to, tag, received.size()));
      }
      for (std::size_t i = 0; i < std::min(sent.size(), received.size()); ++i) {
        const ChakraNode& a = *sent[i].node;
        const ChakraNode& b = *received[i].node;
        if (a.bytes != b.bytes) {
          complaints_.add({}, fmt::format("{}: receives {} bytes, and rank {} sends {} (node {} "
                                          "'{}')",
                                          where_is(job_.traces[received[i].rank], b), *b.bytes,
                                          from, *a.bytes, a.id, a.name));
        }
      }
    }
  }

  static constexpr std::uint32_t kUnknown = 0xffffffffU;

  const ChakraGroups& groups_;
  core::Diagnostics complaints_;
  ChakraJob job_;
  std::map<std::pair<std::string, std::vector<std::int64_t>>, std::uint32_t> numbers_;
  /// Per communicator and rank.
  std::map<std::pair<std::uint32_t, std::int64_t>, std::vector<Call>> calls_;
  /// Per sender, receiver and tag: what is sent, what is received.
  std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t>,
           std::pair<std::vector<Call>, std::vector<Call>>>
      messages_;
};

}  // namespace

ChakraJob join_traces(std::vector<ChakraTrace> traces, const ChakraGroups& groups) {
  return Joining(std::move(traces), groups).join();
}

std::vector<ChakraTrace> alike(const ChakraTrace& trace, std::int64_t ranks) {
  for (const ChakraNode& node : trace.nodes) {
    if (communicates(node) && node.kind != ChakraKind::collective) {
      throw core::Error(
          fmt::format("{}: is a message between two ranks; --ranks lays one trace on "
                      "ranks that all do the same",
                      where_is(trace, node)));
    }
  }
  std::vector<ChakraTrace> copies(static_cast<std::size_t>(ranks), trace);
  for (std::size_t rank = 0; rank < copies.size(); ++rank) {
    copies[rank].rank = static_cast<std::int64_t>(rank);
  }
  return copies;
}

}  // namespace headway::import
