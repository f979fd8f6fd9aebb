// What weeks of training give: distributions over independent trials.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/campaign/account.h"
#include "sim/campaign/time_to_market.h"
#include "sim/core/result_fields.h"
#include "sim/core/units.h"
#include "sim/price/bill.h"

namespace headway::campaign {

/// Interruptions of one hazard, mean over trials.
struct InterruptionCount {
  std::string hazard;
  double mean = 0;

  template <class V>
  void fields(V& v) const {
    v.part("hazard", hazard, "class of failure");
    v.figure("mean", mean, "", "interruptions it caused, mean over the trials", core::non_negative);
  }
};

/// ETTR at one checkpoint interval.
struct IntervalPoint {
  core::Seconds interval;      ///< useful work between saves to storage
  std::optional<double> ettr;  ///< absent: at this interval the run would hardly end
  bool exact = false;          ///< closed form; else the mean of trials

  template <class V>
  void fields(V& v) const {
    v.figure("interval_s", interval, "s", "useful work between saves to storage", core::positive);
    v.figure("ettr", ettr, "1",
             "ETTR of the same job at that interval; absent where the run would hardly end",
             core::probability);
    v.part("exact", exact,
           "by closed form, where nobody waits for a spare and it agrees with the trials; else "
           "trials with equal random numbers, 50 or as many as see 100 failures, or that form of a "
           "short run where all trials would see fewer than 10");
  }
};

/// The gain if every failure were noticed earlier.
struct EarlierDetection {
  core::Seconds earlier;
  double ettr_gain = 0;       ///< mean
  double standard_error = 0;  ///< of that
  double days_saved = 0;      ///< mean; 0 where the wall clock ends the run

  template <class V>
  void fields(V& v) const {
    v.figure("earlier_s", earlier, "s", "every failure is noticed up to so much sooner",
             core::non_negative);
    v.figure("ettr_gain", core::if_finite(ettr_gain), "1", "mean gain in ETTR");
    v.figure("standard_error", core::if_finite(standard_error), "1", "of the gain",
             core::non_negative);
    v.figure("days_saved", core::if_finite(days_saved), "d",
             "mean; 0 where the wall clock ends the run");
  }
};

/// What the campaign teaches (advice.h).
struct Advice {
  std::vector<IntervalPoint> interval_curve;
  double wait_target = 0;              ///< share of time
  std::optional<std::int64_t> spares;  ///< fewest that wait for less than that
  bool spares_exact = false;           ///< by closed form; else by trials
  std::vector<EarlierDetection> earlier_detection;

  template <class V>
  void fields(V& v) const {
    v.part("interval_curve", interval_curve,
           "ETTR at the job's own checkpoint interval (that of `ettr`) and at others");
    v.figure("wait_target", wait_target, "1", "share of the time that waiting for spares may take",
             core::probability);
    v.figure("spares", spares, "", "fewest spare nodes that wait less than `wait_target`",
             core::non_negative);
    v.part("spares_exact", spares_exact,
           "by Erlang's loss formula, or that of a queue for so many crews; else by trials");
    v.part("earlier_detection", earlier_detection, "what it is worth to notice failures sooner");
  }
};

struct CampaignResult {
  int trials = 0;
  Distribution wall_days, ettr, goodput, interruptions, steps;
  std::optional<TimeToMarket> time_to_market;  ///< where the scenario has run.bring_up
  Ledger ledger;                               ///< mean over trials
  std::vector<InterruptionCount> by_hazard;
  std::optional<double>
      closed_form_ettr;               ///< exact where a closed form exists (README.md), else absent
  core::Seconds checkpoint_interval;  ///< as used, useful work between saves
  core::Seconds optimal_interval;     ///< best_storage_interval, 0 without failures
  core::Seconds checkpoint_stall, checkpoint_persist, checkpoint_load;
  core::Seconds mean_time_between_interruptions;  ///< of the whole job; 0: nothing fails
  core::Seconds
      downtime;  ///< mean, failure to running again, without lost work and the wait for a spare
  double mean_within = 0;             ///< half of the 95 % interval of a mean / that mean
  double nodes_retired = 0;           ///< mean
  double replicas_hit = 0;            ///< mean, by a failure that takes nodes; 0: none did
  double tokens = 0;                  ///< mean, durable
  core::Bytes logits_stored;          ///< cached logits of a teacher, in one island; 0: none
  core::BytesPerSecond input_rate;    ///< read at healthy speed; 0: nothing is said of the data
  std::int64_t step_simulations = 0;  ///< of degraded states of the cluster
  Advice advice;
  std::uint64_t event_digest = 0;

  /// From the order of the cluster, where that is part of the scenario, else of the run.
  [[nodiscard]] const Distribution& days() const {
    return time_to_market ? time_to_market->ready_days : wall_days;
  }

