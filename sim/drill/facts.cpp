// The tables of faults and symptoms: words and who sees what. No times and no rates are here.
#include "sim/core/error.h"
#include "sim/drill/fault.h"
#include "sim/drill/symptom.h"

namespace headway::drill {

FaultFacts facts_of(FaultKind kind) {
  switch (kind) {
    case FaultKind::gpu_dead:
      return {"GPU", "", Cure::replace_node, true};
    case FaultKind::hbm_error:
      return {"GPU memory", "", Cure::replace_node, true};
    case FaultKind::nvme_slow:
      return {"NVMe drive", "rate lasts", Cure::replace_node, true};
    case FaultKind::nvme_stalled:
      return {"NVMe drive", "lasts", Cure::replace_node, true};
    case FaultKind::nic_down:
      return {"NIC", "lasts", Cure::replace_node, true};
    case FaultKind::link_half_rate:
      return {"cable", "factor lasts repair", Cure::mend_network, true};
    case FaultKind::optic_flapping:
      return {"cable", "down every lasts repair", Cure::mend_network, true};
    case FaultKind::leaf_down:
      return {"switch", "repair", Cure::mend_network, false};
    case FaultKind::gpu_slow:
      return {"slow GPU", "factor lasts", Cure::replace_node, true};
    case FaultKind::hang:
      return {"software hang", "", Cure::restart, false};
    case FaultKind::silent_corruption:
      return {"GPU that computes wrongly", "after", Cure::replace_node, true};
    case FaultKind::loss_spike:
      return {"numerics of the run", "", Cure::roll_back, false, false};
    case FaultKind::storage_slow:
      return {"storage service", "factor lasts repair", Cure::mend_storage, false, false};
    case FaultKind::storage_full:
      return {"storage capacity", "repair", Cure::mend_storage, false, false};
    case FaultKind::rack_power_loss:
      return {"power of the rack", "nodes repair", Cure::replace_node, false};
    case FaultKind::wrong_checkpoint:
      return {"restart procedure", "behind", Cure::load_right_one, false, false};
    case FaultKind::host_dead:
      return {"host", "", Cure::replace_node, true};
    case FaultKind::software_crash:
      return {"software", "", Cure::restart, false};
    case FaultKind::site_cut:
      return {"way between sites", "lasts repair", Cure::mend_way, false};
    case FaultKind::site_slow:
      return {"way between sites", "factor lasts repair", Cure::mend_way, false};
  }
  HEADWAY_CHECK(false, "fault kind {}", static_cast<int>(kind));
}

// NOLINTNEXTLINE(readability-function-size): a table
SymptomFacts facts_of(Symptom symptom) {
  using L = StackLayer;
  using M = Monitor;
  switch (symptom) {
    case Symptom::gpu_off_bus:
      return {L::hardware, M::health_check, true, "a GPU has fallen off the bus (Xid 79)"};
    case Symptom::memory_error:
      return {L::hardware, M::health_check, true, "uncorrectable memory error of a GPU (Xid 94)"};
    case Symptom::gpu_clock_low:
      return {L::hardware, M::health_check, true, "a GPU runs at a reduced clock"};
    case Symptom::drive_latency:
      return {L::hardware, M::drive_monitor, true, "write latency of one NVMe drive is up"};
    case Symptom::drive_silent:
      return {L::hardware, M::drive_monitor, true, "one NVMe drive completes no writes"};
    case Symptom::port_down:
      return {L::hardware, M::health_check, true, "a NIC port is down"};
    case Symptom::ports_down:
      return {L::hardware, M::health_check, false, "NIC ports of many nodes are down at once"};
    case Symptom::port_errors:
      return {L::hardware, M::link_monitor, true, "a NIC port counts link flaps"};
    case Symptom::port_slow:
      return {L::hardware, M::link_monitor, true, "a NIC port trained to a lower rate"};
    case Symptom::node_dark:
      return {L::hardware, M::health_check, true, "nodes do not answer"};
    case Symptom::rack_dark:
      return {L::hardware, M::health_check, false, "all nodes of a rack are dark at once"};
    case Symptom::switch_dark:
      return {L::hardware, M::link_monitor, true, "all ports of a leaf switch are down"};
    case Symptom::flows_stalled:
      return {L::network, M::link_monitor, false, "flows to the part retransmit, no byte arrives"};
    case Symptom::rail_slow:
      return {L::network, M::link_monitor, false, "flows of one rail run below their rate"};
    case Symptom::way_dark:
      return {L::network, M::link_monitor, true, "no byte passes between a site and the others"};
    case Symptom::way_slow:
      return {L::network, M::link_monitor, true, "the way of a site carries less than it should"};
    case Symptom::writer_late:
      return {L::storage, M::save_monitor, true, "one writer of the save is far behind the others"};
    case Symptom::writers_slow:
      return {L::storage, M::save_monitor, false, "all writers of the save are slow"};
    case Symptom::space_low:
      return {L::storage, M::capacity_monitor, false, "free space is below one checkpoint"};
    case Symptom::no_space:
      return {L::storage, M::people, false, "writes fail: no space left on device"};
    case Symptom::load_slow:
      return {L::storage, M::people, false, "loading the checkpoint takes longer than usual"};
    case Symptom::rank_late:
      return {L::collective, M::straggler_monitor, true, "one rank comes late to collectives"};
    case Symptom::collective_error:
      return {L::collective, M::people, true, "remote error of a peer: the communicator aborts"};
    case Symptom::collective_timeout:
      return {L::collective, M::people, false, "the watchdog ends a collective that never came"};
    case Symptom::missing_rank:
      return {L::collective, M::flight_recorder, true, "the dump names a rank that did not come"};
    case Symptom::init_failed:
      return {L::collective, M::people, true, "the communicators do not start: a peer is mute"};
    case Symptom::cuda_error:
      return {L::job, M::people, true, "one rank ends with a CUDA error"};
    case Symptom::traceback:
      return {L::job, M::people, true, "one rank ends with a traceback"};
    case Symptom::start_failed:
      return {L::job, M::people, true, "the processes of a node do not start"};
    case Symptom::process_exit:
      return {L::job, M::process_exit, false, "a process of the job has exited"};
    case Symptom::no_step:
      return {L::job, M::people, false, "the log is silent; GPUs spin at 100 % utilisation"};
    case Symptom::step_slow:
      return {L::job, M::people, false, "steps take longer"};
    case Symptom::save_slow:
      return {L::job, M::people, false, "a save takes longer than usual"};
    case Symptom::save_failed:
      return {L::job, M::people, false, "a save has failed with an exception"};
    case Symptom::save_skipped:
      return {L::job, M::people, false, "a save is left out: the one before is not durable yet"};
    case Symptom::step_went_back:
      return {L::job, M::restart_check, false, "the step counter is behind the log"};
    case Symptom::loss_jump:
      return {L::loss, M::loss_monitor, false, "the loss jumps"};
    case Symptom::loss_drift:
      return {L::loss, M::loss_monitor, false, "loss and gradient norm drift away"};
    case Symptom::replay_differs:
      return {L::loss, M::replay, true, "a replayed step gives other bits"};
  }
  HEADWAY_CHECK(false, "symptom {}", static_cast<int>(symptom));
}

}  // namespace headway::drill
