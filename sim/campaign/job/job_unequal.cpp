// A replica that lost a part goes on with what is left of it: its stages lack ranks, or its tensor
// groups do.
#include <algorithm>

#include "sim/campaign/job/job_process.h"
#include "sim/core/engine/event.h"

namespace headway::campaign {

using core::Tick;
using failures::Draw;

/// What is missing already cannot break.
bool JobProcess::hits_a_gap() const {
  if (!gaps_.used()) {
    return false;
  }
  const auto slots = broken_slots(strike_, slot_);
  if (slots.empty()) {
    return hazard_of(strike_).swapped && gaps_.holds(slot_);
  }
  return std::all_of(slots.begin(), slots.end(),
                     [this](std::uint64_t slot) { return gaps_.holds(slot); });
}

/// The part that broke is one GPU, whose node goes on without it until it is mended.
bool JobProcess::loses_gpu() const { return gaps_.narrows() && hazard_of(strike_).swapped; }

std::uint64_t JobProcess::group_of_gpu() const {
  return sampler_.index(strike_, Draw::tensor_group, 0, gaps_.groups_of_node());
}

bool JobProcess::can_go_on_unequally() const {
  if (loses_gpu()) {
    return gaps_.bearable_without_gpu(slot_, group_of_gpu());
  }
  return hazard_of(strike_).nodes_lost > 0 &&
         gaps_.bearable_without(eviction_of(strike_, slot_, replayed_).slots);
}

/// All stand until what is left of the replica runs again; where it narrows, its ranks first take
/// over from another replica what the lost ones held.
void JobProcess::go_on_unequally(core::Context& context) {
  const Tick now = context.now();
  Eviction order = eviction_of(strike_, slot_, replayed_);
  std::erase_if(order.slots, [this](std::uint64_t slot) { return gaps_.holds(slot); });
  core::Seconds moved;
  if (loses_gpu()) {
    const std::uint64_t part = gaps_.open(slot_, group_of_gpu());
    moved = gaps_.moved(part);
    const Tick well = shop_.take(now, repair_time(order, 0));
    context.schedule(well - now + preparation(), message(Notice::mended, 0, part));
  } else {
    take_out(context, order);
    for (const std::uint64_t slot : order.slots) {
      const std::uint64_t part = gaps_.open(slot);
      moved = std::max(moved, gaps_.moved(part));
      awaiting_.push_back({{slot}, 0, part});
    }
  }
  restart_ = {};
  restart_.load = kClock.to_ticks(moved);
  if (log_ != nullptr) {
    log_->current().blamed = now;
  }
  log_stage(Stage::communicators, now);
  enter(context, Account::restart, ticks_.elastic_stall, Notice::reformed);
  join_when_ready(context);
}

}  // namespace headway::campaign
