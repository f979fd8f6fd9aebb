// How a published figure of TFLOP/s is counted, and whether it is that of the MFU beside it.
#include <algorithm>
#include <cmath>

#include "sim/core/text.h"
#include "sim/gpu/kernel_time.h"
#include "sim/validation/names/software_names.h"
#include "sim/validation/run_parts.h"
#include "sim/validation/words/note_words.h"
#include "sim/workload/closed_form.h"

namespace headway::validation {

namespace {

/// What a GPU multiplies at most, of the run's format and of 16 bit [FLOP/s]: sources mean either.
std::pair<double, double> peaks(const training::Scenario& s) {
  const gpu::GpuSpec& gpu = s.cluster.node.gpu;
  const double own = gpu::peak_rate(gpu, s.training.precision).si();
  const double half = gpu::peak_rate(gpu, core::Precision::fp16).si();  // that all have, as bf16's
  return std::minmax(half > 0 ? half : own, own);
}

constexpr int kNoYear = 2024;         // of software without one (run_software.cpp)
constexpr double kSameShare = 0.05;   // shares are rounded
constexpr double kOtherCount = 0.10;  // and recomputed forwards are counted in several ways

/// Whether TFLOP/s are this share of a peak.
bool is_share(double tflops, double share, const training::Scenario& s, double rounding) {
  const auto [least, most] = peaks(s);
  const auto same = [&](double peak) {
    return share > 0 && std::abs(tflops * 1e12 / (share * peak) - 1) < rounding;
  };
  return same(least) || same(most);
}

FlopsWords words_of_flops(const RunRow& row) {
  return flops_words(row.notes + "; " + row.derivation + "; " + row.figure_note);
}

workload::TrainingFlops flops_of_token(const training::Scenario& s) {
  return workload::training_flops_per_token(s.model, s.training, s.parallelism);
}

}  // namespace

CountedFlops flops_of_figure(const RunRow& row, const training::Scenario& scenario) {
  FlopsWords words = words_of_flops(row);
  const double tflops = stated_tflops(row);
  if (tflops <= 0) {
    words = {.hardware = !row.mfu, .model = row.mfu.has_value()};
  }
  const workload::TrainingFlops flops = flops_of_token(scenario);
  // A figure that is the MFU's only without the forwards that the layout recomputes holds them.
  const double recomputed = flops.hfu / flops.mfu;
  const bool by_mfu = is_share(tflops, words.mfu, scenario, kSameShare);
  const bool by_hfu = is_share(tflops, words.hfu, scenario, kSameShare) ||
                      (!by_mfu && recomputed > 1 + kOtherCount &&
                       is_share(tflops / recomputed, words.mfu, scenario, kOtherCount));
  const bool both = words.hardware && words.model;
  const bool hardware = by_hfu != by_mfu ? by_hfu : words.hardware && (!both || words.mfu > 0);
  const bool model = by_hfu != by_mfu ? by_mfu : words.model && !words.hardware && words.mfu <= 0;
  // Attention in full or halved, which neither convention says.
  const double attention = std::log(flops.mfu.si() / flops.mfu_causal.si()) / 2;
  if (hardware) {
    return {flops.hfu.si(), attention, false, ", recomputed forwards counted"};
  }
  const std::string software = core::lower_case(row.era + " " + scenario.training.framework.name);
  if (!model && scenario.parallelism.recompute == workload::Recompute::full &&
      counts_every_forward(software, row.year.value_or(kNoYear))) {
    return {flops.hfu.si(), attention, true,
            ", recomputed forwards counted as this software's formula does"};
  }
  return {flops.mfu.si(), model ? attention : 0, !model, ""};
}

bool figure_by_flops(const RunRow& row) { return stated_tflops(row) > 0 || row.mfu || row.hfu; }

double tokens_of_tflops(const RunRow& row, const training::Scenario& scenario) {
  const gpu::GpuSpec& gpu = scenario.cluster.node.gpu;
  const double peak = gpu::peak_rate(gpu, scenario.training.precision).si();
  const double flops = stated_tflops(row) > 0 ? stated_tflops(row) * 1e12
                                              : row.mfu.value_or(row.hfu.value_or(0)) * peak;
  return flops / flops_of_figure(row, scenario).of_token;
}

FigureDoubt against_mfu(const RunRow& row, const training::Scenario& scenario) {
  const FlopsWords noted = flops_words(row.notes);
  const double stated = std::max({noted.mfu, noted.hfu, row.mfu.value_or(0), row.hfu.value_or(0)});
  const double tokens = row.measured_tokens_per_s_per_gpu.value_or(0);
  const auto [least_peak, most_peak] = peaks(scenario);
  if (stated <= 0 || stated > 1 || tokens <= 0 || least_peak <= 0 || scenario.model.adapters) {
    return {};
  }
  // As TFLOP/s beside tokens a second are compared: from six FLOPs a parameter of the layers to
  // attention in full and every forward twice.
  constexpr double kRounding = 0.1;
  constexpr double kRecomputed = 4.0 / 3;
  constexpr double kMost = 0.5;  // beyond a factor of e one of them is a slip
  const workload::TrainingFlops flops = flops_of_token(scenario);
  const auto parameters = workload::count_parameters(scenario.model);
  const double layers = 6 * (parameters.active - parameters.embedding - parameters.head);
  const double least =
      (1 - kRounding) * std::min(layers, flops.mfu_causal.si()) * tokens / most_peak;
  const double most = (1 + kRounding) * std::max(flops.hfu.si(), kRecomputed * flops.mfu.si()) *
                      tokens / least_peak;
  if (least <= stated && stated <= most) {
    return {};
  }
  const double made = flops.mfu.si() * tokens / least_peak;
  const bool column = row.mfu || row.hfu;
  return {fmt::format("{} {:.3g} % of the peak, but its tokens/s make {:.3g} %",
                      column ? "it states" : "notes state", 100 * stated, 100 * made),
          std::min(kMost, std::abs(std::log(stated / made)) / 2)};
}

}  // namespace headway::validation
