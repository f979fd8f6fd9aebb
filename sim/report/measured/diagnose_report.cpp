#include "sim/report/measured/diagnose_report.h"

#include <algorithm>
#include <cstddef>
#include <fmt/format.h>
#include <iterator>

#include "sim/report/result_json.h"

namespace headway::report {

namespace {

Table compared_table(const study::DiagnoseReport& report) {
  Table table{"Measured beside the job as it should be",
              {{"figure", false},
               {"measured"},
               {"expected"},
               {"90 % interval"},
               {"", false},
               {"file", false}},
              {}};
  for (const auto& row : report.compared) {
    const auto as_shown = [&](double figure) { return study::shown(row.feature, figure); };
    table.rows.push_back(
        {std::string(study::in_words(row.feature)), as_shown(row.measured), as_shown(row.expected),
         fmt::format("{} to {}", as_shown(row.interval[0]), as_shown(row.interval[1])),
         row.within() ? "within" : "OUTSIDE", row.source});
  }
  return table;
}

Table suspect_table(const study::DiagnoseReport& report) {
  const bool more = std::any_of(report.suspects.begin(), report.suspects.end(),
                                [](const auto& suspect) { return suspect.mending.steps; });
  Table table{"Suspects",
              {{"cause", false},
               {"how sure [%]"},
               {"at its likeliest", false},
               {"step if so [s]"},
               {"mending saves [%]"},
               {more ? "steps more" : "days"},
               {more ? "tokens more" : "USD"}},
              {}};
  for (const auto& suspect : report.suspects) {
    const auto& mending = suspect.mending;
    table.rows.push_back({study::cause_words(suspect.best), percent(suspect.probability),
                          suspect.best.words, suspect.step_s > 0 ? number(suspect.step_s) : "-",
                          percent(mending.step_share), cell(more ? mending.steps : mending.days),
                          cell(more ? mending.tokens : mending.usd)});
  }
  return table;
}

}  // namespace

Document diagnose_document(const study::DiagnoseReport& report) {
  Document document;
  document.title = report.scenario.name + ", diagnosed";
  for (const auto& line : report.wrong_data) {
    document.opening.push_back("WRONG DATA: " + line + ".");
  }
  for (const auto& line : report.unfinished) {
    document.opening.push_back("DID NOT END: " + line + ".");
  }
  for (const auto& line : report.findings) {
    document.opening.push_back("Found: " + line + ".");
  }
  document.tables = {compared_table(report), suspect_table(report)};
  if (!report.place.empty()) {
    document.closing.push_back("The lowest clock of the GPUs watched is that of " + report.place +
                               ".");
  }
  if (report.next) {
    const auto first_two =
        report.suspects.begin() + std::min<std::ptrdiff_t>(2, std::ssize(report.suspects));
    const bool unlisted = std::any_of(
        report.suspects.begin(), first_two,
        [](const study::Suspect& suspect) { return suspect.best.cause == study::Cause::unlisted; });
    document.closing.push_back(
        fmt::format("To tell {}: {}. It shows {} ({} standard deviations apart).",
                    report.next->of_places ? "which node it is"
                    : unlisted ? "the nearest that are listed from each other and from what is not"
                               : "the first two apart",
                    report.next->command, report.next->reads, number(report.next->deviations)));
  }
  for (const auto& line : report.left_out) {
    document.closing.push_back("Not tried: " + line + ".");
  }
  for (const auto& line : report.remarks) {
    document.closing.push_back("Note: " + line + ".");
  }
  document.closing.push_back(study::diagnose_sentence(report));
  return document;
}

std::string diagnose_csv(const study::DiagnoseReport& report) {
  Table table{"",
              {{"cause"},
               {"probability"},
               {"words"},
               {"step_s"},
               {"share"},
               {"days"},
               {"usd"},
               {"steps"},
               {"tokens"}},
              {}};
  const auto text = [](const std::optional<double>& value) {
    return value ? fmt::format("{:.6g}", *value) : std::string();
  };
  for (const auto& suspect : report.suspects) {
    table.rows.push_back(
        {study::cause_words(suspect.best), fmt::format("{:.6g}", suspect.probability),
         suspect.best.words, text(core::if_positive(suspect.step_s)),
         fmt::format("{:.6g}", suspect.mending.step_share), text(suspect.mending.days),
         text(suspect.mending.usd), text(suspect.mending.steps), text(suspect.mending.tokens)});
  }
  return to_csv(table);
}

std::string diagnose_json(const study::DiagnoseReport& report) {
  return dump(result_object("headway.diagnose/1", core::figures_of(report)));
}

}  // namespace headway::report
