#include "sim/drill/effect.h"

#include <algorithm>

#include "sim/drill/constants.h"

namespace headway::drill {

using core::Seconds;

namespace {

template <class Value>
void fill(std::optional<Value>& field, Value value) {
  if (!field) {
    field = value;
  }
}

/// Nodes of the job are numbered by their ranks.
core::Rank rank_of(const Fault& fault, const DrillSetup& setup) {
  return core::Rank(
      static_cast<std::uint32_t>(fault.node * (setup.gpus / setup.nodes) + fault.gpu));
}

Effect slow_gpu(const Fault& fault, const DrillSetup& setup, const SlowdownOf& slowdown) {
  Effect e;
  e.slowdown = slowdown({training::Degradation::Kind::gpu, *fault.factor, rank_of(fault, setup)});
  e.nodes_lost = 1;
  e.at_once = {Symptom::gpu_clock_low};
  e.when_slow = Symptom::rank_late;
  return e;
}

Effect slow_link(const Fault& fault, const DrillSetup& setup, const SlowdownOf& slowdown) {
  Effect e;
  e.slowdown = slowdown({training::Degradation::Kind::link, *fault.factor, rank_of(fault, setup)});
  e.nodes_lost = 1;
  e.at_once = {Symptom::port_slow, Symptom::rail_slow};
  e.when_slow = Symptom::rank_late;
  return e;
}

/// While the port is down the flows of the step wait; the outage is short enough to survive, or the
/// transport gives up. An uptime shorter than the time between two retries may fall between them:
/// outages so close count as one.
Effect flapping(const Fault& fault, const DrillSetup& setup) {
  Effect e;
  e.nodes_lost = 1;
  e.at_once = {Symptom::port_errors};
  const auto& transport = setup[Monitor::transport];
  const bool joined = *fault.every - *fault.down < transport.time / kRetries;
  if (transport.on && (*fault.down > transport.time || joined)) {
    e.blow = Blow::silence;
    e.breaks = Breaks::communicators;
    e.at_once.push_back(Symptom::flows_stalled);
    return e;
  }
  e.slowdown = *fault.every / (*fault.every - *fault.down);
  e.at_once.push_back(Symptom::rail_slow);
  e.when_slow = Symptom::rank_late;
  return e;
}

Effect broken(Blow blow,
              std::int64_t nodes_lost,
              std::vector<Symptom> at_once,
              Breaks breaks = Breaks::nothing) {
  Effect e;
  e.breaks = breaks;
  e.blow = blow;
  e.nodes_lost = nodes_lost;
  e.at_once = std::move(at_once);
  return e;
}

Effect drive(core::BytesPerSecond rate, Symptom symptom) {
  Effect e;
  e.drive = rate;
  e.nodes_lost = 1;
  e.at_once = {symptom};
  return e;
}

Effect dead_leaf(const DrillSetup& setup) {
  Effect e = broken(Blow::silence, setup.nodes_per_leaf,
                    {Symptom::switch_dark, Symptom::port_down, Symptom::flows_stalled},
                    Breaks::communicators);
  if (setup.nodes_per_leaf > 1) {
    e.at_once.push_back(Symptom::ports_down);
  }
  return e;
}

Effect dark_rack(int nodes) {
  Effect e =
      broken(Blow::silence, nodes, {Symptom::node_dark, Symptom::flows_stalled}, Breaks::start);
  if (nodes > 1) {
    e.at_once.push_back(Symptom::rack_dark);
  }
  return e;
}

/// No byte comes from the nodes of the site, and none of them is lost.
Effect cut_off() {
  return broken(Blow::silence, 0, {Symptom::way_dark, Symptom::flows_stalled},
                Breaks::communicators);
}

/// The ring between sites goes at the pace of its slowest way.
Effect slow_way(const Fault& fault, const SlowdownOf& slowdown) {
  Effect e;
  e.slowdown = slowdown({training::Degradation::Kind::ways, *fault.factor, core::Rank(0)});
  e.at_once = {Symptom::way_slow};
  e.when_slow = Symptom::rank_late;
  return e;
}

Effect of_state(const Fault& fault) {
  Effect e;
  switch (fault.kind) {
    case FaultKind::silent_corruption:
      e.corrupts = true;
      e.nodes_lost = 1;
      e.loss_after = *fault.after;
      break;
    case FaultKind::loss_spike:
      e.corrupts = true;
      e.loss_after = Seconds(0);
      break;
    case FaultKind::wrong_checkpoint:
      e.stale_restart = true;
      e.blow = Blow::exit;  // something else made the job restart
      e.at_once = {Symptom::traceback};
      break;
    case FaultKind::storage_slow:
      e.storage_share = *fault.factor;
      break;
    default:
      e.storage_full = true;
      e.at_once = {Symptom::space_low};
      break;
  }
  return e;
}

Effect raw_effect(const Fault& fault, const DrillSetup& setup, const SlowdownOf& slowdown) {
  switch (fault.kind) {
    case FaultKind::gpu_dead:
      return broken(Blow::exit, 1, {Symptom::gpu_off_bus, Symptom::cuda_error}, Breaks::start);
    case FaultKind::hbm_error:
      return broken(Blow::exit, 1, {Symptom::memory_error, Symptom::cuda_error});
    case FaultKind::software_crash:
      return broken(Blow::exit, 0, {Symptom::traceback});
    case FaultKind::hang:
      return broken(Blow::hang, 0, {});
    case FaultKind::host_dead:
      return broken(Blow::silence, 1, {Symptom::node_dark, Symptom::flows_stalled}, Breaks::start);
    case FaultKind::nic_down:
      return broken(Blow::silence, 1, {Symptom::port_down, Symptom::flows_stalled},
                    Breaks::communicators);
    case FaultKind::leaf_down:
      return dead_leaf(setup);
    case FaultKind::rack_power_loss:
      return dark_rack(*fault.nodes);
    case FaultKind::gpu_slow:
      return slow_gpu(fault, setup, slowdown);
    case FaultKind::link_half_rate:
      return slow_link(fault, setup, slowdown);
    case FaultKind::optic_flapping:
      return flapping(fault, setup);
    case FaultKind::nvme_slow:
      return drive(*fault.rate, Symptom::drive_latency);
    case FaultKind::nvme_stalled:
      return drive(core::BytesPerSecond(0), Symptom::drive_silent);
    case FaultKind::site_cut:
      return cut_off();
    case FaultKind::site_slow:
      return slow_way(fault, slowdown);
    case FaultKind::silent_corruption:
    case FaultKind::loss_spike:
    case FaultKind::wrong_checkpoint:
    case FaultKind::storage_slow:
    case FaultKind::storage_full:
      return of_state(fault);
  }
  return {};
}

}  // namespace

Fault with_defaults(const Fault& given, const DrillSetup& setup) {
  Fault fault = given;
  switch (fault.kind) {
    case FaultKind::nvme_slow:
      fill(fault.rate, kUsualDrive * setup.saves.node_rate);
      break;
    case FaultKind::gpu_slow:
      fill(fault.factor, kUsualGpu);
      break;
    case FaultKind::link_half_rate:
      fill(fault.factor, kUsualLink);
      break;
    case FaultKind::storage_slow:
      fill(fault.factor, kUsualStorage);
      fill(fault.repair, Seconds(kStorageRepair));
      break;
    case FaultKind::storage_full:
      fill(fault.repair, Seconds(kSpaceRepair));
      break;
    case FaultKind::optic_flapping:
      fill(fault.down,
           fault.every ? std::min(Seconds(kOutage), *fault.every / 2) : Seconds(kOutage));
      fill(fault.every, std::max(Seconds(kOutageEvery), 2.0 * *fault.down));
      break;
    case FaultKind::leaf_down:
      fill(fault.repair, Seconds(kLeafRepair));
      break;
    case FaultKind::site_slow:
      fill(fault.factor, kUsualWay);
      fill(fault.repair, Seconds(kWayRepair));
      break;
    case FaultKind::site_cut:
      fill(fault.repair, Seconds(kWayRepair));
      break;
    case FaultKind::rack_power_loss:
      fill(fault.nodes, setup.nodes_per_rack);
      fill(fault.repair, Seconds(kRackRepair));
      break;
    case FaultKind::silent_corruption:
      fill(fault.after, Seconds(kCorruptionShows));
      break;
    case FaultKind::wrong_checkpoint:
      fill(fault.behind, kStaleSaves);
      break;
    default:
      break;
  }
  return fault;
}

Effect effect_of(const Fault& fault, const DrillSetup& setup, const SlowdownOf& slowdown) {
  Effect effect = raw_effect(fault, setup, slowdown);
  const auto& watchdog = setup[Monitor::watchdog];
  const Seconds waits = (effect.slowdown - 1) * setup.step;
  if (watchdog.on && waits > watchdog.time) {
    effect.slowdown = 1;  // no step ends any more: the others give up waiting
    effect.blow = Blow::hang;
  }
  effect.lasts = fault.lasts;
  effect.repair = fault.repair.value_or(setup.recovery.repair);
  return effect;
}

}  // namespace headway::drill
