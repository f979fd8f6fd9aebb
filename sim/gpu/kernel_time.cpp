#include "sim/gpu/kernel_time.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "sim/core/error.h"
#include "sim/gpu/closed_form.h"
#include "sim/gpu/constants.h"
#include "sim/gpu/tables.h"

namespace headway::gpu {

namespace {

using core::Kernel;
using core::Precision;
using core::Seconds;

/// Gaps between kernels of a replayed graph, of those between launched ones.
constexpr double kGraphGap = 0.3;

core::BytesPerSecond sustained_bandwidth(const GpuSpec& gpu, const SustainedShares& shares) {
  return gpu.memory_bandwidth * shares.memory;
}

/// Bytes at the pace of memory, and at that of the instructions which handle them; the two overlap
/// in part and are joined as sides of a right angle: of what H100 and H200 take for sixteen
/// operators, all but one within 10 %, most within 5 (docs/calibration.md, part 9).
Seconds stream_time(const GpuSpec& gpu, const SustainedShares& shares, const Kernel& kernel) {
  const Seconds moved = kernel.traffic / sustained_bandwidth(gpu, shares);
  const double cycles = multiprocessor_cycles(gpu);
  if (kernel.issued <= 0 || cycles <= 0) {
    return moved;
  }
  return Seconds(std::hypot(moved.si(), kernel.traffic.si() / (kernel.issued * cycles)));
}

/// Products of a loop over experts that run at once, each on a stream of its own. Source:
/// NVIDIA/TransformerEngine, nvte_multi_tensor_gemm (multi_stream_cublas_gemm), 2024.
constexpr std::int64_t kLoopStreams = 4;

/// Products of experts that fill the GPU together: of one grouped kernel all, of a loop of library
/// calls those on its streams.
std::int64_t together(const Kernel& kernel) {
  return kernel.launches > 1 ? std::min(kernel.batch, kLoopStreams) : kernel.batch;
}

/// Rate of a product / rate of large ones: the measured table, or for batched products and GPUs
/// without one the law of tiles and waves.
double shape_share(const GpuSpec& gpu, const Kernel& kernel) {
  // Products of experts that run together have as many tiles as one with the rows of all of them.
  // The 8-bit tables are of a library whose epilogue is slow for narrow results; grouped kernels
  // are not its, so their shape dependence is that of the 16-bit ones.
  const bool grouped = kernel.kind == core::KernelKind::grouped_gemm;
  if (kernel.batch == 1 || grouped) {
    const std::int64_t rows = kernel.m * (grouped ? together(kernel) : 1);
    if (const auto share = gemm_table_share(gpu, grouped ? Precision::bf16 : kernel.precision, rows,
                                            kernel.n, kernel.k)) {
      return *share;
    }
  }
  return gemm_utilization(kernel.m, kernel.n, kernel.k, kernel.batch, wave_model(gpu));
}

/// Shares of the rate that are left to products and to batched products where rows of an operand do
/// not begin at 16-byte boundaries.
constexpr double kUnaligned = 1.0 / 4;
constexpr double kUnalignedBatched = 1.0 / 13;

/// Norm in which the times of GPU and CPU are joined: where both limits are near, each layer meets
/// sometimes one, sometimes the other: between maximum and sum.
constexpr double kLaunchNorm = 8;

/// Elements in 16 bytes of an operand.
std::int64_t elements_of_a_piece(Precision precision) {
  switch (precision) {
    case Precision::fp32:
    case Precision::tf32:
      return 4;
    case Precision::bf16:
    case Precision::fp16:
      return 8;
    case Precision::fp8:
    case Precision::mxfp8:
      return 16;
    case Precision::nvfp4:
      return 32;
  }
  return 8;
}

/// Share of the rate that is left when rows of an operand do not begin at 16-byte boundaries.
/// Tensor cores load 16-byte pieces of a row (NVIDIA DU-09799, section 2; 8 elements of 16 bits, 16
/// of 8, 4 of tf32): kernels for other rows are several times slower, batched ones fall back to the
/// cores without matrix units (one sixteenth of the peak on A100).
double alignment_share(const Kernel& kernel) {
  const std::int64_t aligned = elements_of_a_piece(kernel.precision);
  if (kernel.precision == Precision::fp32) {
    return 1;  // the units that multiply fp32 load numbers one by one
  }
  // Both operands of a weight gradient lie with the tokens, over which it sums, as rows. Tensor
  // cores multiply 8 and fewer bits along rows only, so there copies with the tokens along them are
  // read; software that groups experts pads those.
  const bool copies = aligned > 8 && kernel.kind != core::KernelKind::grouped_gemm;
  const bool across_rows = kernel.pass == core::GemmPass::weight_gradient && !copies;
  // A copy to shared memory takes 4, 8 or 16 bytes (PTX ISA, cp.async): rows that begin at 4 bytes
  // keep their kernel there. Measured: weight gradients 4,108 wide on an H100 (docs/calibration.md,
  // part 9, the hybrid's steps).
  const bool by_words = across_rows && kernel.kind != core::KernelKind::grouped_gemm;
  const std::int64_t contiguous = across_rows ? kernel.m : kernel.k;
  if (kernel.n % aligned == 0 && contiguous % (by_words ? (aligned + 3) / 4 : aligned) == 0) {
    return 1;
  }
  return kernel.batch > 1 ? kUnalignedBatched : kUnaligned;
}

Seconds gemm_time(const GpuSpec& gpu, const SustainedShares& shares, const Kernel& kernel) {
  double share = gemm_share(shares, kernel.precision) * power_share(gpu, shares);
  share = std::min(share * shape_share(gpu, kernel), 1.0) * alignment_share(kernel);
  if (kernel.pass == core::GemmPass::weight_gradient) {
    share *= shares.weight_gradient;
  }
  if (kernel.kind == core::KernelKind::grouped_gemm) {
    share *= shares.grouped;
  }
  return roofline(kernel.work, peak_rate(gpu, kernel.precision) * share, kernel.traffic,
                  sustained_bandwidth(gpu, shares));
}

/// Rate at which a multiprocessor fetches blocks of keys and values that its query chose, most of
/// them from the second-level cache. Forward kernels of 64 query and 4 key heads 128 wide, 16
/// blocks of 64 tokens, 8,192 to 131,072 tokens: A100 (108 multiprocessors) 4.0 to 4.8 TB/s, H100
/// (132) 4.8 to 5.6; by multiprocessor 36 to 44 GB/s, median 41. Source:
/// XunhaoLai/native-sparse-attention-triton, README.md, 2025 (topk_sparse_attention, Top16).
constexpr double kFetchRate = 41e9;

Seconds attention_time(const GpuSpec& gpu, const SustainedShares& shares, const Kernel& kernel) {
  const bool forward = kernel.kind == core::KernelKind::attention_forward;
  double share = forward ? shares.attention_forward : shares.attention_backward;
  share *= power_share(gpu, shares, share / shares.gemm_16bit);
  const auto measured =
      kernel.causal && !shares.flash2
          ? attention_table_share(gpu, kernel.sequence, kernel.query_heads * kernel.batch,
                                  kernel.head_dim)
          : std::nullopt;
  // FlashAttention-2 is written for Ampere's instructions, wherever it runs.
  const Architecture written_for = shares.flash2 ? Architecture::ampere : gpu.architecture;
  share *= measured ? *measured
                    : attention_utilization(kernel.sequence, kernel.head_dim, kernel.causal,
                                            written_for);
  const auto rate = peak_rate(gpu, kernel.precision) * std::min(share, 1.0);
  return std::max(roofline(kernel.work, rate, kernel.traffic, sustained_bandwidth(gpu, shares)),
                  kernel.gathered / fetch_rate(gpu));
}

/// Bandwidth of the kernels of a chunked scan and of the convolution before it, counted by what
/// must pass between them, / that of plain streams; and rate of their products / that of large
/// ones, in kernels that keep all in one. Forward of gated delta networks with 8,192 tokens and
/// more, medians over 207 to 1,414 shapes, bytes (scan_kernel of the workload room) over the peak
/// bandwidth: H100 0.45 and 0.76, B200, B300 and GB200 0.27 to 0.44 (three inference engines); H800
/// 0.61; the convolution H100 0.68, H200 0.50, B200 0.35. Products of one fused kernel: 0.45 of the
/// peak (H200). Sources: ai-dynamo/aiconfigurator, measured tables of linear_attention, 2026;
/// PaddlePaddle/flash-attention, pull request 133, 2026. Backward: nothing measured.
constexpr double kScanBandwidth = 0.65;
constexpr double kBlackwellScanBandwidth = 0.45;
constexpr double kScanRate = 0.55;

Seconds scan_time(const GpuSpec& gpu, const SustainedShares& shares, const Kernel& kernel) {
  const double share = gemm_share(shares, kernel.precision) * power_share(gpu, shares) * kScanRate;
  const bool blackwell = gpu.architecture == Architecture::blackwell;
  const double bandwidth = blackwell ? kBlackwellScanBandwidth : kScanBandwidth;
  return roofline(kernel.work, peak_rate(gpu, kernel.precision) * std::min(share, 1.0),
                  kernel.traffic, sustained_bandwidth(gpu, shares) * bandwidth);
}

/// FLOPs of a recurrence on the vector units that one exponential delays as long as: an SM gives 16
/// of them a clock beside 128 fp32 operations of multiplying and adding units (64 on Volta, Turing
/// and A100, which is 128 operations; 128 later, which is 256). Source: CUDA C++ Programming Guide,
/// arithmetic instructions. A ninth of the operations are exponentials (scan_flops of the workload
/// room), and the two kinds of units wait for each other.
double exponential_cost(Architecture architecture) {
  switch (architecture) {
    case Architecture::volta:
    case Architecture::turing:
    case Architecture::ampere:
      return 8;
    default:
      return 16;
  }
}

/// Share of the vector units' peak that a recurrence reaches: eight plain operations and an
/// exponential, at the rate of chunked scans' products beside large ones. Checked by what its
/// authors say of A100 (arXiv 2312.00752, section 4.5): a scan of 16 states is faster than
/// FlashAttention-2 beyond 2,048 tokens.
Seconds vector_scan_time(const GpuSpec& gpu, const SustainedShares& shares, const Kernel& kernel) {
  const double share = 9 / (8 + exponential_cost(gpu.architecture)) * kScanRate;
  const bool blackwell = gpu.architecture == Architecture::blackwell;
  const double bandwidth = blackwell ? kBlackwellScanBandwidth : kScanBandwidth;
  return roofline(kernel.work, peak_rate(gpu, Precision::fp32) * share, kernel.traffic,
                  sustained_bandwidth(gpu, shares) * bandwidth);
}

/// Time of one column, whose kernels wait for those of the column before, and what each row adds.
/// cuSOLVER through PyTorch 2.11 on H100 (calibrate/validate/h100-sxm/pytorch.csv), fp32: QRs of
/// 512, 1,024, 2,048 and 4,096 columns 3.7, 4.4, 5.3, 7.1 us a column, eigenvalues and vectors of
/// 1,024, 2,048 and 4,096 10.6, 12.7, 23.5; 61 matrices of 768 in one call 61 times one. Others:
/// QRs on H100 of 16 x 16 60 us, of 128 x 32 189 us (pytorch/pytorch, pull request 173788), on A100
/// of 2,000 columns 6.3 ms, 0.54 of this (ml-explore/mlx, pull request 975). rocSOLVER: 918 ms for
/// QRs of 62 of 768 and one of 1,024 columns on MI300X (tasmaikeni13/RFS, logs of SOAP, 2026), its
/// eigenvalues taken to be as fast.
constexpr double kColumn = 3.5e-6;
constexpr double kEigenvalueColumn = 9.3e-6;
constexpr double kColumnRow = 0.87e-9;
constexpr double kCdnaColumn = 19e-6;

/// Columns one after another, then what matrices taken together do not share: products at the rate
/// of large ones, and passes over what is left of the matrix.
Seconds decomposition_time(const GpuSpec& gpu,
                           const SustainedShares& shares,
                           const Kernel& kernel) {
  const double share = gemm_share(shares, kernel.precision) * power_share(gpu, shares);
  return column_time(gpu, kernel) * static_cast<double>(kernel.n) +
         kernel.work / (peak_rate(gpu, kernel.precision) * std::min(share, 1.0)) +
         kernel.traffic / sustained_bandwidth(gpu, shares);
}

Seconds one_launch(const GpuSpec& gpu,
                   const SustainedShares& shares,
                   const Kernel& kernel,
                   core::BytesPerSecond host_memory) {
  switch (kernel.kind) {
    case core::KernelKind::gemm:
    case core::KernelKind::grouped_gemm:
      return gemm_time(gpu, shares, kernel);
    case core::KernelKind::attention_forward:
    case core::KernelKind::attention_backward:
      return attention_time(gpu, shares, kernel);
    case core::KernelKind::scan:
      return scan_time(gpu, shares, kernel);
    case core::KernelKind::vector_scan:
      return vector_scan_time(gpu, shares, kernel);
    case core::KernelKind::decomposition:
    case core::KernelKind::eigenvalues:
      return decomposition_time(gpu, shares, kernel);
    case core::KernelKind::memory_bound:
      return stream_time(gpu, shares, kernel);
    case core::KernelKind::host_copy:
      return kernel.traffic / std::min(gpu.host_bandwidth, host_memory);
    case core::KernelKind::host_update:
      return kernel.traffic / host_memory;
    case core::KernelKind::score_rows:
      return kernel.traffic / (sustained_bandwidth(gpu, shares) * shares.score_rows);
  }
  return Seconds(0);
}

}  // namespace

namespace {

/// Zero where the format is not supported.
core::FlopsPerSecond rate_or_zero(const GpuSpec& gpu, Precision precision) {
  core::FlopsPerSecond rate;
  switch (precision) {
    case Precision::fp32:
      rate = gpu.peak.fp32;
      break;
    case Precision::tf32:
      rate = gpu.peak.tf32;
      break;
    case Precision::bf16:
      rate = gpu.peak.bf16;
      break;
    case Precision::fp16:
      rate = gpu.peak.fp16;
      break;
    case Precision::fp8:
      rate = gpu.peak.fp8;
      break;
    case Precision::mxfp8: {
      // Block scales are applied by the matrix units from Blackwell and CDNA 4 on.
      const bool scaled =
          gpu.architecture == Architecture::blackwell || gpu.architecture == Architecture::cdna4;
      rate = scaled ? gpu.peak.fp8 : core::FlopsPerSecond(0);
      break;
    }
    case Precision::nvfp4:
      // Scales in E4M3 of blocks of 16; the 4-bit products of CDNA 4 have powers of two of blocks
      // of 32 (OCP Microscaling Formats 1.0, MXFP4).
      rate = gpu.architecture == Architecture::blackwell ? gpu.peak.fp4 : core::FlopsPerSecond(0);
      break;
  }
  return rate;
}

}  // namespace

double gemm_share(const SustainedShares& shares, Precision precision) {
  switch (precision) {
    case Precision::fp8:
    case Precision::mxfp8:
      return shares.gemm_8bit;
    case Precision::nvfp4:
      return shares.gemm_4bit;
    case Precision::tf32:
      return shares.gemm_tf32 > 0 ? shares.gemm_tf32 : shares.gemm_16bit;
    case Precision::fp32:
      return shares.gemm_fp32 > 0 ? shares.gemm_fp32 : shares.gemm_16bit;
    default:
      return shares.gemm_16bit;
  }
}

bool has_own_share(const SustainedShares& shares, Precision precision) {
  return !(precision == Precision::tf32 && shares.gemm_tf32 <= 0) &&
         !(precision == Precision::fp32 && shares.gemm_fp32 <= 0);
}

std::string missing_precision(const GpuSpec& gpu, Precision precision) {
  if (rate_or_zero(gpu, precision) > core::FlopsPerSecond(0)) {
    return {};
  }
  // Who asks for 16 bits or less is not sent to a format an order of magnitude slower.
  const bool wide = precision == Precision::fp32 || precision == Precision::tf32;
  std::vector<std::string_view> formats;
  for (const Precision format : {Precision::tf32, Precision::bf16, Precision::fp16, Precision::fp8,
                                 Precision::mxfp8, Precision::nvfp4, Precision::fp32}) {
    const bool slow = format == Precision::fp32 || format == Precision::tf32;
    if ((wide || !slow) && rate_or_zero(gpu, format) > core::FlopsPerSecond(0)) {
      formats.push_back(core::to_word(format));
    }
  }
  std::string use;
  for (std::size_t i = 0; i < formats.size(); ++i) {
    const char* joint = i == 0 ? "" : (i + 1 == formats.size() ? " or " : ", ");
    use += fmt::format("{}{}", joint, formats[i]);
  }
  return fmt::format("{} has no {}; {}", gpu.name, core::to_word(precision),
                     use.empty() ? "its entry gives no 'peak' of any format" : "use " + use);
}

core::FlopsPerSecond peak_rate(const GpuSpec& gpu, Precision precision) {
  const core::FlopsPerSecond rate = rate_or_zero(gpu, precision);
  if (rate <= core::FlopsPerSecond(0)) {
    throw core::Error(missing_precision(gpu, precision));
  }
  return rate;
}

core::BytesPerSecond fetch_rate(const GpuSpec& gpu) {
  return core::BytesPerSecond(kFetchRate * gpu.streaming_multiprocessors);
}

double multiprocessor_cycles(const GpuSpec& gpu) {
  // Source: CUDA C++ Programming Guide, arithmetic instructions; AMD's data sheets of CDNA 2 to 4,
  // fp32 by matrix units. No clock of a data sheet is below 1 GHz.
  constexpr double kLanes = 128, kOldLanes = 64, kSlowest = 1e9;
  const double operations = 2 * kLanes * gpu.streaming_multiprocessors;
  const double clock = operations > 0 ? gpu.peak.fp32.si() / operations : 0;
  return gpu.streaming_multiprocessors * (clock < kSlowest ? clock * kLanes / kOldLanes : clock);
}

Seconds column_time(const GpuSpec& gpu, const Kernel& kernel) {
  if (gpu.architecture >= Architecture::cdna2) {
    return Seconds(kCdnaColumn);
  }
  const double first = kernel.kind == core::KernelKind::eigenvalues ? kEigenvalueColumn : kColumn;
  const double one = first + kColumnRow * static_cast<double>(kernel.n);
  return Seconds(one * static_cast<double>(kernel.batch));
}

Seconds launch_gap(const GpuSpec& gpu, const LaunchModel& launch) {
  return gpu.kernel_launch * (launch.cuda_graphs ? kGraphGap : 1.0);
}

Seconds kernel_time(const GpuSpec& gpu,
                    const SustainedShares& shares,
                    const Kernel& kernel,
                    const LaunchModel& launch) {
  const Seconds gap = launch_gap(gpu, launch);
  return (one_launch(gpu, shares, kernel, launch.host_memory) + gap) *
         (static_cast<double>(kernel.count) / static_cast<double>(kernel.every));
}

Seconds kernels_time(const GpuSpec& gpu,
                     const SustainedShares& shares,
                     const std::vector<Kernel>& kernels,
                     const LaunchModel& launch) {
  Seconds sum;
  for (const Kernel& kernel : kernels) {
    sum += kernel_time(gpu, shares, kernel, launch);
  }
  return sum;
}

Seconds launch_time(const std::vector<Kernel>& kernels, const LaunchModel& launch) {
  Seconds sum;
  for (const Kernel& kernel : kernels) {
    if (kernel.launches > 0) {
      const Seconds loop = launch.loop_launch * static_cast<double>(kernel.launches - 1);
      sum += (launch.cpu_launch + loop) *
             (static_cast<double>(kernel.count) / static_cast<double>(kernel.every));
    }
  }
  return sum;
}

Seconds host_time(Seconds launches, int collectives, int layers, const LaunchModel& launch) {
  if (launch.cuda_graphs) {
    return Seconds(0);
  }
  return (launches + launch.collective * static_cast<double>(collectives) +
          launch.layer * static_cast<double>(layers)) *
         launch.slowdown;
}

std::vector<core::ModelConstant> kernel_constants() {
  const SustainedShares shares;
  return {
      {"gpu.weight_gradient_share", shares.weight_gradient, "", 0.21,
       "round value, where the GPU's file or a calibration has none; a fit over 496 published "
       "runs would have 0.93 of it (docs/validation.md)"},
      {"gpu.grouped_share", shares.grouped, "", 0.05,
       "products of 4 experts with 8,192 rows or 8 with 4,096 / dense ones with 4,096, N x K of "
       "4,096 x 7,168 and 7,168 x 2,048: 0.99, 0.99, 1.07, 1.07 (deepseek-ai/DeepGEMM, README.md "
       "of February 2025, H800)"},
      {"gpu.loop_streams", static_cast<double>(kLoopStreams), "", 0,
       "NVIDIA/TransformerEngine, nvte_multi_tensor_gemm, 2024"},
      {"gpu.score_rows_share", shares.score_rows, "", 0.15,
       "bandwidth of softmax and dropout over scores in memory / of plain streams: round value "
       "over runs of 2021 and 2022, a fit over 496 would have 0.78 of it"},
      {"gpu.scan_bandwidth", kScanBandwidth, "", 0.17,
       "bandwidth of a chunked scan's kernels / of plain streams: forward 0.51 and 0.86 (H100), "
       "0.69 "
       "(H800) of gated delta networks (ai-dynamo/aiconfigurator, tables of 2026; "
       "PaddlePaddle/flash-attention, pull request 133); backward not measured"},
      {"gpu.blackwell_scan_bandwidth", kBlackwellScanBandwidth, "", 0.08,
       "the same on Blackwell: 0.31 to 0.49 (B200, B300, GB200; ai-dynamo/aiconfigurator, tables "
       "of "
       "2026)"},
      {"gpu.scan_rate", kScanRate, "", 0.15,
       "products of a scan in one fused kernel / large products: 0.45 of the peak on H200 "
       "(ai-dynamo/aiconfigurator, tables of 2026)"},
      {"gpu.decomposition_column", kColumn, "s", 0.2e-6,
       "a column of a QR by cuSOLVER: PyTorch 2.11 on H100, docs/calibration.md, part 9"},
      {"gpu.eigenvalue_column", kEigenvalueColumn, "s", 0.5e-6,
       "the same of eigenvalues and vectors, 1,024 columns and more"},
      {"gpu.decomposition_row", kColumnRow, "s", 0.1e-9, "what each row adds to either"},
      {"gpu.cdna_decomposition_column", kCdnaColumn, "s", 6e-6,
       "the same by rocSOLVER: 63 QRs of 768 and 1,024 columns in 918 ms on MI300X "
       "(tasmaikeni13/RFS, logs of SOAP, 2026)"},
      {"gpu.fetch_rate", kFetchRate, "B/s", 2.7e9,
       "rate of a multiprocessor that fetches chosen blocks of keys, mostly from the second-level "
       "cache: ten sizes on A100 and H100 (XunhaoLai/native-sparse-attention-triton, README.md, "
       "2025)"},
      {"gpu.graph_gap", kGraphGap, "", 0,
       "gaps between kernels of a replayed graph / of launched ones; assumed"},
      {"gpu.unaligned_share", kUnaligned, "", 0,
       "tensor cores load 16-byte pieces of a row (NVIDIA DU-09799, section 2); the share is a "
       "round value, assumed"},
      {"gpu.unaligned_batched_share", kUnalignedBatched, "", 0,
       "batched products fall back to cores without matrix units, a sixteenth of the peak on "
       "A100; rounded up, assumed"},
      {"gpu.launch_norm", kLaunchNorm, "", 0,
       "round value between the sum (1) and the maximum of both times, assumed"}};
}

double host_stretch(Seconds kernels, Seconds transfers, Seconds host) {
  if (kernels <= Seconds(0)) {
    return 1;
  }
  const Seconds busy = kernels + transfers;
  const double longer = std::pow(1 + std::pow(host / busy, kLaunchNorm), 1 / kLaunchNorm) - 1;
  return 1 + longer * (busy / kernels);
}

}  // namespace headway::gpu
