#include "calibrate/fit/profile.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fmt/format.h>
#include <map>
#include <tuple>

#include "sim/core/error.h"

#include "calibrate/fit/collective_fit.h"
#include "calibrate/fit/power_fit.h"
#include "calibrate/fit/rate_fit.h"

namespace headway::fit {

namespace {

void append(std::vector<training::FittedFigure>& to, std::vector<training::FittedFigure> from) {
  to.insert(to.end(), from.begin(), from.end());
}

/// Samples of one curve and where they stand in the set.
struct Group {
  std::vector<std::size_t> indices;
  std::vector<Sample> samples;
};

/// The word of the curve in `figures`: "collectives.all_reduce.8x8".
std::string word_of(const network::CollectiveCurve& curve) {
  return fmt::format("collectives.{}.{}x{}", core::to_word(curve.collective), curve.ranks,
                     curve.ranks_per_node);
}

void fit_collectives(Profile& profile, double tolerance) {
  std::map<std::tuple<std::string, int, int>, Group> groups;
  for (std::size_t i = 0; i < profile.samples.samples.size(); ++i) {
    const Sample& s = profile.samples.samples[i];
    if (s.kind == SampleKind::collective && s.beside.empty()) {
      auto& group = groups[{s.op, s.ranks, s.ranks_per_node}];
      group.indices.push_back(i);
      group.samples.push_back(s);
    }
  }
  for (auto& [key, group] : groups) {
    const FittedCurve fitted = fit_collective(group.samples, tolerance);
    for (std::size_t i = 0; i < group.indices.size(); ++i) {
      profile.samples.samples[group.indices[i]].flags = group.samples[i].flags;
    }
    profile.spec.collectives.push_back(fitted.curve);
    if (const auto& fit = fitted.curve.fit) {
      const int flagged = static_cast<int>(fitted.flagged.size());
      const std::string word = word_of(fitted.curve);
      append(profile.spec.figures,
             {figure(word + ".alpha", {fit->alpha.si(), fit->alpha_error.si()}, "s",
                     fit->leave_one_out, fitted.samples, flagged),
              figure(word + ".beta", {fit->beta.si(), fit->beta_error.si()}, "B/s",
                     fit->leave_one_out, fitted.samples, flagged),
              figure(word + ".saturation", {fit->saturation, fit->saturation_error}, "",
                     fit->leave_one_out, fitted.samples, flagged)});
    }
    if (!fitted.flagged.empty()) {
      profile.remarks.push_back(fmt::format("{}: {} of {} samples left out (flags in the samples)",
                                            word_of(fitted.curve), fitted.flagged.size(),
                                            group.samples.size()));
    }
  }
}

bool is_kernel(const Sample& s) {
  return s.kind == SampleKind::gemm || s.kind == SampleKind::attention ||
         s.kind == SampleKind::memory;
}

/// Power limit of the board as the measuring program noted it ("700 W"); else the data sheet's.
core::Watts measured_limit(const SampleSet& samples, const gpu::GpuSpec& gpu) {
  for (const auto& fact : samples.facts) {
    if (const double watts = std::strtod(fact.value.c_str(), nullptr);
        fact.name == "power_limit" && watts > 0) {
      return core::Watts(watts);
    }
  }
  return gpu.power;
}

void fit_kernels(Profile& profile, const ProfileOptions& options) {
  const auto& samples = profile.samples.samples;
  if (std::none_of(samples.begin(), samples.end(), is_kernel)) {
    return;
  }
  if (!options.gpu) {
    profile.remarks.emplace_back(
        "kernel samples are not used: shares of the peak need the GPU's data sheet (--gpu ENTRY)");
    return;
  }
  auto fitted = fit_shares(samples, *options.gpu);
  if (!fitted.figures.empty()) {
    profile.spec.kernels = fitted.shares;
    profile.spec.kernels->power = measured_limit(profile.samples, *options.gpu);
  }
  append(profile.spec.figures, std::move(fitted.figures));
  profile.remarks.insert(profile.remarks.end(), fitted.remarks.begin(), fitted.remarks.end());
}

/// Six significant figures: more than any clock tells, and units then come out short.
double rounded(double value) { return std::stod(fmt::format("{:.6g}", value)); }

template <class Quantity>
void round(Quantity& quantity) {
  quantity = Quantity(rounded(quantity.si()));
}

template <class Quantity>
void round(std::optional<Quantity>& quantity) {
  if (quantity) {
    round(*quantity);
  }
}

void round_curve(network::CollectiveCurve& curve) {
  for (auto& point : curve.points) {
    round(point.time);
  }
  curve.relative_error = rounded(curve.relative_error);
  if (curve.fit) {
    auto& fit = *curve.fit;
    round(fit.alpha);
    round(fit.beta);
    round(fit.alpha_error);
    round(fit.beta_error);
    for (double* value : {&fit.saturation, &fit.saturation_error, &fit.leave_one_out}) {
      *value = rounded(*value);
    }
  }
}

void round_profile(training::CalibrationSpec& spec) {
  for (auto& curve : spec.collectives) {
    round_curve(curve);
  }
  for (auto& f : spec.figures) {
    for (double* value : {&f.value, &f.standard_error, &f.leave_one_out}) {
      *value = rounded(*value);
    }
  }
  round(spec.kernel_launch);
  round(spec.eager_launch);
  round(spec.compiled_layer);
  round(spec.host_bandwidth);
  if (spec.storage) {
    round(spec.storage->client_write_bandwidth);
    round(spec.storage->client_read_bandwidth);
    round(spec.storage->latency);
  }
  if (spec.power) {
    round(spec.power->settling);
    round(spec.power->static_power);
    round(spec.power->dynamic_power);
    for (double* value :
         {&spec.power->burst_clock, &spec.power->sustained_clock, &spec.power->exponent}) {
      *value = rounded(*value);
    }
  }
  spec.relative_error = rounded(spec.relative_error);
}

/// A product that takes r times as long beside a collective loses 1 - 1/r of every second of it.
/// The largest of the collectives measured.
std::optional<double> loss_beside_collectives(const std::vector<training::FittedFigure>& figures) {
  std::optional<double> loss;
  for (const auto& figure : figures) {
    const bool product = figure.name.rfind("interference.gemm.", 0) == 0;
    const bool collective = figure.name.ends_with(".beside.all_reduce") ||
                            figure.name.ends_with(".beside.all_gather") ||
                            figure.name.ends_with(".beside.reduce_scatter");
    if (product && collective && figure.value > 0) {
      loss = std::max(loss.value_or(0), 1 - 1 / std::max(1.0, figure.value));
    }
  }
  return loss;
}

}  // namespace

Profile fit_profile(SampleSet samples, const ProfileOptions& options) {
  Profile profile;
  profile.samples = std::move(samples);
  profile.spec.name = options.name;
  for (const auto& fact : profile.samples.facts) {
    profile.spec.circumstances.push_back(fmt::format("{}: {}", fact.name, fact.value));
  }
  fit_collectives(profile, options.tolerance);
  fit_kernels(profile, options);
  if (auto power = fit_power(profile.samples.samples)) {
    profile.spec.power = power->power;
    append(profile.spec.figures, std::move(power->figures));
  }
  auto rates = fit_rates(profile.samples.samples);
  profile.spec.kernel_launch = rates.kernel_launch;
  profile.spec.eager_launch = rates.eager_launch;
  profile.spec.compiled_layer = rates.compiled_layer;
  profile.spec.host_bandwidth = rates.host_bandwidth;
  profile.spec.storage = rates.storage;
  append(profile.spec.figures, std::move(rates.figures));
  auto interference = fit_interference(profile.samples.samples);
  profile.spec.data_interference = loss_beside_collectives(interference);
  append(profile.spec.figures, std::move(interference));
  if (profile.spec.figures.empty() && profile.spec.collectives.empty()) {
    throw core::Error(fmt::format("nothing can be fitted to these {} samples{}",
                                  profile.samples.samples.size(),
                                  profile.remarks.empty() ? "" : ": " + profile.remarks.front()));
  }
  profile.spec.relative_error = step_error(profile.spec);
  round_profile(profile.spec);
  return profile;
}

double step_error(const training::CalibrationSpec& spec) {
  // docs/validation.md: kernels of the catalogue against those of the machine; between software
  // releases of one configuration; between repeats.
  constexpr double kCatalogue = 0.04;
  constexpr double kRelease = 0.06;
  constexpr double kRepeat = 0.03;
  constexpr double kProductsOfALayer = 12;
  double machine = spec.power ? 0 : kCatalogue;
  bool measured = false;
  for (const auto& f : spec.figures) {
    if (f.name.rfind("kernels.", 0) == 0 && f.value > 0) {
      measured = true;
      const double se = f.standard_error / f.value;
      const double scatter = f.leave_one_out * f.leave_one_out / kProductsOfALayer;
      machine = std::max(machine, std::sqrt(se * se + scatter));
    }
  }
  machine = measured ? machine : kCatalogue;
  return std::sqrt(machine * machine + kRelease * kRelease + kRepeat * kRepeat);
}

}  // namespace headway::fit
