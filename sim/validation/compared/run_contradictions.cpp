// Published runs that contradict themselves or a repeat of them: the status says so, the figures
// stay.
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "sim/core/error.h"
#include "sim/core/statistics.h"
#include "sim/core/text.h"
#include "sim/gpu/kernel_time.h"
#include "sim/validation/run_parts.h"
#include "sim/workload/closed_form.h"

namespace headway::validation {

namespace {

/// A figure, or 0 where the cell is blank or cannot be read.
template <class T>
double figure(const std::optional<T>& cell) {
  return static_cast<double>(cell.value_or(T{}));
}

std::string from_notes(const RunRow& row) {
  static constexpr std::array<const char*, 3> kWords = {"inconsistent", "contradict", "impossible"};
  return contains_any(core::lower_case(row.notes), kWords) ? "its notes say so" : "";
}

std::string from_degrees(const RunRow& row) {
  // Blank degrees follow from the others; only a sequence is taken as whole.
  const double product =
      figure(row.dp) * figure(row.tp) * figure(row.pp) * std::max(1.0, figure(row.cp));
  const double gpus = figure(row.n_gpus);
  if (product > 0 && gpus > 0 && product != gpus) {
    return fmt::format("{:g} GPUs, but the degrees make {:g}", gpus, product);
  }
  const double batch = figure(row.global_batch);
  const double replicas = figure(row.dp);
  return batch > 0 && batch < replicas
             ? fmt::format("a global batch of {:g} for {:g} replicas", batch, replicas)
             : "";
}

/// Tokens a second against a step time or TFLOP/s of the same row. Steps are counted exactly, so 5
/// % is rounding at most; FLOPs are counted with or without causal masks and recomputation, which
/// is 0.7 to 1.5 of full attention's.
std::string from_figures(const RunRow& row) {
  constexpr double kRounding = 0.05;
  const double tokens = figure(row.measured_tokens_per_s_per_gpu);
  for (const auto& cell : {row.measured_step_time_s, row.step_time_s}) {
    const double step = figure(cell);
    const double per_gpu =
        figure(row.global_batch) * figure(row.seq_len) / std::max(1.0, figure(row.n_gpus));
    if (step > 0 && tokens > 0 && per_gpu > 0 &&
        std::abs(per_gpu / step / tokens - 1) > kRounding) {
      return fmt::format("{:.4g} tokens/s/GPU, but its step time makes {:.4g}", tokens,
                         per_gpu / step);
    }
  }
  constexpr double kLeastShare = 0.7;
  constexpr double kMost = 1.5;
  for (const auto& cell :
       {row.measured_tflops_per_gpu, row.published_tflops_per_gpu, row.tflops_per_gpu}) {
    const double stated = figure(cell);
    const double counted = tokens * figure(row.model_flops_per_token) / 1e12;
    if (stated > 0 && counted > 0 && (stated < kLeastShare * counted || stated > kMost * counted)) {
      return fmt::format("{:.4g} TFLOP/s stated, but its tokens/s make {:.4g}", stated, counted);
    }
  }
  return "";
}

/// Whether the degrees and what is computed are stated.
bool degrees_stated(const RunRow& row) {
  static constexpr std::array<const char*, 4> kFields = {"micro_batch", "tp", "pp", "precision"};
  return std::all_of(kFields.begin(), kFields.end(),
                     [&](const char* field) { return row.certain(field); }) &&
         (row.certain("vpp") || figure(row.pp) <= 1);
}

/// Whether the layout is stated, so that equal rows are one configuration.
bool layout_stated(const RunRow& row) { return degrees_stated(row) && row.certain("recompute"); }

struct Repeat {
  std::size_t row = 0;
  double measured = 0;
  std::string release;
};

constexpr double kRepeats = 0.10;   // repeats of one release: three times their usual noise
constexpr double kReleases = 0.15;  // releases of one configuration: twice what they usually change

/// Repeats of one release that disagree.
std::string against_same_release(const Repeat& one, const std::vector<Repeat>& repeats) {
  std::vector<double> alike;
  for (const Repeat& other : repeats) {
    if (other.release == one.release) {
      alike.push_back(other.measured);
    }
  }
  std::sort(alike.begin(), alike.end());
  const double off = one.measured / core::quantile_of_sorted(alike, 0.5) - 1;
  return std::abs(off) > kRepeats
             ? fmt::format("{:+.0f} % from the median of its repeats", 100 * off)
             : "";
}

/// Software that was faster before and is again afterwards, at the same configuration.
std::string against_other_releases(const Repeat& one, const std::vector<Repeat>& repeats) {
  double before = 0;
  double after = 0;
  for (const Repeat& other : repeats) {
    double& best = other.release < one.release ? before : after;
    if (other.release != one.release) {
      best = std::max(best, other.measured);
    }
  }
  const double both = std::min(before, after);
  return both > 0 && one.measured < (1 - kReleases) * both
             ? fmt::format("{:.0f} % slower than the releases before and after it",
                           100 * (1 - one.measured / both))
             : "";
}

/// A layout on some number of GPUs.
struct Sized {
  std::size_t row = 0;
  double gpus = 0;
  double micro_batches = 0;  ///< of a replica
  double micro_batch = 0;    ///< of the step's time, a micro-batch and its share of the bubble [s]
};

/// Nothing where the row does not say of how many micro-batches its step is, or what they run on.
/// Recomputing, which many do not state, adds a third at most.
std::optional<Sized> sized(const RunRow& row, std::size_t index) {
  const double samples = figure(row.dp) * figure(row.micro_batch);
  const double tokens = figure(row.measured_tokens_per_s_per_gpu) * figure(row.n_gpus);
  if (samples <= 0 || tokens <= 0 || figure(row.global_batch) < samples || !degrees_stated(row)) {
    return std::nullopt;
  }
  const double micro_batches = figure(row.global_batch) / samples;
  const double bubble = (std::max(1.0, figure(row.pp)) - 1) / std::max(1.0, figure(row.vpp));
  const double step = figure(row.global_batch) * figure(row.seq_len) / tokens;
  return Sized{index, figure(row.n_gpus), micro_batches, step / (micro_batches + bubble)};
}

/// The row without what grows with the number of GPUs.
std::string layout_text(RunRow row) {
  row.n_gpus.reset();
  row.dp.reset();
  row.global_batch.reset();
  return configuration_text(row);
}

/// More GPUs of the same layout compute as much a micro-batch and send more, and fewer
/// micro-batches share what a step costs once.
std::string against_more_gpus(const Sized& one,
                              const std::vector<Sized>& sizes,
                              const std::vector<Contradiction>& known) {
  constexpr double kSlower = 1 + 5 * kRepeats;
  const Sized* fastest = nullptr;
  for (const Sized& other : sizes) {
    if (other.gpus > one.gpus && other.micro_batches <= one.micro_batches &&
        known[other.row].why.empty() &&
        (fastest == nullptr || other.micro_batch < fastest->micro_batch)) {
      fastest = &other;
    }
  }
  return fastest != nullptr && one.micro_batch > kSlower * fastest->micro_batch
             ? fmt::format(
                   "a micro-batch takes {:.1f} times what it takes in the same layout on "
                   "{:g} GPUs",
                   one.micro_batch / fastest->micro_batch, fastest->gpus)
             : "";
}

/// FLOPs of a token, attention in full, causal, and with recomputation.
workload::TrainingFlops token_flops(const training::Scenario& s) {
  return workload::training_flops_per_token(s.model, s.training, s.parallelism);
}

}  // namespace

double stated_tflops(const RunRow& row) {
  for (const auto& cell :
       {row.measured_tflops_per_gpu, row.published_tflops_per_gpu, row.tflops_per_gpu}) {
    if (figure(cell) > 0) {
      return figure(cell);
    }
  }
  return 0;
}

std::string impossible_figure(double measured, const training::Scenario& scenario) {
  constexpr double kLeastShare = 0.005;  // a tenth of the slowest published run's
  const double peak = gpu::peak_rate(scenario.cluster.node.gpu, scenario.training.precision).si();
  const workload::TrainingFlops flops = token_flops(scenario);
  if (peak <= 0 || measured <= 0) {
    return "";
  }
  const double most = measured * flops.mfu_causal.si() / peak;
  if (most > 1) {
    return fmt::format("{:.4g} tokens/s/GPU are {:.3g} times what the GPU can multiply", measured,
                       most);
  }
  const double least = measured * flops.mfu.si() / peak;
  return least < kLeastShare
             ? fmt::format("{:.4g} tokens/s/GPU are an MFU of {:.2g} %: another quantity?",
                           measured, 100 * least)
             : "";
}

std::string against_flops(const RunRow& row, const training::Scenario& scenario) {
  const double tokens = figure(row.measured_tokens_per_s_per_gpu);
  const double stated = stated_tflops(row);
  if (tokens <= 0 || stated <= 0 || figure(row.model_flops_per_token) > 0 ||
      scenario.model.adapters) {
    return "";
  }
  // From six FLOPs a parameter of the layers to attention in full and every forward twice.
  constexpr double kRounding = 0.1;
  constexpr double kRecomputed = 4.0 / 3;
  const workload::TrainingFlops flops = token_flops(scenario);
  const auto parameters = workload::count_parameters(scenario.model);
  const double layers = 6 * (parameters.active - parameters.embedding - parameters.head);
  const double least = (1 - kRounding) * std::min(layers, flops.mfu_causal.si()) * tokens / 1e12;
  const double most =
      (1 + kRounding) * std::max(flops.hfu.si(), kRecomputed * flops.mfu.si()) * tokens / 1e12;
  return stated < least || stated > most
             ? fmt::format("{:.4g} TFLOP/s stated, but its tokens/s make {:.4g} of this model",
                           stated, flops.mfu.si() * tokens / 1e12)
             : "";
}

std::vector<Contradiction> contradictions(const import::CsvTable& table) {
  std::vector<Contradiction> found(table.rows());
  std::map<std::string, std::vector<Repeat>> groups;
  std::map<std::string, std::vector<Sized>> layouts;
  for (std::size_t index = 0; index < table.rows(); ++index) {
    const RunRow row = read_run_row(table, index);
    for (const auto& check : {from_notes, from_degrees, from_figures}) {
      found[index].why = found[index].why.empty() ? check(row) : found[index].why;
    }
    const double measured = figure(row.measured_tokens_per_s_per_gpu);
    if (measured > 0 && layout_stated(row)) {
      groups[configuration_text(row)].push_back({index, measured, row.release});
    }
    if (const auto one = sized(row, index)) {
      layouts[row.release + layout_text(row)].push_back(*one);
    }
  }
  for (const auto& [name, repeats] : groups) {
    for (const Repeat& one : repeats) {
      std::string& why = found[one.row].why;
      why = why.empty() ? against_same_release(one, repeats) : why;
      why = why.empty() ? against_other_releases(one, repeats) : why;
    }
  }
  const std::vector<Contradiction> known = found;
  for (const auto& [name, sizes] : layouts) {
    for (const Sized& one : sizes) {
      if (known[one.row].why.empty()) {
        found[one.row] = {against_more_gpus(one, sizes, known), true};
      }
    }
  }
  return found;
}

}  // namespace headway::validation
