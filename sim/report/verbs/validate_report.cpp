#include "sim/report/verbs/validate_report.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>

#include "sim/report/definitions.h"
#include "sim/report/result_json.h"
#include "sim/study/validate.h"

namespace headway::report {

namespace {

using validation::RunPrediction;
using validation::RunSummary;

std::string signed_percent(const std::optional<double>& error) {
  return error ? fmt::format("{:+.1f}", *error * 100) : "-";
}

std::string joined(const std::vector<std::string>& fields) {
  std::string text;
  for (const auto& field : fields) {
    text += (text.empty() ? "" : " ") + field;
  }
  return text;
}

Table rows_table(const std::vector<RunPrediction>& rows) {
  Table table{"Measured runs",
              {{"run", false},
               {"measured [tokens/s/GPU]"},
               {"predicted"},
               {"error [%]"},
               {"90 % interval"},
               {"status", false},
               {"assumed", false},
               {"peak memory [GiB]"},
               {"predicted memory"}},
              {}};
  for (const auto& row : rows) {
    table.rows.push_back({row.id, row.measured > 0 ? number(row.measured) : "-",
                          row.predicted ? number(*row.predicted) : "-", signed_percent(row.error),
                          row.predicted ? number(row.low) + " to " + number(row.high) : "-",
                          row.status, joined(row.assumed),
                          row.measured_memory > 0 ? number(row.measured_memory) : "-",
                          row.predicted ? number(row.predicted_memory) : "-"});
  }
  return table;
}

/// The rows of each of the program's tables, in the order of the tables.
std::vector<std::vector<RunPrediction>> by_table(const std::vector<RunPrediction>& rows) {
  std::vector<std::vector<RunPrediction>> tables;
  for (const auto& row : rows) {
    if (tables.empty() || tables.back().front().table != row.table) {
      tables.emplace_back();
    }
    tables.back().push_back(row);
  }
  return tables;
}

/// What choosing by prediction costs, by source; of sources that have layouts to choose from.
Table choice_table(const std::vector<RunPrediction>& rows) {
  Table table{"Choice of the layout by source",
              {{"source", false},
               {"pairs of layouts"},
               {"in the right order [%]"},
               {"decisions"},
               {"mean regret [%]"},
               {"worst [%]"}},
              {}};
  for (const auto& [name, consistent, ordering, choice] : validation::layouts_by_source(rows)) {
    const std::string source = name + (consistent ? ", without contradictory rows" : "");
    table.rows.push_back(
        {source, std::to_string(ordering.pairs), ordering.pairs > 0 ? percent(ordering.right) : "-",
         std::to_string(choice.groups), percent(choice.mean_regret), percent(choice.worst_regret)});
  }
  return table;
}

/// @param what   the property that the rows are told apart by
/// @param title  that property, and of which rows
Table summary_table(const std::string& what,
                    const std::string& title,
                    const std::vector<std::pair<std::string, RunSummary>>& parts) {
  Table table{title,
              {{what, false},
               {"rows"},
               {"skipped"},
               {"median [%]"},
               {"mean [%]"},
               {"90th percentile [%]"},
               {"within 5 % [%]"},
               {"within 10 % [%]"},
               {"in interval [%]"},
               {"its half width [%]"}},
              {}};
  for (const auto& [name, s] : parts) {
    const auto figure = [&s = s](double value) {
      return s.n > 0 ? percent(value) : std::string("-");
    };
    table.rows.push_back({name, std::to_string(s.n), std::to_string(s.n_skipped),
                          figure(s.median_abs_error), figure(s.mean_abs_error),
                          figure(s.p90_abs_error), figure(s.within_5), figure(s.within_10),
                          figure(s.coverage_90), figure(s.median_half_width)});
  }
  return table;
}

Table constants_table(const std::vector<validation::FittedConstant>& constants) {
  Table table{"Constants that are judged from runs",
              {{"constant", false},
               {"refitted / committed"},
               {"standard error [%]"},
               {"sources"},
               {"decided by", false}},
              {}};
  for (const auto& constant : constants) {
    table.rows.push_back({constant.name, fmt::format("{:.3f}", constant.factor),
                          percent(constant.standard_error), std::to_string(constant.sources),
                          constant.decided_by});
  }
  return table;
}

/// Rows that the constants have not seen come first: they say most about a run that nobody has.
void add_left_out(const study::LeavingOut& out, Document& document) {
  if (out.parts.empty()) {
    return;
  }
  document.tables.push_back(
      summary_table("rows", "Leaving out one source, constants refitted without it", out.parts));
  document.tables.push_back(
      summary_table("source left out", "Leaving out one source, by source", out.sources));
  document.tables.push_back(
      summary_table("framework left out", "Leaving out one framework", out.frameworks));
  document.tables.push_back(summary_table("GPU left out", "Leaving out one GPU", out.gpus));
  document.tables.push_back(constants_table(out.constants));
  document.closing.push_back(
      fmt::format("Leaving out one source: the mean of the sources' median errors is {} %.",
                  percent(out.mean_of_source_medians)));
}

/// What is said of rows that belong together: each part, all of them, memory, repeats and layouts.
/// @param together  whether nobody else says it of all of them
void add_sentences(const std::vector<RunPrediction>& rows,
                   const std::string& of,
                   bool together,
                   Document& document) {
  const auto parts = validation::summarize_by(rows, &RunPrediction::part);
  for (const auto& [name, summary] : parts) {
    if (parts.size() > 1 || together) {
      document.closing.push_back(fmt::format("{}: {}", name, study::errors_in_words(summary)));
    }
  }
  const RunSummary all = validation::summarize(rows);
  if (parts.size() > 1 && together) {
    document.closing.push_back(fmt::format("All together{}: {}", of, study::errors_in_words(all)));
  }
  if (all.n_memory > 0) {
    document.closing.push_back(
        fmt::format("Peak memory{}, where a source states it ({} runs): median error {} %.", of,
                    all.n_memory, percent(all.median_abs_memory_error)));
  }
  const auto noise = validation::repeat_noise(rows);
  const auto ordering = validation::layout_ordering(rows);
  if (noise.rows > 0 || ordering.pairs > 0) {
    document.closing.push_back(fmt::format(
        "Repeats of one configuration{} ({} rows) differ from their median by {} % on average; of "
        "{} pairs of layouts that differ by more than 10 %, {} % are in the right order.",
        of, noise.rows, percent(noise.mean_deviation), ordering.pairs, percent(ordering.right)));
  }
}

/// The errors of rows that belong together, by each of their properties.
void add_summaries(const std::vector<RunPrediction>& rows,
                   const std::string& of,
                   Document& document) {
  const auto add = [&](const std::string& what, std::string RunPrediction::*property) {
    document.tables.push_back(
        summary_table(what, "Error by " + what + of, validation::summarize_by(rows, property)));
  };
  add("source", &RunPrediction::source);
  add("GPU", &RunPrediction::gpu);
  add("precision", &RunPrediction::precision);
  add("model kind", &RunPrediction::kind);
  add("status", &RunPrediction::status_class);
}

}  // namespace

std::string validate_json(const std::vector<RunPrediction>& rows,
                          bool fitted,
                          const validation::ReadInputs& made_from) {
  return dump(result_object("headway.validate/1",
                            core::figures_of(study::RunsReport{rows, fitted, made_from})));
}

std::string anchor_json(const validation::Anchor& anchor, const validation::ReadInputs& made_from) {
  return dump(result_object("headway.validate-anchor/1",
                            core::figures_of(study::AnchorReport{anchor, made_from})));
}

Document anchor_document(const validation::Anchor& anchor) {
  Document document;
  document.title = "Runs like " + anchor.id + ", before and after matching it";
  Table table{"Measured runs", {{"run", false}, {"error before [%]"}, {"after"}}, {}};
  for (std::size_t i = 0; i < anchor.before.size(); ++i) {
    table.rows.push_back({anchor.before[i].id, signed_percent(anchor.before[i].error),
                          signed_percent(anchor.after[i].error)});
  }
  document.tables.push_back(std::move(table));
  const RunSummary before = validation::summarize(anchor.before);
  const RunSummary after = validation::summarize(anchor.after);
  document.closing.push_back(
      fmt::format("Matrix products {:.3f} times as fast match {}; the median error of the {} runs "
                  "of its GPU, precision and framework goes "
                  "from {} % to {} %.",
                  anchor.gemm_factor, anchor.id, before.n, percent(before.median_abs_error),
                  percent(after.median_abs_error)));
  return document;
}

std::string validate_csv(const std::vector<RunPrediction>& rows) {
  return to_csv(rows_table(rows));
}

Document validate_document(const std::vector<RunPrediction>& rows, bool fitted) {
  Document document;
  document.title = "Published training runs, predicted";
  const study::LeavingOut out = fitted ? study::leave_out(rows) : study::LeavingOut{};
  add_left_out(out, document);
  std::vector<RunPrediction> listed;  // a sweep says something taken together only
  std::copy_if(rows.begin(), rows.end(), std::back_inserter(listed),
               [](const RunPrediction& row) { return row.table != validation::kLayoutSweep; });
  document.tables.push_back(rows_table(listed.empty() ? rows : listed));
  const auto tables = by_table(rows);
  for (const auto& part : tables) {
    add_summaries(part, part.front().table, document);
  }
  if (Table choices = choice_table(rows); !choices.rows.empty()) {
    document.tables.push_back(std::move(choices));
  }
  document.closing.emplace_back(kWhereDefined);
  for (const auto& part : tables) {
    add_sentences(part, part.front().table, fitted, document);
  }
  document.closing.push_back(study::runs_verdict(rows, out));
  return document;
}

}  // namespace headway::report
