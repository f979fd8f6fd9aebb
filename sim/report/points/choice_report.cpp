#include "sim/report/points/choice_report.h"

#include <algorithm>
#include <cstddef>
#include <fmt/format.h>
#include <optional>
#include <span>
#include <string>

namespace headway::report {

namespace {

using study::ChoiceChange;

/// "above 1.31 times".
std::string when(const ChoiceChange& change) {
  return fmt::format("{} {:.2f} times", change.way == study::ChangeWay::less ? "below" : "above",
                     *change.factor);
}

std::string which(const ChoiceChange& change) {
  const std::string plan = change.winner ? count(static_cast<double>(*change.winner)) : "none left";
  return change.reason.empty() ? plan : fmt::format("{}; plan 1 {}", plan, change.reason);
}

/// "first by 2.1 % at least".
std::string lead_text(const std::optional<double>& lead) {
  return lead ? fmt::format("plan 1 by {} % at least", percent(*lead)) : "no other is left";
}

/// The rows of one input: where another plan wins or was not looked for, else one that says that
/// none does.
void add_rows(std::span<const ChoiceChange> ways, Table& table) {
  std::optional<double> lead;
  std::string held;
  for (const ChoiceChange& change : ways) {
    const std::string way(core::to_word(change.way));
    if (change.factor) {
      table.rows.push_back({change.input, when(change), which(change)});
    } else if (!change.reason.empty()) {
      table.rows.push_back({change.input, way + ": not looked at", change.reason});
    } else {
      held = change.way == study::ChangeWay::less ? "not down to half"
             : held.empty()                       ? "not up to twice"
                                                  : "not from half to twice";
      lead = lead && change.lead ? std::min(*lead, *change.lead) : change.lead;
    }
  }
  if (!held.empty()) {
    table.rows.push_back({ways.front().input, held, lead_text(lead)});
  }
}

}  // namespace

Table choice_table(const study::Choice& choice) {
  Table table{"What would change the choice: times an input at which another plan wins",
              {{"input", false}, {"another plan wins", false}, {"which", false}},
              {},
              false};
  const auto& changes = choice.changes;
  for (std::size_t begin = 0; begin < changes.size();) {
    std::size_t end = begin;
    while (end < changes.size() && changes[end].input == changes[begin].input) {
      ++end;
    }
    add_rows(std::span(changes).subspan(begin, end - begin), table);
    begin = end;
  }
  return table;
}

}  // namespace headway::report
