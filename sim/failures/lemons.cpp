#include "sim/failures/lemons.h"

#include <algorithm>

#include "sim/core/engine/event.h"
#include "sim/core/error.h"
#include "sim/core/math.h"

namespace headway::failures {

using core::Tick;

namespace {

enum class LemonDraw : std::uint32_t { place, strike };

/// log(1 - share), also of shares that are lost beside one.
double log_of_good(double share) {
  if (share >= 1) {
    return -core::kInfinity;
  }
  constexpr double kSmall = 1e-6;  // Source: share^2 / 3, the next term, is less than 2^-53 / share
  return share < kSmall ? -share * (1 + share / 2) : core::portable_log(1 - share);
}

}  // namespace

LemonNodes::LemonNodes(const LemonModel& model, core::RandomStream stream, core::Clock clock)
    : model_(model), stream_(stream), clock_(clock) {
  if (model.share <= 0) {
    return;
  }
  // Gaps between lemons along the row of nodes are geometric: one draw a lemon, not one a node.
  const auto row = static_cast<double>(model.nodes + model.spares);
  const double log_good = log_of_good(model.share);
  double place = -1;
  for (std::uint64_t event = 0;; ++event) {
    const double u = stream.uniform(event, static_cast<std::uint32_t>(LemonDraw::place));
    const double skipped = core::portable_log(u) / log_good;
    place += 1 + static_cast<double>(static_cast<std::int64_t>(std::min(skipped, row)));
    if (place >= row) {
      break;
    }
    Lemon lemon;
    lemon.slot = static_cast<std::uint64_t>(place);
    lemon.in_job = lemon.slot < static_cast<std::uint64_t>(model.nodes);
    lemons_.push_back(lemon);
    if (lemon.in_job) {
      draw_strike(static_cast<std::uint32_t>(lemons_.size() - 1), 0);
    }
  }
}

void LemonNodes::draw_strike(std::uint32_t lemon, Tick exposed) {
  Lemon& it = lemons_[lemon];
  const double u =
      stream_.part(lemon).uniform(it.draws++, static_cast<std::uint32_t>(LemonDraw::strike));
  const double wait = core::exponential_from(u, 1 / model_.extra_rate.si());
  constexpr double kReach = 4e18;  // Source: below 2^63 ticks
  it.strike = wait * clock_.ticks_per_second() < kReach
                  ? exposed + clock_.to_ticks(core::Seconds(wait))
                  : core::kEndOfTime;
}

/// Of the lemons in the job the one that strikes first; `Node::kGood` if none is there.
std::uint32_t LemonNodes::earliest() const {
  std::uint32_t first = Node::kGood;
  for (std::uint32_t i = 0; i < lemons_.size(); ++i) {
    const Lemon& lemon = lemons_[i];
    if (lemon.in_job && (first == Node::kGood || lemon.strike < lemons_[first].strike)) {
      first = i;
    }
  }
  return first;
}

Tick LemonNodes::next() const {
  const std::uint32_t first = earliest();
  return first == Node::kGood ? core::kEndOfTime : lemons_[first].strike;
}

std::uint64_t LemonNodes::next_slot() const {
  const std::uint32_t first = earliest();
  HEADWAY_CHECK(first != Node::kGood, "no lemon is in the job");
  return lemons_[first].slot;
}

void LemonNodes::take() {
  const std::uint32_t first = earliest();
  HEADWAY_CHECK(first != Node::kGood, "no lemon is in the job");
  draw_strike(first, lemons_[first].strike);
}

Node LemonNodes::remove(std::uint64_t slot) {
  for (std::uint32_t i = 0; i < lemons_.size(); ++i) {
    Lemon& lemon = lemons_[i];
    if (lemon.in_job && lemon.slot == slot) {
      lemon.in_job = false;
      return Node{i};
    }
  }
  return Node{};
}

void LemonNodes::insert(Node node, std::uint64_t slot, Tick exposed) {
  if (node.good()) {
    return;
  }
  lemons_[node.lemon].slot = slot;
  lemons_[node.lemon].in_job = true;
  draw_strike(node.lemon, exposed);
}

Node LemonNodes::initial_spare(std::uint64_t index) const {
  // INVARIANT: lemons lie in the order of their places until one of them moves.
  const std::uint64_t place = static_cast<std::uint64_t>(model_.nodes) + index;
  const auto at =
      std::lower_bound(lemons_.begin(), lemons_.end(), place,
                       [](const Lemon& l, std::uint64_t slot) { return l.slot < slot; });
  return at != lemons_.end() && at->slot == place
             ? Node{static_cast<std::uint32_t>(at - lemons_.begin())}
             : Node{};
}

}  // namespace headway::failures
