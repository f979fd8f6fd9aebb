#include "sim/report/points/kept_answers.h"

#include <fmt/format.h>
#include <functional>
#include <set>
#include <sstream>

#include "sim/core/error.h"
#include "sim/report/points/packed.h"

// Lists of members are found by argument-dependent lookup, in the rooms of their structs. A member
// that is left out here is noticed by tests/apps/work_folder_test.cpp, which compares whole
// results.

namespace headway::campaign {

template <class A>
void members(A& archive, TrialResult& t) {
  archive("w", t.wall);
  archive("a", t.accounts);
  archive("i", t.interruptions);
  archive("s", t.saves);
  archive("l", t.loads);
  archive("r", t.retired);
  archive("n", t.node_failures);
  archive("h", t.replicas_hit);
  archive("e", t.events);
  archive("d", t.event_digest);
}

template <class A>
void members(A& archive, SlowState& s) {
  archive("kind", s.kind);
  archive("keeps", s.keeps);
  archive("position", s.position);
  archive("replica", s.replica);
}

template <class A>
void members(A& archive, StepAnswer& s) {
  archive("parts", s.state.parts);
  archive("heat", s.state.heat);
  archive("slowness", s.slowness);
}

template <class A>
void members(A& archive, Distribution& d) {
  archive("p5", d.p5);
  archive("p50", d.p50);
  archive("p95", d.p95);
  archive("mean", d.mean);
  archive("standard_error", d.standard_error);
}

template <class A>
void members(A& archive, Ledger& l) {
  archive("gpu_seconds", l.gpu_seconds);
}

template <class A>
void members(A& archive, InterruptionCount& c) {
  archive("hazard", c.hazard);
  archive("mean", c.mean);
}

template <class A>
void members(A& archive, IntervalPoint& p) {
  archive("interval", p.interval);
  archive("ettr", p.ettr);
  archive("exact", p.exact);
}

template <class A>
void members(A& archive, EarlierDetection& e) {
  archive("earlier", e.earlier);
  archive("ettr_gain", e.ettr_gain);
  archive("standard_error", e.standard_error);
  archive("days_saved", e.days_saved);
}

template <class A>
void members(A& archive, Advice& a) {
  archive("interval_curve", a.interval_curve);
  archive("wait_target", a.wait_target);
  archive("spares", a.spares);
  archive("spares_exact", a.spares_exact);
  archive("earlier_detection", a.earlier_detection);
}

template <class A>
void members(A& archive, TimeToMarket& t) {
  archive("bring_up_days", t.bring_up_days);
  archive("ready_days", t.ready_days);
  archive("tests", t.tests);
  archive("ramp_days", t.ramp_days);
}

template <class A>
void members(A& archive, CampaignResult& r) {
  archive("trials", r.trials);
  archive("wall_days", r.wall_days);
  archive("time_to_market", r.time_to_market);
  archive("ettr", r.ettr);
  archive("goodput", r.goodput);
  archive("interruptions", r.interruptions);
  archive("steps", r.steps);
  archive("ledger", r.ledger);
  archive("by_hazard", r.by_hazard);
  archive("closed_form_ettr", r.closed_form_ettr);
  archive("checkpoint_interval", r.checkpoint_interval);
  archive("optimal_interval", r.optimal_interval);
  archive("checkpoint_stall", r.checkpoint_stall);
  archive("checkpoint_persist", r.checkpoint_persist);
  archive("checkpoint_load", r.checkpoint_load);
  archive("mean_time_between_interruptions", r.mean_time_between_interruptions);
  archive("downtime", r.downtime);
  archive("mean_within", r.mean_within);
  archive("nodes_retired", r.nodes_retired);
  archive("replicas_hit", r.replicas_hit);
  archive("tokens", r.tokens);
  archive("logits_stored", r.logits_stored);
  archive("input_rate", r.input_rate);
  archive("step_simulations", r.step_simulations);
  archive("advice", r.advice);
  archive("event_digest", r.event_digest);
}

/// Without pictures, which a search does not draw.
template <class A>
void members(A& archive, CampaignOutcome& o) {
  archive("result", o.result);
  archive("total_usd", o.total_usd);
  archive("mean_bill", o.mean_bill);
  archive("assumptions", o.assumptions);
  archive("warnings", o.warnings);
}

}  // namespace headway::campaign

