// The contract of the command line: help, usage errors, streams and --out.
#include <algorithm>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>
#include <regex>

#include "tests/apps/program.h"

namespace headway::apps {
namespace {

using nlohmann::json;
using testing::HasSubstr;

using CommandLine = ProgramTest;

const std::vector<std::string>& all_verbs() {
  static const std::vector<std::string> names{
      "run",        "plan",    "compare", "drill",  "validate",   "topo",
      "collective", "import",  "export",  "check",  "explain",    "report",
      "schema",     "catalog", "init",    "doctor", "completion", "replay"};
  return names;
}

TEST_F(CommandLine, HelpListsEveryVerbOnOneScreen) {
  const auto help = run("--help");
  EXPECT_EQ(help.code, 0);
  EXPECT_EQ(help.err, "");
  EXPECT_LE(std::count(help.out.begin(), help.out.end(), '\n'), 25);
  EXPECT_FALSE(std::regex_search(help.out, std::regex("[^\n]{81}"))) << help.out;
  for (const auto& verb : all_verbs()) {
    EXPECT_THAT(help.out, HasSubstr("  " + verb + " "));
  }
}

TEST_F(CommandLine, HelpOfAVerbFitsAScreenAndHasTwoExamples) {
  for (const auto& verb : all_verbs()) {
    const auto help = run(verb + " --help");
    EXPECT_EQ(help.code, 0) << verb;
    const int lines = verb == "plan"                      ? 42
                      : verb == "import" || verb == "run" ? 31
                      : verb == "drill"                   ? 30
                                                          : 28;  // the most options
    EXPECT_LE(std::count(help.out.begin(), help.out.end(), '\n'), lines) << help.out;
    const std::string examples = help.out.substr(help.out.find("Examples:"));
    EXPECT_GE(std::count(examples.begin(), examples.end(), '\n'), 3) << verb;
    EXPECT_THAT(examples, HasSubstr("headway")) << verb;
  }
}

TEST_F(CommandLine, VersionIsPrinted) {
  EXPECT_THAT(run("--version").out, testing::MatchesRegex("headway [0-9]+\\.[0-9]+\\.[0-9]+\n"));
}

TEST_F(CommandLine, WhatOthersCallHelpAndVersionIsUnderstood) {
  EXPECT_EQ(run("help run").out, run("run --help").out);
  EXPECT_EQ(run("help").out, run("--help").out);
  EXPECT_EQ(run("help runn").code, 2);
  EXPECT_EQ(run("-V").out, run("--version").out);
}

// A scenario of the catalogue by its name, where there is no such file.
TEST_F(CommandLine, ScenariosOfTheCatalogueHaveNames) {
  const std::string name = "small-llama-8b-64-h100";
  const std::string path = HEADWAY_ROOT "/configs/scenarios/" + name + ".yaml";
  const std::string how = " --trials 1 --set run.until.steps=10";
  const auto named = run("run " + name + how);
  EXPECT_EQ(named.code, 0) << named.err;
  EXPECT_EQ(named.out, run("run " + path + how).out);
  EXPECT_EQ(run("sweep " + name + " --sweep parallelism.tensor=1,2 --dry-run").code, 0);
  EXPECT_EQ(run("compare " + name + " " + name + how).code, 0);
  write_small(name);
  EXPECT_THAT(run("run " + name).out, testing::StartsWith("Small\n")) << "a file comes first";
  EXPECT_THAT(run("run small-llama-8b-64-h10").err, HasSubstr("there is no such file"));
}

TEST_F(CommandLine, WithoutAVerbTheHelpGoesToStandardErrorAndTheCodeIsTwo) {
  const auto nothing = run("");
  EXPECT_EQ(nothing.code, 2);
  EXPECT_EQ(nothing.out, "");
  EXPECT_THAT(nothing.err, HasSubstr("Usage: headway VERB"));
}

TEST_F(CommandLine, UnknownVerbsAndOptionsAreAnsweredWithAGuess) {
  const auto verb = run("rum");
  EXPECT_EQ(verb.code, 2);
  EXPECT_EQ(verb.err, "headway: unknown verb 'rum'; did you mean 'run'?\n");
  const auto option = run("run s.yaml --formt json");
  EXPECT_EQ(option.code, 2);
  EXPECT_EQ(option.out, "");
  EXPECT_EQ(option.err, "headway run: unknown option '--formt'; did you mean '--format'?\n");
}

TEST_F(CommandLine, AFileThatDoesNotExistIsAUsageError) {
  for (const std::string arguments : {"run none.yaml", "check none.yaml", "plan none.yaml"}) {
    const auto outcome = run(arguments);
    EXPECT_EQ(outcome.code, 2) << arguments;
    EXPECT_THAT(outcome.err, HasSubstr("none.yaml")) << arguments;
  }
}

TEST_F(CommandLine, OutRefusesToOverwriteWithoutForce) {
  write("there.json", "precious");
  const auto refused = run("schema --out there.json");
  EXPECT_EQ(refused.code, 2);
  EXPECT_EQ(refused.err, "'there.json' exists; use --force to overwrite it\n");
  EXPECT_EQ(read("there.json"), "precious");
  const auto forced = run("schema --out there.json --force");
  EXPECT_EQ(forced.code, 0);
  EXPECT_EQ(forced.out, "");
  EXPECT_EQ(read("there.json"), run("schema").out);
}

// Whom a file is for does not change with what is in it.
TEST_F(CommandLine, OutKeepsThePermissionsOfWhatItReplaces) {
  using std::filesystem::perms;
  const auto file = folder_ / "there.json";
  write("there.json", "precious");
  for (const perms mine : {perms::owner_read | perms::owner_write, perms{0664}}) {
    std::filesystem::permissions(file, mine);
    ASSERT_EQ(run("schema --out there.json --force").code, 0);
    EXPECT_EQ(std::filesystem::status(file).permissions(), mine);
  }
}

TEST_F(CommandLine, OutNamesWhatIsInItsWay) {
  EXPECT_EQ(run("schema --out no/folder.json").err,
            "cannot write 'no/folder.json': the folder 'no' does not exist\n");
  EXPECT_EQ(run("schema --out . --force").err, "cannot write '.': it is no plain file\n");
}

// Options that the help tells of in one line are named by complaints like all others.
TEST_F(CommandLine, ComplaintsNameTheirOption) {
  EXPECT_EQ(run("run s.yaml --color maybe").err,
            "headway run: --color: 'maybe' is none of auto, always, never\n");
  EXPECT_EQ(run("run s.yaml --trace t.json --trace-steps 0").err,
            "headway run: --trace-steps: '0' must be a whole number from 1 to 1,000\n");
  EXPECT_THAT(run("run --help").out, testing::Not(HasSubstr("Also:\n  --")));
}

// An option is told in its own digits and with its range; what files may write, it may have.
TEST_F(CommandLine, OptionsOfWholeNumbersReadThemAsFilesDo) {
  EXPECT_EQ(run("run s.yaml --seed 99999999999999999999999").err,
            "headway run: --seed: '99999999999999999999999' must be a whole number from 0 to "
            "9,007,199,254,740,992\n");
  EXPECT_EQ(run("run s.yaml --trials 1e9").err,
            "headway run: --trials: '1e9' must be a whole number from 1 to 1,000,000\n");
  EXPECT_EQ(run("plan s.yaml --top 1.5").err,
            "headway plan: --top: '1.5' must be a whole number from 1 to 1,000\n");
  EXPECT_EQ(run("topo s.yaml --nodes 1K").err,
            "headway topo: --nodes: '1K' may be 1000 or 1024; write one of them\n");
  EXPECT_EQ(run("topo s.yaml --nodes 1e10").err,
            "headway topo: --nodes: '1e10' must be a whole number from 1 to 2,147,483,647\n");
  write_small("s.yaml");
  const auto with = [this](const std::string& options) {
    return json::parse(run("run s.yaml --format json " + options).out)["scenario"]["seed"]
        .get<double>();
  };
  EXPECT_EQ(with("--seed 1e3"), 1000);
  EXPECT_EQ(with("--seed 9007199254740992"), 9007199254740992.0);
}

// None of the words of the library that reads the line.
TEST_F(CommandLine, ComplaintsOfTheLineAreInTheWordsOfTheHouse) {
  EXPECT_EQ(run("run s.yaml --quiet=abc").err,
            "headway run: --quiet: 'abc' must be true or false; write --quiet alone\n");
  EXPECT_EQ(run("run s.yaml --trials").err,
            "headway run: --trials: the value is missing; write --trials N\n");
  EXPECT_EQ(run("run s.yaml --seed 1 --seed 2").err,
            "headway run: --seed is given 2 times; keep one\n");
}

// Too few and too many words behind a verb: what is missing is told as the help tells it.
TEST_F(CommandLine, ComplaintsSayWhatIsMissingAndWhatIsTooMuch) {
  const std::vector<std::pair<const char*, const char*>> slips = {
      {"run", "SCENARIO is required: Scenario file (YAML), or its name in the catalogue"},
      {"compare", "A is required: Scenario file (YAML), or its name in the catalogue"},
      {"compare a.yaml",
       "B is required: The other scenario (YAML), or profiles of a run of A (JSON)"},
      {"diagnose s.yaml", "LOG is required: What was measured; each file says itself what it is"},
      {"solve s.yaml", "KEY is required: Field that is looked for, as --set takes it"},
      {"solve s.yaml cluster.nodes",
       "--for is required: Condition, as assert: has it (docs/definitions.md)"},
      {"export",
       "FRAMEWORK is required: Whose file: megatron|torchtitan|nemo|deepspeed|maxtext|chakra"},
      {"run a.yaml b.yaml", "unexpected argument 'b.yaml'"},
      {"calibrate compare p.yaml a.log b.log", "unexpected argument 'b.log'"}};
  for (const auto& [line, message] : slips) {
    const auto outcome = run(line);
    EXPECT_EQ(outcome.code, 2) << line;
    EXPECT_THAT(outcome.err, testing::EndsWith(std::string(": ") + message + "\n")) << line;
  }
}

// What a variable of the shell that is not set leaves of --out "$RESULT".
TEST_F(CommandLine, OutWithoutANameIsRefusedByEveryVerb) {
  for (const char* verb : {"run s.yaml", "schema", "report r.json", "import nccl-xml t.xml",
                           "export megatron s.yaml", "calibrate fit a.csv"}) {
    const auto outcome = run(std::string(verb) + " --out ''");
    EXPECT_EQ(outcome.code, 2) << verb;
    EXPECT_EQ(outcome.out, "") << verb;
    EXPECT_THAT(outcome.err, HasSubstr("--out: the name of the file is empty")) << verb;
  }
}

TEST_F(CommandLine, OutFollowsLinksAndLeavesNoDraft) {
  write("real.json", "old");
  std::filesystem::create_symlink("real.json", folder_ / "link.json");
  ASSERT_EQ(run("schema --out link.json --force").code, 0);
  EXPECT_TRUE(std::filesystem::is_symlink(folder_ / "link.json"));
  EXPECT_THAT(read("real.json"), HasSubstr("\"$schema\""));
  for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
    EXPECT_NE(entry.path().extension(), ".tmp") << entry.path();
  }
}

// Processes of several containers have one number and may share a folder: the draft of another is
// left alone, and neither keeps the other from writing.
TEST_F(CommandLine, ADraftOfAnotherWithTheSameNumberIsLeftAlone) {
  const auto outcome = run("schema --out mine.json", "echo theirs >.headway.$$.0.0.tmp && exec");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(read("mine.json"), HasSubstr("\"$schema\""));
  int drafts = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
    if (entry.path().extension() == ".tmp") {
      EXPECT_EQ(read(entry.path().filename().string()), "theirs\n");
      ++drafts;
    }
  }
  EXPECT_EQ(drafts, 1);
}

