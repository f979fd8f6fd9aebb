#include "sim/training/estimate.h"

#include <cstdlib>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <malloc.h>
#include <new>

#include "sim/core/infeasible.h"
#include "sim/core/text.h"
#include "sim/training/step/lower.h"
#include "sim/training/step/step.h"

#include "tests/training/allocations.h"
#include "tests/training/fixture.h"

using headway::training::Allocations;

// All other forms call these; where an address sanitizer has its own, the one that does not throw
// must be named too.
void* operator new(std::size_t size, const std::nothrow_t& /*tag*/) noexcept {
  void* const place = std::malloc(size);
  if (place != nullptr) {
    Allocations::add(static_cast<std::ptrdiff_t>(malloc_usable_size(place)));
  }
  return place;
}
void* operator new(std::size_t size) {
  void* const place = ::operator new(size, std::nothrow);
  if (place == nullptr) {
    throw std::bad_alloc();
  }
  return place;
}
void operator delete(void* place) noexcept {
  Allocations::add(-static_cast<std::ptrdiff_t>(malloc_usable_size(place)));
  std::free(place);
}
void operator delete(void* place, std::size_t /*size*/) noexcept { ::operator delete(place); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  const auto whole = static_cast<std::size_t>(alignment);
  void* const place = std::aligned_alloc(whole, (size + whole - 1) / whole * whole);
  if (place == nullptr) {
    throw std::bad_alloc();
  }
  Allocations::add(static_cast<std::ptrdiff_t>(malloc_usable_size(place)));
  return place;
}
void operator delete(void* place, std::align_val_t /*alignment*/) noexcept {
  ::operator delete(place);
}
void operator delete(void* place, std::size_t /*size*/, std::align_val_t /*alignment*/) noexcept {
  ::operator delete(place);
}

