#include "sim/report/compare_report.h"

#include <cmath>
#include <fmt/format.h>

#include "sim/report/definitions.h"
#include "sim/report/json_parts.h"

namespace headway::report {

namespace {

std::string signed_number(double value) { return (value > 0 ? "+" : "") + number(value); }

Json figures_json(const Figures& figures) {
  Json out = Json::object();
  for (const auto& column : figure_columns()) {
    out[std::string(column.key)] = or_null(column.read(figures));
  }
  out["fits"] = figures.fits;
  return out;
}

Json layer_words(const std::vector<Layer>& layers) {
  Json out = Json::array();
  for (const Layer layer : layers) {
    out.push_back(core::to_word(layer));
  }
  return out;
}

Json attribution_json(const CompareReport& report) {
  Json layers = Json::array();
  for (std::size_t i = 0; i < report.differing.size(); ++i) {
    Json shares = Json::object();
    for (const auto& attribution : report.attributions) {
      const auto& c = attribution.contributions[i];
      shares[attribution.key] = {{"shapley", number_or_null(c.shapley)},
                                 {"first", number_or_null(c.first)},
                                 {"last", number_or_null(c.last)}};
    }
    layers.push_back({{"layer", core::to_word(report.differing[i])}, {"figures", shares}});
  }
  return layers;
}

Table side_by_side(const CompareReport& report) {
  Table table{"Side by side", {{"figure", false}, {"A"}, {"B"}, {"B - A"}, {"B / A"}}, {}};
  for (const auto& column : figure_columns()) {
    const auto a = column.read(report.a);
    const auto b = column.read(report.b);
    if (a || b) {
      table.rows.push_back({std::string(column.heading), cell(a), cell(b),
                            a && b ? signed_number(*b - *a) : "-",
                            a && b && *a != 0 ? number(*b / *a) : "-"});
    }
  }
  return table;
}

/// What people ask for; JSON has all figures.
bool shown(const std::string& key) {
  return key == "step_time_s" || key == "goodput" || key == "wall_days" || key == "total_usd";
}

std::string heading_of(const std::string& key) {
  for (const auto& column : figure_columns()) {
    if (column.key == key) {
      return std::string(column.heading);
    }
  }
  return key;
}

Table layers_table(const CompareReport& report) {
  Table table{"What each layer of B contributes (mean over all orders of switching)",
              {{"layer", false}, {"contains", false}},
              {},
              true};
  std::vector<const Attribution*> columns;
  for (const auto& attribution : report.attributions) {
    if (shown(attribution.key)) {
      columns.push_back(&attribution);
      table.columns.push_back({heading_of(attribution.key)});
    }
  }
  std::vector<std::string> total{"all layers", ""};
  for (std::size_t i = 0; i < report.differing.size(); ++i) {
    std::vector<std::string> row{std::string(core::to_word(report.differing[i])),
                                 std::string(contents_of(report.differing[i]))};
    for (const auto* column : columns) {
      row.push_back(signed_number(column->contributions[i].shapley));
    }
    table.rows.push_back(row);
  }
  for (const auto* column : columns) {
    double sum = 0;
    for (const auto& contribution : column->contributions) {
      sum += contribution.shapley;
    }
    total.push_back(signed_number(sum));
  }
  table.rows.push_back(total);
  return table;
}

/// The figure that decides: days where the work is fixed, else dollars a token, else the step.
const Attribution* deciding(const CompareReport& report) {
  const Attribution* best = nullptr;
  for (const std::string key : {"step_time_s", "usd_per_million_tokens", "wall_days"}) {
    for (const auto& attribution : report.attributions) {
      double moved = 0;
      for (const auto& c : attribution.contributions) {
        moved += std::abs(c.shapley);
      }
      if (attribution.key == key && moved > 0) {
        best = &attribution;
      }
    }
  }
  return best;
}

std::string verdict(const CompareReport& report) {
  if (report.differing.empty()) {
    return "A and B are the same architecture.";
  }
  const Attribution* by = deciding(report);
  if (by == nullptr) {
    return "A and B differ, but in nothing that moves a figure.";
  }
  std::size_t top = 0;
  double total = 0;
  for (std::size_t i = 0; i < by->contributions.size(); ++i) {
    total += by->contributions[i].shapley;
    if (std::abs(by->contributions[i].shapley) > std::abs(by->contributions[top].shapley)) {
      top = i;
    }
  }
  return fmt::format("The largest part of the difference in {} comes from {} ({}): {} of {}.",
                     heading_of(by->key), core::to_word(report.differing[top]),
                     contents_of(report.differing[top]),
                     signed_number(by->contributions[top].shapley), signed_number(total));
}

std::string listed(const CompareReport& report) {
  std::vector<std::string> words;
  for (const Layer layer : report.differing) {
    words.push_back(fmt::format("{} ({})", core::to_word(layer), contents_of(layer)));
  }
  return words.empty() ? "A and B are the same architecture."
                       : fmt::format("They differ in: {}.", fmt::join(words, "; "));
}

}  // namespace

std::string compare_json(const CompareReport& report) {
  Json mixtures = Json::array();
  for (const auto& mixture : report.mixtures) {
    mixtures.push_back(
        {{"from_b", layer_words(mixture.from_b)}, {"figures", figures_json(mixture.figures)}});
  }
  const auto side = [](const std::string& name, const std::string& digest, const Figures& figures) {
    return Json{{"name", name}, {"digest", digest}, {"figures", figures_json(figures)}};
  };
  return dump({{"schema", "headway.compare/1"},
               {"version", report.version},
               {"a", side(report.name_a, report.digest_a, report.a)},
               {"b", side(report.name_b, report.digest_b, report.b)},
               {"differing_layers", layer_words(report.differing)},
               {"layers", attribution_json(report)},
               {"mixtures", mixtures},
               {"step_simulations", report.step_simulations},
               {"warnings", report.warnings}});
}

std::string compare_csv(const CompareReport& report) {
  Table table{"", {{"figure", false}, {"a"}, {"b"}}, {}};
  for (const Layer layer : report.mixtures.empty() ? std::vector<Layer>{} : report.differing) {
    table.columns.push_back({std::string(core::to_word(layer))});
  }
  const auto plain = [](const std::optional<double>& v) { return v ? fmt::format("{}", *v) : ""; };
  for (const auto& column : figure_columns()) {
    std::vector<std::string> row{std::string(column.key), plain(column.read(report.a)),
                                 plain(column.read(report.b))};
    for (const auto& attribution : report.attributions) {
      if (attribution.key == column.key) {
        for (const auto& contribution : attribution.contributions) {
          row.push_back(plain(contribution.shapley));
        }
      }
    }
    row.resize(table.columns.size());
    table.rows.push_back(row);
  }
  return to_csv(table);
}

Document compare_document(const CompareReport& report) {
  Document document;
  document.title = "Two architectures compared";
  document.opening = {"A: " + report.name_a, "B: " + report.name_b, listed(report)};
  document.tables.push_back(side_by_side(report));
  if (!report.mixtures.empty() && !report.differing.empty()) {
    document.tables.push_back(layers_table(report));
    document.closing.push_back(
        fmt::format("{} mixtures of layers were predicted with the same random draws, {} steps "
                    "were simulated.",
                    report.mixtures.size(), report.step_simulations));
  }
  for (const auto& warning : report.warnings) {
    document.closing.push_back("Warning: " + warning + ".");
  }
  document.closing.emplace_back(kWhereDefined);
  if (!report.mixtures.empty()) {
    document.closing.push_back(verdict(report));
  }
  return document;
}

}  // namespace headway::report
