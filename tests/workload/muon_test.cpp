// Muon: which matrices a rank updates whole, what that multiplies, what it keeps.
#include <gtest/gtest.h>

#include "sim/workload/blocks/build.h"
#include "sim/workload/blocks/data_parallel_blocks.h"
#include "sim/workload/closed_form.h"
#include "sim/workload/memory/memory.h"
#include "sim/workload/memory/owned_matrices.h"

#include "tests/workload/all_matrices.h"
#include "tests/workload/graph_sums.h"
#include "tests/workload/models.h"

namespace headway::workload {
namespace {

using namespace tests;

TrainingSpec with_muon(int batch) {
  TrainingSpec training = recipe(4096, batch);
  training.optimizer_state = OptimizerState::muon;
  return training;
}

double flops(const std::vector<OwnedMatrices>& matrices) {
  double sum = 0;
  for (const OwnedMatrices& one : matrices) {
    sum += newton_schulz_flops(one);
  }
  return sum;
}

TEST(Muon, HasTheMatricesOfTheLayers) {
  // Llama 8B: q and o 4096^2, k and v 1024 x 4096, gate and up 28672 x 4096, down 4096 x 14336.
  const double h = 4096;
  const double layer = 2 * h * h + 2 * 1024 * h + 3 * 14336 * h;
  EXPECT_EQ(matrix_elements(all_matrices(llama_8b(), split(1, 1))), 32 * layer);
  // Tensor ranks have parts of them, each a matrix of its own.
  EXPECT_EQ(4 * matrix_elements(all_matrices(llama_8b(), split(4, 1))), 32 * layer);
  EXPECT_DOUBLE_EQ(matrix_share(llama_8b()), 32 * layer / count_parameters(llama_8b()).total());
  // All parameters of DeepSeek-V3's layers but norms: experts, latent matrices, router, prediction.
  const ModelSpec model = deepseek_v3();
  const ParameterCount count = count_parameters(model);
  const double norms = 62 * (2 * 7168.0 + 1536 + 512) + 3 * 7168.0;
  EXPECT_NEAR(matrix_elements(all_matrices(model, split(1, 1))),
              count.layers + count.prediction - norms, 1);
}

TEST(Muon, MultipliesEachMatrixFiveTimes) {
  // X X' and B X are 2 m^2 n each, A A 2 m^3: of a square one 30 m^3 in all.
  EXPECT_DOUBLE_EQ(newton_schulz_flops({4096, 4096, 1}), 30.0 * 4096 * 4096 * 4096);
  EXPECT_DOUBLE_EQ(newton_schulz_flops({28672, 4096, 2}),
                   2 * 5 * (4.0 * 4096 * 4096 * 28672 + 2.0 * 4096 * 4096 * 4096));
  double work = 0;
  const std::vector<OwnedMatrices> some{{28672, 4096, 2}, {1024, 4096, 3}};
  for (const core::Kernel& kernel : newton_schulz(some)) {
    work += kernel.work.si() * static_cast<double>(kernel.count);
  }
  EXPECT_DOUBLE_EQ(work, flops(some));
  // Momentum in 32 bits in, in 16 bits out; the result in 16 bits in.
  EXPECT_DOUBLE_EQ(newton_schulz(some).back().traffic.si(),
                   (4 + 2 + 2) * (2.0 * 28672 * 4096 + 3.0 * 1024 * 4096));
}

TEST(Muon, DividesWholeMatricesOverTheRanks) {
  const auto all = all_matrices(llama_8b(), split(1, 1));
  for (const int ranks : {1, 2, 3, 7, 64, 160, 1000}) {
    const double busiest = flops(busiest_share(all, ranks, ranks));
    EXPECT_GE(busiest, flops(all) / ranks - 1) << ranks;
    // At most one matrix of the costliest shape above the mean, for each rest.
    EXPECT_LE(busiest, flops(all) / ranks + 2 * newton_schulz_flops({28672, 4096, 1})) << ranks;
  }
  EXPECT_EQ(busiest_share(all, 1, 1), all);
  // More ranks than matrices: one of the costliest.
  EXPECT_EQ(busiest_share(all, 1000, 1000), (std::vector<OwnedMatrices>{{28672, 4096, 1, false}}));
  // Experts go to the fewer ranks that hold them.
  const std::vector<OwnedMatrices> mixed{{64, 64, 8, true}, {32, 32, 8, false}};
  EXPECT_EQ(busiest_share(mixed, 8, 2),
            (std::vector<OwnedMatrices>{{64, 64, 4, true}, {32, 32, 1, false}}));
}

TEST(Muon, RunsAfterTheStepAndOnlyThere) {
  for (const Sharding sharding : {Sharding::zero0, Sharding::zero1}) {
    ParallelismSpec parallelism = split(2, 1);
    parallelism.sharding = sharding;
    const int data = 8;
    const double adam =
        matrix_work(build_step_graph(llama_8b(), recipe(4096, 8), parallelism, data, 1));
    const double muon =
        matrix_work(build_step_graph(llama_8b(), with_muon(8), parallelism, data, 1));
    const auto all = all_matrices(llama_8b(), parallelism);
    const int owners = sharding == Sharding::zero1 ? data : 1;
    EXPECT_NEAR((muon - adam) / flops(busiest_share(all, owners, owners)), 1, 1e-9);
  }
}

TEST(Muon, KeepsOneMomentOfMatricesAndAdamsOfTheRest) {
  const double share = matrix_share(llama_8b());
  const double bytes = 4 + 4 * share + 8 * (1 - share);
  EXPECT_NEAR(mean_optimizer_bytes(llama_8b(), with_muon(8)), bytes, 0.005);
  const auto kept = stage_memory(llama_8b(), with_muon(8), split(1, 1), 8, 1);
  EXPECT_NEAR(kept.front().optimizer.si() / (count_parameters(llama_8b()).total() / 8 * bytes), 1,
              1e-9);
}

}  // namespace
}  // namespace headway::workload