TEST_F(CommandLine, NothingIsWrittenWhenTheInputIsBad) {
  write("bad.yaml", "headway: 1\nname: x\n");
  const auto outcome = run("run bad.yaml --out result.json --format json");
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.out, "");
  EXPECT_FALSE(exists("result.json"));
}

TEST_F(CommandLine, StarterOfInitPassesCheck) {
  EXPECT_EQ(run("init").code, 0);
  const auto check = run("check scenario.yaml");
  EXPECT_EQ(check.code, 0) << check.err;
  EXPECT_EQ(check.out, "scenario.yaml: correct (scenarios)\n");
  EXPECT_EQ(run("init").code, 2) << "a second init must not overwrite";
  const std::string unknown = run("init other.yaml --gpu 2").err;
  EXPECT_EQ(unknown.rfind("argument --gpu: the catalogue has no 'gpus/2'", 0), 0U) << unknown;
}

TEST_F(CommandLine, CheckReportsTheErrorsOfAllFiles) {
  write_small("good.yaml");
  write_small("typo.yaml", "runn: {}\n");
  write_small("batch.yaml", "assert: [\"step.mfuu > 1\"]\n");
  const auto check = run("check good.yaml typo.yaml batch.yaml");
  EXPECT_EQ(check.code, 2);
  EXPECT_EQ(check.out, "good.yaml: correct (scenarios)\n");
  EXPECT_THAT(check.err, HasSubstr("typo.yaml:11:1: unknown key 'runn'; did you mean 'run'?"));
  EXPECT_THAT(check.err,
              HasSubstr("the result has no number 'step.mfuu'; did you mean 'step.mfu'?"));
  const json files = json::parse(run("check good.yaml typo.yaml --format json").out)["files"];
  EXPECT_EQ(files[0]["correct"], true);
  EXPECT_EQ(files[1]["errors"][0]["line"], 11);
}

