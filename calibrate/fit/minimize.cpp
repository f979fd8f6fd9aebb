#include "calibrate/fit/minimize.h"

#include <array>
#include <dlfcn.h>
#include <filesystem>
#include <fmt/format.h>

#include "sim/core/error.h"

namespace headway::fit {

namespace {

using Minimizer = bool (*)(const Minimization&, std::vector<double>&);

/// Opens headway_solver.so: beside the program, or in the folder of programs beside the Python
/// module.
Minimizer open_minimizer() {
  static const char in_this_file = 0;
  Dl_info here{};
  ::dladdr(&in_this_file, &here);
  std::error_code unknown;
  auto file = std::filesystem::canonical(here.dli_fname, unknown);
  if (unknown) {  // of a program it is the word that it was started by, which may be no path
    file = std::filesystem::read_symlink("/proc/self/exe", unknown);
  }
  const std::filesystem::path folder = file.parent_path();
  for (const auto& path : std::array{folder, folder / "bin", folder.parent_path() / "bin"}) {
    const std::string solver = (path / "headway_solver.so").string();
    if (!std::filesystem::exists(solver, unknown)) {
      continue;
    }
    void* const library = ::dlopen(solver.c_str(), RTLD_NOW | RTLD_LOCAL);
    void* const entry = library != nullptr ? ::dlsym(library, "headway_minimize") : nullptr;
    if (entry == nullptr) {
      throw core::Error(
          fmt::format("the solver of fits does not load: {}; install Headway again", ::dlerror()));
    }
    return reinterpret_cast<Minimizer>(entry);
  }
  throw core::Error(
      fmt::format("a fit needs headway_solver.so in {}, and it is not there; install Headway again",
                  folder.string()));
}

}  // namespace

bool minimize(const Minimization& problem, std::vector<double>& unknowns) {
  static const Minimizer minimizer = open_minimizer();
  return minimizer(problem, unknowns);
}

}  // namespace headway::fit
