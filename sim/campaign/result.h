// What weeks of training give: distributions over independent trials.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/core/fields.h"
#include "sim/core/units.h"
#include "sim/price/bill.h"

namespace headway::campaign {

/// Every second of every GPU paid for falls in exactly one account.
enum class Account : std::uint8_t {
  useful,       ///< steps that became durable, at healthy speed
  lost,         ///< steps thrown away at a failure
  checkpoint,   ///< training stopped by a save
  detect,       ///< failure to alarm
  diagnose,     ///< alarm to the name of the bad part
  restart,      ///< draining, containers, communicators, warm-up
  load,         ///< reading the checkpoint
  wait,         ///< no spare left
  degraded,     ///< time beyond the healthy step time in degraded states
  spare_idle,   ///< spares, ready or in repair
  maintenance,  ///< planned work
};
constexpr auto enum_words(Account) {
  using E = core::EnumWord<Account>;
  return std::array{E{Account::useful, "useful"},
                    E{Account::lost, "lost"},
                    E{Account::checkpoint, "checkpoint"},
                    E{Account::detect, "detect"},
                    E{Account::diagnose, "diagnose"},
                    E{Account::restart, "restart"},
                    E{Account::load, "load"},
                    E{Account::wait, "wait"},
                    E{Account::degraded, "degraded"},
                    E{Account::spare_idle, "spare_idle"},
                    E{Account::maintenance, "maintenance"}};
}
inline constexpr std::size_t kAccounts = enum_words(Account{}).size();

/// GPU seconds an account; in a single trial also exact in ticks.
struct Ledger {
  std::array<double, kAccounts> gpu_seconds{};
  double& operator[](Account a) { return gpu_seconds[static_cast<std::size_t>(a)]; }
  double operator[](Account a) const { return gpu_seconds[static_cast<std::size_t>(a)]; }
  bool operator==(const Ledger&) const = default;
};

/// One figure over the trials.
struct Distribution {
  double p5 = 0, p50 = 0, p95 = 0, mean = 0;
  double standard_error = 0;  ///< of the mean
};

/// Interruptions of one hazard, mean over trials.
struct InterruptionCount {
  std::string hazard;
  double mean = 0;
};

/// ETTR at one checkpoint interval.
struct IntervalPoint {
  core::Seconds interval;      ///< useful work between saves to storage
  std::optional<double> ettr;  ///< absent: at this interval the run would hardly end
  bool exact = false;          ///< closed form; else the mean of trials
};

/// The gain if every failure were noticed earlier.
struct EarlierDetection {
  core::Seconds earlier;
  double ettr_gain = 0;       ///< mean
  double standard_error = 0;  ///< of that
  double days_saved = 0;      ///< mean; 0 where the wall clock ends the run
};

/// What the campaign teaches (advice.h).
struct Advice {
  std::vector<IntervalPoint> interval_curve;
  double wait_target = 0;              ///< share of time
  std::optional<std::int64_t> spares;  ///< fewest that wait for less than that
  bool spares_exact = false;           ///< by closed form; else by trials
  std::vector<EarlierDetection> earlier_detection;
};

struct CampaignResult {
  int trials = 0;
  Distribution wall_days, ettr, goodput, interruptions, steps;
  Ledger ledger;  ///< mean over trials
  std::vector<InterruptionCount> by_hazard;
  std::optional<double>
      closed_form_ettr;               ///< exact where a closed form exists (README.md), else absent
  core::Seconds checkpoint_interval;  ///< as used, useful work between saves
  core::Seconds optimal_interval;     ///< closed form, 0 without failures
  core::Seconds checkpoint_stall, checkpoint_persist, checkpoint_load;
  core::Seconds mean_time_between_interruptions;  ///< of the whole job; 0: nothing fails
  core::Seconds
      downtime;  ///< mean, failure to running again, without lost work and the wait for a spare
  double replicas_hit = 0;            ///< mean, by a failure that takes nodes; 0: none did
  double tokens = 0;                  ///< mean, durable
  std::int64_t step_simulations = 0;  ///< of degraded states of the cluster
  Advice advice;
  std::uint64_t event_digest = 0;
};

}  // namespace headway::campaign
