// What `headway expect` asks: which figures a sound cluster must reach, from a prediction and how
// far predictions of such figures were off.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/config/load.h"
#include "sim/core/collective.h"
#include "sim/core/model_constant.h"
#include "sim/core/result_fields.h"
#include "sim/study/machine.h"
#include "sim/study/run_report.h"
#include "sim/validation/compared/compared_runs.h"

namespace headway::study {

/// What is accepted or not.
enum class Measure : std::uint8_t {
  bus_bandwidth,
  gemm_rate,
  step_time,
  tokens_per_s_per_gpu,
  save_stall,
  save_time,
  restart_time
};
constexpr auto enum_words(Measure) {
  using E = core::EnumWord<Measure>;
  return std::array{E{Measure::bus_bandwidth, "bus_bandwidth"},
                    E{Measure::gemm_rate, "gemm_rate"},
                    E{Measure::step_time, "step_time"},
                    E{Measure::tokens_per_s_per_gpu, "tokens_per_s_per_gpu"},
                    E{Measure::save_stall, "save_stall"},
                    E{Measure::save_time, "save_time"},
                    E{Measure::restart_time, "restart_time"}};
}
/// Unit of its figures: "B/s", "FLOP/s", "s", "1/s".
std::string_view unit_of(Measure measure);
/// Rates must be reached, times must be kept.
bool more_is_better(Measure measure);

/// How much of the cluster takes part.
enum class Scope : std::uint8_t { gpu, node, group, domain, leaf, site, job };
constexpr auto enum_words(Scope) {
  using E = core::EnumWord<Scope>;
  return std::array{E{Scope::gpu, "gpu"},       E{Scope::node, "node"}, E{Scope::group, "group"},
                    E{Scope::domain, "domain"}, E{Scope::leaf, "leaf"}, E{Scope::site, "site"},
                    E{Scope::job, "job"}};
}

/// One figure that a sound cluster reaches.
struct Threshold {
  Measure measure = Measure::bus_bandwidth;
  Scope scope = Scope::job;
  std::optional<core::CollectiveKind> collective = {};
  std::string shape = {};  ///< of a matrix product; empty: none
  std::int64_t gpus = 1, nodes = 1;
  std::optional<core::Bytes> size = {};  ///< of the message
  double expected = 0;                   ///< in `unit_of(measure)`
  std::array<double, 2> interval{};      ///< 90 %

  /// The end of the interval that the measured figure must not be beyond.
  [[nodiscard]] double limit() const { return interval[more_is_better(measure) ? 0 : 1]; }
  [[nodiscard]] bool accepts(double measured) const {
    return more_is_better(measure) ? measured >= limit() : measured <= limit();
  }

  template <class V>
  void fields(V& v) const {
    v.part("measure", measure, "which figure");
    v.part("scope", scope, "how much of the cluster takes part");
    v.part("collective", collective, "of a bus bandwidth: which collective");
    v.part("shape", shape.empty() ? std::nullopt : std::optional(shape),
           "of a matrix product: tokens x outputs x inputs, and the operands");
    v.figure("gpus", gpus, "", "that take part", core::at_least_one);
    v.figure("nodes", nodes, "", "they stand in", core::at_least_one);
    v.figure("size_bytes", size, "B", "of the message, as nccl-tests counts it",
             core::non_negative);
    v.part("unit", std::string(unit_of(measure)), "of the four figures below");
    v.figure("expected", expected, "", "predicted", core::non_negative);
    v.figure("interval", interval, "", "90 % interval of a sound cluster", core::non_negative);
    v.figure("limit", limit(), "",
             "what must be reached: the interval's lower end of a rate, the upper one of a time",
             core::non_negative);
    v.part("at_least", more_is_better(measure), "the limit is a least; else it is a most");
  }
};

/// One measured figure beside its threshold.
struct Verdict {
  std::string source;              ///< the file, with the line where it has several
  std::vector<std::string> nodes;  ///< that took part, where the file names them
  Threshold threshold;
  double measured = 0;
  std::string wrong_data = {};  ///< what the test found wrong of what it moved; empty: nothing
  std::string unfinished = {};  ///< how the test came to no end; empty: it came to one

  /// Fast and wrong is no pass, nor is fast until it died.
  [[nodiscard]] bool passed() const {
    return wrong_data.empty() && unfinished.empty() && threshold.accepts(measured);
  }

