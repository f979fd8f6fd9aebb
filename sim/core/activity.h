// The causes a second of a training step can have: the keys of `breakdown_s`.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "sim/core/fields.h"
#include "sim/core/units.h"

namespace headway::core {

/// Every instant of every rank's step has exactly one of these causes.
enum class Activity : std::uint8_t {
  compute,          ///< a compute kernel runs, as long as it takes on the GPU alone
  tensor,           ///< exposed tensor-parallel communication
  pipeline_bubble,  ///< waiting for another stage, as the schedule has it where all are equal
  pipeline_p2p,     ///< exposed transfer between stages
  data,             ///< exposed data-parallel communication
  context,          ///< exposed context-parallel communication
  expert,           ///< exposed expert-parallel communication
  optimizer,        ///< the optimizer's update
  input,            ///< waiting for the data loader
  checkpoint,       ///< stalled by a checkpoint
  other,            ///< fixed work of a step that none of the above names
  launch,           ///< kernels wait for the CPU to launch them
  stage_imbalance,  ///< waiting for another stage because that one has more to do
};

/// In the order of reports; new causes are last in the enumeration, so that digests stay.
constexpr auto enum_words(Activity) {
  using E = EnumWord<Activity>;
  return std::array{E{Activity::compute, "compute"},
                    E{Activity::launch, "launch"},
                    E{Activity::tensor, "tensor"},
                    E{Activity::pipeline_bubble, "pipeline_bubble"},
                    E{Activity::stage_imbalance, "stage_imbalance"},
                    E{Activity::pipeline_p2p, "pipeline_p2p"},
                    E{Activity::data, "data"},
                    E{Activity::context, "context"},
                    E{Activity::expert, "expert"},
                    E{Activity::optimizer, "optimizer"},
                    E{Activity::input, "input"},
                    E{Activity::checkpoint, "checkpoint"},
                    E{Activity::other, "other"}};
}

/// Waiting for another stage: on no chain of causes, since somebody else is busy.
constexpr bool waits_for_stage(Activity activity) {
  return activity == Activity::pipeline_bubble || activity == Activity::stage_imbalance;
}

inline constexpr std::size_t kActivities = enum_words(Activity{}).size();

/// One value an activity, indexed by the enumerator.
template <class T>
struct ByActivity {
  std::array<T, kActivities> values{};
  T& operator[](Activity a) { return values[static_cast<std::size_t>(a)]; }
  const T& operator[](Activity a) const { return values[static_cast<std::size_t>(a)]; }
  bool operator==(const ByActivity&) const = default;
};

}  // namespace headway::core
