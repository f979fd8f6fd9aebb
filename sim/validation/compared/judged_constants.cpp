#include "sim/validation/compared/judged_constants.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <functional>
#include <numeric>

#include "sim/analytic/analytic.h"
#include "sim/core/error.h"
#include "sim/training/check.h"
#include "sim/training/step/step.h"
#include "sim/validation/compared/compared_runs.h"

namespace headway::validation {

namespace {

using gpu::Architecture;
using training::Scenario;

/// Scales a share of the GPUs of this generation, if it is the catalogue's and not measured on the
/// machine at hand.
bool scale_share(Scenario& s,
                 double gpu::SustainedShares::*share,
                 double factor,
                 const std::function<bool(const gpu::GpuSpec&)>& judged) {
  if (s.calibration.kernels) {
    return false;
  }
  bool any = false;
  const auto scale = [&](gpu::GpuSpec& gpu) {
    if (judged(gpu)) {
      gpu.sustained.*share *= factor;
      any = true;
    }
  };
  scale(s.cluster.node.gpu);
  for (auto& other : s.cluster.other_nodes) {
    scale(other.node.gpu);
  }
  return any;
}

template <Architecture generation>
bool is(const gpu::GpuSpec& gpu) {
  return gpu.architecture == generation;
}

/// The 16-bit share of the B200 in a server was measured (configs/gpus/b200-sxm.yaml); those of its
/// racks and successors are judged.
bool blackwell_of_racks(const gpu::GpuSpec& gpu) {
  return gpu.architecture == Architecture::blackwell && !gpu.name.starts_with("B200");
}

/// Scales a value of the catalogue where it is the one that runs judge: a profile or GPU with
/// another was judged, or measured, by itself.
template <class Value>
bool scale_judged(Value& value, Value judged, double factor) {
  if (value != judged) {
    return false;
  }
  value *= factor;
  return true;
}

/// The same of a share of any GPU.
bool scale_judged_share(Scenario& s,
                        double gpu::SustainedShares::*share,
                        double judged,
                        double factor) {
  return scale_share(s, share, factor,
                     [&](const gpu::GpuSpec& gpu) { return gpu.sustained.*share == judged; });
}

using Shares = gpu::SustainedShares;

core::Seconds analytic_time(const Scenario& s) {
  return analytic::AnalyticTier(s).evaluate(training::check(s)).time;
}

}  // namespace

const std::vector<JudgedConstant>& judged_constants() {
  static const std::vector<JudgedConstant> constants = {
      {"A100 gemm_16bit",
       [](Scenario& s, double f) {
         return scale_share(s, &Shares::gemm_16bit, f, is<Architecture::ampere>);
       }},
      {"H100 gemm_16bit",
       [](Scenario& s, double f) {
         return scale_share(s, &Shares::gemm_16bit, f, is<Architecture::hopper>);
       }},
      {"H100 gemm_8bit",
       [](Scenario& s, double f) {
         return scale_share(s, &Shares::gemm_8bit, f, is<Architecture::hopper>);
       }},
      {"B200 gemm_16bit",
       [](Scenario& s, double f) {
         return scale_share(s, &Shares::gemm_16bit, f, blackwell_of_racks);
       }},
      {"B200 gemm_8bit",
       [](Scenario& s, double f) {
         return scale_share(s, &Shares::gemm_8bit, f, is<Architecture::blackwell>);
       }},
      {"tensor_interference",
       [](Scenario& s, double f) {
         return scale_judged(s.training.framework.tensor_interference, 0.35, f);
       }},
      {"message_overhead",
       [](Scenario& s, double f) {
         return scale_judged(s.training.framework.message_overhead, core::Seconds(0.5e-3), f);
       }},
      {"DeepSpeed accumulation_bytes",
       [](Scenario& s, double f) {
         return scale_judged(s.training.framework.accumulation_bytes, 30.0, f);
       }},
      {"Omni-Path efficiency",
       [](Scenario& s, double f) { return scale_judged(s.cluster.fabric.efficiency, 0.27, f); }},
      {"weight_gradient",
       [](Scenario& s, double f) {
         return scale_judged_share(s, &Shares::weight_gradient, 0.85, f);
       }},
      {"score_rows",
       [](Scenario& s, double f) { return scale_judged_share(s, &Shares::score_rows, 0.75, f); }},
      {"attention_share",
       [](Scenario& s, double f) {
         return scale_judged(s.training.framework.attention_share, 0.75, f);
       }},
      {"cpu_launch",
       [](Scenario& s, double f) {
         return scale_judged(s.training.framework.host.launch, core::Seconds(45e-6), f);
       }},
      {"FSDP data_interference",
       [](Scenario& s, double f) {
         return !s.calibration.data_interference &&
                scale_judged(s.training.framework.data_interference, 0.3, f);
       }},
      // Two clusters that lie 7 times apart (configs/fabrics/efa.yaml).
      {"EFA node_latency",
       [](Scenario& s, double f) {
         return scale_judged(s.cluster.fabric.node_latency, core::Seconds(0.4e-3), f);
       },
       1.0},
      // Round values of 50 and 80 ms in the profiles since 2023. Steps of less than half a second
      // in the published runs are off by 30 ms either way.
      {"step_overhead",
       [](Scenario& s, double f) {
         core::Seconds& overhead = s.training.framework.step_overhead;
         return scale_judged(overhead, core::Seconds(50e-3), f) ||
                scale_judged(overhead, core::Seconds(80e-3), f);
       },
       0.5},
  };
  return constants;
}

std::vector<double> constant_slopes(const Scenario& scenario) {
  constexpr double kStep = 0.95;  // down: shares of a peak stay below it
  std::vector<double> slopes(judged_constants().size(), 0.0);
  try {
    const core::Seconds base = analytic_time(scenario);
    for (std::size_t i = 0; i < slopes.size(); ++i) {
      Scenario moved = scenario;
      if (judged_constants()[i].scale(moved, kStep)) {
        slopes[i] = -std::log(analytic_time(moved) / base) / std::log(kStep);
      }
    }
  } catch (const core::Error&) {
    std::fill(slopes.begin(), slopes.end(), 0.0);
  }
  return slopes;
}

std::vector<double> fast_slopes(const Scenario& scenario,
                                std::vector<double> slopes,
                                const ConstantCovariance& covariance) {
  constexpr double kNext = 1e-6;  // to nothing, which some fields do not take
  const bool costs = std::ranges::any_of(slopes, [](double slope) { return slope < 0; });
  const core::Seconds base = costs ? analytic_time(scenario) : core::Seconds(0);
  for (std::size_t i = 0; i < covariance.size(); ++i) {
    const double reach = training::kOneSidedFivePercent * std::sqrt(covariance[i][i]);
    Scenario without = scenario;
    if (slopes[i] < 0 && reach > 0 && judged_constants()[i].scale(without, kNext)) {
      const double caused = std::log(base / analytic_time(without));
      // A share of a peak is no cost, though where communication is what counts a larger one may
      // slow a step a little: without it no step ends.
      if (caused > 0) {
        slopes[i] = std::max(slopes[i], -caused / reach);
      }
    }
  }
  return slopes;
}

ConstantCovariance load_covariance(const std::vector<std::filesystem::path>& roots) {
  const auto table = first_table(roots, "constant_covariance.csv");
  ConstantCovariance covariance;
  for (std::size_t row = 0; table && row < table->rows(); ++row) {
    auto& line = covariance.emplace_back();
    for (const JudgedConstant& constant : judged_constants()) {
      line.push_back(table->number(row, constant.name).value_or(0));
    }
  }
  if (table && covariance.size() != judged_constants().size()) {
    throw core::Error(fmt::format("{} has {} rows, and {} constants are judged", table->file(),
                                  covariance.size(), judged_constants().size()));
  }
  return covariance;
}

double constant_error(const std::vector<double>& slopes, const ConstantCovariance& covariance) {
  double variance = 0;
  for (std::size_t i = 0; i < covariance.size(); ++i) {
    variance +=
        slopes[i] * std::inner_product(slopes.begin(), slopes.end(), covariance[i].begin(), 0.0);
  }
  return std::sqrt(std::max(variance, 0.0));
}

}  // namespace headway::validation
