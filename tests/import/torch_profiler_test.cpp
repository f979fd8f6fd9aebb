// A whole trace of torch.profiler: what is launched in every layer of every step is found again.
#include "sim/import/measured/torch_profiler.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <numeric>

#include "tests/import/profiler_trace.h"

namespace headway::import {
namespace {

TEST(TorchProfiler, ATraceOfSeveralStepsGivesItsProductsAndCollectives) {
  constexpr int kSteps = 3, kLayers = 4;
  const TorchProfile profile = read_torch_profile(profiler_trace(kSteps, kLayers), "trace.json");
  EXPECT_EQ(profile.device, "NVIDIA H100 80GB HBM3");
  // A layer launches one kernel, two, one and one; copies are none.
  EXPECT_EQ(profile.kernels, 5U * kSteps * kLayers);
  EXPECT_EQ(profile.gemms_without_shape, 0U);
  ASSERT_EQ(profile.gemms.size(), 2U);
  const ProfiledGemm& heads = profile.gemms[0];
  EXPECT_EQ(heads.operation, "aten::bmm");
  EXPECT_EQ(std::vector<std::int64_t>({heads.batch, heads.m, heads.n, heads.k}),
            (std::vector<std::int64_t>{32, 2048, 2048, 64}));
  ASSERT_EQ(heads.seconds.size(), 1U * kSteps * kLayers);
  EXPECT_NEAR(heads.seconds.front(), 14e-6, 1e-12);  // both kernels
  // Weights of n x k; 2 x 2,048 tokens are rows of one product. Layers take 40, 41, 42 and 43 us.
  const ProfiledGemm& projection = profile.gemms[1];
  EXPECT_EQ(projection.operation, "aten::linear");
  EXPECT_EQ(projection.type, "c10::BFloat16");
  EXPECT_EQ(std::vector<std::int64_t>({projection.batch, projection.m, projection.n, projection.k}),
            (std::vector<std::int64_t>{1, 4096, 3072, 1024}));
  EXPECT_NEAR(std::accumulate(projection.seconds.begin(), projection.seconds.end(), 0.0),
              kSteps * (40 + 41 + 42 + 43) * 1e-6, 1e-12);
  ASSERT_EQ(profile.collectives.size(), 1U);
  const ProfiledCollective& reduction = profile.collectives[0];
  EXPECT_EQ(reduction.name, "allreduce");
  EXPECT_EQ(reduction.ranks, 16);
  EXPECT_EQ(reduction.elements_in, 3145728);
  ASSERT_EQ(reduction.seconds.size(), 1U * kSteps * kLayers);
  EXPECT_NEAR(*std::max_element(reduction.seconds.begin(), reduction.seconds.end()), 202e-6, 1e-12);
}

}  // namespace
}  // namespace headway::import
