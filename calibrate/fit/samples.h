// What a measurement leaves behind: one row a timed thing, as the CSV file that `headway-calibrate`
// and the importers write and `headway calibrate fit` reads.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/core/fields.h"
#include "sim/core/precision.h"

namespace headway::fit {

/// What was timed. The comment names the cells that a row of the kind must fill besides `seconds`.
enum class SampleKind : std::uint8_t {
  gemm,        ///< op forward, input_gradient, weight_gradient; precision; m n k [batch]
  attention,   ///< op forward, backward; precision; batch sequence query_heads key_value_heads
               ///< head_dim causal
  memory,      ///< op copy, triad, rms_norm, swiglu, cross_entropy, adam, ...; bytes moved
  collective,  ///< op a collective's word; precision; ranks ranks_per_node; bytes of the whole
               ///< array
  copy,     ///< op host_to_device, device_to_host, both_ways, peer; variant pinned, pageable; bytes
  launch,   ///< op kernel, graph (the GPU's time of one), kernel_call, graph_call (the CPU's),
            ///< pass_call (the CPU's of a pass through a layer); variant eager (PyTorch, forward
            ///< alone), eager_autograd, compiled; streams = kernels in the chain, of the pass
  storage,  ///< op write, read, sync, metadata; variant a path's name; streams; bytes
  optimizer,  ///< op adam, muon, clip, ...; variant how it is written; bytes it must move
};

constexpr auto enum_words(SampleKind) {
  using E = core::EnumWord<SampleKind>;
  return std::array{E{SampleKind::gemm, "gemm"},       E{SampleKind::attention, "attention"},
                    E{SampleKind::memory, "memory"},   E{SampleKind::collective, "collective"},
                    E{SampleKind::copy, "copy"},       E{SampleKind::launch, "launch"},
                    E{SampleKind::storage, "storage"}, E{SampleKind::optimizer, "optimizer"}};
}

/// Why a sample is not to be believed without a second look; several may hold.
enum class SampleFlag : std::uint8_t {
  throttled,  ///< the driver reported a power, thermal or hardware slowdown while it was timed
  unstable,   ///< interquartile range above 10 % of the median
  outlier,    ///< far from the curve fitted through its neighbours (set by the fits)
  wrong       ///< the result was not correct: the time counts for nothing
};

constexpr auto enum_words(SampleFlag) {
  using E = core::EnumWord<SampleFlag>;
  return std::array{E{SampleFlag::throttled, "throttled"}, E{SampleFlag::unstable, "unstable"},
                    E{SampleFlag::outlier, "outlier"}, E{SampleFlag::wrong, "wrong"}};
}

/// One timed thing: the median of `repeats` timings. Zero or empty: does not apply, or not
/// recorded.
struct Sample {
  SampleKind kind = SampleKind::gemm;
  std::string op;       ///< which of its kind (see SampleKind)
  std::string variant;  ///< how: algorithm, pinned memory, path; free text without commas
  core::Precision precision = core::Precision::bf16;
  std::int64_t m = 0, n = 0,
               k = 0;  ///< gemm as the forward product counts: tokens, outputs, inputs
  std::int64_t batch = 0;
  std::int64_t sequence = 0, query_heads = 0, key_value_heads = 0, head_dim = 0;
  bool causal = false;
  int ranks = 0, ranks_per_node = 0;
  int streams = 0;
  double bytes = 0;
  std::string beside;  ///< what ran at the same time: "gemm", "all_reduce", "copy"; empty: nothing
  std::int64_t repeats = 0;
  double seconds = 0;    ///< median of one call
  double spread_s = 0;   ///< interquartile range of the repeats
  double elapsed_s = 0;  ///< sustained series: since the load began; 0: a burst on a cool GPU
  double clock_hz = 0;   ///< mean SM clock while timed
  double power_w = 0;    ///< mean board power while timed
  double temperature_c = 0;
  std::vector<SampleFlag> flags;

  [[nodiscard]] bool has(SampleFlag flag) const;
  /// Adds the flag once.
  void add(SampleFlag flag);
  bool operator==(const Sample&) const = default;
};

/// Floating-point operations of a gemm (2 m n k batch) or attention (4 batch heads s^2 head_dim
/// forward, 2.5 times that backward, half if causal) sample; 0 for other kinds.
double work_flops(const Sample& sample);

/// One recorded circumstance: "device" -> "NVIDIA H100 80GB HBM3".
struct Fact {
  std::string name, value;
  bool operator==(const Fact&) const = default;
};

/// A whole measurement. Facts worth recording: device, driver, cuda, cublas, cudnn, nccl, clock,
/// power_limit, node, date, program.
struct SampleSet {
  std::vector<Fact> facts;
  std::vector<Sample> samples;
  [[nodiscard]] std::string fact(std::string_view name) const;  ///< empty if absent
  bool operator==(const SampleSet&) const = default;
};

/// The file's text:
///     # headway-samples 1
///     # device: NVIDIA H100 80GB HBM3
///     kind,op,variant,precision,m,n,k,batch,sequence,query_heads,key_value_heads,head_dim,causal,ranks,ranks_per_node,streams,bytes,beside,repeats,seconds,spread_s,elapsed_s,clock_hz,power_w,temperature_c,flags
///     gemm,forward,best,bf16,8192,8192,8192,1,,,,,,,,,,,50,0.00168,2e-06,,1.755e+09,690,61,
/// Zeros are empty cells; flags are joined by ';'; numbers read back to the same bits.
std::string write_samples(const SampleSet& set);

/// Columns may come in any order and be left out but for kind, op and seconds; others are refused.
/// @param file_name  for messages
/// @throws core::Error naming every line that is no sample and every missing cell
SampleSet read_samples(std::string_view text, const std::string& file_name);

}  // namespace headway::fit
