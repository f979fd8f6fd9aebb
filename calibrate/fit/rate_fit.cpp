#include "calibrate/fit/rate_fit.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <functional>
#include <map>
#include <string_view>
#include <tuple>

namespace headway::fit {

namespace {

using core::Precision;

bool usable(const Sample& s) {
  return s.beside.empty() && !s.has(SampleFlag::wrong) && !s.has(SampleFlag::outlier);
}

/// A share of a peak: which samples speak for it, and what each says.
struct Share {
  const char* name;
  double gpu::SustainedShares::*member;
  std::function<bool(const Sample&)> speaks;
  double peak;  ///< 0: the GPU has none
};

bool sixteen_bit(const Sample& s) {
  return s.precision == Precision::bf16 || s.precision == Precision::fp16;
}

bool large_product(const Sample& s) {
  return s.kind == SampleKind::gemm && s.batch <= 1 && work_flops(s) >= kLargeGemmFlops &&
         s.m >= 1024 && s.n >= 1024 && s.k >= 1024;
}

bool large_gemm(const Sample& s) { return s.op == "forward" && large_product(s); }

/// The variant of samples of FlashAttention-2, which newer kernels stand beside.
constexpr const char* kFlash2 = "flash2";

bool long_attention(const Sample& s) {
  return s.kind == SampleKind::attention && s.causal && sixteen_bit(s) &&
         s.sequence >= kLongSequence && s.head_dim == 128;
}

bool newest_attention(const Sample& s, const char* op) {
  return long_attention(s) && s.op == op && s.variant != kFlash2;
}

/// Reads and writes whole arrays, one element beside the other. Norms, rotary embedding, the loss
/// and casts take instructions beside the bandwidth (sim/workload/elementwise).
bool streams(const Sample& s) {
  const auto begins = [&](std::string_view word) { return s.op.rfind(word, 0) == 0; };
  return s.kind == SampleKind::memory && s.bytes >= kStreamingBytes &&
         (begins("copy") || begins("triad") || begins("swiglu") || begins("residual") ||
          begins("adam"));
}

std::vector<Share> shares_of(const gpu::GpuSpec& gpu) {
  using gpu::SustainedShares;
  return {{"kernels.gemm_16bit", &SustainedShares::gemm_16bit,
           [](const Sample& s) { return large_gemm(s) && sixteen_bit(s); }, gpu.peak.bf16.si()},
          {"kernels.gemm_8bit", &SustainedShares::gemm_8bit,
           [](const Sample& s) {
             return large_gemm(s) &&
                    (s.precision == Precision::fp8 || s.precision == Precision::mxfp8);
           },
           gpu.peak.fp8.si()},
          {"kernels.gemm_4bit", &SustainedShares::gemm_4bit,
           [](const Sample& s) { return large_gemm(s) && s.precision == Precision::nvfp4; },
           gpu.peak.fp4.si()},
          {"kernels.gemm_tf32", &SustainedShares::gemm_tf32,
           [](const Sample& s) { return large_gemm(s) && s.precision == Precision::tf32; },
           gpu.peak.tf32.si()},
          {"kernels.attention_forward", &SustainedShares::attention_forward,
           [](const Sample& s) { return newest_attention(s, "forward"); }, gpu.peak.bf16.si()},
          {"kernels.attention_backward", &SustainedShares::attention_backward,
           [](const Sample& s) { return newest_attention(s, "backward"); }, gpu.peak.bf16.si()},
          {"kernels.memory", &SustainedShares::memory, [](const Sample& s) { return streams(s); },
           gpu.memory_bandwidth.si()}};
}

/// Rate of each large 16-bit weight gradient / that of the forward product of the same shape and
/// library algorithm; of bursts of both, throttled ones too if asked for.
std::vector<double> gradient_ratios(std::span<const Sample> samples, bool throttled) {
  using Product =
      std::tuple<Precision, std::string, std::int64_t, std::int64_t, std::int64_t, std::int64_t>;
  std::map<Product, std::pair<std::vector<double>, std::vector<double>>> seconds;
  for (const auto& s : samples) {
    const bool pass = s.op == "forward" || s.op == "weight_gradient";
    const bool clocked = throttled || !s.has(SampleFlag::throttled);
    if (!usable(s) || !clocked || s.elapsed_s > 0 || !pass || !large_product(s) ||
        !sixteen_bit(s)) {
      continue;
    }
    auto& both = seconds[{s.precision, s.variant, s.m, s.n, s.k, s.batch}];
    (s.op == "forward" ? both.first : both.second).push_back(s.seconds);
  }
  std::vector<double> ratios;
  for (const auto& [product, both] : seconds) {
    if (!both.first.empty() && !both.second.empty()) {
      ratios.push_back(median(both.first) / median(both.second));
    }
  }
  return ratios;
}

/// Those at full clock; where they are few, of all: the clocks of a pair differ at random.
std::vector<double> gradient_ratios(std::span<const Sample> samples) {
  constexpr std::size_t kEnough = 5;
  std::vector<double> unhindered = gradient_ratios(samples, false);
  std::vector<double> all = gradient_ratios(samples, true);
  return unhindered.size() >= kEnough || all.size() < kEnough ? unhindered : all;
}

/// Rates of FlashAttention-2, forward and backward of each long shape together.
std::vector<double> flash2_rates(std::span<const Sample> samples) {
  using Shape = std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t>;
  struct Passes {
    double work = 0, seconds = 0;
    int forward = 0, backward = 0;
  };
  std::map<Shape, Passes> shapes;
  for (const auto& s : samples) {
    if (usable(s) && long_attention(s) && s.variant == kFlash2) {
      Passes& passes = shapes[{s.batch, s.sequence, s.query_heads, s.key_value_heads}];
      passes.work += work_flops(s);
      passes.seconds += s.seconds;
      ++(s.op == "forward" ? passes.forward : passes.backward);
    }
  }
  std::vector<double> rates;
  for (const auto& [shape, passes] : shapes) {
    if (passes.forward > 0 && passes.forward == passes.backward) {
      rates.push_back(passes.work / passes.seconds);
    }
  }
  return rates;
}

double rate_of(const Sample& s) {
  return (s.kind == SampleKind::memory ? s.bytes : work_flops(s)) / s.seconds;
}

/// What the samples say of one share; sustained ones alone where there are any, throttled bursts
/// where there is nothing else.
struct Spoken {
  std::vector<double> values;
  int flagged = 0;
  bool sustained = false;
};

Spoken ask(std::span<const Sample> samples, const Share& share) {
  Spoken burst;
  Spoken slowed;
  Spoken lasting;
  double longest = 0;
  for (const auto& s : samples) {
    longest = share.speaks(s) ? std::max(longest, s.elapsed_s) : longest;
  }
  for (const auto& s : samples) {
    if (!share.speaks(s) || !s.beside.empty()) {
      continue;
    }
    // A lasting load is throttled by nature; a burst should not be.
    const bool lasts = s.elapsed_s > 0;
    const bool throttled = !lasts && s.has(SampleFlag::throttled);
    Spoken& side = lasts ? lasting : throttled ? slowed : burst;
    if (usable(s) && (!lasts || s.elapsed_s >= longest / 2)) {
      side.values.push_back(rate_of(s) / share.peak);
    }
    burst.flagged += throttled ? 1 : 0;
    side.flagged += usable(s) ? 0 : 1;
  }
  lasting.sustained = true;
  slowed.sustained = true;  // at the clock that the power limit leaves, as in training
  const Spoken& brief = burst.values.empty() ? slowed : burst;
  if (share.member == &gpu::SustainedShares::memory && !brief.values.empty()) {
    return brief;  // the memory keeps its clock, and one lasting kernel does not speak for all
  }
  return lasting.values.empty() ? brief : lasting;
}

/// What one sample says of a figure, and the standard error of its own median.
struct Spread {
  double value = 0;
  double error = 0;
};

/// Of a median of n repeats that are nearly normal: 1.253 sigma / sqrt n, sigma = quartiles'
/// distance / 1.349.
double relative_error_of(const Sample& s) {
  return s.repeats > 0 ? 0.93 * s.spread_s / s.seconds / std::sqrt(s.repeats) : 0;
}

std::vector<Spread> values_of(std::span<const Sample> samples,
                              const std::function<bool(const Sample&)>& speaks,
                              const std::function<double(const Sample&)>& value) {
  std::vector<Spread> out;
  for (const auto& s : samples) {
    if (usable(s) && speaks(s)) {
      out.push_back({value(s), value(s) * relative_error_of(s)});
    }
  }
  return out;
}

std::vector<double> plain_values(const std::vector<Spread>& found) {
  std::vector<double> values;
  for (const Spread& one : found) {
    values.push_back(one.value);
  }
  return values;
}

double bytes_per_second(const Sample& s) { return s.bytes / s.seconds; }

/// CPU time of a kernel by the driver, or through PyTorch in a layer's forward and backward.
std::vector<Spread> launches(std::span<const Sample> samples, const char* variant) {
  return values_of(
      samples,
      [&](const Sample& s) {
        return s.kind == SampleKind::launch && s.op == "kernel_call" && s.variant == variant;
      },
      [](const Sample& s) { return s.seconds; });
}

/// CPU time of a pass through a compiled layer of `streams` kernels, less what the driver takes to
/// launch them: it costs what it costs, however few kernels it has.
std::vector<Spread> compiled_passes(std::span<const Sample> samples) {
  const std::vector<double> driver = plain_values(launches(samples, ""));
  const double each = driver.empty() ? 0 : median(driver);
  const auto beside = [&](const Sample& s) { return s.seconds - each * s.streams; };
  std::vector<Spread> passes;
  for (const Sample& s : samples) {
    if (usable(s) && s.kind == SampleKind::launch && s.op == "pass_call" &&
        s.variant == "compiled" && beside(s) > 0) {
      passes.push_back({beside(s), s.seconds * relative_error_of(s)});
    }
  }
  return passes;
}

/// Repeats of the number of streams with the highest median rate.
std::vector<Spread> best_streams(std::span<const Sample> samples, const char* op) {
  std::map<int, std::vector<Spread>> by_streams;
  for (const auto& s : samples) {
    if (usable(s) && s.kind == SampleKind::storage && s.op == op && s.bytes > 0) {
      const double rate = bytes_per_second(s);
      by_streams[s.streams].push_back({rate, rate * relative_error_of(s)});
    }
  }
  std::vector<Spread> best;
  for (const auto& [streams, rates] : by_streams) {
    if (best.empty() || median(plain_values(rates)) > median(plain_values(best))) {
      best = rates;
    }
  }
  return best;
}

/// The error of a figure is what its samples differ by; of a single one its own.
template <class Quantity>
void set(std::optional<Quantity>& target,
         const std::vector<Spread>& spreads,
         const char* name,
         const char* unit,
         RateFit& fit) {
  if (auto found = typical(plain_values(spreads))) {
    if (spreads.size() == 1) {
      found->estimate.standard_error = spreads.front().error;
    }
    target = Quantity(found->estimate.value);
    fit.figures.push_back(
        figure(name, found->estimate, unit, found->leave_one_out, found->samples));
  }
}

/// What makes two samples the same work, whatever ran beside it.
auto work_of(const Sample& s) {
  return std::tuple(s.kind, s.op, s.variant, s.precision, s.m, s.n, s.k, s.batch, s.sequence,
                    s.query_heads, s.key_value_heads, s.head_dim, s.causal, s.ranks,
                    s.ranks_per_node, s.streams, s.bytes);
}

}  // namespace

std::optional<Typical> typical(std::span<const double> values) {
  if (values.empty()) {
    return std::nullopt;
  }
  Typical out;
  out.estimate = median_estimate(values);
  out.samples = static_cast<int>(values.size());
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  std::vector<double> errors;
  for (std::size_t i = 0; i < values.size() && values.size() > 1; ++i) {
    const auto own = static_cast<std::size_t>(
        std::lower_bound(sorted.begin(), sorted.end(), values[i]) - sorted.begin());
    const auto of_rest = [&](std::size_t place) { return sorted[place + (place < own ? 0 : 1)]; };
    const std::size_t last = values.size() - 2;
    const double below = of_rest(last / 2);
    const double above = of_rest((last + 1) / 2);
    errors.push_back((below + 0.5 * (above - below)) / values[i] - 1);
  }
  out.leave_one_out = root_mean_square(errors);
  return out;
}

namespace {

/// Faster than forward (a shape that suits it better) counts as equal: a share is at most 1.
void fit_weight_gradient(std::span<const Sample> samples, ShareFit& out) {
  auto found = typical(gradient_ratios(samples));
  if (!found) {
    out.remarks.push_back(
        fmt::format("kernels.weight_gradient was not measured beside forward products of its "
                    "shapes; the catalogue's {} stands",
                    out.shares.weight_gradient));
    return;
  }
  found->estimate.value = std::min(found->estimate.value, 1.0);
  out.shares.weight_gradient = found->estimate.value;
  out.figures.push_back(
      figure("kernels.weight_gradient", found->estimate, "", found->leave_one_out, found->samples));
}

/// Throttled or not: FlashAttention-2 keeps its clock on boards of 500 W (docs/models/gpu.md).
void fit_flash2(std::span<const Sample> samples, double peak, ShareFit& out) {
  std::vector<double> shares;
  for (const double rate : flash2_rates(samples)) {
    shares.push_back(rate / peak);
  }
  const auto found = typical(shares);
  if (!found || found->estimate.value > 1) {
    out.remarks.push_back(
        fmt::format("kernels.attention_flash2 was not measured; the catalogue's {} stands",
                    out.shares.attention_flash2));
    return;
  }
  out.shares.attention_flash2 = found->estimate.value;
  out.figures.push_back(figure("kernels.attention_flash2", found->estimate, "",
                               found->leave_one_out, found->samples));
}

}  // namespace

ShareFit fit_shares(std::span<const Sample> samples, const gpu::GpuSpec& gpu) {
  ShareFit out;
  out.shares = gpu.sustained;
  fit_weight_gradient(samples, out);
  fit_flash2(samples, gpu.peak.bf16.si(), out);
  for (const auto& share : shares_of(gpu)) {
    if (share.peak <= 0) {
      continue;
    }
    const Spoken spoken = ask(samples, share);
    const auto found = typical(spoken.values);
    if (!found) {
      const double known = out.shares.*share.member;
      out.remarks.push_back(
          known > 0
              ? fmt::format("{} was not measured; the catalogue's {} stands", share.name, known)
              : fmt::format("{} was not measured; that of 16-bit products stands in", share.name));
      continue;
    }
    if (found->estimate.value > 1) {
      out.remarks.push_back(fmt::format(
          "{} comes to {:.3f} of the data sheet's peak, more than the whole; is --gpu {} right? "
          "The catalogue's {} stands",
          share.name, found->estimate.value, gpu.name, out.shares.*share.member));
      continue;
    }
    if (!spoken.sustained && share.member != &gpu::SustainedShares::memory) {
      out.remarks.push_back(fmt::format(
          "{} is of bursts on a cool GPU; clocks under training are lower", share.name));
    }
    out.shares.*share.member = found->estimate.value;
    out.figures.push_back(figure(share.name, found->estimate, "", found->leave_one_out,
                                 found->samples, spoken.flagged));
  }
  return out;
}

RateFit fit_rates(std::span<const Sample> samples) {
  RateFit fit;
  set(fit.kernel_launch,
      values_of(
          samples, [](const Sample& s) { return s.kind == SampleKind::launch && s.op == "kernel"; },
          [](const Sample& s) { return s.seconds; }),
      "kernel_launch", "s", fit);
  set(fit.eager_launch, launches(samples, "eager_autograd"), "eager_launch", "s", fit);
  set(fit.compiled_layer, compiled_passes(samples), "compiled_layer", "s", fit);
  constexpr double kLargeCopy = 64e6;
  set(fit.host_bandwidth,
      values_of(
          samples,
          [&](const Sample& s) {
            return s.kind == SampleKind::copy && s.op == "device_to_host" &&
                   s.variant == "pinned" && s.bytes >= kLargeCopy;
          },
          bytes_per_second),
      "host_bandwidth", "B/s", fit);
  training::MeasuredStorage storage;
  set(storage.client_write_bandwidth, best_streams(samples, "write"),
      "storage.client_write_bandwidth", "B/s", fit);
  set(storage.client_read_bandwidth, best_streams(samples, "read"), "storage.client_read_bandwidth",
      "B/s", fit);
  set(storage.latency,
      values_of(
          samples,
          [](const Sample& s) {
            return s.kind == SampleKind::storage && (s.op == "sync" || s.op == "metadata");
          },
          [](const Sample& s) { return s.seconds; }),
      "storage.latency", "s", fit);
  if (storage != training::MeasuredStorage{}) {
    fit.storage = storage;
  }
  return fit;
}

std::vector<training::FittedFigure> fit_interference(std::span<const Sample> samples) {
  std::map<decltype(work_of(samples.front())), std::vector<double>> alone;
  for (const auto& s : samples) {
    if (usable(s)) {
      alone[work_of(s)].push_back(s.seconds);
    }
  }
  std::map<std::string, std::vector<double>> ratios;
  for (const auto& s : samples) {
    const auto quiet = alone.find(work_of(s));
    if (!s.beside.empty() && !s.has(SampleFlag::wrong) && quiet != alone.end()) {
      ratios[fmt::format("interference.{}.{}.beside.{}", core::to_word(s.kind), s.op, s.beside)]
          .push_back(s.seconds / median(quiet->second));
    }
  }
  std::vector<training::FittedFigure> figures;
  for (const auto& [name, values] : ratios) {
    const auto found = typical(values);
    figures.push_back(figure(name, found->estimate, "", found->leave_one_out, found->samples));
  }
  return figures;
}

}  // namespace headway::fit
