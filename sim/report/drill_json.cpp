// headway.drill/1.
#include <fmt/format.h>

#include "sim/report/drill_report.h"
#include "sim/report/json_parts.h"

namespace headway::report {

using namespace core::literals;

namespace {

using core::Seconds;
using drill::DrillResult;

double si_seconds(core::Tick tick) { return core::Clock::campaign().to_seconds(tick).si(); }

Json at(const std::optional<core::Tick>& tick) {
  return tick ? Json(si_seconds(*tick)) : Json(nullptr);
}

template <class Enum>
Json word_or_null(const std::optional<Enum>& value) {
  return value ? Json(core::to_word(*value)) : Json(nullptr);
}

template <class Value>
Json si_or_null(const std::optional<Value>& value) {
  return value ? number_or_null(value->si()) : Json(nullptr);
}

Json fault_json(const drill::Fault& fault) {
  return {{"kind", core::to_word(fault.kind)},
          {"part", drill::facts_of(fault.kind).part},
          {"node", fault.node},
          {"gpu", fault.gpu},
          {"leaf", fault.leaf ? Json(*fault.leaf) : Json(nullptr)},
          {"rack", fault.rack ? Json(*fault.rack) : Json(nullptr)},
          {"rate_bytes_per_s", si_or_null(fault.rate)},
          {"factor", fault.factor ? Json(*fault.factor) : Json(nullptr)},
          {"lasts_s", si_or_null(fault.lasts)},
          {"repair_s", si_or_null(fault.repair)},
          {"after_s", si_or_null(fault.after)},
          {"down_s", si_or_null(fault.down)},
          {"every_s", si_or_null(fault.every)},
          {"nodes", fault.nodes ? Json(*fault.nodes) : Json(nullptr)},
          {"behind", fault.behind ? Json(*fault.behind) : Json(nullptr)}};
}

Json timeline_json(const DrillResult& result) {
  Json out = Json::array();
  for (const auto& entry : result.trace.timeline) {
    out.push_back({{"at_s", si_seconds(entry.at)},
                   {"moment", core::to_word(entry.moment)},
                   {"layer", word_or_null(entry.layer)},
                   {"symptom", word_or_null(entry.symptom)},
                   {"monitor", word_or_null(entry.monitor)},
                   {"text", entry.text}});
  }
  return out;
}

Json layers_json(const DrillResult& result) {
  Json out = Json::array();
  for (const auto& [layer, word] : enum_words(drill::StackLayer{})) {
    std::optional<drill::Symptom> first;
    for (const auto& [symptom, name] : enum_words(drill::Symptom{})) {
      const auto& when = result.trace.happened[static_cast<std::size_t>(symptom)];
      if (drill::facts_of(symptom).layer == layer && when &&
          (!first || *when < *result.trace.happened[static_cast<std::size_t>(*first)])) {
        first = symptom;
      }
    }
    const auto index = static_cast<std::size_t>(first.value_or(drill::Symptom::no_step));
    out.push_back({{"layer", word},
                   {"symptom", word_or_null(first)},
                   {"at_s", first ? at(result.trace.happened[index]) : Json(nullptr)},
                   {"visible_at_s", first ? at(result.trace.visible[index]) : Json(nullptr)}});
  }
  return out;
}

Json monitors_json(const DrillResult& result) {
  Json out = Json::array();
  for (const auto& [monitor, word] : enum_words(drill::Monitor{})) {
    Json alarm = nullptr;
    for (const auto& entry : result.trace.timeline) {
      if (entry.moment == drill::Moment::alarm && entry.monitor == monitor) {
        alarm = si_seconds(entry.at);
        break;
      }
    }
    const auto& setting = result.setup[monitor];
    out.push_back({{"monitor", word},
                   {"on", setting.on},
                   {"time_s", setting.time.si()},
                   {"source", setting.why},
                   {"alarm_at_s", alarm}});
  }
  return out;
}

Json responses_json(const DrillResult& result) {
  Json out = Json::array();
  for (const auto& response : result.trace.responses) {
    Json suspects = Json::array();
    for (const auto& suspect : response.suspects) {
      suspects.push_back({{"kind", core::to_word(suspect.kind)},
                          {"part", drill::facts_of(suspect.kind).part},
                          {"probability", number_or_null(suspect.probability)}});
    }
    const bool everyday = response.suspects.empty();
    out.push_back({{"at_s", si_seconds(response.at)},
                   {"alarm", word_or_null(response.alarm)},
                   {"blamed", everyday ? Json(nullptr) : Json(core::to_word(response.blamed))},
                   {"right", everyday ? Json(nullptr) : Json(response.right)},
                   {"suspects", suspects}});
  }
  return out;
}

Json lost_json(const DrillResult& result) {
  Json accounts = Json::object();
  for (const auto& [account, word] : enum_words(campaign::Account{})) {
    accounts[std::string(word)] = si_seconds(result.trace[account]);
  }
  return {{"time_s", result.lost.si()},
          {"usd", si_or_null(result.cost)},
          {"at_risk_s", si_seconds(result.trace.at_risk)},
          {"last_durable_at_s", at(result.trace.last_durable)},
          {"horizon_s", result.setup.horizon.si()},
          {"accounts_s", accounts}};
}

Json remedies_json(const DrillResult& result) {
  Json out = Json::array();
  for (const auto& remedy : result.remedies) {
    out.push_back({{"name", remedy.name},
                   {"how", remedy.how},
                   {"lost_s", remedy.lost.si()},
                   {"saved_s", remedy.saved.si()}});
  }
  return out;
}

Json rates_json(const DrillResult& result) {
  Json out = Json::array();
  for (const auto& [kind, word] : enum_words(drill::FaultKind{})) {
    const auto k = static_cast<std::size_t>(kind);
    out.push_back({{"kind", word},
                   {"per_day", result.setup.rate[k] * (1_days).si()},
                   {"source", result.setup.rate_source[k]}});
  }
  return out;
}

}  // namespace

std::string drill_json(const DrillReport& report) {
  const DrillResult& result = report.result;
  return dump({{"schema", "headway.drill/1"},
               {"version", report.version},
               {"scenario", {{"name", report.scenario_name}, {"digest", report.digest}}},
               {"status", core::to_word(report.status)},
               {"reasons", report.reasons},
               {"fault", fault_json(result.fault)},
               {"since_save_s", result.setup.since_save.si()},
               {"step", {{"healthy_s", result.setup.step.si()}, {"slowdown", result.slowdown}}},
               {"timeline", timeline_json(result)},
               {"first_symptoms", layers_json(result)},
               {"monitors", monitors_json(result)},
               {"responses", responses_json(result)},
               {"cured_at_s", at(result.trace.cured)},
               {"running_again_at_s", at(result.trace.running_again)},
               {"lost", lost_json(result)},
               {"remedies", remedies_json(result)},
               {"rates", rates_json(result)},
               {"event_digest", fmt::format("{:016x}", result.trace.event_digest)},
               {"assumptions", assumptions_json(result.assumptions)},
               {"warnings", result.warnings}});
}

}  // namespace headway::report
