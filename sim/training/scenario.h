// The scenario: everything one prediction is made from, as the user wrote it, with defaults filled
// in.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/core/durations.h"
#include "sim/core/fields.h"
#include "sim/failures/spec.h"
#include "sim/network/spec.h"
#include "sim/price/bring_up_spec.h"
#include "sim/price/spec.h"
#include "sim/storage/spec.h"
#include "sim/training/calibration_spec.h"
#include "sim/training/cluster_spec.h"
#include "sim/training/search_spec.h"
#include "sim/training/sweep_spec.h"
#include "sim/workload/spec.h"

namespace headway::training {

/// When the run ends: exactly one of the three.
struct UntilSpec {
  std::optional<double> tokens;
  std::optional<std::int64_t> steps;
  std::optional<core::Seconds> wall;
  template <class V>
  void fields(V& v) {
    v.optional("tokens", tokens, "Tokens to train on.",
               core::Range{1, 1e18, false, false, "from 1 to 1e18"});
    v.optional("steps", steps, "Optimizer steps.",
               core::Range{1, 1e12, false, false, "from 1 to 1e12"});
    v.optional("wall", wall, "Wall clock.", core::period);
  }
  bool operator==(const UntilSpec&) const = default;
};

/// How the job is run: until when, with which checkpoints, failures, recovery and prices.
struct RunSpec {
  std::optional<UntilSpec> until;
  storage::CheckpointSpec checkpoint;
  std::optional<failures::FailureSpec> failures;
  failures::RecoverySpec recovery;
  std::optional<storage::DataSpec> data;
  std::optional<price::PriceSpec> prices;
  std::optional<price::BringUpSpec> bring_up;
  int trials = 200;
  std::optional<double> mean_within;
  std::int64_t seed = 1;
  template <class V>
  void fields(V& v) {
    v.optional("until", until, "When the run ends; absent: only one step is predicted.");
    v.optional("checkpoint", checkpoint, "When and how to save.");
    v.optional("failures", failures, "What fails and how often; absent: nothing fails.");
    v.optional("recovery", recovery, "From failure to the first useful step.");
    v.optional("data", data, "What is read to train on; absent: never waited for.");
    v.optional("prices", prices, "What it costs; absent: no cost is printed.");
    v.optional("bring_up", bring_up,
               "From the order of the cluster to full speed; absent: it stands there, and time "
               "counts from the first step.");
    v.optional("trials", trials, "Independent draws of the campaign.",
               core::Range{1, 1e6, false, false, "from 1 to 1,000,000"});
    v.optional("mean_within", mean_within,
               "Draws go on until half of the 95 % interval of the mean wall clock (of the mean "
               "ETTR, where the wall clock ends the run) is this share of it; `trials` are then "
               "the fewest, at least 30, and 100,000 the most; absent: `trials` are drawn.",
               core::Range{1e-5, 0.5, false, false, "from 0.00001 to 0.5"});
    v.optional("seed", seed, "Seed of all random streams.", core::non_negative);
  }
  bool operator==(const RunSpec&) const = default;
};

/// A public statement to be checked.
struct ClaimSpec {
  std::optional<core::Seconds> wall;
  std::optional<double> tokens;
  std::optional<double> mfu;
  std::optional<double> hfu;
  std::optional<double> tflops_per_gpu;
  std::optional<double> ettr;
  template <class V>
  void fields(V& v) {
    v.optional("wall", wall, "Claimed wall clock.", core::some_time);
    v.optional("tokens", tokens, "Claimed tokens.",
               core::Range{1, 1e18, false, false, "from 1 to 1e18"});
    v.optional("mfu", mfu, "Published model FLOPs utilization.", core::fraction);
    v.optional("hfu", hfu, "Published hardware FLOPs utilization.", core::fraction);
    v.optional("tflops_per_gpu", tflops_per_gpu, "Published rate per GPU [TFLOP/s].",
               core::positive);
    v.optional("ettr", ettr, "Published effective training time ratio.", core::fraction);
  }
  bool operator==(const ClaimSpec&) const = default;
};

/// One question to the simulator.
struct Scenario {
  int headway = 1;
  std::string name;
  ClusterSpec cluster;
  workload::ModelSpec model;
  workload::TrainingSpec training;
  workload::ParallelismSpec parallelism;
  RunSpec run;
  SearchSpec search;
  CalibrationSpec calibration;
  ClaimSpec claim;
  std::optional<SweepSpec> sweep;
  std::vector<std::string> assertions;
  template <class V>
  void fields(V& v) {
    v.required("headway", headway, "Format version; this program reads 1.");
    v.optional("name", name, "Name printed in reports; absent: that of the file.");
    v.required("cluster", cluster, "The machine.");
    v.required("model", model, "What is trained.");
    v.required("training", training, "The recipe.");
    v.optional("parallelism", parallelism, "How the work is divided.");
    v.optional("run", run, "How the job is run; absent: only one step is predicted.");
    v.optional("search", search, "What `headway plan` varies.");
    v.optional("calibration", calibration, "Measured figures that replace catalogue values.");
    v.optional("claim", claim, "A public statement to be checked.");
    v.optional("sweep", sweep, "What `headway sweep` varies; other verbs pass over it.");
    v.optional("assert", assertions,
               "Conditions on the result, such as \"step.mfu > 0.38\"; exit code 4 if one fails.");
  }
  bool operator==(const Scenario&) const = default;
};

/// Spare nodes that are paid for: `cluster.spares`, and `run.recovery.rack_spares` in each of the
/// job's racks.
inline std::int64_t spare_nodes(const Scenario& scenario) {
  const auto& recovery = scenario.run.recovery;
  const std::int64_t racks =
      (std::int64_t{scenario.cluster.nodes} + recovery.rack_nodes - 1) / recovery.rack_nodes;
  return scenario.cluster.spares + (recovery.rack_spares > 0 ? racks * recovery.rack_spares : 0);
}

}  // namespace headway::training
