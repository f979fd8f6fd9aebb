// Memory-bound kernels: each is checked once against the CPU reference, then timed by the bytes it
// has to move.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "calibrate/measure/cuda/timing.h"
#include "calibrate/measure/host/reference.h"
#include "calibrate/measure/parts/parts.h"

namespace headway::measure {

namespace {

constexpr int kWidth = 4096;        // of a normalised row
constexpr int kVocabulary = 65536;  // logits of a row

/// One array of a kernel.
struct Array {
  Format format;
  bool is_result;
  bool zero = false;  ///< starts at 0, as second moments do: they must not be negative
};

/// The arrays of one call, in the order of MemoryKernel::arrays, each `count` elements long.
using Arrays = std::vector<void*>;

struct MemoryKernel {
  const char* op;
  double bytes_per_element;  ///< read and written, each array once
  std::vector<Array> arrays;
  void (*launch)(const Arrays& arrays, std::uint64_t count, cudaStream_t stream);
  void (*compute)(const Arrays& arrays, std::uint64_t count);  ///< on the CPU
};

std::uint16_t* halves(void* array) { return static_cast<std::uint16_t*>(array); }
float* floats(void* array) { return static_cast<float*>(array); }
int rows_of(std::uint64_t count, int width) {
  return static_cast<int>(count / static_cast<std::uint64_t>(width));
}
RmsNormArrays rms_norm_of(const Arrays& a, std::uint64_t count) {
  return {halves(a[0]), halves(a[1]), halves(a[2]), rows_of(count, kWidth), kWidth, 1e-5F};
}
SwigluGradientArrays swiglu_gradient_of(const Arrays& a, std::uint64_t count) {
  return {halves(a[0]), halves(a[1]), halves(a[2]), halves(a[3]), halves(a[4]), count};
}
CrossEntropyArrays cross_entropy_of(const Arrays& a, std::uint64_t count) {
  return {floats(a[2]), halves(a[0]), halves(a[1]), rows_of(count, kVocabulary), kVocabulary};
}
AdamArrays adam_of(const Arrays& a, std::uint64_t count) {
  return {floats(a[0]), floats(a[1]), floats(a[2]), floats(a[3]), halves(a[4]), count};
}

/// The kernels. Bytes: what must cross the memory bus if the cache keeps a row between the two
/// passes of the row kernels.
const std::vector<MemoryKernel>& kernels() {
  constexpr Array kIn16{Format::bf16, false}, kOut16{Format::bf16, true};
  constexpr Array kIn32{Format::fp32, false}, kOut32{Format::fp32, true};
  static const std::vector<MemoryKernel> all{
      {"copy",
       4,
       {kOut16, kIn16},
       [](const Arrays& a, std::uint64_t n, cudaStream_t s) { launch_copy(a[0], a[1], 2 * n, s); },
       [](const Arrays& a, std::uint64_t n) { std::copy_n(halves(a[1]), n, halves(a[0])); }},
      {"triad",
       12,
       {kOut32, kIn32, kIn32},
       [](const Arrays& a, std::uint64_t n, cudaStream_t s) {
         launch_triad(floats(a[0]), floats(a[1]), floats(a[2]), 3.0F, n, s);
       },
       [](const Arrays& a, std::uint64_t n) {
         reference::triad(floats(a[0]), floats(a[1]), floats(a[2]), 3.0F, n);
       }},
      {"rms_norm",
       4,
       {kOut16, kIn16, kIn16},
       [](const Arrays& a, std::uint64_t n, cudaStream_t s) {
         launch_rms_norm(rms_norm_of(a, n), s);
       },
       [](const Arrays& a, std::uint64_t n) { reference::rms_norm(rms_norm_of(a, n)); }},
      {"swiglu",
       6,
       {kOut16, kIn16, kIn16},
       [](const Arrays& a, std::uint64_t n, cudaStream_t s) {
         launch_swiglu(halves(a[0]), halves(a[1]), halves(a[2]), n, s);
       },
       [](const Arrays& a, std::uint64_t n) {
         reference::swiglu(halves(a[0]), halves(a[1]), halves(a[2]), n);
       }},
      {"swiglu_gradient",
       10,
       {kOut16, kOut16, kIn16, kIn16, kIn16},
       [](const Arrays& a, std::uint64_t n, cudaStream_t s) {
         launch_swiglu_gradient(swiglu_gradient_of(a, n), s);
       },
       [](const Arrays& a, std::uint64_t n) {
         reference::swiglu_gradient(swiglu_gradient_of(a, n));
       }},
      {"cross_entropy",
       4,
       {kOut16, kIn16, kOut32},
       [](const Arrays& a, std::uint64_t n, cudaStream_t s) {
         launch_cross_entropy(cross_entropy_of(a, n), s);
       },
       [](const Arrays& a, std::uint64_t n) { reference::cross_entropy(cross_entropy_of(a, n)); }},
      // Gradient, weight and two moments in; weight, moments and the bf16 weight out.
      {"adam",
       30,
       {kOut32, kOut32, {Format::fp32, true, true}, kIn32, kOut16},
       [](const Arrays& a, std::uint64_t n, cudaStream_t s) {
         launch_adam(adam_of(a, n), AdamStep{}, s);
       },
       [](const Arrays& a, std::uint64_t n) { reference::adam(adam_of(a, n), AdamStep{}); }}};
  return all;
}

/// Device arrays of one kernel, `sets` times.
class KernelArrays {
 public:
  KernelArrays(const MemoryKernel& kernel, std::uint64_t count, int sets, cudaStream_t stream) {
    for (int set = 0; set < sets; ++set) {
      Arrays arrays;
      for (std::size_t i = 0; i < kernel.arrays.size(); ++i) {
        const Array& array = kernel.arrays[i];
        const std::size_t bytes = count * static_cast<std::size_t>(element_bytes(array.format));
        owned_.push_back(device_buffer(bytes));
        arrays.push_back(owned_.back().get());
        if (array.zero) {
          MEASURE_CUDA(cudaMemsetAsync(arrays.back(), 0, bytes, stream));
        } else {
          launch_random_fill(arrays.back(), array.format, count, seed(set, i), stream);
        }
      }
      sets_.push_back(arrays);
    }
  }
  static std::uint64_t seed(int set, std::size_t array) {
    return 100 * static_cast<std::uint64_t>(set) + array;
  }
  [[nodiscard]] const Arrays& set(int call) const {
    return sets_[static_cast<std::size_t>(call) % sets_.size()];
  }

