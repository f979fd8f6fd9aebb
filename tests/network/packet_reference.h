// A small packet-level network on the event engine: what the fluid model is measured against.
//
// Store and forward: a link sends whole packets one after the other, first in, first out, and drops
// what comes when its buffer is full. A sender has a window of packets on their way; a receipt
// returns after the route's latency, a loss is noticed after a timeout and the packet sent again.
// `lossless`: full buffers pause the wires before them instead (priority flow control).
// Links and senders are processes; the wires' latency is the engine's lookahead.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <memory>
#include <vector>

#include "sim/core/engine/engine.h"
#include "sim/network/flow/problem.h"

namespace headway::network::reference {

constexpr std::int64_t kPacketBytes = 4096;

struct Wire {
  double bytes_per_s = 50e9;
  core::Tick latency = 1'000'000;               ///< 1 us in ps
  std::int64_t buffer = std::int64_t{1} << 40;  ///< packets
  core::Tick down_from = 0, down_until = 0;     ///< nothing sets out in between
};

struct Stream {
  std::vector<std::uint32_t> path;  ///< wires
  std::int64_t packets = 1;
};

/// Wires and what crosses them, all from tick 0 on.
struct Scene {
  std::vector<Wire> wires;
  std::vector<Stream> streams;
  std::int64_t window = 256;           ///< packets a sender has on their way
  core::Tick timeout = 1'000'000'000;  ///< 1 ms
  bool lossless = false;               ///< buffers pause the wires before them in place of dropping

  [[nodiscard]] core::Tick latency(const Stream& stream) const {
    core::Tick sum = 0;
    for (const std::uint32_t wire : stream.path) {
      sum += wires[wire].latency;
    }
    return sum;
  }
};

struct Ends {
  std::vector<core::Tick> ends;  ///< last byte of each stream
  std::int64_t drops = 0;

  [[nodiscard]] core::Tick last() const { return *std::max_element(ends.begin(), ends.end()); }
};

namespace packet {

enum Kind : std::uint32_t { arrival, receipt, loss, room, sent };

/// Message: `kind`, a = stream << 32 | hop, b = tick of delivery (receipt).
class WireProcess final : public core::Process {
 public:
  WireProcess(const Scene& scene, std::uint32_t index) : scene_(scene), wire_(scene.wires[index]) {
    packet_time_ =
        static_cast<core::Tick>(static_cast<double>(kPacketBytes) / wire_.bytes_per_s * 1e12 + 0.5);
  }
  void start(core::Context& context) override {
    first_wire_ = context.find({"wire", 0}).index();
    first_sender_ = context.find({"sender", 0}).index();
  }
  void handle(core::Context& context, const core::Event& event) override {
    const auto number = static_cast<std::uint32_t>(event.a >> 32);
    const auto hop = static_cast<std::uint32_t>(event.a);
    const Stream& stream = scene_.streams[number];
    const core::ProcessId sender(first_sender_ + number);
    const core::Tick now = context.now();
    if ((free_at_ - now + packet_time_ - 1) / packet_time_ >= wire_.buffer) {
      ++drops;
      context.send(core::ChannelId(1), sender, scene_.timeout, {.kind = loss});
      return;
    }
    core::Tick begin = std::max(now, free_at_);
    begin = begin >= wire_.down_from && begin < wire_.down_until ? wire_.down_until : begin;
    free_at_ = begin + packet_time_;
    const core::Tick there = free_at_ + wire_.latency;
    if (hop + 1 < stream.path.size()) {
      context.send(core::ChannelId(0), core::ProcessId(first_wire_ + stream.path[hop + 1]),
                   there - now, {.kind = arrival, .a = event.a + 1});
    } else {
      context.send(core::ChannelId(1), sender, there - now + scene_.latency(stream),
                   {.kind = receipt, .b = static_cast<std::uint64_t>(there)});
    }
  }

  std::int64_t drops = 0;

 private:
  const Scene& scene_;
  const Wire& wire_;
  core::Tick packet_time_ = 1, free_at_ = 0;
  std::uint32_t first_wire_ = 0, first_sender_ = 0;
};

/// A wire that never drops: it holds a count of free places in each next wire's buffer (a part of
/// it for each wire before it, as priority flow control counts by ingress port) and stands still
/// when the first packet of its queue finds none, whatever waits behind it.
class PausedWire final : public core::Process {
 public:
  PausedWire(const Scene& scene, std::uint32_t index)
      : scene_(scene), wire_(scene.wires[index]), index_(index) {
    packet_time_ =
        static_cast<core::Tick>(static_cast<double>(kPacketBytes) / wire_.bytes_per_s * 1e12 + 0.5);
  }
  void start(core::Context& context) override {
    first_wire_ = context.find({"wire", 0}).index();
    first_sender_ = context.find({"sender", 0}).index();
  }
  void handle(core::Context& context, const core::Event& event) override {
    if (event.kind == room) {
      ++places_.at(static_cast<std::uint32_t>(event.a));
    } else if (event.kind == sent) {
      busy_ = false;
    } else {
      queue_.push_back({event.a, static_cast<std::uint32_t>(event.b)});
    }
    send_first(context);
  }

 private:
  struct Packet {
    std::uint64_t place = 0;   ///< stream << 32 | hop
    std::uint32_t before = 0;  ///< the wire it came over, plus one; 0: its sender
  };

