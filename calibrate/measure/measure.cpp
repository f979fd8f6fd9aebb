#include "calibrate/measure/measure.h"

#include <algorithm>
#include <array>
#include <ctime>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <memory>
#include <unistd.h>

#include "calibrate/measure/device.h"
#include "calibrate/measure/device_memory.h"
#include "calibrate/measure/options.h"
#include "calibrate/measure/parts.h"

namespace headway::measure {

namespace {

/// One part: its share of the time, in hundredths, and what it needs besides a GPU.
struct Part {
  const char* name;
  int share;
  bool needs_cublas;
  void (*measure)(const GpuBench&);
};
constexpr Part kParts[] = {{"gemm", 40, true, measure_gemm}};

bool asked_for(const Bench& bench, const std::string& part) {
  return bench.options.only.empty() || bench.options.only.contains(part);
}

/// One part within its allowance; a GPU error in it ends it alone, unless the GPU is lost.
void run_part(const Part& part, const GpuBench& gpu) {
  Bench& bench = gpu.bench;
  if (part.needs_cublas && gpu.cublas == nullptr) {
    bench.left_out(part.name, "cuBLASLt is missing");
    return;
  }
  try {
    part.measure(gpu);
  } catch (const GpuError& error) {
    if (cudaDeviceSynchronize() != cudaSuccess) {
      throw;  // a sticky error: nothing more can be measured in this process
    }
    static_cast<void>(cudaGetLastError());
    bench.left_out(part.name, error.what());
  }
}

std::unique_ptr<CublasLt> cublas_or_reason(Bench& bench) {
  try {
    std::unique_ptr<CublasLt> cublas = open_cublas_lt();
    bench.fact("cublas", version_text(*cublas));
    return cublas;
  } catch (const std::runtime_error& error) {
    bench.left_out("matrix products", error.what());
    return nullptr;
  }
}

void open_telemetry(Bench& bench) {
  try {
    bench.telemetry = open_nvml(pci_bus_id(bench.options.device));
  } catch (const std::runtime_error& error) {
    bench.left_out("clocks and power", error.what());
  }
}

void record_run(Bench& bench) {
  std::array<char, 256> host{};
  bench.fact("node", gethostname(host.data(), host.size() - 1) == 0 ? host.data() : "unknown");
  bench.fact("date", fmt::format("{:%Y-%m-%d %H:%M} UTC", fmt::gmtime(std::time(nullptr))));
  bench.fact("program", "headway-calibrate " HEADWAY_VERSION);
  bench.fact("thoroughness", bench.options.tiny ? "tiny" : bench.options.quick ? "quick" : "full");
}

}  // namespace

void measure_all(Bench& bench) {
  record_run(bench);
  const bool any_gpu = std::any_of(part_names().begin(), part_names().end(), [&](const auto& name) {
    return asked_for(bench, name) && !works_without_gpu(name);
  });
  Stream stream;
  std::unique_ptr<CublasLt> cublas;
  if (any_gpu) {
    bench.device = open_device(bench.options.device);
    open_telemetry(bench);
    record_circumstances(bench);
    cublas = cublas_or_reason(bench);
    stream = new_stream();
  }
  const GpuBench gpu{bench, stream.get(), cublas.get()};
  int shares = 0;
  int parts = 0;
  for (const Part& part : kParts) {
    shares += asked_for(bench, part.name) ? part.share : 0;
    parts += asked_for(bench, part.name) ? 1 : 0;
  }
  const double begin_s = bench.progress.elapsed_s();
  int used = 0, number = 0;
  for (const Part& part : kParts) {
    if (asked_for(bench, part.name)) {
      // What earlier parts did not use is there for the later ones.
      used += part.share;
      bench.deadline_s = begin_s + (allowance_s(bench.options) - begin_s) * used / shares;
      bench.progress.part(++number, parts, part.name);
      run_part(part, gpu);
    }
  }
  bench.progress.done();
}

}  // namespace headway::measure
