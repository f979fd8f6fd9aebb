// Two loads at the same time on two streams: how much each slows the other.
#pragma once

#include <cuda_runtime_api.h>
#include <memory>

#include "calibrate/measure/cuda/timing.h"
#include "calibrate/measure/parts/gemm_runner.h"
#include "calibrate/measure/parts/parts.h"

namespace headway::measure {

/// One of two loads.
struct Load {
  cudaStream_t stream = nullptr;
  Launch launch;
  int calls = 0;  ///< timed; 0: as many as keep running about as long as the other load
};

/// Seconds of one call.
struct OverlapTimes {
  double first_alone_s = 0, second_alone_s = 0;
  double first_together_s = 0, second_together_s = 0;
  int first_calls = 0, second_calls = 0;
};

/// Times `first.calls` calls of `first` alone, a few of `second` alone, then `first.calls` again
/// while `second` runs from before their start until after their end, and the other way round.
OverlapTimes time_together(const Load& first, const Load& second);

/// Adds two samples, the times of each load beside the other.
void add_together(Bench& bench, const OverlapTimes& times, fit::Sample first, fit::Sample second);

/// A matrix product as one of two loads: bf16, forward, 8192 cubed.
class ProductLoad {
 public:
  ProductLoad(const CublasLt& cublas, bool tiny, cudaStream_t stream);
  [[nodiscard]] Launch launch() const;
  [[nodiscard]] fit::Sample sample() const;

 private:
  std::int64_t side_;
  cudaStream_t stream_;
  GemmLibrary library_;
  GemmRunner runner_;
  std::vector<cublasLtMatmulAlgo_t> algorithms_;
};

}  // namespace headway::measure
