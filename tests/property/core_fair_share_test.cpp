// What max-min sharing promises, on random problems.
#include <algorithm>
#include <gtest/gtest.h>
#include <numeric>
#include <rapidcheck.h>
#include <vector>

#include "sim/core/fair_share.h"

namespace headway::core {
namespace {

/// Uses of one variable: a few constraints, each once.
std::vector<SharedUse> random_uses(std::uint32_t constraints) {
  std::vector<SharedUse> uses;
  for (std::uint32_t constraint = 0; constraint < constraints; ++constraint) {
    if (const auto coefficient = *rc::gen::inRange(0U, 8U); coefficient >= 1 && coefficient <= 3) {
      uses.push_back({constraint, coefficient});
    }
  }
  return uses;
}

ShareProblem random_problem() {
  ShareProblem problem;
  const auto constraints = *rc::gen::inRange(std::uint32_t{1}, std::uint32_t{9});
  for (std::uint32_t c = 0; c < constraints; ++c) {
    // Small capacities make many ties and remainders; large ones are as in real use.
    problem.capacity.push_back(*rc::gen::oneOf(rc::gen::inRange(Rate{0}, Rate{40}),
                                               rc::gen::inRange(Rate{1}, Rate{1} << 60)));
  }
  const auto variables = *rc::gen::inRange(std::uint32_t{1}, std::uint32_t{16});
  for (std::uint32_t v = 0; v < variables; ++v) {
    const std::vector<SharedUse> uses = random_uses(constraints);
    ShareVariable variable;
    variable.weight = *rc::gen::inRange(1U, 5U);
    variable.bound =
        uses.empty() || *rc::gen::inRange(0, 4) == 0 ? *rc::gen::inRange(Rate{1}, Rate{60}) : 0;
    variable.first_use = static_cast<std::uint32_t>(problem.uses.size());
    variable.uses = static_cast<std::uint32_t>(uses.size());
    problem.uses.insert(problem.uses.end(), uses.begin(), uses.end());
    problem.variables.push_back(variable);
  }
  return problem;
}

__extension__ using Wide = __int128;

/// What is known of one constraint once the rates are.
struct Load {
  Wide used = 0;     ///< sum of rate x coefficient
  Wide weight = 0;   ///< sum of weight x coefficient
  Rate highest = 0;  ///< of rate / weight among its variables
};

template <class Visit>
void for_uses(const ShareProblem& problem, std::size_t variable, Visit visit) {
  const ShareVariable& v = problem.variables[variable];
  for (std::uint32_t u = v.first_use; u < v.first_use + v.uses; ++u) {
    visit(problem.uses[u]);
  }
}

std::vector<Load> loads_of(const ShareProblem& problem, const std::vector<Rate>& rates) {
  std::vector<Load> loads(problem.capacity.size());
  for (std::size_t v = 0; v < rates.size(); ++v) {
    const auto weight = static_cast<Rate>(problem.variables[v].weight);
    for_uses(problem, v, [&](const SharedUse& use) {
      Load& load = loads[use.constraint];
      load.used += Wide{rates[v]} * use.coefficient;
      load.weight += Wide{weight} * use.coefficient;
      load.highest = std::max(load.highest, rates[v] / weight);
    });
  }
  return loads;
}

TEST(FairShareProperty, NeverExceedsACapacityOrABound) {
  EXPECT_TRUE(rc::check([] {
    const ShareProblem problem = random_problem();
    const std::vector<Rate> rates = max_min_rates(problem);
    const std::vector<Load> loads = loads_of(problem, rates);
    for (std::size_t c = 0; c < loads.size(); ++c) {
      RC_ASSERT(loads[c].used <= Wide{problem.capacity[c]});
    }
    for (std::size_t v = 0; v < rates.size(); ++v) {
      RC_ASSERT(rates[v] >= 0);
      RC_ASSERT(problem.variables[v].bound == 0 || rates[v] <= problem.variables[v].bound);
    }
  }));
}

// The defining property: each variable is at its bound, or has a constraint that is full (but for
// less than its total weight) and on which no variable stands at a higher level.
TEST(FairShareProperty, JustifiesEveryRateByABottleneck) {
  EXPECT_TRUE(rc::check([] {
    const ShareProblem problem = random_problem();
    const std::vector<Rate> rates = max_min_rates(problem);
    const std::vector<Load> loads = loads_of(problem, rates);
    for (std::size_t v = 0; v < rates.size(); ++v) {
      const auto weight = static_cast<Rate>(problem.variables[v].weight);
      const Rate bound = problem.variables[v].bound;
      bool justified = bound > 0 && bound - rates[v] < weight;
      for_uses(problem, v, [&](const SharedUse& use) {
        const Load& load = loads[use.constraint];
        const bool full = Wide{problem.capacity[use.constraint]} - load.used < load.weight;
        justified = justified || (full && rates[v] / weight == load.highest);
      });
      RC_ASSERT(justified);
    }
  }));
}

/// `problem` with its variables, constraints and uses in another order; `place[v]` is where
/// variable v went.
ShareProblem shuffled(const ShareProblem& problem, std::vector<std::size_t>& place) {
  const auto permutation = [](std::size_t n) {
    std::vector<std::size_t> order(n);
    std::iota(order.begin(), order.end(), std::size_t{0});
    for (std::size_t i = n; i > 1; --i) {
      std::swap(order[i - 1], order[*rc::gen::inRange(std::size_t{0}, i)]);
    }
    return order;
  };
  const std::vector<std::size_t> constraint_place = permutation(problem.capacity.size());
  const std::vector<std::size_t> order = permutation(problem.variables.size());
  ShareProblem result;
  result.capacity.resize(problem.capacity.size());
  for (std::size_t c = 0; c < problem.capacity.size(); ++c) {
    result.capacity[constraint_place[c]] = problem.capacity[c];
  }
  place.resize(order.size());
  for (const std::size_t v : order) {
    place[v] = result.variables.size();
    ShareVariable variable = problem.variables[v];
    variable.first_use = static_cast<std::uint32_t>(result.uses.size());
    for_uses(problem, v, [&](const SharedUse& use) {
      result.uses.push_back(
          {static_cast<std::uint32_t>(constraint_place[use.constraint]), use.coefficient});
    });
    std::reverse(result.uses.begin() + variable.first_use, result.uses.end());
    result.variables.push_back(variable);
  }
  return result;
}

TEST(FairShareProperty, DependsOnNoOrderToTheBit) {
  EXPECT_TRUE(rc::check([] {
    const ShareProblem problem = random_problem();
    std::vector<std::size_t> place;
    const std::vector<Rate> other = max_min_rates(shuffled(problem, place));
    const std::vector<Rate> rates = max_min_rates(problem);
    for (std::size_t v = 0; v < rates.size(); ++v) {
      RC_ASSERT(rates[v] == other[place[v]]);
    }
  }));
}

// `copies` equal variables, or one whose coefficients are `copies` times as large: folding gives
// the same bits.
TEST(FairShareProperty, IsTheSameFoldedAndUnfolded) {
  EXPECT_TRUE(rc::check([] {
    const ShareProblem problem = random_problem();
    ShareProblem folded = problem;
    ShareProblem unfolded;
    unfolded.capacity = problem.capacity;
    std::vector<std::size_t> first_copy;
    for (std::size_t v = 0; v < problem.variables.size(); ++v) {
      const auto copies = *rc::gen::inRange(1U, 5U);
      first_copy.push_back(unfolded.variables.size());
      for (std::uint32_t copy = 0; copy < copies; ++copy) {
        ShareVariable variable = problem.variables[v];
        variable.first_use = static_cast<std::uint32_t>(unfolded.uses.size());
        for_uses(problem, v, [&](const SharedUse& use) { unfolded.uses.push_back(use); });
        unfolded.variables.push_back(variable);
      }
      const ShareVariable& original = problem.variables[v];
      for (std::uint32_t u = original.first_use; u < original.first_use + original.uses; ++u) {
        folded.uses[u].coefficient *= copies;
      }
    }
    const std::vector<Rate> few = max_min_rates(folded);
    const std::vector<Rate> many = max_min_rates(unfolded);
    for (std::size_t v = 0; v < few.size(); ++v) {
      RC_ASSERT(few[v] == many[first_copy[v]]);
    }
  }));
}

}  // namespace
}  // namespace headway::core
