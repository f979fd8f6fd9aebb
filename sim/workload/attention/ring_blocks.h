// Which queries meet which keys in the steps of a context ring, under causal mask, window and
// packed documents.
#pragma once

#include <vector>

#include "sim/workload/closed_form.h"
#include "sim/workload/spec.h"

namespace headway::workload {

/// One attention kernel of a rank and a ring step: of one sequence, all its documents together.
struct RingBlock {
  double queries = 0, keys = 0;  ///< tokens
  double pairs = 0;              ///< of a query and a key that it may see; half of a query's own
  bool causal = false;  ///< as many queries as keys, each meets one more than the one before
  bool first = false;   ///< the first of its queries: there is nothing to add its output to
  bool operator==(const RingBlock&) const = default;
};

/// Queries of chunk `query_chunk` with keys of chunk `key_chunk` of a sequence in chunks of `chunk`
/// tokens. No pairs: masked. With u tokens a chunk, n = query_chunk - key_chunk > 0 chunks between,
/// and z = w - n u:
///     window w:  0 for z <= -u;  (u + z)^2 / 2, the pairs of a causal sequence of u + z tokens,
///     for z <= 0;
///                u^2 - (u - z)^2 / 2 for z < u;  u^2 above
///     pieces of w tokens:  a rectangle, the tokens of the one piece that both chunks have part in
/// On the diagonal (n = 0) the causal pairs of one chunk under its mask.
RingBlock chunk_block(double chunk, int query_chunk, int key_chunk, AttentionWindow window);

/// What rank `rank` works on with the keys of the rank `step` places before it, in expectation over
/// the documents' lengths. Each document (or the sequence) is cut into 2 x context chunks, of which
/// rank r has the r-th and the r-th last. Without a window that shows in the longest one all blocks
/// of a step are one kernel; with one each pair of chunks has its own.
std::vector<RingBlock> ring_blocks(
    const TrainingSpec& training, int context, AttentionWindow window, int rank, int step);

/// A step of the ring.
struct RingStep {
  int step = 0;                   ///< places that its keys have come
  std::vector<RingBlock> blocks;  ///< of the busiest rank; may be empty
};

/// The steps in which any rank has work. The busiest rank is the one with the most pairs over all
/// steps, the first of several. Blocks of keys that nobody needs are neither sent nor met.
std::vector<RingStep> ring_steps(const TrainingSpec& training, int context, AttentionWindow window);

/// Pairs of the busiest rank / mean over the ranks of a ring; 1 without a window.
double ring_imbalance(const TrainingSpec& training, int context, AttentionWindow window);

}  // namespace headway::workload
