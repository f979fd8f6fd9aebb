#include "sim/study/words.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "sim/core/text.h"
#include "sim/training/unequal/node_kinds.h"
#include "sim/workload/schedule/schedule.h"

namespace headway::study {

std::string elapsed(core::Seconds time) {
  const double s = std::abs(time.si());
  const char* sign = time.si() < 0 ? "-" : "";
  if (s < 120) {
    return fmt::format("{}{:.3g} s", sign, s);
  }
  const auto whole = std::llround(s);
  if (s < 7200) {
    return fmt::format("{}{} min {:02} s", sign, whole / 60, whole % 60);
  }
  const auto minutes = (whole + 30) / 60;
  return fmt::format("{}{} h {:02} min", sign, minutes / 60, minutes % 60);
}

std::string_view in_words(core::Activity activity) {
  using core::Activity;
  switch (activity) {
    case Activity::compute:
      return "compute";
    case Activity::tensor:
      return "tensor-parallel communication";
    case Activity::pipeline_bubble:
      return "the pipeline bubble";
    case Activity::stage_imbalance:
      return "unequal stages";
    case Activity::rank_imbalance:
      return "data ranks with more work than others";
    case Activity::launch:
      return "the CPU's launches of kernels";
    case Activity::pipeline_p2p:
      return "transfers between pipeline stages";
    case Activity::data:
      return "data-parallel communication";
    case Activity::context:
      return "context-parallel communication";
    case Activity::expert:
      return "expert-parallel communication";
    case Activity::optimizer:
      return "the optimizer";
    case Activity::input:
      return "the data loader";
    case Activity::checkpoint:
      return "checkpoint stalls";
    case Activity::other:
      return "fixed work and waits";
  }
  return "?";
}

std::string_view in_words(campaign::Account account) {
  using campaign::Account;
  switch (account) {
    case Account::useful:
      return "useful steps";
    case Account::lost:
      return "steps lost at failures";
    case Account::checkpoint:
      return "checkpoint stalls";
    case Account::detect:
      return "detection of failures";
    case Account::diagnose:
      return "diagnosis of failures";
    case Account::restart:
      return "restarts";
    case Account::load:
      return "loading checkpoints";
    case Account::wait:
      return "waiting for spares";
    case Account::cut_off:
      return "waiting for the way of a site";
    case Account::protection:
      return "fault tolerance in every step";
    case Account::input:
      return "waiting for input";
    case Account::degraded:
      return "degraded running";
    case Account::spare_idle:
      return "idle spares";
    case Account::maintenance:
      return "maintenance";
  }
  return "?";
}

std::string percent_figures(double share) {
  const std::string text = core::number(100 * share);
  const bool rounded_up = text == "100" && !core::percent(share).starts_with("100");
  return rounded_up ? core::percent(share) : text;
}

std::string in_words(const training::PacketStep& packets) {
  const auto worst =
      std::max_element(packets.collectives.begin(), packets.collectives.end(),
                       [](const auto& a, const auto& b) { return a.times() < b.times(); });
  return fmt::format(
      "packets (sampled per collective) under {}; by fluid flows the step takes {} s"
      "{}",
      packets.transport, core::number(packets.fluid_step.si()),
      worst == packets.collectives.end()
          ? "; no traffic leaves an NVLink domain"
          : fmt::format("; packets take longest beside them in '{}', {} times", worst->name,
                        core::number(worst->times())));
}

std::vector<std::string> asked_in_words(const training::Scenario& s, const Layout& layout) {
  using core::count;
  const auto& p = s.parallelism;
  const double spares = s.cluster.spares;
  return {
      fmt::format("{}: {} sequences of {} tokens, {}", s.model.name, count(s.training.global_batch),
                  count(s.training.sequence_length), core::to_word(s.training.precision)),
      fmt::format("{} GPU{}: {}, {}, {}{}", count(static_cast<double>(layout.gpus)),
                  layout.gpus == 1 ? "" : "s", training::nodes_in_words(s.cluster),
                  s.cluster.fabric.name, s.cluster.storage ? s.cluster.storage->name : "no storage",
                  spares > 0
                      ? fmt::format(", {} spare node{}", count(spares), spares == 1 ? "" : "s")
                      : ""),
      fmt::format("tensor {} x context {} x pipeline {} (virtual {}) x data {}, {}, {}, {} "
                  "micro-batch{} of {}, recompute {}",
                  p.tensor, p.context, p.pipeline, p.virtual_stages, layout.data_parallel,
                  core::to_word(p.sharding), core::to_word(workload::effective_schedule(p)),
                  count(layout.micro_batches), layout.micro_batches == 1 ? "" : "es", p.micro_batch,
                  core::to_word(p.recompute)),
  };
}

}  // namespace headway::study