TEST_F(CommandLine, CatalogListsAndShowsEntries) {
  EXPECT_THAT(run("catalog list gpus").out, HasSubstr("h100-sxm"));
  const auto shown = run("catalog show gpus h100-sxm");
  EXPECT_THAT(shown.out, HasSubstr("architecture: hopper"));
  const auto wrong = run("catalog show gpus h100-smx");
  EXPECT_EQ(wrong.code, 2);
  EXPECT_EQ(wrong.err, "'gpus' has no entry 'h100-smx'; did you mean 'h100-sxm'?\n");
  const json rows = json::parse(run("catalog list models --format json").out)["rows"];
  EXPECT_GE(rows.size(), 20U);
  const std::string kinds = run("catalog list").out;
  EXPECT_THAT(kinds, HasSubstr("models"));
  EXPECT_LT(std::count(kinds.begin(), kinds.end(), '\n'), 20) << "kinds, not hundreds of entries";
}

TEST_F(CommandLine, EntriesAreMeantByTheirBeginningOrAlmost) {
  EXPECT_THAT(run("init x.yaml --gpu h10").err, HasSubstr("did you mean h100"));
  EXPECT_THAT(run("init x.yaml --model lama").err, HasSubstr("did you mean llama"));
}

// Words and files that are spelled nearly so are named, wherever they stand.
TEST_F(CommandLine, SaysWhatWasMeant) {
  write_small("small.yaml");
  const std::vector<std::pair<std::string, std::string>> cases{
      {"run smal.yaml", "smal.yaml: there is no such file; did you mean small.yaml?"},
      {"run small-llama-8b-64-h100.yaml", "configs/scenarios/small-llama-8b-64-h100.yaml?"},
      {"topo fattree --nodes 8",
       "fattree: there is no such file, and no cluster, fabric or node of"},
      {"topo rail-optimised-ndr --nodes 8", "did you mean 'rail-optimized-ndr'?"},
      {"export megatrn small.yaml", "chakra; did you mean 'megatron'?"},
      {"import megatron-arg small.yaml", "did you mean 'megatron-args'?"},
      {"schema scenario", "did you mean 'scenarios'?"}};
  for (const auto& [words, meant] : cases) {
    const auto outcome = run(words);
    EXPECT_EQ(outcome.code, 2) << words;
    EXPECT_THAT(outcome.err, HasSubstr(meant)) << words;
  }
}

