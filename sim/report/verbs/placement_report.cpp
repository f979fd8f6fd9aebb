#include "sim/report/verbs/placement_report.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/report/definitions.h"
#include "sim/report/result_json.h"

namespace headway::report {

namespace {

std::string choice_text(const study::PlacedStep& one) {
  const std::string_view word = core::to_word(one.choice);
  return one.draw > 0 ? fmt::format("{} {}", word, one.draw) : std::string(word);
}

Table node_choices_table(const study::PlacementReport& report) {
  Table table{"Choices of free nodes, the shortest step first",
              {{"choice", false},
               {"leaves"},
               {"pods"},
               {"step [s]"},
               {"loss [%]"},
               {"cost [%]"},
               {"by places [%]"},
               {"by traffic [%]"},
               {"nodes", false}},
              {},
              false};
  for (const study::PlacedStep& one : report.candidates) {
    table.rows.push_back({choice_text(one), count(one.leaves), count(one.pods),
                          number(one.step.si()), percent(one.behind), percent(one.cost()),
                          percent(one.by_places()), percent(one.by_traffic()),
                          fmt::format("{}", fmt::join(one.ranges(), ", "))});
  }
  return table;
}

}  // namespace

std::string placement_json(const study::PlacementReport& report) {
  return dump(result_object("headway.placement/1", core::figures_of(report)));
}

std::string placement_csv(const study::PlacementReport& report) {
  return to_csv(node_choices_table(report));
}

Document placement_document(const study::PlacementReport& report) {
  const auto& cluster = report.scenario.cluster;
  Document document{report.scenario.name, {}, {}, {}};
  document.opening.push_back(fmt::format(
      "{} nodes of {}; the fabric has {}: {} free, {} down, the others of {} jobs",
      count(cluster.nodes), cluster.node.name, count(cluster.occupancy->nodes), count(report.free),
      count(report.down), count(static_cast<double>(cluster.occupancy->jobs.size()))));
  document.opening.push_back(
      fmt::format("a step of {} s on the first nodes of the fabric with nobody else there",
                  number(report.empty.si())));
  document.tables.push_back(node_choices_table(report));
  document.closing.emplace_back(kWhereDefined);
  document.closing.push_back(fmt::format("headway {}, scenario {}, seed {}", report.version,
                                         report.digest, report.scenario.run.seed));
  if (!report.candidates.empty()) {
    document.closing.push_back("The first one: " + report.candidates.front().limit);
  }
  document.closing.push_back(report.reasons.empty() ? study::placement_sentence(report)
                                                    : report.reasons.front());
  return document;
}

}  // namespace headway::report
