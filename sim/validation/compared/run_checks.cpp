#include "sim/validation/compared/run_checks.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>

#include "sim/core/error.h"
#include "sim/core/statistics.h"

namespace headway::validation {

namespace {

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return core::quantile_of_sorted(values, 0.5);
}

std::string layout_family(const RunPrediction& row) {
  return row.source + "|" + row.model + "|" + row.gpu + "|" + std::to_string(row.gpus) + "|" +
         row.precision;
}

}  // namespace

RepeatNoise repeat_noise(const std::vector<RunPrediction>& rows) {
  std::map<std::string, std::vector<const RunPrediction*>> groups;
  for (const auto& row : rows) {
    if (row.error) {
      groups[fmt::format("{}|{:.9g}", layout_family(row), *row.predicted)].push_back(&row);
    }
  }
  RepeatNoise noise;
  double sum = 0;
  for (const auto& [key, group] : groups) {
    if (group.size() < 2) {
      continue;
    }
    std::vector<double> measured;
    for (const RunPrediction* row : group) {
      measured.push_back(row->measured);
    }
    const double middle = median(measured);
    for (const double value : measured) {
      sum += std::abs(value / middle - 1);
    }
    ++noise.groups;
    noise.rows += group.size();
  }
  noise.mean_deviation = noise.rows > 0 ? sum / static_cast<double>(noise.rows) : 0;
  return noise;
}

LayoutOrdering layout_ordering(const std::vector<RunPrediction>& rows) {
  constexpr double kDiffer = 1.10;
  std::map<std::string, std::vector<const RunPrediction*>> families;
  for (const auto& row : rows) {
    if (row.error) {
      families[layout_family(row)].push_back(&row);
    }
  }
  LayoutOrdering ordering;
  std::size_t right = 0;
  for (const auto& [name, family] : families) {
    for (std::size_t i = 0; i < family.size(); ++i) {
      for (std::size_t k = i + 1; k < family.size(); ++k) {
        const auto& [slow, fast] =
            std::minmax(*family[i], *family[k],
                        [](const auto& a, const auto& b) { return a.measured < b.measured; });
        if (fast.measured > slow.measured * kDiffer && *fast.predicted != *slow.predicted) {
          ++ordering.pairs;
          right += *fast.predicted > *slow.predicted ? 1 : 0;
        }
      }
    }
  }
  ordering.right =
      ordering.pairs > 0 ? static_cast<double>(right) / static_cast<double>(ordering.pairs) : 0;
  return ordering;
}

namespace {

using Group = std::vector<const RunPrediction*>;

/// Those that `headway plan` would name: layouts without room in memory only where all are.
Group offered(const Group& group) {
  Group named;
  std::copy_if(group.begin(), group.end(), std::back_inserter(named),
               [](const RunPrediction* row) { return row->offered; });
  return named.empty() ? group : named;
}

/// Measured speed of the layout that is predicted fastest of those that are offered, of the best
/// that was measured; repeats of it by their mean. Nothing where all are predicted alike.
std::optional<double> share_of_best(const Group& group) {
  const Group named = offered(group);
  const auto slower = [](const auto* a, const auto* b) { return *a->predicted < *b->predicted; };
  const auto least = std::min_element(group.begin(), group.end(), slower);
  const auto most = std::max_element(named.begin(), named.end(), slower);
  constexpr double kEqual = 1e-9;
  const double top = *(*most)->predicted * (1 - kEqual);
  if (*(*least)->predicted >= top) {
    return std::nullopt;
  }
  double best = 0, sum = 0, count = 0;
  for (const RunPrediction* row : group) {
    best = std::max(best, row->measured);
  }
  for (const RunPrediction* row : named) {
    sum += *row->predicted >= top ? row->measured : 0;
    count += *row->predicted >= top ? 1 : 0;
  }
  return sum / count / best;
}

}  // namespace

