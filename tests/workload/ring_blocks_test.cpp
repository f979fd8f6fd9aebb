// Pairs of queries and keys in the steps of a context ring, against counting positions one by one.
#include "sim/workload/attention/ring_blocks.h"

#include <algorithm>
#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <numeric>

#include "tests/workload/models.h"

namespace headway::workload {
namespace {

using namespace tests;

/// Whether position `x` sees position `y`; a half on the edge of what it sees, as areas count.
double sees(int x, int y, AttentionWindow window) {
  const int back = x - y;
  const int w = window.tokens;
  if (back < 0 || (w > 0 && window.chunked && x / w != y / w)) {
    return 0;
  }
  const bool sliding = w > 0 && !window.chunked;
  if (back == 0 || (sliding && back == w)) {
    return 0.5;
  }
  return sliding && back > w ? 0 : 1;
}

double pairs_of(const std::vector<RingBlock>& blocks) {
  return std::accumulate(blocks.begin(), blocks.end(), 0.0,
                         [](double sum, const RingBlock& block) { return sum + block.pairs; });
}

const AttentionWindow kWindows[] = {
    {},   {1},       {3},       {5},       {6},       {7},       {12},       {17},
    {48}, {2, true}, {3, true}, {5, true}, {6, true}, {9, true}, {12, true}, {32, true}};

TEST(ChunkBlock, HasThePairsOfItsPositions) {
  for (const AttentionWindow window : kWindows) {
    for (const int u : {1, 5, 6}) {
      for (int query = 0; query < 8; ++query) {
        for (int key = 0; key < 8; ++key) {
          double pairs = 0;
          for (int x = query * u; x < (query + 1) * u; ++x) {
            for (int y = key * u; y < (key + 1) * u; ++y) {
              pairs += sees(x, y, window);
            }
          }
          const RingBlock block = chunk_block(u, query, key, window);
          EXPECT_NEAR(block.pairs, pairs, 1e-9)
              << u << " tokens, chunks " << query << " " << key << " window " << window.tokens;
          EXPECT_LE(block.pairs, block.queries * block.keys * (block.causal ? 0.5 : 1) + 1e-9);
        }
      }
    }
  }
}

TEST(ChunkBlock, HasTheShapeOfWhatIsLeft) {
  // Chunks of 8 tokens. Window 4: the diagonal band, then a triangle of the first 4 queries.
  EXPECT_EQ(chunk_block(8, 3, 3, 4), (RingBlock{8, 8, 8 * 4 - 8, true, true}));
  EXPECT_EQ(chunk_block(8, 3, 2, 4), (RingBlock{4, 4, 8, true, false}));
  EXPECT_EQ(chunk_block(8, 3, 1, 4), RingBlock{});
  // Window 12: all of the next chunk but a corner of 4 tokens, then a triangle of 4.
  EXPECT_EQ(chunk_block(8, 3, 2, 12), (RingBlock{8, 8, 64 - 8, false, false}));
  EXPECT_EQ(chunk_block(8, 3, 1, 12), (RingBlock{4, 4, 8, true, false}));
  // Pieces of 12: the second begins in the middle of chunk 1 and ends with chunk 2.
  const AttentionWindow pieces{12, true};
  EXPECT_EQ(chunk_block(8, 2, 1, pieces), (RingBlock{8, 4, 32, false, false}));
  EXPECT_EQ(chunk_block(8, 1, 0, pieces), (RingBlock{4, 8, 32, false, false}));
  EXPECT_EQ(chunk_block(8, 3, 2, pieces), RingBlock{});
}

/// A sequence of 128 tokens: two documents each of 8, 16 and 40.
TrainingSpec packed_recipe() {
  TrainingSpec training = recipe(128, 8);
  training.documents = {{8, 1}, {16, 1}, {40, 1}};
  return training;
}

TEST(RingBlocks, OfDocumentsAreThePairsOfTheirPositions) {
  // Two ranks: chunk k of 4 of each document is on rank k or 3 - k.
  const TrainingSpec training = packed_recipe();
  for (const AttentionWindow window : kWindows) {
    double pairs[2][2] = {};
    for (const int length : {8, 8, 16, 16, 40, 40}) {
      const auto owner = [&](int at) { return std::min(at / (length / 4), 3 - at / (length / 4)); };
      for (int x = 0; x < length; ++x) {
        for (int y = 0; y <= x; ++y) {
          pairs[owner(x)][(owner(x) - owner(y) + 2) % 2] += sees(x, y, window);
        }
      }
    }
    for (const int rank : {0, 1}) {
      for (const int step : {0, 1}) {
        EXPECT_NEAR(pairs_of(ring_blocks(training, 2, window, rank, step)), pairs[rank][step], 1e-9)
            << "window " << window.tokens << " rank " << rank << " step " << step;
      }
    }
  }
}

TEST(RingBlocks, OfAllRanksAreTheAttentionOfTheSequence) {
  for (const bool documents : {false, true}) {
    TrainingSpec training = recipe(32768, 8);
    if (documents) {
      training.documents = {{700, 3}, {5000, 2}, {40000, 1}};
    }
    for (const AttentionWindow window : {AttentionWindow{}, AttentionWindow{512},
                                         AttentionWindow{5000}, AttentionWindow{8192, true}}) {
      for (const int c : {2, 3, 8}) {
        double sum = 0;
        for (int rank = 0; rank < c; ++rank) {
          for (int step = 0; step < c; ++step) {
            sum += pairs_of(ring_blocks(training, c, window, rank, step));
          }
        }
        EXPECT_NEAR(sum / (32768.0 * mean_causal_keys(training, window)), 1, 1e-9)
            << window.tokens << " " << c;
      }
    }
  }
}

std::vector<int> numbers(const std::vector<RingStep>& steps) {
  std::vector<int> out;
  for (const RingStep& step : steps) {
    out.push_back(step.step);
  }
  return out;
}

TEST(RingSteps, OfANarrowWindowAreTheNeighboursOnBothSides) {
  // u = 2048 tokens, w = 1024: an early chunk needs the one before it, which is one rank back, a
  // late chunk the one before it, which is one rank ahead. Both diagonals have u w - w^2/2 pairs,
  // both neighbours w^2/2: together 2 u w.
  const TrainingSpec training = recipe(32768, 8);
  const double u = 2048, w = 1024;
  const auto steps = ring_steps(training, 8, 1024);
  EXPECT_THAT(numbers(steps), testing::ElementsAre(0, 1, 7));
  const RingBlock band{u, u, u * w - w * w / 2, true, true};
  const RingBlock corner{w, w, w * w / 2, true, false};
  EXPECT_THAT(steps[0].blocks, testing::ElementsAre(band, band));
  EXPECT_THAT(steps[1].blocks, testing::ElementsAre(corner));
  EXPECT_THAT(steps[2].blocks, testing::ElementsAre(corner));
  // The first chunk of the sequence has no chunk before it: one corner is missing in the mean.
  EXPECT_NEAR(ring_imbalance(training, 8, 1024), 2 * u * w / (2 * u * w - w * w / 16), 1e-12);
}

TEST(RingSteps, OfPiecesOfTwoChunksSkipTheRanksBetween) {
  // u = 4096, pieces of two chunks. Odd ranks need the rank before (chunk 1 needs 0), even ranks
  // the rank after (chunk 6, on rank 1, is needed by chunk 7, on rank 0): steps 1 and 3, never 2.
  const TrainingSpec training = recipe(32768, 8);
  const AttentionWindow pieces{8192, true};
  const auto steps = ring_steps(training, 4, pieces);
  EXPECT_THAT(numbers(steps), testing::ElementsAre(0, 1, 3));
  EXPECT_EQ(ring_imbalance(training, 4, pieces), 1);  // every rank: two halves and one whole block
  EXPECT_TRUE(steps[1].blocks.empty());  // the first of the equals is rank 0, which is even
  const double u = 4096;
  EXPECT_THAT(steps[2].blocks, testing::ElementsAre(RingBlock{u, u, u * u, false, false}));
}

/// Work of each rank in each needed step, or of the busiest rank on all.
std::vector<std::vector<double>> work_of_ranks(const TrainingSpec& training,
                                               int context,
                                               AttentionWindow window,
                                               bool busiest) {
  const auto steps = ring_steps(training, context, window);
  std::vector<std::vector<double>> work;
  for (int rank = 0; rank < context; ++rank) {
    auto& own = work.emplace_back();
    for (const RingStep& step : steps) {
      own.push_back(pairs_of(busiest ? step.blocks
                                     : ring_blocks(training, context, window, rank, step.step)));
    }
  }
  return work;
}

/// Time of a layer in the middle of many: a rank begins a step when its own work is done and the
/// keys are here, which the rank before sent when it began the step before.
double pace(const std::vector<std::vector<double>>& work,
            const std::vector<RingStep>& steps,
            double transfer) {
  constexpr int kLayers = 200;
  const std::size_t ranks = work.size();
  std::vector<double> end(ranks);
  double middle = 0;
  for (int layer = 0; layer < kLayers; ++layer) {
    std::vector<double> start = end;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      for (std::size_t r = 0; r < ranks; ++r) {
        end[r] = start[r] + work[r][i];
      }
      if (i + 1 < steps.size()) {
        const auto distance = static_cast<std::size_t>(steps[i + 1].step - steps[i].step);
        std::vector<double> next(ranks);
        for (std::size_t r = 0; r < ranks; ++r) {
          next[r] = std::max(end[r], start[(r + ranks - distance) % ranks] + transfer);
        }
        start = next;
      }
    }
    middle = layer == kLayers / 2 ? *std::max_element(end.begin(), end.end()) : middle;
  }
  return (*std::max_element(end.begin(), end.end()) - middle) / (kLayers - 1 - kLayers / 2);
}

// Ranks differ from step to step, but pass keys on before they work: while transfers hide, the ring
// runs at the pace of the rank with the most pairs, where adding up the busiest of every step would
// be up to 1.9 times too long. Beside long transfers it is an approximation.
TEST(RingSteps, OfTheBusiestRankSetThePaceOfTheRing) {
  const TrainingSpec training = recipe(32768, 8);
  double worst = 0, sum = 0, longest = 0;
  int compared = 0;
  for (const AttentionWindow window :
       {AttentionWindow{256}, AttentionWindow{2048}, AttentionWindow{6000}, AttentionWindow{12000},
        AttentionWindow{20000}, AttentionWindow{3000, true}, AttentionWindow{8192, true},
        AttentionWindow{12000, true}}) {
    for (const int c : {4, 8, 16}) {
      const auto steps = ring_steps(training, c, window);
      const auto ranks = work_of_ranks(training, c, window, false);
      const auto busiest = work_of_ranks(training, c, window, true);
      const double most = pace(busiest, steps, 0);
      EXPECT_NEAR(pace(ranks, steps, 0) / most, 1, 1e-9) << window.tokens << " " << c;
      double by_step = 0;
      for (std::size_t i = 0; i < steps.size(); ++i) {
        double here = 0;
        for (const auto& own : ranks) {
          here = std::max(here, own[i]);
        }
        by_step += here;
      }
      longest = std::max(longest, by_step / most);
      for (const double transfer : {0.02, 0.1, 0.3, 1.0}) {
        const double error =
            pace(busiest, steps, transfer * most) / pace(ranks, steps, transfer * most) - 1;
        worst = std::max(worst, std::abs(error));
        sum += std::abs(error);
        ++compared;
      }
    }
  }
  EXPECT_GT(longest, 1.8);
  EXPECT_LT(worst, 0.16);
  EXPECT_LT(sum / compared, 0.025);
}

TEST(RingSteps, WithoutAWindowThatShowsAreAllOfTheRing) {
  const TrainingSpec training = recipe(32768, 8);
  for (const AttentionWindow window :
       {AttentionWindow{}, AttentionWindow{32768}, AttentionWindow{40000, true}}) {
    const auto steps = ring_steps(training, 4, window);
    EXPECT_THAT(numbers(steps), testing::ElementsAre(0, 1, 2, 3));
    const double part = 8192;
    EXPECT_THAT(steps[0].blocks,
                testing::ElementsAre(RingBlock{part, part, part * part / 2, true, true}));
    EXPECT_THAT(steps[3].blocks,
                testing::ElementsAre(RingBlock{part, part / 2, part * part / 2, false, false}));
    EXPECT_EQ(ring_imbalance(training, 4, window), 1);
  }
}

// Steps that a wide window leaves whole are one kernel, as without it, so that less work is not
// slower.
TEST(RingSteps, ThatAWindowMasksNothingOfAreWhole) {
  const TrainingSpec training = recipe(32768, 8);
  const auto whole = ring_steps(training, 4, {});
  const auto wide = ring_steps(training, 4, AttentionWindow{32767});
  ASSERT_EQ(wide.size(), whole.size());
  for (std::size_t step = 0; step < whole.size(); ++step) {
    EXPECT_EQ(wide[step].blocks, whole[step].blocks) << step;
  }
  // Half of the sequence: the own chunks still miss nothing, some others do.
  const auto half = ring_steps(training, 4, AttentionWindow{16384});
  EXPECT_LT(pairs_of(half[1].blocks) + pairs_of(half[2].blocks) + pairs_of(half[3].blocks),
            pairs_of(whole[1].blocks) * 3);
}

}  // namespace
}  // namespace headway::workload
