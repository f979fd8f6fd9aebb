// Who notices that something is wrong, how often they look and how much they find.
#pragma once

#include <optional>

#include "sim/core/durations.h"
#include "sim/core/fields.h"
#include "sim/core/units.h"

namespace headway::failures {

/// A detector that finds less than one fault in a thousand is none.
inline constexpr core::Range recall_range{1e-3, 1, false, false, "from 0.001 to 1"};

/// A periodic test of all nodes, beside the job.
struct HealthCheckSpec {
  core::Seconds every{300};
  double recall = 1;
  template <class V>
  void fields(V& v) {
    v.required("every", every, "From one test of a node to the next.", core::period);
    v.optional("recall", recall, "Chance that one test finds a fault that is there.", recall_range);
  }
  bool operator==(const HealthCheckSpec&) const = default;
};

/// Compares ranks with their peers and names the slow one.
struct StragglerMonitorSpec {
  core::Seconds window{600};
  double recall = 1;
  std::optional<core::Seconds> false_alarm_every;
  template <class V>
  void fields(V& v) {
    v.required("window", window, "How long a part must be slow before the monitor can tell.",
               core::period);
    v.optional("recall", recall, "Chance that one window finds a slow part.", recall_range);
    v.optional("false_alarm_every", false_alarm_every,
               "Mean time between alarms without a fault, of the whole job; "
               "absent: none.",
               core::Range{60, core::kCentury, false, false, "between 1 min and 100 years"});
  }
  bool operator==(const StragglerMonitorSpec&) const = default;
};

/// Who notices what: the first detector that sees a fault ends its detection.
struct DetectorsSpec {
  core::Seconds process_exit{5};
  std::optional<core::Seconds> watchdog;
  std::optional<core::Seconds> heartbeat;
  std::optional<HealthCheckSpec> health_check;
  std::optional<StragglerMonitorSpec> straggler_monitor;
  template <class V>
  void fields(V& v) {
    v.optional("process_exit", process_exit,
               "A process dies until its launcher knows; sees every fault that "
               "stops a process.",
               core::duration);
    v.optional("watchdog", watchdog,
               "Timeout of a collective (NCCL's is 600 s in PyTorch); sees "
               "stops and hangs.",
               core::some_time);
    v.optional("heartbeat", heartbeat, "Time without a report until alarm; sees stops and hangs.",
               core::some_time);
    v.optional("health_check", health_check, "Periodic tests; see every fault of a part.");
    v.optional("straggler_monitor", straggler_monitor, "Sees slow GPUs and links.");
  }
  bool operator==(const DetectorsSpec&) const = default;
};

}  // namespace headway::failures
