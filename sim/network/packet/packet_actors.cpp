#include "sim/network/packet/packet_actors.h"

#include <algorithm>
#include <iterator>

#include "sim/core/error.h"

namespace headway::network {

PacketActors::PacketActors(const PacketTraffic& traffic, std::uint32_t endpoint)
    : traffic_(traffic), endpoint_(endpoint) {
  for (std::uint32_t a = 0; a < traffic.actors.size(); ++a) {
    const PacketActor& actor = traffic.actors[a];
    if (actor.endpoint != endpoint) {
      continue;
    }
    const auto here = static_cast<std::uint32_t>(running_.size());
    Running running;
    running.actor = a;
    running.done.resize(actor.slots.size());
    running.waited.resize(actor.slots.size());
    running_.push_back(std::move(running));
    std::vector<bool> waits(actor.slots.size());
    for (const ProgramStep& step : traffic.programs[actor.program]) {
      if (step.code == StepCode::wait) {
        waits[step.slot] = true;
      }
    }
    running_.back().awaited.resize(actor.slots.size());
    for (std::uint32_t slot = 0; slot < actor.slots.size(); ++slot) {
      if (waits[slot]) {
        const auto awaited = awaited_of(actor.slots[slot]);
        running_.back().awaited[slot] = awaited.size();
        for (const std::uint32_t flow : awaited) {
          listeners_.push_back({flow, here, slot});
        }
      }
    }
  }
  std::stable_sort(listeners_.begin(), listeners_.end(),
                   [](const Listener& x, const Listener& y) { return x.flow < y.flow; });
}

std::vector<std::uint32_t> PacketActors::awaited_of(const std::vector<std::uint32_t>& flows) const {
  std::vector<std::uint32_t> ending;
  std::copy_if(flows.begin(), flows.end(), std::back_inserter(ending),
               [&](std::uint32_t flow) { return traffic_.flows[flow].to == endpoint_; });
  return ending.empty() ? flows : ending;
}

bool PacketActors::waits_for(std::uint32_t flow) const {
  const auto place =
      std::lower_bound(listeners_.begin(), listeners_.end(), flow,
                       [](const Listener& x, std::uint32_t f) { return x.flow < f; });
  return place != listeners_.end() && place->flow == flow;
}

void PacketActors::message_done(std::uint32_t flow, core::Tick now, ActorRequests& requests) {
  auto place = std::lower_bound(listeners_.begin(), listeners_.end(), flow,
                                [](const Listener& x, std::uint32_t f) { return x.flow < f; });
  for (; place != listeners_.end() && place->flow == flow; ++place) {
    ++running_[place->actor].done[place->slot];
    advance(place->actor, now, requests);
  }
}

void PacketActors::advance(std::uint32_t actor, core::Tick now, ActorRequests& requests) {
  Running& running = running_[actor];
  const Program& program = traffic_.programs[of(running).program];
  while (running.end < 0) {
    if (running.next == program.size()) {
      running.end = now;
      return;
    }
    if (!step(actor, program[running.next], requests)) {
      return;
    }
  }
}

bool PacketActors::step(std::uint32_t actor, const ProgramStep& step, ActorRequests& requests) {
  Running& running = running_[actor];
  switch (step.code) {
    case StepCode::compute:
      ++running.next;
      requests.computes.emplace_back(actor, step.ticks);
      return false;
    case StepCode::arrive:
      for (const std::uint32_t flow : of(running).slots[step.slot]) {
        if (traffic_.flows[flow].from == endpoint_) {
          requests.posts.push_back(flow);
        }
      }
      break;
    case StepCode::wait:
      if (running.done[step.slot] < (running.waited[step.slot] + 1) * running.awaited[step.slot]) {
        return false;
      }
      ++running.waited[step.slot];
      break;
    case StepCode::loop:
      running.loops.push_back({running.next, step.ticks});
      break;
    case StepCode::end_loop:
      if (--running.loops.back().left > 0) {
        running.next = running.loops.back().begin;
      } else {
        running.loops.pop_back();
      }
      break;
  }
  ++running.next;
  return true;
}

core::Tick PacketActors::end() const {
  core::Tick end = 0;
  for (const Running& running : running_) {
    if (running.end < 0) {
      return -1;
    }
    end = std::max(end, running.end);
  }
  return end;
}

std::uint32_t PacketActors::first_unfinished() const {
  for (const Running& running : running_) {
    if (running.end < 0) {
      return running.actor;
    }
  }
  return kNowhere;
}

}  // namespace headway::network
