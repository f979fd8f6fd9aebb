// Measured profiles of training steps beside the prediction, in the words of HolisticTraceAnalysis.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/config/load.h"
#include "sim/core/result_fields.h"
#include "sim/study/profile/gpu_time.h"
#include "sim/study/run_report.h"
#include "sim/validation/compared/compared_runs.h"

namespace headway::study {

/// What is compared of a step.
enum class ProfileFigure : std::uint8_t {
  step,
  compute,
  non_compute,
  idle,
  overlap,
  matrix_products,
  attention,
  other_computation,
  all_reduce,
  all_gather,
  reduce_scatter,
  all_to_all,
  broadcast,
  send_receive,
  other_communication,
  memory,
};
constexpr auto enum_words(ProfileFigure) {
  using E = core::EnumWord<ProfileFigure>;
  return std::array{E{ProfileFigure::step, "step"},
                    E{ProfileFigure::compute, "compute"},
                    E{ProfileFigure::non_compute, "non_compute"},
                    E{ProfileFigure::idle, "idle"},
                    E{ProfileFigure::overlap, "overlap"},
                    E{ProfileFigure::matrix_products, "matrix_products"},
                    E{ProfileFigure::attention, "attention"},
                    E{ProfileFigure::other_computation, "other_computation"},
                    E{ProfileFigure::all_reduce, "all_reduce"},
                    E{ProfileFigure::all_gather, "all_gather"},
                    E{ProfileFigure::reduce_scatter, "reduce_scatter"},
                    E{ProfileFigure::all_to_all, "all_to_all"},
                    E{ProfileFigure::broadcast, "broadcast"},
                    E{ProfileFigure::send_receive, "send_receive"},
                    E{ProfileFigure::other_communication, "other_communication"},
                    E{ProfileFigure::memory, "memory"}};
}
/// The kind of kernel whose sum a figure is; nothing of the others.
std::optional<core::GpuWork> work_of(ProfileFigure figure);
/// "all reduce".
std::string words_of(ProfileFigure figure);
/// "time in which only communication or copies run".
std::string_view meaning_of(ProfileFigure figure);

/// One figure of a step.
struct ProfiledFigure {
  ProfileFigure figure = ProfileFigure::step;
  double measured = 0, predicted = 0;                               ///< [s]; the overlap: a share
  std::optional<std::array<double, 2>> interval{};                  ///< 90 %, of the step
  std::optional<double> measured_launches{}, predicted_launches{};  ///< of a kind of kernels

  [[nodiscard]] std::optional<double> ratio() const {
    return predicted > 0 ? std::optional(measured / predicted) : std::nullopt;
  }

  template <class V>
  void fields(V& v) const {
    v.part("figure", figure, "which");
    v.part("meaning", std::string(meaning_of(figure)), "what it is");
    v.part("unit", std::string(figure == ProfileFigure::overlap ? "1" : "s"),
           "of the figures below");
    v.figure("measured", measured, "", "mean over the steps of the profile", core::non_negative);
    v.figure("predicted", predicted, "", "of the same rank", core::non_negative);
    v.figure("interval", interval, "", "90 % interval of the prediction; null where none is known",
             core::non_negative);
    v.figure("ratio", ratio(), "1", "measured / predicted; null where nothing is predicted",
             core::non_negative);
    v.figure("measured_launches", measured_launches, "", "kernels of this kind in a step",
             core::non_negative);
    v.figure("predicted_launches", predicted_launches, "",
             "the same, as the step graph has them; a collective is one", core::non_negative);
  }
};

/// One profile beside its rank.
struct ProfiledRank {
  std::string file;
  std::string device;
  std::int64_t rank = 0;
  bool told = true;  ///< the file says which rank it is
  int stage = 0;
  int steps = 0;
  GpuTime measured, predicted;
  std::vector<ProfiledFigure> rows;

  template <class V>
  void fields(V& v) const {
    v.part("file", file, "the profile");
    v.part("device", device, "GPU that it names; empty where it does not");
    v.figure("rank", rank, "", "rank of the job; 0 where the file does not say",
             core::non_negative);
    v.part("rank_told", told, "the file says which rank it is");
    v.figure("stage", stage, "", "its pipeline stage, from 0", core::non_negative);
    v.figure("steps", steps, "", "complete steps in the profile, of which figures are the mean",
             core::at_least_one);
    v.part("rows", rows, "measured beside predicted");
  }
};

struct ProfileReport {
  ScenarioLabel scenario;
  std::vector<ProfiledFigure> rows;  ///< mean over the ranks
  std::vector<ProfiledRank> ranks;
  std::string limit;  ///< what it comes to
  std::vector<std::string> remarks;

  template <class V>
  void fields(V& v) const {
    v.part("version", HEADWAY_VERSION, "of the program");
    v.part("scenario", scenario, "which scenario");
    v.part("rows", rows, "measured beside predicted, mean over the profiles' ranks");
    v.part("ranks", ranks, "the same of each profile");
    v.part("limit", limit, "one sentence: what the difference comes from");
    v.part("remarks", remarks, "steps that were left out, and what was assumed");
  }
};

/// A file and what is in it.
struct ProfileFile {
  std::string name, text;
};

struct CompareProfileOptions {
  int threads = 0;
  bool fold = true;
  validation::KnownErrors known_errors{};  ///< for the interval of the step
  std::function<void(std::size_t done, std::size_t total)> count{};  ///< of the profiles read
};

/// Reads the profiles, predicts the same ranks, and lays both side by side.
/// @throws core::Error if a file is no profile, has no marked or complete step, is of a job of
///         another size or of a rank that another file is of; or if the scenario breaks a rule
ProfileReport compare_profiles(const config::LoadedScenario& loaded,
                               const std::vector<ProfileFile>& files,
                               const CompareProfileOptions& options = {});

}  // namespace headway::study
