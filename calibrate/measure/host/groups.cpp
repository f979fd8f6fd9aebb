#include "calibrate/measure/host/groups.h"

#include <algorithm>
#include <map>
#include <string>

#include "calibrate/measure/cuda/kernels.h"

namespace headway::measure {

using core::CollectiveKind;

std::vector<std::vector<int>> ranks_by_node(const std::vector<Introduction>& processes) {
  std::map<std::string, std::size_t> node_of;
  std::vector<std::vector<int>> nodes;
  int next = 0;
  for (const Introduction& process : processes) {
    const auto [entry, is_new] = node_of.try_emplace(process.host, nodes.size());
    if (is_new) {
      nodes.emplace_back();
    }
    for (int gpu = 0; gpu < process.gpus; ++gpu) {
      nodes[entry->second].push_back(next++);
    }
  }
  return nodes;
}

std::vector<GroupCase> group_cases(const std::vector<std::vector<int>>& nodes, bool quick) {
  std::vector<GroupCase> cases;
  const std::vector<int>& first = nodes.front();
  const int in_node = static_cast<int>(first.size());
  for (int ranks = in_node; ranks >= 2; --ranks) {  // the whole node first
    const bool power = (ranks & (ranks - 1)) == 0;
    if (!quick || power || ranks == in_node) {
      cases.push_back({{first.begin(), first.begin() + ranks}, ranks});
    }
  }
  const int all = static_cast<int>(nodes.size());
  std::vector<int> node_counts;
  for (int count = 2; count < all; count *= 2) {
    node_counts.push_back(count);
  }
  if (all > 1) {
    node_counts.push_back(all);
  }
  for (const int count : node_counts) {
    GroupCase whole{{}, in_node}, one_each{{}, 1};
    for (int node = 0; node < count; ++node) {
      const std::vector<int>& ranks = nodes[static_cast<std::size_t>(node)];
      whole.members.insert(whole.members.end(), ranks.begin(), ranks.end());
      one_each.members.push_back(ranks.front());
    }
    cases.push_back(whole);
    if (in_node > 1) {
      cases.push_back(one_each);
    }
  }
  return cases;
}

std::vector<std::uint64_t> message_sizes(bool quick, bool tiny) {
  std::vector<std::uint64_t> sizes;
  const int last = tiny ? 12 : quick ? 28 : 30;  // 256 MiB, 1 GiB
  for (int power = 10; power <= last; power += quick ? 3 : 1) {
    sizes.push_back(std::uint64_t{1} << power);
  }
  return sizes;
}

int calls_per_batch(std::uint64_t bytes) {
  return bytes <= (1U << 20) ? 40 : bytes <= (32U << 20) ? 20 : bytes <= (256U << 20) ? 6 : 3;
}

ElementCounts element_counts(CollectiveKind kind, std::uint64_t bytes, int ranks, int element) {
  const auto n = static_cast<std::uint64_t>(ranks);
  const auto size = static_cast<std::uint64_t>(element);
  const std::uint64_t share = std::max<std::uint64_t>(bytes / size / n, 1);
  const std::uint64_t whole = std::max<std::uint64_t>(bytes / size, 1);
  switch (kind) {
    case CollectiveKind::all_gather:
      return {share, share * n, share * n * size};
    case CollectiveKind::reduce_scatter:
      return {share * n, share, share * n * size};
    case CollectiveKind::all_to_all:
      return {share * n, share * n, share * n * size};
    default:
      return {whole, whole, whole * size};
  }
}

int expected_value(
    CollectiveKind kind, const ElementCounts& counts, int rank, int ranks, std::uint64_t index) {
  const auto sum_at = [&](std::uint64_t place) {
    int sum = 0;
    for (int other = 0; other < ranks; ++other) {
      sum += rank_value(other, place);
    }
    return sum;
  };
  const auto mine = static_cast<std::uint64_t>(rank);
  switch (kind) {
    case CollectiveKind::all_reduce:
      return sum_at(index);
    case CollectiveKind::reduce_scatter:
      return sum_at(mine * counts.receive + index);
    case CollectiveKind::all_gather:
      return rank_value(static_cast<int>(index / counts.send), index % counts.send);
    case CollectiveKind::all_to_all: {
      const std::uint64_t share = counts.receive / static_cast<std::uint64_t>(ranks);
      return rank_value(static_cast<int>(index / share), mine * share + index % share);
    }
    case CollectiveKind::broadcast:
      return rank_value(0, index);
    case CollectiveKind::send_receive:
      return rank_value((rank + ranks - 1) % ranks, index);
  }
  return 0;
}

}  // namespace headway::measure
