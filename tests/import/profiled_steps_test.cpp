// Steps on the GPU, found by the marks of the CPU; kernels classed by their names.
#include "sim/import/measured/profiled_steps.h"

#include <gtest/gtest.h>

#include "sim/import/measured/kernel_names.h"
#include "sim/import/measured/torch_profiler.h"

#include "tests/import/profiler_trace.h"

namespace headway::import {
namespace {

using core::GpuWork;
using core::Seconds;

/// `kernels` kernels of one second each, from `begin`, launched two seconds before they run.
void launch(double begin, int kernels, std::vector<ProfiledLaunch>& out) {
  for (int i = 0; i < kernels; ++i) {
    ProfiledLaunch one;
    one.span = {Seconds(begin + i), Seconds(begin + i + 1)};
    one.launched = Seconds(begin + i - 2);
    out.push_back(one);
  }
}

TEST(ProfiledSteps, LastFromTheirFirstKernelToTheFirstOfTheNext) {
  std::vector<ProfiledLaunch> launches;
  launch(12, 10, launches);
  launch(32, 10, launches);
  launch(52, 10, launches);
  const std::vector<StepMark> marks{
      {7, Seconds(30), Seconds(50)}, {6, Seconds(10), Seconds(30)}, {8, Seconds(50), Seconds(70)}};
  const ProfiledSteps found = find_steps(marks, launches);
  ASSERT_EQ(found.steps.size(), 2U);
  EXPECT_EQ(found.steps[0].number, 6);
  EXPECT_EQ(found.steps[0].begin, Seconds(12));
  EXPECT_EQ(found.steps[0].end, Seconds(32));  // not 30, where the CPU's mark ends
  EXPECT_EQ(found.steps[1].end, Seconds(52));
  ASSERT_EQ(found.left_out.size(), 1U);
  EXPECT_EQ(found.left_out[0],
            "step 8 is left out: no step follows it, so its end on the GPU is not in the profile");
}

TEST(ProfiledSteps, LeavesOutWhatIsIncompleteAndSaysWhy) {
  std::vector<ProfiledLaunch> launches;
  launch(12, 3, launches);
  launch(32, 10, launches);
  launch(52, 10, launches);
  const std::vector<StepMark> marks{{1, Seconds(10), Seconds(30)},
                                    {2, Seconds(30), Seconds(50)},
                                    {3, Seconds(50), Seconds(70)},
                                    {4, Seconds(70), Seconds(90)}};
  const ProfiledSteps found = find_steps(marks, launches);
  ASSERT_EQ(found.steps.size(), 1U);
  EXPECT_EQ(found.steps[0].number, 2);
  ASSERT_EQ(found.left_out.size(), 3U);
  EXPECT_EQ(found.left_out[0], "step 1 is left out: it launched 3 kernels, the median step 10");
  EXPECT_EQ(found.left_out[2], "step 4 is left out: it launched no GPU kernel");
}

TEST(ProfiledSteps, OneStepAloneEndsWithItsLastKernel) {
  std::vector<ProfiledLaunch> launches;
  launch(12, 10, launches);
  const ProfiledSteps found = find_steps({{1, Seconds(10), Seconds(30)}}, launches);
  ASSERT_EQ(found.steps.size(), 1U);
  EXPECT_EQ(found.steps[0].end, Seconds(22));
}

TEST(KernelNames, TellCollectivesProductsAttentionAndCopiesApart) {
  EXPECT_EQ(work_of_kernel("ncclDevKernel_AllReduce_Sum_bf16_RING_LL"), GpuWork::all_reduce);
  EXPECT_EQ(work_of_kernel("ncclDevKernel_ReduceScatter_Sum_f32_RING_LL"), GpuWork::reduce_scatter);
  EXPECT_EQ(work_of_kernel("ncclDevKernel_SendRecv"), GpuWork::send_receive);
  EXPECT_EQ(work_of_kernel("ncclDevKernel_SendRecv", "all_to_allv"), GpuWork::all_to_all);
  EXPECT_EQ(work_of_kernel("ncclKernel_Generic", "_allgather_base"), GpuWork::all_gather);
  EXPECT_EQ(work_of_kernel("ncclDevKernel_Generic_4"), GpuWork::other_communication);
  EXPECT_EQ(work_of_kernel("nvjet_tst_128x256_64x4_2x1_v_bz_TNT"), GpuWork::matrix_products);
  EXPECT_EQ(work_of_kernel("flash_fwd_kernel"), GpuWork::attention);
  EXPECT_EQ(work_of_kernel("vectorized_elementwise_kernel"), GpuWork::other_computation);
  EXPECT_EQ(work_of_kernel("Memcpy DtoD (Device -> Device)"), GpuWork::memory);
}

TEST(TorchProfiler, KnowsItsRankItsStepsAndWhatTheGpuDid) {
  const TorchProfile profile = read_torch_profile(profiler_trace(3, 4), "trace.json");
  EXPECT_EQ(profile.rank, 0);
  EXPECT_EQ(profile.world_size, 16);
  EXPECT_EQ(profile.marks.size(), 3U);
  EXPECT_EQ(profile.launches.size(), 6U * 3 * 4);  // five kernels and a copy a layer
  EXPECT_GE(profile.launches.front().span.begin, profile.launches.front().launched);
}

}  // namespace
}  // namespace headway::import
