#include "apps/headway/sweep/engine.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <spawn.h>
#include <string>
#include <sys/wait.h>
#include <vector>

#include "sim/core/error.h"

extern char** environ;  // NOLINT(readability-redundant-declaration): POSIX has it in no header

namespace headway::apps {

namespace {

/// The interpreter whose package has the engine: the one that the program was installed with.
std::string python() {
  const char* named = std::getenv("HEADWAY_PYTHON");
  return named != nullptr && *named != '\0' ? named : "python3";
}

/// Starts a program and waits for it.
/// @returns its exit code, or 1 if a signal ended it
int run_program(const std::vector<std::string>& words) {
  std::vector<std::string> copies = words;
  std::vector<char*> arguments;
  for (std::string& word : copies) {
    arguments.push_back(word.data());
  }
  arguments.push_back(nullptr);
  pid_t child = 0;
  const int failed =
      posix_spawnp(&child, arguments[0], nullptr, nullptr, arguments.data(), environ);
  if (failed != 0) {
    throw core::Error(fmt::format(
        "--engine dask: '{}' cannot be started: {}; HEADWAY_PYTHON names the Python that has the "
        "package (pip install 'headway[dask]')",
        words.front(), std::strerror(failed)));
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

}  // namespace

int run_dask(const std::string& folder,
             const std::string& scheduler,
             const CommonOptions& options) {
  std::vector<std::string> words{python(), "-m", "headway._dask", "--fold",
                                 options.fold ? "on" : "off"};
  if (!scheduler.empty()) {
    words.insert(words.end(), {"--scheduler", scheduler});
  }
  if (options.threads > 0) {
    words.insert(words.end(), {"--workers", std::to_string(options.threads)});
  }
  if (options.quiet || options.progress == "off") {
    words.emplace_back("--quiet");
  }
  words.insert(words.end(), {"--", folder});
  const int code = run_program(words);
  if (code == 1) {
    throw core::Error(fmt::format(
        "--engine dask: '{} -m headway._dask' failed; HEADWAY_PYTHON names the Python that has the "
        "package (pip install 'headway[dask]')",
        words.front()));
  }
  return code;
}

}  // namespace headway::apps
