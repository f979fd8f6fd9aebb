// The accounts of GPU time: what every second that is paid for was spent on.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "sim/core/result_fields.h"

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
  cut_off,      ///< a site has no way to the others
  protection,   ///< what a fault-tolerance scheme adds to every step
  input,        ///< steps wait for their data
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
                    E{Account::cut_off, "cut_off"},
                    E{Account::protection, "protection"},
                    E{Account::input, "input"},
                    E{Account::degraded, "degraded"},
                    E{Account::spare_idle, "spare_idle"},
                    E{Account::maintenance, "maintenance"}};
}
inline constexpr std::size_t kAccounts = enum_words(Account{}).size();

/// What is booked there, for the definitions of figures.
constexpr std::string_view meaning_of(Account account) {
  switch (account) {
    case Account::useful:
      return "steps that became durable, at healthy speed";
    case Account::lost:
      return "steps thrown away at a failure, at healthy speed; their repetition is `useful`";
    case Account::checkpoint:
      return "training stopped by a save, the wait for the last save of the run included; what "
             "background saves take from a shared fabric";
    case Account::detect:
      return "the job stands, nobody knows";
    case Account::diagnose:
      return "alarm to the name of a part, while the job stands";
    case Account::restart:
      return "replacing nodes, containers, communicators, warm-up, elastic stalls, moves to spares";
    case Account::load:
      return "reading the checkpoint or the state of peers; copying the data set";
    case Account::wait:
      return "no spare left";
    case Account::cut_off:
      return "a site has no way to the others, and an exchange or a restart waits for it";
    case Account::protection:
      return "what a scheme that tolerates faults adds to every step (`run.recovery.step_tax`)";
    case Account::input:
      return "steps wait for data that storage delivers too slowly; GPUs draw their idle power";
    case Account::degraded:
      return "steps take longer than healthy ones: k healthy step times are `useful` or `lost`, "
             "the rest is here (slow parts, heat, missing replicas), without the waits for data of "
             "a healthy step";
    case Account::spare_idle:
      return "spares, ready or in repair";
    case Account::maintenance:
      return "planned work";
  }
  return "";
}

/// GPU seconds an account; in a single trial also exact in ticks.
struct Ledger {
  std::array<double, kAccounts> gpu_seconds{};
  double& operator[](Account a) { return gpu_seconds[static_cast<std::size_t>(a)]; }
  double operator[](Account a) const { return gpu_seconds[static_cast<std::size_t>(a)]; }
  bool operator==(const Ledger&) const = default;
  /// Of the job's wall clock, which idle spares are not part of; 0 of an empty ledger.
  [[nodiscard]] double share_of_clock(Account account) const {
    double clock = 0;
    for (const auto& entry : enum_words(Account{})) {
      clock += entry.value == Account::spare_idle ? 0 : (*this)[entry.value];
    }
    return clock > 0 ? (*this)[account] / clock : 0;
  }

  template <class V>
  void fields(V& v) const {
    for (const auto& [account, word] : enum_words(Account{})) {
      v.figure(word, (*this)[account], "", meaning_of(account), core::non_negative);
    }
  }
};

}  // namespace headway::campaign