 private:
  std::vector<DeviceBuffer> owned_;
  std::vector<Arrays> sets_;
};

/// Elements written by the kernel; the loss of cross-entropy is one a row.
std::uint64_t result_count(const MemoryKernel& kernel, std::size_t array, std::uint64_t count) {
  const bool loss = std::string(kernel.op) == "cross_entropy" && array == 2;
  return loss ? count / kVocabulary : count;
}

/// Whether two results agree: one ulp of their format (elements round alike but for the last bit of
/// expf), and for entries that nearly cancel a millionth of the largest.
bool agree(Format format, const void* gpu, const void* cpu, std::uint64_t count) {
  double largest = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    largest = std::max(largest, std::abs(static_cast<double>(load(format, cpu, i))));
  }
  const double ulp = format == Format::bf16 ? 1.0 / 128 : 1e-5;
  for (std::uint64_t i = 0; i < count; ++i) {
    const double a = static_cast<double>(load(format, gpu, i));
    const double b = static_cast<double>(load(format, cpu, i));
    if (!(std::abs(a - b) <= ulp * std::abs(b) + 1e-6 * largest)) {  // a NaN does not agree
      return false;
    }
  }
  return true;
}

/// Runs the kernel once on both processors and compares everything it wrote.
bool is_right(const MemoryKernel& kernel, cudaStream_t stream) {
  const std::uint64_t count = 2 * kVocabulary;
  const KernelArrays device(kernel, count, 1, stream);
  std::vector<std::vector<float>> host(kernel.arrays.size(), std::vector<float>(count));
  Arrays pointers;
  for (std::size_t i = 0; i < host.size(); ++i) {
    pointers.push_back(host[i].data());
    if (!kernel.arrays[i].zero) {
      reference::random_fill(pointers[i], kernel.arrays[i].format, count, KernelArrays::seed(0, i));
    }
  }
  kernel.launch(device.set(0), count, stream);
  kernel.compute(pointers, count);
  for (std::size_t i = 0; i < host.size(); ++i) {
    const Array& array = kernel.arrays[i];
    const std::uint64_t written = result_count(kernel, i, count);
    std::vector<float> back(written);
    MEASURE_CUDA(cudaMemcpyAsync(back.data(), device.set(0)[i],
                                 written * static_cast<std::size_t>(element_bytes(array.format)),
                                 cudaMemcpyDeviceToHost, stream));
    MEASURE_CUDA(cudaStreamSynchronize(stream));
    if (array.is_result && !agree(array.format, back.data(), pointers[i], written)) {
      return false;
    }
  }
  return true;
}

void measure_kernel(const GpuBench& gpu, const MemoryKernel& kernel, double bytes, bool right) {
  // A whole number of rows and of 16-byte packs.
  const auto count =
      std::max<std::uint64_t>(
          static_cast<std::uint64_t>(bytes / kernel.bytes_per_element) / kVocabulary, 1) *
      kVocabulary;
  fit::Sample sample;
  sample.kind = fit::SampleKind::memory;
  sample.op = kernel.op;
  sample.bytes = kernel.bytes_per_element * static_cast<double>(count);
  gpu.bench.progress.step(sample_text(sample));
  const int sets = rotation(sample.bytes, gpu.bench.device.cache_bytes);
  const KernelArrays arrays(kernel, count, sets, gpu.stream);
  TimingPlan plan;
  plan.repeats = gpu.bench.repeats();
  const auto launch = [&](int call) { kernel.launch(arrays.set(call), count, gpu.stream); };
  record_timing(time_calls(gpu.stream, launch, plan, gpu.bench.telemetry.get()), sample);
  if (!right) {
    sample.add(fit::SampleFlag::wrong);
  }
  gpu.bench.add(std::move(sample));
}

}  // namespace

void measure_memory(const GpuBench& gpu) {
  constexpr double kMiB = 1048576;
  const BenchOptions& options = gpu.bench.options;
  const std::vector<double> sizes =
      options.tiny ? std::vector<double>{kMiB / 4}
      : options.quick
          ? std::vector<double>{32 * kMiB, 1024 * kMiB}
          : std::vector<double>{1024 * kMiB, 256 * kMiB, 64 * kMiB, 16 * kMiB, 4 * kMiB, kMiB};
  std::vector<bool> right;
  for (const MemoryKernel& kernel : kernels()) {
    right.push_back(is_right(kernel, gpu.stream));
  }
  for (const double bytes : sizes) {
    for (std::size_t i = 0; i < kernels().size(); ++i) {
      if (!gpu.bench.time_left()) {
        gpu.bench.left_out("memory", "sizes below " + std::to_string(bytes) + " B: no time left");
        return;
      }
      measure_kernel(gpu, kernels()[i], bytes, right[i]);
    }
  }
}

}  // namespace headway::measure