  template <class V>
  void fields(V& v) const {
    v.part("source", source, "file it was read from");
    v.part("nodes", nodes, "that took part, where the file names them");
    v.part("passed", passed(),
           "the limit is kept, by data that are right, in a test that came to its end");
    v.part("wrong_data", wrong_data.empty() ? std::nullopt : std::optional(wrong_data),
           "of nccl-tests: what it found wrong of the data it moved, of any size; null: nothing");
    v.part("unfinished", unfinished.empty() ? std::nullopt : std::optional(unfinished),
           "of nccl-tests: how it came to no end, of any size; null: it came to one");
    v.figure("measured", measured, "", "the figure, in the unit of the threshold",
             core::non_negative);
    v.part("threshold", threshold, "that it was held to");
  }
};

/// What became of a node over all tests it took part in.
enum class NodeState : std::uint8_t { passed, suspect, failed };
constexpr auto enum_words(NodeState) {
  using E = core::EnumWord<NodeState>;
  return std::array{E{NodeState::passed, "passed"}, E{NodeState::suspect, "suspect"},
                    E{NodeState::failed, "failed"}};
}
struct NodeVerdict {
  std::string node;
  NodeState state = NodeState::passed;
  int tests = 0, failed = 0;

  template <class V>
  void fields(V& v) const {
    v.part("node", node, "as the files call it");
    v.part("state", state,
           "failed: a test of this node alone failed, or one whose other nodes all passed another "
           "test while this one passed none; suspect: a test that it shared with others failed; "
           "passed: none failed");
    v.figure("tests", tests, "", "it took part in", core::non_negative);
    v.figure("failed", failed, "", "of them", core::non_negative);
  }
};

struct ExpectReport {
  ScenarioLabel scenario;
  Status status = Status::ok;
  std::vector<std::string> reasons;  ///< why the status is not ok
  std::vector<Threshold> thresholds;
  std::vector<Verdict> verdicts;   ///< empty: nothing was compared
  std::vector<NodeVerdict> nodes;  ///< that the files name, by name
  std::vector<std::string> assumptions;
  // What the shapes of other tools need beside the thresholds.
  int micro_batch = 1;
  std::int64_t global_batch = 1;
  std::string precision;
  double memory_share = 0;  ///< of a GPU, at the peak

  template <class V>
  void fields(V& v) const;
};

/// What it comes to, in a sentence.
std::string expect_sentence(const ExpectReport& report);

template <class V>
void ExpectReport::fields(V& v) const {
  v.part("version", HEADWAY_VERSION, "of the program");
  v.part("status", status, "`assert_failed`: a measured figure is beyond its limit");
  v.part("reasons", reasons, "why the status is not `ok`");
  v.part("scenario", scenario, "which scenario");
  v.part("thresholds", thresholds, "one a figure");
  v.part("verdicts", verdicts, "With `--against`: one a measured figure.");
  v.part("nodes", nodes, "With `--against`: one a node that the files name.");
  v.part("limit", expect_sentence(*this), "one sentence: what it comes to");
  v.part("assumptions", assumptions, "what the thresholds rest on");
}

struct ExpectOptions {
  int nodes = 0;  ///< of a further group, such as the pairs an acceptance test runs; 0: none
  int threads = 0;
  validation::KnownErrors known_errors{};  ///< validation::load_known_errors
  /// Told how much of the step is simulated; may be empty.
  std::function<void(std::size_t done, std::size_t total)> count{};
};

/// Standard deviation of log(predicted / measured) of a bus bandwidth: one figure where all ranks
/// share an NVLink domain, a larger one where they do not, however few they are.
/// @param per_node  of the GPUs, in each node; 0: all it has
double bus_bandwidth_error(const training::NodeSpec& node, int gpus, int per_node);

/// Whether a message is a threshold: one of 64 MiB and more (of smaller ones half the predictions
/// miss by more than a factor of 1.4) of which each GPU has 1 MiB and more.
bool is_threshold(std::uint64_t bytes, std::int64_t gpus);

/// The bus bandwidth of `gpus` GPUs, `per_node` in each node (0: as many as there are), at `bytes`.
Threshold bus_bandwidth_threshold(const Machine& machine,
                                  core::CollectiveKind kind,
                                  int gpus,
                                  int per_node,
                                  std::uint64_t bytes,
                                  Scope scope);

/// All thresholds of a scenario: collectives of a node, of the group asked for, of an NVLink
/// domain of several nodes, of a leaf, of a site and of the whole job; matrix products; the step;
/// saves and restarts.
/// @throws core::Error if the scenario breaks a rule or has fewer nodes than are asked for
/// @throws core::Infeasible if its step cannot be simulated
ExpectReport expect(const config::LoadedScenario& loaded, const ExpectOptions& options);

/// The errors that thresholds are made with, for `headway catalog constants`.
std::vector<core::ModelConstant> expect_constants();

}  // namespace headway::study
