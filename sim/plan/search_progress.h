// How far a search is, as the share of its time that is over.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>

namespace headway::plan {

/// A search opens shapes, as long as their bound is below a limit that falls, and then simulates
/// the layouts that it keeps. What is left of a kind of work takes as long as what is done of it
/// says:
///     shapes       t L / (F - L), of F that were to be opened at first and L that still are
///     simulations  t W / D, of work W that is left and D that is done
/// and, before the first simulation is done, W times the time of an operation, which is a share of
/// the time in which a layout was timed. Told by several threads.
class SearchProgress {
 public:
  using Told = std::function<void(double share)>;  ///< one at a time
  using Clock = std::function<double()>;           ///< [s]

  /// Operations of a simulation that take as long as the analytic tier takes for a layout. Source:
  /// measured, 90 in a search of Llama 3.1 405B on 16,384 GPUs, 330 in one of GPT-3 175B on 1,024;
  /// both are work of this program, and it counts until the first simulation is done.
  static constexpr double kOperationsOfLayout = 150;

  /// @param told  may be empty
  explicit SearchProgress(Told told, Clock clock = steady_seconds);

  /// So many shapes are still to be opened as far as is known.
  void open_shapes(std::size_t left);
  /// The analytic tier has timed so many layouts; what is kept now would take so many operations.
  void expect(std::int64_t timed, double operations);
  /// Tells again what was told last: who is told may end the search by an exception, and must not
  /// wait for a shape or a simulation to end.
  void look();
  /// Of simulations, so many operations are done and so many are left.
  void simulate(double done, double left);

  static double steady_seconds();

 private:
  void tell(double elapsed, double left);

  Told told_;
  Clock clock_;
  double start_;
  std::mutex mutex_;
  std::size_t shapes_ = 0;  ///< to be opened at first
  double timed_ = 0, operations_ = 0;
  double share_ = 0;  ///< told last
  double simulations_start_ = -1;
};

}  // namespace headway::plan
