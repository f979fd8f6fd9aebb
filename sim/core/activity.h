// The causes a second of a training step can have: the keys of `breakdown_s`.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "sim/core/result_fields.h"
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
  input,            ///< waiting for what is read to train on
  checkpoint,       ///< stalled by a checkpoint
  other,            ///< fixed work of a step that none of the above names
  launch,           ///< kernels wait for the CPU to launch them
  stage_imbalance,  ///< waiting for another stage because that one has more to do
  rank_imbalance,   ///< waiting for the data-parallel rank whose sequences have more work
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
                    E{Activity::rank_imbalance, "rank_imbalance"},
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

/// What an instant of this cause is, for the definitions of figures.
constexpr std::string_view meaning_of(Activity activity) {
  switch (activity) {
    case Activity::compute:
      return "kernels, as long as they take on the GPU, with the gaps between them";
    case Activity::launch:
      return "kernels and the GPU wait for the CPU's launches: what a block's launches add to the "
             "GPU's time for its kernels, at every kernel of the block alike";
    case Activity::tensor:
      return "tensor-parallel communication that nothing hides";
    case Activity::pipeline_bubble:
      return "waiting for other stages, less `stage_imbalance`: what the schedule costs where all "
             "stages are equal, (p - 1) / (m v) of the passes for 1F1B and interleaved";
    case Activity::stage_imbalance:
      return "waiting for other stages because stages are unequal: of the waits of stage s, up to "
             "max over i of W_i - W_s. W_i is the work of stage i, mean of its ranks: all but "
             "waits for other stages, transfers between them and data-parallel communication";
    case Activity::pipeline_p2p:
      return "transfers between stages that nothing hides";
    case Activity::data:
      return "data-parallel communication that nothing hides";
    case Activity::rank_imbalance:
      return "waiting for the data-parallel rank whose documents or images have the most work; in "
             "the mean over steps";
    case Activity::context:
      return "context-parallel communication that nothing hides";
    case Activity::expert:
      return "expert-parallel communication that nothing hides";
    case Activity::optimizer:
      return "kernels of the update";
    case Activity::input:
      return "waiting for the data loader; cached logits of a teacher on their way from the host";
    case Activity::checkpoint:
      return "stalled by a checkpoint";
    case Activity::other:
      return "fixed work of the software and, where activations are offloaded, waits for them on "
             "their way to or from the host";
  }
  return "";
}

/// One value an activity, indexed by the enumerator.
template <class T>
struct ByActivity {
  std::array<T, kActivities> values{};
  T& operator[](Activity a) { return values[static_cast<std::size_t>(a)]; }
  const T& operator[](Activity a) const { return values[static_cast<std::size_t>(a)]; }
  bool operator==(const ByActivity&) const = default;

  template <class V>
  void fields(V& v) const {
    for (const auto& [activity, word] : enum_words(Activity{})) {
      v.figure(word, (*this)[activity], "", meaning_of(activity), non_negative);
    }
  }
};

/// The same of a critical path, on which nobody waits for another stage: no waits for stages.
template <class T>
struct OnCriticalPath {
  const ByActivity<T>& times;

  template <class V>
  void fields(V& v) const {
    for (const auto& [activity, word] : enum_words(Activity{})) {
      if (!waits_for_stage(activity)) {
        v.figure(word, times[activity], "", "", non_negative);
      }
    }
  }
};

}  // namespace headway::core
