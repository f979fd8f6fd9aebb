// The figures of logs that tell causes apart, their words and units.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "sim/core/fields.h"

namespace headway::study {

/// A figure that tells causes apart.
enum class Feature : std::uint8_t {
  step_time,
  spread,
  pauses,
  regularity,
  forward,
  backward,
  rank_ratio,
  stage_waits,
  data,
  optimizer,
  input,
  memory,
  reserved_memory,
  bus_bandwidth,
  clock_ratio,
  power,
  products,
  save,
  load
};
constexpr auto enum_words(Feature) {
  using E = core::EnumWord<Feature>;
  return std::array{E{Feature::step_time, "step_time"},
                    E{Feature::spread, "spread"},
                    E{Feature::pauses, "pauses"},
                    E{Feature::regularity, "regularity"},
                    E{Feature::forward, "forward"},
                    E{Feature::backward, "backward"},
                    E{Feature::rank_ratio, "rank_ratio"},
                    E{Feature::stage_waits, "stage_waits"},
                    E{Feature::data, "data"},
                    E{Feature::optimizer, "optimizer"},
                    E{Feature::input, "input"},
                    E{Feature::memory, "memory"},
                    E{Feature::reserved_memory, "reserved_memory"},
                    E{Feature::bus_bandwidth, "bus_bandwidth"},
                    E{Feature::clock_ratio, "clock_ratio"},
                    E{Feature::power, "power"},
                    E{Feature::products, "products"},
                    E{Feature::save, "save"},
                    E{Feature::load, "load"}};
}

/// What a feature is: "median step".
std::string_view in_words(Feature feature);
/// Unit of its figures: "s", "B", "B/s", "W"; "1" of ratios and shares.
std::string_view unit_of(Feature feature);
/// A figure as people read it: "1.71 s", "51 GB", "4.2 %".
std::string shown(Feature feature, double figure);

/// Whether ratios of it are compared (times, rates); else differences (shares of the step).
bool is_ratio(Feature feature);

}  // namespace headway::study
