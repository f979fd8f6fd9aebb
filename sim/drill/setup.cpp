#include "sim/drill/setup.h"

#include <algorithm>
#include <cmath>

#include "sim/campaign/job/job_places.h"
#include "sim/campaign/resolve/resolve.h"
#include "sim/core/error.h"
#include "sim/drill/constants.h"
#include "sim/storage/closed_form.h"
#include "sim/training/step/lower.h"
#include "sim/training/unequal/node_kinds.h"

namespace headway::drill {

using namespace core::literals;
using campaign::JobPlaces;
using campaign::ResolvedJob;
using core::Seconds;
using failures::ComponentClass;

namespace {

/// The kind of fault that a class of the failure table shows as.
FaultKind kind_of(ComponentClass component, failures::Effect effect) {
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
    case ComponentClass::wide_area:
      return effect == failures::Effect::cut_site ? FaultKind::site_cut : FaultKind::site_slow;
  }
  HEADWAY_CHECK(false, "component class {}", static_cast<int>(component));
}

/// Parts of the job that a usual rate counts.
double parts(Per per, const DrillSetup& setup) {
  switch (per) {
    case Per::gpu:
      return static_cast<double>(setup.gpus);
    case Per::node:
      return static_cast<double>(setup.nodes);
    case Per::leaf:
      return static_cast<double>(setup.leaves);
    case Per::rack:
      return static_cast<double>(setup.nodes) / setup.nodes_per_rack;
    case Per::site:
      return setup.sites > 1 ? static_cast<double>(setup.sites) : 0;
    case Per::job:
      return 1;
  }
  return 1;
}

void set_rates(const training::CheckedScenario& checked, DrillSetup& setup) {
  const auto& failures = checked.scenario().run.failures;
  if (failures) {
    const failures::Fleet fleet{checked.gpus(), setup.nodes, setup.sites};
    for (const auto& hazard : failures::hazards_of(*failures, fleet)) {
      const auto k = static_cast<std::size_t>(kind_of(hazard.component, hazard.effect));
      setup.rate[k] += hazard.rate.si();
      setup.rate_source[k] = "the scenario's failure table";
    }
  }
  for (const auto& usual : usual_rates()) {
    const auto k = static_cast<std::size_t>(usual.kind);
    if (setup.rate[k] == 0) {
      setup.rate[k] = usual.per_second * parts(usual.per, setup);
      setup.rate_source[k] = usual.source;
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
  for (const auto& usual : usual_monitors()) {
    setup[usual.monitor] = {usual.on, Seconds(usual.time), usual.why};
  }
  setup[Monitor::process_exit].time = recovery.detection;
  setup[Monitor::replay].time = setup[Monitor::replay].time.si() * setup.step;
  if (recovery.detectors) {
    set_detectors(*recovery.detectors, setup);
  }
}

namespace {

void set_saves(const training::CheckedScenario& checked,
               const ResolvedJob& resolved,
               DrillSetup& setup) {
  const auto& scenario = checked.scenario();
  const auto& checkpoint = scenario.run.checkpoint;
  const auto& storage = *scenario.cluster.storage;  // a job that runs has one
  auto& saves = setup.saves;
  saves.synchronous = checkpoint.mode == storage::CheckpointMode::synchronous;
  const storage::ShardLayout layout = campaign::shard_layout(checked);
  const JobModel& job = resolved.job;
  const Seconds durable = job.interval.si() > 0 ? campaign::effective_interval(job) : Seconds(0);
  saves.near = job.near;
  saves.interval = saves.near.empty() ? durable : job.interval;
  saves.storage_every = saves.near.empty() || durable.si() == 0
                            ? 1
                            : std::max(1LL, std::llround(durable / job.interval));
  const Seconds run = job.end.work ? *job.end.work : *job.end.wall;
  saves.in_run = durable.si() > 0 ? std::floor(run / durable) : 0;
  // A synchronous save stands for what it costs at least, and then for the writing.
  saves.snapshot = saves.synchronous
                       ? std::min(saves.near.empty() ? job.stall : Seconds(0),
                                  storage::snapshot_stall(
                                      layout, checkpoint,
                                      training::weakest_node(scenario.cluster).gpu.host_bandwidth))
                       : job.stall;
  saves.write = saves.synchronous ? job.stall - saves.snapshot : job.persist;
  saves.via_drives = checkpoint.via_drives;
  saves.node_bytes = storage::share_of_writer(layout, checkpoint);
  saves.node_rate = storage.client_write_bandwidth;
  saves.server_share =
      storage.write_bandwidth / static_cast<double>(storage::writing_nodes(layout, checkpoint));
  saves.keep = checkpoint.keep;
  saves.archive = checkpoint.archive.value_or(saves.archive);
}

/// A drill needs a rhythm even where the scenario predicts a step only; its saves then hold what
/// its training has, where nobody said what they hold.
training::CheckedScenario with_run(const training::CheckedScenario& checked) {
  training::Scenario scenario = checked.scenario();
  if (!scenario.run.until) {
    scenario.run.until.emplace().wall = 30_days;
    auto& bytes = scenario.run.checkpoint.bytes_per_parameter;
    if (bytes == storage::CheckpointSpec{}.bytes_per_parameter) {
      bytes = training::state_bytes_per_parameter(scenario);
    }
  }
  return training::check(scenario, checked.marks());
}

/// Nodes that leave with one bad one.
std::int64_t evicted_nodes(const JobModel& job) {
  switch (job.recovery.eviction) {
    case failures::Eviction::rack:
      return job.recovery.rack_nodes;
    case failures::Eviction::parallel_group:
      return static_cast<std::int64_t>(JobPlaces(job).groups_of({0}).size());
    case failures::Eviction::gpu:
    case failures::Eviction::node:
      return 1;
  }
  return 1;
}

void set_machine(const training::Scenario& scenario, DrillSetup& setup) {
  setup.nodes = scenario.cluster.nodes;
  setup.spares = training::spare_nodes(scenario);
  setup.sites = scenario.cluster.sites ? scenario.cluster.sites->count : 1;
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
  setup.room_of_leaf = std::max(1, ports / ports_of_node);
  setup.nodes_per_leaf = static_cast<int>(std::min<std::int64_t>(setup.room_of_leaf, setup.nodes));
  setup.nodes_per_rack = static_cast<int>(std::clamp<std::int64_t>(
      std::max(2, scenario.cluster.node.scale_up.domain_gpus / scenario.cluster.node.gpus), 1,
      setup.nodes));
}

}  // namespace

std::int64_t places_behind(const DrillSetup& setup, const Fault& fault) {
  if (fault.kind != FaultKind::leaf_down || setup.room_of_leaf == 0) {
    return 0;
  }
  const std::int64_t end = (fault.node / setup.room_of_leaf + 1) * setup.room_of_leaf;
  return std::max<std::int64_t>(0, end - setup.nodes);
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
  setup.recovery = resolved.job.recovery;
  setup.evicted = evicted_nodes(resolved.job);
  setup.replicas = resolved.job.replicas;
  set_monitors(scenario.run.recovery, setup);
  set_rates(checked, setup);
  if (scenario.run.prices) {
    const auto& prices = *scenario.run.prices;
    const double spares =
        static_cast<double>(setup.spares) * scenario.cluster.node.gpus * prices.spare_share;
    const double job = training::relative_price(scenario) * static_cast<double>(setup.gpus);
    setup.usd_per_second = prices.gpu_hour.si() * (job + spares);
  }
  setup.since_save = usual_since_save(setup);
  return setup;
}

}  // namespace headway::drill
