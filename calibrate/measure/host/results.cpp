#include "calibrate/measure/host/results.h"

#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <stdexcept>

#include "sim/config/write_entry.h"

#include "calibrate/fit/profile.h"
#include "calibrate/measure/host/catalogue_gpu.h"
#include "calibrate/measure/host/options.h"

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

void write_results(Bench& bench) {
  const std::string samples = samples_path(bench.options.out);
  const std::string device = bench.measured.fact("device");
  const std::string entry = catalogue_gpu(device);
  if (!entry.empty()) {
    bench.fact("catalogue", entry);
  }
  // First, so that nothing is lost if the fits complain.
  write_file(samples, fit::write_samples(bench.measured));
  fmt::print("{} samples in {}\n", bench.measured.samples.size(), samples);
  if (bench.options.tiny) {
    fmt::print("no profile: tiny sizes tell nothing about speed\n");
    return;
  }
  fit::ProfileOptions how;
  how.name = !bench.options.name.empty() ? bench.options.name
             : device.empty()            ? bench.measured.fact("node")
                                         : device + ", measured";
  how.gpu = load_catalogue_gpu(entry);
  if (!how.gpu && !device.empty()) {
    bench.left_out("shares of the peaks", "the catalogue has no data sheet of " + device);
  }
  const fit::Profile profile = fit::fit_profile(bench.measured, how);
  for (const std::string& remark : profile.remarks) {
    bench.progress.say(remark);
  }
  write_file(samples, fit::write_samples(profile.samples));  // with the flags of the fits
  write_file(bench.options.out, config::write_calibration(profile.spec));
  fmt::print("profile in {}\n", bench.options.out);
}

}  // namespace headway::measure
