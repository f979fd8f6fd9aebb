// What to change about a run, the best first.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "sim/study/run_report.h"

namespace headway::study {

/// A remedy brings at least this share of the wall clock; what brings less is not worth a line.
inline constexpr double kLeastGain = 0.002;

/// What a run does in its time.
struct WorkDone {
  double steps = 0, tokens = 0;
};

/// What a gain of the wall clock brings where the wall clock ends the run: in the time that was
/// needed for 1 - gain of it now all of it is done.
/// @param now  without the gain
/// @param gain  share of the time, below 1
WorkDone more_work(const WorkDone& now, double gain);

/// "1,200 steps more (5.03 B tokens)"
std::string in_words(const WorkDone& more);

/// What would shorten the run, in this order:
/// - what was computed, the largest gain first: the checkpoint interval at which ETTR is best,
///   failures noticed sooner, enough spares, layers on other stages;
/// - then the losses of the run and of the step, the largest first, each with what makes it
///   smaller. The most that could be gained is what the run spends on it; of the step what a loss
///   has of the longest path, or of the mean rank if that is more, while all else takes as long as
///   now; of unequal stages about what equal ones would gain.
/// A plan that does not fit has none: `headway plan` is the remedy.
/// @param report  with all but remedies filled in
std::vector<Remedy> remedies(const RunReport& report, std::size_t most = 6);

}  // namespace headway::study
