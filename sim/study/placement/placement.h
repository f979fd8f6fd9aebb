// What `headway plan --placement` asks: which of a partly occupied fabric's free nodes to take.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/config/load.h"
#include "sim/core/result_fields.h"
#include "sim/study/run_report.h"

namespace headway::study {

/// A way of choosing among free nodes.
enum class NodeChoice { given, packed, fewest_leaves, quiet, spread, random };
constexpr auto enum_words(NodeChoice) {
  using C = NodeChoice;
  using E = core::EnumWord<C>;
  return std::array{
      E{C::given, "given"}, E{C::packed, "packed"}, E{C::fewest_leaves, "fewest_leaves"},
      E{C::quiet, "quiet"}, E{C::spread, "spread"}, E{C::random, "random"}};
}

/// Some of the free nodes, and the job's step on them.
struct PlacedStep {
  NodeChoice choice = NodeChoice::packed;
  int draw = 0;  ///< of random ones, from 1
  std::vector<std::uint32_t> nodes;
  int leaves = 0, pods = 0;
  core::Seconds step;    ///< beside the others
  core::Seconds silent;  ///< on the same nodes, the others sending nothing
  double mfu = 0;
  std::string limit;
  core::Seconds empty;  ///< what it is compared with
  double behind = 0;

  /// Of the step, against an empty fabric.
  [[nodiscard]] double cost() const { return step / empty - 1; }
  [[nodiscard]] double by_places() const { return silent / empty - 1; }
  [[nodiscard]] double by_traffic() const { return step / silent - 1; }
  [[nodiscard]] std::vector<std::string> ranges() const;

  template <class V>
  void fields(V& v) const {
    v.part("choice", choice,
           "given: cluster.occupancy.take; packed: the first that are free; fewest_leaves: in as "
           "few pods, and in these as few leaves, as can be; quiet: behind the leaves into which "
           "others send least; spread: from each leaf in turn; random: drawn by run.seed");
    v.figure("draw", draw, "", "of random ones, from 1; else 0", core::non_negative);
    v.part("nodes", ranges(), "the nodes, as cluster.occupancy.take has them");
    v.figure("leaves", leaves, "", "leaves that they are plugged into, in one plane",
             core::at_least_one);
    v.figure("pods", pods, "", "pods of these leaves", core::at_least_one);
    v.figure("step_s", step, "s", "the job's step on them, beside the traffic of others",
             core::positive);
    v.figure("silent_step_s", silent, "s", "the same while the others send nothing",
             core::positive);
    v.figure("cost", cost(), "", "step_s / empty_step_s - 1: what fragmentation costs");
    v.figure("by_places", by_places(), "", "silent_step_s / empty_step_s - 1: by places alone");
    v.figure("by_traffic", by_traffic(), "", "step_s / silent_step_s - 1: by others' traffic");
    v.figure("behind", behind, "", "by how much the step is longer than the first one, relative",
             core::non_negative);
    v.figure("mfu", mfu, "1", "model FLOPs / peak", core::non_negative);
    v.part("limit", limit, "one sentence: what limits the step");
  }
};

struct PlacementReport {
  std::string version;
  training::Scenario scenario;
  std::string digest;
  int free = 0, down = 0;
  core::Seconds empty;
  std::vector<PlacedStep> candidates;  ///< the shortest step first
  std::vector<std::string> reasons;
  Timing timing;

  [[nodiscard]] Status status() const { return reasons.empty() ? Status::ok : Status::infeasible; }

  template <class V>
  void fields(V& v) const;
};

/// What to do, and what fragmentation costs.
std::string placement_sentence(const PlacementReport& report);

template <class V>
void PlacementReport::fields(V& v) const {
  const auto& occupancy = scenario.cluster.occupancy;
  v.part("version", version, "of the program");
  v.part("status", status(), "also the exit code: 0, 3");
  v.part("reasons", reasons, "why the status is not ok");
  v.part("scenario", label_of(scenario, digest));
  v.figure("fabric_nodes", occupancy ? occupancy->nodes : 1, "", "nodes of the whole fabric",
           core::at_least_one);
  v.figure("free", free, "", "nodes that are neither down nor of another job", core::non_negative);
  v.figure("down", down, "", "nodes that are out of order", core::non_negative);
  v.figure("jobs", static_cast<std::int64_t>(occupancy ? occupancy->jobs.size() : 0), "",
           "jobs of others", core::non_negative);
  v.figure("nodes", scenario.cluster.nodes, "", "nodes that this job takes", core::at_least_one);
  v.figure("empty_step_s", empty, "s",
           "its step on the first nodes of the same fabric, nobody else being there",
           core::positive);
  v.part("candidates", candidates, "the shortest step first");
  v.part("limit", placement_sentence(*this), "which nodes to take, and what it costs");
  v.part("timing", timing);
}

struct PlacementOptions {
  int draws = 4;    ///< random choices
  int threads = 0;  ///< 0: all cores; the result does not depend on it
  bool fold = true;
  std::function<void(const char* what, std::size_t done, std::size_t total)> progress;
};

/// Simulates the scenario's step, with its own layout, on nodes chosen in every way; `run.until`
/// and all that is asked of weeks is passed over.
/// @throws core::Error if the scenario breaks a rule, or has no `cluster.occupancy`
PlacementReport compare_placements(const config::LoadedScenario& loaded,
                                   const PlacementOptions& options,
                                   core::Seconds load_time);

/// The scenario with the nodes of one of them, as a file: all values written out.
/// @param place  of the candidate, from 0
std::string placement_file(const PlacementReport& report, std::size_t place);

}  // namespace headway::study
