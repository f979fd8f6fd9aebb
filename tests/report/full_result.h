// A result that has everything, and the page of one result.
#pragma once

#include <cstdint>
#include <string>

#include "sim/report/page/page.h"
#include "sim/report/run_json.h"

#include "tests/study/sample_report.h"

namespace headway::report {

/// A run with all its pictures.
inline Json full_result() {
  auto report = study::sample_report_with_campaign();
  report.remedies = {{"change this", "2 days less", 0.1, false}};
  report.warnings = {"mind the memory"};
  study::Pictures pictures;
  pictures.timeline.names = {"forward", "backward"};
  constexpr std::int64_t kGiB = std::int64_t{1} << 30U;
  training::HeldCourse held{{0, 10}, {kGiB, kGiB}, {0, 0}, {0, 0}, {kGiB, 3 * kGiB},
                            {0, 0},  {0, 0},       {0, 0}, false};
  pictures.timeline.stages = {
      {0, 4, 6, {0, 10}, {10, 20}, {0, 2}, {0, 1}, {0, 0}, {0, 0}, {5, 7}, held}};
  pictures.timeline.others = {{0, 0, 2, {0}, {15}, {0}, {0}, {0}, {0}, {5}, {}}};
  pictures.streams = {
      3, {{0, 0, {{"kernels", {0}, {9}, {8}}, {"all reduce", {2, 7}, {1, 1}, {1, 1}}}}}};
  pictures.stage_memory = {report.step.memory.by_kind};
  pictures.campaign = {{0.8, 0.9, {1, 0, 1}},
                       {1,
                        0.8,
                        core::Seconds(100),
                        {"detect"},
                        {{"gpu", {10}, {5}, {0}, {10}}},
                        0,
                        0,
                        {"host", "storage"},
                        {3, {30, 60}, {1, 20}, {1, 2}, {0, 1}}},
                       {{0.5, core::BytesPerSecond(1e12), core::Seconds(900), 0.91, false},
                        {1, core::BytesPerSecond(2e12), core::Seconds(900), 0.93, false}}};
  pictures.loads = {{"nic", 16, core::BytesPerSecond(50e9), 0, {0, 1500}, {0, 25'000'000'000}}};
  pictures.cables = training::LinkMap{2, 1, false, {{0, 0, {0.5, 0.25}}, {1, 2, {0, 0.1}}}};
  pictures.scenario = "name: Sample\nlist:\n" + std::string("  - 1\n  - 2\n  - 3\n  - 4\n") +
                      "  - 5\n  - 6\n  - 7\n  - 8\nend: 1\n";
  report.pictures = pictures;
  return Json::parse(run_json(report));
}

/// The page of one result.
/// @param charts  the library, as a page holds it
inline std::string page_of(const Json& json, const std::string& charts = "window.library = 1;") {
  return report_page({{{json, "r.json"}, "headway run s.yaml"}}, charts);
}

}  // namespace headway::report
