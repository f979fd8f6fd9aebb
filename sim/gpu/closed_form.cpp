#include "sim/gpu/closed_form.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "sim/core/math.h"
#include "sim/gpu/constants.h"

namespace headway::gpu {

namespace {

/// One output tile of a matrix product, and the share of the best rate a full wave of such tiles
/// reaches.
struct Tile {
  double rows, columns, share;
};

// Small tiles load more operand bytes a multiplication. Source: NVIDIA, Matrix Multiplication
// Background User's Guide (DU-09799), table of tile efficiencies; the shares are rounded.
constexpr std::array<Tile, 6> kTiles{{{128, 256, 1.0},
                                      {256, 128, 1.0},
                                      {128, 128, 0.92},
                                      {64, 256, 0.85},
                                      {64, 128, 0.75},
                                      {128, 64, 0.75}}};

double whole_tiles(double size, double tile) { return std::ceil(size / tile); }

/// Steps of the k loop lost to filling and draining its pipeline, in elements of k.
constexpr double kPipelineFill = 128;

// Tokens at which causal flash attention reaches half of its rate for long sequences.
constexpr double kHalfLengthAmpere = 480;
constexpr double kHalfLengthLater = 600;

// Tokens at which shares of attention are given, and how its rate grows with the width of a head,
// up to 128.
constexpr double kReferenceLength = 8192;
constexpr double kWidthExponentAmpere = 0.15;
constexpr double kWidthExponentLater = 0.4;

/// Standard deviation of speed over GPUs of one model, relative.
constexpr double kSpread = 0.0125;

/// Chips whose kernels are those of Ampere or older: matrix instructions that a warp issues and
/// waits for. Hopper's, Blackwell's and AMD's run beside their warps.
bool like_ampere(Architecture architecture) {
  switch (architecture) {
    case Architecture::volta:
    case Architecture::turing:
    case Architecture::ampere:
    case Architecture::ada:
      return true;
    case Architecture::hopper:
    case Architecture::blackwell:
    case Architecture::cdna2:
    case Architecture::cdna3:
    case Architecture::cdna4:
      return false;
  }
  return false;
}

}  // namespace

core::Seconds roofline(core::Flops work,
                       core::FlopsPerSecond rate,
                       core::Bytes traffic,
                       core::BytesPerSecond bandwidth) {
  const core::Seconds compute = work.si() > 0 ? work / rate : core::Seconds(0);
  return std::max(compute, traffic / bandwidth);
}

double gemm_utilization(
    std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t batch, const WaveModel& model) {
  const auto rows = static_cast<double>(m);
  const auto columns = static_cast<double>(n);
  const auto depth = static_cast<double>(k);
  double best = 0;
  for (const Tile& tile : kTiles) {
    const double down = whole_tiles(rows, tile.rows);
    const double across = whole_tiles(columns, tile.columns);
    const double waves =
        down * across * static_cast<double>(batch) / model.streaming_multiprocessors;
    const double filled = rows * columns / (down * tile.rows * across * tile.columns);
    best = std::max(best, tile.share * filled * waves / std::ceil(waves));
  }
  return std::pow(best * depth / (depth + kPipelineFill), model.sharpness);
}

WaveModel wave_model(const GpuSpec& gpu) {
  // Libraries for Ampere and before launch one block a tile, as for the chips with Ampere's matrix
  // instructions (Ada); later ones run persistent kernels that split the last wave.
  const double sharpness = like_ampere(gpu.architecture) ? 1.0 : 0.5;
  return {gpu.streaming_multiprocessors, sharpness};
}

std::vector<core::ModelConstant> closed_form_constants() {
  constexpr const char* kGuide =
      "NVIDIA, Matrix Multiplication Background User's Guide (DU-09799); rounded";
  constexpr const char* kAttention =
      "public flash attention benchmarks, sequences of 512 to 16,384; README.md";
  std::vector<core::ModelConstant> list;
  for (const Tile& tile : kTiles) {
    list.push_back({"gpu.tile_share_" + std::to_string(static_cast<int>(tile.rows)) + "x" +
                        std::to_string(static_cast<int>(tile.columns)),
                    tile.share, "", 0, kGuide});
  }
  list.push_back({"gpu.gemm_pipeline_fill", kPipelineFill, "elements of k", 0, kGuide});
  list.push_back({"gpu.attention_half_length_ampere", kHalfLengthAmpere, "tokens", 0, kAttention});
  list.push_back({"gpu.attention_half_length_later", kHalfLengthLater, "tokens", 0, kAttention});
  list.push_back({"gpu.attention_reference_length", kReferenceLength, "tokens", 0,
                  "where the shares of a GPU's entry are given, by definition"});
  list.push_back({"gpu.attention_width_exponent_ampere", kWidthExponentAmpere, "", 0, kAttention});
  list.push_back({"gpu.attention_width_exponent_later", kWidthExponentLater, "", 0, kAttention});
  list.push_back(
      {"gpu.speed_spread", kSpread, "", 0,
       "stas00/ml-engineering, training/performance: +-2.5 % between GPUs of one model"});
  return list;
}

double attention_utilization(std::int64_t sequence,
                             std::int64_t head_dim,
                             bool causal,
                             Architecture architecture) {
  const double causal_half = like_ampere(architecture) ? kHalfLengthAmpere : kHalfLengthLater;
  const double half = causal ? causal_half : causal_half / 3;
  const auto s = static_cast<double>(sequence);
  const double length = s / (s + half) * (kReferenceLength + half) / kReferenceLength;
  const double exponent = like_ampere(architecture) ? kWidthExponentAmpere : kWidthExponentLater;
  const double width = std::min(1.0, std::pow(static_cast<double>(head_dim) / 128.0, exponent));
  return length * width;
}

double slowest_slowdown(std::int64_t gpus, double spread) {
  return 1 / (1 - spread * core::expected_maximum(static_cast<double>(gpus)));
}

SustainedShares shares_of_slowest(SustainedShares shares, std::int64_t gpus) {
  const double slowdown = slowest_slowdown(gpus, kSpread);
  for (double* share : {&shares.gemm_16bit, &shares.gemm_8bit, &shares.gemm_4bit, &shares.gemm_tf32,
                        &shares.gemm_fp32, &shares.attention_forward, &shares.attention_backward}) {
    *share /= slowdown;
  }
  return shares;
}

double power_share(const GpuSpec& gpu, const SustainedShares& shares, double demand) {
  if (shares.power <= gpu.idle_power || gpu.power <= gpu.idle_power) {
    return 1;
  }
  const double limit = (gpu.power - gpu.idle_power) / (shares.power - gpu.idle_power);
  return limit < 1 ? std::min(1.0, std::sqrt(limit / demand)) : std::sqrt(limit);
}

core::Watts mean_power(const GpuSpec& gpu, double busy_share) {
  return gpu.idle_power + (gpu.power - gpu.idle_power) * busy_share;
}

core::Joules energy(const GpuSpec& gpu, core::Seconds time, double busy_share) {
  return mean_power(gpu, busy_share) * time;
}

}  // namespace headway::gpu
