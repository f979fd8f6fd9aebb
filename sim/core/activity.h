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
  compute,          ///< a compute kernel runs
  tensor,           ///< exposed tensor-parallel communication
  pipeline_bubble,  ///< waiting for a neighbour stage
  pipeline_p2p,     ///< exposed transfer between stages
  data,             ///< exposed data-parallel communication
  context,          ///< exposed context-parallel communication
  expert,           ///< exposed expert-parallel communication
  optimizer,        ///< the optimizer's update
  input,            ///< waiting for the data loader
  checkpoint,       ///< stalled by a checkpoint
  other,            ///< fixed work of a step that none of the above names
};

constexpr auto enum_words(Activity) {
  using E = EnumWord<Activity>;
  return std::array{E{Activity::compute, "compute"},
                    E{Activity::tensor, "tensor"},
                    E{Activity::pipeline_bubble, "pipeline_bubble"},
                    E{Activity::pipeline_p2p, "pipeline_p2p"},
                    E{Activity::data, "data"},
                    E{Activity::context, "context"},
                    E{Activity::expert, "expert"},
                    E{Activity::optimizer, "optimizer"},
                    E{Activity::input, "input"},
                    E{Activity::checkpoint, "checkpoint"},
                    E{Activity::other, "other"}};
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
