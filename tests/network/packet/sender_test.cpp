// One sender by itself: what it does with notifications, acknowledgements and grants that come when
// the test says, without a network between.
#include <algorithm>
#include <gtest/gtest.h>
#include <utility>
#include <vector>

#include "sim/core/engine/engine.h"
#include "sim/network/packet/endpoint.h"

#include "tests/network/packet/packet_fixture.h"

namespace headway::network {
namespace {

/// A packet that came to the probe.
struct Came {
  core::Tick at;
  std::uint32_t number;
};

/// In the receiver's place: says what the test wants said, and notes what comes.
class Probe final : public core::Process {
 public:
  struct Say {
    core::Tick at;
    PacketEvent what;
    std::uint64_t a, b;
  };

  void start(core::Context& context) override {
    for (const Say& say : says) {
      context.send(core::ChannelId(0), core::ProcessId(0), say.at,
                   {static_cast<std::uint32_t>(say.what), core::kNormalPriority, say.a, say.b});
    }
  }
  void handle(core::Context& context, const core::Event& event) override {
    if (static_cast<PacketEvent>(event.kind) == PacketEvent::arrive) {
      came.push_back({context.now(), Packet::of(event.a, event.b).number});
    }
  }

  std::vector<Say> says;
  std::vector<Came> came;
};

/// A GPU, a cable of 50 GB/s and 1 us, and the probe.
class SenderAlone {
 public:
  SenderAlone(Transport transport, std::int64_t bytes, std::int64_t payload = 4096) {
    network_.add_device("sender", true);
    network_.add_device("probe", true);
    const std::uint32_t cable = network_.add_cable(0, 1, 50_GBps, 1_us, guard_under(transport));
    network_.find_routes();
    traffic_.add_flow(network_, {{{cable, cable}}}, bytes, payload, 1);
    scene_.transport = transport;
    scene_.payload = payload;
    scene_.may_lose = guard_under(transport) == Guard::none;
    scene_.sender_waits = {false};
    scene_.sender_number = {0};
    scene_.receiver_number = {0};
    scene_.times = {50 * kMicrosecond, 10 * kMicrosecond, 1'000'000 * kMicrosecond};
  }

  void notify(core::Tick at) { probe_.says.push_back({at, PacketEvent::notice, 0, 0}); }
  void acknowledge(core::Tick at, std::uint32_t number) {
    News news;
    news.number = number;
    probe_.says.push_back({at, PacketEvent::news, news.a(), news.b()});
  }

  std::vector<Came> run() {
    Endpoint sender(scene_, 0, {0}, {});
    core::Engine engine;
    engine.add({"device", 0}, sender);
    engine.add({"device", 1}, probe_);
    engine.connect({"device"}, {"device"}, kMicrosecond);
    engine.run();
    return probe_.came;
  }

  PacketSpec spec_;
  PacketTraffic traffic_;

 private:
  PacketNetwork network_;
  PacketScene scene_{network_, traffic_, spec_};
  Probe probe_;
};

/// The packet after the last that came before `at`, beyond it.
core::Tick after(const std::vector<Came>& came, core::Tick at) {
  for (const Came& one : came) {
    if (one.at > at) {
      return one.at - at;
    }
  }
  return core::kEndOfTime;
}

// 33 cuts by half would leave 2^-33 of the line, a gap of 81.92 ns x 2^33 = 704 s. The floor of
// 1/1000 is reached at the tenth: no gap is above 81.92 ns x 1000 = 81.9 us, and six timers after
// the last cut the rate is (1 + 2) / 2 thousandths.
TEST(DcqcnSender, HasALeastRate) {
  SenderAlone alone(Transport::dcqcn, 64LL << 20);
  for (core::Tick cut = 1; cut <= 33; ++cut) {
    alone.notify(cut * 50 * kMicrosecond);
  }
  const auto came = alone.run();
  const core::Tick six_timers = 33 * 50 * kMicrosecond + 6 * Dcqcn::kTimer;
  EXPECT_LT(after(came, six_timers), 1000 * kMicrosecond);
  for (std::size_t i = 1; i < came.size(); ++i) {
    EXPECT_LE(came[i].at - came[i - 1].at, 1000 * kPacketTime) << i;
  }
  EXPECT_EQ(came.size(), (64U << 20U) / 4096);
}

// A gap follows the rate. At the floor a packet of 64 KiB, 1.31 us at the line, is followed 1.31 ms
// later; but from the sixth timer on the rate rises, by j/1000 to within half a step at the
// (5 + j)-th, so that the next packet goes at the first j with 55 us (5 + j) + d > 1.31 ms / j:
// j = 3, hence after eight to nine timers less what the last packet went before the cut.
TEST(DcqcnSender, ItsGapIsThatOfTheRateItHasNow) {
  SenderAlone alone(Transport::dcqcn, 64LL << 20, 65'536);
  for (core::Tick cut = 1; cut <= 10; ++cut) {
    alone.notify(cut * 50 * kMicrosecond);
  }
  const auto came = alone.run();
  // The last packet before the floor went at some time before the last cut; follow the law.
  const core::Tick last_cut = 10 * 50 * kMicrosecond;
  core::Tick sent = 0;
  for (const Came& one : came) {
    const core::Tick set_out = one.at - kMicrosecond - 16 * kPacketTime;
    sent = set_out <= last_cut ? set_out : sent;
  }
  Dcqcn law;
  for (core::Tick cut = 1; cut <= 10; ++cut) {
    law.cut(cut * 50 * kMicrosecond);
  }
  EXPECT_DOUBLE_EQ(law.rate, Dcqcn::kLeast);
  core::Tick timer = last_cut;
  const auto due = [&] {
    return sent + static_cast<core::Tick>(static_cast<double>(16 * kPacketTime) / law.rate);
  };
  while (due() > timer + Dcqcn::kTimer) {
    timer += Dcqcn::kTimer;
    law.on_timer();
  }
  const core::Tick next = std::max(timer, due());
  const core::Tick frozen = sent + 1000 * 16 * kPacketTime;
  EXPECT_LT(next, frozen - 500 * kMicrosecond);
  EXPECT_EQ(after(came, last_cut + kMicrosecond + 16 * kPacketTime) + last_cut, next);
}

// The third packet that overtakes one says that it is lost (RFC 5681, 3.2), and it goes again at
// once: not at the second, and not at the fourth.
TEST(LossySender, RepeatsAtTheThirdPacketThatOvertakes) {
  for (std::uint32_t overtaking = 2; overtaking <= 3; ++overtaking) {
    SenderAlone alone(Transport::dctcp, 8 * 4096);
    for (std::uint32_t n = 1; n <= overtaking; ++n) {
      alone.acknowledge((10 + n) * kMicrosecond, n);
    }
    for (std::uint32_t n = 0; n < 8; ++n) {
      alone.acknowledge(200 * kMicrosecond, n);  // or it would go on for ever
    }
    const auto came = alone.run();
    const auto again = std::count_if(came.begin(), came.end(), [](const Came& one) {
      return one.number == 0 && one.at > 10 * kMicrosecond && one.at < 100 * kMicrosecond;
    });
    EXPECT_EQ(again, overtaking == 3 ? 1 : 0) << overtaking;
  }
}

}  // namespace
}  // namespace headway::network
