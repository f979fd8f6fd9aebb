// What `headway drill --list` prints: the kinds of faults with their keys, and the monitors.
#include <fmt/format.h>

#include "sim/report/drill_fault_text.h"
#include "sim/report/drill_report.h"
#include "sim/report/table.h"

namespace headway::report {

namespace {

using core::Seconds;
using drill::Fault;
using drill::FaultKind;

std::string words(std::string_view key, const Fault& usual) {
  const auto time = [](const std::optional<Seconds>& value, const char* absent) {
    return value ? elapsed(*value) : std::string(absent);
  };
  if (key == "rate") {
    return "bytes/s the drive still writes [half of what a node can]";
  }
  if (key == "factor") {
    return fmt::format("share of its speed that is left [{}]", usual.factor.value_or(1));
  }
  if (key == "lasts") {
    return "time until it heals itself [never]";
  }
  if (key == "repair") {
    return fmt::format("time to mend it [{}]", time(usual.repair, "run.recovery.repair"));
  }
  if (key == "after") {
    return fmt::format("time until the loss shows it [{}]", time(usual.after, "at once"));
  }
  if (key == "down") {
    return fmt::format("time of one outage [{}]", time(usual.down, ""));
  }
  if (key == "every") {
    return fmt::format("time from one outage to the next [{}]", time(usual.every, ""));
  }
  if (key == "nodes") {
    return "nodes in the rack [an NVLink domain, two at least]";
  }
  return fmt::format("saves that the loaded one is old [{}]", usual.behind.value_or(0));
}

std::string where(FaultKind kind) {
  if (!drill::facts_of(kind).has_place) {
    return "-";
  }
  if (kind == FaultKind::leaf_down) {
    return "leafN nodeN gpuN";
  }
  return kind == FaultKind::rack_power_loss ? "rackN nodeN" : "nodeN gpuN nodeN/gpuM";
}

Table kinds_table() {
  Table table{"Kinds; each also takes since_save, the work since the last save [half an interval]",
              {{"KIND", false},
               {"part", false},
               {"@WHERE", false},
               {"key", false},
               {"meaning [default]", false}},
              {}};
  for (const auto& [kind, word] : enum_words(FaultKind{})) {
    const auto facts = drill::facts_of(kind);
    Fault plain;
    plain.kind = kind;
    const Fault usual = drill::with_defaults(plain, {});
    std::vector<std::string> row{std::string(word), std::string(facts.part), where(kind), "-", ""};
    std::string_view keys = facts.parameters;
    do {
      const std::string_view key = keys.substr(0, keys.find(' '));
      keys.remove_prefix(std::min(keys.size(), key.size() + 1));
      if (!key.empty()) {
        row[3] = key;
        row[4] = words(key, usual);
      }
      table.rows.push_back(row);
      row = {"", "", "", "", ""};
    } while (!keys.empty());
  }
  return table;
}

Table monitors_table() {
  Table table{
      "Monitors (--monitor NAME=TIME|on|off); those that look periodically see after half of "
      "their time",
      {{"NAME", false}, {"usually", false}, {"time"}, {"sees", false}},
      {}};
  drill::DrillSetup setup;
  drill::set_monitors({}, setup);
  for (const auto& [monitor, word] : enum_words(drill::Monitor{})) {
    std::string sees;
    for (const auto& [symptom, name] : enum_words(drill::Symptom{})) {
      if (drill::facts_of(symptom).seen_by == monitor) {
        sees += (sees.empty() ? "" : " ") + std::string(name);
      }
    }
    if (monitor == drill::Monitor::people) {
      sees = "what stands in the log, and the curves";
    }
    table.rows.push_back(
        {std::string(word), setup[monitor].on ? "on" : "off",
         monitor == drill::Monitor::replay ? "800 steps" : elapsed(setup[monitor].time),
         sees.empty() ? "deaths and silence" : sees});
  }
  return table;
}

}  // namespace

std::string drill_list() {
  Document document;
  document.title = "What a drill can inject, and who may watch";
  document.tables = {kinds_table(), monitors_table()};
  return to_text(document);
}

}  // namespace headway::report
