// How much a sender may have on its way, or how fast it may send: the laws of DCQCN, Swift and
// DCTCP.
//
// Each is one flow's state and what it does with an acknowledgement, a loss, a notification or a
// timer. Who calls it when is the endpoint's part. Source: the paper named at each.
#pragma once

#include <cstdint>

#include "sim/core/tick.h"
#include "sim/core/units.h"

namespace headway::network {

/// What an acknowledgement says.
struct Acknowledged {
  core::Tick now = 0;
  core::Tick queueing = 0;   ///< time beyond that of an idle way, there and back
  std::uint32_t number = 0;  ///< of the packet
  std::uint32_t next = 0;    ///< that the flow sends for the first time
  bool marked = false;
};

/// DCQCN, the rate control of RoCE. Rates are shares of the flow's slowest cable.
/// Source: Zhu et al., "Congestion Control for Large-Scale RDMA Deployments", SIGCOMM 2015, with
/// its deployed parameters; its additive increase of 40 Mb/s on ports of 40 Gb/s is 1/1000 here.
/// Without hyper increase, of which the paper says neither the rate nor that it was used; it would
/// begin 60 MB after a cut.
struct Dcqcn {
  static constexpr core::Tick kNotice = 50'000'000;  ///< at most one notification in this time [ps]
  static constexpr core::Tick kTimer = 55'000'000;   ///< of increases and the estimate's decay [ps]
  /// Least rate. Source: the authors' simulator (RdmaHw of ns-3), 100 Mb/s of 100 Gb/s.
  static constexpr double kLeast = 1e-3;
  static constexpr std::int64_t kBytes = 10'000'000;  ///< an increase each so many bytes, too
  static constexpr double kGain = 1.0 / 256;
  static constexpr double kIncrease = 1e-3;
  static constexpr int kRecovery = 5;  ///< rounds of fast recovery

  double rate = 1, target = 1, estimate = 1;
  int timers = 0, byte_rounds = 0;
  std::int64_t bytes = 0;    ///< sent since the last round by bytes
  core::Tick last_cut = -1;  ///< the estimate decays from there on, at the line's rate too

  [[nodiscard]] bool slowed() const { return rate < 1 || target < 1; }
  /// The receiver saw a marked packet.
  void cut(core::Tick now);
  /// A timer since the last cut has run out.
  void on_timer();
  void on_sent(std::int64_t sent);

 private:
  void raise();
};

/// Swift: a window steered by delay.
/// Source: Kumar et al., "Swift: Delay is Simple and Effective for Congestion Control in the
/// Datacenter", SIGCOMM 2020, algorithm 1; the target here is the time of an idle way and that in
/// queues, without its terms by hops and by flows.
struct Swift {
  static constexpr double kIncrease = 1;    ///< packets a round trip
  static constexpr double kDecrease = 0.8;  ///< a decrease is this times the relative excess
  static constexpr double kMostDecrease = 0.5;
  static constexpr double kLeast = 0.01;  ///< window [packets]

  double window = 1;
  core::Tick decreased = -1;  ///< when last; once a round trip

  void on_acknowledged(const Acknowledged& news, core::Tick target, core::Tick round_trip);
  void on_loss(core::Tick now, core::Tick round_trip);
};

/// DCTCP: a window cut by the share of marked packets.
/// Source: Alizadeh et al., "Data Center TCP (DCTCP)", SIGCOMM 2010, with its g = 1/16. Windows
/// begin at the product of bandwidth and delay, not in slow start: connections of training last.
struct Dctcp {
  static constexpr double kGain = 1.0 / 16;

  double window = 1, share = 0;
  double slow_start = 0;  ///< below it the window grows by each acknowledgement
  std::uint32_t acknowledged = 0, marked = 0;  ///< in this window of data
  std::uint32_t window_ends = 0;               ///< number of the packet that ends it
  std::uint32_t cut_until = 0;                 ///< one loss reaction a window of data

  void on_acknowledged(const Acknowledged& news);
  void on_loss(std::uint32_t number, std::uint32_t next);
  /// One packet from now on, and slow start up to half of what the window was (RFC 5681, 3.1).
  void on_timeout(std::uint32_t next);
};

/// RED as DCQCN configures it: none marked below a length, then 0 to `probability`, then all.
struct MarkingLine {
  double from, to, probability;  ///< [ticks], [ticks], [1]

  /// @param begin, end  time that a queue takes to drain
  MarkingLine(core::Seconds begin, core::Seconds end, double at_most)
      : from(core::Clock::step().in_ticks(begin)),
        to(core::Clock::step().in_ticks(end)),
        probability(at_most) {}

  /// Of a packet that finds a queue that takes so long to drain.
  [[nodiscard]] double chance(core::Tick queue) const {
    const auto length = static_cast<double>(queue);
    if (length >= to) {
      return 1;
    }
    return length <= from ? 0 : probability * (length - from) / (to - from);
  }
};

}  // namespace headway::network
