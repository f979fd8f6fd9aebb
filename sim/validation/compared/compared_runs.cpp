#include "sim/validation/compared/compared_runs.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fstream>
#include <set>
#include <sstream>

#include "sim/training/step/step.h"
#include "sim/validation/compared/constant_fit.h"

namespace headway::validation {

namespace {

/// Standard deviations by what was compared before, of left-out rows of that kind
/// (docs/validation.md, "Leaving out"): of one source only; of this software on other GPUs or in
/// other formats; of no run of this software, which is too fast more often than too slow.
constexpr double kOneSource = 0.04;
constexpr double kOtherKind = 0.09;
constexpr StepError kNeverCompared{0.12, 0.06};
/// Of a GPU on which no software was compared.
constexpr double kNewGpu = 0.04;
/// What mixtures differ by at least, as others do by `training::kUsualError`; misses beyond it are
/// of the software's model.
constexpr double kAlwaysOfMixtures = 0.085;

std::string width_of(core::Precision precision) {
  using core::Precision;
  switch (precision) {
    case Precision::fp8:
    case Precision::mxfp8:
      return "8 bit";
    case Precision::nvfp4:
      return "4 bit";
    case Precision::fp32:
    case Precision::tf32:
      return "32 bit";
    default:
      return "16 bit";
  }
}

StepError quadrature(StepError error, double further) {
  return {std::hypot(error.slower, further), std::hypot(error.faster, further)};
}

/// How far a comparison is from a kind: less is nearer. Software says most, then kind of model,
/// GPU and format.
int distance(const RunKind& a, const RunKind& b) {
  return (a.framework != b.framework ? 8 : 0) + (a.mixture != b.mixture ? 4 : 0) +
         (a.gpu != b.gpu ? 2 : 0) + (a.precision != b.precision ? 1 : 0);
}

std::string described(const RunKind& kind) {
  return fmt::format("{} on {}, {}, {}", kind.framework, kind.gpu, kind.precision,
                     kind.mixture ? "mixtures" : "dense");
}

/// Standard deviation that these comparisons show beyond what runs always differ by: of a normal
/// distribution the median of the absolute value is 0.6745 standard deviations.
double shown_error(const std::vector<const ComparedRuns*>& compared, bool mixture) {
  constexpr double kMedianOfNormal = 0.6745;
  double sum = 0;
  double rows = 0;
  for (const ComparedRuns* runs : compared) {
    sum += runs->median_error * runs->rows;
    rows += runs->rows;
  }
  const double shown = rows > 0 ? sum / rows / kMedianOfNormal : 0;
  const double always = mixture ? kAlwaysOfMixtures : training::kUsualError;
  return std::sqrt(std::max(0.0, shown * shown - always * always));
}

}  // namespace

RunKind kind_of(const training::Scenario& s) {
  const std::string& gpu = s.cluster.node.gpu.name;
  return {s.training.framework.name, gpu.substr(0, gpu.find_first_of(" ,")),
          width_of(s.training.precision), s.model.moe.has_value()};
}

std::optional<import::CsvTable> first_table(const std::vector<std::filesystem::path>& roots,
                                            const std::string& name) {
  for (const auto& root : roots) {
    const auto path = root / "validation" / name;
    std::ifstream file(path);
    if (file.is_open()) {
      std::stringstream text;
      text << file.rdbuf();
      return import::CsvTable(text.str(), path.string());
    }
  }
  return std::nullopt;
}

std::vector<ComparedRuns> load_compared_runs(const std::vector<std::filesystem::path>& roots) {
  std::vector<ComparedRuns> compared;
  const auto table = first_table(roots, "compared_runs.csv");
  for (std::size_t row = 0; table && row < table->rows(); ++row) {
    compared.push_back({{table->text(row, "framework"), table->text(row, "gpu"),
                         table->text(row, "precision"), table->text(row, "kind") == "mixture"},
                        table->text(row, "source"),
                        table->integer(row, "rows").value_or(0),
                        table->number(row, "median_abs_error").value_or(0)});
  }
  return compared;
}

KnownErrors load_known_errors(const std::vector<std::filesystem::path>& roots) {
  return {load_compared_runs(roots), load_covariance(roots), load_flow_model(roots)};
}

StepError unknown_error(const RunKind& kind, const std::vector<ComparedRuns>& compared) {
  std::set<std::string> sources;
  std::vector<const ComparedRuns*> software;
  std::vector<const ComparedRuns*> alike;
  bool gpu = false;
  for (const ComparedRuns& runs : compared) {
    gpu = gpu || runs.kind.gpu == kind.gpu;
    if (runs.kind.framework == kind.framework && runs.kind.mixture == kind.mixture) {
      software.push_back(&runs);
    }
    if (runs.kind == kind) {
      alike.push_back(&runs);
      sources.insert(runs.source);
    }
  }
  StepError error;
  if (software.empty()) {
    error = kNeverCompared;
  } else {
    const double least = sources.empty() ? kOtherKind : sources.size() == 1 ? kOneSource : 0;
    error.slower = std::max(least, shown_error(alike.empty() ? software : alike, kind.mixture));
    error.faster = error.slower;
  }
  return quadrature(error, gpu ? 0 : kNewGpu);
}

StepError step_error(const training::Scenario& scenario,
                     const KnownErrors& known,
                     const std::vector<double>& slopes,
                     double further) {
  const StepError unknown = unknown_error(kind_of(scenario), known.runs);
  const double own = std::hypot(training::relative_error(scenario), further);
  const auto fast = fast_slopes(scenario, slopes, known.constants);
  return {std::hypot(unknown.slower, own, constant_error(slopes, known.constants)),
          std::hypot(unknown.faster, own, constant_error(fast, known.constants))};
}

void set_interval(const training::Scenario& scenario,
                  const KnownErrors& known,
                  training::StepResult& step) {
  set_interval(scenario, step_error(scenario, known, constant_slopes(scenario)), step);
}

void set_interval(const training::Scenario& scenario, StepError error, training::StepResult& step) {
  const double before = training::relative_error(scenario);
  step.interval_low *= std::exp(training::kOneSidedFivePercent * (before - error.faster));
  step.interval_high *= std::exp(training::kOneSidedFivePercent * (error.slower - before));
}

std::vector<NearestRuns> nearest_runs(const RunKind& kind,
                                      const std::vector<ComparedRuns>& compared,
                                      std::size_t most) {
  std::vector<NearestRuns> all;
  for (const ComparedRuns& runs : compared) {
    auto place = std::find_if(all.begin(), all.end(),
                              [&](const NearestRuns& near) { return near.kind == runs.kind; });
    if (place == all.end()) {
      place = all.insert(all.end(), NearestRuns{runs.kind});
    }
    ++place->sources;
    place->median_error = (place->median_error * place->rows + runs.median_error * runs.rows) /
                          std::max(1, place->rows + runs.rows);
    place->rows += runs.rows;
  }
  std::stable_sort(all.begin(), all.end(), [&](const NearestRuns& a, const NearestRuns& b) {
    const int near_a = distance(a.kind, kind), near_b = distance(b.kind, kind);
    return near_a != near_b ? near_a < near_b : a.rows > b.rows;
  });
  all.resize(std::min(all.size(), most));
  return all;
}

std::vector<std::string> nearest_sentences(const RunKind& kind,
                                           const std::vector<ComparedRuns>& compared) {
  std::vector<std::string> sentences;
  const auto nearest = nearest_runs(kind, compared);
  if (nearest.empty() || nearest.front().kind.framework != kind.framework) {
    sentences.push_back(
        fmt::format("no run of {} was ever compared with its prediction", kind.framework));
  }
  for (const NearestRuns& near : nearest) {
    sentences.push_back(fmt::format("{:.1f} % off in {} {} of {} ({} {})", 100 * near.median_error,
                                    near.rows, near.rows == 1 ? "run" : "runs",
                                    described(near.kind), near.sources,
                                    near.sources == 1 ? "source" : "sources"));
  }
  return sentences;
}

std::vector<core::ModelConstant> model_constants() {
  const std::string judged = "left-out rows of the kind (docs/validation.md); rounded";
  return {{"validation.error_of_one_source", kOneSource, "", 0, judged},
          {"validation.error_of_other_kind", kOtherKind, "", 0, judged},
          {"validation.error_never_compared_slower", kNeverCompared.slower, "", 0, judged},
          {"validation.error_never_compared_faster", kNeverCompared.faster, "", 0, judged},
          {"validation.error_of_new_gpu", kNewGpu, "", 0, judged},
          {"validation.error_of_constant_of_one_source", kJudgedByOne, "", 0,
           "middle of what the other shares and efficiencies err by, 6 to 13 %"},
          {"validation.error_always", training::kUsualError, "", 0, judged},
          {"validation.error_always_of_mixtures", kAlwaysOfMixtures, "", 0, judged}};
}

}  // namespace headway::validation
