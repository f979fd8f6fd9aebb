// What a step waits for the data-parallel rank whose sequences happen to have the most work.
//
// Ranks draw their sequences at random; of packed documents attention varies, of images the
// encoder. docs/vision.md.
#pragma once

#include <cstdint>

#include "sim/core/units.h"
#include "sim/training/check.h"

namespace headway::training {

/// Which data ranks meet how often.
struct RankMeetings {
  std::int64_t ranks = 1;  ///< data-parallel ranks that end a step together
  std::int64_t group = 1;  ///< of them, those that meet in every micro-batch
};

/// Weights that are gathered for every pass, and tokens that are sent to experts, make ranks meet
/// in every micro-batch; the rest meet at the step's end.
RankMeetings rank_meetings(const Scenario& scenario,
                           const workload::ParallelismSpec& layout,
                           int data_parallel);

/// How many deviations of a micro-batch ranks wait for the slowest: so many in every micro-batch,
/// and so many times the square root of their number at the end.
struct WaitFactors {
  double each = 0, root = 0;
};
/// With D ranks of which g meet in every micro-batch, e(n) and w(n) mean and deviation of the
/// largest of n standard normal values: e(g) and w(g) e(D / g); none of one rank. Source: order
/// statistics.
WaitFactors wait_factors(const RankMeetings& meetings);

/// How the time of a micro-batch varies on a stage.
struct StageSpread {
  double deviation = 0;  ///< standard deviation [s]
  double spare = 0;      ///< time that the stage waits for a slower one in every micro-batch [s]
};

/// The mean of the slowest rank's step less that of all ranks, with m micro-batches of standard
/// deviation d; what a stage has to spare is used up first:
///     max(0, d (m each + sqrt(m) root) - m spare)
/// Sums of many sequences are taken as normal.
core::Seconds expected_wait(const WaitFactors& factors, int micro_batches, StageSpread spread);

/// Of the stages with the language model, and of an encoder's own; nothing varies on the second
/// where the encoder is on the first stage.
struct MicroBatchSpread {
  StageSpread language, encoder;
};

/// Of attention on the stage with the most of it, and of the encoder, there or on its own stage.
/// Kernels as long as on the GPU alone; what a stage has to spare is that of kernels.
MicroBatchSpread micro_batch_spread(const Scenario& scenario,
                                    const workload::ParallelismSpec& layout);

/// The stage that makes ranks wait longest.
StageSpread longest_wait(const WaitFactors& factors,
                         int micro_batches,
                         const MicroBatchSpread& spread);

/// Whether ranks differ: sequences vary and are not dealt so that ranks have equal work.
bool ranks_differ(const Scenario& scenario);

/// What a step waits, in the mean: all of the above; nothing where nothing varies, or where
/// sequences are dealt so that it does not (`training.balanced_ranks`).
core::Seconds rank_imbalance(const Scenario& scenario,
                             const workload::ParallelismSpec& layout,
                             int data_parallel,
                             int micro_batches);

}  // namespace headway::training
