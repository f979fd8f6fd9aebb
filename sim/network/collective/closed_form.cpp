#include "sim/network/collective/closed_form.h"

#include <algorithm>
#include <bit>

#include "sim/core/error.h"

namespace headway::network {
namespace {

/// ceil(log2 n).
int levels(int n) {
  HEADWAY_CHECK(n >= 1, "{} ranks", n);
  return static_cast<int>(std::bit_width(static_cast<unsigned>(n - 1)));
}

bool power_of_two(int n) { return std::has_single_bit(static_cast<unsigned>(n)); }

/// Part of the array that is not a rank's own: (n-1)/n.
double others(int n) {
  HEADWAY_CHECK(n >= 1, "{} ranks", n);
  return (n - 1.0) / n;
}

}  // namespace

core::Seconds ring_all_gather(core::Bytes message, int n, Hop hop) {
  return hop.alpha * (n - 1.0) + message * others(n) / hop.beta;
}

core::Seconds ring_reduce_scatter(core::Bytes message, int n, Hop hop) {
  return ring_all_gather(message, n, hop);
}

core::Seconds ring_all_reduce(core::Bytes message, int n, Hop hop) {
  return 2 * ring_all_gather(message, n, hop);
}

core::Seconds recursive_doubling_all_gather(core::Bytes message, int n, Hop hop) {
  const auto fold = power_of_two(n) ? core::Seconds{} : send_receive(message, hop);
  return hop.alpha * static_cast<double>(levels(n)) + message * others(n) / hop.beta + fold;
}

core::Seconds recursive_halving_reduce_scatter(core::Bytes message, int n, Hop hop) {
  return recursive_doubling_all_gather(message, n, hop);
}

core::Seconds halving_doubling_all_reduce(core::Bytes message, int n, Hop hop) {
  return 2 * recursive_doubling_all_gather(message, n, hop);
}

core::Seconds double_tree_all_reduce(core::Bytes message, int n, Hop hop) {
  return n == 1 ? core::Seconds{} : hop.alpha * (2.0 * levels(n)) + message * 2.0 / hop.beta;
}

core::Seconds in_switch_all_reduce(core::Bytes message, Hop hop) {
  return hop.alpha * 2.0 + message / hop.beta;
}

core::Seconds pat_all_gather(core::Bytes message, int n, Hop hop) {
  return hop.alpha * static_cast<double>(levels(n)) + message * others(n) / hop.beta;
}

core::Seconds tree_broadcast(core::Bytes message, int n, Hop hop) {
  return n == 1 ? core::Seconds{} : hop.alpha * static_cast<double>(levels(n)) + message / hop.beta;
}

core::Seconds pairwise_all_to_all(core::Bytes message, int n, Hop hop) {
  return ring_all_gather(message, n, hop);
}

core::Seconds hierarchical_all_reduce(core::Bytes message, int n, int r, Hop inside, Hop between) {
  HEADWAY_CHECK(r >= 1 && n % r == 0, "{} ranks, {} a domain", n, r);
  return ring_reduce_scatter(message, r, inside) + ring_all_reduce(message / r, n / r, between) +
         ring_all_gather(message, r, inside);
}

core::Seconds hierarchical_all_gather(core::Bytes message, int n, int r, Hop inside, Hop between) {
  return ring_all_gather(message / static_cast<double>(r), n / r, between) +
         ring_all_gather(message, r, inside);
}

core::Seconds staged_all_to_all(core::Bytes message, int n, int r, Hop inside, Hop between) {
  return pairwise_all_to_all(message, r, inside) + pairwise_all_to_all(message, n / r, between);
}

core::Seconds hierarchical_all_to_all(core::Bytes message, int n, int r, Hop inside, Hop between) {
  HEADWAY_CHECK(r >= 1 && n >= r, "{} ranks, {} a domain", n, r);
  const auto local = inside.alpha * (r - 1.0) + message * ((r - 1.0) / n) / inside.beta;
  const auto remote = between.alpha * static_cast<double>(n - r) +
                      message * (static_cast<double>(n - r) / n) / between.beta;
  return std::max(local, remote);
}

core::Seconds send_receive(core::Bytes message, Hop hop) { return hop.alpha + message / hop.beta; }

double bus_factor(core::CollectiveKind kind, int n) {
  switch (kind) {
    case core::CollectiveKind::all_reduce:
      return 2 * others(n);
    case core::CollectiveKind::all_gather:
    case core::CollectiveKind::reduce_scatter:
    case core::CollectiveKind::all_to_all:
      return others(n);
    case core::CollectiveKind::broadcast:
    case core::CollectiveKind::send_receive:
      break;
  }
  return 1;
}

core::BytesPerSecond bus_bandwidth(core::CollectiveKind kind,
                                   core::Bytes message,
                                   int n,
                                   core::Seconds time) {
  return message / time * bus_factor(kind, n);
}

}  // namespace headway::network
