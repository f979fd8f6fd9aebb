// One scenario at many points: the changes of each, and the figures of its run.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/config/load.h"
#include "sim/core/result_fields.h"
#include "sim/plan/sweep_points.h"
#include "sim/study/run_report.h"
#include "sim/validation/compared/compared_runs.h"

namespace headway::study {

/// What became of a point; `refused`: its scenario breaks a rule, or cannot be simulated.
enum class PointStatus { listed, ok, infeasible, assert_failed, incomplete, refused };
constexpr auto enum_words(PointStatus) {
  using E = core::EnumWord<PointStatus>;
  return std::array{
      E{PointStatus::listed, "listed"},         E{PointStatus::ok, "ok"},
      E{PointStatus::infeasible, "infeasible"}, E{PointStatus::assert_failed, "assert_failed"},
      E{PointStatus::incomplete, "incomplete"}, E{PointStatus::refused, "refused"}};
}

/// Figures of one run by their paths; absent where the run has none.
using PointFigures = std::vector<std::pair<std::string, std::optional<double>>>;

/// One point of a sweep.
struct SweepRow {
  std::int64_t point = 0;
  std::vector<std::pair<std::string, std::string>> changes;
  std::string digest;  ///< of the point's scenario, as `headway run` has it
  PointStatus status = PointStatus::listed;
  std::string reason;  ///< why the status is not ok
  PointFigures figures;
  std::string memory_warning{};  ///< where a peak that fits leaves the allocator no room

  template <class V>
  void fields(V& v) const {
    v.figure("point", point, "", "number of the point, from 0", core::non_negative);
    v.part("changes", changes, "what is changed: field and value, as `--set` takes them");
    v.part("digest", digest,
           "over the resolved input of the point, the calibration and the program version; empty "
           "where the input is refused");
    v.part("status", status, "as of `headway run`; refused: its scenario breaks a rule");
    v.part("reason", reason, "why the status is not ok");
    v.part("figures", figures, "figures of its run by their paths in `headway run`");
    v.part("memory_warning", memory_warning,
           "where its peak leaves so little of the GPU's memory free that an allocator finds no "
           "room and the step may take several times as long: what `headway run` says of it. Such "
           "a point is ranked behind all that have room");
  }
};

/// What a sweep is made from: all that a worker on another machine has to know.
struct SweepRequest {
  std::string text;                  ///< of the scenario
  std::string file;                  ///< its name: where relative `use:` start
  std::vector<std::string> set;      ///< changes of all points
  std::vector<std::string> axes;     ///< further axes, as `--sweep` takes them
  std::vector<std::string> figures;  ///< empty: those of the scenario
  std::string best;                  ///< empty: that of the scenario
  std::optional<training::Best> best_is;
  bool operator==(const SweepRequest&) const = default;
};

struct SweepOptions {
  int threads = 0;  ///< 0: all cores; no result depends on it
  bool fold = true;
  validation::KnownErrors known_errors{};
  /// Take points from all over, so that those done first take as long as those left: neighbours of
  /// a grid are alike. No result depends on it.
  bool spread = false;
  /// Told what is done, of how many, and the row that was done last; by several threads.
  std::function<void(std::size_t done, std::size_t total, const SweepRow& row)> progress{};
  /// Told how much of a simulation of one point or another is done; by several threads.
  std::function<void(std::size_t done, std::size_t total)> count{};
};

/// Predicts a point as `headway run` does. Rules that it breaks become its status.
/// @param load   reads its scenario
/// @param paths  of the figures that its row gets
void predict_row(const std::function<config::LoadedScenario()>& load,
                 const std::vector<std::string>& paths,
                 const SweepOptions& options,
                 SweepRow& row);

/// Says who wrote what is read as an argument of --set: "argument --set a=b" becomes "WHO, a=b".
void name_writer(std::string_view who, core::Diagnostic& diagnostic);

/// A sweep that was read and found sound: every value of every axis can be read into the scenario.
class Sweep {
 public:
  /// @param roots    configuration folders
  /// @param checked  its values were read when it was begun, as those of a shard were: not again
  /// @throws core::Error with every axis that is none, every figure that no run has, and every
  /// value that its field cannot have
  Sweep(SweepRequest request, std::vector<std::filesystem::path> roots, bool checked = false);

