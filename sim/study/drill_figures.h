// The field lists of a drill's result.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/core/result_fields.h"
#include "sim/study/drill.h"

namespace headway::study {

/// Since the fault.
inline core::Seconds since_fault(core::Tick tick) {
  return core::Clock::campaign().to_seconds(tick);
}
inline std::optional<core::Seconds> since_fault(const std::optional<core::Tick>& tick) {
  return tick ? std::optional(since_fault(*tick)) : std::nullopt;
}

/// `Of` as the figures that wrap it.
template <class Figures, class Of>
std::vector<Figures> figures_of_each(const std::vector<Of>& values) {
  std::vector<Figures> out;
  for (const Of& value : values) {
    out.push_back(Figures{value});
  }
  return out;
}

struct FaultFigures {
  const drill::Fault& of;

  template <class V>
  void fields(V& v) const {
    v.part("kind", of.kind, "what breaks");
    v.part("part", drill::facts_of(of.kind).part, "what an engineer would call it");
    v.figure("node", of.node, "", "where; of many, the first", core::non_negative);
    v.figure("gpu", of.gpu, "", "of the node", core::non_negative);
    v.figure("leaf", of.leaf, "", "the leaf switch, where one was named", core::non_negative);
    v.figure("rack", of.rack, "", "the rack, where one was named", core::non_negative);
    v.figure("site", of.site, "", "the site whose way it is, of faults between sites",
             core::non_negative);
    v.figure("rate_bytes_per_s", of.rate, "B/s", "what the drive still writes", core::non_negative);
    v.figure("factor", of.factor, "1", "share of its speed that the part keeps",
             core::non_negative);
    v.figure("lasts_s", of.lasts, "s", "heals itself after; null: stays until cured",
             core::non_negative);
    v.figure("repair_s", of.repair, "s", "to mend it", core::non_negative);
    v.figure("after_s", of.after, "s", "until the loss shows it", core::non_negative);
    v.figure("down_s", of.down, "s", "one outage", core::non_negative);
    v.figure("every_s", of.every, "s", "from one outage to the next", core::non_negative);
    v.figure("nodes", of.nodes, "", "nodes in the rack", core::non_negative);
    v.figure("behind", of.behind, "", "saves that the loaded one is old", core::non_negative);
  }
};

struct DrilledStep {
  core::Seconds healthy;
  double slowdown = 1;

  template <class V>
  void fields(V& v) const {
    v.figure("healthy_s", healthy, "s", "step without the fault", core::positive);
    v.figure("slowdown", slowdown, "1",
             "step with the fault / healthy step; 1 where steps are as fast, or none ends",
             core::positive);
  }
};

struct TimelineFigures {
  drill::TimelineEntry of;

  template <class V>
  void fields(V& v) const {
    v.figure("at_s", since_fault(of.at), "s", "since the fault");
    v.part("moment", of.moment, "what the line is about");
    v.part("layer", of.layer, "of a symptom");
    v.part("symptom", of.symptom, "that is there, or was seen");
    v.part("monitor", of.monitor, "who saw it or raised the alarm");
    v.part("text", of.text, "in words");
  }
};

struct FirstSymptomFigures {
  FirstSymptom of;

  template <class V>
  void fields(V& v) const {
    v.part("layer", of.layer, "of the stack");
    v.part("symptom", of.symptom, "its first; null: the layer shows nothing");
    v.figure("at_s", since_fault(of.at), "s",
             "when the first symptom of a layer was there, seen or not");
    v.figure("visible_at_s", since_fault(of.visible_at), "s",
             "when somebody could see it; null: nobody did");
  }
};

struct MonitorFigures {
  drill::Monitor monitor = drill::Monitor::people;
  drill::MonitorSetting setting;
  std::optional<core::Tick> alarm;

  template <class V>
  void fields(V& v) const {
    v.part("monitor", monitor, "who looks");
    v.part("on", setting.on, "it does");
    v.figure("time_s", setting.time, "s",
             "timeout, or period of looking; those that poll see after half of it",
             core::non_negative);
    v.part("source", setting.why, "of the default time");
    v.figure("alarm_at_s", since_fault(alarm), "s", "its first alarm; null: none");
  }
};

struct SuspectFigures {
  drill::Suspect of;

  template <class V>
  void fields(V& v) const {
    v.part("kind", of.kind, "a possible cause");
    v.part("part", drill::facts_of(of.kind).part, "what an engineer would call it");
    v.figure("probability", core::if_finite(of.probability), "1",
             "posterior of the cause given the symptoms that were visible when the response began",
             core::probability);
  }
};

struct ResponseFigures {
  drill::Response of;

  template <class V>
  void fields(V& v) const {
    const auto unless_everyday = [this](auto value) {
      return of.suspects.empty() ? std::nullopt : std::optional(value);
    };
    v.figure("at_s", since_fault(of.at), "s", "when it began");
    v.part("alarm", of.alarm, "who raised it");
    v.part("blamed", unless_everyday(of.blamed), "null: an everyday restart");
    v.part("right", unless_everyday(of.right), "acting on it ends the fault");
    v.part("suspects", figures_of_each<SuspectFigures>(of.suspects), "by falling probability");
  }
};

/// Wall time of the job by account.
struct DrilledAccounts {
  const drill::DrillTrace& of;