LayoutChoice layout_choice(const std::vector<RunPrediction>& rows) {
  std::map<std::string, Group> groups;
  for (const auto& row : rows) {
    if (row.error) {
      groups[fmt::format("{}|{}", layout_family(row), row.sequence_length)].push_back(&row);
    }
  }
  LayoutChoice choice;
  for (const auto& [name, group] : groups) {
    if (const auto share = share_of_best(group)) {
      ++choice.groups;
      choice.mean_regret += 1 - *share;
      choice.worst_regret = std::max(choice.worst_regret, 1 - *share);
    }
  }
  choice.mean_regret /= static_cast<double>(std::max<std::size_t>(1, choice.groups));
  return choice;
}

std::vector<SourceLayouts> layouts_by_source(const std::vector<RunPrediction>& rows) {
  std::map<std::string, std::vector<RunPrediction>> sources;
  for (const auto& row : rows) {
    sources[row.source].push_back(row);
  }
  std::vector<SourceLayouts> layouts;
  const auto add = [&layouts](const std::string& name, bool consistent,
                              const std::vector<RunPrediction>& part) {
    const auto choice = layout_choice(part);
    if (choice.groups > 0) {
      layouts.push_back({name, consistent, layout_ordering(part), choice});
    }
  };
  for (const auto& [source, part] : sources) {
    add(source, false, part);
    const auto contradicts = [](const RunPrediction& row) {
      return row.status_class == "ok-contradictory";
    };
    std::vector<RunPrediction> rest;
    std::remove_copy_if(part.begin(), part.end(), std::back_inserter(rest), contradicts);
    if (rest.size() < part.size()) {
      add(source, true, rest);
    }
  }
  const auto of_all_rows = [](const SourceLayouts& one) { return !one.consistent; };
  if (std::count_if(layouts.begin(), layouts.end(), of_all_rows) > 1) {
    layouts.push_back({"all", false, layout_ordering(rows), layout_choice(rows)});
  }
  return layouts;
}

Anchor anchor_runs(const import::CsvTable& table,
                   const Catalogue& catalogue,
                   const std::string& id) {
  const auto index = row_of(table, id);
  const RowScenario anchor_row = row_scenario(table, index, catalogue);
  if (!anchor_row.scenario) {
    throw core::Error(fmt::format("row {} cannot be an anchor: {}", id, anchor_row.skipped));
  }
  const std::string framework = anchor_row.scenario->training.framework.name;
  const auto like_anchor = [&](std::size_t row) {
    const RowScenario built = row_scenario(table, row, catalogue);
    return built.scenario && built.scenario->training.framework.name == framework &&
           built.scenario->cluster.node.gpu.name == anchor_row.scenario->cluster.node.gpu.name &&
           built.scenario->training.precision == anchor_row.scenario->training.precision;
  };
  std::vector<std::size_t> alike;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    if (like_anchor(row)) {
      alike.push_back(row);
    }
  }
  const auto scaled = [&](double factor) {
    Catalogue changed = catalogue;
    for (auto& [name, spec] : changed.frameworks) {
      spec.gemm_share *= spec.name == framework ? factor : 1;
    }
    return changed;
  };
  Anchor anchor;
  anchor.id = id;
  anchor.before = predict_runs(table, catalogue, alike);
  // Slower products make a slower step, so bisection in the logarithm of the factor finds it.
  double low = 0.2;
  double high = 5;
  constexpr double kClose = 0.001;
  for (int i = 0; i < 30; ++i) {
    anchor.gemm_factor = std::sqrt(low * high);
    const RunPrediction tried =
        predict_runs(table, scaled(anchor.gemm_factor), {index}, OpenFlags::one_way).front();
    if (!tried.error) {
      throw core::Error(fmt::format("row {} cannot be an anchor: {}", id, tried.status));
    }
    if (std::abs(*tried.error) < kClose) {
      anchor.after = predict_runs(table, scaled(anchor.gemm_factor), alike);
      return anchor;
    }
    (*tried.error > 0 ? high : low) = anchor.gemm_factor;
  }
  throw core::Error(fmt::format(
      "no factor on the matrix products between 0.2 and 5 makes row {} as fast as measured", id));
}

}  // namespace headway::validation
