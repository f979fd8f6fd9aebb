#include "sim/validation/compared/flow_model.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "sim/core/text.h"
#include "sim/network/packet/packet_fabric.h"
#include "sim/validation/compared/compared_runs.h"

namespace headway::validation {

namespace {

using core::CollectiveKind;

/// Effects below this share of the step are not worth a word.
constexpr double kLeast = 1e-3;
/// From here on fluid flows are said to be off.
constexpr double kOff = 1.1;

/// Which traffic of the table a collective is like: rings pass messages on, as the ring of the
/// table; messages between two ranks are a permutation.
std::string_view traffic_of(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::all_to_all:
      return "all_to_all";
    case CollectiveKind::send_receive:
      return "permutation";
    default:
      return "all_reduce";
  }
}

std::string transport_of(const training::Scenario& scenario) {
  return std::string(core::to_word(*network::packet_spec(scenario.cluster.fabric).transport));
}

/// Rows of the scenario's fabric under its transport.
std::vector<FlowModelRow> rows_of(const training::Scenario& scenario,
                                  const std::vector<FlowModelRow>& rows) {
  const std::string transport = transport_of(scenario);
  std::vector<FlowModelRow> of;
  std::copy_if(rows.begin(), rows.end(), std::back_inserter(of), [&](const FlowModelRow& row) {
    return row.fabric == scenario.cluster.fabric.name && row.transport == transport;
  });
  return of;
}

/// Packets / fluid at this size: a straight line between the logarithms of the sizes beside it, and
/// level beyond the ends. 1 without rows. All groups of a step make a call at once, so the rows are
/// those of most groups.
double times_at(const std::vector<FlowModelRow>& rows,
                std::string_view traffic,
                core::Bytes message) {
  std::vector<FlowModelRow> of;
  std::copy_if(rows.begin(), rows.end(), std::back_inserter(of),
               [&](const FlowModelRow& row) { return row.traffic == traffic; });
  if (of.empty()) {
    return 1;
  }
  double most = 0;
  for (const FlowModelRow& row : of) {
    most = std::max(most, row.groups);
  }
  std::erase_if(of, [&](const FlowModelRow& row) { return row.groups < most; });
  std::sort(of.begin(), of.end(),
            [](const auto& a, const auto& b) { return a.message < b.message; });
  const auto above =
      std::find_if(of.begin(), of.end(), [&](const auto& row) { return row.message >= message; });
  if (above == of.begin() || above == of.end()) {
    return above == of.end() ? of.back().times : of.front().times;
  }
  const auto below = above - 1;
  const double way = std::log(message / below->message) / std::log(above->message / below->message);
  return below->times * std::pow(above->times / below->times, way);
}

std::string size_of(core::Bytes message) {
  return fmt::format("{} kB", core::number(message.si() / 1e3));
}

/// "all_to_all in messages of 65.5 kB takes 1.25 times as long ...".
std::string described(const FlowModelEffect& effect) {
  return fmt::format(
      "{} in messages of {} takes {} times as long by packets, and {:.3g} % of the "
      "step waits for it",
      effect.traffic, size_of(effect.message), core::number(effect.times), 100 * effect.share);
}

/// What else packets do on this fabric that no fluid flow does.
std::string worst_beside(const std::vector<FlowModelRow>& rows) {
  const auto worst = std::max_element(
      rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.times < b.times; });
  if (worst == rows.end() || worst->times < kOff ||
      (worst->traffic != "incast" && worst->traffic != "bystander")) {
    return "";
  }
  return fmt::format("; {} there takes up to {} times as long",
                     worst->traffic == "incast" ? "an incast of 16 to one"
                                                : "what is sent past an incast of 16 to one",
                     core::number(worst->times));
}

}  // namespace

std::vector<FlowModelRow> load_flow_model(const std::vector<std::filesystem::path>& roots) {
  /// A collective's row has the size of a sixteenth of its array, over so many GPUs.
  constexpr double kArray = 16;
  std::vector<FlowModelRow> rows;
  const auto table = first_table(roots, "flow_model.csv");
  for (std::size_t i = 0; table && i < table->rows(); ++i) {
    FlowModelRow row;
    const std::string machine = table->text(i, "fabric");  // "EFA, 64 x DGX H100"
    row.fabric = machine.substr(0, machine.rfind(", "));
    row.transport = table->text(i, "transport");
    row.traffic = table->text(i, "traffic");
    const bool collective = row.traffic == "all_reduce" || row.traffic == "all_to_all";
    const double parts = collective ? table->number(i, "gpus").value_or(1) / kArray : 1;
    row.message = core::Bytes(table->number(i, "message_bytes").value_or(0) / parts);
    row.times = table->number(i, "times").value_or(1);
    row.groups = core::whole_text_as<double>(table->text_or_none(i, "groups")).value_or(1);
    rows.push_back(std::move(row));
  }
  return rows;
}

double FlowModelEffect::factor() const { return std::pow(times, share); }

std::vector<FlowModelEffect> flow_model_effects(const training::Scenario& scenario,
                                                const training::StepResult& step,
                                                const std::vector<FlowModelRow>& rows) {
  std::vector<FlowModelEffect> effects;
  const auto of = rows_of(scenario, rows);
  if (of.empty() || step.packets) {
    return effects;
  }
  for (const auto& entry : core::enum_words(core::Activity{})) {
    FlowModelEffect longest, shortest;
    longest.activity = shortest.activity = entry.value;
    longest.share = shortest.share = step.breakdown[entry.value] / step.time;
    for (const training::NetworkCall& call : step.calls) {
      const std::string traffic(traffic_of(call.kind));
      const double times = call.activity == entry.value ? times_at(of, traffic, call.message) : 1;
      for (FlowModelEffect* effect : {&longest, &shortest}) {
        if (effect == &longest ? times > effect->times : times < effect->times) {
          effect->traffic = traffic;
          effect->message = call.message;
          effect->times = times;
        }
      }
    }
    for (const FlowModelEffect& effect : {longest, shortest}) {
      if (std::abs(std::log(effect.factor())) >= kLeast) {
        effects.push_back(effect);
      }
    }
  }
  return effects;
}

void widen_by_flow_model(const training::Scenario& scenario,
                         const std::vector<FlowModelRow>& rows,
                         training::StepResult& step) {
  const auto effects = flow_model_effects(scenario, step, rows);
  if (effects.empty()) {
    return;
  }
  double longer = 1, shorter = 1;
  std::string words;
  for (const FlowModelEffect& effect : effects) {
    (effect.factor() > 1 ? longer : shorter) *= effect.factor();
    words += (words.empty() ? "" : "; ") + described(effect);
    if (effect.times > kOff || effect.times < 1 / kOff) {
      step.warnings.push_back(fmt::format(
          "fluid flows are more than 10 % off on {} under {}: {}{}; --network packet times the "
          "step by packets",
          scenario.cluster.fabric.name, transport_of(scenario), described(effect),
          worst_beside(rows_of(scenario, rows))));
    }
  }
  step.interval_high = step.interval_high * longer;
  step.interval_low = step.interval_low * shorter;
  step.assumptions.push_back(
      {"network", "fluid flows",
       fmt::format("on {} under {} {}: the interval goes {:.2g} % further up and {:.2g} % down "
                   "(configs/validation/flow_model.csv)",
                   scenario.cluster.fabric.name, transport_of(scenario), words, 100 * (longer - 1),
                   100 * (1 - shorter))});
}

}  // namespace headway::validation