  void send_first(core::Context& context) {
    if (busy_ || queue_.empty()) {
      return;
    }
    const Packet packet = queue_.front();
    const auto number = static_cast<std::uint32_t>(packet.place >> 32);
    const auto hop = static_cast<std::uint32_t>(packet.place);
    const Stream& stream = scene_.streams[number];
    const core::Tick there = packet_time_ + wire_.latency;
    if (hop + 1 < stream.path.size()) {
      const std::uint32_t next = stream.path[hop + 1];
      auto& places = places_.try_emplace(next, scene_.wires[next].buffer).first->second;
      if (places == 0) {
        return;
      }
      --places;
      context.send(core::ChannelId(0), core::ProcessId(first_wire_ + next), there,
                   {.kind = arrival, .a = packet.place + 1, .b = index_ + std::uint64_t{1}});
    } else {
      context.send(core::ChannelId(1), core::ProcessId(first_sender_ + number),
                   there + scene_.latency(stream),
                   {.kind = receipt, .b = static_cast<std::uint64_t>(context.now() + there)});
    }
    if (packet.before > 0) {
      context.send(core::ChannelId(0), core::ProcessId(first_wire_ + packet.before - 1),
                   wire_.latency, {.kind = room, .a = index_});
    }
    queue_.pop_front();
    busy_ = true;
    context.schedule(packet_time_, {.kind = sent});
  }

  const Scene& scene_;
  const Wire& wire_;
  std::uint32_t index_;
  core::Tick packet_time_ = 1;
  bool busy_ = false;
  std::deque<Packet> queue_;
  std::map<std::uint32_t, std::int64_t> places_;  ///< free in the next wires
  std::uint32_t first_wire_ = 0, first_sender_ = 0;
};

class SenderProcess final : public core::Process {
 public:
  SenderProcess(const Scene& scene, std::uint32_t index) : scene_(scene), index_(index) {}
  void start(core::Context& context) override {
    first_wire_ = context.find({"wire", 0}).index();
    left_ = scene_.streams[index_].packets;
    for (std::int64_t i = 0; i < scene_.window && left_ > 0; ++i) {
      send_one(context);
    }
  }
  void handle(core::Context& context, const core::Event& event) override {
    if (event.kind == loss) {
      ++left_;
    } else {
      end = std::max(end, static_cast<core::Tick>(event.b));
    }
    if (left_ > 0) {
      send_one(context);
    }
  }

  core::Tick end = 0;

 private:
  void send_one(core::Context& context) {
    --left_;
    context.send(core::ChannelId(2),
                 core::ProcessId(first_wire_ + scene_.streams[index_].path.front()), 1,
                 {.kind = arrival, .a = std::uint64_t{index_} << 32});
  }

  const Scene& scene_;
  std::uint32_t index_;
  std::uint32_t first_wire_ = 0;
  std::int64_t left_ = 0;
};

}  // namespace packet

inline Ends run_packets(const Scene& scene) {
  std::vector<std::unique_ptr<packet::WireProcess>> wires;
  std::vector<std::unique_ptr<packet::PausedWire>> paused;
  std::vector<std::unique_ptr<packet::SenderProcess>> senders;
  core::Engine engine;
  core::Tick lookahead = std::numeric_limits<core::Tick>::max();
  for (std::uint32_t i = 0; i < scene.wires.size(); ++i) {
    if (scene.lossless) {
      paused.push_back(std::make_unique<packet::PausedWire>(scene, i));
      engine.add({"wire", i}, *paused.back());
    } else {
      wires.push_back(std::make_unique<packet::WireProcess>(scene, i));
      engine.add({"wire", i}, *wires.back());
    }
    lookahead = std::min(lookahead, scene.wires[i].latency);
  }
  for (std::uint32_t i = 0; i < scene.streams.size(); ++i) {
    senders.push_back(std::make_unique<packet::SenderProcess>(scene, i));
    engine.add({"sender", i}, *senders.back());
  }
  engine.connect({"wire"}, {"wire"}, lookahead);
  engine.connect({"wire"}, {"sender"}, lookahead);
  engine.connect({"sender"}, {"wire"}, 1);
  engine.run();
  Ends result;
  for (const auto& sender : senders) {
    result.ends.push_back(sender->end);
  }
  for (const auto& wire : wires) {
    result.drops += wire->drops;
  }
  return result;
}

/// The same as a fluid problem: an actor and a flow for each stream.
inline Problem fluid_problem(const Scene& scene) {
  Problem problem;
  problem.programs = {{{StepCode::arrive}, {StepCode::wait}}};
  for (std::uint32_t l = 0; l < scene.wires.size(); ++l) {
    const Wire& wire = scene.wires[l];
    problem.links.push_back({core::BytesPerSecond(wire.bytes_per_s)});
    if (wire.down_until > wire.down_from) {
      problem.link_changes.push_back({wire.down_from, l, core::BytesPerSecond(0)});
      problem.link_changes.push_back({wire.down_until, l, core::BytesPerSecond(wire.bytes_per_s)});
    }
  }
  for (const Stream& stream : scene.streams) {
    const auto index = static_cast<std::uint32_t>(problem.flows.size());
    Flow flow;
    flow.group = index;
    flow.size = core::Bytes(static_cast<double>(stream.packets * kPacketBytes));
    flow.latency = scene.latency(stream);
    flow.first_use = static_cast<std::uint32_t>(problem.uses.size());
    flow.uses = static_cast<std::uint32_t>(stream.path.size());
    for (const std::uint32_t wire : stream.path) {
      problem.uses.push_back({wire, 1});
    }
    problem.flows.push_back(flow);
    TransferGroup group;
    group.first_flow = index;
    group.flows = 1;
    problem.groups.push_back(group);
    Actor actor;
    actor.groups = {index};
    problem.actors.push_back(actor);
  }
  return problem;
}

inline Ends run_fluid(const Scene& scene) {
  RunOptions options;
  options.fold = false;
  const RunResult result = run(fluid_problem(scene), options);
  return {result.actor_end, 0};
}

}  // namespace headway::network::reference
