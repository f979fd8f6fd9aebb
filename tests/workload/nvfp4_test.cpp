// What NVIDIA's recipe for four bits adds to the products: passes over the operands, nothing else.
#include <gtest/gtest.h>
#include <optional>
#include <tuple>
#include <vector>

#include "sim/workload/blocks/kernels.h"

namespace headway::workload {
namespace {

constexpr double kTokens = 4096, kHidden = 4096, kQkv = 6144;

Linear four_bits(std::optional<Nvfp4Spec> recipe) {
  Linear linear{"qkv", 4096, 6144, 4096, core::Precision::nvfp4};
  linear.nvfp4 = recipe;
  return linear;
}

double cast_traffic(const std::vector<core::Kernel>& kernels, int& launches) {
  double bytes = 0;
  for (const core::Kernel& kernel : kernels) {
    if (kernel.kind == core::KernelKind::memory_bound) {
      bytes += kernel.traffic.si();
      launches += static_cast<int>(kernel.launches);
    }
  }
  return bytes;
}

// Activations are read for the largest element (2), for the copy along rows (2, written 9/16) and,
// turned, for that along columns (2 and 9/16): 7.125 B an element; without the transform both
// copies come from one pass, 2 + 2 + 2 x 9/16 = 5.125. Gradients of outputs are as many bytes an
// element. The weight gradient finds both copies there, weights have theirs from the start of the
// step.
TEST(Nvfp4, ReadsOperandsThreeTimesWhereTheyAreTurned) {
  for (const auto& [hadamard, bytes, passes] : {std::tuple{true, 7.125, 3}, {false, 5.125, 2}}) {
    const Linear linear = four_bits(Nvfp4Spec{hadamard});
    int launches = 0;
    EXPECT_DOUBLE_EQ(cast_traffic(forward_product(linear), launches), bytes * kTokens * kHidden);
    EXPECT_DOUBLE_EQ(cast_traffic(input_gradient(linear), launches), bytes * kTokens * kQkv);
    EXPECT_EQ(launches, 2 * passes);
    EXPECT_EQ(cast_traffic(weight_gradient(linear, {8, 0, 1}), launches), 0);
  }
}

TEST(Nvfp4, WithoutTheRecipeIsRoundedInOnePass) {
  int launches = 0;
  EXPECT_DOUBLE_EQ(cast_traffic(forward_product(four_bits({})), launches),
                   (2 + 9.0 / 16) * kTokens * kHidden);
  EXPECT_EQ(launches, 1);
}

TEST(Nvfp4, ChangesNoProduct) {
  const auto product = [](std::optional<Nvfp4Spec> recipe) {
    return forward_product(four_bits(recipe)).back();
  };
  EXPECT_EQ(product({}).work, product(Nvfp4Spec{}).work);
  EXPECT_EQ(product({}).traffic, product(Nvfp4Spec{}).traffic);
}

}  // namespace
}  // namespace headway::workload
