// What a drill recommends is what its own option does: every remedy's line, read and applied as the
// program does it, gives the printed time.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "sim/config/load.h"
#include "sim/core/error.h"
#include "sim/report/fault_argument.h"
#include "sim/report/verbs/drill_report.h"

namespace headway::report {
namespace {

constexpr const char* kScenario = "configs/scenarios/small-llama-8b-64-h100.yaml";
const std::vector<std::string> kRun{"run.checkpoint.interval=7 min", "cluster.spares=2"};

/// Words as a shell reads them: quotes go, and hold blanks together.
std::vector<std::string> shell_words(const std::string& line) {
  std::vector<std::string> words(1);
  bool quoted = false;
  for (const char c : line) {
    if (c == '\'') {
      quoted = !quoted;
    } else if (c == ' ' && !quoted) {
      words.emplace_back();
    } else {
      words.back() += c;
    }
  }
  return words;
}

study::DrillReport drill(const std::string& fault,
                         const std::vector<std::string>& set,
                         const drill::DrillOptions& options) {
  const auto loaded = config::load_scenario(kScenario, {{"configs"}, set});
  return study::run_drill(loaded, parse_fault(fault, loaded.scenario.cluster.node.gpus), options);
}

void expect_again(const std::string& fault,
                  const std::vector<std::string>& set,
                  const drill::Remedy& remedy) {
  const auto words = shell_words(remedy.how);
  ASSERT_EQ(words.size(), 2U) << remedy.how;
  drill::DrillOptions options;
  options.remedies = false;
  auto changed = set;
  if (words[0] == "--monitor") {
    options.monitors.insert(parse_monitor(words[1]));
  } else {
    ASSERT_EQ(words[0], "--set");
    changed.push_back(words[1]);
  }
  EXPECT_EQ(drill(fault, changed, options).result.lost.si(), remedy.lost.si())
      << fault << ": " << remedy.how;
}

TEST(Remedies, DoWhatTheirLinesSay) {
  std::size_t tried = 0;
  for (const std::string mode : {"sync", "async"}) {
    auto set = kRun;
    set.push_back("run.checkpoint.mode=" + mode);
    for (const auto& [kind, word] : enum_words(drill::FaultKind{})) {
      if (drill::is_of_ways(kind)) {
        continue;  // the job is on one site
      }
      const auto report = drill(std::string(word), set, {});
      for (const auto& remedy : report.result.remedies) {
        expect_again(std::string(word), set, remedy);
        ++tried;
      }
    }
  }
  EXPECT_GT(tried, 60U);
}

TEST(Remedies, AreNotOfferedWhereTheyDoNothing) {
  for (const auto& remedy : drill("gpu-dead", kRun, {}).result.remedies) {
    EXPECT_EQ(remedy.how.find("in_process_start"), std::string::npos);
  }
}

TEST(DrillList, NamesEveryKindAndMonitor) {
  const std::string list = drill_list({});
  for (const auto& [kind, word] : enum_words(drill::FaultKind{})) {
    EXPECT_NE(list.find(word), std::string::npos) << word;
  }
  for (const auto& [monitor, word] : enum_words(drill::Monitor{})) {
    EXPECT_NE(list.find(word), std::string::npos) << word;
  }
}

TEST(FaultText, TellsWhatIsWrong) {
  const auto complaint = [](const std::string& text) {
    try {
      parse_fault(text, 8);
    } catch (const core::Error& error) {
      const std::string text_of_it = error.what();
      return text_of_it.substr(0, text_of_it.find('\n'));
    }
    return std::string("accepted");
  };
  EXPECT_EQ(complaint("nvme-slow,rate=1 GB/s,rate=2 GB/s"), "--fault: rate is given twice");
  EXPECT_EQ(complaint("nvme-slow,rate=0 GB/s"),
            "argument --fault nvme-slow,rate=0 GB/s: rate '0 GB/s' must be from 1 B/s to 1e6 GB/s");
  EXPECT_EQ(complaint("nvme-slow,rte=1 GB/s"),
            "--fault: nvme-slow takes rate, lasts, since_save, not 'rte=1 GB/s'; did you mean "
            "'rate'?");
  EXPECT_EQ(complaint("rack-power-loss,nodes=0"),
            "argument --fault rack-power-loss,nodes=0: nodes '0' must be at least 1");
  EXPECT_EQ(complaint("wrong-checkpoint,behind=0"),
            "argument --fault wrong-checkpoint,behind=0: behind '0' must be at least 1");
  EXPECT_EQ(complaint("gpu-dead@"),
            "--fault: place '' is none; write node12, gpu99 or node12/gpu3");
  EXPECT_EQ(complaint("gpu-dead,"), "--fault: gpu-dead takes since_save, not ''");
  EXPECT_EQ(complaint("gpu-dead@leaf1"),
            "--fault: place 'leaf1' is none; write node12, gpu99 or node12/gpu3");
  EXPECT_EQ(complaint("loss-spike@node1"), "--fault: loss-spike has no place; leave '@node1' out");
  EXPECT_EQ(complaint("gpu-slow,factor=0.5x"),
            "argument --fault gpu-slow,factor=0.5x: factor '0.5x' must be a plain number, without "
            "'x'");
  EXPECT_EQ(
      complaint("gpu-slow,factor=1e-9"),
      "argument --fault gpu-slow,factor=1e-9: factor '1e-9' must be above 0 and at most 1, and "
      "not below 0.001: a part that slow is as good as hung, try 'hang'");
  EXPECT_EQ(parse_fault("leaf-down@leaf3", 8).leaf, 3);
  EXPECT_EQ(parse_fault("rack-power-loss@rack2", 8).rack, 2);
  EXPECT_EQ(parse_fault("gpu-dead,since_save=5 min", 8).since_save, core::Seconds(300));
}

TEST(FaultText, AWrongTimeOfAMonitorIsCalledSo) {
  try {
    parse_monitor("watchdog=5");
    FAIL();
  } catch (const core::Error& error) {
    EXPECT_EQ(std::string(error.what()).rfind("argument --monitor watchdog=5: time ", 0), 0U)
        << error.what();
  }
}

}  // namespace
}  // namespace headway::report
