#include "sim/core/engine/engine.h"

#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdexcept>
#include <vector>

#include "sim/core/error.h"

namespace headway::core {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// A process made of two functions, and the list of what it has handled.
class Scripted : public Process {
 public:
  using Handler = std::function<void(Context&, const Event&)>;

  explicit Scripted(std::function<void(Context&)> at_start = {}, Handler on_event = {})
      : at_start_(std::move(at_start)), on_event_(std::move(on_event)) {}

  void start(Context& context) override {
    if (at_start_) {
      at_start_(context);
    }
  }
  void handle(Context& context, const Event& event) override {
    handled.push_back(event);
    if (on_event_) {
      on_event_(context, event);
    }
  }

  std::vector<Event> handled;

 private:
  std::function<void(Context&)> at_start_;
  Handler on_event_;
};

std::vector<std::uint64_t> payloads(const Scripted& process) {
  std::vector<std::uint64_t> result;
  for (const Event& event : process.handled) {
    result.push_back(event.a);
  }
  return result;
}

std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const InternalError& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST(Engine, WithoutProcessesIsFinishedAtOnce) {
  Engine engine;
  const RunSummary summary = engine.run();
  EXPECT_TRUE(summary.finished);
  EXPECT_EQ(summary.events, 0U);
}

TEST(Engine, HandlesEventsInTheOrderOfTickPrioritySourceSequence) {
  Scripted sink;
  const auto sender = [](std::uint64_t first_payload) {
    return [first_payload](Context& c) {
      const ProcessId to = c.find({"sink", 0});
      c.send(ChannelId(0), to, 20, {.a = first_payload});
      c.send(ChannelId(0), to, 10, {.priority = kLastPriority, .a = first_payload + 1});
      c.send(ChannelId(0), to, 10, {.a = first_payload + 2});
      c.send(ChannelId(0), to, 10, {.a = first_payload + 3});
      c.send(ChannelId(0), to, 10, {.priority = 0, .a = first_payload + 4});
    };
  };
  Scripted zero(sender(0));
  Scripted one(sender(10));
  Engine engine;
  engine.connect({"source"}, {"sink"}, 10);
  engine.add({"source", 1}, one);  // constructed first, but second in the description
  engine.add({"source", 0}, zero);
  engine.add({"sink", 0}, sink);
  engine.run();
  EXPECT_THAT(payloads(sink), ElementsAre(4, 14, 2, 3, 12, 13, 1, 11, 0, 10));
  EXPECT_EQ(sink.handled.front().tick, 10);
  EXPECT_EQ(sink.handled.back().tick, 20);
}

TEST(Engine, HandlesADelayOfZeroWithinTheSameTick) {
  Scripted process(
      [](Context& c) {
        c.schedule(5, {.a = 1});
        c.schedule(5, {.a = 2});
        c.schedule(6, {.a = 3});
      },
      [](Context& c, const Event& event) {
        if (event.a == 1) {
          c.schedule(0, {.a = 11});
        }
      });
  Engine engine;
  engine.add({"process", 0}, process);
  engine.run();
  EXPECT_THAT(payloads(process), ElementsAre(1, 2, 11, 3));
}

/// Schedules itself every `period` ticks for ever.
Scripted clockwork(Tick period) {
  return Scripted([period](Context& c) { c.schedule(period, {}); },
                  [period](Context& c, const Event&) { c.schedule(period, {}); });
}

TEST(Engine, StopsBeforeTheTickItIsGivenAndGoesOnFromThere) {
  Scripted stopped = clockwork(10);
  Engine in_two;
  in_two.add({"clockwork", 0}, stopped);
  RunSummary summary = in_two.run(1000);
  EXPECT_EQ(summary.events, 99U);  // 10, 20, ..., 990: the event at 1000 waits
  EXPECT_EQ(summary.end, 990);
  EXPECT_FALSE(summary.finished);
  summary = in_two.run(1001);
  EXPECT_EQ(summary.events, 100U);

  Scripted straight = clockwork(10);
  Engine in_one;
  in_one.add({"clockwork", 0}, straight);
  EXPECT_EQ(in_one.run(1001).event_digest, summary.event_digest);
}

// Whoever waits for a long run can end it.
TEST(Engine, LooksBetweenWindows) {
  int looks = 0;
  const auto run = [&](int most) {
    Scripted left([](Context& c) { c.schedule(1, {}); },
                  [](Context& c, const Event&) { c.schedule(1, {}); });
    Scripted right = left;
    EngineOptions options{.partition_of_process = {0, 1}};
    options.look = [&looks, most] {
      if (++looks == most) {
        throw std::runtime_error("stopped");
      }
    };
    Engine engine(options);
    engine.add({"left", 0}, left);
    engine.add({"right", 0}, right);
    engine.connect({"left"}, {"right"}, 1);
    engine.connect({"right"}, {"left"}, 1);
    return engine.run(1000).events;
  };
  EXPECT_EQ(run(-1), 2 * 999U);
  EXPECT_GT(looks, 10);
  looks = 0;
  EXPECT_THROW(run(3), std::runtime_error);
  EXPECT_EQ(looks, 3);
}

TEST(Engine, TellsProcessesTheirIdsInOrderOfKindAndPosition) {
  std::vector<std::uint32_t> ids;
  Scripted asker([&](Context& c) {
    for (const ProcessName& name : {ProcessName{"a", 0}, {"b", 3}, {"b", 11}, {"c", 1}}) {
      ids.push_back(c.find(name).index());
    }
  });
  Scripted others[3];
  Engine engine;
  engine.add({"c", 1}, others[0]);
  engine.add({"b", 11}, asker);
  engine.add({"a", 0}, others[1]);
  engine.add({"b", 3}, others[2]);
  engine.run();
  EXPECT_THAT(ids, ElementsAre(0, 1, 2, 3));
}

TEST(Engine, NamesProcessesWhosePositionsHaveGaps) {
  Scripted broken([](Context& c) { c.schedule(-1, {}); });
  Scripted fine;
  Engine engine;
  engine.add({"b", 3}, fine);
  engine.add({"b", 11}, broken);
  engine.add({"a", 0}, fine);
  EXPECT_THAT(message_of([&] { engine.run(); }), HasSubstr("b 11 schedules 1 ticks into the past"));
}

TEST(Engine, TakesOneWindowForEachLookahead) {
  // Two clocks in partitions of their own tick at 1, 2, ..., 100. With a latency of 10, the first
  // window is [1, 11), the next [11, 21), ...: ten in all. A latency of 7 needs [1, 8), ..., [99,
  // 106): fifteen.
  for (const auto& [latency, windows] : {std::pair<Tick, std::uint64_t>{10, 10}, {7, 15}}) {
    Scripted left = clockwork(1);
    Scripted right = clockwork(1);
    Engine engine({.processes_per_partition = 1});
    engine.add({"left", 0}, left);
    engine.add({"right", 0}, right);
    engine.connect({"left"}, {"right"}, latency);
    engine.connect({"right", 0}, {"left", 0}, latency);
    EXPECT_EQ(engine.run(101).windows, windows);
  }
}

TEST(Engine, RunsUnconnectedPartitionsInOneWindow) {
  Scripted left = clockwork(1);
  Scripted right = clockwork(1);
  Engine engine({.processes_per_partition = 1});
  engine.add({"left", 0}, left);
  engine.add({"right", 0}, right);
  const RunSummary summary = engine.run(101);
  EXPECT_EQ(summary.windows, 1U);
  EXPECT_EQ(summary.events, 200U);
}

// Two processes answer each other and nothing else is due: what is on its way, to a partition that
// was passed over already, to a later one or to another group, is what the next window begins with.
// 4 between answers, from 1 on: 1, 5, ..., 97.
TEST(Engine, GoesOnWhileOnlyMessagesAreUnderWay) {
  for (const std::vector<std::uint32_t>& places :
       {std::vector<std::uint32_t>{0, 1}, {1, 0}, {0, 100}, {100, 0}}) {
    Scripted first({}, [](Context& c, const Event&) {
      c.send(ChannelId(0), c.find({"second", 0}), 4, {});
    });
    Scripted second([](Context& c) { c.schedule(1, {}); },
                    [](Context& c, const Event&) {
                      c.send(ChannelId(1), c.find({"first", 0}), 4, {});
                    });
    Engine engine({.partition_of_process = places});
    engine.add({"first", 0}, first);
    engine.add({"second", 0}, second);
    engine.connect({"first"}, {"second"}, 4);
    engine.connect({"second"}, {"first"}, 4);
    EXPECT_EQ(engine.run(101).events, 25U) << places[0];
  }
}

TEST(Engine, DeliversAMessageThatIsDueAtTheFirstTickOfTheNextWindow) {
  // The earliest a message can come is exactly the end of the window it was sent in.
  Scripted sink([](Context& c) { c.schedule(1, {}); },
                [](Context& c, const Event& event) {
                  if (event.source() == c.self()) {
                    c.schedule(1, {});
                  }
                });
  Scripted source([](Context& c) { c.schedule(1, {}); },
                  [](Context& c, const Event&) {
                    c.send(ChannelId(0), c.find({"sink", 0}), 4, {.priority = 0, .a = 9});
                    c.schedule(1, {});
                  });
  Engine engine({.processes_per_partition = 1});
  engine.add({"source", 0}, source);
  engine.add({"sink", 0}, sink);
  engine.connect({"source"}, {"sink"}, 4);
  engine.run(9);
  ASSERT_EQ(sink.handled.size(), 8U + 4U);  // its own at 1..8, the source's of 1..4 at 5..8
  for (std::size_t i = 1; i < sink.handled.size(); ++i) {
    EXPECT_TRUE(earlier(sink.handled[i - 1], sink.handled[i]));
  }
}

TEST(Engine, RefusesTheEndOfTime) {
  Scripted process([](Context& c) { c.schedule(kEndOfTime - 5, {}); },
                   [](Context& c, const Event&) { c.schedule(10, {}); });
  Engine engine;
  engine.add({"fabric", 2}, process);
  EXPECT_THAT(
      message_of([&] { engine.run(); }),
      HasSubstr("fabric 2 schedules 10 ticks after tick 9223372036854775802: beyond 2^63 ticks; "
                "use a coarser clock"));
}

TEST(Engine, RefusesThePast) {
  Scripted process([](Context& c) { c.schedule(-3, {}); });
  Engine engine;
  engine.add({"fabric", 0}, process);
  EXPECT_THAT(message_of([&] { engine.run(); }),
              HasSubstr("fabric 0 schedules 3 ticks into the past at tick 0"));
}

TEST(Engine, RefusesAPriorityThatDoesNotExist) {
  Scripted process([](Context& c) { c.schedule(1, {.priority = 16}); });
  Engine engine;
  engine.add({"fabric", 0}, process);
  EXPECT_THAT(message_of([&] { engine.run(); }),
              HasSubstr("fabric 0 sends with a priority above 15"));
}

/// What the engine says when `from` sends to `to` with this delay through a channel a -> b of
/// latency 10.
std::string refusal(const std::string& from, const std::string& to, Tick delay, int channel = 0) {
  const auto send = [&](Context& c) { c.send(ChannelId(channel), c.find({to, 0}), delay, {}); };
  Scripted a(from == "a" ? send : std::function<void(Context&)>{});
  Scripted b(from == "b" ? send : std::function<void(Context&)>{});
  Engine engine;
  engine.add({"a", 0}, a);
  engine.add({"b", 0}, b);
  engine.connect({"a"}, {"b"}, 10);
  return message_of([&] { engine.run(); });
}

TEST(Channels, RefuseWhatWasNotDeclared) {
  EXPECT_THAT(refusal("b", "a", 10), HasSubstr("channel 0 does not lead from b 0 to a 0"));
  EXPECT_THAT(refusal("a", "b", 10, 1), HasSubstr("there is no channel 1"));
  EXPECT_THAT(refusal("a", "c", 10), HasSubstr("there is no process c 0"));
  EXPECT_EQ(refusal("a", "b", 10), "nothing was thrown");
}

TEST(Channels, RefuseADelayBelowTheirLatency) {
  EXPECT_THAT(
      refusal("a", "b", 9),
      HasSubstr("a 0 sends to b 0 with a delay of 9 ticks; the channel's minimum latency is 10"));
}

TEST(Channels, NeedALatencyAndExistingEnds) {
  Scripted a;
  Engine engine;
  engine.add({"a", 0}, a);
  EXPECT_THAT(
      message_of([&] { engine.connect({"a"}, {"a"}, 0); }),
      HasSubstr("the channel from a to a has a minimum latency of 0 ticks; it must be positive"));
  engine.connect({"a"}, {"b", 4}, 1);
  EXPECT_THAT(message_of([&] { engine.run(); }),
              HasSubstr("a channel names processes that were never added: b 4"));
}

TEST(Engine, RefusesTwoProcessesOfOneName) {
  Scripted a;
  Scripted b;
  Engine engine;
  engine.add({"a", 1}, a);
  engine.add({"a", 1}, b);
  EXPECT_THAT(message_of([&] { engine.run(); }), HasSubstr("two processes are named a 1"));
}

TEST(Engine, IsClosedOnceItRuns) {
  Scripted a;
  Engine engine;
  engine.add({"a", 0}, a);
  engine.run();
  EXPECT_THAT(message_of([&] {
                engine.add({"a", 1}, a);
              }),
              HasSubstr("a 1 is added after the run began"));
  EXPECT_THAT(message_of([&] { engine.connect({"a"}, {"a"}, 1); }),
              HasSubstr("added after the run began"));
}

TEST(Engine, PassesOnWhatAProcessThrowsOnAnyNumberOfThreads) {
  for (const int threads : {1, 4}) {
    Scripted fine = clockwork(1);
    Scripted broken([](Context& c) { c.schedule(7, {}); },
                    [](Context&, const Event&) { throw std::runtime_error("spine on fire"); });
    Engine engine({.threads = threads, .processes_per_partition = 1});
    engine.add({"fine", 0}, fine);
    engine.add({"broken", 0}, broken);
    EXPECT_THROW(engine.run(100), std::runtime_error);
  }
}

}  // namespace
}  // namespace headway::core
