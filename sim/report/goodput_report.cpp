#include "sim/report/goodput_report.h"

#include <fmt/format.h>

#include "sim/report/definitions.h"
#include "sim/report/json_parts.h"

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
                            share(row.closed_form), error(row), row.status,
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

struct Tally {
  std::size_t predicted = 0, compared = 0, agree = 0;
};

Tally tally(const std::vector<GoodputPrediction>& rows) {
  Tally t;
  for (const auto& row : rows) {
    t.predicted += row.predicted ? 1 : 0;
    t.compared += row.agrees() ? 1 : 0;
    t.agree += row.agrees().value_or(false) ? 1 : 0;
  }
  return t;
}

Json row_json(const GoodputPrediction& row) {
  const auto agrees = row.agrees();
  return {{"case_id", row.given.id},
          {"reported", or_null(row.given.reported())},
          {"reported_range", {or_null(row.given.reported_low), or_null(row.given.reported_high)}},
          {"predicted", or_null(row.predicted)},
          {"interval",
           row.predicted ? Json{number_or_null(row.low), number_or_null(row.high)} : Json(nullptr)},
          {"closed_form", or_null(row.closed_form)},
          {"error", or_null(row.error)},
          {"agrees", agrees ? Json(*agrees) : Json(nullptr)},
          {"assumed", row.assumed},
          {"note", row.note},
          {"status", row.status}};
}

}  // namespace

std::string goodput_json(const std::vector<GoodputPrediction>& rows) {
  Json list = Json::array();
  for (const auto& row : rows) {
    list.push_back(row_json(row));
  }
  const Tally t = tally(rows);
  return dump({{"schema", "headway.validate-goodput/1"},
               {"rows", list},
               {"summary",
                {{"n", t.predicted},
                 {"n_skipped", rows.size() - t.predicted},
                 {"n_compared", t.compared},
                 {"n_agree", t.agree}}}});
}

std::string goodput_csv(const std::vector<GoodputPrediction>& rows) {
  Table table{"",
              {{"case_id", false},
               {"reported"},
               {"predicted"},
               {"interval_low"},
               {"interval_high"},
               {"error"},
               {"status", false}},
              {}};
  const auto plain = [](const std::optional<double>& v) { return v ? fmt::format("{}", *v) : ""; };
  for (const auto& row : rows) {
    const auto bound = [&](double v) { return row.predicted ? fmt::format("{}", v) : ""; };
    table.rows.push_back({row.given.id, plain(row.given.reported()), plain(row.predicted),
                          bound(row.low), bound(row.high), plain(row.error), row.status});
  }
  return to_csv(table);
}

Document goodput_document(const std::vector<GoodputPrediction>& rows) {
  const Tally t = tally(rows);
  Document document;
  document.title = "Published shares of useful time, predicted from what the sources state";
  document.opening = {
      "Each trial simulates 30 days of failures; inputs that a source does not state are drawn "
      "from published ranges. The reported downtime is one block in which nothing fails."};
  document.tables = {predicted_table(rows), skipped_table(rows)};
  document.closing.emplace_back(kWhereDefined);
  document.closing.push_back(fmt::format(
      "{} of {} cases state enough to be predicted; of the {} that report a figure of the same "
      "definition {} lie within the interval.",
      t.predicted, rows.size(), t.compared, t.agree));
  return document;
}

}  // namespace headway::report
