// Oracle O7 of the field notes: requests that share a storage server, run by the flow engine.
//
// Agreement within four standard errors at a fixed seed, with a bound that would catch 1 %.
#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <vector>

#include "sim/core/random.h"
#include "sim/core/statistics.h"
#include "sim/network/flow/problem.h"
#include "sim/storage/closed_form.h"

namespace headway::network {
namespace {

using core::Activity;

constexpr double kLoad = 0.6;
constexpr std::uint64_t kRequests = 20'000;  // of one batch
constexpr std::uint64_t kWarmUp = 500;       // of these, while the empty server fills
constexpr double kTicksPerSecond = 1e12;

/// One request: when it comes, and how long the server needs for it alone.
struct Request {
  double arrival = 0;  // [s]
  double service = 0;  // [s]
};

std::vector<Request> poisson_arrivals(const core::RandomStream& stream, bool constant_sizes) {
  std::vector<Request> requests(kRequests);
  double now = 0;
  for (std::uint64_t i = 0; i < kRequests; ++i) {
    now += core::exponential_from(stream.uniform(i, 0), 1e-3 / kLoad);
    requests[i] = {now, constant_sizes ? 1e-3 : core::exponential_from(stream.uniform(i, 1), 1e-3)};
  }
  return requests;
}

/// Clients that wait for their turn to ask, and one link of 1 GB/s that they share.
Problem shared_link(const std::vector<Request>& requests) {
  Problem problem;
  problem.links = {{core::BytesPerSecond(1e9)}};
  problem.uses = {{0, 1}};
  for (const Request& request : requests) {
    const auto i = static_cast<std::uint32_t>(problem.flows.size());
    problem.flows.push_back(
        {i, core::Bytes(1e9 * request.service), 0, core::BytesPerSecond(0), 1, 0, 1, 1});
    problem.groups.push_back({1, 0, i, 1, Activity::data, 0, 1});
    problem.programs.push_back({{StepCode::compute, Activity::compute, 0, 0,
                                 static_cast<core::Tick>(request.arrival * kTicksPerSecond)},
                                {StepCode::arrive, Activity::other, 0, 0, 0},
                                {StepCode::wait, Activity::other, 0, 0, 0}});
    problem.actors.push_back({i, 0, 0, {i}, 1});
  }
  return problem;
}

/// Mean time in the server, in units of the mean service, of one batch. What chance the arrivals
/// had is taken off: the work that they find in the server is the same however it is shared, and
/// its mean is known (Pollaczek and Khinchine), so `per_work` x its excess is a control variate.
/// Any `per_work` leaves the mean as it is, since arrivals and sizes are the test's own.
double sojourn(const core::RandomStream& stream, bool constant_sizes, double per_work) {
  const auto requests = poisson_arrivals(stream, constant_sizes);
  const RunResult result = run(shared_link(requests), {.fold = false, .skip_repeats = false});
  core::Moments times;
  core::Moments found;
  double work = 0;  // in the server just before an arrival: Lindley's recursion
  for (std::uint64_t i = 0; i < kRequests; ++i) {
    if (i > 0) {
      work += requests[i - 1].service - (requests[i].arrival - requests[i - 1].arrival);
      work = std::max(0.0, work);
    }
    if (i >= kWarmUp) {
      times.add(static_cast<double>(result.actor_end[i]) / kTicksPerSecond - requests[i].arrival);
      found.add(work);
    }
  }
  // rho E[S^2] / (2 E[S] (1 - rho)), with E[S^2] = 1 or 2.
  const double exact_work = kLoad * (constant_sizes ? 1 : 2) / (2 * (1 - kLoad));
  return 1e3 * times.mean() - per_work * (1e3 * found.mean() - exact_work);
}

void expect_agreement(bool constant_sizes) {
  const double exact = storage::processor_sharing_sojourn(core::Seconds(1), kLoad).si();
  EXPECT_DOUBLE_EQ(exact, 2.5);
  const core::RandomStream stream(7, constant_sizes ? "constant" : "exponential");
  const double per_work = constant_sizes ? 2 : 1;  // near the regression of T on the work
  core::Moments batches;
  for (std::uint64_t batch = 0; batch < 12; ++batch) {
    batches.add(sojourn(stream.part(batch), constant_sizes, per_work));
  }
  const auto simulated = batches.estimate();
  EXPECT_NEAR(simulated.mean, exact, 4 * simulated.standard_error);
  EXPECT_LT(4 * simulated.standard_error, 0.01 * exact)
      << "the bound would not catch a bias of 1 %";
}

TEST(SharedServerOracle, DelaysRequestsOfExponentialSizesByItsLoad) { expect_agreement(false); }

TEST(SharedServerOracle, DelaysEqualRequestsAsMuch) { expect_agreement(true); }

}  // namespace
}  // namespace headway::network
