// How far the fluid model is from senders under DCQCN, the rate control of RoCE fabrics: the
// control loop as published, stepped by the microsecond, beside fair sharing of the port.
#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <vector>

namespace headway::network {
namespace {

// Zhu et al., "Congestion Control for Large-Scale RDMA Deployments", SIGCOMM 2015: 40 Gb/s ports
// and the parameters they deployed.
constexpr double kPort = 5e9;             ///< [B/s]
constexpr double kStep = 1e-6;            ///< [s]
constexpr double kMinMark = 5e3;          ///< queue where marking begins [B]
constexpr double kMaxMark = 200e3;        ///< queue from where everything is marked [B]
constexpr double kMaxProbability = 0.01;  ///< marking just below it
constexpr double kGain = 1.0 / 256;       ///< of the congestion estimate
constexpr double kNotice = 50e-6;         ///< at most one notification a flow in this time [s]
constexpr double kTimer = 55e-6;          ///< of rate increases and of the estimate's decay [s]
constexpr double kIncrease = 5e6;         ///< additive increase, 40 Mb/s [B/s]
constexpr int kRecovery = 5;              ///< rounds of fast recovery
constexpr double kPacket = 1000;          ///< [B]

struct Sender {
  double left = 0, rate = kPort, target = kPort, estimate = 1;
  double unmarked = 1;  ///< chance that no packet of this notification interval was marked
  double debt = 0;      ///< expected notifications not yet delivered
  int rounds = 0;
};

double marking(double queue) {
  if (queue <= kMinMark) {
    return 0;
  }
  return queue >= kMaxMark ? 1 : kMaxProbability * (queue - kMinMark) / (kMaxMark - kMinMark);
}

void cut(Sender& s) {
  s.target = s.rate;
  s.rate *= 1 - s.estimate / 2;
  s.estimate = (1 - kGain) * s.estimate + kGain;
  s.rounds = 0;
}

void raise(Sender& s) {
  s.estimate *= 1 - kGain;
  s.target = std::min(kPort, s.target + (++s.rounds > kRecovery ? kIncrease : 0.0));
  s.rate = (s.rate + s.target) / 2;
}

struct Outcome {
  double first = 0, last = 0;  ///< when the first and the last sender are done [s]
};

/// `senders` of `bytes` each into one port. A notification is sent when its expected number, summed
/// over intervals, passes a whole one: the mean of the random loop without its luck.
Outcome run_dcqcn(int senders, double bytes) {
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
      const double sent = std::min(s.left, s.rate * kStep);
      arriving += sent;
      s.left -= sent;
      s.unmarked *= std::pow(1 - marking(queue), sent / kPacket);
      if (step % std::lround(kNotice / kStep) == 0) {
        s.debt += 1 - s.unmarked;
        s.unmarked = 1;
        if (s.debt >= 1) {
          s.debt -= 1;
          cut(s);
        }
      }
      if (step % std::lround(kTimer / kStep) == 0) {
        raise(s);
      }
    }
    queue = std::max(0.0, queue + arriving - kPort * kStep);
    const auto done =
        std::count_if(all.begin(), all.end(), [](const Sender& s) { return s.left <= 0; });
    outcome.first = outcome.first == 0 && done > 0 ? now : outcome.first;
    outcome.last = done == senders && queue <= 0 ? now : 0;
  }
  return outcome;
}

/// How much later than under fair sharing, where all n senders end together at n bytes / port.
double lateness(int senders, double bytes) {
  return run_dcqcn(senders, bytes).last / (senders * bytes / kPort) - 1;
}

TEST(FluidError, OfOneSenderUnderDcqcnIsNone) {
  EXPECT_NEAR(lateness(1, 1e6), 0, 1e-6);
  EXPECT_NEAR(lateness(1, 256e6), 0, 1e-6);
}

// The port idles while rates recover from the first, hardest cuts: a time of its own, so much of
// short messages and little of long ones. docs/models/network.md has the figures.
TEST(FluidError, OfTheControlLoopOfDcqcnIsTheRecoveryFromTheFirstCuts) {
  EXPECT_NEAR(lateness(2, 1e6), 0.31, 0.02);
  EXPECT_NEAR(lateness(2, 16e6), 0.53, 0.02);
  EXPECT_NEAR(lateness(2, 256e6), 0.038, 0.005);
  EXPECT_NEAR(lateness(8, 1e6), 0.97, 0.02);
  EXPECT_NEAR(lateness(8, 16e6), 0.149, 0.01);
  EXPECT_NEAR(lateness(8, 256e6), 0.010, 0.003);
}

TEST(FluidError, UnderDcqcnEqualSendersEndTogether) {
  const Outcome outcome = run_dcqcn(8, 64e6);
  EXPECT_NEAR(outcome.first / outcome.last, 1, 0.02);
}

}  // namespace
}  // namespace headway::network
