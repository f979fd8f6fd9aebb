// Which recomputation a training software has, beside what a layout asks for.
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "sim/core/fields.h"
#include "sim/workload/usual_run.h"

namespace headway::workload {

/// Which layers of a chunk a software can have recompute.
enum class RecomputeLayers {
  each,   ///< as many of each chunk as one likes
  alike,  ///< fully, as many of every chunk; by parts all of them
  nth,    ///< one layer in n, or all
  all
};
constexpr auto enum_words(RecomputeLayers) {
  using L = RecomputeLayers;
  using E = core::EnumWord<L>;
  return std::array{E{L::each, "each"}, E{L::alike, "alike"}, E{L::nth, "nth"}, E{L::all, "all"}};
}

/// The recomputation that a software has: what `headway plan` tries, and what a run is warned of.
struct RecomputeAbilitySpec {
  std::vector<RecomputePart> parts;
  std::vector<RecomputePart> parts_with_experts;
  RecomputeLayers layers = RecomputeLayers::each;
  /// Whether it recomputes this part of a model with or without experts.
  [[nodiscard]] bool has(RecomputePart part, bool experts) const {
    const auto in = [part](const auto& list) {
      return std::find(list.begin(), list.end(), part) != list.end();
    };
    return (parts.empty() || in(parts)) && (experts || !in(parts_with_experts));
  }
  /// Whether so many layers of each period are what it can be told.
  [[nodiscard]] bool has_period(int period, int recomputed) const {
    return period == 1 || layers == RecomputeLayers::each || layers == RecomputeLayers::alike ||
           (layers == RecomputeLayers::nth && recomputed == 1);
  }
  /// Whether it can be told how many layers of a chunk recompute, whatever their number.
  [[nodiscard]] bool has_fewest() const {
    return layers == RecomputeLayers::each || layers == RecomputeLayers::alike;
  }
  template <class V>
  void fields(V& v) {
    v.optional("parts", parts,
               "Parts of a layer that it recomputes by themselves: of these 'headway plan' "
               "chooses, and a run of others is warned; empty: all.");
    v.optional("parts_with_experts", parts_with_experts,
               "Of these parts those that it has in models with experts alone.");
    v.optional("layers", layers,
               "Layers that recompute: each: as many of every chunk as asked for; alike: fully, as "
               "many of one chunk as of the others, by parts all of them; nth: one in n; all.");
  }
  bool operator==(const RecomputeAbilitySpec&) const = default;
};

}  // namespace headway::workload
