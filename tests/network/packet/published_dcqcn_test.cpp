// DCQCN and pauses beside what was published of them, with the published parameters and no others.
//
// Zhu et al., "Congestion Control for Large-Scale RDMA Deployments", SIGCOMM 2015: 40 Gb/s ports,
// notifications each 50 us, timer 55 us, byte counter 10 MB, g = 1/256, additive increase 40 Mb/s,
// marks from 5 kB to 200 kB with 1 %, switches of 12 MB with 32 ports and dynamic pause thresholds.
// Its model as differential equations and their fixed point: Zhu et al., "ECN or Delay: Lessons
// Learnt from Analysis of DCQCN and TIMELY", CoNEXT 2016.
#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>

#include "sim/network/pacing/congestion_control.h"

#include "tests/network/packet/drawn_network.h"
#include "tests/network/packet/packet_fixture.h"

namespace headway::network {
namespace {

constexpr double kPort = 5e9;                                     ///< 40 Gb/s [B/s]
constexpr std::int64_t kPayload = 1000;                           ///< packets of the model [B]
constexpr std::int64_t kShared = 12'000'000 - 8LL * 32 * 22'400;  ///< less headroom of 8 classes

PacketOptions published(Transport transport) {
  PacketOptions options = packet_options(transport);
  options.spec.marking_from = core::Seconds{5e3 / kPort};
  options.spec.marking_to = core::Seconds{200e3 / kPort};
  options.spec.marking_probability = 0.01;
  options.spec.threshold = 1;  // beta = 8, an eighth for each of 8 classes
  return options;
}

/// n hosts send so many bytes each to one more, all at one switch.
PacketResult incast(std::uint32_t n, std::int64_t bytes, Transport transport) {
  DrawnNetwork net;
  const std::uint32_t box = net.switch_box();
  std::vector<std::uint32_t> hosts;
  for (std::uint32_t h = 0; h <= n; ++h) {
    hosts.push_back(net.host_at(box));
  }
  net.lay(Guard::pause, 5_GBps, 1_us, kShared, kPayload);
  for (std::uint32_t h = 0; h < n; ++h) {
    net.send(hosts[h], hosts[n], bytes);
  }
  return net.run(published(transport));
}

/// Share of packets marked where n equal flows fill a port, from the model's equations for rates,
/// targets and alpha, all derivatives 0 and the rate 1/n of the port: with a = 1 - (1-p)^(tau R) a
/// notification's chance, and b, c by bytes, d, e by the timer the rates of increases and of those
/// after fast recovery,
///   target - rate = alpha a / (tau (b + d)) = tau R_AI R (c + e) / a.
double fixed_point(std::uint32_t n) {
  const double rate = kPort / kPayload / n;  // packets a second
  const double tau = static_cast<double>(Dcqcn::kNotice) * 1e-12;
  const double timer = static_cast<double>(Dcqcn::kTimer) * 1e-12;
  const double counter = static_cast<double>(Dcqcn::kBytes) / kPayload;
  const double increase = Dcqcn::kIncrease * kPort / kPayload;
  const auto excess = [&](double p) {
    const double a = 1 - std::pow(1 - p, tau * rate);
    const double alpha = 1 - std::pow(1 - p, timer * rate);
    const double b = p / (std::pow(1 - p, -counter) - 1);
    const double c = b * std::pow(1 - p, Dcqcn::kRecovery * counter);
    const double d = p / (std::pow(1 - p, -timer * rate) - 1);
    const double e = d * std::pow(1 - p, Dcqcn::kRecovery * timer * rate);
    return alpha * a / (tau * (b + d)) - tau * increase * rate * (c + e) / a;
  };
  double low = 1e-6, high = 0.5;
  for (int i = 0; i < 60; ++i) {
    const double middle = std::sqrt(low * high);
    (excess(middle) > 0 ? high : low) = middle;
  }
  return low;
}

/// Their closed form for small p: the cube root of R_AI n^2 / (tau' C^2) (1/B + n / (T C))^2.
double fixed_point_for_small_p(std::uint32_t n) {
  const double port = kPort / kPayload;
  const double timer = static_cast<double>(Dcqcn::kTimer) * 1e-12;
  const double counter = static_cast<double>(Dcqcn::kBytes) / kPayload;
  return std::cbrt(Dcqcn::kIncrease * port * n * n / (timer * port * port) *
                   std::pow(1 / counter + n / (timer * port), 2));
}

TEST(PublishedDcqcn, TheFixedPointOfItsEquationsIsTheirClosedForm) {
  for (const std::uint32_t n : {2U, 4U, 8U}) {
    EXPECT_NEAR(fixed_point_for_small_p(n) / fixed_point(n), 1.2, 0.1) << n;
    EXPECT_LT(fixed_point(n), 0.01) << n;  // so the queue's line of marks reaches that far
  }
}

// What n flows do once they have found their rates: the same run for longer, less the run. The
// equations know means alone; single packets, marked by chance, need a third more marks to the same
// rates. At eight the queue swings beyond 200 kB, where every packet is marked, so that there is no
// rest at the fixed point; that DCQCN's stability depends on the number of flows is a result of the
// second paper.
TEST(PublishedDcqcn, FlowsShareAPortAtTheFixedPoint) {
  for (const std::uint32_t n : {2U, 4U, 8U}) {
    const auto bytes = [&](double seconds) {
      return std::llround(kPort * seconds / n / kPayload) * kPayload;
    };
    const PacketResult some = incast(n, bytes(0.08), Transport::dcqcn);
    const PacketResult more = incast(n, bytes(0.2), Transport::dcqcn);
    const auto packets = static_cast<double>(more.counts.packets - some.counts.packets);
    const double marked = static_cast<double>(more.counts.marks - some.counts.marks) / packets;
    const double time = static_cast<double>(more.end - some.end) * 1e-12;
    const auto [first, last] = std::minmax_element(more.flow_end.begin(), more.flow_end.end());
    if (n < 8) {
      EXPECT_NEAR(marked / fixed_point(n), 1.3, 0.15) << n;
    } else {
      EXPECT_GT(marked / fixed_point(n), 5) << n;
    }
    EXPECT_GT(packets * kPayload / time / kPort, 0.97) << n;
    EXPECT_GT(static_cast<double>(*first) / static_cast<double>(*last), 0.85) << n;
  }
}

// Pauses alone hold the port full by stopping senders all the time; with rates nobody is stopped
// once the first burst is over (section 6: counts of pause frames with DCQCN and without).
TEST(PublishedDcqcn, RatesTakeThePlaceOfPauses) {
  const auto pauses_later = [](Transport transport) {
    return incast(8, 60'000'000, transport).counts.pauses -
           incast(8, 30'000'000, transport).counts.pauses;
  };
  EXPECT_GT(pauses_later(Transport::pauses), 10'000U);
  EXPECT_EQ(pauses_later(Transport::dcqcn), 0U);
}

// After a deep cut a flow that is alone comes back by 40 Mb/s each 55 us, 0.727 Gb/s a
// millisecond. The simulator of DCQCN's authors, in a published run
// (sc20anonymous/DCQCN-validation, figure of F1's rate, read off: from 9.3 Gb/s at 4.7 ms to 20.7
// at 20.8 ms): 0.708.
TEST(PublishedDcqcn, AFlowComesBackByAdditiveIncrease) {
  const auto end_of = [](std::int64_t bytes) {
    DrawnNetwork net;
    const std::uint32_t box = net.switch_box();
    std::vector<std::uint32_t> hosts;
    for (int h = 0; h < 9; ++h) {
      hosts.push_back(net.host_at(box));
    }
    net.lay(Guard::pause, 5_GBps, 1_us, kShared, kPayload);
    for (std::size_t h = 0; h < 8; ++h) {
      net.send(hosts[h], hosts[8], h == 0 ? bytes : 500'000);
    }
    return static_cast<double>(net.run(published(Transport::dcqcn)).flow_end[0]) * 1e-12;
  };
  // Bytes are the integral of a rate that rises evenly: mean rates of two parts, between middles.
  const double t[] = {end_of(20'000'000), end_of(40'000'000), end_of(60'000'000)};
  const double rates[] = {20e6 / (t[1] - t[0]), 20e6 / (t[2] - t[1])};
  const double slope = (rates[1] - rates[0]) / ((t[2] - t[0]) / 2) * 8e-9 * 1e-3;  // Gb/s a ms
  EXPECT_NEAR(slope, 40e-3 / 55e-3, 0.015);  // the byte counter adds a little
  EXPECT_NEAR(slope / 0.708, 1, 0.05);
}

/// Figure 3 of Zhu et al. 2015, the last switch: host 4 at it, hosts 1 to 3 behind one or two
/// others.
struct ParkingLot {
  DrawnNetwork net;
  std::vector<std::uint32_t> hosts;  ///< 1 to 4
  std::uint32_t receiver = 0;

  /// @param second  of hosts 1 to 3, how many come by a port of their own
  explicit ParkingLot(int second) {
    const std::uint32_t last = net.switch_box(), left = net.switch_box(), right = net.switch_box();
    net.join(last, left);
    net.join(last, right);
    for (int h = 0; h < 3; ++h) {
      hosts.push_back(net.host_at(h < second ? right : left));
    }
    hosts.push_back(net.host_at(last));
    receiver = net.host_at(last);
    net.lay(Guard::pause, 5_GBps, 1_us, kShared, kPayload);
  }
  /// Seconds that each takes for so many bytes.
  std::vector<double> ends(const std::vector<std::int64_t>& bytes, Transport transport) {
    for (std::size_t h = 0; h < 4; ++h) {
      net.send(hosts[h], receiver, bytes[h]);
    }
    std::vector<double> seconds;
    for (const core::Tick end : net.run(published(transport)).flow_end) {
      seconds.push_back(static_cast<double>(end) * 1e-12);
    }
    return seconds;
  }
};

// Pauses stop ports, not flows, so each port has an equal part of what goes out. Hosts 1 to 3 on
// one port: it has half, host 4 the other, 20 Gb/s; they a sixth each, 6.7. One of them on a port
// of its own: three ports, 13.3 Gb/s, also for it and for host 4. Messages in these proportions end
// together.
TEST(PublishedDcqcn, PausesAreUnfairByPort) {
  constexpr std::int64_t kUnit = 20'000'000;
  for (const int second : {0, 1}) {
    ParkingLot lot(second);
    const std::vector<std::int64_t> bytes =
        second == 0 ? std::vector<std::int64_t>{kUnit, kUnit, kUnit, 3 * kUnit}
                    : std::vector<std::int64_t>{2 * kUnit, kUnit, kUnit, 2 * kUnit};
    const auto ends = lot.ends(bytes, Transport::pauses);
    const double all = 6.0 * kUnit / kPort;
    for (std::size_t h = 0; h < 4; ++h) {
      EXPECT_NEAR(ends[h] / all, 1, 0.01) << second << " host " << h + 1;
    }
  }
}

// Section 6: with DCQCN the four share alike.
TEST(PublishedDcqcn, RatesMakeThePortsFair) {
  ParkingLot lot(0);
  constexpr std::int64_t kBytes = 300'000'000;
  const auto ends = lot.ends({kBytes, kBytes, kBytes, kBytes}, Transport::dcqcn);
  EXPECT_GT(
      *std::min_element(ends.begin(), ends.end()) / *std::max_element(ends.begin(), ends.end()),
      0.9);
}

/// Figure 4: a flow from T1 to T2, the victim, beside an incast of four hosts at T1, and two at T3,
/// to one at T4. Two leaves above each pair of ToRs, one spine between each two leaves; the draw of
/// paths is that of the median: two of the four by each leaf, the victim by one of them.
struct Victim {
  DrawnNetwork net;
  std::uint32_t t[4], l[4];
  std::vector<std::uint32_t> senders;
  std::uint32_t from = 0, to = 0, receiver = 0;

  explicit Victim(int senders_at_t3) {
    for (int k = 0; k < 4; ++k) {
      t[k] = net.switch_box();
      l[k] = net.switch_box();
    }
    for (const std::uint32_t k : {0U, 1U}) {
      const std::uint32_t spine = net.switch_box();
      net.join(t[0], l[k]);
      net.join(l[k], spine);
      net.join(spine, l[k + 2]);
      net.join(l[k + 2], t[2]);
      net.join(l[k + 2], t[3]);
    }
    net.join(t[1], l[0]);
    from = net.host_at(t[0]);
    to = net.host_at(t[1]);
    receiver = net.host_at(t[3]);
    for (int h = 0; h < 4 + senders_at_t3; ++h) {
      senders.push_back(net.host_at(t[h < 4 ? 0 : 2]));
    }
    net.lay(Guard::pause, 5_GBps, 1_us, kShared, kPayload);
  }
  PacketResult run(std::int64_t bytes,
                   std::int64_t others,
                   Transport transport,
                   std::uint64_t seed) {
    net.traffic = {};
    net.send(from, to, bytes);
    for (const std::uint32_t h : senders) {
      net.send(h, receiver, others);
    }
    PacketOptions options = published(transport);
    options.seed = seed;
    return net.run(options);
  }
  /// A seed that draws the paths of the median.
  std::uint64_t median_seed() {
    const auto carried = [&](const PacketResult& result, std::uint32_t a, std::uint32_t b) {
      return result.cable_bytes[net.cable(a, b)] / kPayload;
    };
    for (std::uint64_t seed = 1;; ++seed) {
      const PacketResult probe = run(kPayload, kPayload, Transport::pauses, seed);
      if (carried(probe, t[0], l[1]) == 2 &&
          carried(probe, t[2], l[2]) == (static_cast<std::int64_t>(senders.size()) - 4) / 2) {
        return seed;
      }
    }
  }
  /// The victim's rate once buffers are full: between 20 and 40 MB [Gb/s].
  double rate(Transport transport) {
    const std::uint64_t seed = median_seed();
    const auto end = [&](std::int64_t bytes) {
      return static_cast<double>(run(bytes, 80'000'000, transport, seed).flow_end[0]) * 1e-12;
    };
    return 20e6 * 8e-9 / (end(40'000'000) - end(20'000'000));
  }
};

// T4 gives each of its two ports half, so each of the four has 10 Gb/s, and so has the victim,
// whose port at T1 stops as often as theirs; two senders at T3 take half of each half: 5 Gb/s,
// though none of theirs crosses a cable of its way. Rates let it have what those leave of its
// cable.
TEST(PublishedDcqcn, PausesHoldUpAVictim) {
  EXPECT_NEAR(Victim(0).rate(Transport::pauses), 10, 0.5);
  EXPECT_NEAR(Victim(2).rate(Transport::pauses), 5, 0.25);
  EXPECT_GT(Victim(2).rate(Transport::dcqcn), 10);
}

}  // namespace
}  // namespace headway::network
