#include "calibrate/measure/host/reference.h"

#include <array>
#include <cstddef>

namespace headway::measure::reference {

namespace {

/// What merge_row of kernels.cu does with the threads' values.
template <class T, class Merge>
T merge_row(std::array<T, kRowThreads>& values, Merge merge_two) {
  for (std::size_t distance = kRowThreads / 2; distance > 0; distance /= 2) {
    for (std::size_t thread = 0; thread < distance; ++thread) {
      values[thread] = merge_two(values[thread], values[thread + distance]);
    }
  }
  return values[0];
}

/// Which thread of a row's block reads element `index`: packs of 8 go round.
std::size_t thread_of(int index) { return static_cast<std::size_t>(index / 8 % kRowThreads); }

}  // namespace

void random_fill(void* array, Format format, std::uint64_t count, std::uint64_t seed) {
  for (std::uint64_t i = 0; i < count; ++i) {
    store(format, array, i, random_value(seed, i));
  }
}

void triad(float* a, const float* b, const float* c, float scale, std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) {
    a[i] = measure::triad(b[i], c[i], scale);
  }
}

void rms_norm(const RmsNormArrays& arrays) {
  for (int row = 0; row < arrays.rows; ++row) {
    const std::ptrdiff_t first = static_cast<std::ptrdiff_t>(row) * arrays.width;
    std::array<float, kRowThreads> squares{};
    for (int i = 0; i < arrays.width; ++i) {
      const float x = from_bf16(arrays.in[first + i]);
      squares[thread_of(i)] += x * x;
    }
    const float total = merge_row(squares, [](float a, float b) { return a + b; });
    const float scale = inverse_rms(total, arrays.width, arrays.epsilon);
    for (int i = 0; i < arrays.width; ++i) {
      arrays.out[first + i] = to_bf16(
          measure::rms_norm(from_bf16(arrays.in[first + i]), from_bf16(arrays.weight[i]), scale));
    }
  }
}

void swiglu(std::uint16_t* out,
            const std::uint16_t* gate,
            const std::uint16_t* up,
            std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) {
    out[i] = to_bf16(measure::swiglu(from_bf16(gate[i]), from_bf16(up[i])));
  }
}

void swiglu_gradient(const SwigluGradientArrays& arrays) {
  for (std::uint64_t i = 0; i < arrays.count; ++i) {
    const SwigluGradient one = measure::swiglu_gradient(
        from_bf16(arrays.gate[i]), from_bf16(arrays.up[i]), from_bf16(arrays.gradient[i]));
    arrays.gate_gradient[i] = to_bf16(one.gate);
    arrays.up_gradient[i] = to_bf16(one.up);
  }
}

void cross_entropy(const CrossEntropyArrays& arrays) {
  const float scale = 1.0F / static_cast<float>(arrays.rows);
  for (int row = 0; row < arrays.rows; ++row) {
    const std::ptrdiff_t first = static_cast<std::ptrdiff_t>(row) * arrays.vocabulary;
    std::array<SoftmaxState, kRowThreads> states;
    states.fill(empty_softmax());
    for (int i = 0; i < arrays.vocabulary; ++i) {
      SoftmaxState& state = states[thread_of(i)];
      state = merge(state, softmax_of(from_bf16(arrays.logits[first + i])));
    }
    const SoftmaxState whole =
        merge_row(states, [](SoftmaxState a, SoftmaxState b) { return merge(a, b); });
    const int target = cross_entropy_target(row, arrays.vocabulary);
    arrays.loss[row] = measure::cross_entropy(whole, from_bf16(arrays.logits[first + target]));
    for (int i = 0; i < arrays.vocabulary; ++i) {
      const float logit = from_bf16(arrays.logits[first + i]);
      arrays.gradient[first + i] =
          to_bf16(cross_entropy_gradient(whole, logit, i == target, scale));
    }
  }
}

void adam(const AdamArrays& arrays, const AdamStep& step) {
  for (std::uint64_t i = 0; i < arrays.count; ++i) {
    const AdamState next =
        measure::adam({arrays.parameter[i], arrays.first_moment[i], arrays.second_moment[i]},
                      arrays.gradient[i], step);
    arrays.parameter[i] = next.parameter;
    arrays.first_moment[i] = next.first_moment;
    arrays.second_moment[i] = next.second_moment;
    arrays.weight[i] = to_bf16(next.parameter);
  }
}

}  // namespace headway::measure::reference
