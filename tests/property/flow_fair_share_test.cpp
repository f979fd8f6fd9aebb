// The incremental solver beside a filling from scratch, and what max-min sharing promises, on
// random tables.
#include <algorithm>
#include <gtest/gtest.h>
#include <limits>
#include <rapidcheck.h>
#include <span>
#include <vector>

#include "sim/network/flow/fair_share.h"
#include "sim/network/flow/needless_links.h"

namespace headway::network {
namespace {

using Level = FairShare::Level;
__extension__ using Wide = __int128;

std::span<const FlowLoad> loads(const FairShareTables& tables, std::uint32_t flow) {
  return std::span(tables.loads)
      .subspan(tables.first_load[flow], tables.first_load[flow + 1] - tables.first_load[flow]);
}

std::uint32_t flows(const FairShareTables& tables) {
  return static_cast<std::uint32_t>(tables.bound.size());
}

/// Small capacities make many ties and remainders; large ones are as in real use.
Level random_capacity() {
  return *rc::gen::oneOf(rc::gen::inRange(Level{0}, Level{40}),
                         rc::gen::inRange(Level{1}, Level{1} << 60));
}

FairShareTables random_tables() {
  FairShareTables tables;
  const auto links = *rc::gen::inRange(std::uint32_t{1}, std::uint32_t{9});
  for (std::uint32_t link = 0; link < links; ++link) {
    tables.capacity.push_back(random_capacity());
  }
  const auto flows = *rc::gen::inRange(std::uint32_t{1}, std::uint32_t{16});
  for (std::uint32_t flow = 0; flow < flows; ++flow) {
    const std::size_t before = tables.loads.size();
    for (std::uint32_t link = 0; link < links; ++link) {
      if (const auto load = *rc::gen::inRange(0U, 12U); load >= 1 && load <= 4) {
        tables.loads.push_back({link, load});
      }
    }
    tables.first_load.push_back(static_cast<std::uint32_t>(tables.loads.size()));
    const bool bounded = tables.loads.size() == before || *rc::gen::inRange(0, 4) == 0;
    tables.bound.push_back(bounded ? *rc::gen::inRange(Level{1}, Level{60})
                                   : FairShare::kUnbounded);
  }
  return tables;
}

/// The definition, literally: the lowest of all levels
///     floor((capacity - what frozen flows take) / sum of the loads of the others)
/// and of all bounds freezes whom it concerns, all at once, until nobody is left.
std::vector<Level> filled(const FairShareTables& tables, const std::vector<bool>& present) {
  std::vector<Level> left = tables.capacity;
  std::vector<Level> level(flows(tables), -1);
  while (true) {
    std::vector<Level> weight(left.size(), 0);
    Level lowest = std::numeric_limits<Level>::max();
    bool open = false;
    for (std::uint32_t f = 0; f < flows(tables); ++f) {
      if (present[f] && level[f] < 0) {
        open = true;
        lowest = std::min(lowest, tables.bound[f]);
        for (const FlowLoad& use : loads(tables, f)) {
          weight[use.link] += use.load;
        }
      }
    }
    if (!open) {
      return level;
    }
    std::vector<bool> full(left.size());
    for (std::size_t l = 0; l < left.size(); ++l) {
      lowest = weight[l] > 0 ? std::min(lowest, left[l] / weight[l]) : lowest;
    }
    for (std::size_t l = 0; l < left.size(); ++l) {
      full[l] = weight[l] > 0 && left[l] / weight[l] == lowest;
    }
    for (std::uint32_t f = 0; f < flows(tables); ++f) {
      const auto uses = loads(tables, f);
      const bool stopped =
          tables.bound[f] == lowest ||
          std::any_of(uses.begin(), uses.end(), [&](const auto& use) { return full[use.link]; });
      if (present[f] && level[f] < 0 && stopped) {
        level[f] = lowest;
        for (const FlowLoad& use : uses) {
          left[use.link] -= lowest * use.load;
        }
      }
    }
  }
}

/// What is known of one link once the levels are.
struct Load {
  Wide used = 0;      ///< sum of level x load
  Wide weight = 0;    ///< sum of loads
  Level highest = 0;  ///< of its flows
};

std::vector<Load> link_loads(const FairShareTables& tables, const FairShare& solver) {
  std::vector<Load> out(tables.capacity.size());
  for (std::uint32_t f = 0; f < flows(tables); ++f) {
    for (const FlowLoad& use : loads(tables, f)) {
      Load& load = out[use.link];
      load.used += Wide{solver.level(f)} * use.load;
      load.weight += use.load;
      load.highest = std::max(load.highest, solver.level(f));
    }
  }
  return out;
}

/// All flows take part, each in the seat of its number.
FairShare solved(const FairShareTables& tables) {
  FairShare solver(tables);
  for (std::uint32_t f = 0; f < flows(tables); ++f) {
    RC_ASSERT(solver.add(f) == f);
  }
  solver.solve();
  return solver;
}

TEST(MaxMinProperty, NeverExceedsACapacityOrABound) {
  EXPECT_TRUE(rc::check([] {
    const FairShareTables tables = random_tables();
    const FairShare solver = solved(tables);
    const std::vector<Load> links = link_loads(tables, solver);
    for (std::size_t l = 0; l < links.size(); ++l) {
      RC_ASSERT(links[l].used <= Wide{tables.capacity[l]});
    }
    for (std::uint32_t f = 0; f < flows(tables); ++f) {
      RC_ASSERT(solver.level(f) >= 0 && solver.level(f) <= tables.bound[f]);
    }
  }));
}

// The defining property: each flow is at its bound, or has a link that is full (but for less than
// its total load) and on which no flow stands at a higher level.
TEST(MaxMinProperty, JustifiesEveryLevelByABottleneck) {
  EXPECT_TRUE(rc::check([] {
    const FairShareTables tables = random_tables();
    const FairShare solver = solved(tables);
    const std::vector<Load> links = link_loads(tables, solver);
    for (std::uint32_t f = 0; f < flows(tables); ++f) {
      bool justified = solver.level(f) == tables.bound[f];
      for (const FlowLoad& use : loads(tables, f)) {
        const Load& load = links[use.link];
        const bool full = Wide{tables.capacity[use.link]} - load.used < load.weight;
        justified = justified || (full && solver.level(f) == load.highest);
      }
      RC_ASSERT(justified);
    }
  }));
}

// Flows come and go and links change, some between two solves: after each solve the levels are
// those of a filling from scratch, to the bit.
TEST(MaxMinProperty, IsAFillingFromScratchWhateverCameBefore) {
  EXPECT_TRUE(rc::check([] {
    FairShareTables tables = random_tables();
    std::vector<bool> changing(tables.capacity.size());
    for (std::size_t l = 0; l < changing.size(); ++l) {
      changing[l] = *rc::gen::inRange(0, 3) == 0;
    }
    // With the bounds that links are, most links are slack most of the time.
    const bool reduced = *rc::gen::inRange(0, 2) == 0;
    FairShare solver(reduced ? without_needless_links(tables, changing) : tables);
    std::vector<bool> present(flows(tables), false);
    std::vector<std::uint32_t> seat(flows(tables), 0);
    const int solves = *rc::gen::inRange(1, 8);
    for (int i = 0; i < solves; ++i) {
      for (std::uint32_t f = 0; f < flows(tables); ++f) {
        if (*rc::gen::inRange(0, 3) == 0) {
          if (present[f]) {
            solver.remove(seat[f]);
          } else {
            seat[f] = solver.add(f);
          }
          present[f] = !present[f];
        }
      }
      if (*rc::gen::inRange(0, 3) == 0) {
        const auto link = *rc::gen::inRange(std::size_t{0}, tables.capacity.size());
        if (!reduced || changing[link]) {
          tables.capacity[link] = random_capacity();
          solver.set_capacity(static_cast<std::uint32_t>(link), tables.capacity[link]);
        }
      }
      solver.solve();
      const std::vector<Level> wanted = filled(tables, present);
      RC_ASSERT(solver.active() ==
                static_cast<std::size_t>(std::count(present.begin(), present.end(), true)));
      for (std::uint32_t f = 0; f < flows(tables); ++f) {
        RC_ASSERT(!present[f] || (solver.taken(seat[f]) && solver.level(seat[f]) == wanted[f]));
      }
    }
  }));
}

/// A link more, for the flows of another one or some of them, its loads and capacity up to three
/// times as large or a little off: what decides whether the two are needless beside each other.
void add_similar_link(FairShareTables& tables) {
  const auto like =
      *rc::gen::inRange(std::uint32_t{0}, static_cast<std::uint32_t>(tables.capacity.size()));
  const auto link = static_cast<std::uint32_t>(tables.capacity.size());
  const auto times = *rc::gen::inRange(std::uint32_t{1}, std::uint32_t{4});
  const bool some = *rc::gen::inRange(0, 2) == 0;
  FairShareTables out;
  for (std::uint32_t f = 0; f < flows(tables); ++f) {
    for (const FlowLoad& use : loads(tables, f)) {
      out.loads.push_back(use);
      if (use.link == like && (!some || *rc::gen::inRange(0, 3) > 0)) {
        const auto more = *rc::gen::inRange(std::uint32_t{0}, std::uint32_t{8}) == 0 ? 1U : 0U;
        out.loads.push_back({link, use.load * times + more});
      }
    }
    out.first_load.push_back(static_cast<std::uint32_t>(out.loads.size()));
  }
  const Level off = *rc::gen::inRange(Level{-2}, Level{3});
  out.capacity = tables.capacity;
  // Three times a capacity that is all but unlimited is no number.
  const Level base = std::min(tables.capacity[like], std::numeric_limits<Level>::max() / 4);
  out.capacity.push_back(std::max(Level{0}, base * times + off));
  out.bound = tables.bound;
  tables = out;
}

// Whichever flows are active, and whatever the links become that may change.
TEST(NeedlessLinksProperty, LevelsAreThoseWithAllLinks) {
  EXPECT_TRUE(rc::check([] {
    FairShareTables tables = random_tables();
    for (int more = *rc::gen::inRange(0, 5); more > 0; --more) {
      add_similar_link(tables);
    }
    std::vector<bool> changing(tables.capacity.size());
    for (std::size_t l = 0; l < changing.size(); ++l) {
      changing[l] = *rc::gen::inRange(0, 6) == 0;
    }
    FairShareTables fewer = without_needless_links(tables, changing);
    RC_ASSERT(fewer.loads.size() <= tables.loads.size());
    for (int i = 0; i < 4; ++i) {
      for (std::size_t l = 0; l < changing.size(); ++l) {
        if (changing[l] && *rc::gen::inRange(0, 2) == 0) {
          tables.capacity[l] = random_capacity();
          fewer.capacity[l] = tables.capacity[l];
        }
      }
      std::vector<bool> present(flows(tables));
      for (std::uint32_t f = 0; f < flows(tables); ++f) {
        present[f] = *rc::gen::inRange(0, 3) > 0;
      }
      RC_ASSERT(filled(fewer, present) == filled(tables, present));
    }
  }));
}

// Four flows of a node's four cards (100 each) share a pool of 400 and then a spine of 300: a card
// with one flow is that flow's bound, the pool fits all four bounds, and only the spine is left.
TEST(NeedlessLinks, OneUserIsABoundAndAPoolThatFitsItsBoundsGoes) {
  FairShareTables tables;
  tables.capacity = {100, 100, 100, 100, 400, 300};
  for (std::uint32_t f = 0; f < 4; ++f) {
    tables.loads.insert(tables.loads.end(), {{f, 1}, {4, 1}, {5, 1}});
    tables.first_load.push_back(3 * f + 3);
    tables.bound.push_back(FairShare::kUnbounded);
  }
  const auto few = without_needless_links(tables, std::vector<bool>(6));
  EXPECT_EQ(few.bound, (std::vector<Level>{100, 100, 100, 100}));
  ASSERT_EQ(few.loads.size(), 4U);
  for (const FlowLoad& use : few.loads) {
    EXPECT_EQ(use.link, 5U);
  }
  std::vector<bool> spine_may_change(6);
  spine_may_change[4] = true;  // the pool: it stays, whatever it is now
  EXPECT_EQ(without_needless_links(tables, spine_may_change).loads.size(), 8U);
}

// Bounds 1 and 2 on a link of 3: floor(3 / 2) = 1 stops both at 1, so the link is not needless
// although its bounds add up to no more than it has. With 5 = (1 + 1) + (2 + 1) it is.
TEST(NeedlessLinks, UnequalBoundsNeedRoomToSpare) {
  FairShareTables tables;
  tables.capacity = {3};
  tables.loads = {{0, 1}, {0, 1}};
  tables.first_load = {0, 1, 2};
  tables.bound = {1, 2};
  EXPECT_EQ(without_needless_links(tables, {false}).loads.size(), 2U);
  EXPECT_EQ(filled(tables, {true, true}), (std::vector<Level>{1, 1}));
  tables.capacity = {5};
  EXPECT_TRUE(without_needless_links(tables, {false}).loads.empty());
}

// `copies` equal flows, or one whose loads are `copies` times as large: folding rests on this.
TEST(MaxMinProperty, IsTheSameFoldedAndUnfolded) {
  EXPECT_TRUE(rc::check([] {
    const FairShareTables tables = random_tables();
    FairShareTables folded = tables;
    FairShareTables unfolded;
    unfolded.capacity = tables.capacity;
    std::vector<std::uint32_t> first_copy;
    for (std::uint32_t f = 0; f < flows(tables); ++f) {
      const auto copies = *rc::gen::inRange(1U, 5U);
      first_copy.push_back(flows(unfolded));
      for (std::uint32_t copy = 0; copy < copies; ++copy) {
        const auto uses = loads(tables, f);
        unfolded.loads.insert(unfolded.loads.end(), uses.begin(), uses.end());
        unfolded.first_load.push_back(static_cast<std::uint32_t>(unfolded.loads.size()));
        unfolded.bound.push_back(tables.bound[f]);
      }
      for (std::uint32_t u = tables.first_load[f]; u < tables.first_load[f + 1]; ++u) {
        folded.loads[u].load *= copies;
      }
    }
    const FairShare few = solved(folded);
    const FairShare many = solved(unfolded);
    for (std::uint32_t f = 0; f < flows(tables); ++f) {
      RC_ASSERT(few.level(f) == many.level(first_copy[f]));
    }
  }));
}

}  // namespace
}  // namespace headway::network
