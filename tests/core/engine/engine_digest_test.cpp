// The same events in the same order, whatever the threads, the partitions and the order of
// construction.
#include <atomic>
#include <cstdlib>
#include <gtest/gtest.h>
#include <new>
#include <numeric>
#include <vector>

#include "sim/core/engine/engine.h"
#include "sim/core/random.h"

namespace {
std::atomic<std::uint64_t> allocations{0};
}  // namespace

// Counts every allocation of this test program. Not inlined, or the compiler sees `free` of what
// `new` gave.
[[gnu::noinline]] void* operator new(std::size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size)) {
    return memory;
  }
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace headway::core {
namespace {

constexpr std::uint32_t kProcesses = 97;
constexpr Tick kLatency = 40;

/// Passes rumours on: to itself in a while, or to a random neighbour; often several in one tick.
class Gossip : public Process {
 public:
  Gossip(std::uint32_t position, std::uint64_t salt) : position_(position), salt_(salt) {}

  void start(Context& context) override {
    first_ = context.find({"gossip", 0}).index();
    context.schedule(1 + position_ % 5, {.a = position_});
  }

  void handle(Context& context, const Event& event) override {
    heard_ = heard_ * 31 +
             event.a;  // the order of events shows in the state, and through it in the payloads
    const RandomBits bits = stream_.part(position_).bits(handled_++);
    const Message rumour{.kind = static_cast<std::uint32_t>(bits[1] % 3),
                         .priority = static_cast<Priority>(bits[1] % 4),
                         .a = heard_ + salt_,
                         .b = event.b + 1};
    if (bits[0] % 4 == 0) {
      const auto neighbour = static_cast<std::uint32_t>(index_below(bits[0], kProcesses));
      context.send(ChannelId(0), ProcessId(first_ + neighbour),
                   kLatency + static_cast<Tick>(bits[1] % 8), rumour);
    } else {
      context.schedule(static_cast<Tick>(bits[1] % 16), rumour);
    }
  }

 private:
  std::uint32_t position_;
  std::uint64_t salt_;
  std::uint32_t first_ = 0;
  std::uint64_t heard_ = 0;
  std::uint64_t handled_ = 0;
  RandomStream stream_{11, "gossip"};
};

/// Positions 0 to kProcesses - 1 in an order that `seed` shuffles; seed 0 leaves them in place.
std::vector<std::uint32_t> construction_order(std::uint64_t seed) {
  std::vector<std::uint32_t> order(kProcesses);
  std::iota(order.begin(), order.end(), 0U);
  const RandomStream stream(seed, "shuffle");
  for (std::uint64_t i = kProcesses - 1; seed != 0 && i > 0; --i) {
    std::swap(order[i], order[stream.index(i, 0, i + 1)]);
  }
  return order;
}

RunSummary run_gossip(const EngineOptions& options,
                      std::uint64_t shuffle = 0,
                      std::uint64_t salt = 0) {
  std::vector<Gossip> crowd;
  for (std::uint32_t i = 0; i < kProcesses; ++i) {
    crowd.emplace_back(i, salt);
  }
  Engine engine(options);
  for (const std::uint32_t i : construction_order(shuffle)) {
    engine.add({"gossip", i}, crowd[i]);
  }
  engine.connect({"gossip"}, {"gossip"}, kLatency);
  return engine.run(3000);
}

void expect_same(const RunSummary& summary, const RunSummary& reference) {
  EXPECT_EQ(summary.event_digest, reference.event_digest);
  EXPECT_EQ(summary.events, reference.events);
  EXPECT_EQ(summary.end, reference.end);
}

TEST(EventDigest, IsEqualForAnyNumberOfThreads) {
  const RunSummary reference = run_gossip({});
  EXPECT_GT(reference.events, 10'000U);
  for (const int threads : {1, 2, 4, 8}) {
    expect_same(run_gossip({.threads = threads}), reference);
  }
}

TEST(EventDigest, IsEqualForAnyPartitioning) {
  const RunSummary reference = run_gossip({});
  for (const std::size_t block : {1U, 2U, 7U, 96U, 1000U}) {
    expect_same(run_gossip({.processes_per_partition = block}), reference);
    expect_same(run_gossip({.threads = 4, .processes_per_partition = block}), reference);
  }
  std::vector<std::uint32_t> scattered;
  for (std::uint32_t i = 0; i < kProcesses; ++i) {
    scattered.push_back((i * 37) % 11);
  }
  expect_same(run_gossip({.threads = 2, .partition_of_process = scattered}), reference);
}

TEST(EventDigest, IsEqualWhateverCrossesTheMailboxesOfGroups) {
  // 97 partitions of one process: 25 groups of 4, so nearly every message goes through a mailbox.
  const RunSummary reference = run_gossip({});
  for (const int threads : {1, 2, 3, 4, 8}) {
    expect_same(run_gossip({.threads = threads, .processes_per_partition = 1}), reference);
  }
}

TEST(EventDigest, IsEqualForAnyOrderOfConstruction) {
  const RunSummary reference = run_gossip({});
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    expect_same(run_gossip({.threads = 2, .processes_per_partition = 8}, seed), reference);
  }
}

TEST(EventDigest, IsTheOneWrittenDownHere) {
  // Guards both compilers: a value that differs between them cannot equal this one in both.
  EXPECT_EQ(run_gossip({}).event_digest, 4244125540640608434U);
}

TEST(EventDigest, ChangesWithAnyPayload) {
  EXPECT_NE(run_gossip({}, 0, 1).event_digest, run_gossip({}, 0, 0).event_digest);
}

TEST(Engine, AllocatesNothingPerEventOnceItIsWarm) {
  std::vector<Gossip> crowd;
  for (std::uint32_t i = 0; i < kProcesses; ++i) {
    crowd.emplace_back(i, 0);
  }
  Engine engine({.processes_per_partition = 16});
  for (std::uint32_t i = 0; i < kProcesses; ++i) {
    engine.add({"gossip", i}, crowd[i]);
  }
  engine.connect({"gossip"}, {"gossip"}, kLatency);
  const std::uint64_t warm = engine.run(20'000).events;
  const std::uint64_t before = allocations;
  const std::uint64_t events = engine.run(200'000).events - warm;
  EXPECT_GT(events, 500'000U);
  EXPECT_LT(allocations - before,
            50U);  // a queue or mailbox that sees a new record grows once more
}

}  // namespace
}  // namespace headway::core