TEST_F(CommandLine, EveryConstantHasAValueAndASource) {
  const json rows = json::parse(run("catalog constants --format json").out)["rows"];
  ASSERT_GT(rows.size(), 20U);
  std::set<std::string> rooms;
  int fitted = 0;
  for (const auto& row : rows) {
    EXPECT_NE(row["source"], "") << row;
    rooms.insert(row["entry"].get<std::string>());
    fitted += row["standard_error"].is_number() ? 1 : 0;
    // The A100 has no 8-bit matrix unit, so no file writes this share, and no data sheet stands for
    // it.
    if (row["entry"] == "gpus/a100-80gb-sxm" && row["field"] == "sustained.gemm_8bit") {
      EXPECT_EQ(row["source"], "default of the program");
    }
    EXPECT_TRUE(row["value"].is_number()) << row;
  }
  EXPECT_TRUE(rooms.count("models/gpu") == 1 && rooms.count("models/network") == 1);
  EXPECT_GT(fitted, 10);
}

TEST_F(CommandLine, CompletionNamesTheVerbs) {
  for (const std::string shell : {"bash", "zsh", "fish"}) {
    EXPECT_THAT(run("completion " + shell).out, HasSubstr("catalog")) << shell;
  }
  EXPECT_EQ(run("completion tcsh").code, 2);
  EXPECT_EQ(std::system("'" HEADWAY_PROGRAM "' completion bash | bash -n"), 0);
}

