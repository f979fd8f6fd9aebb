// Which fields of a scenario belong to which layer.
#include "sim/study/compare.h"

namespace headway::study {

namespace {

using training::Scenario;

/// Fields of the recovery that say how a failure is noticed and named; the others respond to it.
void take_observation(failures::RecoverySpec& to, const failures::RecoverySpec& from) {
  to.detection = from.detection;
  to.detectors = from.detectors;
  to.wrong_blame = from.wrong_blame;
  to.diagnosis = from.diagnosis;
}

void take_orchestration(Scenario& to, const Scenario& from) {
  to.cluster.placement = from.cluster.placement;
  to.cluster.spares = from.cluster.spares;
  const auto seen = to.run.recovery;
  to.run.recovery = from.run.recovery;
  take_observation(to.run.recovery, seen);
  if (to.run.failures && from.run.failures) {
    to.run.failures->lemons = from.run.failures->lemons;
  }
}

/// Whether the way to the storage is that of the compute fabric.
void take_path(Scenario& to, const std::optional<storage::StorageSpec>& from) {
  if (to.cluster.storage && from) {
    to.cluster.storage->path = from->path;
  }
}

void take_storage(Scenario& to, const Scenario& from) {
  const auto mine = to.cluster.storage;
  to.cluster.storage = from.cluster.storage;
  take_path(to, mine);
  to.run.checkpoint = from.run.checkpoint;
}

void take_interconnect(Scenario& to, const Scenario& from) {
  to.cluster.fabric = from.cluster.fabric;
  to.cluster.node.nic = from.cluster.node.nic;
  to.cluster.node.scale_up = from.cluster.node.scale_up;
  take_path(to, from.cluster.storage);
}

/// Everything but the four layers above, which stay.
void take_rest(Scenario& to, const Scenario& from) {
  Scenario mixed = from;
  take_orchestration(mixed, to);
  take_storage(mixed, to);
  take_interconnect(mixed, to);
  take_observation(mixed.run.recovery, to.run.recovery);
  to = mixed;
}

}  // namespace

std::string_view contents_of(Layer layer) {
  switch (layer) {
    case Layer::orchestration:
      return "placement, spares, response to failures";
    case Layer::storage:
      return "storage, checkpoints";
    case Layer::interconnect:
      return "fabric, NICs, NVLink, path to storage";
    case Layer::observability:
      return "detection and diagnosis";
    case Layer::rest:
      return "model, recipe, layout, GPUs, failure rates, prices";
  }
  return "";
}

Scenario with_layer(Scenario base, const Scenario& other, Layer layer) {
  switch (layer) {
    case Layer::orchestration:
      take_orchestration(base, other);
      break;
    case Layer::storage:
      take_storage(base, other);
      break;
    case Layer::interconnect:
      take_interconnect(base, other);
      break;
    case Layer::observability:
      take_observation(base.run.recovery, other.run.recovery);
      break;
    case Layer::rest:
      take_rest(base, other);
      break;
  }
  return base;
}

}  // namespace headway::study
