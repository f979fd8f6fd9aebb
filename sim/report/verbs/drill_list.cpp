// What `headway drill --list` prints: the kinds of faults with their keys, and the monitors.
#include <algorithm>
#include <fmt/format.h>
#include <map>

#include "sim/config/reflect.h"
#include "sim/report/fault_argument.h"
#include "sim/report/table.h"
#include "sim/report/verbs/drill_report.h"
#include "sim/study/words.h"

namespace headway::report {

namespace {

using core::Seconds;
using drill::Fault;
using drill::FaultKind;

/// The key as its field list describes it, with what the kind takes where nothing is given.
std::string words(std::string_view key, const Fault& usual) {
  const auto time = [](const std::optional<Seconds>& value, const char* absent) {
    return value ? study::elapsed(*value) : std::string(absent);
  };
  const std::map<std::string_view, std::string> absent{
      {"rate", "half of what a node can"},
      {"factor", fmt::format("{}", usual.factor.value_or(1))},
      {"lasts", "never"},
      {"repair", time(usual.repair, "run.recovery.repair")},
      {"after", time(usual.after, "at once")},
      {"down", time(usual.down, "")},
      {"every", time(usual.every, "")},
      {"nodes", "an NVLink domain, two at least"},
      {"behind", fmt::format("{}", usual.behind.value_or(0))}};
  const auto& fields = config::spec_type<Fault>().fields;
  const auto field = std::find_if(fields.begin(), fields.end(),
                                  [key](const auto& candidate) { return candidate.name == key; });
  return fmt::format("{} [{}]", field->description, absent.at(key));
}

std::string where(FaultKind kind) {
  if (!drill::facts_of(kind).has_place) {
    return "-";
  }
  if (kind == FaultKind::leaf_down) {
    return "leafN nodeN gpuN";
  }
  return kind == FaultKind::rack_power_loss ? "rackN nodeN"
         : drill::is_of_ways(kind)          ? "siteN nodeN"
                                            : "nodeN gpuN nodeN/gpuM";
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
         monitor == drill::Monitor::replay ? "800 steps" : study::elapsed(setup[monitor].time),
         sees.empty() ? "deaths and silence" : sees});
  }
  return table;
}

}  // namespace

std::string drill_list(const Page& page) {
  Document document;
  document.title = "What a drill can inject, and who may watch";
  document.tables = {kinds_table(), monitors_table()};
  return to_text(document, page);
}

}  // namespace headway::report
