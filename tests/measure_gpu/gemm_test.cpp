// The products on the pretended GPU: layouts, checks and samples, without a speed.
#include <gtest/gtest.h>
#include <map>

#include "calibrate/measure/cuda/device.h"
#include "calibrate/measure/parts/gemm_runner.h"
#include "tests/measure_gpu/rig.h"

namespace headway::measure {
namespace {

TEST(MeasureGemm, MeasuresEveryPassAndPrecisionAndFindsTheResultsRight) {
  Rig rig;
  measure_gemm(rig.gpu);
  EXPECT_EQ(rig.bench.wrong_results, 0);
  std::map<std::string, int> count;
  for (const fit::Sample& sample : rig.bench.measured.samples) {
    EXPECT_EQ(sample.kind, fit::SampleKind::gemm);
    EXPECT_GT(sample.seconds, 0);
    EXPECT_EQ(sample.m * sample.n * sample.k, 16 * 48 * 32);
    ++count[sample.op + " " + std::string(core::to_word(sample.precision)) + " " + sample.variant];
  }
  // 3 passes x (4 precisions by heuristic + bf16 and fp8 by the best of several)
  EXPECT_EQ(count.size(), 18U);
}

TEST(MeasureGemm, SeesAProductThatIsWrong) {
  fake::spoil_products(1.1F);
  Rig rig;
  measure_gemm(rig.gpu);
  fake::spoil_products(1.0F);
  EXPECT_EQ(rig.bench.wrong_results, 18);
  for (const fit::Sample& sample : rig.bench.measured.samples) {
    EXPECT_TRUE(sample.has(fit::SampleFlag::wrong));
  }
}

TEST(MeasureGemm, FreesWhatItTook) {
  const std::size_t before = fake::bytes_in_use();
  {
    Rig rig;
    measure_gemm(rig.gpu);
  }
  EXPECT_EQ(fake::bytes_in_use(), before);
}

TEST(MeasureGemm, StopsWhenItsTimeIsUpAndSaysWhatIsMissing) {
  Rig rig;
  rig.bench.deadline_s = -1;
  measure_gemm(rig.gpu);
  EXPECT_TRUE(rig.bench.measured.samples.empty());
  EXPECT_EQ(rig.bench.measured.fact("not measured, gemm"), "12 of 12 products: no time left");
}

TEST(OpenDevice, NamesTheMissingPart) {
  fake::set_device_count(0);
  try {
    open_device(0);
    FAIL();
  } catch (const NoGpu& error) {
    EXPECT_STREQ(error.what(), "the NVIDIA driver sees no GPU");
  }
  fake::set_device_count(2);
  try {
    open_device(5);
    FAIL();
  } catch (const NoGpu& error) {
    EXPECT_STREQ(error.what(), "GPU 5 is missing; the driver sees 2 (0 to 1)");
  }
  EXPECT_EQ(open_device(1).name, "Pretended GPU");
  fake::set_device_count(1);
}

}  // namespace
}  // namespace headway::measure
