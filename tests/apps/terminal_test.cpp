// What a person sees: one screen, tables within the terminal, colour where it may be.
#include <algorithm>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>
#include <pty.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "tests/apps/program.h"

namespace headway::apps {
namespace {

using testing::HasSubstr;
using testing::Not;

class Terminal : public ProgramTest {
 protected:
  /// What the program prints on a terminal of that many columns, without progress.
  std::string on_terminal(const std::string& arguments,
                          int columns,
                          const char* before = "",
                          const char* streams = "2>/dev/null") const {
    winsize window{};
    window.ws_row = 24;
    window.ws_col = static_cast<unsigned short>(columns);
    int terminal = -1;
    const pid_t child = ::forkpty(&terminal, nullptr, nullptr, &window);
    if (child == 0) {
      const std::string command = "cd '" + folder_.string() + "' && " + before +
                                  " '" HEADWAY_PROGRAM "' " + arguments + " " + streams;
      ::execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
      ::_exit(127);
    }
    std::string out;
    char buffer[4096];
    for (ssize_t got = 0; (got = ::read(terminal, buffer, sizeof buffer)) > 0;) {
      out.append(buffer, static_cast<std::size_t>(got));
    }
    ::close(terminal);
    int status = 0;
    ::waitpid(child, &status, 0);
    std::erase(out, '\r');
    return out;
  }

