// The figures that a drill rests on, each with its source in `model_constants`.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "sim/core/model_constant.h"
#include "sim/drill/fault.h"
#include "sim/drill/symptom.h"

namespace headway::drill {

// Whom an engineer blames (belief.h).
inline constexpr double kShown = 0.9;  ///< a symptom of the cause shows when its simulation says so
inline constexpr double kStray = 0.02;  ///< one shows that the cause does not explain
/// The same for a state of hardware that somebody has read: it is what it says, but for a false
/// alarm.
inline constexpr double kStrayHardware = 0.001;

// Who notices what.
inline constexpr double kSlowForPeople = 1.05;    ///< step / healthy step
inline constexpr double kSlowForMonitors = 1.01;  ///< the same
inline constexpr double kLateSave = 1.02;         ///< time of a save / usual time
inline constexpr double kSilentSteps = 3;         ///< a log is silent when so many are missing
inline constexpr double kRetries = 7;             ///< of a NIC within the transport's patience
inline constexpr double kInitTimeout = 1800;      ///< [s]

// What a fault is like where nobody says so (effect.h).
inline constexpr double kUsualDrive = 0.5;         ///< share of its rate that a slow drive keeps
inline constexpr double kUsualGpu = 0.8;           ///< of its speed that a slow GPU keeps
inline constexpr double kUsualLink = 0.5;          ///< of its rate that a bad cable keeps
inline constexpr double kUsualStorage = 0.1;       ///< of its rate that a slow storage keeps
inline constexpr double kStorageRepair = 7200;     ///< [s]
inline constexpr double kSpaceRepair = 600;        ///< [s]
inline constexpr double kLeafRepair = 7200;        ///< [s]
inline constexpr double kRackRepair = 3600;        ///< [s]
inline constexpr double kUsualWay = 0.5;           ///< of its rate that a bad way keeps
inline constexpr double kWayRepair = 43200;        ///< [s]
inline constexpr double kOutage = 3;               ///< of an optic [s]
inline constexpr double kOutageEvery = 60;         ///< [s]
inline constexpr double kCorruptionShows = 21600;  ///< until the loss shows bad numbers [s]
inline constexpr std::int64_t kStaleSaves = 10;    ///< saves that the wrong checkpoint is old

/// What a rate is counted over.
enum class Per : std::uint8_t { gpu, node, leaf, rack, site, job };
constexpr auto enum_words(Per) {
  using E = core::EnumWord<Per>;
  return std::array{E{Per::gpu, "GPU"},   E{Per::node, "node"}, E{Per::leaf, "leaf"},
                    E{Per::rack, "rack"}, E{Per::site, "site"}, E{Per::job, "job"}};
}

/// How often a kind of fault strikes one part, where the failure table does not list it.
struct UsualRate {
  FaultKind kind = FaultKind::gpu_dead;
  double per_second = 0;
  Per per = Per::gpu;
  std::string_view source;
};
const std::array<UsualRate, kFaultKinds>& usual_rates();

/// A watcher as it usually is.
struct UsualMonitor {
  Monitor monitor = Monitor::people;
  bool on = false;
  double time = 0;  ///< timeout, or period of looking [s]; of `replay` in steps
  std::string_view why;
};
const std::array<UsualMonitor, kMonitors>& usual_monitors();

/// All of it.
std::vector<core::ModelConstant> model_constants();

}  // namespace headway::drill
