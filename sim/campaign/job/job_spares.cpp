// The nodes of a job: out for repair, a test or for good, and spares in, where a spare may stand.
#include <algorithm>

#include "sim/campaign/job/job_process.h"
#include "sim/core/engine/event.h"

namespace headway::campaign {

using core::Tick;
using failures::Draw;

namespace {

Tick later(Tick now, Tick by) { return by == core::kEndOfTime ? by : now + by; }

}  // namespace

/// Nodes leave the job: the broken ones for repair, the others for a test.
void JobProcess::take_out(core::Context& context, const Eviction& order) {
  const Tick now = context.now();
  for (const std::uint64_t slot : order.slots) {
    const auto broken = std::find(order.broken.begin(), order.broken.end(), slot);
    const bool failed = broken != order.broken.end();
    const failures::Node node = counts_.remove(
        sampler_.lemons() != nullptr ? sampler_.lemons()->remove(slot) : failures::Node{}, slot,
        failed, now);
    const auto home = home_of(slot);
    if (!failed) {
      send_back(context, node, now + ticks_.retest, home);
    } else if (retires(node) || counts_.scored_out(node, now)) {
      ++result_.retired;
      send_back(context, {}, later(now, ticks_.retired_back), home);
    } else {
      const auto number = static_cast<std::uint64_t>(broken - order.broken.begin());
      send_back(context, after_repair(order, number, node),
                shop_.take(now, repair_time(order, number)), home);
    }
  }
  for (const auto& part : slow_.remove_slots(order.slots)) {
    if (log_ != nullptr && !part.blamed) {
      log_->end(part.incident, now);
    }
  }
  if (gaps_.used()) {
    gaps_.forget_gpus(order.slots);
  }
}

Tick JobProcess::repair_time(const Eviction& order, std::uint64_t node) const {
  if (order.replayed && ticks_.recorded[order.strike.event].repair) {
    return *ticks_.recorded[order.strike.event].repair;
  }
  return sampler_.repair(order.strike, node, model_.recovery.repair, model_.recovery.repair_sigma);
}

/// What a repair makes of a node.
failures::Node JobProcess::after_repair(const Eviction& order,
                                        std::uint64_t number,
                                        failures::Node node) const {
  if (node.good()) {
    return node;
  }
  const auto& lemons = sampler_.lemons()->model();
  const auto evicted = static_cast<std::uint32_t>(lemons.evict_after);
  if (evicted > 0 && node.failures >= evicted) {
    return {};
  }
  if (sampler_.draw(order.strike, Draw::cured, number) < lemons.cured) {
    node.lemon = failures::Node::kGood;
  }
  return node;
}

bool JobProcess::retires(failures::Node node) const {
  const auto most = static_cast<std::uint32_t>(model_.recovery.retire_after);
  return most > 0 && node.failures >= most;
}

/// @param well  from when on it is a spare again; `core::kEndOfTime`: never
void JobProcess::send_back(core::Context& context,
                           failures::Node node,
                           Tick well,
                           Spares::Address address) {
  if (well < core::kEndOfTime) {
    ++returning_;
    const std::uint64_t place = away_.put(node);
    context.schedule(well - context.now(), message(Notice::repaired, place, address));
  }
}

void JobProcess::on_repaired(core::Context& context, std::uint64_t place, Spares::Address address) {
  --returning_;
  spares_.add(away_.take(place), address, context.now());
  if (!missing_.empty()) {
    fill_slots(context);
  }
  join_when_ready(context);
}

/// Puts spares into the empty slots; waits for repairs where they do not suffice.
void JobProcess::fill_slots(core::Context& context) {
  std::vector<std::uint64_t> open;
  while (!missing_.empty()) {
    const std::uint64_t slot = missing_.back();
    missing_.pop_back();
    SparePool& pool = pool_for(slot);
    if (pool.ready() > 0) {
      all_warm_ = all_warm_ && pool.warm(context.now()) > 0;
      put_in(context, pool.take(context.now()), slot);
    } else {
      open.push_back(slot);
    }
  }
  missing_.assign(open.rbegin(), open.rend());
  exchange_racks(context);
  if (!missing_.empty() && returning_ == 0 && ticks_.wall == 0) {
    gave_up_ = GaveUp::no_nodes;
    done_ = true;
    return;
  }
  if (missing_.empty()) {
    log_stage(Stage::replace, context.now());
    if (all_warm_) {
      restart_.start = ticks_.in_process_start;
    }
    enter(context, Account::restart, all_warm_ ? ticks_.takeover : ticks_.replacement,
          Notice::replaced);
  } else if (phase_ != Account::wait) {
    log_stage(Stage::wait, context.now());
    close_phase(context.now());
    phase_ = Account::wait;
  }
}

/// Takes its place, in the job.
void JobProcess::put_in(core::Context& context, failures::Node node, std::uint64_t slot) {
  if (sampler_.lemons() != nullptr) {
    sampler_.lemons()->insert(node, slot, running_ ? exposed(context.now()) : exposed_);
  }
  counts_.insert(node, slot);
}

std::uint64_t JobProcess::rack_of(std::uint64_t slot) const {
  return ticks_.places.rack_of(slot, static_cast<std::uint64_t>(model_.recovery.rack_nodes));
}

/// Where a node that leaves this slot is a spare again.
Spares::Address JobProcess::home_of(std::uint64_t slot) const {
  return model_.recovery.rack_spares > 0 ? spares_.address_of(rack_of(slot)) : Spares::kAnywhere;
}

/// The spares that may stand in this slot.
SparePool& JobProcess::pool_for(std::uint64_t slot) {
  return model_.recovery.rack_spares > 0 ? spares_.of(rack_of(slot)) : spares_.anywhere();
}

/// Whether spares are ready for all these slots, each where it may stand.
bool JobProcess::spares_suffice(const std::vector<std::uint64_t>& slots) const {
  if (model_.recovery.rack_spares == 0) {
    return spares_.anywhere().ready() >= slots.size();
  }
  return std::all_of(slots.begin(), slots.end(), [&](std::uint64_t slot) {
    const std::uint64_t rack = rack_of(slot);
    const auto beside = std::count_if(slots.begin(), slots.end(),
                                      [&](std::uint64_t other) { return rack_of(other) == rack; });
    return spares_.of(rack).ready() >= static_cast<std::size_t>(beside);
  });
}

/// Racks that have run out of spares give way to whole ones, as long as there are any.
void JobProcess::exchange_racks(core::Context& context) {
  if (model_.recovery.rack_spares == 0) {
    return;
  }
  const auto most = static_cast<std::uint64_t>(model_.recovery.rack_nodes);
  const auto own = static_cast<std::uint64_t>(model_.recovery.rack_spares);
  for (std::size_t next = 0; next < missing_.size();) {
    const auto slots = ticks_.places.units_of({missing_[next]}, most);
    if (spares_.anywhere().ready() < slots.size() + own) {
      ++next;
      continue;
    }
    exchange_rack(context, slots);
    std::erase_if(missing_, [&](std::uint64_t slot) {
      return std::find(slots.begin(), slots.end(), slot) != slots.end();
    });
  }
}

/// The nodes in `slots`, a rack of the job, go for a test with their spares; another rack comes.
void JobProcess::exchange_rack(core::Context& context, const std::vector<std::uint64_t>& slots) {
  const Tick tested = context.now() + ticks_.retest;
  const std::uint64_t rack = rack_of(slots.front());
  for (const std::uint64_t slot : slots) {
    if (std::find(missing_.begin(), missing_.end(), slot) == missing_.end()) {
      const failures::Node node =
          sampler_.lemons() != nullptr ? sampler_.lemons()->remove(slot) : failures::Node{};
      send_back(context, counts_.remove(node, slot, false), tested, Spares::kAnywhere);
    }
  }
  for (const failures::Node spare : spares_.exchange(rack)) {
    send_back(context, spare, tested, Spares::kAnywhere);
  }
  const auto forget = slow_.remove_slots(slots);
  if (log_ != nullptr) {
    for (const auto& part : forget) {
      if (!part.blamed) {
        log_->end(part.incident, context.now());
      }
    }
  }
  for (const std::uint64_t slot : slots) {
    put_in(context, spares_.anywhere().take(context.now()), slot);
  }
  for (int spare = 0; spare < model_.recovery.rack_spares; ++spare) {
    spares_.add(spares_.anywhere().take(context.now()), spares_.address_of(rack));
  }
}

}  // namespace headway::campaign
