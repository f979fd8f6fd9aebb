// The verbs of the command line: a name, one line of help, and the function that runs it.
#pragma once

#include <string_view>
#include <vector>

namespace headway::apps {

/// Exit code of wrong input, the command line included.
inline constexpr int kUsage = 2;

struct Verb {
  std::string_view name;
  std::string_view summary;
  /// @param argv  argv[0] is the verb
  /// @returns     the exit code
  int (*run)(int argc, char** argv);
  bool same_line = false;  ///< in the help on the line of the verb before, so that a screen has all
};

int run_run(int argc, char** argv);
int run_plan(int argc, char** argv);
int run_collective(int argc, char** argv);
int run_replay(int argc, char** argv);
int run_topo(int argc, char** argv);
int run_import(int argc, char** argv);
int run_export(int argc, char** argv);
int run_calibrate(int argc, char** argv);
int run_check(int argc, char** argv);
int run_schema(int argc, char** argv);
int run_catalog(int argc, char** argv);
int run_init(int argc, char** argv);
int run_doctor(int argc, char** argv);
int run_compare(int argc, char** argv);
int run_sweep(int argc, char** argv);
int run_solve(int argc, char** argv);
int run_worker(int argc, char** argv);
int run_collect(int argc, char** argv);
int run_drill(int argc, char** argv);
int run_diagnose(int argc, char** argv);
int run_expect(int argc, char** argv);
int run_validate(int argc, char** argv);
int run_report(int argc, char** argv);
int run_serve(int argc, char** argv);
int run_explain(int argc, char** argv);
int run_completion(int argc, char** argv);

/// The verbs this version has, in the order of the help.
const std::vector<Verb>& verbs();
/// Runs the verb argv[1]; turns errors into messages on stderr and exit codes.
int dispatch(int argc, char** argv);

}  // namespace headway::apps