  template <class V>
  void fields(V& v) const {
    list_shares(v);
    list_checkpoints(v);
    const bool advised = !advice.interval_curve.empty() || !advice.earlier_detection.empty();
    v.part("advice", advised ? std::optional(advice) : std::nullopt,
           "what would help; absent if nothing ever fails");
    v.figure("closed_form_ettr", closed_form_ettr, "1",
             "exact formula for the same inputs; absent where none exists", core::probability);
  }

 private:
  template <class V>
  void list_shares(V& v) const {
    v.figure("trials", trials, "", "independent draws of all failures", core::at_least_one);
    v.figure("mean_within", core::if_finite(mean_within), "1",
             "half of the 95 % interval of the mean of `wall_days` (of `ettr`, where the wall "
             "clock ends the run) / that mean: 1.96 standard errors; null for a single trial",
             core::non_negative);
    v.figure("wall_days", wall_days, "d",
             "from the start of the run until its last save is durable", core::non_negative);
    v.part("time_to_market", time_to_market,
           "from the order of the cluster on; null without `run.bring_up`");
    v.figure("ettr", ettr, "1",
             "durable steps x healthy step time / wall (\"effective training time ratio\"). Saves, "
             "lost steps, downtime and the slowness of degraded states count against it; a slow "
             "healthy step does not",
             core::probability);
    v.figure("goodput", goodput, "1",
             "the same in GPU seconds / all GPU seconds paid for, spares included: `ettr x gpus / "
             "(gpus + spare GPUs)`",
             core::probability);
    v.figure("interruptions", interruptions, "",
             "times that the job was stopped: by faults, those that strike during a restart "
             "included, by slow parts, and by the same fault again after a healthy part was blamed "
             "for it",
             core::non_negative);
    v.part("interruptions_by_hazard", by_hazard,
           "by class of failure; they add up to the mean of `interruptions`");
    v.figure("steps", steps, "", "optimizer steps whose work became durable", core::non_negative);
    v.figure("tokens", tokens, "", "tokens of durable steps, mean", core::non_negative);
    v.figure("ledger_gpu_s", ledger, "GPU s",
             "GPU seconds an account, mean over trials; every tick (1 us) of every GPU paid for is "
             "in exactly one, and they add up to wall x all GPUs paid for");
    v.figure("nodes_retired", nodes_retired, "",
             "nodes that left for good by `run.recovery.retire_after` or `retire_score`, mean",
             core::non_negative);
    v.figure("replicas_hit", replicas_hit, "",
             "blast radius: model replicas that lose a node by a failure that takes nodes, mean; "
             "the placement decides how many stand in one failure domain; 0: none did",
             core::non_negative);
    v.figure("logits_stored_bytes", core::if_positive(logits_stored), "B",
             "cached logits of a teacher in storage, those of every token of the run, or of the "
             "data set where that is smaller; absent where none are read",
             core::positive);
    v.figure("input_bytes_per_s", core::if_positive(input_rate), "B/s",
             "what the job reads at healthy speed, data and cached logits, those that caches serve "
             "among them; absent where nothing is said of the data",
             core::positive);
    v.figure("step_simulations", step_simulations, "",
             "step simulations of degraded states; each kind, severity and place that is alike is "
             "simulated once",
             core::non_negative);
  }

  template <class V>
  void list_checkpoints(V& v) const {
    v.figure("checkpoint_interval_s", core::if_positive(checkpoint_interval), "s",
             "tau: useful work between two saves that are made, a step or more (in whole steps "
             "after `interval_steps`); while a background save is not durable the next are skipped",
             core::positive);
    v.figure(
        "optimal_interval_s", core::if_positive(optimal_interval), "s",
        "the same, best for these failures and what `checkpoint.interval: auto` takes: `tau* = "
        "mu (1 + W0(-e^(-C/mu - 1)))` of the rate 1/mu at which the job goes back to a save, "
        "no less than P - C and no more than the run; of several levels and of saves that may "
        "be unreadable of first order (sim/campaign/README.md); absent without failures",
        core::positive);
    v.figure("checkpoint_stall_s", checkpoint_stall, "s", "C: training stands still for one save",
             core::non_negative);
    v.figure("checkpoint_persist_s", checkpoint_persist, "s",
             "P: from the snapshot until it is durable; 0 for synchronous saves, whose stall "
             "contains it",
             core::non_negative);
    v.figure("checkpoint_load_s", checkpoint_load, "s",
             "loading one checkpoint: all nodes read at once, latency and opening of files "
             "included",
             core::non_negative);
    v.figure("mean_time_between_interruptions_s",
             core::if_positive(mean_time_between_interruptions), "s",
             "1 / sum of the rates of all that `interruptions` counts, while the job runs: the "
             "clock stands still while it is down; absent if nothing stops it",
             core::positive);
    v.figure("downtime_s", core::if_positive(downtime), "s",
             "D + R: mean from a failure until steps run again: detection, diagnosis, replacement "
             "(or the share of failures that need none), start, load and warm-up; the steps that "
             "are repeated are in `lost` of the ledger, waiting for a spare in `wait`; absent "
             "without failures",
             core::positive);
  }
};

}  // namespace headway::campaign
