#include "sim/study/verdict/shapley.h"

#include "sim/core/error.h"
#include "sim/core/statistics.h"

namespace headway::study {

namespace {

std::size_t members(std::size_t set) {
  std::size_t n = 0;
  for (; set != 0; set &= set - 1) {
    ++n;
  }
  return n;
}

double factorial(std::size_t n) {
  double product = 1;
  for (std::size_t i = 2; i <= n; ++i) {
    product *= static_cast<double>(i);
  }
  return product;
}

}  // namespace

std::vector<LayerContribution> shapley(std::size_t parts,
                                       const std::function<double(std::size_t)>& value) {
  HEADWAY_CHECK(parts <= 20, "{} parts have too many orders", parts);
  const std::size_t sets = std::size_t{1} << parts;
  std::vector<double> values(sets);
  for (std::size_t set = 0; set < sets; ++set) {
    values[set] = value(set);
  }
  std::vector<LayerContribution> contributions(parts);
  for (std::size_t part = 0; part < parts; ++part) {
    const std::size_t bit = std::size_t{1} << part;
    core::Sum sum;
    for (std::size_t set = 0; set < sets; ++set) {
      if ((set & bit) == 0) {
        const double orders = factorial(members(set)) * factorial(parts - members(set) - 1);
        sum.add(orders * (values[set | bit] - values[set]));
      }
    }
    contributions[part] = {sum.value() / factorial(parts), values[bit] - values[0],
                           values[sets - 1] - values[sets - 1 - bit]};
  }
  return contributions;
}

}  // namespace headway::study
