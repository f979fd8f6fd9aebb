#include "sim/core/engine/event_queue.h"

#include <gtest/gtest.h>
#include <set>
#include <tuple>
#include <vector>

#include "sim/core/random.h"

namespace headway::core {
namespace {

Event event_at(Tick tick,
               Priority priority = kNormalPriority,
               int source = 0,
               std::uint64_t sequence = 0) {
  Event event;
  event.tick = tick;
  event.order = EventOrder(priority, ProcessId(source), sequence);
  return event;
}

TEST(EventOrder, KeepsItsThreeParts) {
  const EventOrder order(kLastPriority, ProcessId(0xffffff), EventOrder::kMaxSequence);
  EXPECT_EQ(order.priority(), kLastPriority);
  EXPECT_EQ(order.source(), ProcessId(0xffffff));
  EXPECT_EQ(order.sequence(), EventOrder::kMaxSequence);
  EXPECT_EQ(order.word(), ~std::uint64_t{0});
}

TEST(EventOrder, ComparesTickThenPriorityThenSourceThenSequence) {
  EXPECT_TRUE(earlier(event_at(1, 9, 9, 9), event_at(2, 0, 0, 0)));
  EXPECT_TRUE(earlier(event_at(1, 0, 9, 9), event_at(1, 1, 0, 0)));
  EXPECT_TRUE(earlier(event_at(1, 1, 0, 9), event_at(1, 1, 1, 0)));
  EXPECT_TRUE(earlier(event_at(1, 1, 1, 0), event_at(1, 1, 1, 1)));
  EXPECT_FALSE(earlier(event_at(1, 1, 1, 1), event_at(1, 1, 1, 1)));
}

TEST(EventQueue, IsEmptyAtFirst) {
  EventQueue queue;
  EXPECT_TRUE(queue.empty());
  EXPECT_EQ(queue.first_tick(), kEndOfTime);
}

TEST(EventQueue, TakesASuccessorInThePlaceOfWhatWasPopped) {
  EventQueue queue;
  queue.push(event_at(5));
  queue.push(event_at(3));
  EXPECT_EQ(queue.pop().tick, 3);
  EXPECT_EQ(queue.size(), 1U);
  queue.push(event_at(9));
  EXPECT_EQ(queue.first_tick(), 5);
  EXPECT_EQ(queue.pop().tick, 5);
  EXPECT_EQ(queue.pop().tick, 9);
  EXPECT_TRUE(queue.empty());
  EXPECT_EQ(queue.first_tick(), kEndOfTime);
}

TEST(EventQueue, AgreesWithASortedSetOverRandomPushesAndPops) {
  const RandomStream stream(3, "event queue test");
  EventQueue queue;
  std::set<std::tuple<Tick, std::uint64_t>> reference;
  for (std::uint64_t i = 0; i < 200'000; ++i) {
    const RandomBits bits = stream.bits(i);
    // Grows to about 1,000 events, then is drained, again and again.
    const bool push =
        reference.empty() || index_below(bits[0], 1000) < ((i / 2000) % 2 == 0 ? 750U : 250U);
    if (push) {
      const auto tick = static_cast<Tick>(index_below(bits[1], 64));
      const Event event =
          event_at(tick, static_cast<Priority>(bits[1] % 16), static_cast<int>(bits[1] % 7), i);
      queue.push(event);
      reference.insert({tick, event.order.word()});
    } else {
      ASSERT_EQ(queue.first_tick(), std::get<0>(*reference.begin()));
      const Event event = queue.pop();
      ASSERT_EQ(std::make_tuple(event.tick, event.order.word()), *reference.begin());
      reference.erase(reference.begin());
    }
    ASSERT_EQ(queue.size(), reference.size());
  }
}

}  // namespace
}  // namespace headway::core
