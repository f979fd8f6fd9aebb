#include "calibrate/measure/results.h"

#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <stdexcept>

#include "calibrate/measure/options.h"

namespace headway::measure {

namespace {

void write_file(const std::string& path, const std::string& text) {
  std::ofstream file(path);
  file << text;
  file.close();
  if (!file) {
    throw std::runtime_error("cannot write " + path);
  }
}

}  // namespace

std::string cannot_write(const BenchOptions& options) {
  if (options.rank != 0) {
    return "";
  }
  const std::filesystem::path folder = std::filesystem::absolute(options.out).parent_path();
  if (!std::filesystem::is_directory(folder)) {
    return "the folder " + folder.string() + " does not exist";
  }
  for (const std::string& path : {options.out, samples_path(options.out)}) {
    if (!options.force && std::filesystem::exists(path)) {
      return path + " exists; --force overwrites it";
    }
  }
  return "";
}

void write_results(const Bench& bench) {
  const std::string samples = samples_path(bench.options.out);
  write_file(samples, fit::write_samples(bench.measured));
  fmt::print("{} samples in {}\n", bench.measured.samples.size(), samples);
}

}  // namespace headway::measure
