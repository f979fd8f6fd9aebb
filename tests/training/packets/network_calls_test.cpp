// Which calls of a step leave NVLink domains.
#include "sim/training/packets/network_calls.h"

#include <algorithm>
#include <gtest/gtest.h>

#include "sim/training/step/step.h"

#include "tests/training/fixture.h"

namespace headway::training {
namespace {

// TP 8 inside nodes, PP 4 over pairs of nodes, DP 2: what leaves nodes are messages between stages
// (s x b x h / tp values of 2 bytes) and the rings of the data ranks, half of their array a
// message.
TEST(NetworkCalls, AreThoseBetweenDomains) {
  const StepResult step = simulate_step(check(eight_nodes()));
  ASSERT_FALSE(step.calls.empty());
  bool messages = false, gradients = false;
  for (const NetworkCall& call : step.calls) {
    EXPECT_NE(call.activity, core::Activity::tensor);
    if (call.activity == core::Activity::pipeline_p2p) {
      messages = true;
      EXPECT_EQ(call.kind, core::CollectiveKind::send_receive);
      EXPECT_EQ(call.message.si(), 4096.0 * 4096 * 2 / 8);
    }
    gradients = gradients || call.activity == core::Activity::data;
  }
  EXPECT_TRUE(messages);
  EXPECT_TRUE(gradients);
  // Each once, folded or not.
  for (const NetworkCall& call : step.calls) {
    EXPECT_EQ(std::count(step.calls.begin(), step.calls.end(), call), 1);
  }
  StepOptions unfolded;
  unfolded.fold = false;
  EXPECT_EQ(simulate_step(check(eight_nodes()), unfolded).calls, step.calls);
}

}  // namespace
}  // namespace headway::training
