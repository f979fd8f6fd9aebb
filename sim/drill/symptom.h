// What can be seen of a fault, in which layer, and who looks there.
#pragma once

#include <cstdint>
#include <string_view>

#include "sim/core/durations.h"
#include "sim/core/fields.h"
#include "sim/core/units.h"

namespace headway::drill {

/// Layers of the stack, from the metal up.
enum class StackLayer : std::uint8_t { hardware, network, storage, collective, job, loss };
constexpr auto enum_words(StackLayer) {
  using E = core::EnumWord<StackLayer>;
  return std::array{E{StackLayer::hardware, "hardware"}, E{StackLayer::network, "network"},
                    E{StackLayer::storage, "storage"},   E{StackLayer::collective, "collective"},
                    E{StackLayer::job, "job"},           E{StackLayer::loss, "loss"}};
}

/// Who could look: a symptom is visible where someone does.
enum class Monitor : std::uint8_t {
  process_exit,       ///< the launcher sees that a process died
  transport,          ///< the NIC gives up on a silent peer and the communicator aborts
  watchdog,           ///< the collective library gives up on an operation
  heartbeat,          ///< no step was finished for long
  health_check,       ///< GPU, memory and NIC state of every node, read periodically
  link_monitor,       ///< port counters of NICs and switches
  drive_monitor,      ///< latency counters of drives
  straggler_monitor,  ///< arrival times of the ranks at collectives
  flight_recorder,    ///< which rank did not come to an operation that timed out
  save_monitor,       ///< duration of saves, writer by writer
  capacity_monitor,   ///< free space of the storage
  loss_monitor,       ///< the loss and the gradient norm
  replay,             ///< a step computed twice and compared
  restart_check,      ///< the step number after a restart against the log
  people,             ///< someone looks at the log and the curves
};
constexpr auto enum_words(Monitor) {
  using M = Monitor;
  using E = core::EnumWord<M>;
  return std::array{E{M::process_exit, "process_exit"},
                    E{M::transport, "transport"},
                    E{M::watchdog, "watchdog"},
                    E{M::heartbeat, "heartbeat"},
                    E{M::health_check, "health_check"},
                    E{M::link_monitor, "link_monitor"},
                    E{M::drive_monitor, "drive_monitor"},
                    E{M::straggler_monitor, "straggler_monitor"},
                    E{M::flight_recorder, "flight_recorder"},
                    E{M::save_monitor, "save_monitor"},
                    E{M::capacity_monitor, "capacity_monitor"},
                    E{M::loss_monitor, "loss_monitor"},
                    E{M::replay, "replay"},
                    E{M::restart_check, "restart_check"},
                    E{M::people, "people"}};
}
inline constexpr std::size_t kMonitors = enum_words(Monitor{}).size();

/// A change of one watcher.
struct MonitorChange {
  Monitor name = Monitor::people;
  core::Seconds time{0};  ///< 0: the monitor's own
  template <class V>
  void fields(V& v) {
    v.required("name", name, "Who watches.");
    v.optional("time", time, "Timeout, or period of looking.", core::some_time);
  }
  bool operator==(const MonitorChange&) const = default;
};

enum class Symptom : std::uint8_t {
  gpu_off_bus,
  memory_error,
  gpu_clock_low,
  drive_latency,
  drive_silent,
  port_down,
  ports_down,
  port_errors,
  port_slow,
  node_dark,
  rack_dark,
  switch_dark,
  flows_stalled,
  rail_slow,
  way_dark,
  way_slow,
  writer_late,
  writers_slow,
  space_low,
  no_space,
  load_slow,
  rank_late,
  collective_error,
  collective_timeout,
  missing_rank,
  init_failed,
  cuda_error,
  traceback,
  start_failed,
  process_exit,
  no_step,
  step_slow,
  save_slow,
  save_failed,
  save_skipped,
  step_went_back,
  loss_jump,
  loss_drift,
  replay_differs,
};
constexpr auto enum_words(Symptom) {
  using S = Symptom;
  using E = core::EnumWord<S>;
  return std::array{E{S::gpu_off_bus, "gpu_off_bus"},
                    E{S::memory_error, "memory_error"},
                    E{S::gpu_clock_low, "gpu_clock_low"},
                    E{S::drive_latency, "drive_latency"},
                    E{S::drive_silent, "drive_silent"},
                    E{S::port_down, "port_down"},
                    E{S::ports_down, "ports_down"},
                    E{S::port_errors, "port_errors"},
                    E{S::port_slow, "port_slow"},
                    E{S::node_dark, "node_dark"},
                    E{S::rack_dark, "rack_dark"},
                    E{S::switch_dark, "switch_dark"},
                    E{S::flows_stalled, "flows_stalled"},
                    E{S::rail_slow, "rail_slow"},
                    E{S::way_dark, "way_dark"},
                    E{S::way_slow, "way_slow"},
                    E{S::writer_late, "writer_late"},
                    E{S::writers_slow, "writers_slow"},
                    E{S::space_low, "space_low"},
                    E{S::no_space, "no_space"},
                    E{S::load_slow, "load_slow"},
                    E{S::rank_late, "rank_late"},
                    E{S::collective_error, "collective_error"},
                    E{S::collective_timeout, "collective_timeout"},
                    E{S::missing_rank, "missing_rank"},
                    E{S::init_failed, "init_failed"},
                    E{S::cuda_error, "cuda_error"},
                    E{S::traceback, "traceback"},
                    E{S::start_failed, "start_failed"},
                    E{S::process_exit, "process_exit"},
                    E{S::no_step, "no_step"},
                    E{S::step_slow, "step_slow"},
                    E{S::save_slow, "save_slow"},
                    E{S::save_failed, "save_failed"},
                    E{S::save_skipped, "save_skipped"},
                    E{S::step_went_back, "step_went_back"},
                    E{S::loss_jump, "loss_jump"},
                    E{S::loss_drift, "loss_drift"},
                    E{S::replay_differs, "replay_differs"}};
}
inline constexpr std::size_t kSymptoms = enum_words(Symptom{}).size();

struct SymptomFacts {
  StackLayer layer = StackLayer::job;
  Monitor seen_by = Monitor::people;  ///< who can see it; `people`: it stands in the job's log
  bool names_node = false;            ///< whoever sees it knows which node
  std::string_view text;              ///< as a timeline says it
};
SymptomFacts facts_of(Symptom symptom);

}  // namespace headway::drill
