#include <algorithm>
#include <array>
#include <csignal>
#include <filesystem>
#include <fmt/core.h>
#include <new>
#include <string>
#include <unistd.h>

#include "sim/core/error.h"
#include "sim/core/infeasible.h"
#include "sim/core/shown_text.h"

#include "apps/headway/output.h"
#include "apps/headway/verb.h"

namespace headway::apps {

namespace {

constexpr int kOwnFault = 1;
constexpr int kInfeasible = 3;
constexpr int kInterrupted = 130;

void on_interrupt(int /*signal*/) { _exit(kInterrupted); }

std::string help() {
  std::string out =
      "headway predicts time, MFU, goodput and cost of training on a cluster.\n"
      "Usage: headway VERB [options]; 'headway VERB --help' explains a verb.\n\n";
  for (const auto& verb : verbs()) {
    if (verb.same_line) {
      out.back() = ';';
      out += fmt::format("  {}  {}\n", verb.name, verb.summary);
    } else {
      out += fmt::format("  {:<12}{}\n", verb.name, verb.summary);
    }
  }
  return out + "Example: headway run configs/scenarios/llama-3.1-405b-16k-h100.yaml\n";
}

int unknown_verb(const std::string& name) {
  std::vector<std::string> names;
  for (const auto& verb : verbs()) {
    names.emplace_back(verb.name);
  }
  const auto guess = core::did_you_mean(name, names);
  print_error(fmt::format(
      "headway: unknown verb '{}'{}\n", core::visible(core::shortened(name)),
      guess ? fmt::format("; did you mean '{}'?", *guess) : "; 'headway --help' lists the verbs"));
  return kUsage;
}

int run_verb(const std::string& name, int argc, char** argv) {
  for (const auto& verb : verbs()) {
    if (verb.name == name) {
      return verb.run(argc, argv);
    }
  }
  return unknown_verb(name);
}

/// Help, version or a verb.
int answer(const std::string& name, int argc, char** argv) {
  if (name == "help" && argc > 2) {  // headway help run
    std::string option = "--help";
    std::array<char*, 2> words{argv[2], option.data()};
    return run_verb(argv[2], 2, words.data());
  }
  if (name == "--help" || name == "-h" || name == "help") {
    print_help(help());
    return 0;
  }
  if (name == "--version" || name == "-V") {
    print_result(fmt::format("headway {}\n", HEADWAY_VERSION));
    return 0;
  }
  if (name.empty()) {
    print_error(help());
    return kUsage;
  }
  return run_verb(name, argc - 1, argv + 1);
}

void set_signals() {
  std::signal(SIGPIPE, SIG_IGN);  // a closed pipe is found by print_result
  if (std::signal(SIGINT, on_interrupt) == SIG_IGN) {
    std::signal(SIGINT, SIG_IGN);  // `nohup`, `&` in a script: who started us wants it so
  }
}

}  // namespace

const std::vector<Verb>& verbs() {
  static const std::vector<Verb> table{
      {"run", "predict one scenario: step time, memory, goodput, cost", run_run},
      {"plan", "search parallel layouts for a scenario and rank them", run_plan},
      {"sweep", "predict a scenario at many points", run_sweep},
      {"solve", "what value is enough", run_solve, true},
      {"worker", "simulate shards of a sweep", run_worker},
      {"collect", "print its points", run_collect, true},
      {"compare", "two scenarios side by side; which layer makes the difference", run_compare},
      {"drill", "one fault in a running job: what follows, costs and helps", run_drill},
      {"diagnose", "why a job is slower than it should be, from its logs", run_diagnose},
      {"expect", "acceptance thresholds of a sound cluster; figures against them", run_expect},
      {"validate", "predict published measurements and print the errors", run_validate},
      {"report", "write results as a page with charts", run_report},
      {"serve", "a live page", run_serve, true},
      {"topo", "print a fabric: tiers, oversubscription, bisection, connectivity", run_topo},
      {"collective", "predict the table of nccl-tests", run_collective},
      {"replay", "traces on a cluster", run_replay, true},
      {"import", "topologies, failure logs, launch files; models: init --model hf:", run_import},
      {"export", "write the launch file of a framework, or a step as traces", run_export},
      {"calibrate", "turn measurements into profiles, and profiles against logs", run_calibrate},
      {"check", "read configuration files and report every error", run_check},
      {"explain", "tell what a key of a scenario or a figure of a result means", run_explain},
      {"schema", "print the JSON Schema of a kind of file", run_schema},
      {"catalog", "list and show GPUs, nodes, fabrics, models and constants", run_catalog},
      {"init", "write a commented scenario to start from", run_init},
      {"doctor", "what this installation finds", run_doctor},
      {"completion", "for shells; manual page", run_completion, true}};
  return table;
}

int dispatch(int argc, char** argv) {
  open_standard_streams();
  set_signals();
  try {
    return answer(argc > 1 ? argv[1] : "", argc, argv);
  } catch (const core::Error& error) {
    print_complaint(error.what());
    return core::exit_code(error);
  } catch (const std::filesystem::filesystem_error& error) {
    print_error(core::visible(fmt::format("headway: cannot use the file or folder '{}': {}\n",
                                          core::shortened(error.path1().string()),
                                          error.code().message())));
    return kUsage;
  } catch (const LostOutput& error) {
    print_error(fmt::format("headway: the result could not be written to standard output: {}\n",
                            error.what()));
    return kOwnFault;
  } catch (const std::bad_alloc&) {
    print_error(
        "headway: out of memory: this needs more than the machine has; look at fewer GPUs, planes "
        "or "
        "micro-batches\n");
    return kInfeasible;
  } catch (const std::exception& error) {
    print_error(core::visible(fmt::format(
        "headway: internal error: {}\nPlease report this with the scenario.\n", error.what())));
    return kOwnFault;
  }
}

}  // namespace headway::apps
