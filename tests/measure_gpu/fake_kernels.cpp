// The launchers of kernels.h on the pretended GPU: bounds are checked, the CPU reference computes.
#include <cstring>
#include <cuda_runtime_api.h>

#include "calibrate/measure/cuda/cuda_check.h"
#include "calibrate/measure/host/reference.h"
#include "tests/measure_gpu/fake_stream.h"

namespace headway::measure {

using fake::enqueue;
using fake::require_inside;

namespace {

std::size_t size(std::uint64_t count, std::size_t element) {
  return static_cast<std::size_t>(count) * element;
}
std::size_t area(int rows, int columns, std::size_t element) {
  return static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns) * element;
}

}  // namespace

void launch_random_fill(
    void* array, Format format, std::uint64_t count, std::uint64_t seed, StreamHandle stream) {
  require_inside(array, size(count, static_cast<std::size_t>(element_bytes(format))));
  enqueue(stream, [=] { reference::random_fill(array, format, count, seed); });
}

void launch_rank_fill(std::uint16_t* array, std::uint64_t count, int rank, StreamHandle stream) {
  require_inside(array, size(count, 2));
  enqueue(stream, [=] {
    for (std::uint64_t i = 0; i < count; ++i) {
      array[i] = to_bf16(static_cast<float>(rank_value(rank, i)));
    }
  });
}

void launch_compare(const void* a,
                    const void* b,
                    std::uint64_t bytes,
                    unsigned long long* differences,
                    StreamHandle stream) {
  require_inside(a, bytes);
  require_inside(b, bytes);
  enqueue(stream, [=] {
    *differences = 0;
    for (std::uint64_t i = 0; i < bytes; ++i) {
      *differences += static_cast<const char*>(a)[i] != static_cast<const char*>(b)[i] ? 1 : 0;
    }
  });
}

void launch_copy(void* to, const void* from, std::uint64_t bytes, StreamHandle stream) {
  require_inside(to, bytes);
  require_inside(from, bytes);
  enqueue(stream, [=] { std::memcpy(to, from, bytes); });
}

void launch_triad(float* a,
                  const float* b,
                  const float* c,
                  float scale,
                  std::uint64_t count,
                  StreamHandle stream) {
  require_inside(a, size(count, 4));
  require_inside(b, size(count, 4));
  require_inside(c, size(count, 4));
  enqueue(stream, [=] { reference::triad(a, b, c, scale, count); });
  MEASURE_CUDA(cudaGetLastError());  // as every launcher of kernels.cu does
}

void launch_rms_norm(const RmsNormArrays& arrays, StreamHandle stream) {
  require_inside(arrays.in, area(arrays.rows, arrays.width, 2));
  require_inside(arrays.out, area(arrays.rows, arrays.width, 2));
  require_inside(arrays.weight, area(1, arrays.width, 2));
  enqueue(stream, [=] { reference::rms_norm(arrays); });
}

void launch_swiglu(std::uint16_t* out,
                   const std::uint16_t* gate,
                   const std::uint16_t* up,
                   std::uint64_t count,
                   StreamHandle stream) {
  require_inside(out, size(count, 2));
  require_inside(gate, size(count, 2));
  require_inside(up, size(count, 2));
  enqueue(stream, [=] { reference::swiglu(out, gate, up, count); });
}

void launch_swiglu_gradient(const SwigluGradientArrays& arrays, StreamHandle stream) {
  for (const void* array :
       {static_cast<const void*>(arrays.gate), static_cast<const void*>(arrays.up),
        static_cast<const void*>(arrays.gradient), static_cast<const void*>(arrays.gate_gradient),
        static_cast<const void*>(arrays.up_gradient)}) {
    require_inside(array, size(arrays.count, 2));
  }
  enqueue(stream, [=] { reference::swiglu_gradient(arrays); });
}

void launch_cross_entropy(const CrossEntropyArrays& arrays, StreamHandle stream) {
  require_inside(arrays.logits, area(arrays.rows, arrays.vocabulary, 2));
  require_inside(arrays.gradient, area(arrays.rows, arrays.vocabulary, 2));
  require_inside(arrays.loss, area(arrays.rows, 1, 4));
  enqueue(stream, [=] { reference::cross_entropy(arrays); });
}

void launch_adam(const AdamArrays& arrays, const AdamStep& step, StreamHandle stream) {
  for (const float* array :
       {static_cast<const float*>(arrays.parameter), static_cast<const float*>(arrays.first_moment),
        static_cast<const float*>(arrays.second_moment), arrays.gradient}) {
    require_inside(array, size(arrays.count, 4));
  }
  require_inside(arrays.weight, size(arrays.count, 2));
  enqueue(stream, [=] { reference::adam(arrays, step); });
}

void launch_nothing(StreamHandle stream) {
  enqueue(stream, [] {});
  MEASURE_CUDA(cudaGetLastError());
}
void launch_wait(double, StreamHandle stream) {
  enqueue(stream, [] {});
}

}  // namespace headway::measure
