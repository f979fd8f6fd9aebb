#include "sim/study/evidence/feature.h"

#include <fmt/format.h>

#include "sim/core/text.h"

namespace headway::study {

std::string_view in_words(Feature feature) {
  switch (feature) {
    case Feature::step_time:
      return "median step";
    case Feature::spread:
      return "scatter of steps / median";
    case Feature::pauses:
      return "share of time in pauses";
    case Feature::regularity:
      return "pauses at equal distances, share";
    case Feature::forward:
      return "forward passes, fastest rank";
    case Feature::backward:
      return "backward passes, fastest rank";
    case Feature::rank_ratio:
      return "slowest / fastest rank";
    case Feature::stage_waits:
      return "transfers and waits between stages";
    case Feature::data:
      return "data-parallel communication";
    case Feature::optimizer:
      return "optimizer";
    case Feature::input:
      return "waiting for input";
    case Feature::memory:
      return "memory allocated at the peak";
    case Feature::reserved_memory:
      return "memory reserved at the peak";
    case Feature::bus_bandwidth:
      return "bus bandwidth";
    case Feature::clock_ratio:
      return "lowest / median clock of the GPUs";
    case Feature::power:
      return "power of a GPU";
    case Feature::products:
      return "matrix products, time / predicted";
    case Feature::save:
      return "training stands still for a save";
    case Feature::load:
      return "load of a checkpoint";
  }
  return "";
}

std::string_view unit_of(Feature feature) {
  switch (feature) {
    case Feature::step_time:
    case Feature::forward:
    case Feature::backward:
    case Feature::stage_waits:
    case Feature::data:
    case Feature::optimizer:
    case Feature::input:
    case Feature::save:
    case Feature::load:
      return "s";
    case Feature::memory:
    case Feature::reserved_memory:
      return "B";
    case Feature::bus_bandwidth:
      return "B/s";
    case Feature::power:
      return "W";
    default:
      return "1";
  }
}

std::string shown(Feature feature, double figure) {
  const std::string_view unit = unit_of(feature);
  if (unit == "1") {
    return core::percent(figure) + " %";
  }
  const bool bytes = unit.front() == 'B';
  return fmt::format("{} {}{}", core::number(bytes ? figure / 1e9 : figure), bytes ? "G" : "",
                     unit);
}

bool is_ratio(Feature feature) {
  switch (feature) {
    case Feature::pauses:
    case Feature::regularity:
    case Feature::stage_waits:
    case Feature::data:
    case Feature::optimizer:
    case Feature::input:
      return false;
    default:
      return true;
  }
}

}  // namespace headway::study
