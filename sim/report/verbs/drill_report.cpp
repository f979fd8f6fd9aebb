#include "sim/report/verbs/drill_report.h"

#include <fmt/format.h>

#include "sim/report/sections.h"
#include "sim/study/words.h"

namespace headway::report {

using core::Seconds;
using drill::DrillResult;
using drill::Moment;
using study::elapsed;

namespace {

Seconds seconds(core::Tick tick) { return core::Clock::campaign().to_seconds(tick); }

/// Which layers have shown something: `*` now, `#` before, `.` not yet.
class Lanes {
 public:
  std::string operator()(const drill::TimelineEntry& entry) {
    std::string lanes;
    for (auto& lane : state_) {
      lane = lane == '*' ? '#' : lane;
    }
    if (entry.layer) {
      state_[static_cast<std::size_t>(*entry.layer)] = '*';
    }
    for (const char lane : state_) {
      lanes += lane;
      lanes += ' ';
    }
    lanes.pop_back();
    return lanes;
  }

 private:
  std::string state_ = std::string(enum_words(drill::StackLayer{}).size(), '.');
};

}  // namespace

std::string time_since_fault(const std::optional<core::Tick>& tick) {
  return tick ? "+" + elapsed(seconds(*tick)) : "-";
}

std::string who_words(const drill::TimelineEntry& entry) {
  if (entry.moment == Moment::alarm && entry.monitor) {
    return fmt::format("ALARM by {}", core::to_word(*entry.monitor));
  }
  if (entry.moment == Moment::symptom && entry.layer) {
    return std::string(core::to_word(*entry.layer));
  }
  return std::string(core::to_word(entry.moment));
}

namespace {

Table timeline_table(const DrillResult& result) {
  Table table{
      "Timeline (H hardware, N network, S storage, C collective, J job log, L loss: * now, # "
      "before)",
      {{"after the fault"}, {"H N S C J L", false}, {"who", false}, {"what", false}},
      {}};
  Lanes lanes;
  for (const auto& entry : result.trace.timeline) {
    table.rows.push_back({time_since_fault(entry.at), lanes(entry), who_words(entry), entry.text});
  }
  return table;
}

Table layers_table(const DrillResult& result) {
  Table table{"First symptom in each layer",
              {{"layer", false}, {"symptom", false}, {"there"}, {"seen"}},
              {}};
  for (const study::FirstSymptom& first : study::first_symptoms(result.trace)) {
    const std::string layer(core::to_word(first.layer));
    if (first.symptom) {
      table.rows.push_back({layer, std::string(drill::facts_of(*first.symptom).text),
                            time_since_fault(first.at),
                            first.visible_at ? time_since_fault(first.visible_at) : "by nobody"});
    } else {
      table.rows.push_back({layer, "none", "-", "-"});
    }
  }
  return table;
}

Table blame_table(const DrillResult& result) {
  Table table{"Whom an engineer blames (posterior over the failure rates, given what is visible)",
              {{"after the fault"},
               {"alarm", false},
               {"blamed", false},
               {"right", false},
               {"next suspects", false}},
              {}};
  constexpr std::size_t kNext = 3;
  for (const auto& response : result.trace.responses) {
    if (response.suspects.empty()) {
      continue;
    }
    std::vector<std::string> next;
    for (std::size_t i = 1; i < response.suspects.size() && i <= kNext; ++i) {
      next.push_back(fmt::format("{} {} %", drill::facts_of(response.suspects[i].kind).part,
                                 percent(response.suspects[i].probability)));
    }
    table.rows.push_back({time_since_fault(response.at),
                          response.alarm ? std::string(core::to_word(*response.alarm)) : "-",
                          fmt::format("{} {} %", drill::facts_of(response.blamed).part,
                                      percent(response.suspects.front().probability)),
                          response.right ? "yes" : "no", fmt::format("{}", fmt::join(next, "; "))});
  }
  return table;
}

Table ledger_table(const DrillResult& result) {
  Table table{
      "Where the time of the drill goes", {{"account", false}, {"time"}, {"share [%]"}}, {}, true};
  for (const auto& entry : enum_words(campaign::Account{})) {
    const Seconds time = seconds(result.trace[entry.value]);
    if (time.si() != 0) {
      table.rows.push_back({std::string(study::in_words(entry.value)), elapsed(time),
                            percent(time / result.setup.horizon)});
    }
  }
  table.rows.push_back({"total", elapsed(result.setup.horizon), "100.0"});
  return table;
}

Table remedies_table(const DrillResult& result) {
  Table table{"The same drill with one change of design",
              {{"change", false}, {"lost"}, {"saved"}, {"how", false}},
              {}};
  for (const auto& remedy : result.remedies) {
    table.rows.push_back({remedy.name, elapsed(remedy.lost), elapsed(remedy.saved), remedy.how});
  }
  return table;
}

std::string place(const DrillResult& result) {
  const auto& fault = result.fault;
  if (!drill::facts_of(fault.kind).has_place) {
    return "";
  }
  const auto first = [&](const char* unit, std::int64_t number, int nodes) {
    return fmt::format(" at {} {}, {} node{} from node {} on", unit, number, nodes,
                       nodes == 1 ? "" : "s", fault.node);
  };
  if (fault.leaf) {
    return first("leaf", *fault.leaf, result.setup.nodes_per_leaf);
  }
  if (fault.rack) {
    return first("rack", *fault.rack, fault.nodes.value_or(result.setup.nodes_per_rack));
  }
  if (result.fault.site) {
    return first("site", *result.fault.site,
                 static_cast<int>(result.setup.nodes / result.setup.sites));
  }
  return result.fault.gpu == 0
             ? fmt::format(" at node {}", result.fault.node)
             : fmt::format(" at node {}, GPU {}", result.fault.node, result.fault.gpu);
}

}  // namespace

std::string fault_words(const DrillResult& result) {
  return fmt::format("{} ({}){}", core::to_word(result.fault.kind),
                     drill::facts_of(result.fault.kind).part, place(result));
}

std::string slow_step_words(const DrillResult& result) {
  if (result.slowdown > 1) {
    return fmt::format("While it lasts a step takes {:.4g} s instead of {:.4g} s.",
                       result.setup.step.si() * result.slowdown, result.setup.step.si());
  }
  return result.fault.kind == drill::FaultKind::link_half_rate
             ? "A step takes no longer: no flow crosses this card, or those that do wait for a "
               "fuller link (hashed cables that collide, oversubscription)."
             : "";
}

namespace {

std::string root_cause(const DrillResult& result) {
  const std::string slow = slow_step_words(result);
  return fmt::format("Root cause: {}.{}", fault_words(result), slow.empty() ? "" : " " + slow);
}

}  // namespace

std::string drill_csv(const study::DrillReport& report) {
  Table table{"",
              {{"at_s"},
               {"moment", false},
               {"layer", false},
               {"symptom", false},
               {"monitor", false},
               {"text", false}},
              {}};
  const auto word = [](const auto& value) {
    return value ? std::string(core::to_word(*value)) : "";
  };
  for (const auto& entry : report.result.trace.timeline) {
    table.rows.push_back({fmt::format("{}", seconds(entry.at).si()),
                          std::string(core::to_word(entry.moment)), word(entry.layer),
                          word(entry.symptom), word(entry.monitor), entry.text});
  }
  return to_csv(table);
}

const std::vector<std::string>& drill_sections() {
  static const std::vector<std::string> words{"timeline", "layers",      "blame",   "ledger",
                                              "remedies", "assumptions", "warnings"};
  return words;
}

Document drill_document(const study::DrillReport& report, const std::vector<std::string>& show) {
  const DrillResult& result = report.result;
  SectionedDocument document{"Fire drill: " + report.scenario.name, {root_cause(result)}};
  document.tables = {{"timeline", timeline_table(result)}, {"layers", layers_table(result)}};
  if (!result.trace.responses.empty()) {
    document.tables.emplace_back("blame", blame_table(result));
  }
  document.tables.emplace_back("ledger", ledger_table(result));
  if (!result.remedies.empty()) {
    document.tables.emplace_back("remedies", remedies_table(result));
  }
  for (const auto& assumption : result.assumptions) {
    document.closing.emplace_back(
        "assumptions",
        fmt::format("Assumed: {} = {} ({}).", assumption.key, assumption.value, assumption.why));
  }
  for (const auto& warning : result.warnings) {
    document.closing.emplace_back("warnings", "Warning: " + warning + ".");
  }
  for (const auto& reason : report.reasons) {
    document.closing.emplace_back(
        "", fmt::format("Warning: {}: {}.", core::to_word(report.status), reason));
  }
  document.closing.emplace_back("", report.verdict());
  return shown(std::move(document), show);
}

}  // namespace headway::report
