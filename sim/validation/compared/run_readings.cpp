// Readings of what a row leaves open: how far they lie apart is how little is known.
#include <algorithm>
#include <cmath>

#include "sim/core/error.h"
#include "sim/training/step/step.h"
#include "sim/validation/run_parts.h"

namespace headway::validation {

namespace {

using training::Scenario;
using workload::Recompute;

bool among(const Assumed& assumed, const char* column) {
  return std::find(assumed.begin(), assumed.end(), column) != assumed.end();
}

/// Collects readings that can be simulated and that fit the memory, or nearly: the model of memory
/// has an error too.
class Readings {
 public:
  explicit Readings(const Scenario& taken) : taken_(taken) {}

  /// The reading of this column that `change` makes of the one that is taken.
  template <class Change>
  void add(const char* column, const Change& change) {
    OtherReading reading{column, taken_};
    change(reading.scenario);
    constexpr double kNearly = 1.1;
    // Where an allocator that is short of memory makes steps slow, nobody stays with such a batch.
    const bool slow = column == std::string_view("micro_batch") &&
                      taken_.training.framework.allocation.retry > core::Seconds(0);
    const auto need = memory_need(reading.scenario);
    if (!need || reading.scenario == taken_) {
      return;
    }
    if (*need < (slow ? 1 : kNearly)) {
      found_.readings.push_back(std::move(reading));
    } else {
      assume(found_.settled, column);
    }
  }

  OtherReadings take() {
    for (const OtherReading& reading : found_.readings) {
      std::erase(found_.settled, reading.column);
    }
    return std::move(found_);
  }

 private:
  const Scenario& taken_;
  OtherReadings found_;
};

void add_power(const RunRow& row, Readings& readings) {
  for (const double share : {kLeastPower, 1.0}) {
    if (limited_power(row)) {
      readings.add("power", [&](Scenario& other) {
        core::Watts& power = other.cluster.node.gpu.power;
        power = share / kLimitedPower * power;
      });
    }
  }
}

void add_software(const RunRow& row, const Scenario& s, Readings& readings) {
  if (!row.tp_comm_overlap && !row.async_tp && s.parallelism.tensor > 1 &&
      s.training.framework.tensor_overlap) {
    readings.add("tp_comm_overlap",
                 [](Scenario& other) { other.training.framework.tensor_overlap = false; });
  }
  if (!row.moe_a2a_overlap && s.parallelism.expert > 1 && s.training.framework.expert_overlap) {
    readings.add("moe_a2a_overlap",
                 [](Scenario& other) { other.training.framework.expert_overlap = false; });
  }
  if (row.cuda_graph.empty() && s.model.moe && s.training.framework.cuda_graphs) {
    readings.add("cuda_graph",
                 [](Scenario& other) { other.training.framework.cuda_graphs = false; });
  }
}

void add_layout(const Scenario& s, const Assumed& assumed, Readings& readings) {
  if (among(assumed, "sequence_parallel")) {
    readings.add("sequence_parallel",
                 [](Scenario& other) { other.parallelism.sequence = !other.parallelism.sequence; });
  }
  if (among(assumed, "recompute")) {
    for (const Recompute kind : {Recompute::none, Recompute::selective, Recompute::full}) {
      readings.add("recompute", [&](Scenario& other) {
        other.parallelism.recompute = kind;
        other.parallelism.recompute_parts = kind == Recompute::selective
                                                ? other.training.framework.usual.selective_parts
                                                : std::vector<workload::RecomputePart>{};
      });
    }
  }
  if (among(assumed, "micro_batch")) {
    readings.add("micro_batch", [](Scenario& other) { other.parallelism.micro_batch *= 2; });
    if (s.parallelism.micro_batch % 2 == 0) {
      readings.add("micro_batch", [](Scenario& other) { other.parallelism.micro_batch /= 2; });
    }
  }
  if (among(assumed, "multi_token_prediction")) {
    readings.add("multi_token_prediction",
                 [](Scenario& other) { other.model.multi_token_prediction = 1; });
  }
  if (among(assumed, "vpp") && s.parallelism.virtual_stages > 1) {
    readings.add("vpp", [](Scenario& other) { other.parallelism.virtual_stages = 1; });
  }
}

std::optional<training::MemoryResult> memory_of(const Scenario& scenario) {
  try {
    return training::predict_memory(training::check(scenario));
  } catch (const core::Error&) {
    return std::nullopt;
  }
}

}  // namespace

OtherReadings other_readings(const RunRow& row, const Scenario& scenario, const Assumed& assumed) {
  Readings readings(scenario);
  add_power(row, readings);
  add_software(row, scenario, readings);
  add_layout(scenario, assumed, readings);
  return readings.take();
}

std::map<std::string, double> half_distances(const std::vector<OtherReading>& readings,
                                             core::Seconds taken,
                                             const TimeOf& time_of) {
  std::map<std::string, std::pair<double, double>> ends;
  const double middle = std::log(taken.si());
  for (const auto& [column, scenario] : readings) {
    double log_time = middle;
    try {
      log_time = std::log(time_of(scenario).si());
    } catch (const core::Error&) {
      continue;  // no run can be read so
    }
    auto& [least, most] = ends.try_emplace(column, middle, middle).first->second;
    least = std::min(least, log_time);
    most = std::max(most, log_time);
  }
  std::map<std::string, double> halves;
  for (const auto& [column, end] : ends) {
    halves.emplace(column, (end.second - end.first) / 2);
  }
  return halves;
}

std::optional<double> memory_need(const Scenario& scenario) {
  const auto memory = memory_of(scenario);
  return memory ? std::optional(memory->peak / memory->capacity) : std::nullopt;
}

std::optional<double> least_memory_need(const Scenario& scenario) {
  const auto memory = memory_of(scenario);
  const double slack = scenario.training.framework.allocation.slack;
  return memory ? std::optional((memory->peak - slack * memory->allocated) / memory->capacity)
                : std::nullopt;
}

}  // namespace headway::validation
