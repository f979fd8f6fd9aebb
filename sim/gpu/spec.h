// What a GPU is: peak rates, memory, links, power, and the share of each peak that real kernels
// sustain.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/core/fields.h"
#include "sim/core/precision.h"
#include "sim/core/ranges.h"
#include "sim/core/units.h"

namespace headway::gpu {

enum class Architecture { volta, turing, ampere, ada, hopper, blackwell, cdna2, cdna3, cdna4 };

constexpr auto enum_words(Architecture) {
  using A = Architecture;
  using E = core::EnumWord<A>;
  return std::array{E{A::volta, "volta"}, E{A::turing, "turing"}, E{A::ampere, "ampere"},
                    E{A::ada, "ada"},     E{A::hopper, "hopper"}, E{A::blackwell, "blackwell"},
                    E{A::cdna2, "cdna2"}, E{A::cdna3, "cdna3"},   E{A::cdna4, "cdna4"}};
}

constexpr bool before_ampere(Architecture architecture) {
  return architecture == Architecture::volta || architecture == Architecture::turing;
}

/// Dense peak rates of matrix products (no structured sparsity). Zero: the format is not supported.
struct PeakRates {
  core::FlopsPerSecond fp32, tf32, bf16, fp16, fp8, fp4;
  template <class V>
  void fields(V& v) {
    v.optional("fp32", fp32,
               "Peak of fp32 products: of the vector units, or of the matrix units where they "
               "multiply fp32 (CDNA).",
               core::peak_rate);
    v.optional("tf32", tf32,
               "Dense TF32 peak (CDNA 3: xf32); absent if unsupported (V100, T4, MI250X, MI355X).",
               core::peak_rate);
    v.optional("bf16", bf16, "Dense bf16 peak; absent if unsupported (V100, T4).", core::peak_rate);
    v.optional("fp16", fp16, "Dense fp16 peak, accumulated in fp32; absent if unsupported.",
               core::peak_rate);
    v.optional("fp8", fp8, "Dense fp8 peak; absent if unsupported.", core::peak_rate);
    v.optional("fp4", fp4, "Dense fp4 peak; absent if unsupported.", core::peak_rate);
  }
  bool operator==(const PeakRates&) const = default;
};

/// Shares of the peaks that sustained, tuned kernels reach; from microbenchmarks, never from
/// training runs.
struct SustainedShares {
  double gemm_16bit = 0.8;
  double gemm_8bit = 0.7;
  double gemm_4bit = 0.6;
  double weight_gradient = 0.85;
  double grouped = 1;
  double gemm_tf32 = 0;
  double gemm_fp32 = 0;
  double attention_forward = 0.6;
  double attention_backward = 0.45;
  double attention_flash2 = 0;
  double memory = 0.85;
  double score_rows = 0.75;
  core::Watts power;
  /// Whether attention_forward and _backward are those of FlashAttention-2, whose dependence on the
  /// shape is another than the tables'; of no file, set where the software's kernels are known.
  bool flash2 = false;
  template <class V>
  void fields(V& v) {
    v.optional("gemm_16bit", gemm_16bit, "Large bf16/fp16 matrix product / dense peak.",
               core::fraction);
    v.optional("gemm_8bit", gemm_8bit, "Large fp8 matrix product / dense fp8 peak.",
               core::fraction);
    v.optional("gemm_4bit", gemm_4bit, "Large fp4 matrix product / dense fp4 peak.",
               core::fraction);
    v.optional("weight_gradient", weight_gradient,
               "Weight-gradient product, which accumulates in fp32 and reads both operands across "
               "their rows / forward product.",
               core::fraction);
    v.optional(
        "grouped", grouped,
        "Grouped product of experts / dense products of the same shapes, as many at once as the "
        "software runs.",
        core::fraction);
    v.optional("gemm_tf32", gemm_tf32,
               "Large tf32 matrix product / dense tf32 peak; 0: not measured, gemm_16bit stands in "
               "and the interval is wider.",
               core::probability);
    v.optional("gemm_fp32", gemm_fp32,
               "Large fp32 matrix product / fp32 peak; 0: not measured, gemm_16bit stands in and "
               "the interval is wider.",
               core::probability);
    v.optional("attention_forward", attention_forward,
               "Causal flash attention forward, 8k tokens, head 128 / 16-bit peak.",
               core::fraction);
    v.optional("attention_backward", attention_backward,
               "Causal flash attention backward / 16-bit peak.", core::fraction);
    v.optional("attention_flash2", attention_flash2,
               "FlashAttention-2, forward and backward together / 16-bit peak; on AMD what "
               "PyTorch's scaled_dot_product_attention runs (kernels made by Triton); 0: no slower "
               "than the above.",
               core::probability);
    v.optional("memory", memory, "Streaming kernels / peak memory bandwidth.", core::fraction);
    v.optional("score_rows", score_rows,
               "Softmax and dropout over attention scores in memory / streaming kernels.",
               core::fraction);
    v.optional("power", power,
               "Board power limit at which the shares hold; another limit scales matrix and "
               "attention kernels (power_share). 0: the GPU's own.",
               core::part_power);
  }
  bool operator==(const SustainedShares&) const = default;
};

/// Measured matrix products of one operand format on a grid of shapes. A share is relative to the
/// median of the large products (m, n, k >= 4,096) of the same table, which `sustained.gemm_*`
/// replaces by what sustained runs reach.
struct GemmTable {
  core::Precision precision = core::Precision::bf16;
  std::vector<double> m, n, k;
  std::vector<double> shares;
  template <class V>
  void fields(V& v) {
    v.required("precision", precision, "Format of the operands.");
    v.required("m", m, "Rows of the result (tokens), ascending.", core::at_least_one);
    v.required("n", n, "Columns of the result (outputs), ascending.", core::at_least_one);
    v.required("k", k, "Length of the sums (inputs), ascending.", core::at_least_one);
    v.required("shares", shares,
               "Rate / rate of large products, for every m, n, k; k varies fastest, m slowest.",
               core::positive);
  }
  bool operator==(const GemmTable&) const = default;
};

/// Measured causal flash attention, forward, of one head width. A share is relative to 8,192 tokens
/// and 32 heads.
struct AttentionTable {
  double head_dim = 128;
  std::vector<double> sequence, heads;
  std::vector<double> shares;
  template <class V>
  void fields(V& v) {
    v.required("head_dim", head_dim, "Width of a head.", core::at_least_one);
    v.required("sequence", sequence, "Tokens of a sequence, ascending.", core::at_least_one);
    v.required("heads", heads, "Query heads x sequences of the batch, ascending.",
               core::at_least_one);
    v.required("shares", shares,
               "Rate / rate at 8,192 tokens, 32 heads of width 128; heads vary fastest.",
               core::positive);
  }
  bool operator==(const AttentionTable&) const = default;
};

/// Measured shape dependence of a GPU's kernels.
struct KernelTables {
  static constexpr const char* kCatalogue = "kernels";
  std::string name;
  std::vector<GemmTable> gemm;
  std::vector<AttentionTable> attention;
  template <class V>
  void fields(V& v) {
    v.required("name", name, "Name printed in reports.");
    v.optional("gemm", gemm, "One table an operand format.");
    v.optional("attention", attention, "One table a head width.");
  }
  bool operator==(const KernelTables&) const = default;
};

/// One GPU model as the data sheet has it, with measured shares of its peaks.
struct GpuSpec {
  static constexpr const char* kCatalogue = "gpus";
  std::string name;
  Architecture architecture = Architecture::hopper;
  PeakRates peak;
  SustainedShares sustained;
  std::optional<KernelTables> kernels;
  core::Bytes memory;
  core::BytesPerSecond memory_bandwidth;
  int streaming_multiprocessors = 132;
  core::BytesPerSecond host_bandwidth{25e9};
  core::Seconds kernel_launch{2e-6};
  core::Watts power;
  core::Watts idle_power{70};
  /// The limit before what feeds the board lowered it; 0: nothing did. Of no file.
  core::Watts own_power;
  template <class V>
  void fields(V& v) {
    v.required("name", name, "Name printed in reports.");
    v.required("architecture", architecture,
               "Generation; selects kernel and collective cost tables.");
    v.required("peak", peak, "Dense peak rates of the matrix units.");
    v.optional("sustained", sustained, "Shares of the peaks that sustained kernels reach.");
    v.optional("kernels", kernels,
               "Measured shape dependence of kernels; absent: laws of tiles and waves.");
    v.required("memory", memory, "Capacity of the GPU's memory.", core::memory_size);
    v.required("memory_bandwidth", memory_bandwidth, "Peak bandwidth of the GPU's memory.",
               core::memory_rate);
    v.optional("streaming_multiprocessors", streaming_multiprocessors, "SMs or compute units.",
               core::from_one_to_64k);
    v.optional("host_bandwidth", host_bandwidth,
               "GPU to host copies, pinned memory, one direction.", core::link_rate);
    v.optional("kernel_launch", kernel_launch, "Gap on the GPU between dependent kernels.",
               core::launch_time);
    v.required("power", power, "Board power limit.", core::board_power);
    v.optional("idle_power", idle_power, "Power drawn when idle.", core::part_power);
  }
  bool operator==(const GpuSpec&) const = default;
};

}  // namespace headway::gpu
