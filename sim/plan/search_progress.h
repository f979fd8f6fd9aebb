// How far a search is, phase by phase.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <mutex>
#include <string_view>
#include <utility>

#include "sim/core/progress/joint_progress.h"

namespace headway::plan {

/// What a search does, one after another. Each has a time left of its own: shapes do not tell what
/// the simulations of the layouts that are kept will take, and their number falls as they go on.
enum class Phase { search, simulate, campaigns, classes };

inline constexpr std::array<std::string_view, 4> kPhases = {
    "searching layouts (1 of 4)", "simulating the best (2 of 4)", "runs of the plans (3 of 4)",
    "why others lost (4 of 4)"};

/// Told in parts that take as long; called from several threads.
using PhaseTold = std::function<void(const char* what, std::size_t done, std::size_t total)>;

/// Whether what is told so is a share of the work in small parts (`JointProgress::kParts`), not a
/// number of anything.
bool is_told_as_share(std::string_view what);

/// For one search among `searches`, of which each has a piece of `joint`: alone it tells its
/// phases, beside others what of them all is done, each phase as a quarter of its search.
/// @param told  may be empty
PhaseTold told_by_one(const PhaseTold& told, core::JointProgress& joint, std::size_t searches);
/// That one has ended, after whichever phase.
void tell_end(const PhaseTold& told_by_one, std::size_t searches);
/// What `joint` of that is told by.
core::Count told_by_all(const PhaseTold& told);

/// Told by several threads; tells on one at a time.
class SearchProgress {
 public:
  /// @param told  may be empty
  explicit SearchProgress(PhaseTold told) : told_(std::move(told)) {}

  /// So many shapes are still to be opened as far as is known: a limit that falls passes others, so
  /// that of F at first and L left (F - L) / F are done.
  void open_shapes(std::size_t left);
  /// Of simulations, so many operations are done and so many are left.
  void simulate(double done, double left);
  /// So many of the parts of a phase are done.
  void count(Phase phase, std::size_t done, std::size_t total);
  /// Tells again what was told last: who is told may end the search by an exception, and must not
  /// wait for a shape or a simulation to end.
  void look();

 private:
  void tell(Phase phase, double done, double total);

  PhaseTold told_;
  std::mutex mutex_;
  std::size_t shapes_ = 0;  ///< to be opened at first
  Phase phase_ = Phase::search;
  std::size_t done_ = 0, total_ = 0;  ///< told last
};

}  // namespace headway::plan
