#include "sim/study/profile/compare_profile.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <set>
#include <utility>

#include "sim/core/error.h"
#include "sim/core/text.h"
#include "sim/import/measured/torch_profiler.h"
#include "sim/study/driver.h"
#include "sim/study/predict.h"
#include "sim/training/check.h"
#include "sim/training/explain/observed_rank.h"

namespace headway::study {

namespace {

using core::GpuWork;
using core::Seconds;

core::Error refused(const std::string& file, const std::string& what) {
  return core::Error(core::SourceMark{.file = file, .text = ""}, what);
}

/// What of a profile is laid beside the prediction.
struct MeasuredProfile {
  ProfiledRank rank;
  std::vector<std::string> left_out;
};

core::Error without_steps(const ProfileFile& file, const import::ProfiledSteps& found) {
  return refused(
      file.name,
      fmt::format("found no complete step{}; profile three steps or more with "
                  "torch.profiler.schedule(active=3) and call prof.step() at the end of each",
                  found.left_out.empty() ? ", nor a mark 'ProfilerStep#'"
                                         : fmt::format(" ({})", fmt::join(found.left_out, "; "))));
}

MeasuredProfile measure(const ProfileFile& file, std::int64_t gpus) {
  const import::TorchProfile profile = import::read_torch_profile(file.text, file.name);
  if (profile.world_size && *profile.world_size != gpus) {
    throw refused(file.name, fmt::format("the profile is of a job of {} ranks, the scenario has {} "
                                         "GPUs; change cluster.nodes, or compare another profile",
                                         *profile.world_size, gpus));
  }
  if (profile.rank && *profile.rank >= gpus) {
    throw refused(file.name, fmt::format("the profile is of rank {}, the scenario has ranks 0 to "
                                         "{}",
                                         *profile.rank, gpus - 1));
  }
  const import::ProfiledSteps found = import::find_steps(profile.marks, profile.launches);
  if (found.steps.empty()) {
    throw without_steps(file, found);
  }
  MeasuredProfile out;
  out.rank.file = file.name;
  out.rank.device = profile.device;
  out.rank.rank = profile.rank.value_or(0);
  out.rank.told = profile.rank.has_value();
  out.rank.steps = static_cast<int>(found.steps.size());
  out.left_out = found.left_out;
  std::vector<core::GpuSpan> spans;
  spans.reserve(profile.launches.size());
  for (const auto& launch : profile.launches) {
    spans.push_back(launch.span);
  }
  for (const auto& step : found.steps) {
    out.rank.measured += gpu_time(spans, step.begin, step.end);
  }
  out.rank.measured /= static_cast<double>(found.steps.size());
  return out;
}

Seconds time_of(ProfileFigure figure, const GpuTime& time) {
  switch (figure) {
    case ProfileFigure::step:
      return time.whole;
    case ProfileFigure::compute:
      return time.compute;
    case ProfileFigure::non_compute:
      return time.non_compute;
    case ProfileFigure::idle:
      return time.idle;
    default:
      return time.sums[static_cast<std::size_t>(work_of(figure).value_or(GpuWork::memory))];
  }
}

/// Kinds of kernels that neither side has are left out.
std::vector<ProfiledFigure> rows_of(const GpuTime& measured,
                                    const GpuTime& predicted,
                                    const std::array<double, 2>& interval) {
  std::vector<ProfiledFigure> rows;
  for (const auto& [figure, word] : enum_words(ProfileFigure{})) {
    ProfiledFigure row{figure};
    const auto work = work_of(figure);
    if (figure == ProfileFigure::overlap) {
      row.measured = measured.overlap();
      row.predicted = predicted.overlap();
    } else {
      row.measured = time_of(figure, measured).si();
      row.predicted = time_of(figure, predicted).si();
    }
    if (work) {
      row.measured_launches = measured.launches[static_cast<std::size_t>(*work)];
      row.predicted_launches = predicted.launches[static_cast<std::size_t>(*work)];
    }
    if (figure == ProfileFigure::step) {
      row.interval = interval;
    }
    if (!work || row.measured > 0 || row.predicted > 0) {
      rows.push_back(row);
    }
  }
  return rows;
}

/// The row of these figures that differs most.
const ProfiledFigure* largest_difference(const std::vector<ProfiledFigure>& rows, bool kernels) {
  const ProfiledFigure* largest = nullptr;
  for (const ProfiledFigure& row : rows) {
    const bool asked = kernels ? work_of(row.figure).has_value()
                               : row.figure == ProfileFigure::compute ||
                                     row.figure == ProfileFigure::non_compute ||
                                     row.figure == ProfileFigure::idle;
    if (asked && (largest == nullptr || std::abs(row.measured - row.predicted) >
                                            std::abs(largest->measured - largest->predicted))) {
      largest = &row;
    }
  }
  return largest;
}

std::string signed_seconds(const ProfiledFigure& row) {
  const double more = row.measured - row.predicted;
  return fmt::format("{}{} s", more < 0 ? "" : "+", core::number(more));
}

std::string sentence(const std::vector<ProfiledFigure>& rows) {
  const ProfiledFigure& step = rows.front();
  const auto& interval = *step.interval;
  const bool within = step.measured >= interval[0] && step.measured <= interval[1];
  std::string text = fmt::format(
      "The measured step takes {} s, the predicted one {} s ({} to {}): {} the interval",
      core::number(step.measured), core::number(step.predicted), core::number(interval[0]),
      core::number(interval[1]), within ? "within" : "outside");
  if (const ProfiledFigure* part = largest_difference(rows, false)) {
    text += fmt::format("; most of the difference is {} time ({})", words_of(part->figure),
                        signed_seconds(*part));
  }
  if (const ProfiledFigure* kernel = largest_difference(rows, true)) {
    text +=
        fmt::format(", and of kernels {} ({})", words_of(kernel->figure), signed_seconds(*kernel));
  }
  return text + ".";
}

std::vector<MeasuredProfile> measure_all(
    const std::vector<ProfileFile>& files,
    std::int64_t gpus,
    const std::function<void(std::size_t done, std::size_t total)>& count) {
  std::vector<MeasuredProfile> all;
  std::set<std::int64_t> seen;
  for (const ProfileFile& file : files) {
    all.push_back(measure(file, gpus));
    const ProfiledRank& rank = all.back().rank;
    if (!seen.insert(rank.rank).second) {
      throw refused(file.name,
                    fmt::format("the profile is of rank {}{}, as another file is; give one profile "
                                "of each rank",
                                rank.rank, rank.told ? "" : " (taken, since the file says none)"));
    }
    if (count) {
      count(all.size(), files.size());
    }
  }
  return all;
}

void add_remarks(const MeasuredProfile& measured, ProfileReport& report) {
  for (const auto& line : measured.left_out) {
    report.remarks.push_back(measured.rank.file + ": " + line);
  }
  if (!measured.rank.told) {
    report.remarks.push_back(measured.rank.file +
                             ": does not say which rank it is of; compared with rank 0");
  }
}

}  // namespace

std::string words_of(ProfileFigure figure) {
  std::string word(core::to_word(figure));
  std::replace(word.begin(), word.end(), '_', ' ');
  return word;
}

std::optional<GpuWork> work_of(ProfileFigure figure) {
  if (figure < ProfileFigure::matrix_products) {
    return std::nullopt;
  }
  return static_cast<GpuWork>(static_cast<int>(figure) -
                              static_cast<int>(ProfileFigure::matrix_products));
}

std::string_view meaning_of(ProfileFigure figure) {
  switch (figure) {
    case ProfileFigure::step:
      return "from the first kernel of a step to that of the next";
    case ProfileFigure::compute:
      return "a computation runs, whatever runs beside it";
    case ProfileFigure::non_compute:
      return "communication or copies run, and no computation";
    case ProfileFigure::idle:
      return "nothing runs";
    case ProfileFigure::overlap:
      return "share of the time of communication beside which a computation runs";
    case ProfileFigure::matrix_products:
    case ProfileFigure::attention:
    case ProfileFigure::other_computation:
      return "sum of the kernels of this computation";
    case ProfileFigure::memory:
      return "sum of copies and fills";
    default:
      return "sum of the kernels of this communication, waits for other ranks included";
  }
}

ProfileReport compare_profiles(const config::LoadedScenario& loaded,
                               const std::vector<ProfileFile>& files,
                               const CompareProfileOptions& options) {
  const auto checked = training::check(loaded.scenario, loaded.marks);
  std::vector<MeasuredProfile> all = measure_all(files, checked.gpus(), options.count);
  Driver driver({.threads = options.threads, .fold = options.fold});
  training::StepResult step = driver.step(checked);
  if (!options.known_errors.empty()) {
    validation::set_interval(checked.scenario(), options.known_errors, step);
  }
  const std::array<double, 2> interval{step.interval_low.si(), step.interval_high.si()};
  std::vector<core::Rank> ranks;
  for (const MeasuredProfile& measured : all) {
    ranks.emplace_back(static_cast<std::uint32_t>(measured.rank.rank));
  }
  const training::ObservedRanks observed = training::observe_ranks(checked, ranks);
  ProfileReport report;
  report.scenario = label_of(loaded.scenario, scenario_digest(loaded));
  GpuTime measured_mean, predicted_mean;
  for (std::size_t i = 0; i < all.size(); ++i) {
    ProfiledRank& rank = all[i].rank;
    add_remarks(all[i], report);
    rank.stage = observed.ranks[i].at.pipeline;
    rank.predicted = gpu_time(observed.ranks[i].spans, Seconds(0), observed.time);
    rank.rows = rows_of(rank.measured, rank.predicted, interval);
    measured_mean += rank.measured;
    predicted_mean += rank.predicted;
    report.ranks.push_back(std::move(rank));
  }
  measured_mean /= static_cast<double>(all.size());
  predicted_mean /= static_cast<double>(all.size());
  report.rows = rows_of(measured_mean, predicted_mean, interval);
  report.limit = sentence(report.rows);
  return report;
}

}  // namespace headway::study
