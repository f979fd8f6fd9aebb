// Muon: which matrices a rank updates whole, what that multiplies, what it keeps.
#include "sim/workload/muon/muon.h"

#include <cmath>
#include <gtest/gtest.h>
#include <optional>

#include "sim/workload/blocks/build.h"
#include "sim/workload/blocks/data_parallel_blocks.h"
#include "sim/workload/closed_form.h"
#include "sim/workload/memory/memory.h"
#include "sim/workload/memory/owned_matrices.h"

#include "tests/workload/all_matrices.h"
#include "tests/workload/graph_sums.h"
#include "tests/workload/models.h"
#include "tests/workload/violation_texts.h"

namespace headway::workload {
namespace {

using namespace tests;

using Mode = MuonTensorMode;
constexpr Mode kModes[]{Mode::blockwise, Mode::duplicated, Mode::distributed};

TrainingSpec with_muon(int batch, std::optional<Mode> mode = {}) {
  TrainingSpec training = recipe(4096, batch);
  training.optimizer_state = OptimizerState::muon;
  if (mode) {
    training.muon = MuonSpec{*mode};
  }
  return training;
}

double flops(const std::vector<OwnedMatrices>& matrices, Mode mode = Mode::blockwise) {
  double sum = 0;
  for (const OwnedMatrices& one : matrices) {
    sum += newton_schulz_flops(one, mode);
  }
  return sum;
}

/// Of one matrix with a Gram matrix of g x g.
double product_flops(double g, double n) { return 5 * (4 * g * g * n + 2 * g * g * g); }

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
  EXPECT_DOUBLE_EQ(newton_schulz_flops({4096, 4096, 1}, Mode::duplicated),
                   30.0 * 4096 * 4096 * 4096);
  EXPECT_DOUBLE_EQ(newton_schulz_flops({28672, 4096, 2}, Mode::duplicated),
                   2 * 5 * (4.0 * 4096 * 4096 * 28672 + 2.0 * 4096 * 4096 * 4096));
  double work = 0;
  const std::vector<OwnedMatrices> some{{28672, 4096, 2}, {1024, 4096, 3}};
  for (const core::Kernel& kernel : newton_schulz(some, Mode::duplicated)) {
    work += kernel.work.si() * static_cast<double>(kernel.count);
  }
  EXPECT_DOUBLE_EQ(work, flops(some));
  // Momentum in 32 bits in, in 16 bits out; the result in 16 bits in.
  EXPECT_DOUBLE_EQ(newton_schulz(some, Mode::duplicated).back().traffic.si(),
                   (4 + 2 + 2) * (2.0 * 28672 * 4096 + 3.0 * 1024 * 4096));
}

TEST(Muon, DividesWholeMatricesOverTheRanks) {
  const auto all = muon_matrices(all_matrices(llama_8b(), split(1, 1)), Mode::duplicated);
  for (const int ranks : {1, 2, 3, 7, 64, 160, 1000}) {
    const double busiest = flops(busiest_share(all, ranks, ranks));
    EXPECT_GE(busiest, flops(all) / ranks - 1) << ranks;
    // At most one matrix of the costliest shape above the mean, for each rest.
    EXPECT_LE(busiest, flops(all) / ranks + 2 * product_flops(4096, 28672)) << ranks;
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
    const auto all = muon_matrices(all_matrices(llama_8b(), parallelism), Mode::duplicated);
    const int owners = sharding == Sharding::zero1 ? data : 1;
    EXPECT_NEAR((muon - adam) / flops(busiest_share(all, owners, owners), Mode::duplicated), 1,
                1e-9);
  }
}

// Stages in the middle without a layer have nothing to update, and keep nothing.
TEST(Muon, OfAStageWithoutParametersIsNothing) {
  ParallelismSpec parallelism = split(1, 4);
  parallelism.chunk_layers = {16, 0, 0, 16};
  const auto kept = stage_memory(llama_8b(), with_muon(8), parallelism, 8, 1);
  EXPECT_EQ(kept.at(1).optimizer.si(), 0);
  EXPECT_GT(kept.at(0).optimizer.si(), 0);
  EXPECT_EQ(matrix_share({}, 0), 0);
}

TEST(Muon, MultipliesPartsOrWholeMatricesOfTensorRanks) {
  // A quarter of 28672 x 4096 by rows, and of 4096 x 14336 by columns.
  const OwnedMatrices in{7168, 4096, 1, false, 4, 1};
  const OwnedMatrices out{4096, 3584, 1, false, 1, 4};
  EXPECT_DOUBLE_EQ(newton_schulz_flops(in, Mode::blockwise), product_flops(4096, 7168));
  EXPECT_DOUBLE_EQ(newton_schulz_flops(in, Mode::duplicated), product_flops(4096, 28672));
  EXPECT_DOUBLE_EQ(newton_schulz_flops(in, Mode::distributed), product_flops(4096, 7168));
  EXPECT_DOUBLE_EQ(newton_schulz_flops(out, Mode::blockwise), product_flops(3584, 4096));
  EXPECT_DOUBLE_EQ(newton_schulz_flops(out, Mode::duplicated), product_flops(4096, 14336));
  EXPECT_DOUBLE_EQ(newton_schulz_flops(out, Mode::distributed), product_flops(4096, 3584));
  // Distributed, four ranks together make the polynomials, 2 g^3 each, three times too often.
  EXPECT_DOUBLE_EQ(4 * product_flops(4096, 3584),
                   product_flops(4096, 14336) + 3 * 5 * 2 * std::pow(4096.0, 3));
  // Of keys, 1024 x 4096 in all, the side that is whole is the longer one.
  const OwnedMatrices keys{256, 4096, 1, false, 4, 1};
  EXPECT_DOUBLE_EQ(newton_schulz_flops(keys, Mode::duplicated), product_flops(1024, 4096));
  EXPECT_DOUBLE_EQ(newton_schulz_flops(keys, Mode::distributed), product_flops(4096, 256));
  // What no rank shares is the same everywhere.
  for (const Mode mode : kModes) {
    EXPECT_DOUBLE_EQ(newton_schulz_flops({64, 4096, 1}, mode), product_flops(64, 4096));
    double work = 0;
    for (const core::Kernel& kernel : newton_schulz({in, out, keys}, mode)) {
      work += kernel.work.si() * static_cast<double>(kernel.count);
    }
    EXPECT_DOUBLE_EQ(work, flops({in, out, keys}, mode));
  }
}

// Eight tensor ranks and two key-value heads: four ranks hold a copy of each, and all keys have
// 256 rows, not 1,024.
TEST(Muon, CopiesOfKeysAreNoParts) {
  ModelSpec model = llama_8b();
  model.key_value_heads = 2;
  const auto matrices = layer_matrices(model, split(8, 1), LayerKind{});
  const OwnedMatrices keys{128, 4096, 2, false, 2, 1};
  EXPECT_EQ(std::count(matrices.begin(), matrices.end(), keys), 1);
  EXPECT_DOUBLE_EQ(newton_schulz_flops(keys, Mode::duplicated), 2 * product_flops(256, 4096));
  model.key_value_heads = 1;  // every rank has the whole of it
  const auto whole = layer_matrices(model, split(8, 1), LayerKind{});
  EXPECT_EQ(std::count(whole.begin(), whole.end(), OwnedMatrices{128, 4096, 2}), 1);
}

TEST(Muon, GathersMomentumOrSumsGramMatrices) {
  // Llama 8B over two tensor ranks and eight owners: of 32 layers each owns four layers' matrices.
  ParallelismSpec parallelism = split(2, 1);
  parallelism.sharding = Sharding::zero1;
  const double h = 4096;
  const double layer = 2 * h * h + 2 * 1024 * h + 3 * 14336 * h;
  const auto graph = [&](std::optional<Mode> mode) {
    return build_step_graph(llama_8b(), with_muon(8, mode), parallelism, 8, 1);
  };
  const StepGraph gathered = graph(std::nullopt);  // the default: duplicated
  EXPECT_DOUBLE_EQ(bytes_of(gathered, "gather momentum"), 4 * 4.0 * layer);
  EXPECT_EQ(bytes_of(gathered, "sum Gram matrix"), 0);
  EXPECT_DOUBLE_EQ(kernel_traffic(gathered, "join momentum"), 4 * 8.0 * layer);
  const double adam = matrix_work(build_step_graph(llama_8b(), recipe(4096, 8), parallelism, 8, 1));
  const double whole = flops(all_matrices(llama_8b(), split(1, 1)));
  EXPECT_NEAR((matrix_work(gathered) - adam) / (whole / 8), 1, 1e-9);
  // Six matrices of a layer; the side of each that no rank divides is h.
  const StepGraph summed = graph(Mode::distributed);
  EXPECT_DOUBLE_EQ(bytes_of(summed, "sum Gram matrix"), 4 * 6 * 5 * 2.0 * h * h);
  EXPECT_DOUBLE_EQ(bytes_of(summed, "norm of momentum"), 4 * 6 * 4.0);
  const double parts = 2 * product_flops(h, h / 2) + 2 * product_flops(h, 512) +
                       product_flops(h, 14336) + product_flops(h, 7168);
  EXPECT_NEAR((matrix_work(summed) - adam) / (4 * parts), 1, 1e-9);
  const StepGraph apart = graph(Mode::blockwise);
  for (const char* name : {"gather momentum", "sum Gram matrix", "norm of momentum"}) {
    EXPECT_EQ(bytes_of(apart, name), 0);
  }
  EXPECT_EQ(kernel_traffic(apart, "join momentum"), 0);
}

TEST(Muon, ExchangesAmongTheRanksThatDivideAMatrix) {
  for (const Mode mode : {Mode::duplicated, Mode::distributed}) {
    // 100 parts of 512 x 64, half of 1024 x 64: each is sent alone.
    const OwnedMatrices experts{512, 64, 100, true, 2, 1};
    BlockWriter writer("update");
    write_newton_schulz(writer, {experts, {64, 64, 1}}, mode);
    const Block block = writer.finish();
    double bytes = 0;
    std::size_t transfers = 0;
    for (const Operation& operation : block.operations) {
      if (operation.kind == OperationKind::collective) {
        EXPECT_EQ(operation.group, Group::expert_tensor);
        bytes += operation.bytes.si();
        ++transfers;
      }
    }
    const bool gathers = mode == Mode::duplicated;
    EXPECT_NEAR(bytes, 100 * (gathers ? 4.0 * 1024 * 64 : 4 + 5 * 2.0 * 64 * 64), 1e-3);
    EXPECT_EQ(transfers, gathers ? 100U : 6 * 100U);
  }
}

TEST(Muon, TakesPartsOfEqualShapeAsOneShapeBlockwiseAlone) {
  const std::vector<OwnedMatrices> mixed{
      {64, 64, 2, false, 2, 1}, {64, 64, 3, false, 1, 2}, {96, 64, 1}};
  EXPECT_EQ(muon_matrices(mixed, Mode::blockwise),
            (std::vector<OwnedMatrices>{{96, 64, 1}, {64, 64, 5}}));
  EXPECT_EQ(muon_matrices(mixed, Mode::duplicated), mixed);
}

TEST(Muon, IsSetWhereItUpdates) {
  TrainingSpec training = recipe(4096, 8);
  training.muon = MuonSpec{Mode::blockwise};
  EXPECT_EQ(texts(unsupported(llama_8b(), training, split(2, 1))),
            (std::vector<std::string>{"settings of muon belong to optimizer_state muon, not "
                                      "adam_fp32; choose it or leave them out"}));
  EXPECT_EQ(texts(unsupported(llama_8b(), with_muon(8, Mode::blockwise), split(2, 1))),
            std::vector<std::string>{});
}

TEST(Muon, HoldsCopiesOfOneMatrixAfterTheLastBackward) {
  // Normed in fp32 and 16 bits, then X twice and two Gram matrices; gathered also the parts and the
  // whole of them.
  const std::vector<OwnedMatrices> some{{7168, 4096, 2, false, 4, 1}, {64, 64, 9}};
  EXPECT_DOUBLE_EQ(newton_schulz_bytes(some, Mode::duplicated), (4 + 2 + 4 + 4) * 28672.0 * 4096);
  EXPECT_DOUBLE_EQ(newton_schulz_bytes(some, Mode::distributed), 4 * (7168.0 + 4096) * 4096);
  EXPECT_DOUBLE_EQ(newton_schulz_bytes(some, Mode::blockwise), 4 * (7168.0 + 4096) * 4096);
  // Far from square the first copies are more: 6 g n.
  EXPECT_DOUBLE_EQ(newton_schulz_bytes({{64, 4096, 1}}, Mode::blockwise), 6 * 64.0 * 4096);
  // Of keys the side that is whole is the longer one: two of it squared beside old and new X.
  EXPECT_DOUBLE_EQ(newton_schulz_bytes({{256, 4096, 1, false, 4, 1}}, Mode::distributed),
                   4 * (4096.0 * 256 + 4096.0 * 4096));
  StageActivations live;
  live.at_layers.activations = core::Bytes(10);
  StageStates states;
  states.at_layers = core::Bytes(5);
  states.at_update = core::Bytes(12);
  EXPECT_EQ(at_peak(live, states).total(), core::Bytes(15));
  states.at_update = core::Bytes(30);  // above activations, which are gone then
  EXPECT_EQ(at_peak(live, states).total(), core::Bytes(30));
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