namespace headway::price {

template <class A>
void members(A& archive, Bill& b) {
  archive("gpus", b.gpus);
  archive("spares", b.spares);
  archive("storage", b.storage);
  archive("electricity", b.electricity);
  archive("bring_up", b.bring_up);
  archive("energy", b.energy);
  archive("co2_kg", b.co2_kg);
  archive("usd_per_million_tokens", b.usd_per_million_tokens);
  archive("usd_per_useful_gpu_hour", b.usd_per_useful_gpu_hour);
}

}  // namespace headway::price

namespace headway::core {

template <class A, class T>
void members(A& archive, ByActivity<T>& by) {
  archive("values", by.values);
}

}  // namespace headway::core

namespace headway::training {

template <class A>
void members(A& archive, Assumption& a) {
  archive("key", a.key);
  archive("value", a.value);
  archive("why", a.why);
}

template <class A>
void members(A& archive, MemoryByKind& m) {
  archive("weights", m.weights);
  archive("gradients", m.gradients);
  archive("optimizer", m.optimizer);
  archive("activations", m.activations);
  archive("logits", m.logits);
  archive("buffers", m.buffers);
  archive("slack", m.slack);
}

template <class A>
void members(A& archive, MemoryResult& m) {
  archive("fits", m.fits);
  archive("peak", m.peak);
  archive("capacity", m.capacity);
  archive("peak_stage", m.peak_stage);
  archive("allocated", m.allocated);
  archive("reserved", m.reserved);
  archive("by_kind", m.by_kind);
  archive("stage_peak", m.stage_peak);
  archive("stage_allocated", m.stage_allocated);
  archive("stage_reserved", m.stage_reserved);
  archive("host_peak", m.host_peak);
  archive("host_capacity", m.host_capacity);
}

template <class A>
void members(A& archive, LinkUse& l) {
  archive("tier", l.tier);
  archive("mean", l.mean);
  archive("busiest", l.busiest);
}

template <class A>
void members(A& archive, ExchangeResult& e) {
  archive("bytes", e.bytes);
  archive("kernels", e.kernels);
  archive("transfer", e.transfer);
  archive("step_kernels", e.step_kernels);
  archive("step_wait", e.step_wait);
  archive("rate_to_hide", e.rate_to_hide);
}

template <class A>
void members(A& archive, SitesResult& s) {
  archive("sites", s.sites);
  archive("site_rate", s.site_rate);
  archive("sender_rate", s.sender_rate);
  archive("step_bytes", s.step_bytes);
  archive("exchange", s.exchange);
}

template <class A>
void members(A& archive, StepResult& s) {
  archive("time", s.time);
  archive("interval_low", s.interval_low);
  archive("interval_high", s.interval_high);
  archive("tokens_per_s", s.tokens_per_s);
  archive("tokens_per_s_per_gpu", s.tokens_per_s_per_gpu);
  archive("mfu", s.mfu);
  archive("mfu_causal", s.mfu_causal);
  archive("hfu", s.hfu);
  archive("model_flops_per_gpu", s.model_flops_per_gpu);
  archive("hardware_flops_per_gpu", s.hardware_flops_per_gpu);
  archive("breakdown", s.breakdown);
  archive("kernels", s.kernels);
  archive("critical_path", s.critical_path);
  archive("stage_work", s.stage_work);
  archive("links", s.links);
  archive("sites", s.sites);
  archive("event_digest", s.event_digest);
  archive("result_digest", s.result_digest);
  archive("events", s.events);
  archive("rank_classes", s.rank_classes);
  archive("ranks", s.ranks);
  archive("memory", s.memory);
  archive("assumptions", s.assumptions);
  archive("warnings", s.warnings);
}

}  // namespace headway::training

