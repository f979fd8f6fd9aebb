// How long a pipeline takes, from the times of its passes and messages alone: the schedule as a
// recurrence, no events.
//
//     end(item) = max(end of the item before it on its stage, end of the pass it needs + message) +
//     duration
//
// Items are the passes of `pipeline_schedule`. Once a schedule repeats itself, each further group
// of p micro-batches takes as long as the last one, so long steps are evaluated for their beginning
// and continued.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "sim/workload/spec.h"

namespace headway::workload {

/// What a pass through a chunk can be; the first and the last one of a chunk may take longer
/// (parameters gathered, gradients reduced beside them). `meeting` takes no time: a forward and a
/// backward that are one pass (DualPipe) wait for what both need.
enum class Pass : std::uint8_t {
  forward,
  backward,
  weight_gradient,
  first_forward,
  last_backward,
  whole_backward,
  meeting
};
inline constexpr std::size_t kPasses = 7;

/// Duration of each pass of a chunk [s]. `backward` is whole, or the input half where the schedule
/// runs the halves apart; those that run some backwards whole (DualPipe) have `whole_backward`.
using PassTimes = std::array<double, kPasses>;

/// What one layout's passes and messages take.
struct PipelineTimes {
  std::vector<PassTimes> chunks;  ///< stage x chunks per stage + chunk
  std::vector<double> ready;      ///< per stage: when it can begin [s]
  std::vector<double>
      message;  ///< [s]: between stages s and s + 1, either way; last: between last and first stage
  bool operator==(const PipelineTimes&) const = default;
};

/// Micro-batches of a step that must be evaluated one by one, so that the rest can be continued
/// from them.
int evaluated_micro_batches(ScheduleKind schedule, int stages, int micro_batches);

/// The passes of a step in an order in which each comes after what it needs.
class PipelineOrder {
 public:
  /// @throws core::Error if the schedule does not exist for these numbers
  PipelineOrder(ScheduleKind schedule, int stages, int virtual_stages, int micro_batches);

  /// When each stage ends its last pass [s]. Exact for the micro-batches of the order; continued
  /// beyond (within 1 %, tests/workload/pipeline_time_test.cpp).
  /// @param more     micro-batches beyond the order's: a multiple of the stages
  /// @param scratch  kept between calls
  /// @param ends     out: one a stage
  void stage_ends(const PipelineTimes& times,
                  int more,
                  std::vector<double>& scratch,
                  std::vector<double>& ends) const;

  /// So many layouts that share an order are evaluated faster together: one instruction works on
  /// several of them.
  static constexpr std::size_t kTogether = 4;

  /// The same of several layouts, with the same bits as each alone.
  /// @param ends  out: all stages of the first, then those of the next
  void stage_ends(const std::array<const PipelineTimes*, kTogether>& times,
                  int more,
                  std::vector<double>& scratch,
                  std::vector<double>& ends) const;

  /// When a stage ends its first backward, whole or its input half [s].
  /// @param scratch   as `stage_ends` left it
  /// @param together  layouts that were evaluated
  /// @param place     which of them
  [[nodiscard]] double first_backward_end(const std::vector<double>& scratch,
                                          int stage,
                                          std::size_t together = 1,
                                          std::size_t place = 0) const {
    return scratch[first_backward_[static_cast<std::size_t>(stage)] * together + place];
  }

  /// Passes evaluated.
  [[nodiscard]] std::size_t items() const { return items_.size(); }

 private:
  /// Ends have places in one table: that of each stage's start, then those of the items in order.
  /// All are in bytes of the tables of one layout, so that the loops compute no addresses.
  struct Item {
    std::uint32_t previous = 0;  ///< end of the item before it on its stage
    std::uint32_t needs = 0;     ///< end of the pass that it waits for; its own `previous`: none
    std::uint32_t message = 0;   ///< of PipelineTimes::message, one further; 0: nothing is sent
    std::uint32_t pass = 0;      ///< (stage x chunks + chunk) x kPasses + pass
  };
  class Builder;

  /// Where the loop over the items reads and writes; each number once for every layout.
  struct Tables {
    const double* end;       ///< by Item::previous and needs
    const double* message;   ///< by Item::message
    const double* duration;  ///< by Item::pass
    double* out;             ///< the ends of the items, a part of `end`
  };
  void end_items(Tables tables) const;
  void end_items_of_four(Tables tables) const;
  void end_items_of_four_wide(Tables tables) const;
  void end_items_side_by_side(Tables tables) const;

  [[nodiscard]] double continued(const PipelineTimes& times, int more, double round) const;
  template <std::size_t K>
  void evaluate(const std::array<const PipelineTimes*, K>& times,
                int more,
                std::vector<double>& scratch,
                std::vector<double>& ends) const;

  int stages_, chunks_;
  bool alternates_ = true;  ///< one forward, one backward; else all forwards first
  /// Ends of the last chunk's last forward, and of that p micro-batches before; 0: there is none.
  std::uint32_t late_ = 0, early_ = 0;
  std::vector<Item> items_;
  std::vector<std::uint32_t> last_;            ///< per stage: end of its last item
  std::vector<std::uint32_t> first_backward_;  ///< and of its first backward
};

}  // namespace headway::workload
