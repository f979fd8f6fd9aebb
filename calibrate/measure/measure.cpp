#include "calibrate/measure/measure.h"

#include <algorithm>
#include <array>
#include <ctime>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <memory>
#include <unistd.h>

#include "calibrate/measure/cuda/device.h"
#include "calibrate/measure/cuda/device_memory.h"
#include "calibrate/measure/host/options.h"
#include "calibrate/measure/host/storage.h"
#include "calibrate/measure/parts/parts.h"

namespace headway::measure {

namespace {

/// One part: its share of the time, in hundredths, and what it needs besides a GPU.
struct Part {
  const char* name;
  int share;
  bool needs_cublas;
  void (*measure)(const GpuBench&);
};
constexpr Part kParts[] = {{"launch", 1, false, measure_launch},
                           {"copies", 5, false, measure_copies},
                           {"memory", 5, false, measure_memory},
                           {"gemm", 34, true, measure_gemm},
                           {"attention", 12, false, measure_attention},
                           {"peer", 4, false, measure_peer},
                           {"collectives", 20, false, measure_collectives},
                           {"interference", 4, true, measure_interference},
                           {"sustained", 11, true, measure_sustained}};
constexpr int kStorageShare = 8;

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
    recover(bench.options.device);
    bench.left_out(part.name, error.what());
  }
}

/// Hands out the time: each part may use its share and what earlier parts left over.
class Schedule {
 public:
  Schedule(Bench& bench, int shares, int parts)
      : bench_(bench), shares_(shares), parts_(parts), begin_s_(bench.progress.elapsed_s()) {}

  void begin(const std::string& name, int share) {
    used_ += share;
    bench_.deadline_s = begin_s_ + (allowance_s(bench_.options) - begin_s_) * used_ / shares_;
    bench_.progress.part(++number_, parts_, name);
  }

 private:
  Bench& bench_;
  int shares_, parts_;
  double begin_s_;
  int used_ = 0, number_ = 0;
};

/// Whether this process runs the part: ranks above 0 only take part in collectives.
bool takes_part(const Bench& bench, const std::string& part) {
  return asked_for(bench, part) && (bench.options.rank == 0 || part == "collectives");
}

void run_parts(Bench& bench, const GpuBench& gpu) {
  const bool storage = takes_part(bench, "storage");
  int shares = storage ? kStorageShare : 0;
  int parts = storage ? 1 : 0;
  for (const Part& part : kParts) {
    shares += takes_part(bench, part.name) ? part.share : 0;
    parts += takes_part(bench, part.name) ? 1 : 0;
  }
  Schedule schedule(bench, shares, parts);
  for (const Part& part : kParts) {
    if (takes_part(bench, part.name)) {
      schedule.begin(part.name, part.share);
      run_part(part, gpu);
    }
  }
  if (storage) {
    schedule.begin("storage", kStorageShare);
    measure_storage(bench);
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
  run_parts(bench, {bench, stream.get(), cublas.get()});
  bench.progress.done();
}

}  // namespace headway::measure