  [[nodiscard]] const SweepRequest& request() const { return request_; }
  [[nodiscard]] const std::string& name() const { return name_; }
  /// Over the scenario, all changes, the figures and the program version: equal digests make equal
  /// rows.
  [[nodiscard]] const std::string& digest() const { return digest_; }
  /// The scenario that points change, as YAML.
  [[nodiscard]] const std::string& resolved() const { return base_.canonical_text; }
  [[nodiscard]] const plan::SweepPoints& points() const { return points_; }
  [[nodiscard]] const std::vector<std::string>& figures() const { return spec_.figures; }
  [[nodiscard]] const std::string& best() const { return spec_.best; }
  [[nodiscard]] training::Best best_is() const { return *spec_.best_is; }

  /// A point that is not simulated.
  [[nodiscard]] SweepRow listed(std::size_t point) const;
  /// A point, simulated. Rules that it breaks become its status; nothing else stops the others.
  [[nodiscard]] SweepRow row(std::size_t point, const SweepOptions& options) const;
  /// Several points, on as many threads as there are; in the order that they are given in.
  [[nodiscard]] std::vector<SweepRow> rows(const std::vector<std::size_t>& points,
                                           const SweepOptions& options) const;
  /// Prices of one GPU that bill another at some of these points, each once. Points that differ in
  /// neither cluster nor prices are alike.
  [[nodiscard]] std::vector<std::string> price_warnings(const std::vector<SweepRow>& rows) const;

 private:
  [[nodiscard]] config::LoadedScenario scenario(const plan::SweepChanges& changes) const;
  void check_values() const;

  SweepRequest request_;
  std::vector<std::filesystem::path> roots_;
  config::LoadedScenario base_;
  training::SweepSpec spec_;
  plan::SweepPoints points_;
  std::string name_, digest_;
};

/// Points of one of several shards, which count from 1: neighbours go to different ones, so that
/// all take about as long.
std::vector<std::size_t> shard_points(std::size_t points, std::int64_t shards, std::int64_t shard);

/// What a row is ranked by, the least first: whether its memory has room; the figure; of rows that
/// have as much of it, those that follow, each by its own better end.
std::vector<double> rank_of(const SweepRow& row, const std::string& figure, training::Best best_is);

/// The best of some rows whose status is ok, the first of equals; one whose memory has room, where
/// there is one. nullptr if there is none.
const SweepRow* best_row(const std::vector<SweepRow>& rows,
                         const std::string& figure,
                         training::Best best_is);

/// The row that would be the best if its memory had room; nullptr if there is none.
const SweepRow* crowded_row(const std::vector<SweepRow>& rows,
                            const SweepRow& best,
                            const std::string& figure,
                            training::Best best_is);

/// Rows that have as much of the figure as the best, and by what it is the best of them all the
/// same.
struct SweepTie {
  std::size_t others = 0;
  std::string decided_by;  ///< path; empty: by nothing, it is the first of them
  training::Best end = training::Best::lowest;
};
SweepTie tie_of(const std::vector<SweepRow>& rows, const SweepRow& best, const std::string& figure);

/// Rows that are done, of all.
struct SweepReport {
  std::string version, name, digest;
  std::string best;
  training::Best best_is = training::Best::lowest;
  std::int64_t points = 0;  ///< of the whole sweep
  std::vector<SweepRow> rows;
  std::string resolved;  ///< what points change, as YAML
  std::vector<std::string> warnings;

  [[nodiscard]] std::int64_t missing() const {
    return points - static_cast<std::int64_t>(rows.size());
  }
  [[nodiscard]] std::optional<std::int64_t> best_point() const;
  /// Which point is the best; nothing where none was simulated.
  [[nodiscard]] std::optional<std::string> verdict() const;

  template <class V>
  void fields(V& v) const {
    v.part("version", version, "of the program");
    v.part("name", name, "of the scenario");
    v.part("digest", digest, "over the scenario, all changes, the figures and the program version");
    v.figure("points", points, "", "of the whole sweep", core::non_negative);
    v.figure("missing", missing(), "", "points that no row is there of", core::non_negative);
    v.part("best", best, "path of the figure by which points are ranked");
    v.part("best_is", best_is, "which end of it is best");
    v.figure("best_point", best_point(), "", "the best point whose status is ok",
             core::non_negative);
    v.on_request("verdict", verdict(),
                 "what it comes to: the best point and its figure; not there where points are only "
                 "listed");
    v.part("warnings", warnings,
           "points whose memory has no room; prices of one GPU that bill another");
    v.part("rows", rows, "a point each, in order");
    v.part("resolved", resolved,
           "the scenario that points change, as it was read, all defaults written out, in YAML");
  }
};
SweepReport sweep_report(const Sweep& sweep, std::vector<SweepRow> rows);

/// 0 if some point is ok, 3 if none is, 5 if points are missing.
int exit_code(const SweepReport& report);

}  // namespace headway::study
