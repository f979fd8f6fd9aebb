#include "sim/report/verbs/compare_report.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "sim/report/definitions.h"
#include "sim/report/figure_rows.h"
#include "sim/report/result_json.h"

namespace headway::report {

namespace {

std::string signed_number(double value) { return (value > 0 ? "+" : "") + number(value); }

/// In the order of the field list.
const LabelledFigures& compared_rows() {
  static const LabelledFigures rows{{"step [s]", "step_time_s"},
                                    {"tokens/s", "tokens_per_s"},
                                    {"MFU", "mfu"},
                                    {"ETTR", "ettr"},
                                    {"goodput", "goodput"},
                                    {"wall [days]", "wall_days"},
                                    {"tokens", "tokens"},
                                    {"cost [USD]", "total_usd"},
                                    {"USD per million tokens", "usd_per_million_tokens"}};
  return rows;
}

/// Tokens of a run are many: 21.0 B, 15.6 T.
std::string side(const std::optional<double>& value) {
  constexpr double kMany = 1e9;
  return value && std::abs(*value) >= kMany ? core::compact(*value) : cell(value);
}

Table side_by_side(const study::CompareReport& report) {
  const bool of_a_run = report.a.wall_days || report.b.wall_days;
  Table table{of_a_run ? "Side by side; of a run, means over its trials" : "Side by side",
              {{"figure", false}, {"A"}, {"B"}, {"B - A"}, {"B / A"}},
              {}};
  const core::Figure of_a = core::figures_of(report.a);
  const core::Figure of_b = core::figures_of(report.b);
  for (const LabelledFigure& row : compared_rows()) {
    const auto a = core::value_of(*core::find_figure(of_a, row.path));
    const auto b = core::value_of(*core::find_figure(of_b, row.path));
    if (a || b) {
      table.rows.push_back({std::string(row.label), side(a), side(b),
                            a && b ? (*b > *a ? "+" : "") + side(*b - *a) : "-",
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
  for (const LabelledFigure& row : compared_rows()) {
    if (row.path == key) {
      return std::string(row.label);
    }
  }
  return key;
}

Table layers_table(const study::CompareReport& report) {
  Table table{"What each layer of B contributes (mean over all orders of switching)",
              {{"layer", false}, {"contains", false}},
              {},
              true};
  std::vector<const study::Attribution*> columns;
  for (const auto& attribution : report.attributions) {
    if (shown(attribution.key)) {
      columns.push_back(&attribution);
      table.columns.push_back({heading_of(attribution.key)});
    }
  }
  std::vector<std::string> total{"all layers", ""};
  for (std::size_t i = 0; i < report.differing.size(); ++i) {
    std::vector<std::string> row{std::string(core::to_word(report.differing[i])),
                                 std::string(study::contents_of(report.differing[i]))};
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

/// Which inputs differ.
Table inputs_table(const study::CompareReport& report) {
  constexpr std::size_t kMost = 40;
  const auto& all = report.differences;
  Table table{all.size() > kMost ? fmt::format("{} of {} inputs that differ (all: --format json)",
                                               kMost, all.size())
                                 : "Inputs that differ",
              {{"key", false}, {"A", false}, {"B", false}},
              {},
              false};
  for (std::size_t i = 0; i < std::min(kMost, all.size()); ++i) {
    table.rows.push_back({all[i].key, all[i].a.value_or("-"), all[i].b.value_or("-")});
  }
  return table;
}

/// A share that does not round to 0.0 %.
constexpr double kShown = 0.0005;
/// Of the largest difference, in a column of its own [characters].
constexpr double kLongestBar = 16;

/// Per cent with a sign; where a whole is many times the other one, in three figures.
std::string signed_percent(double share) {
  constexpr double kMany = 10;
  const std::string sign = share >= kShown ? "+" : "";
  return sign + (std::abs(share) < kMany ? percent(share) : number(100 * share));
}

/// "++++" or "--": how large a difference is beside the largest one, and on which side.
std::string bar_of(double share, double largest) {
  const double length = std::max(1.0, std::round(kLongestBar * std::abs(share) / largest));
  return std::string(static_cast<std::size_t>(length), share < 0 ? '-' : '+');
}

/// Where a whole differs, the largest difference first; what rounds to 0.0 % of A is put together.
/// @param scale  unit of the figures / unit of the title
void add_parts(const std::string& title,
               double scale,
               const std::vector<study::PartDifference>& parts,
               Document& document) {
  study::PartDifference total, rest;
  Table table{
      title, {{"part", false}, {"A"}, {"B"}, {"B - A"}, {"of A [%]"}, {"", false}}, {}, true};
  const auto row = [&](const study::PartDifference& part, const std::string& bar) {
    table.rows.push_back({part.words, number(scale * part.a), number(scale * part.b),
                          signed_number(scale * (part.b - part.a)), signed_percent(part.share),
                          bar});
  };
  const auto sum = [](study::PartDifference& into, const study::PartDifference& part) {
    into.a += part.a;
    into.b += part.b;
    into.share += part.share;
  };
  for (const auto& part : parts) {
    sum(total, part);
    if (std::abs(part.share) >= kShown) {
      row(part, bar_of(part.share, std::abs(parts.front().share)));
    } else {
      sum(rest, part);
    }
  }
  if (table.rows.empty()) {
    return;
  }
  if (rest.a != 0 || rest.b != 0) {
    rest.words = "all else";
    row(rest, "");
  }
  total.words = "total";
  row(total, "");
  document.tables.push_back(std::move(table));
}

std::string listed(const study::CompareReport& report) {
  std::vector<std::string> words;
  for (const study::Layer layer : report.differing) {
    words.push_back(fmt::format("{} ({})", core::to_word(layer), study::contents_of(layer)));
  }
  return words.empty() ? "A and B are the same architecture."
                       : fmt::format("They differ in: {}.", fmt::join(words, "; "));
}

}  // namespace

std::string compare_json(const study::CompareReport& report) {
  return dump(result_object("headway.compare/1", core::figures_of(report)));
}

std::string compare_csv(const study::CompareReport& report) {
  Table table{"", {{"figure", false}, {"a"}, {"b"}}, {}};
  for (const study::Layer layer :
       report.mixtures.empty() ? std::vector<study::Layer>{} : report.differing) {
    table.columns.push_back({std::string(core::to_word(layer))});
  }
  const auto plain = [](const std::optional<double>& v) { return v ? fmt::format("{}", *v) : ""; };
  const core::Figure of_a = core::figures_of(report.a);
  const core::Figure of_b = core::figures_of(report.b);
  for (const LabelledFigure& column : compared_rows()) {
    std::vector<std::string> row{std::string(column.path),
                                 plain(core::value_of(*core::find_figure(of_a, column.path))),
                                 plain(core::value_of(*core::find_figure(of_b, column.path)))};
    for (const auto& attribution : report.attributions) {
      if (attribution.key == column.path) {
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

Document compare_document(const study::CompareReport& report) {
  Document document;
  document.title = "Two architectures compared";
  document.opening = {"A: " + report.label_a.name, "B: " + report.label_b.name, listed(report)};
  if (!report.differences.empty()) {
    document.tables.push_back(inputs_table(report));
  }
  document.tables.push_back(side_by_side(report));
  constexpr double kHour = 3600;  // Source: the hour
  add_parts("Where the step differs [s]", 1, report.step_parts, document);
  add_parts("Where the GPU time of the run differs [GPU h]", 1 / kHour, report.ledger_parts,
            document);
  add_parts("Where the cost differs [USD]", 1, report.cost_parts, document);
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
  document.closing.push_back(report.verdict());
  return document;
}

}  // namespace headway::report
