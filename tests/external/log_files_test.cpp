// A published log of nccl-tests: read whole, and fitted to a profile.
#include <gmock/gmock.h>
#include <string>

#include "sim/import/measured/nccl_tests_log.h"
#include "sim/network/collective/closed_form.h"
#include "sim/network/collective/collective_curve.h"

#include "calibrate/fit/import_samples.h"
#include "calibrate/fit/profile.h"
#include "tests/external/file.h"

namespace headway::import {
namespace {

TEST(RealLog, IsReadWhole) {
  const auto log = read_nccl_tests_log(text_of(kLog), kLog);
  ASSERT_EQ(log.rows.size(), 32U);
  EXPECT_EQ(log.ranks_listed.size(), 8U);
  EXPECT_EQ(log.rows.back().bytes, 17179869184U);
  EXPECT_EQ(log.rows.back().out_of_place->bus_gb_per_s, 479.90);
  // The program's own average over both placements, from the rows read.
  double sum = 0;
  for (const auto& row : log.rows) {
    sum += row.out_of_place->bus_gb_per_s + row.in_place->bus_gb_per_s;
  }
  EXPECT_NEAR(sum / 64, *log.average_bus_gb_per_s, 0.005);
}

}  // namespace
}  // namespace headway::import

namespace headway::fit {
namespace {

using import::kLog;

TEST(RealLog, GivesItsBusBandwidthAt16GiB) {
  const auto imported =
      from_nccl_tests(import::read_nccl_tests_log(import::text_of(kLog), kLog), kLog, {});
  EXPECT_EQ(imported.set.samples.size(), 64U);
  const Profile profile = fit_profile(imported.set, {});
  ASSERT_EQ(profile.spec.collectives.size(), 1U);
  const auto& curve = profile.spec.collectives[0];
  EXPECT_EQ(curve.collective, core::CollectiveKind::all_reduce);
  EXPECT_EQ(curve.ranks, 8);
  EXPECT_EQ(curve.ranks_per_node, 8);
  const core::Bytes large(17179869184.0);
  const auto bus =
      network::bus_bandwidth(curve.collective, large, 8, network::interpolate(curve, large));
  EXPECT_NEAR(bus.si() / 1e9, 480, 0.5);
  // One repeat of 32 B took 68 us where the other took 13.5: a spike.
  int outliers = 0;
  for (const auto& sample : profile.samples.samples) {
    outliers += sample.has(SampleFlag::outlier) ? 1 : 0;
  }
  EXPECT_GE(outliers, 1);
  EXPECT_LE(outliers, 3);
  EXPECT_LT(curve.points.size(), 25U);
  EXPECT_LT(curve.relative_error, 0.1);
}

}  // namespace
}  // namespace headway::fit
