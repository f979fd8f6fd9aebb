#include "sim/drill/setup.h"

#include <algorithm>
#include <cmath>

#include "sim/campaign/job/job_places.h"
#include "sim/campaign/resolve.h"
#include "sim/storage/closed_form.h"
#include "sim/training/step/lower.h"

namespace headway::drill {

using namespace core::literals;
using campaign::JobPlaces;
using campaign::JobRecovery;
using campaign::ResolvedJob;
using core::Seconds;
using failures::ComponentClass;

namespace {

constexpr double kMonth = (30_days).si();

/// The kind of fault that a class of the failure table shows as.
FaultKind kind_of(ComponentClass component) {
  switch (component) {
    case ComponentClass::gpu:
    case ComponentClass::nvlink:
      return FaultKind::gpu_dead;
    case ComponentClass::gpu_memory:
      return FaultKind::hbm_error;
    case ComponentClass::nic:
      return FaultKind::nic_down;
    case ComponentClass::cable:
      return FaultKind::optic_flapping;
    case ComponentClass::network_switch:
      return FaultKind::leaf_down;
    case ComponentClass::ssd:
      return FaultKind::nvme_stalled;
    case ComponentClass::storage_service:
      return FaultKind::storage_slow;
    case ComponentClass::software:
      return FaultKind::software_crash;
    case ComponentClass::silent_corruption:
      return FaultKind::silent_corruption;
    case ComponentClass::power:
      return FaultKind::rack_power_loss;
    case ComponentClass::cooling:
      return FaultKind::gpu_slow;
    case ComponentClass::unknown:
      return FaultKind::hang;
    case ComponentClass::power_supply:
    case ComponentClass::host:
    case ComponentClass::host_memory:
    case ComponentClass::cpu:
    case ComponentClass::maintenance:
      return FaultKind::host_dead;
  }
  return FaultKind::host_dead;
}

struct KnownRate {
  double per_second = 0;
  std::string_view source;
};

/// Published or assumed rates of what the scenario's failure table does not list.
KnownRate known_rate(FaultKind kind, const DrillSetup& setup) {
  const auto gpus = static_cast<double>(setup.gpus);
  const auto nodes = static_cast<double>(setup.nodes);
  const auto leaves = static_cast<double>(setup.leaves);
  // Counts of Llama 3, table 5: 54 days on 16,384 GPUs in 2,048 nodes.
  constexpr double kSnapshot = (54_days).si();
  constexpr std::string_view kLlama = "Llama 3 Herd of Models, table 5, per GPU or node";
  const auto of_gpus = [&](double count) { return count / (16384 * kSnapshot) * gpus; };
  const auto of_nodes = [&](double count) { return count / (2048 * kSnapshot) * nodes; };
  switch (kind) {
    case FaultKind::gpu_dead:
      return {of_gpus(165), kLlama};
    case FaultKind::hbm_error:
      return {of_gpus(91), kLlama};
    case FaultKind::nic_down:
      return {of_nodes(7), kLlama};
    case FaultKind::host_dead:
      return {of_nodes(43), kLlama};
    case FaultKind::software_crash:
      return {of_nodes(56), kLlama};
    case FaultKind::hang:
      return {of_nodes(7), kLlama};
    case FaultKind::silent_corruption:
      return {of_gpus(6), kLlama};
    case FaultKind::nvme_stalled:
      return {of_nodes(3), kLlama};
    case FaultKind::nvme_slow:
      return {0.0141 / (4 * kMonth) * nodes, "1.41 % of NVMe drives in 4 months (USENIX ATC 2022)"};
    case FaultKind::link_half_rate:
    case FaultKind::optic_flapping:
      return {0.00057 / kMonth * gpus / 2,
              "0.057 % of NIC links a month (HPN, SIGCOMM 2024), half each"};
    case FaultKind::leaf_down:
      return {0.00051 / kMonth * leaves, "0.051 % of leaf switches a month (HPN, SIGCOMM 2024)"};
    case FaultKind::gpu_slow:
      return {gpus / 384 / (117_days).si(), "BLOOM: one slow GPU in 117 days on 384"};
    case FaultKind::loss_spike:
      return {1 / (10_days).si(), "assumed: one in ten days of a run"};
    case FaultKind::storage_slow:
      return {1 / kMonth, "assumed: one a month"};
    case FaultKind::storage_full:
      return {1 / (3 * kMonth), "assumed: one in three months"};
    case FaultKind::rack_power_loss:
      return {nodes / setup.nodes_per_rack / (5 * 365_days).si(),
              "assumed: each rack once in five years"};
    case FaultKind::wrong_checkpoint:
      return {1 / (12 * kMonth), "assumed: one a year"};
  }
  return {};
}

void set_rates(const training::CheckedScenario& checked, DrillSetup& setup) {
  const auto& failures = checked.scenario().run.failures;
  if (failures) {
    for (const auto& hazard : failures::hazards_of(*failures, {checked.gpus(), setup.nodes})) {
      const auto kind = static_cast<std::size_t>(kind_of(hazard.component));
      setup.rate[kind] += hazard.rate.si();
      setup.rate_source[kind] = "the scenario's failure table";
    }
  }
  for (const auto& [kind, word] : enum_words(FaultKind{})) {
    const auto k = static_cast<std::size_t>(kind);
    if (setup.rate[k] == 0) {
      const KnownRate known = known_rate(kind, setup);
      setup.rate[k] = known.per_second;
      setup.rate_source[k] = known.source;
    }
  }
}

/// What the scenario says of its detectors replaces the defaults.
void set_detectors(const failures::DetectorsSpec& given, DrillSetup& setup) {
  constexpr std::string_view kGiven = "run.recovery.detectors";
  const auto set = [&](Monitor monitor, const std::optional<Seconds>& time) {
    setup[monitor] = {time.has_value(), time.value_or(setup[monitor].time), kGiven};
  };
  set(Monitor::process_exit, given.process_exit);
  set(Monitor::watchdog, given.watchdog);
  set(Monitor::heartbeat, given.heartbeat);
  set(Monitor::health_check,
      given.health_check ? std::optional(given.health_check->every) : std::nullopt);
  // A monitor that polls sees after half its period; this one after its whole window.
  set(Monitor::straggler_monitor,
      given.straggler_monitor ? std::optional(given.straggler_monitor->window * 2) : std::nullopt);
}

}  // namespace

void set_monitors(const failures::RecoverySpec& recovery, DrillSetup& setup) {
  setup[Monitor::process_exit] = {true, recovery.detection, "run.recovery.detection"};
  setup[Monitor::transport] = {true, Seconds(7), "NCCL_IB_TIMEOUT, effective"};
  setup[Monitor::watchdog] = {true, Seconds(600), "torch ProcessGroupNCCL since 2.2"};
  setup[Monitor::heartbeat] = {false, Seconds(2700), "NVRx, steady default"};
  setup[Monitor::health_check] = {true, Seconds(300), "RSC: every 5 min"};
  setup[Monitor::link_monitor] = {false, Seconds(30), "ByteRobust, table 3"};
  setup[Monitor::drive_monitor] = {false, Seconds(300), "as the health checks of RSC"};
  setup[Monitor::straggler_monitor] = {false, Seconds(60), "assumed: a report a minute"};
  setup[Monitor::flight_recorder] = {false, Seconds(0), "a dump at the timeout"};
  setup[Monitor::save_monitor] = {false, Seconds(10), "assumed: alarm at twice the usual time"};
  setup[Monitor::capacity_monitor] = {false, Seconds(300), "as the health checks of RSC"};
  setup[Monitor::loss_monitor] = {false, Seconds(60), "assumed: evaluated every minute"};
  setup[Monitor::replay] = {false, 800 * setup.step,
                            "Gemini 2.5 replays 0.25 % of steps, mean wait 400"};
  setup[Monitor::restart_check] = {false, Seconds(0), "at the restart"};
  if (recovery.detectors) {
    set_detectors(*recovery.detectors, setup);
  }
  setup[Monitor::people] = {true, 1_h, "Unicron: up to 30 min until someone notices"};
}

namespace {

void set_saves(const training::CheckedScenario& checked,
               const ResolvedJob& resolved,
               DrillSetup& setup) {
  const auto& scenario = checked.scenario();
  const auto& checkpoint = scenario.run.checkpoint;
  const auto& storage = scenario.cluster.storage;
  auto& saves = setup.saves;
  saves.synchronous = checkpoint.mode == storage::CheckpointMode::synchronous;
  const JobModel& job = resolved.job;
  const Seconds durable = job.interval.si() > 0 ? campaign::effective_interval(job) : Seconds(0);
  saves.near = job.near;
  saves.interval = saves.near.empty() ? durable : job.interval;
  saves.storage_every =
      saves.near.empty() || durable.si() == 0 ? 1 : std::llround(durable / job.interval);
  const Seconds run = job.end.work ? *job.end.work : *job.end.wall;
  saves.in_run = durable.si() > 0 ? std::floor(run / durable) : 0;
  saves.snapshot = saves.synchronous ? Seconds(0) : resolved.job.stall;
  saves.write = saves.synchronous ? resolved.job.stall : resolved.job.persist;
  saves.node_bytes = storage::written_per_node(campaign::shard_layout(checked), checkpoint);
  saves.node_rate = storage.client_write_bandwidth;
  saves.server_share = storage.write_bandwidth / static_cast<double>(setup.nodes);
  saves.keep = checkpoint.keep;
  saves.archive = checkpoint.archive.value_or(saves.archive);
}

/// A drill needs a rhythm even where the scenario predicts a step only.
training::CheckedScenario with_run(const training::CheckedScenario& checked) {
  training::Scenario scenario = checked.scenario();
  if (!scenario.run.until) {
    scenario.run.until.emplace().wall = 30_days;
  }
  return training::check(scenario);
}

/// Nodes that leave with one bad one.
std::int64_t evicted_nodes(const failures::RecoverySpec& spec, const JobModel& job) {
  switch (spec.eviction) {
    case failures::Eviction::rack:
      return spec.rack_nodes;
    case failures::Eviction::parallel_group:
      return static_cast<std::int64_t>(JobPlaces(job).groups_of({0}).size());
    case failures::Eviction::gpu:
    case failures::Eviction::node:
      return 1;
  }
  return 1;
}

void set_recovery(const failures::RecoverySpec& spec, const JobModel& job, DrillSetup& setup) {
  const JobRecovery& r = job.recovery;
  setup.recovery = {.diagnosis = r.diagnosis,
                    .replacement = r.replacement,
                    .start = r.start,
                    .load = r.load,
                    .warm_up = r.warm_up,
                    .repair = r.repair,
                    .refill = r.refill,
                    .communicators = r.communicators,
                    .retest = r.retest,
                    .in_process_start = r.in_process_start,
                    .peer_load = r.peer_load,
                    .slow_part = r.slow_part,
                    .eviction = spec.eviction,
                    .evicted = evicted_nodes(spec, job),
                    .elastic = r.elastic};
  setup.replicas = job.replicas;
}

void set_machine(const training::Scenario& scenario, DrillSetup& setup) {
  setup.nodes = scenario.cluster.nodes;
  setup.spares = scenario.cluster.spares;
  const network::Fabric fabric = training::build_fabric(scenario.cluster);
  const network::FabricShape& shape = fabric.shape();
  setup.leaves = std::max<std::int64_t>(1, shape.leaves);
  setup.first_of_leaf.resize(static_cast<std::size_t>(setup.leaves));
  for (std::uint32_t node = 0; node < shape.nodes; ++node) {
    for (std::uint32_t port = 0; port < shape.rails * shape.planes; ++port) {
      const std::uint32_t rail = port % shape.rails;
      auto& first = setup.first_of_leaf[fabric.leaf_of(node, rail, port / shape.rails)];
      if (first.node < 0) {
        first = {node, static_cast<int>(rail * shape.gpus_per_node / shape.rails)};
      }
    }
  }
  const auto ports = static_cast<int>(shape.ports_per_leaf);
  const int ports_of_node = shape.rail_leaves ? 1 : static_cast<int>(shape.rails);
  setup.nodes_per_leaf =
      static_cast<int>(std::clamp<std::int64_t>(ports / ports_of_node, 1, setup.nodes));
  setup.nodes_per_rack = static_cast<int>(std::clamp<std::int64_t>(
      std::max(2, scenario.cluster.node.scale_up.domain_gpus / scenario.cluster.node.gpus), 1,
      setup.nodes));
}

}  // namespace

bool DrillSaves::near_drives() const {
  return std::any_of(near.begin(), near.end(),
                     [](const NearLevel& level) { return level.name == "nvme"; });
}

Seconds usual_since_save(const DrillSetup& setup) {
  const Seconds interval = setup.saves.interval;
  return (interval.si() > 0 ? std::min(interval, setup.horizon) : setup.horizon) / 2;
}

DrillSetup drill_setup(const training::CheckedScenario& given, const training::StepResult& step) {
  const auto checked = with_run(given);
  const auto& scenario = checked.scenario();
  const ResolvedJob resolved = campaign::resolve_job(checked, step);
  DrillSetup setup;
  setup.gpus = checked.gpus();
  set_machine(scenario, setup);
  setup.step = step.time;
  set_saves(checked, resolved, setup);
  set_recovery(scenario.run.recovery, resolved.job, setup);
  set_monitors(scenario.run.recovery, setup);
  set_rates(checked, setup);
  if (scenario.run.prices) {
    const auto& prices = *scenario.run.prices;
    const double spares =
        static_cast<double>(setup.spares) * scenario.cluster.node.gpus * prices.spare_share;
    setup.usd_per_second = prices.gpu_hour.si() * (static_cast<double>(setup.gpus) + spares);
  }
  setup.since_save = usual_since_save(setup);
  return setup;
}

}  // namespace headway::drill
