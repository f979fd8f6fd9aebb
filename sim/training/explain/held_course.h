// What the fullest GPU of a stage holds over a step, by kind, in few moments.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/core/result_fields.h"
#include "sim/training/step/step_result.h"

namespace headway::training {

/// A chart has no more points.
inline constexpr std::size_t kMostMoments = 60;

/// Bytes by what they hold, one entry a moment; each holds until the next one, the last to the end.
struct HeldCourse {
  std::vector<std::int64_t> from;  ///< [us], from the start of the step
  std::vector<std::int64_t> weights, gradients, optimizer, activations, logits, buffers,
      slack;  ///< [B]
  bool fullest = false;

  template <class V>
  void fields(V& v) const {
    v.figure("from_us", from, "us", "moments from which on it is so, from the start of the step",
             core::non_negative);
    v.figure("weights_bytes", weights, "B", "parameters in the precision of training",
             core::non_negative);
    v.figure("gradients_bytes", gradients, "B", "gradients, accumulated", core::non_negative);
    v.figure("optimizer_bytes", optimizer, "B", "state of the optimizer, master weights included",
             core::non_negative);
    v.figure("activations_bytes", activations, "B",
             "what the backward pass needs of the forward passes", core::non_negative);
    v.figure("logits_bytes", logits, "B", "output of the last layer and its gradient",
             core::non_negative);
    v.figure("buffers_bytes", buffers, "B", "communication buffers, gathered weights, workspaces",
             core::non_negative);
    v.figure("slack_bytes", slack, "B", "fragmentation of the allocator", core::non_negative);
    v.part("fullest", fullest,
           "the step has more than 60 moments: each entry is the fullest of one of 60 equal "
           "windows");
  }
};

/// A change of what a GPU holds.
struct HeldChange {
  std::int64_t from = 0;  ///< [us]
  MemoryByKind held;
};

/// All changes, or where there are more than kMostMoments of each of so many equal windows the
/// fullest moment, so that the peak of the step is among them.
/// @param changes  in order of time, the first at the start of the step
/// @param end      of the step [us]
HeldCourse held_course(const std::vector<HeldChange>& changes, std::int64_t end);

}  // namespace headway::training
