// A bench on the pretended GPU with the smallest sizes.
#pragma once

#include <memory>

#include "calibrate/measure/cuda/device_memory.h"
#include "calibrate/measure/parts/parts.h"
#include "tests/measure_gpu/fake_gpu.h"

namespace headway::measure {

inline BenchOptions tiny_options() {
  BenchOptions options;
  options.tiny = true;
  options.quiet = true;
  return options;
}

/// Says what a loaded GPU might: 1.4 GHz, 650 W, held back by its power limit.
class PretendedTelemetry final : public Telemetry {
 public:
  Reading read() override { return {1.4e9, 2.6e9, 650, 60, 0, 0x4}; }
  BoardFacts facts() override { return {"580.1", 700, 1.98e9}; }
};

struct Rig {
  Rig() { bench.telemetry = std::make_unique<PretendedTelemetry>(); }

  Bench bench{tiny_options()};
  Stream stream = new_stream();
  CublasLt cublas = fake::cublas_lt();
  GpuBench gpu{bench, stream.get(), &cublas};
};

}  // namespace headway::measure
