// Closed forms of replicas that go on with a part missing.
#pragma once

#include <functional>

namespace headway::campaign {

/// A pipeline of p equal stages and m micro-batches, d replicas of it, f ranks of one stage lost.
struct LostPeers {
  double micro_batches = 1, stages = 1, peers = 2, lost = 1;
  /// Micro-batches that each of the others does at that stage: m d / (d - f).
  [[nodiscard]] double each() const { return micro_batches * peers / (peers - lost); }
};
/// Step / healthy step where the others do its micro-batches behind their own.
///     (p - 1 + m d / (d - f)) / (m + p - 1)
double rerouted_step(const LostPeers& lost);
/// The same if that work fills every bubble (backward in two parts, an optimizer that each stage
/// runs when it is ready: ReCycle, arXiv 2405.14009): no schedule is shorter.
///     max(1, m d / (d - f) / (m + p - 1))
double rerouted_into_bubbles(const LostPeers& lost);

/// A tensor group and what it divides: whole heads and whole columns of the MLP to a rank.
struct TensorGroup {
  int ranks = 1, heads = 1, columns = 1;
  double attention = 0;  ///< share of a pass that goes with the heads; the rest with the columns
};
/// Pass with `left` ranks / pass of the whole group, all of its work divided.
///     a ceil(h / left) / (h / t) + (1 - a) ceil(c / left) / (c / t)
double narrow_pass(const TensorGroup& group, int left);

/// Micro-batches of a pipeline whose passes take `pass` times as long with which it is done no
/// later than a healthy one with m: the most k with (k + p - 1) pass <= m + p - 1; 0: none.
int micro_batches_in_pace(int micro_batches, int stages, double pass);

/// Throughput / that of a job without broken GPUs, each GPU broken with chance `broken`, if domains
/// with broken GPUs share replicas with one another as far as they can (ranks are dealt anew):
///     1 - sum over k of C(n, k) broken^k (1 - broken)^(n - k) (1 - share(k))
/// @param share_of  what a replica does / what a whole one does, with domains that lost k GPUs
double packed_throughput(int domain_gpus,
                         double broken,
                         const std::function<double(int)>& share_of);

}  // namespace headway::campaign
