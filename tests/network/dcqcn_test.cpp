// How far the fluid model is from senders under DCQCN, the rate control of RoCE fabrics: the packet
// network's law of a sender, stepped by the microsecond without packets, beside fair sharing of the
// port.
#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <vector>

#include "sim/network/pacing/congestion_control.h"
#include "sim/network/packet_spec.h"

namespace headway::network {
namespace {

// Zhu et al., "Congestion Control for Large-Scale RDMA Deployments", SIGCOMM 2015: 40 Gb/s ports
// and the parameters they deployed.
constexpr double kDcqcnPort = 5e9;      ///< [B/s]
constexpr double kStep = 1e-6;          ///< [s]
constexpr double kDcqcnPacket = 1000;   ///< [B]
constexpr double kMicroseconds = 1e-6;  ///< of a tick of 1 ps

struct Sender {
  double left = 0;
  Dcqcn control;
  double unmarked = 1;  ///< chance that no packet of this notification interval was marked
  double debt = 0;      ///< expected notifications not yet delivered
  long timer = 0;       ///< steps since the last cut or increase
};

/// Marks from 5 kB to 200 kB of queue, 1 % just below: what the packet network takes by default.
double marking(double queue) {
  const PacketSpec spec;
  const MarkingLine line(spec.marking_from, spec.marking_to, spec.marking_probability);
  return line.chance(std::llround(queue / kDcqcnPort * 1e12));
}

struct Outcome {
  double first = 0, last = 0;  ///< when the first and the last sender are done [s]
};

/// `senders` of `bytes` each into one port. A notification is sent when its expected number, summed
/// over intervals, passes a whole one: the mean of the random loop without its luck.
Outcome run_dcqcn(int senders, double bytes) {
  const long notice = std::lround(Dcqcn::kNotice * kMicroseconds);
  const long timer = std::lround(Dcqcn::kTimer * kMicroseconds);
  std::vector<Sender> all(static_cast<std::size_t>(senders));
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i].left = bytes;
    all[i].debt = static_cast<double>(i) / senders;  // not all in step
  }
  Outcome outcome;
  double queue = 0;
  for (long step = 1; outcome.last == 0; ++step) {
    const double now = static_cast<double>(step) * kStep;
    double arriving = 0;
    for (Sender& s : all) {
      const double sent = std::min(s.left, s.control.rate * kDcqcnPort * kStep);
      arriving += sent;
      s.left -= sent;
      s.unmarked *= std::pow(1 - marking(queue), sent / kDcqcnPacket);
      if (s.control.slowed()) {
        s.control.on_sent(std::llround(sent));
        if (++s.timer == timer) {
          s.timer = 0;
          s.control.on_timer();
        }
      }
      if (step % notice == 0) {
        s.debt += 1 - s.unmarked;
        s.unmarked = 1;
        if (s.debt >= 1) {
          s.debt -= 1;
          s.timer = 0;
          s.control.cut(step * 1'000'000);
        }
      }
    }
    queue = std::max(0.0, queue + arriving - kDcqcnPort * kStep);
    const auto done =
        std::count_if(all.begin(), all.end(), [](const Sender& s) { return s.left <= 0; });
    outcome.first = outcome.first == 0 && done > 0 ? now : outcome.first;
    outcome.last = done == senders && queue <= 0 ? now : 0;
  }
  return outcome;
}

/// How much later than under fair sharing, where all n senders end together at n bytes / port.
double lateness(int senders, double bytes) {
  return run_dcqcn(senders, bytes).last / (senders * bytes / kDcqcnPort) - 1;
}

TEST(FluidError, OfOneSenderUnderDcqcnIsNone) {
  EXPECT_NEAR(lateness(1, 1e6), 0, 1e-6);
  EXPECT_NEAR(lateness(1, 256e6), 0, 1e-6);
}

// The port idles while rates recover from the first, hardest cuts: a time of its own, so much of
// short messages and little of long ones. docs/models/network.md has the figures.
TEST(FluidError, OfTheControlLoopOfDcqcnIsTheRecoveryFromTheFirstCuts) {
  EXPECT_NEAR(lateness(2, 1e6), 0.635, 0.02);
  EXPECT_NEAR(lateness(2, 16e6), 0.504, 0.02);
  EXPECT_NEAR(lateness(2, 256e6), 0.036, 0.005);
  EXPECT_NEAR(lateness(8, 1e6), 1.756, 0.02);
  EXPECT_NEAR(lateness(8, 16e6), 0.149, 0.01);
  EXPECT_NEAR(lateness(8, 256e6), 0.010, 0.003);
}

TEST(FluidError, UnderDcqcnEqualSendersEndTogether) {
  const Outcome outcome = run_dcqcn(8, 64e6);
  EXPECT_NEAR(outcome.first / outcome.last, 1, 0.02);
}

}  // namespace
}  // namespace headway::network
