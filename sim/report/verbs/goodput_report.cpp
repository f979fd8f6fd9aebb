#include "sim/report/verbs/goodput_report.h"

#include <fmt/format.h>

#include "sim/report/definitions.h"
#include "sim/report/result_json.h"
#include "sim/study/validate.h"

namespace headway::report {

namespace {

using validation::GoodputPrediction;

constexpr std::string_view kSkipped = "skipped:";

std::string share(const std::optional<double>& value) {
  return value ? fmt::format("{:.3f}", *value) : "-";
}

std::string range(const GoodputPrediction& row) {
  return row.predicted ? fmt::format("{:.3f} to {:.3f}", row.low, row.high) : "-";
}

std::string reported(const validation::GoodputCase& given) {
  if (!given.reported_low) {
    return "-";
  }
  if (!given.reported_high) {
    return fmt::format("> {:.3g}", *given.reported_low);
  }
  return *given.reported_high > *given.reported_low
             ? fmt::format("{:.3g} to {:.3g}", *given.reported_low, *given.reported_high)
             : fmt::format("{:.3g}", *given.reported_low);
}

std::string error(const GoodputPrediction& row) {
  return row.error ? fmt::format("{:+.1f}", *row.error * 100) : "-";
}

Table predicted_table(const std::vector<GoodputPrediction>& rows) {
  Table table{"Predicted shares of useful time (ETTR)",
              {{"case", false},
               {"reported"},
               {"predicted"},
               {"5th to 95th percentile"},
               {"exact formula"},
               {"error [%]"},
               {"interval", false},
               {"status", false},
               {"assumed, and notes", false}},
              {}};
  for (const auto& row : rows) {
    if (row.predicted) {
      std::vector<std::string> words = row.assumed;
      if (!row.note.empty()) {
        words.push_back(row.note);
      }
      table.rows.push_back({row.given.id, reported(row.given), share(row.predicted), range(row),
                            share(row.closed_form), error(row),
                            row.verdict().empty() ? "-" : row.verdict(), row.status,
                            fmt::format("{}", fmt::join(words, "; "))});
    }
  }
  return table;
}

Table skipped_table(const std::vector<GoodputPrediction>& rows) {
  Table table{"Cases that state too little", {{"case", false}, {"reported"}, {"why", false}}, {}};
  for (const auto& row : rows) {
    if (!row.predicted) {
      table.rows.push_back({row.given.id, reported(row.given), row.status.substr(kSkipped.size())});
    }
  }
  return table;
}

}  // namespace

std::string goodput_json(const std::vector<GoodputPrediction>& rows,
                         const validation::ReadInputs& made_from) {
  return dump(result_object("headway.validate-goodput/1",
                            core::figures_of(study::GoodputReport{rows, made_from})));
}

std::string goodput_csv(const std::vector<GoodputPrediction>& rows) {
  Table table{"",
              {{"case_id", false},
               {"reported"},
               {"predicted"},
               {"interval_low"},
               {"interval_high"},
               {"error"},
               {"verdict", false},
               {"status", false}},
              {}};
  const auto plain = [](const std::optional<double>& v) { return v ? fmt::format("{}", *v) : ""; };
  for (const auto& row : rows) {
    const auto bound = [&](double v) { return row.predicted ? fmt::format("{}", v) : ""; };
    table.rows.push_back({row.given.id, plain(row.given.reported()), plain(row.predicted),
                          bound(row.low), bound(row.high), plain(row.error), row.verdict(),
                          row.status});
  }
  return to_csv(table);
}

Document goodput_document(const std::vector<GoodputPrediction>& rows) {
  const study::GoodputSummary t = study::GoodputReport{rows}.summary();
  Document document;
  document.title = "Published shares of useful time, predicted from what the sources state";
  document.opening = {
      "Each trial simulates 30 days of failures; inputs that a source does not state are drawn "
      "from published ranges. The reported downtime is one block in which nothing fails.",
      "Status says where the inputs come from: 'computed' from what the source states, "
      "'computed-assumed' with some that were assumed. Whether a prediction holds is in the column "
      "interval: within the reported range, below or above it."};
  document.tables = {predicted_table(rows), skipped_table(rows)};
  document.closing.emplace_back(kWhereDefined);
  document.closing.push_back(fmt::format(
      "{} of {} cases state enough to be predicted; of the {} that report a figure of the same "
      "definition the interval meets what is reported of {}, and the median lies within it of {}.",
      t.n, rows.size(), t.n_compared, t.n_agree, t.n_inside));
  return document;
}

}  // namespace headway::report
