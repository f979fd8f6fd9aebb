// What every part of a measurement works with: options, device, telemetry, allowance of time, and
// where samples go.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "calibrate/fit/samples.h"
#include "calibrate/measure/host/nvml.h"
#include "calibrate/measure/host/progress.h"

namespace headway::measure {

/// What the user asked for.
struct BenchOptions {
  std::string out;     ///< the profile; samples go beside it as .csv
  std::string name;    ///< of the profile; empty: the device's name
  bool quick = false;  ///< 3 minutes and not 15
  double seconds = 0;  ///< allowance of the whole; 0: 3 or 15 minutes
  bool tiny = false;   ///< the smallest sizes alone: checks results, times nothing usefully
  bool quiet = false, force = false;
  int device = 0;
  bool one_gpu_a_process = false;          ///< the launcher starts several processes on a host
  std::set<std::string> only;              ///< parts to run; empty: all
  std::vector<std::string> storage_paths;  ///< folders on the file systems to measure
  std::string rendezvous;                  ///< folder that all processes see
  int rank = 0, ranks = 1;                 ///< of processes
};

/// Allowance of a whole measurement: as asked, or 15 minutes, or 3; writing the results included.
double allowance_s(const BenchOptions& options);

/// Constant facts of the GPU being measured.
struct DeviceFacts {
  std::string name;
  int capability = 0;  ///< 90 for 9.0
  double memory_bytes = 0;
  double cache_bytes = 0;  ///< L2
};

/// State of one measurement.
struct Bench {
  explicit Bench(const BenchOptions& asked);

  BenchOptions options;
  DeviceFacts device;
  std::unique_ptr<Telemetry> telemetry;  ///< null: NVML is missing
  Progress progress;
  fit::SampleSet measured;
  int wrong_results = 0;
  double deadline_s = 0;  ///< of the running part, on progress's clock

  /// False once the running part has used up its allowance.
  [[nodiscard]] bool time_left() const { return progress.elapsed_s() < deadline_s; }
  /// Repeats and batch length by how thorough the measurement is.
  [[nodiscard]] int repeats() const { return options.tiny ? 3 : options.quick ? 9 : 15; }
  /// Keeps the sample; a wrong one is counted and said.
  void add(fit::Sample sample);
  /// Records a circumstance, such as "not measured: peer copies" -> "one GPU".
  void fact(const std::string& name, const std::string& value);
  /// Records and says that something was left out.
  void left_out(const std::string& what, const std::string& why);
};

/// "gemm forward bf16 8192 x 8192 x 8192": for the progress line and messages.
std::string sample_text(const fit::Sample& sample);

}  // namespace headway::measure
