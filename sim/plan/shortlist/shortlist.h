// The first tier of a search: the layouts that the analytic tier finds fastest, of a space that is
// never listed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "sim/core/units.h"
#include "sim/plan/rejections.h"
#include "sim/plan/shortlist/fit.h"
#include "sim/plan/shortlist/shape_search.h"
#include "sim/plan/space.h"
#include "sim/training/step/step.h"

namespace headway::plan {

/// Layouts of one family have the same degrees, so that the others are variants of its best: other
/// schedules, micro-batches, sharding, recompute ...
bool same_family(const ParallelismSpec& a, const ParallelismSpec& b);

struct ShortlistOptions {
  std::size_t most = 50;      ///< layouts in all
  std::size_t of_family = 5;  ///< and of one family
  /// Told how many shapes are still to be opened as far as is known; called from several threads;
  /// may be empty.
  std::function<void(std::size_t left)> left;
  /// Called often while a shape is looked at, from several threads; what it throws ends the search.
  /// May be empty.
  std::function<void()> look;
  double headroom = training::kMemoryHeadroom;  ///< share of a GPU's memory that stays free
};

struct Shortlist {
  std::vector<Estimate> layouts;      ///< fastest first
  Rejections rejected;                ///< every other layout of the space
  std::int64_t estimated = 0;         ///< layouts that the analytic tier timed whole
  std::map<Memory, Missed> missed;    ///< those that do not fit
  std::vector<core::Seconds> bounds;  ///< of each shape: none of its layouts is faster
};

/// The fastest layouts that keep the rules and fit, by the analytic tier. Shapes are opened by
/// their bound, the least time of any of their layouts (`AnalyticTier::least`), until it is above
/// the last of the list; inside, cuts and passes in the same way. The result does not depend on
/// threads.
Shortlist make_shortlist(const training::Scenario& scenario,
                         const Space& space,
                         const ShortlistOptions& options);

}  // namespace headway::plan