  static std::size_t widest_line(const std::string& text) {
    std::size_t widest = 0;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      const auto shown = std::count_if(line.begin(), line.end(), [](char c) {
        return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;  // not inside a character
      });
      widest = std::max(widest, static_cast<std::size_t>(shown));
    }
    return widest;
  }
  static std::ptrdiff_t lines_of(const std::string& text) {
    return std::count(text.begin(), text.end(), '\n');
  }
};

constexpr const char* kTerminalRun =
    "run: {until: {steps: 20000}, failures: {use: llama-3-54-days}, trials: 4}\n";

TEST_F(Terminal, RunPlanAndDrillPrintOneScreenWhateverReadsIt) {
  write_small("s.yaml", kTerminalRun);
  for (const std::string verb :
       {"run s.yaml", "plan s.yaml", "plan s.yaml --sensitivity --verify 3 --vary tensor",
        "plan s.yaml --over cluster.node=dgx-a100,dgx-h100,dgx-b200 --over cluster.nodes=2,4",
        "plan s.yaml --limit deadline='1 min'", "drill s.yaml --fault hang",
        "drill s.yaml --fault gpu-slow,factor=0.5", "drill s.yaml --fault leaf-down"}) {
    for (const std::string& text : {run(verb).out, on_terminal(verb, 200)}) {
      EXPECT_LE(lines_of(text), 23) << text << "and a prompt";
      EXPECT_THAT(text, HasSubstr("More: --full\n"));
    }
    EXPECT_LE(widest_line(run(verb).out), 80U);
    EXPECT_LE(widest_line(on_terminal(verb + " --color never", 50)), 50U);
  }
}

// The verdict is what is read first: below the name of the scenario.
TEST_F(Terminal, PlanAndDrillSayTheirVerdictFirst) {
  write_small("s.yaml", kTerminalRun);
  const std::string plan = run("plan s.yaml").out;
  EXPECT_THAT(plan, testing::StartsWith("Small\nPlan 1 is the best by step: "));
  EXPECT_THAT(plan, testing::ContainsRegex("\n  yours +[0-9.]+ s, [0-9.]+ % longer a token "
                                           "than plan 1; [0-9]+ of [0-9]+ are faster\n"));
  EXPECT_THAT(plan, HasSubstr("\n  held     2 nodes, batch 32, sequence 4096, bf16, "));
  EXPECT_THAT(plan, HasSubstr("\n  limits   The step is limited by "));
  EXPECT_THAT(run("drill s.yaml --fault hang").out,
              testing::StartsWith("Fire drill: Small\nThe fault costs "));
}

TEST_F(Terminal, ShowPicksSectionsOfPlanAndDrill) {
  write_small("s.yaml", kTerminalRun);
  const std::string held = run("plan s.yaml --show held,own").out;
  EXPECT_THAT(held, HasSubstr("\nWhat it held"));
  EXPECT_THAT(held, HasSubstr("\nThe scenario's own layout takes "));
  EXPECT_THAT(held, Not(HasSubstr("What the search varied")));
  EXPECT_THAT(run("plan s.yaml --show machines").out,
              HasSubstr("No machines here: one machine was searched.\n"));
  const std::string ledger = run("drill s.yaml --fault hang --show ledger").out;
  EXPECT_THAT(ledger, HasSubstr("\nWhere the time of the drill goes\n"));
  EXPECT_THAT(ledger, Not(HasSubstr("Timeline")));
  EXPECT_THAT(ledger, HasSubstr("\nThe fault costs "));
  EXPECT_EQ(run("drill s.yaml --fault hang --show lodger").err,
            "headway drill: --show: there is no section 'lodger'; did you mean 'ledger'?\n");
  EXPECT_EQ(run("plan s.yaml --placement --full").code, 2) << "nodes have no sections";
}

TEST_F(Terminal, TablesStayWithinTheTerminal) {
  write_small("s.yaml", kTerminalRun);
  for (const std::string verb :
       {"run s.yaml --full --explain", "plan s.yaml --top 3 --full", "compare s.yaml s.yaml",
        "drill s.yaml --fault hang --full", "topo s.yaml", "catalog list gpus", "catalog constants",
        "doctor"}) {
    for (const int columns : {80, 60}) {
      const std::string text = on_terminal(verb + " --color never", columns);
      EXPECT_LE(widest_line(text), static_cast<std::size_t>(columns)) << verb << "\n" << text;
      EXPECT_GE(lines_of(text), 4) << verb;
    }
  }
}

TEST_F(Terminal, TextsOfFilesStayWithinTheTerminal) {
  write_small("a-scenario-with-a-name-that-is-longer-than-a-narrow-terminal.yaml");
  for (const std::string verb :
       {"catalog show gpus h100-sxm", "calibrate --help",
        "check a-scenario-with-a-name-that-is-longer-than-a-narrow-terminal.yaml"}) {
    for (const int columns : {80, 60}) {
      const std::string text = on_terminal(verb, columns);
      EXPECT_LE(widest_line(text), static_cast<std::size_t>(columns)) << verb << "\n" << text;
      EXPECT_GE(lines_of(text), 1) << verb;
    }
  }
  EXPECT_GT(widest_line(run("catalog show gpus h100-sxm").out), 100U) << "a file, for a pipe";
}

// "on 64 GPUs" is not true of half of them.
TEST_F(Terminal, TitlesSayWhatWasChanged) {
  write_small("s.yaml");
  const std::string set = " --set cluster.nodes=4 --set training.global_batch=64";
  const std::string title = "Small, with cluster.nodes=4, training.global_batch=64\n";
  for (const std::string verb : {"run s.yaml", "run s.yaml --full", "plan s.yaml --vary tensor"}) {
    EXPECT_THAT(run(verb + set).out, testing::StartsWith(title)) << verb;
  }
  EXPECT_THAT(run("drill s.yaml --fault hang" + set).out,
              testing::StartsWith("Fire drill: " + title));
  EXPECT_THAT(run("run s.yaml --set name=Mine --set cluster.nodes=4").out,
              testing::StartsWith("Mine\n"));
  ASSERT_EQ(run("run s.yaml --report r.html" + set).code, 0);
  EXPECT_THAT(read("r.html"), HasSubstr("<title>Small, with cluster.nodes=4"));
  EXPECT_THAT(run("run s.yaml --format json" + set).out, HasSubstr("\"name\": \"Small\""));
}

TEST_F(Terminal, RemarksStayWithinTheTerminal) {
  const std::string verb =
      "import megatron-args '" HEADWAY_ROOT "/tests/data/launch/llama3_70b.sh'";
  const std::string folded = on_terminal(verb, 60, "", ">/dev/null");
  EXPECT_LE(widest_line(folded), 60U) << folded;
  EXPECT_THAT(folded, HasSubstr("Assumed, because the file does not say"));
  EXPECT_GT(widest_line(run(verb).err), 100U);  // what is piped is one line each
}

TEST_F(Terminal, WhatIsPipedIsAsWideAsItIs) {
  write_small("s.yaml", kTerminalRun);
  const std::string piped = run("run s.yaml --full").out;
  EXPECT_GT(widest_line(piped), 150U);
  EXPECT_EQ(on_terminal("run s.yaml --full --color never", 1000), piped);
}

TEST_F(Terminal, ColourIsForTerminalsThatWantIt) {
  write_small("s.yaml");
  EXPECT_THAT(on_terminal("run s.yaml", 80), HasSubstr("\x1b[1m"));
  EXPECT_THAT(on_terminal("run s.yaml", 80, "NO_COLOR=1"), Not(HasSubstr("\x1b")));
  EXPECT_THAT(on_terminal("run s.yaml", 80, "TERM=dumb"), Not(HasSubstr("\x1b")));
  EXPECT_THAT(on_terminal("run s.yaml --color never", 80), Not(HasSubstr("\x1b")));
  EXPECT_THAT(run("run s.yaml").out, Not(HasSubstr("\x1b")));
  EXPECT_THAT(run("run s.yaml --color always").out, HasSubstr("\x1b[1m"));
  EXPECT_THAT(run("run s.yaml --color always --format json").out, Not(HasSubstr("\x1b")));
  EXPECT_THAT(run("run s.yaml --color always --set 'name=\"\\e[31mred\"'").out,
              HasSubstr("\\x1b[31mred"));
  EXPECT_THAT(run("catalog list gpus --color always").out,
              testing::AllOf(HasSubstr("\x1b[1m"), Not(HasSubstr("\\x1b"))));
  EXPECT_EQ(run("run s.yaml --color purple").code, 2);
}

TEST_F(Terminal, ShowPicksSections) {
  write_small("s.yaml", kTerminalRun);
  const std::string shown = run("run s.yaml --show memory,links").out;
  EXPECT_THAT(shown, HasSubstr("Memory of the fullest GPU"));
  EXPECT_THAT(shown, HasSubstr("\nLinks\n"));
  EXPECT_THAT(shown, Not(HasSubstr("Assumptions")));
  EXPECT_THAT(shown, HasSubstr("\nThe "));
  EXPECT_THAT(run("run s.yaml --show explanation").out, HasSubstr("What the step is made of"));
  EXPECT_EQ(run("run s.yaml --show assumption").err,
            "headway run: --show: there is no section 'assumption'; did you mean 'assumptions'?\n");
  EXPECT_THAT(run("run s.yaml --show zzz").err, HasSubstr("there are step, breakdown, memory"));
  const std::string both = run("run s.yaml --explain --show memory").out;
  EXPECT_THAT(both, HasSubstr("What the step is made of"));
  EXPECT_THAT(both, HasSubstr("Memory of the fullest GPU"));
  EXPECT_THAT(both, Not(HasSubstr("\nLinks\n")));
  EXPECT_EQ(run("run s.yaml --full --show memory").code, 2) << "all, or a part?";
}

TEST_F(Terminal, HelpStaysWithinTheTerminal) {
  for (const std::string verb : {"--help", "run --help", "plan --help", "validate --help"}) {
    EXPECT_LE(widest_line(on_terminal(verb, 80)), 80U) << verb;
    EXPECT_GE(lines_of(on_terminal(verb, 80)), lines_of(run(verb).out)) << verb;
    EXPECT_EQ(on_terminal(verb, 1000), run(verb).out) << verb;
  }
}

TEST_F(Terminal, EttrAgainstTheIntervalIsDrawn) {
  write_small("s.yaml",
              "run: {until: {wall: 30 d}, failures: {use: llama-3-54-days}, trials: 8}\n");
  const std::string shown = on_terminal("run s.yaml --show advice --color never", 80);
  EXPECT_THAT(shown,
              HasSubstr("\nETTR against the work between checkpoints; * is the job's own\n"));
  EXPECT_THAT(shown, testing::ContainsRegex("\\| *[o* ]*\\*"));
  EXPECT_LE(widest_line(shown), 80U);
  EXPECT_EQ(run("run s.yaml --show advice").out,
            on_terminal("run s.yaml --show advice --color never", 1000));
  EXPECT_THAT(on_terminal("run s.yaml --show advice", 80), HasSubstr("\x1b[32m*\x1b[0m"));
  EXPECT_THAT(run("run s.yaml --show memory").out, Not(HasSubstr("ETTR against")));
}

TEST_F(Terminal, TheParetoFrontOfPlansIsDrawn) {
  write_small("s.yaml",
              "run: {until: {wall: 30 d}, failures: {use: llama-3-54-days}, trials: 4, prices: "
              "{use: h100-owned-2024}}\n");
  const std::string plans =
      on_terminal("plan s.yaml --full --objective step,dollars --top 5 --color never", 80);
  EXPECT_THAT(plans, HasSubstr("\nPlans by step and dollars: 1 to 9, a (10), b (11) ... are on the "
                               "Pareto front of\nstep, dollars, dots behind it\n  USD, median\n"));
  EXPECT_LE(widest_line(plans), 80U);
}

TEST_F(Terminal, PicturesAreInTheJsonWhereTheyAreAskedFor) {
  write_small("s.yaml");
  const auto result = nlohmann::json::parse(run("run s.yaml --format json --pictures").out);
  EXPECT_EQ(result["pictures"]["timeline"]["stages"].size(), 2U);
  EXPECT_EQ(result["pictures"]["stage_memory_bytes"].size(), 2U);
  const std::string scenario = result["pictures"]["scenario"];
  EXPECT_NE(scenario.find("name: \"Small\""), std::string::npos);
  EXPECT_FALSE(nlohmann::json::parse(run("run s.yaml --format json").out).contains("pictures"));
}

}  // namespace
}  // namespace headway::apps