namespace headway::plan {

template <class A>
void members(A& archive, Setting& s) {
  archive("nodes", s.nodes);
  archive("global_batch", s.global_batch);
  archive("sequence_length", s.sequence_length);
  archive("precision", s.precision);
  archive("machine", s.machine);
}

template <class A>
void members(A& archive, Plan& p) {
  archive("setting", p.setting);
  archive("gpus", p.gpus);
  archive("spares", p.spares);
  archive("racks", p.racks);
  archive("power", p.power);
  archive("layout", p.layout);
  archive("micro_batches", p.micro_batches);
  archive("estimate", p.estimate);
  archive("step", p.step);
  archive("campaign", p.campaign);
  archive("pareto", p.pareto);
  archive("outside", p.outside);
  archive("variants", p.variants);
}

template <class A>
void members(A& archive, Rejection& r) {
  archive("kind", r.kind);
  archive("reason", r.reason);
  archive("count", r.count);
  archive("nearest", r.nearest);
  archive("distance", r.distance);
}

template <class A>
void members(A& archive, SimulatedPoint& p) {
  archive("setting", p.setting);
  archive("gpus", p.gpus);
  archive("layout", p.layout);
  archive("step", p.step);
  archive("days", p.days);
  archive("usd", p.usd);
  archive("own_run", p.own_run);
}

template <class A>
void members(A& archive, ClassMiss& c) {
  archive("field", c.field);
  archive("value", c.value);
  archive("layouts", c.layouts);
  archive("step", c.step);
  archive("simulated", c.simulated);
  archive("behind", c.behind);
  archive("least", c.least);
  archive("nearest", c.nearest);
}

template <class A>
void members(A& archive, Verification& v) {
  archive("asked", v.asked);
  archive("simulated", v.simulated);
  archive("better", v.better);
}

template <class A>
void members(A& archive, SearchedField& f) {
  archive("key", f.key);
  archive("values", f.values);
}

template <class A>
void members(A& archive, Searched& s) {
  archive("varied", s.varied);
  archive("held", s.held);
  archive("unused", s.unused);
}

template <class A>
void members(A& archive, PlanResult& r) {
  archive("plans", r.plans);
  archive("rejected", r.rejected);
  archive("classes", r.classes);
  archive("enumerated", r.enumerated);
  archive("estimated", r.estimated);
  archive("simulated", r.simulated);
  archive("points", r.points);
  archive("verification", r.verification);
  archive("searched", r.searched);
}

}  // namespace headway::plan

namespace headway::study {

template <class A>
void members(A& archive, MachineAnswer& m) {
  archive("result", m.result);
  archive("refused", m.refused);
  archive("infeasible", m.infeasible);
}

}  // namespace headway::study

namespace headway::report {

namespace {

std::string line_of(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

/// Calls `read` with each line as JSON.
void for_each_line(const std::string& text,
                   const std::string& name,
                   const std::function<void(const Json&)>& read) {
  std::istringstream lines(text);
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    try {
      read(Json::parse(line));
    } catch (const Json::exception&) {
      throw core::Error(fmt::format(
          "{}:{}: this is no part of an answer of this program; remove the file, and it is worked "
          "out again",
          name, number));
    }
  }
}

}  // namespace

std::string trial_lines(const campaign::KnownTrials& known) {
  std::string text;
  for (const auto& trial : known.trials) {
    text += line_of(Packer::packed(trial));
  }
  Json last;
  last["answers"] = Packer::packed(known.answers);
  return text + line_of(last);
}

void read_trial_lines(const std::string& text,
                      const std::string& name,
                      campaign::KnownTrials& known) {
  std::set<campaign::ClusterState> there;
  for (const auto& answer : known.answers) {
    there.insert(answer.state);
  }
  for_each_line(text, name, [&](const Json& json) {
    if (!json.contains("answers")) {
      Unpacker::unpack(json, known.trials.emplace_back());
      return;
    }
    std::vector<campaign::StepAnswer> answers;
    Unpacker::unpack(json.at("answers"), answers);
    for (auto& answer : answers) {
      if (there.insert(answer.state).second) {
        known.answers.push_back(std::move(answer));
      }
    }
  });
}

std::string machine_line(const study::MachineAnswer& answer) {
  return line_of(Packer::packed(answer));
}

std::vector<study::MachineAnswer> read_machine_lines(const std::string& text,
                                                     const std::string& name) {
  std::vector<study::MachineAnswer> answers;
  for_each_line(text, name,
                [&](const Json& json) { Unpacker::unpack(json, answers.emplace_back()); });
  return answers;
}

}  // namespace headway::report
