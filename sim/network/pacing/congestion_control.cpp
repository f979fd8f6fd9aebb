#include "sim/network/pacing/congestion_control.h"

#include <algorithm>

namespace headway::network {

namespace {

/// x^n by squaring: the same bits on any machine.
double power_of(double x, core::Tick n) {
  double product = 1;
  for (; n > 0; n /= 2, x *= x) {
    product *= n % 2 == 1 ? x : 1;
  }
  return product;
}

}  // namespace

void Dcqcn::cut(core::Tick now) {
  if (last_cut >= 0) {
    estimate *= power_of(1 - kGain, (now - last_cut) / kTimer);
  }
  last_cut = now;
  target = rate;
  rate = std::max(kLeast, rate * (1 - estimate / 2));
  estimate = (1 - kGain) * estimate + kGain;
  timers = 0;
  byte_rounds = 0;
  bytes = 0;
}

void Dcqcn::on_timer() {
  ++timers;
  raise();
}

void Dcqcn::on_sent(std::int64_t sent) {
  bytes += sent;
  if (bytes >= kBytes) {
    bytes -= kBytes;
    ++byte_rounds;
    raise();
  }
}

/// Fast recovery halves the way back to the target; after it the target itself rises.
void Dcqcn::raise() {
  if (std::max(timers, byte_rounds) > kRecovery) {
    target = std::min(1.0, target + kIncrease);
  }
  rate = (rate + target) / 2;
  if (rate > 1 - 1e-9) {
    rate = 1;
    target = 1;
  }
}

void Swift::on_acknowledged(const Acknowledged& news, core::Tick target, core::Tick round_trip) {
  if (news.queueing < target) {
    window += window >= 1 ? kIncrease / window : kIncrease;
    return;
  }
  if (decreased < 0 || news.now - decreased >= round_trip + news.queueing) {
    const double excess = static_cast<double>(news.queueing - target) /
                          static_cast<double>(round_trip + news.queueing);
    window *= std::max(1 - kDecrease * excess, 1 - kMostDecrease);
    window = std::max(window, kLeast);
    decreased = news.now;
  }
}

void Swift::on_loss(core::Tick now, core::Tick round_trip) {
  if (decreased < 0 || now - decreased >= round_trip) {
    window = std::max(kLeast, window * (1 - kMostDecrease));
    decreased = now;
  }
}

void Dctcp::on_acknowledged(const Acknowledged& news) {
  ++acknowledged;
  marked += news.marked ? 1 : 0;
  if (window < slow_start) {
    window = std::min(window + 1, slow_start);
  }
  if (news.number < window_ends) {
    return;
  }
  const double now_marked = static_cast<double>(marked) / static_cast<double>(acknowledged);
  share = (1 - kGain) * share + kGain * now_marked;
  window = marked > 0 ? std::max(1.0, window * (1 - share / 2)) : window + 1;
  acknowledged = 0;
  marked = 0;
  window_ends = news.next;
}

void Dctcp::on_timeout(std::uint32_t next) {
  slow_start = std::max(2.0, window / 2);
  window = 1;
  cut_until = next;
}

void Dctcp::on_loss(std::uint32_t number, std::uint32_t next) {
  if (number >= cut_until) {
    window = std::max(1.0, window / 2);
    cut_until = next;
  }
}

}  // namespace headway::network