namespace headway::training {
namespace {

using testing::HasSubstr;

/// A cluster with `nodes` nodes, data parallel as far as it goes.
Scenario grown(int nodes, int micro_batches = 4) {
  Scenario s = eight_nodes();
  s.cluster.nodes = nodes;
  s.training.global_batch = nodes * 8 / 32 * micro_batches;
  return s;
}

/// Other hashes of the switches, all at the same time.
constexpr int kDraws = 2;

double measured(const Scenario& scenario, bool fold) {
  const auto checked = check(scenario);
  const auto before = Allocations::begin();
  simulate_step(checked, {.fold = fold, .hash_draws = kDraws});
  return static_cast<double>(Allocations::most - before);
}

double estimated(const Scenario& scenario, bool fold) {
  const int beside = scenario.cluster.fabric.routing == network::Routing::ecmp ? kDraws : 0;
  return estimate_step(check(scenario), fold, beside).total().si();
}

struct Case {
  const char* name;
  Scenario scenario;
  bool fold;
};

std::vector<Case> cases() {
  std::vector<Case> all;
  all.push_back({"many ranks, folded", grown(512), true});
  all.push_back({"some ranks, one by one", grown(64), false});
  all.push_back({"many micro-batches", grown(8, 1000), true});  // more are a loop, and less memory
  all.push_back({"many micro-batches, one by one", grown(8, 256), false});
  Scenario apart = grown(256);
  apart.cluster.fabric.routing = network::Routing::ecmp;
  all.push_back({"hashed routes", apart, true});
  Scenario random = grown(256);
  random.cluster.placement = Placement::random;
  all.push_back({"random placement", random, true});
  Scenario planes = grown(512);
  planes.cluster.fabric.planes = 64;
  all.push_back({"many planes", planes, true});
  Scenario whole = grown(256);
  whole.parallelism.pipeline = 1;
  whole.parallelism.tensor = 1;
  whole.parallelism.sharding = workload::Sharding::zero3;
  whole.training.global_batch = 2048 * 4;
  all.push_back({"sharded weights", whole, true});
  Scenario experts = grown(128);
  experts.model.moe = workload::ExpertsSpec{};
  experts.model.moe->ffn = 2048;
  experts.model.moe->experts = 64;
  experts.parallelism.tensor = 1;
  experts.parallelism.expert = 32;
  experts.training.global_batch = 128 * 8 / 4 * 4;
  all.push_back({"experts", experts, true});
  return all;
}

// The measure is the peak of all allocations of simulate_step.
TEST(Estimate, IsWithinAFactorOfTwoOfWhatIsAllocated) {
  for (const auto& [name, scenario, fold] : cases()) {
    const double estimate = estimated(scenario, fold);
    const double peak = measured(scenario, fold);
    // On a busy machine draws of hashed routes may run one after the other.
    const bool drawn = scenario.cluster.fabric.routing == network::Routing::ecmp;
    EXPECT_LT(estimate, (drawn ? 3 : 2) * peak) << name;
    EXPECT_GT(estimate, peak / 2) << name;
    RecordProperty(name, fmt::format("{:.4g} of {:.4g}", estimate, peak));
  }
}

TEST(Estimate, NeverFallsWhereThereIsMoreToSimulate) {
  const auto rises = [](const Scenario& less, const Scenario& more, const char* what) {
    for (const bool fold : {true, false}) {
      EXPECT_LE(estimated(less, fold), estimated(more, fold)) << what;
      EXPECT_LE(estimated(less, true), estimated(less, false)) << what;
    }
  };
  for (int nodes = 4; nodes <= 1024; nodes *= 2) {
    rises(grown(nodes), grown(2 * nodes), "nodes");
    rises(grown(nodes, 4), grown(nodes, 8), "micro-batches");
    Scenario planes = grown(nodes);
    planes.cluster.fabric.planes = 8;
    rises(grown(nodes), planes, "planes");
    Scenario layers = grown(nodes);
    layers.model.layers *= 2;
    rises(grown(nodes), layers, "layers");
  }
}

// The measure is the peak of all allocations of building it. Links that are as their tier was built
// take no room by themselves; what is told of them (a collective's loads, a report's paths) does.
TEST(Estimate, OfAFabricCoversWhatItsLinksTake) {
  Scenario s = eight_nodes();
  s.cluster.nodes = 4096;
  const auto before = Allocations::begin();
  const auto links = static_cast<double>(build_fabric(s.cluster).link_count());
  const auto peak = static_cast<double>(Allocations::most - before);
  EXPECT_GT(estimate_fabric(s.cluster).total().si(), peak);
  EXPECT_LT(peak, 2 * links);
}

// One leaf a pod makes as many pods as leaves, and no links between all pairs of them.
TEST(Estimate, CountsTheLinksThatAreBuilt) {
  Scenario s = eight_nodes();
  s.cluster.nodes = 1024;
  s.cluster.fabric.tiers = 3;
  s.cluster.fabric.leaves_per_pod = 1;
  for (const auto routing : {network::Routing::adaptive, network::Routing::ecmp}) {
    s.cluster.fabric.routing = routing;
    const auto links = static_cast<double>(build_fabric(s.cluster).link_count());
    EXPECT_EQ(estimate_fabric(s.cluster).parts.at(0).what,
              fmt::format("a fabric of {} links", core::count(links)));
  }
}

TEST(Estimate, OfACampaignGrowsWithTrialsSparesAndCrews) {
  Scenario s = eight_nodes();
  s.run.trials = 1000;
  const auto of = [&](int threads) { return estimate_campaign(check(s), threads).total(); };
  const auto first = of(1);
  EXPECT_LT(first, of(2));
  s.cluster.spares = 1000;
  const auto spares = of(1);
  EXPECT_LT(first, spares);
  s.run.recovery.repair_crews = 2147483647;
  EXPECT_GT(of(1).si(), 8.0 * 2147483647);
  EXPECT_EQ(estimate_campaign(check(s), 1).largest().field, "run.recovery.repair_crews");
}

TEST(Estimate, RefusesWithWhatTakesMostAndWhatToDo) {
  const MemoryEstimate estimate{
      {{"a fabric of 6 links", "cluster.fabric.planes", core::Bytes(190e9)},
       {"2 ranks", "cluster.nodes", core::Bytes(1e9)}}};
  EXPECT_NO_THROW(require_memory(estimate, core::Bytes(191e9)));
  try {
    require_memory(estimate, core::Bytes(24e9));
    FAIL() << "not refused";
  } catch (const core::Infeasible& error) {
    EXPECT_STREQ(error.what(),
                 "simulating this needs about 191 GB of memory, most of it for a fabric of 6 links "
                 "(190 GB); this machine has 24 GB free: make cluster.fabric.planes smaller\n");
  }
  try {
    require_memory(estimate, core::Bytes(24e9), false);
    FAIL() << "not refused";
  } catch (const core::Infeasible& error) {
    EXPECT_THAT(error.what(), HasSubstr("use --fold on, or fewer GPUs"));
  }
}

TEST(Estimate, KnowsThatThisMachineHasSomeMemory) {
  EXPECT_GT(machine_memory().si(), 1e6);
  EXPECT_LT(machine_memory().si(), 1e18);
}

}  // namespace
}  // namespace headway::training
