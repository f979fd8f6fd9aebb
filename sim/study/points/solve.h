// Which value of one field of a scenario meets a condition on a figure of its run.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/config/load.h"
#include "sim/core/result_fields.h"
#include "sim/study/points/sweep.h"
#include "sim/study/run_report.h"
#include "sim/study/verdict/assert.h"
#include "sim/validation/compared/compared_runs.h"

namespace headway::study {

/// What `headway solve` is asked.
struct SolveRequest {
  std::string text;              ///< of the scenario
  std::string file;              ///< its name: where relative `use:` start
  std::vector<std::string> set;  ///< changes of all points
  std::string key;               ///< path of the field, or the end of one that no other has
  std::string condition;         ///< "campaign.wall_days.p95 <= 30", as `assert:` has it
  std::string within;            ///< "LO:HI"; empty: by doubling and halving from the value at hand
  double precision = 0.01;       ///< of the answer, relative; whole numbers are exact
};

struct SolveOptions {
  int threads = 0;  ///< 0: all cores; no result depends on it
  bool fold = true;
  validation::KnownErrors known_errors{};
  /// Told which value is simulated next; may be empty.
  std::function<void(const std::string& value)> progress{};
  /// Told how much of its simulation is done, by several threads; may be empty.
  std::function<void(std::size_t done, std::size_t total)> count{};
};

/// A value that was looked at.
struct SolvePoint {
  double number = 0;  ///< in the unit of `value`
  std::string value;
  std::string digest;
  PointStatus status = PointStatus::ok;
  std::string reason;
  std::optional<double> figure;
  std::optional<std::array<double, 2>> interval;
  bool met = false;              ///< its run can be, and its figure keeps the condition
  std::string memory_warning{};  ///< as of `SweepRow`

  bool between = false;  ///< its field takes any number, this one too, not whole ones alone

  /// It says whether the condition is met. A whole number that breaks a rule says nothing, since
  /// its neighbours may keep it; where any number will do, rules are broken from some value on.
  [[nodiscard]] bool judged() const { return status != PointStatus::refused || between; }

  template <class V>
  void fields(V& v) const {
    v.part("value", value, "of the field, as `--set` takes it");
    v.part("digest", digest, "as of the run with that value; empty where the input is refused");
    v.part("status", status, "as of `headway run`; refused: the value breaks a rule");
    v.part("reason", reason, "why the status is not ok");
    v.figure("figure", figure, "", "figure of the condition; null where the run has none");
    v.figure("interval", interval, "",
             "of that figure: 5th and 95th percentile of the trials, or the 90 % prediction "
             "interval of the step; null where it has neither");
    v.part("met", met, "the run can be, and its figure keeps the condition");
    v.part("memory_warning", memory_warning,
           "where its peak leaves so little of the GPU's memory free that an allocator finds no "
           "room and the step may take several times as long: what `headway run` says of it");
  }
};

/// Which end of the values that meet the condition the answer is.
enum class SolveEdge { smallest, largest, any, none };
constexpr auto enum_words(SolveEdge) {
  using E = core::EnumWord<SolveEdge>;
  return std::array{E{SolveEdge::smallest, "smallest"}, E{SolveEdge::largest, "largest"},
                    E{SolveEdge::any, "any"}, E{SolveEdge::none, "none"}};
}

struct SolveReport {
  std::string version, name;
  std::string key, condition, path;
  Assertion asked;                 ///< the condition, read
  std::vector<SolvePoint> points;  ///< by value
  SolveEdge edge = SolveEdge::none;
  std::optional<std::size_t> answer_at, beside_at;  ///< of `points`
  bool monotone = true;
  std::optional<double> least;         ///< lower end of the field, where it was looked at
  std::vector<std::string> sentences;  ///< remarks, then the answer
  std::vector<std::string> warnings;

  [[nodiscard]] Status status() const {
    return edge == SolveEdge::none ? Status::infeasible : Status::ok;
  }
  [[nodiscard]] std::optional<SolvePoint> answer() const {
    return answer_at ? std::optional(points[*answer_at]) : std::nullopt;
  }
  [[nodiscard]] std::optional<SolvePoint> beside() const {
    return beside_at ? std::optional(points[*beside_at]) : std::nullopt;
  }

  template <class V>
  void fields(V& v) const {
    v.part("version", version, "of the program");
    v.part("name", name, "of the scenario");
    v.part("status", status(),
           "also the exit code: 0; 3 where no value that was looked at will do");
    v.part("key", key, "path of the field");
    v.part("condition", condition, "what its value has to bring about");
    v.part("edge", edge,
           "which end of the values that meet the condition the answer is; any: all that were "
           "looked at meet it, none: none does");
    v.part("answer", answer(), "the value; null where none meets the condition");
    v.part("beside", beside(),
           "the nearest value looked at that does not meet it, on the answer's other side; null "
           "where there is none");
    v.part("monotone", monotone,
           "over the values looked at the figure only rises or only falls, turns of 0.1 % left "
           "aside, and the condition changes once at most");
    v.part("sentences", sentences, "what was found, in words; the last is the answer");
    v.part("warnings", warnings, "what else to know of the answer: that its memory has no room");
    v.part("points", points, "all values looked at, by size");
  }
};

/// Looks for the value, with equal random draws at all points.
/// @param roots  configuration folders
/// @throws core::Error if the field is no number, the condition is none, or there is nothing to
/// start from
SolveReport solve(const SolveRequest& request,
                  const std::vector<std::filesystem::path>& roots,
                  const SolveOptions& options = {});

}  // namespace headway::study
