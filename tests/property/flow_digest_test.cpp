// The same bits everywhere: for every compiler, and for runs side by side on several threads.
#include <gtest/gtest.h>
#include <thread>
#include <vector>

#include "sim/network/flow/digest.h"

#include "tests/property/flow_random_problem.h"

namespace headway::network {
namespace {

struct Digests {
  std::uint64_t event = 0, result = 0;
  bool operator==(const Digests&) const = default;
};

Digests digests_of_random_problems() {
  Digests sum;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const RunResult result = run(testing::RandomProblem(seed).build(), {});
    sum.event = scramble(sum.event, result.event_digest);
    sum.result = scramble(sum.result, result.result_digest);
  }
  return sum;
}

// The constants were printed by a g++ 12 build and again by a clang 14 build. A change of the
// engine that moves any tick of any operation, or of what a digest covers, changes them.
TEST(Digests, AreThoseOfEveryOtherBuild) {
  const Digests digests = digests_of_random_problems();
  EXPECT_EQ(digests.event, 9938793984267918339U);
  EXPECT_EQ(digests.result, 18148827809481462002U);
}

TEST(Digests, AreTheSameOnEveryThread) {
  std::vector<Digests> found(4);
  std::vector<std::thread> threads;
  for (Digests& digests : found) {
    threads.emplace_back([&digests] { digests = digests_of_random_problems(); });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  for (const Digests& digests : found) {
    EXPECT_EQ(digests, found.front());
  }
}

}  // namespace
}  // namespace headway::network
