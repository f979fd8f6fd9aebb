#include "sim/training/step/step.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <iterator>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>
#include <utility>

#include "sim/core/error.h"
#include "sim/core/progress/joint_progress.h"
#include "sim/gpu/kernel_time.h"
#include "sim/gpu/tables.h"
#include "sim/network/loops/repeats.h"
#include "sim/training/assumptions/assumptions.h"
#include "sim/training/constants.h"
#include "sim/training/decompositions.h"
#include "sim/training/domain_size.h"
#include "sim/training/estimate.h"
#include "sim/training/imbalance/rank_imbalance.h"
#include "sim/training/packets/time_by_packets.h"
#include "sim/training/sites/site_exchange.h"
#include "sim/training/step/breakdown.h"
#include "sim/training/step/critical_path.h"
#include "sim/training/step/lower.h"
#include "sim/training/step/step_clock.h"
#include "sim/training/unequal/node_kinds.h"
#include "sim/training/unused.h"
#include "sim/workload/attention/attention_heads.h"
#include "sim/workload/closed_form.h"
#include "sim/workload/number_formats.h"

namespace headway::training {

namespace {

using core::Activity;
using core::Seconds;

/// The kind of node on which the ranks of each actor class are.
std::vector<std::size_t> kinds_of_classes(const LoweredStep& lowered,
                                          const network::RunResult& run) {
  std::vector<std::size_t> kinds(run.multiplicity.size());
  for (std::size_t a = 0; a < run.class_of_actor.size(); ++a) {
    const std::size_t program = lowered.problem.actors[a].program;
    kinds[run.class_of_actor[a]] = program < lowered.owners.size()
                                       ? static_cast<std::size_t>(lowered.owners[program].kind)
                                       : 0;
  }
  return kinds;
}

/// The mean over the ranks of each kind of node.
/// @param times  per actor class
std::vector<Seconds> means_of_kinds(const LoweredStep& lowered,
                                    const network::RunResult& run,
                                    int kinds,
                                    const std::vector<core::Tick>& times) {
  const auto kind_of = kinds_of_classes(lowered, run);
  std::vector<double> ranks(static_cast<std::size_t>(kinds));
  for (std::size_t c = 0; c < times.size(); ++c) {
    ranks[kind_of[c]] += run.multiplicity[c];
  }
  std::vector<Seconds> means(ranks.size());
  for (std::size_t c = 0; c < times.size(); ++c) {
    means[kind_of[c]] +=
        core::Clock::step().to_seconds(times[c]) * (run.multiplicity[c] / ranks[kind_of[c]]);
  }
  return means;
}

void fill_breakdown(const LoweredStep& lowered,
                    const network::RunResult& run,
                    int kinds,
                    StepResult& result) {
  const auto clock = core::Clock::step();
  const StepBreakdown step = break_down(lowered, run);
  result.kernels = means_of_kinds(lowered, run, kinds, step.kernels);
  double ranks = 0;
  for (std::size_t c = 0; c < run.multiplicity.size(); ++c) {
    ranks += run.multiplicity[c];
  }
  for (std::size_t c = 0; c < run.multiplicity.size(); ++c) {
    const double share = run.multiplicity[c] / ranks;
    for (std::size_t a = 0; a < core::kActivities; ++a) {
      result.breakdown.values[a] += clock.to_seconds(step.classes[c].values[a]) * share;
    }
  }
  for (const core::Tick work : step.stage_work) {
    result.stage_work.push_back(clock.to_seconds(work));
  }
}

/// Use of NVLink by groups inside a domain, whose transfers are timed events without flows:
/// bytes a rank sends in the step / (its bandwidth x step); mean and busiest over the ranks.
void add_timed_use(const CheckedScenario& checked,
                   const LoweredStep& lowered,
                   core::Tick end,
                   std::vector<LinkUse>& uses) {
  const auto& cluster = checked.scenario().cluster;
  const double seconds = core::Clock::step().to_seconds(end).si();
  double sum = 0;  // in parts of what a rank can send
  double ranks = 0;
  double busiest = 0;
  std::vector<std::vector<double>> arrivals;  // per program and slot
  for (const auto& program : lowered.problem.programs) {
    auto& counts = arrivals.emplace_back();
    const auto times = network::times_run(program);
    for (std::size_t i = 0; i < program.size(); ++i) {
      if (program[i].code == network::StepCode::arrive) {
        counts.resize(std::max<std::size_t>(counts.size(), program[i].slot + 1U));
        counts[program[i].slot] += static_cast<double>(times[i]);
      }
    }
  }
  for (const auto& actor : lowered.problem.actors) {
    double bytes = 0;
    const auto& counts = arrivals[actor.program];
    for (std::size_t slot = 0; slot < counts.size(); ++slot) {
      bytes += counts[slot] * lowered.timed_bytes[actor.groups[slot]].si();
    }
    const int kind = lowered.owners[actor.program].kind;
    const double room = node_of_kind(cluster, kind).scale_up.bandwidth.si() * seconds;
    sum += bytes / room * actor.multiplicity;
    ranks += actor.multiplicity;
    busiest = std::max(busiest, bytes / room);
  }
  const double mean = sum / ranks;
  const std::string tier(network::tier_name(network::Tier::scale_up, cluster.node.scale_up.kind));
  const auto place =
      std::find_if(uses.begin(), uses.end(), [&](const LinkUse& use) { return use.tier == tier; });
  if (place != uses.end()) {
    place->mean += mean;
    place->busiest += busiest;  // at most that: it need not be the same GPU
  } else if (sum > 0) {
    uses.push_back({tier, mean, busiest});
  }
}

std::vector<LinkUse> link_use(const network::Fabric& fabric,
                              const LoweredStep& lowered,
                              const network::RunResult& run,
                              const std::optional<PacketStep>& packets) {
  // Flows that packets made longer carry no more than before.
  const auto& link_bytes = packets ? packets->fluid_link_bytes : run.link_bytes;
  struct Sum {
    double bytes = 0, capacity = 0, busiest = 0;
  };
  std::vector<std::pair<network::Tier, Sum>> tiers;
  const double seconds = core::Clock::step().to_seconds(run.end).si();
  for (std::size_t l = 0; l < lowered.fabric_links.size(); ++l) {
    const auto& link = fabric.link(lowered.fabric_links[l]);
    auto place = std::find_if(tiers.begin(), tiers.end(),
                              [&](const auto& t) { return t.first == link.tier; });
    if (place == tiers.end()) {
      place = tiers.insert(tiers.end(), {link.tier, Sum{}});
    }
    const double room = lowered.problem.links[l].capacity.si() * seconds;
    const double links = lowered.link_multiplicity[l];
    place->second.bytes += link_bytes[l] * links;
    place->second.capacity += room * links;
    place->second.busiest = std::max(place->second.busiest, room > 0 ? link_bytes[l] / room : 0);
  }
  std::vector<LinkUse> uses;
  for (const auto& [tier, sum] : tiers) {
    uses.push_back({std::string(network::tier_name(tier, fabric.input().scale_up.kind)),
                    sum.capacity > 0 ? sum.bytes / sum.capacity : 0, sum.busiest});
  }
  return uses;
}

/// Groups inside a domain are timed alone, so together they can carry more than its links do.
void warn_of_overload(StepResult& result) {
  for (const LinkUse& use : result.links) {
    if (use.mean > 1.001) {
      result.warnings.push_back(
          fmt::format("{} carries {:.0f} % of what its links can: groups inside one domain are "
                      "timed as if each "
                      "were alone, so the step takes at least {:.2g} % longer",
                      use.tier, 100 * use.mean, 100 * (use.mean - 1)));
    }
  }
}

/// Relative errors of a step beside that of the calibration: of a mixture of experts, whose
/// exchange and launches change from release to release; of a GPU without measured kernels; of a
/// format whose share of the peak is that of another; of linear attention, state spaces and sparse
/// attention, whose backward kernels were never measured.
constexpr double kExperts = 0.05;
constexpr double kMixers = 0.2;
constexpr double kWithoutTables = 0.1;
constexpr double kStandIn = 0.1;

/// Relative error of attention whose heads are wider than any flash kernel takes, for its share of
/// the work.
constexpr double kWideHeads = 0.7;

/// Relative error is taken as lognormal, so the interval is wider upwards.
/// @param draws  times under other hashes of the switches
void fill_interval(double relative_error, const std::vector<Seconds>& draws, StepResult& result) {
  const double factor = std::exp(kOneSidedFivePercent * relative_error);
  Seconds least = result.time, most = result.time;
  for (const Seconds time : draws) {
    least = std::min(least, time);
    most = std::max(most, time);
  }
  result.interval_low = least / factor;
  result.interval_high = most * factor;
}

/// What hashes and packets are assumed to be.
void add_network_assumptions(const std::vector<Seconds>& draws, StepResult& result) {
  if (result.packets) {
    result.assumptions.push_back(packets_assumption(*result.packets));
  }
  if (draws.empty()) {
    return;
  }
  const auto [least, most] = std::minmax_element(draws.begin(), draws.end());
  result.assumptions.push_back(
      {"cluster.fabric.routing", "ecmp",
       fmt::format("one hash, drawn by run.seed; with {} others the step takes {:.4g} to {:.4g} s, "
                   "and the interval covers them",
                   draws.size(), least->si(), most->si())});
}

int count_draws(const Scenario& s, const StepOptions& options) {
  const bool hashed =
      s.cluster.fabric.routing == network::Routing::ecmp && options.contention && !options.packets;
  return hashed ? options.hash_draws : 0;
}

int threads() {
  using oneapi::tbb::global_control;
  return static_cast<int>(global_control::active_value(global_control::max_allowed_parallelism));
}

/// Which cables collide under ecmp is a matter of luck: the times of the same step under other
/// hashes.
/// @param waits  of every step, which are no events
std::vector<Seconds> other_hashes(const CheckedScenario& checked,
                                  const workload::StepGraph& graph,
                                  const StepOptions& options,
                                  Seconds waits,
                                  core::JointProgress& progress) {
  const Scenario& s = checked.scenario();
  std::vector<Seconds> times(static_cast<std::size_t>(count_draws(s, options)));
  oneapi::tbb::parallel_for(std::size_t{0}, times.size(), [&](std::size_t draw) {
    const network::Fabric fabric = build_fabric(s.cluster, hash_seed(s, draw + 1));
    LoweredStep lowered = lower(checked, graph, fabric, {.loops_from = kFewestLoops});
    degrade(options.degradations, rank_layout(checked), fabric, lowered);
    network::RunOptions run_options;
    run_options.fold = options.fold;
    run_options.progress = progress.piece();
    times[draw] = core::Clock::step().to_seconds(run_step(lowered, run_options).end) + waits;
  });
  return times;
}

/// What leaves all sites in a step, one direction.
core::Bytes bytes_between_sites(const network::Fabric& fabric,
                                const LoweredStep& lowered,
                                const network::RunResult& run) {
  core::Bytes sum;
  for (std::uint32_t site = 0; fabric.shape().sites > 1 && site < fabric.shape().sites; ++site) {
    const core::LinkId out = fabric.site_link(site, true);
    for (std::size_t l = 0; l < lowered.fabric_links.size(); ++l) {
      sum += lowered.fabric_links[l] == out ? core::Bytes(run.link_bytes[l]) : core::Bytes{};
    }
  }
  return sum;
}

/// Every step waits for the data rank that drew the most work.
void add_imbalance(const CheckedScenario& checked, StepResult& result) {
  const Scenario& s = checked.scenario();
  const Seconds wait =
      rank_imbalance(s, s.parallelism, checked.synchronous_data(), checked.micro_batches());
  result.time += wait;
  result.breakdown[Activity::rank_imbalance] += wait;
  result.critical_path[Activity::rank_imbalance] += wait;
}

/// Exchanges of sites that train apart, spread over the steps between them.
void add_exchanges(StepResult& result) {
  if (!result.sites || !result.sites->exchange) {
    return;
  }
  const ExchangeResult& exchange = *result.sites->exchange;
  result.time += exchange.step_kernels + exchange.step_wait;
  for (Seconds& kernels : result.kernels) {
    kernels += exchange.step_kernels;
  }
  for (auto* causes : {&result.breakdown, &result.critical_path}) {
    (*causes)[Activity::optimizer] += exchange.step_kernels;
    (*causes)[Activity::data] += exchange.step_wait;
  }
}

double kernel_error_of_one_kind(const Scenario& scenario) {
  const auto& gpu = scenario.cluster.node.gpu;
  const auto precision = scenario.training.precision;
  const bool full = workload::full_precision(precision);
  const bool tables =
      full ? gpu::gemm_table_share(gpu, precision, 1, 1, 1).has_value() : gpu.kernels.has_value();
  const bool known = tables || scenario.calibration.kernels.has_value();
  const auto shares = scenario.calibration.kernels.value_or(gpu.sustained);
  return std::hypot(known ? 0 : kWithoutTables,
                    gpu::has_own_share(shares, precision) ? 0 : kStandIn);
}

}  // namespace

double kernel_error(const Scenario& scenario) {
  double most = 0;
  for (int kind = 0; kind < node_kinds(scenario.cluster); ++kind) {
    most = std::max(most, kernel_error_of_one_kind(of_one_kind(scenario, kind)));
  }
  return most;
}

double relative_error(const Scenario& s) {
  const double known =
      std::hypot(s.calibration.relative_error, kernel_error(s), s.model.moe ? kExperts : 0.0);
  const bool sparse = s.model.sparse || s.model.native_sparse;
  const double scans = s.model.mixer || sparse ? kMixers : 0.0;
  const double wide =
      workload::outgrows_flash(s.model)
          ? kWideHeads * workload::attention_share(s.model, s.training.sequence_length)
          : 0.0;
  return std::hypot(std::hypot(known, scans, wide), decomposition_error(s));
}

std::vector<core::ModelConstant> interval_constants() {
  return {{"training.memory_headroom", kMemoryHeadroom, "", 0,
           "round value: 676 layouts of nanotron, where all above 0.9 of the memory in allocated "
           "bytes ran 3 to 8 times slower and none below 0.87 for that reason"},
          {"training.error_of_experts", kExperts, "", 0,
           "errors of published runs of mixtures, docs/validation.md; rounded"},
          {"training.error_of_mixers", kMixers, "", 0,
           "round value: scans of a sixth of a step, their backward known to a factor of two; "
           "published steps of Nemotron 3 Nano are missed by 12 to 19 %"},
          {"training.error_of_wide_heads", kWideHeads, "", 0,
           "assumed: kernels other than flash are known to a factor of two"},
          {"training.error_without_tables", kWithoutTables, "", 0,
           "round value; GPUs without measured kernels, docs/validation.md"},
          {"training.error_of_stand_in", kStandIn, "", 0,
           "round value; spread of shares of the peak between formats of one GPU"}};
}

void set_rates(const CheckedScenario& checked, StepResult& result) {
  const Scenario& s = checked.scenario();
  const double tokens = checked.tokens_per_step();
  const auto gpus = static_cast<double>(checked.gpus());
  const auto flops = workload::training_flops_per_token(s.model, s.training, s.parallelism);
  const auto peak = mean_peak(s);
  HEADWAY_CHECK(result.time.si() > 0, "a step takes {} s", result.time.si());
  result.tokens_per_s = tokens / result.time.si();
  result.tokens_per_s_per_gpu = result.tokens_per_s / gpus;
  const auto rate = [&](core::Flops per_token) {
    return core::FlopsPerSecond(per_token.si() * result.tokens_per_s_per_gpu);
  };
  result.mfu = rate(flops.mfu) / peak;
  result.mfu_causal = rate(flops.mfu_causal) / peak;
  result.hfu = rate(flops.hfu) / peak;
  result.model_flops_per_gpu = rate(flops.mfu);
  result.hardware_flops_per_gpu = rate(flops.hfu);
  // The law: causal model FLOPs are really executed, so they cannot exceed the peak.
  HEADWAY_CHECK(result.mfu_causal <= 1, "mfu_causal {} is above 1", result.mfu_causal);
}

namespace {

void fill_counts(const network::RunResult& run, std::int64_t gpus, StepResult& result) {
  result.event_digest = run.event_digest;
  result.result_digest = run.result_digest;
  result.events = run.events;
  result.rank_classes = static_cast<std::int64_t>(run.classes);
  result.ranks = gpus;
}

void fill_critical_path(const network::RunResult& run, StepResult& result) {
  const auto path = critical_path(run);
  for (std::size_t a = 0; a < core::kActivities; ++a) {
    result.critical_path.values[a] = core::Clock::step().to_seconds(path.values[a]);
  }
}

/// Of memory that is nearly full, and of a domain that nobody describes.
void warn_of_machine(const CheckedScenario& checked, StepResult& result) {
  const Scenario& s = checked.scenario();
  std::ranges::copy(memory_warnings(s, result.memory), std::back_inserter(result.warnings));
  std::ranges::copy(software_warnings(s), std::back_inserter(result.warnings));
  if (auto domain = domain_warning(s.cluster, checked.whole_domain())) {
    result.warnings.push_back(std::move(*domain));
  }
}

}  // namespace

StepResult simulate_step(const CheckedScenario& checked, const StepOptions& options) {
  const Scenario& s = checked.scenario();
  if (options.packets) {
    check_packets(checked);
  }
  const int beside = std::min(count_draws(s, options), threads());
  const std::int64_t loops_from = options.packets ? 0 : kFewestLoops;  // packets count calls singly
  require_memory(estimate_step(checked, options.fold, beside, loops_from > 0), machine_memory(),
                 options.fold);
  core::JointProgress progress(options.progress,
                               static_cast<std::size_t>(1 + count_draws(s, options)));
  const auto graph = step_graph(checked);
  progress.look();
  const network::Fabric fabric = build_fabric(s.cluster, hash_seed(s));
  // A slow part is of one rank, and packets are of all: then no rank speaks for others.
  const bool alike = options.fold && options.degradations.empty() && !options.packets;
  const RankOrbits orbits = alike ? rank_orbits(checked, fabric) : RankOrbits{};
  progress.look();
  LoweredStep lowered =
      lower(checked, graph, fabric,
            {.contention = options.contention, .loops_from = loops_from, .orbits = &orbits});
  degrade(options.degradations, rank_layout(checked), fabric, lowered);
  StepResult result;
  if (options.packets) {
    result.packets = time_by_packets(checked, fabric, *options.packets, lowered,
                                     [&progress] { progress.look(); });
  }
  network::RunOptions run_options{
      .fold = options.fold, .paths = options.trace, .launch = &lowered.launch};
  progress.look();
  run_options.progress = progress.piece();
  const network::RunResult run = run_step(lowered, run_options);
  HEADWAY_CHECK(run.end > 0, "the step of '{}' took no time", s.name);

  const auto clock = core::Clock::step();
  result.time = clock.to_seconds(run.end);
  result.sites = sites_result(checked, fabric, bytes_between_sites(fabric, lowered, run),
                              result.time, options.fold);
  fill_breakdown(lowered, run, node_kinds(s.cluster), result);
  result.calls = network_calls(lowered);
  if (options.trace) {
    fill_critical_path(run, result);
  }
  add_exchanges(result);
  add_imbalance(checked, result);
  const Seconds waits = result.time - clock.to_seconds(run.end);
  const auto draws = other_hashes(checked, graph, options, waits, progress);
  fill_interval(relative_error(s), draws, result);
  set_rates(checked, result);
  result.links = link_use(fabric, lowered, run, result.packets);
  add_timed_use(checked, lowered, run.end, result.links);
  result.warnings = unused_fields(checked);
  warn_of_overload(result);
  fill_counts(run, checked.gpus(), result);
  result.memory = predict_memory(checked);
  warn_of_machine(checked, result);
  result.assumptions = step_assumptions(checked, lowered);
  add_network_assumptions(draws, result);
  return result;
}

}  // namespace headway::training
