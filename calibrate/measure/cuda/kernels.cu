// The kernels of our own on the GPU (contracts: kernels.h). Memory is read and written 16 bytes a
// thread at a time, neighbouring threads on neighbouring addresses.
#include <cuda_runtime.h>

#include "calibrate/measure/cuda/cuda_check.h"
#include "calibrate/measure/cuda/kernels.h"

namespace headway::measure {

namespace {

constexpr int kThreads = 256;

/// 16 bytes that move as one.
struct alignas(16) Pack {
  std::uint16_t at[8];
};
struct alignas(16) Floats {
  float at[4];
};

/// Blocks for `items` threads' work, enough to fill any GPU and no more than a grid takes.
unsigned blocks_for(std::uint64_t items) {
  const std::uint64_t blocks = (items + kThreads - 1) / kThreads;
  return static_cast<unsigned>(blocks < 1 ? 1 : blocks > 1048576 ? 1048576 : blocks);
}

__device__ std::uint64_t first_item() {
  return static_cast<std::uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ std::uint64_t stride() { return static_cast<std::uint64_t>(gridDim.x) * blockDim.x; }

__global__ void random_fill(void* array, Format format, std::uint64_t count, std::uint64_t seed) {
  for (std::uint64_t i = first_item(); i < count; i += stride()) {
    store(format, array, i, random_value(seed, i));
  }
}

__global__ void rank_fill(std::uint16_t* array, std::uint64_t count, int rank) {
  for (std::uint64_t i = first_item(); i < count; i += stride()) {
    array[i] = to_bf16(static_cast<float>(rank_value(rank, i)));
  }
}

__global__ void compare(const std::uint8_t* a,
                        const std::uint8_t* b,
                        std::uint64_t bytes,
                        unsigned long long* differences) {
  unsigned long long found = 0;
  for (std::uint64_t i = first_item(); i < bytes; i += stride()) {
    found += a[i] != b[i] ? 1 : 0;
  }
  if (found > 0) {
    atomicAdd(differences, found);
  }
}

__global__ void copy(Pack* to, const Pack* from, std::uint64_t count) {
  for (std::uint64_t i = first_item(); i < count; i += stride()) {
    to[i] = from[i];
  }
}

__global__ void triad_kernel(
    Floats* a, const Floats* b, const Floats* c, float scale, std::uint64_t count) {
  for (std::uint64_t i = first_item(); i < count; i += stride()) {
    const Floats x = b[i], y = c[i];
    Floats out;
    for (int j = 0; j < 4; ++j) {
      out.at[j] = triad(x.at[j], y.at[j], scale);
    }
    a[i] = out;
  }
}

/// The threads' values, merged pairwise at halving distance; every thread gets the result.
template <class T, class Merge>
__device__ T merge_row(T value, Merge merge_two) {
  __shared__ T values[kRowThreads];
  values[threadIdx.x] = value;
  __syncthreads();
  for (int distance = kRowThreads / 2; distance > 0; distance /= 2) {
    if (threadIdx.x < distance) {
      values[threadIdx.x] = merge_two(values[threadIdx.x], values[threadIdx.x + distance]);
    }
    __syncthreads();
  }
  return values[0];
}

__global__ void rms_norm_kernel(RmsNormArrays arrays) {
  const std::uint64_t row = static_cast<std::uint64_t>(blockIdx.x) * arrays.width;
  const Pack* in = reinterpret_cast<const Pack*>(arrays.in + row);
  const Pack* weight = reinterpret_cast<const Pack*>(arrays.weight);
  Pack* out = reinterpret_cast<Pack*>(arrays.out + row);
  const int packs = arrays.width / 8;
  float squares = 0;
  for (int i = threadIdx.x; i < packs; i += kRowThreads) {
    const Pack x = in[i];
    for (int j = 0; j < 8; ++j) {
      squares += from_bf16(x.at[j]) * from_bf16(x.at[j]);
    }
  }
  const float total = merge_row(squares, [](float a, float b) { return a + b; });
  const float scale = inverse_rms(total, arrays.width, arrays.epsilon);
  for (int i = threadIdx.x; i < packs; i += kRowThreads) {
    const Pack x = in[i], w = weight[i];
    Pack y;
    for (int j = 0; j < 8; ++j) {
      y.at[j] = to_bf16(rms_norm(from_bf16(x.at[j]), from_bf16(w.at[j]), scale));
    }
    out[i] = y;
  }
}

__global__ void swiglu_kernel(Pack* out, const Pack* gate, const Pack* up, std::uint64_t count) {
  for (std::uint64_t i = first_item(); i < count; i += stride()) {
    const Pack g = gate[i], u = up[i];
    Pack y;
    for (int j = 0; j < 8; ++j) {
      y.at[j] = to_bf16(swiglu(from_bf16(g.at[j]), from_bf16(u.at[j])));
    }
    out[i] = y;
  }
}

__global__ void swiglu_gradient_kernel(SwigluGradientArrays arrays) {
  const Pack* gate = reinterpret_cast<const Pack*>(arrays.gate);
  const Pack* up = reinterpret_cast<const Pack*>(arrays.up);
  const Pack* gradient = reinterpret_cast<const Pack*>(arrays.gradient);
  for (std::uint64_t i = first_item(); i < arrays.count / 8; i += stride()) {
    const Pack g = gate[i], u = up[i], d = gradient[i];
    Pack dg, du;
    for (int j = 0; j < 8; ++j) {
      const SwigluGradient one =
          swiglu_gradient(from_bf16(g.at[j]), from_bf16(u.at[j]), from_bf16(d.at[j]));
      dg.at[j] = to_bf16(one.gate);
      du.at[j] = to_bf16(one.up);
    }
    reinterpret_cast<Pack*>(arrays.gate_gradient)[i] = dg;
    reinterpret_cast<Pack*>(arrays.up_gradient)[i] = du;
  }
}

__global__ void cross_entropy_kernel(CrossEntropyArrays arrays) {
  const std::uint64_t row = static_cast<std::uint64_t>(blockIdx.x) * arrays.vocabulary;
  const Pack* logits = reinterpret_cast<const Pack*>(arrays.logits + row);
  Pack* gradient = reinterpret_cast<Pack*>(arrays.gradient + row);
  const int packs = arrays.vocabulary / 8;
  SoftmaxState mine = empty_softmax();
  for (int i = threadIdx.x; i < packs; i += kRowThreads) {
    const Pack x = logits[i];
    for (int j = 0; j < 8; ++j) {
      mine = merge(mine, softmax_of(from_bf16(x.at[j])));
    }
  }
  const SoftmaxState whole =
      merge_row(mine, [](SoftmaxState a, SoftmaxState b) { return merge(a, b); });
  const int target = cross_entropy_target(static_cast<int>(blockIdx.x), arrays.vocabulary);
  if (threadIdx.x == 0) {
    arrays.loss[blockIdx.x] = cross_entropy(whole, from_bf16(arrays.logits[row + target]));
  }
  const float scale = 1.0F / static_cast<float>(arrays.rows);
  for (int i = threadIdx.x; i < packs; i += kRowThreads) {
    const Pack x = logits[i];
    Pack y;
    for (int j = 0; j < 8; ++j) {
      const float logit = from_bf16(x.at[j]);
      y.at[j] = to_bf16(cross_entropy_gradient(whole, logit, i * 8 + j == target, scale));
    }
    gradient[i] = y;
  }
}

__global__ void adam_kernel(AdamArrays arrays, AdamStep step) {
  struct alignas(8) Halves {
    std::uint16_t at[4];
  };
  Floats* parameter = reinterpret_cast<Floats*>(arrays.parameter);
  Floats* first = reinterpret_cast<Floats*>(arrays.first_moment);
  Floats* second = reinterpret_cast<Floats*>(arrays.second_moment);
  const Floats* gradient = reinterpret_cast<const Floats*>(arrays.gradient);
  for (std::uint64_t i = first_item(); i < arrays.count / 4; i += stride()) {
    Floats p = parameter[i], m = first[i], v = second[i];
    const Floats g = gradient[i];
    Halves w;
    for (int j = 0; j < 4; ++j) {
      const AdamState next = adam({p.at[j], m.at[j], v.at[j]}, g.at[j], step);
      p.at[j] = next.parameter;
      m.at[j] = next.first_moment;
      v.at[j] = next.second_moment;
      w.at[j] = to_bf16(next.parameter);
    }
    parameter[i] = p;
    first[i] = m;
    second[i] = v;
    reinterpret_cast<Halves*>(arrays.weight)[i] = w;
  }
}

__global__ void nothing() {}

__global__ void wait_kernel(unsigned long long nanoseconds) {
  unsigned long long begin = 0, now = 0;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(begin));
  do {
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
  } while (now - begin < nanoseconds);
}

}  // namespace

void launch_random_fill(
    void* array, Format format, std::uint64_t count, std::uint64_t seed, StreamHandle stream) {
  random_fill<<<blocks_for(count), kThreads, 0, stream>>>(array, format, count, seed);
  MEASURE_CUDA(cudaGetLastError());
}

void launch_rank_fill(std::uint16_t* array, std::uint64_t count, int rank, StreamHandle stream) {
  rank_fill<<<blocks_for(count), kThreads, 0, stream>>>(array, count, rank);
  MEASURE_CUDA(cudaGetLastError());
}

void launch_compare(const void* a,
                    const void* b,
                    std::uint64_t bytes,
                    unsigned long long* differences,
                    StreamHandle stream) {
  MEASURE_CUDA(cudaMemsetAsync(differences, 0, sizeof *differences, stream));
  compare<<<blocks_for(bytes / 64), kThreads, 0, stream>>>(
      static_cast<const std::uint8_t*>(a), static_cast<const std::uint8_t*>(b), bytes, differences);
  MEASURE_CUDA(cudaGetLastError());
}

void launch_copy(void* to, const void* from, std::uint64_t bytes, StreamHandle stream) {
  copy<<<blocks_for(bytes / 16), kThreads, 0, stream>>>(static_cast<Pack*>(to),
                                                        static_cast<const Pack*>(from), bytes / 16);
  MEASURE_CUDA(cudaGetLastError());
}

void launch_triad(float* a,
                  const float* b,
                  const float* c,
                  float scale,
                  std::uint64_t count,
                  StreamHandle stream) {
  triad_kernel<<<blocks_for(count / 4), kThreads, 0, stream>>>(
      reinterpret_cast<Floats*>(a), reinterpret_cast<const Floats*>(b),
      reinterpret_cast<const Floats*>(c), scale, count / 4);
  MEASURE_CUDA(cudaGetLastError());
}

void launch_rms_norm(const RmsNormArrays& arrays, StreamHandle stream) {
  rms_norm_kernel<<<static_cast<unsigned>(arrays.rows), kRowThreads, 0, stream>>>(arrays);
  MEASURE_CUDA(cudaGetLastError());
}

void launch_swiglu(std::uint16_t* out,
                   const std::uint16_t* gate,
                   const std::uint16_t* up,
                   std::uint64_t count,
                   StreamHandle stream) {
  swiglu_kernel<<<blocks_for(count / 8), kThreads, 0, stream>>>(
      reinterpret_cast<Pack*>(out), reinterpret_cast<const Pack*>(gate),
      reinterpret_cast<const Pack*>(up), count / 8);
  MEASURE_CUDA(cudaGetLastError());
}

void launch_swiglu_gradient(const SwigluGradientArrays& arrays, StreamHandle stream) {
  swiglu_gradient_kernel<<<blocks_for(arrays.count / 8), kThreads, 0, stream>>>(arrays);
  MEASURE_CUDA(cudaGetLastError());
}

void launch_cross_entropy(const CrossEntropyArrays& arrays, StreamHandle stream) {
  cross_entropy_kernel<<<static_cast<unsigned>(arrays.rows), kRowThreads, 0, stream>>>(arrays);
  MEASURE_CUDA(cudaGetLastError());
}

void launch_adam(const AdamArrays& arrays, const AdamStep& step, StreamHandle stream) {
  adam_kernel<<<blocks_for(arrays.count / 4), kThreads, 0, stream>>>(arrays, step);
  MEASURE_CUDA(cudaGetLastError());
}

void launch_nothing(StreamHandle stream) {
  nothing<<<1, 32, 0, stream>>>();
  MEASURE_CUDA(cudaGetLastError());
}

void launch_wait(double seconds, StreamHandle stream) {
  wait_kernel<<<1, 1, 0, stream>>>(static_cast<unsigned long long>(seconds * 1e9));
  MEASURE_CUDA(cudaGetLastError());
}

}  // namespace headway::measure
