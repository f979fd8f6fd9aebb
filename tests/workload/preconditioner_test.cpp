// Shampoo and SOAP: how matrices are cut, what each block keeps and multiplies, and who owns it.
#include "sim/workload/preconditioner/preconditioner.h"

#include <cmath>
#include <gtest/gtest.h>
#include <string_view>

#include "sim/workload/blocks/build.h"
#include "sim/workload/closed_form.h"
#include "sim/workload/memory/memory.h"
#include "sim/workload/muon/muon.h"

#include "tests/workload/all_matrices.h"
#include "tests/workload/graph_sums.h"
#include "tests/workload/models.h"

namespace headway::workload {
namespace {

using namespace tests;

TrainingSpec with(OptimizerState state, PreconditionerSpec preconditioner = {}) {
  TrainingSpec training = recipe(4096, 64);
  training.optimizer_state = state;
  training.preconditioner = preconditioner;
  return training;
}

/// FLOP of the mean step, of kernels of one kind and name, or of all.
double work(const std::vector<core::Kernel>& kernels, std::string_view name = {}) {
  double sum = 0;
  for (const core::Kernel& kernel : kernels) {
    const bool meant = name.empty() || kernel.name == name;
    sum += meant ? kernel.work.si() * static_cast<double>(kernel.count) /
                       static_cast<double>(kernel.every)
                 : 0;
  }
  return sum;
}

double blocks_work(const std::vector<OwnedMatrices>& blocks) {
  double sum = 0;  // m n (m + n)
  for (const OwnedMatrices& one : blocks) {
    sum += one.elements() * static_cast<double>(one.rows + one.columns);
  }
  return sum;
}

TEST(Preconditioner, CutsMatricesIntoBlocks) {
  // 2,500 x 1,000: two blocks of 1,024 rows and one of 452.
  EXPECT_EQ(preconditioned_blocks({{2500, 1000, 3, false}}, 1024),
            (std::vector<OwnedMatrices>{{1024, 1000, 6, false}, {452, 1000, 3, false}}));
  // 1,536 x 1,280: four shapes.
  EXPECT_EQ(preconditioned_blocks({{1536, 1280, 1, false}}, 1024),
            (std::vector<OwnedMatrices>{{1024, 1024, 1, false},
                                        {512, 1024, 1, false},
                                        {1024, 256, 1, false},
                                        {512, 256, 1, false}}));
  // Nothing is lost, and a matrix within the block stays as it is.
  const auto all = all_matrices(llama_8b(), split(1, 1));
  EXPECT_EQ(matrix_elements(preconditioned_blocks(all, 1000)), matrix_elements(all));
  EXPECT_EQ(preconditioned_blocks(all, 65536), muon_matrices(all, MuonTensorMode::blockwise));
  // Every side of Llama 8B is a multiple of 1,024.
  EXPECT_EQ(preconditioned_blocks(all, 1024),
            (std::vector<OwnedMatrices>{
                {1024, 1024, static_cast<std::int64_t>(matrix_elements(all)) >> 20, false}}));
}

TEST(Preconditioner, KeepsFourFactorsOfEachBlock) {
  // L and R of 3 blocks of 5 x 7 and what is made of them, in fp32: 3 x 4 x 2 (25 + 49).
  EXPECT_EQ(factor_bytes({{5, 7, 3, false}}), 3 * 4 * 2 * (25.0 + 49));
  // 4 m n numbers of a square block (facebookresearch/optimizers, distributed_shampoo.py).
  EXPECT_EQ(factor_bytes({{1024, 1024, 1, false}}), 4 * 4 * 1024.0 * 1024);
}

TEST(Preconditioner, AddsFactorsToTheStates) {
  const ModelSpec model = llama_8b();
  const double elements = matrix_elements(all_matrices(model, split(1, 1)));
  const double parameters = count_parameters(model).total();
  for (const OptimizerState state : {OptimizerState::shampoo, OptimizerState::soap}) {
    // Master weight and two moments of everything, 16 B an element of a matrix in square blocks.
    EXPECT_NEAR(mean_optimizer_bytes(model, with(state)), 12 + 16 * elements / parameters, 0.005);
    // Over eight owners, each of 6,656 / 8 blocks.
    const auto kept = stage_memory(model, with(state), split(1, 1), 8, 1).front().optimizer.si();
    EXPECT_NEAR(kept / ((12 * parameters + 16 * elements) / 8), 1, 1e-9);
    // Without sharding each rank has all.
    ParallelismSpec whole = split(1, 1);
    whole.sharding = Sharding::zero0;
    const auto all = stage_memory(model, with(state), whole, 8, 1).front().optimizer.si();
    EXPECT_NEAR(all / (12 * parameters + 16 * elements), 1, 1e-9);
  }
  // Whole matrices have longer factors: of 4,096 x 14,336 8 (4,096^2 + 14,336^2) B.
  EXPECT_GT(mean_optimizer_bytes(model, with(OptimizerState::soap, {.block = 65536, .every = {}})),
            mean_optimizer_bytes(model, with(OptimizerState::soap)) + 10);
}

TEST(Preconditioner, OwnsWholeBlocks) {
  const auto matrices = all_matrices(llama_8b(), split(1, 1));
  ParallelismSpec parallelism = split(1, 1);
  const TrainingSpec training = with(OptimizerState::shampoo);
  const std::int64_t blocks = static_cast<std::int64_t>(matrix_elements(matrices)) >> 20;
  for (const int data : {1, 7, 64, 1000, 100000}) {
    const auto busiest =
        busiest_blocks(matrices, training, parallelism, data_ranks(parallelism, data));
    const std::int64_t most = (blocks + data - 1) / data;
    EXPECT_EQ(busiest, (std::vector<OwnedMatrices>{{1024, 1024, most, false}})) << data;
  }
  // A tensor rank's part of a matrix is cut on its own: 4,096 / 8 rows are less than a block.
  const auto parts = preconditioned_blocks(all_matrices(llama_8b(), split(8, 1)), 1024);
  EXPECT_EQ(8 * matrix_elements(parts), matrix_elements(matrices));
  EXPECT_LT(8 * factor_bytes(parts), 8.0 * 16 * matrix_elements(matrices));
  EXPECT_GT(8 * factor_bytes(parts), 16 * matrix_elements(matrices));
}

TEST(Preconditioner, MultipliesBlocksByTheirFactors) {
  const std::vector<OwnedMatrices> blocks{{96, 64, 5, false}, {64, 64, 2, false}};
  const double products = blocks_work(blocks);
  const double sides = 5 * (std::pow(96, 3) + std::pow(64, 3)) + 2 * 2 * std::pow(64, 3);
  const auto shampoo = preconditioner_kernels(with(OptimizerState::shampoo, {.every = 50}), blocks);
  // Statistics 2 m n (m + n), roots applied 2 m n (m + n); every 50 steps 9 s^3 + 2 s^3.
  EXPECT_NEAR(work(shampoo), 4 * products + 11 * sides / 50, 1);
  EXPECT_NEAR(work(shampoo, "eigenvalues of a factor"), 9 * sides / 50, 1);
  const auto soap = preconditioner_kernels(with(OptimizerState::soap, {.every = 10}), blocks);
  // Statistics, rotated in and out; every 10 steps 2 s^3 + 8/3 s^3, and the moment twice rotated.
  EXPECT_NEAR(work(soap), (2 + 4) * products + (14.0 / 3 * sides + 4 * products) / 10, 1);
  EXPECT_NEAR(work(soap, "QR of a basis"), 8.0 / 3 * sides / 10, 1);
  // The running means of 5 (96^2 + 64^2) + 2 x 2 x 64^2 numbers, 16 B of each of the blocks'.
  EXPECT_EQ(soap.back().traffic.si(),
            12 * (5 * (96.0 * 96 + 64 * 64) + 4 * 64 * 64) + 16 * (5 * 96.0 * 64 + 2 * 64 * 64));
  EXPECT_EQ(steps_between_decompositions(with(OptimizerState::shampoo)), 100);
  EXPECT_EQ(steps_between_decompositions(with(OptimizerState::soap)), 10);
}

TEST(Preconditioner, TakesBlocksTogetherOrOneByOne) {
  const std::vector<OwnedMatrices> blocks{{96, 64, 5, false}};
  const auto apart = preconditioner_kernels(with(OptimizerState::soap), blocks);
  const auto together =
      preconditioner_kernels(with(OptimizerState::soap, {.every = {}, .batched = true}), blocks);
  ASSERT_EQ(apart.size(), together.size());
  EXPECT_NEAR(work(apart), work(together), 1);
  for (std::size_t i = 0; i + 1 < apart.size(); ++i) {
    EXPECT_EQ(apart[i].count, 5 * together[i].count) << apart[i].name;
    EXPECT_EQ(together[i].batch, 5) << apart[i].name;
  }
}

TEST(Preconditioner, RunsAfterTheStepAndOnlyThere) {
  for (const Sharding sharding : {Sharding::zero0, Sharding::zero1}) {
    ParallelismSpec parallelism = split(2, 1);
    parallelism.sharding = sharding;
    const int data = 8;
    const auto adam = build_step_graph(llama_8b(), recipe(4096, 64), parallelism, data, 1);
    const TrainingSpec training = with(OptimizerState::shampoo);
    const auto graph = build_step_graph(llama_8b(), training, parallelism, data, 1);
    const auto blocks = busiest_blocks(all_matrices(llama_8b(), parallelism), training, parallelism,
                                       data_ranks(parallelism, data));
    double all = 0;  // matrix_work counts every kernel as if each step ran it
    for (const core::Kernel& kernel : preconditioner_kernels(training, blocks)) {
      all += kernel.work.si() * static_cast<double>(kernel.count);
    }
    EXPECT_NEAR((matrix_work(graph) - matrix_work(adam)) / all, 1, 1e-9);
    // Traffic of the ranks is Adam's: gradients reduced, weights gathered.
    for (const auto* name : {"gradient reduction", "parameter gather"}) {
      EXPECT_EQ(bytes_of(graph, name), bytes_of(adam, name)) << name;
    }
  }
}

TEST(Preconditioner, IsRefusedWhereShardsCutMatrices) {
  const auto problems = [](OptimizerState state, Sharding sharding, Offload offload) {
    ParallelismSpec parallelism = split(1, 1);
    parallelism.sharding = sharding;
    parallelism.offload = offload;
    std::vector<std::string> texts;
    for (const Violation& one : unsupported(llama_8b(), with(state), parallelism)) {
      texts.push_back(one.text);
    }
    return texts;
  };
  using Texts = std::vector<std::string>;
  EXPECT_EQ(problems(OptimizerState::soap, Sharding::zero1, Offload::none), Texts{});
  EXPECT_EQ(problems(OptimizerState::soap, Sharding::zero3, Offload::none),
            (Texts{"optimizer_state soap with sharding zero3 is not simulated: shards cut matrices "
                   "that it multiplies whole; choose zero0 or zero1"}));
  EXPECT_EQ(problems(OptimizerState::shampoo, Sharding::zero1, Offload::optimizer),
            (Texts{"optimizer_state shampoo with its states on the host is not simulated: its "
                   "products need the GPU; choose none or activations"}));
  EXPECT_EQ(problems(OptimizerState::adam_fp32, Sharding::zero1, Offload::none),
            (Texts{"a preconditioner belongs to optimizer_state shampoo or soap, not adam_fp32; "
                   "choose one of them or leave it out"}));
}

}  // namespace
}  // namespace headway::workload