  template <class V>
  void fields(V& v) const {
    for (const auto& [account, word] : enum_words(campaign::Account{})) {
      if (account == campaign::Account::useful) {
        v.figure(word, since_fault(of[account]), "",
                 "below 0 where more is thrown away than is done");
      } else {
        v.figure(word, since_fault(of[account]), "", "", core::non_negative);
      }
    }
  }
};

struct LostFigures {
  const drill::DrillResult& of;

  template <class V>
  void fields(V& v) const {
    v.figure("time_s", of.lost, "s",
             "`useful` of the same job without the fault less `useful` with it, over the same "
             "horizon; of both the part of the next save's stall that the work since the last save "
             "owes is taken off, so that the phase of the rhythm does not count; never below 0",
             core::non_negative);
    v.figure("usd", of.cost, "USD", "the same x price of all GPUs and spares per second",
             core::non_negative);
    v.figure("at_risk_s", since_fault(of.trace.at_risk), "s",
             "work that is in no durable save when the drill ends and that a save asked for then "
             "would not make durable, or that holds bad numbers: booked as `lost`, not as `useful`",
             core::non_negative);
    v.figure("last_durable_at_s", since_fault(of.trace.last_durable), "s",
             "since when no save has become durable; null if saves do. At most 0: since before the "
             "fault");
    v.figure("horizon_s", of.setup.horizon, "s", "simulated from the fault on", core::positive);
    v.figure("accounts_s", DrilledAccounts{of.trace}, "s",
             "wall time of the job by account; adds up to the horizon. Work before the fault that "
             "is thrown away makes `lost` larger and `useful` smaller than the horizon's own");
  }
};

struct RemedyFigures {
  drill::Remedy of;

  template <class V>
  void fields(V& v) const {
    v.part("name", of.name, "the change of design");
    v.part("how", of.how, "what to change; a path of `--set`, or a monitor");
    v.figure("lost_s", of.lost, "s", "`lost.time_s` of the drill that the option `how` gives");
    v.figure("saved_s", of.saved, "s", "`lost.time_s` less that; below 0: it makes things worse");
  }
};

struct FaultRate {
  drill::FaultKind kind = drill::FaultKind::gpu_dead;
  double per_day = 0;
  std::string_view source;

  template <class V>
  void fields(V& v) const {
    v.part("kind", kind, "of fault");
    v.figure("per_day", per_day, "1/d", "how often this job meets it", core::non_negative);
    v.part("source", source, "where that is from");
  }
};

std::vector<MonitorFigures> monitors_of(const drill::DrillResult& result);
std::vector<FaultRate> rates_of(const drill::DrillSetup& setup);

template <class V>
void DrillReport::fields(V& v) const {
  v.part("version", version, "of the program");
  v.part("scenario", scenario);
  v.part("status", status, "also the exit code: 0, 3");
  v.part("reasons", reasons, "why the status is not ok");
  v.on_request("verdict", std::optional(verdict()),
               "what it comes to: what the fault costs, and what would have helped most");
  v.part("fault", FaultFigures{result.fault}, "What breaks; null: not of this kind of fault.");
  v.figure("since_save_s", result.setup.since_save, "s",
           "work done since the last save when the fault strikes", core::non_negative);
  v.part("step", DrilledStep{result.setup.step, result.slowdown}, "The step while it lasts.");
  v.part("timeline", figures_of_each<TimelineFigures>(result.trace.timeline), "what happened when");
  v.part("first_symptoms", figures_of_each<FirstSymptomFigures>(first_symptoms(result.trace)),
         "one a layer of the stack");
  v.part("monitors", monitors_of(result), "the eyes on the job");
  v.part("responses", figures_of_each<ResponseFigures>(result.trace.responses),
         "what was done at each alarm");
  v.figure("cured_at_s", since_fault(result.trace.cured), "s", "the fault is gone for good");
  v.figure("running_again_at_s", since_fault(result.trace.running_again), "s",
           "steps at healthy speed, the fault gone");
  v.part("lost", LostFigures{result},
         "What it cost. Model: [`docs/models/drill.md`](models/drill.md).");
  v.part("remedies", figures_of_each<RemedyFigures>(result.remedies),
         "the same drill with one change of design, the most helpful first");
  v.part("rates", rates_of(result.setup), "how often which fault is to be expected");
  v.part("event_digest", core::Hexadecimal{result.trace.event_digest}, "hash of all events");
  v.part("assumptions", result.assumptions, "what the drill rests on");
  v.part("warnings", result.warnings, "what else to know");
  v.part("resolved", resolved, "the scenario as it was read, all defaults written out, in YAML");
}

}  // namespace headway::study
