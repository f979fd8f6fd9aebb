// What happened at each failure of one trial, phase by phase: the trace that timelines are made of.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/core/fields.h"
#include "sim/core/tick.h"
#include "sim/core/units.h"
#include "sim/failures/spec.h"

namespace headway::campaign {

/// Who noticed a failure.
enum class Detector : std::uint8_t {
  recovery,           ///< the recovery's one detection time; nobody in particular
  process_exit,       ///< a process died and its launcher saw it
  watchdog,           ///< a collective did not end within its timeout
  heartbeat,          ///< a rank stopped reporting
  health_check,       ///< a periodic test of nodes
  straggler_monitor,  ///< a rank was slower than its peers
  validation,         ///< bad numbers were seen: loss, checksum, replay
  notice,             ///< it was announced: capacity taken back
};
constexpr auto enum_words(Detector) {
  using E = core::EnumWord<Detector>;
  return std::array{E{Detector::recovery, "recovery"},
                    E{Detector::process_exit, "process_exit"},
                    E{Detector::watchdog, "watchdog"},
                    E{Detector::heartbeat, "heartbeat"},
                    E{Detector::health_check, "health_check"},
                    E{Detector::straggler_monitor, "straggler_monitor"},
                    E{Detector::validation, "validation"},
                    E{Detector::notice, "notice"}};
}

/// The stages an incident passes through; some are skipped, some repeat.
enum class Stage : std::uint8_t {
  unnoticed,      ///< the job runs on: slow, or with bad numbers
  detect,         ///< the job stands, nobody knows
  diagnose,       ///< alarm to the name of a part
  wait,           ///< no spare is left
  replace,        ///< drain, spare in
  start,          ///< scheduling, containers
  communicators,  ///< communicator initialisation
  load,           ///< reading the checkpoint, or state from peers
  warm_up,        ///< first slow steps
};
constexpr auto enum_words(Stage) {
  using E = core::EnumWord<Stage>;
  return std::array{E{Stage::unnoticed, "unnoticed"},
                    E{Stage::detect, "detect"},
                    E{Stage::diagnose, "diagnose"},
                    E{Stage::wait, "wait"},
                    E{Stage::replace, "replace"},
                    E{Stage::start, "start"},
                    E{Stage::communicators, "communicators"},
                    E{Stage::load, "load"},
                    E{Stage::warm_up, "warm_up"}};
}

/// One stretch of an incident, in ticks of the campaign clock since the start of the run.
struct StageTime {
  Stage stage = Stage::detect;
  core::Tick begin = 0, end = 0;
  bool operator==(const StageTime&) const = default;
};

/// One failure, from the fault to the first useful step after it.
struct Incident {
  std::uint32_t hazard = 0;             ///< index into JobModel::hazards
  std::uint64_t first_node = 0;         ///< slot of the first node it hit
  std::int64_t nodes_lost = 0;          ///< that needed a spare
  core::Tick struck = 0;                ///< the fault happens
  std::optional<core::Tick> noticed{};  ///< a detector fires
  std::optional<core::Tick> blamed{};   ///< a part is named
  std::optional<core::Tick> resumed{};  ///< useful work again; absent: struck
                                        ///< again first, or the run ended
  Detector detector = Detector::recovery;
  int wrong_blames = 0;             ///< healthy parts named before the right one
  bool false_alarm = false;         ///< nothing was broken
  double slowness = 1;              ///< step / healthy step while it was unnoticed
  core::Tick lost_work = 0;         ///< healthy step time thrown away
  core::Tick slow_time = 0;         ///< wall clock beyond the healthy step time, until it was gone
  std::vector<StageTime> stages{};  ///< in order of time
};

/// The time an incident spent in `stage`, all its visits together.
core::Tick time_in(const Incident& incident, Stage stage);

/// The job stood still for a save.
struct SaveRecord {
  core::Tick begin = 0, end = 0;  ///< since the start of the run
  std::size_t level = 0;          ///< the farthest that was due: index into JobModel::near, or past
                                  ///< it the storage
};

/// Collects the incidents of one trial while it runs. Times must not fall.
class IncidentLog {
 public:
  /// A fault; it is the current incident from now on.
  void open(Incident incident);
  /// Number of the current incident.
  [[nodiscard]] std::size_t number() const { return current_; }
  /// Makes an earlier incident the current one again (a silent failure that is noticed).
  void resume(std::size_t number) { current_ = number; }
  /// The current incident enters a stage; the one before it ends.
  void enter(Stage stage, core::Tick now);
  /// A stage whose end is known.
  void add(Stage stage, core::Tick begin, core::Tick end);
  /// An incident is over: its part is well, or out of the job.
  void end(std::size_t number, core::Tick now);
  /// The last stage of an incident ends.
  void end_stage(std::size_t number, core::Tick now) { close(number, now); }
  [[nodiscard]] std::size_t size() const { return incidents_.size(); }
  /// The current incident's last stage ends: the job runs again, or something else struck.
  void leave(core::Tick now);
  /// The incident that is being handled; there must be one.
  Incident& current();
  [[nodiscard]] bool has_current() const { return current_ < incidents_.size(); }
  Incident& at(std::size_t number) { return incidents_[number]; }
  /// A save; they come in order.
  void add(const SaveRecord& save) { saves_.push_back(save); }
  [[nodiscard]] const std::vector<SaveRecord>& saves() const { return saves_; }
  /// All incidents in order of their faults; stages still open end now.
  std::vector<Incident> take(core::Tick now);

 private:
  void close(std::size_t number, core::Tick now);

  std::vector<Incident> incidents_;
  std::vector<SaveRecord> saves_;
  std::vector<bool> open_;  // the incident's last stage has not ended
  std::size_t current_ = static_cast<std::size_t>(-1);
};

}  // namespace headway::campaign
