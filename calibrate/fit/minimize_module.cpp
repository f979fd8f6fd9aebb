// headway_solver.so: Ceres behind `minimize`.
#include <ceres/ceres.h>

#include "calibrate/fit/minimize.h"

namespace headway::fit {

namespace {

/// One observation to Ceres.
struct Cost {
  const Minimization* problem;
  std::size_t observation;
  bool operator()(double const* const* unknowns, double* out) const {
    *out = problem->residual(unknowns[0], observation);
    return true;
  }
};

}  // namespace

extern "C" bool headway_minimize(const Minimization& minimization, std::vector<double>& unknowns) {
  ceres::Problem problem;
  problem.AddParameterBlock(unknowns.data(), static_cast<int>(unknowns.size()));
  for (std::size_t i = 0; i < minimization.observations; ++i) {
    using Numeric = ceres::DynamicNumericDiffCostFunction<Cost, ceres::CENTRAL>;
    auto* cost = new Numeric(new Cost{&minimization, i});  // owned by the problem
    cost->AddParameterBlock(static_cast<int>(unknowns.size()));
    cost->SetNumResiduals(1);
    problem.AddResidualBlock(cost, new ceres::SoftLOneLoss(1.0), unknowns.data());
  }
  for (std::size_t u = 0; u < unknowns.size(); ++u) {
    problem.SetParameterLowerBound(unknowns.data(), static_cast<int>(u), minimization.low[u]);
    problem.SetParameterUpperBound(unknowns.data(), static_cast<int>(u), minimization.high[u]);
  }
  ceres::Solver::Options options;
  options.linear_solver_type = ceres::DENSE_QR;
  options.max_num_iterations = 200;
  options.function_tolerance = 1e-12;
  options.parameter_tolerance = 1e-10;
  options.num_threads = 1;  // the same bits on every machine
  options.logging_type = ceres::SILENT;
  ceres::Solver::Summary summary;
  ceres::Solve(options, &problem, &summary);
  return summary.IsSolutionUsable();
}

}  // namespace headway::fit
