#include "sim/workload/attention/ring_blocks.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <set>

namespace headway::workload {

namespace {

/// Documents of one length in a sequence.
struct Packed {
  double length = 0;
  double count = 0;
};

std::vector<Packed> packed(const TrainingSpec& training) {
  if (training.documents.empty()) {
    return {{static_cast<double>(training.sequence_length), 1}};
  }
  double tokens = 0;
  std::vector<Packed> all;
  for (const DocumentLength& document : training.documents) {
    const double length = std::min(document.tokens, training.sequence_length);
    all.push_back({length, document.share});
    tokens += document.share * length;
  }
  for (Packed& one : all) {
    one.count *= training.sequence_length / tokens;
  }
  return all;
}

/// Whether the window hides anything.
bool shows(const std::vector<Packed>& documents, AttentionWindow window) {
  return window.tokens > 0 && std::any_of(documents.begin(), documents.end(), [&](const Packed& d) {
           return d.length > window.tokens;
         });
}

RingBlock sliding_block(double u, int between, double w) {
  if (between == 0) {
    const double seen = std::min(w, u);
    return {u, u, seen * (u - seen / 2), true, true};
  }
  const double z = w - between * u;
  if (z <= -u) {
    return {};
  }
  if (z <= 0) {
    return {u + z, u + z, (u + z) * (u + z) / 2, true, false};
  }
  const double hidden = std::max(0.0, u - z);
  return {u, u, u * u - hidden * hidden / 2, false, false};
}

RingBlock piece_block(double u, int query_chunk, int key_chunk, double w) {
  const double begin = query_chunk * u;
  if (query_chunk == key_chunk) {
    double pairs = 0;
    for (auto piece = static_cast<std::int64_t>(begin / w);; ++piece) {
      const double from = static_cast<double>(piece) * w;
      if (from >= begin + u) {
        return {u, u, pairs, true, true};
      }
      const double part = std::min(begin + u, from + w) - std::max(begin, from);
      pairs += part * part / 2;
    }
  }
  // Only the piece that the first of the queries lies in can begin before them.
  const double piece = std::floor(begin / w) * w;
  const double queries = std::min(u, piece + w - begin);
  const double keys = (key_chunk + 1) * u - std::max(key_chunk * u, piece);
  return keys > 0 ? RingBlock{queries, keys, queries * keys, false, false} : RingBlock{};
}

/// Adds the block of `count` documents to what others have in its place.
void add(RingBlock& sum, const RingBlock& block, double count) {
  sum.causal = block.causal && (sum.pairs == 0 || sum.causal);
  sum.first = block.first;
  sum.queries += count * block.queries;
  sum.keys += count * block.keys;
  sum.pairs += count * block.pairs;
}

/// All chunks of a step in one kernel: the step's own keys causally; of another rank's, all queries
/// meet its early chunk or the late queries meet both, which is as much.
RingBlock whole_step(const std::vector<Packed>& documents, int context, int step) {
  RingBlock sum;
  for (const auto& [length, count] : documents) {
    const double part = length / context;
    const double keys = step == 0 ? part : part / 2;
    add(sum, {part, keys, part * part / 2, step == 0, step == 0}, count);
  }
  return sum;
}

double pairs_of(const std::vector<RingBlock>& blocks) {
  double sum = 0;
  for (const RingBlock& block : blocks) {
    sum += block.pairs;
  }
  return sum;
}

/// Pairs of each rank over all steps.
std::vector<double> pairs_of_ranks(const TrainingSpec& training,
                                   int context,
                                   AttentionWindow window,
                                   std::set<int>& needed) {
  std::vector<double> pairs(static_cast<std::size_t>(context));
  for (int rank = 0; rank < context; ++rank) {
    for (int step = 0; step < context; ++step) {
      const double here = pairs_of(ring_blocks(training, context, window, rank, step));
      pairs[static_cast<std::size_t>(rank)] += here;
      if (here > 0) {
        needed.insert(step);
      }
    }
  }
  return pairs;
}

}  // namespace

RingBlock chunk_block(double chunk, int query_chunk, int key_chunk, AttentionWindow window) {
  // Lengths of documents are means over many: parts of a pair are nothing. Source: rounding.
  constexpr double kNothing = 0.25;
  if (key_chunk > query_chunk) {
    return {};
  }
  const int between = query_chunk - key_chunk;
  const double whole = (between + 1) * chunk;
  const double w = window.tokens > 0 ? window.tokens : whole;
  const RingBlock block = window.chunked && window.tokens > 0
                              ? piece_block(chunk, query_chunk, key_chunk, w)
                              : sliding_block(chunk, between, w);
  return block.pairs > kNothing ? block : RingBlock{};
}

std::vector<RingBlock> ring_blocks(
    const TrainingSpec& training, int context, AttentionWindow window, int rank, int step) {
  const std::vector<Packed> documents = packed(training);
  if (!shows(documents, window)) {
    return {whole_step(documents, context, step)};
  }
  const int from = (rank - step + context) % context;
  const int last = 2 * context - 1;
  std::vector<RingBlock> blocks;
  for (const int query_chunk : std::array{rank, last - rank}) {
    for (const int key_chunk : std::array{from, last - from}) {
      RingBlock sum;
      for (const auto& [length, count] : documents) {
        const RingBlock block =
            chunk_block(length / (2.0 * context), query_chunk, key_chunk, window);
        if (block.pairs > 0) {
          add(sum, block, count);
        }
      }
      if (sum.pairs > 0) {
        blocks.push_back(sum);
      }
    }
  }
  // Where the window masks nothing of a step, it runs as without a window. Source: rounding.
  constexpr double kAlike = 1e-6;
  const RingBlock whole = whole_step(documents, context, step);
  if (pairs_of(blocks) >= whole.pairs * (1 - kAlike)) {
    return {whole};
  }
  // Of the same queries the diagonal comes first.
  std::stable_partition(blocks.begin(), blocks.end(), [](const RingBlock& b) { return b.first; });
  return blocks;
}

std::vector<RingStep> ring_steps(const TrainingSpec& training,
                                 int context,
                                 AttentionWindow window) {
  int busiest = 0;
  std::set<int> needed;
  if (shows(packed(training), window)) {
    const std::vector<double> pairs = pairs_of_ranks(training, context, window, needed);
    // Sums that differ by rounding are equal.
    const double most = *std::max_element(pairs.begin(), pairs.end()) * (1 - 1e-9);
    busiest = static_cast<int>(
        std::find_if(pairs.begin(), pairs.end(), [&](double p) { return p >= most; }) -
        pairs.begin());
  } else {
    for (int step = 0; step < context; ++step) {
      needed.insert(step);
    }
  }
  std::vector<RingStep> steps;
  std::transform(needed.begin(), needed.end(), std::back_inserter(steps), [&](int step) {
    return RingStep{step, ring_blocks(training, context, window, busiest, step)};
  });
  return steps;
}

double ring_imbalance(const TrainingSpec& training, int context, AttentionWindow window) {
  if (!shows(packed(training), window)) {
    return 1;
  }
  std::set<int> needed;
  const std::vector<double> pairs = pairs_of_ranks(training, context, window, needed);
  double sum = 0;
  for (const double rank : pairs) {
    sum += rank;
  }
  return *std::max_element(pairs.begin(), pairs.end()) * context / sum;
}

}  // namespace headway::workload