// Options of many verbs are one line of their help, and stand whole in the manual page.
TEST_F(CommandLine, TheManualHasWhatHelpLeavesOut) {
  EXPECT_THAT(run("plan --help").out, HasSubstr(", --color auto|always|never\n"));
  const std::string manual = run("completion man").out;
  EXPECT_THAT(manual, HasSubstr(".SS headway calibrate anchor\n"));
  EXPECT_THAT(manual, HasSubstr(R"(.TP
\fB\-\-trace\-ranks\fR 0\-7,64
Also these ranks' kernels)"));
  EXPECT_THAT(run("completion --words keys").out, HasSubstr("\ncluster.nodes\n"));
}

// `headway VERB --list-options` is what the scripts ask: all that the help of the verb shows.
TEST_F(CommandLine, CompletionKnowsTheOptionsOfEachVerb) {
  for (const std::string verb : {"run", "plan", "compare", "drill", "topo", "collective"}) {
    const std::string listed = run(verb + " --list-options").out;
    const std::string help = run(verb + " --help").out;
    const std::regex option("\n  (?:-\\w,)?(--[\\w-]+)");
    int options = 0;
    for (std::sregex_iterator it(help.begin(), help.end(), option), end; it != end; ++it) {
      EXPECT_THAT(listed, HasSubstr((*it)[1].str() + "\t")) << verb;
      ++options;
    }
    EXPECT_GE(options, 3) << help;
  }
  // The script in a shell: "headway drill --mon<tab>", "headway run --color <tab>".
  const auto completes = [](const std::string& words, int place, const std::string& with) {
    const std::string ask = "eval \"$('" HEADWAY_PROGRAM
                            "' completion bash)\"; COMP_WORDS=('" HEADWAY_PROGRAM "' " +
                            words + "); COMP_CWORD=" + std::to_string(place) +
                            "; _headway; test \"${COMPREPLY[*]}\" = \"" + with + "\"";
    const std::string quoted = std::regex_replace(ask, std::regex("'"), "'\\''");
    return std::system(("bash -c '" + quoted + "'").c_str()) == 0;
  };
  EXPECT_TRUE(completes("drill --mon", 2, "--monitor"));
  EXPECT_TRUE(completes("run --color ''", 3, "auto always never"));
  EXPECT_TRUE(completes("export tor", 2, "torchtitan")) << "a positional";
  EXPECT_TRUE(completes("completion ''", 2, "bash zsh fish man"));
  EXPECT_TRUE(completes("calibrate an", 2, "anchor"));
  EXPECT_TRUE(completes("plan s.yaml --hold micro", 4, "micro_batch")) << "fields of the search";
  EXPECT_TRUE(completes("plan s.yaml --objective do", 4, "dollars"));
  EXPECT_TRUE(completes("explain cluster.spare", 2, "cluster.spares")) << "keys";
  EXPECT_TRUE(completes("topo rail-on", 2, "rail-only-ndr")) << "entries";
  EXPECT_TRUE(completes("collective all_reduce --node dgx-h1", 4, "dgx-h100")) << "entries";
  // Bash takes "cluster.node=dgx-h1" for three words.
  EXPECT_TRUE(completes("run s.yaml --set cluster.node = dgx-h1", 6, "dgx-h100"));
  EXPECT_TRUE(completes("run s.yaml --set parallelism.schedule = zb", 6, "zb-h1 zb-h2 zb-v"));
  EXPECT_TRUE(completes("run s.yaml --set parallelism.sequence =", 5, "true false"));
  // Of lists the last word; of faults the place, of which Bash divides the @, or not.
  EXPECT_TRUE(completes("run s.yaml --show memory,lin", 4, "memory,links"));
  EXPECT_TRUE(completes("plan s.yaml --show plans,left", 4, "plans,left-out"));
  EXPECT_TRUE(completes("drill s.yaml --show led", 4, "ledger"));
  EXPECT_TRUE(completes("plan s.yaml --objective days,doll", 4, "days,dollars"));
  EXPECT_TRUE(completes("drill s.yaml --fault hang @ ra", 6, "rack"));
  EXPECT_TRUE(completes("drill s.yaml --fault hang @", 5, "node leaf rack site"));
  EXPECT_TRUE(completes("drill s.yaml --fault hang@le", 4, "hang@leaf"));
  EXPECT_TRUE(completes("drill s.yaml --monitor watch", 4, "watchdog"));
  EXPECT_TRUE(completes("drill s.yaml --monitor watchdog = o", 6, "on off"));
  EXPECT_TRUE(completes("run s.yaml --network pack", 4, "packet"));
  EXPECT_TRUE(completes("run s.yaml --network packet : dcq", 6, "dcqcn"));
}

// What has no name to take is written to: all verbs, no draft beside it.
TEST_F(CommandLine, OutMayBeAStream) {
  write_small("s.yaml");
  for (const std::string verb : {"run s.yaml --full --quiet", "catalog list gpus", "schema gpus"}) {
    const Outcome outcome = run(verb + " --out /dev/stdout");
    EXPECT_EQ(outcome.code, 0) << verb << outcome.err;
    EXPECT_EQ(run(verb + " --out /dev/stdout | cat").out, run(verb + " | cat").out) << verb;
  }
  EXPECT_EQ(run("schema gpus --out /dev/null").code, 0);
  EXPECT_EQ(run("schema gpus --out /dev/full").code, 2);
}

TEST_F(CommandLine, DiagnoseTakesAllCoresByZero) {
  EXPECT_THAT(run("diagnose --help").out, HasSubstr("--threads N [0]"));
  EXPECT_THAT(run("diagnose s.yaml --threads 0 none.log").err,
              testing::Not(HasSubstr("--threads")));
}

TEST_F(CommandLine, DoctorLooksAtPython) {
  const std::string none = run("doctor", "PATH=/no/such").out;
  EXPECT_THAT(none, HasSubstr("no python3 on PATH"));
  EXPECT_EQ(run("doctor", "PATH=/no/such").code, 0) << "the program needs no Python";
}

TEST_F(CommandLine, DoctorNamesAFolderThatIsMissing) {
  EXPECT_EQ(run("doctor").code, 0);
  const auto missing = run("doctor", "HEADWAY_CONFIGS=/no/such");
  EXPECT_EQ(missing.code, 2);
  EXPECT_EQ(missing.err, "HEADWAY_CONFIGS names '/no/such', which is no folder\n");
}

}  // namespace
}  // namespace headway::apps
