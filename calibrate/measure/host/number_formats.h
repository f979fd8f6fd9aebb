// Number formats as bits and the random values that fill every measured array: the same code on the
// GPU and on the CPU, so that a result can be checked from its index alone.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#ifdef __CUDACC__
#define HEADWAY_BOTH __host__ __device__ __forceinline__
#else
#define HEADWAY_BOTH inline
#endif

namespace headway::measure {

/// Storage formats of measured arrays. tf32 is stored in 32 bits.
enum class Format : std::uint8_t { fp32, tf32, bf16, fp16, fp8_e4m3 };

/// Bytes of one element.
HEADWAY_BOTH constexpr int element_bytes(Format format) {
  return format == Format::fp8_e4m3 ? 1 : format == Format::bf16 || format == Format::fp16 ? 2 : 4;
}

HEADWAY_BOTH std::uint32_t float_bits(float value) {
  std::uint32_t bits = 0;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}
HEADWAY_BOTH float bits_float(std::uint32_t bits) {
  float value = 0;
  memcpy(&value, &bits, sizeof value);
  return value;
}

/// Drops the lowest `dropped` bits, to nearest, ties to even.
HEADWAY_BOTH std::uint32_t round_off(std::uint32_t bits, int dropped) {
  const std::uint32_t half = (1U << (dropped - 1)) - 1U;
  return (bits + half + ((bits >> dropped) & 1U)) >> dropped;
}

HEADWAY_BOTH std::uint16_t to_bf16(float value) {
  return static_cast<std::uint16_t>(round_off(float_bits(value), 16));
}
HEADWAY_BOTH float from_bf16(std::uint16_t bits) {
  return bits_float(static_cast<std::uint32_t>(bits) << 16);
}

/// fp32 whose 13 lowest bits are zero: what a tensor core reads of an fp32 operand.
HEADWAY_BOTH float to_tf32(float value) {
  return bits_float(round_off(float_bits(value), 13) << 13);
}

/// A small float of `mantissa` bits and exponent bias `bias`, without sign: value of its bits.
HEADWAY_BOTH float from_small_float(std::uint32_t bits, int mantissa, int bias) {
  const int exponent = static_cast<int>(bits >> mantissa);
  const std::uint32_t fraction = bits & ((1U << mantissa) - 1U);
  if (exponent == 0) {  // subnormal
    return ldexpf(static_cast<float>(fraction), 1 - bias - mantissa);
  }
  return ldexpf(static_cast<float>(fraction | (1U << mantissa)), exponent - bias - mantissa);
}

/// The bits nearest to `magnitude` >= 0, ties to even; subnormals included, no overflow check.
HEADWAY_BOTH std::uint32_t to_small_float(float magnitude, int mantissa, int bias) {
  const float smallest_normal = ldexpf(1.0F, 1 - bias);
  if (magnitude < smallest_normal) {
    // rintf rounds to even; the result may be the smallest normal, whose bits follow on.
    return static_cast<std::uint32_t>(rintf(ldexpf(magnitude, bias - 1 + mantissa)));
  }
  const std::uint32_t rounded = round_off(float_bits(magnitude), 23 - mantissa);
  return rounded - (static_cast<std::uint32_t>(127 - bias) << mantissa);
}

HEADWAY_BOTH std::uint16_t to_fp16(float value) {
  const std::uint32_t sign = float_bits(value) >> 31;
  const float magnitude = fabsf(value) > 65504.0F ? 65504.0F : fabsf(value);
  return static_cast<std::uint16_t>((sign << 15) | to_small_float(magnitude, 10, 15));
}
HEADWAY_BOTH float from_fp16(std::uint16_t bits) {
  const float magnitude = from_small_float(bits & 0x7FFFU, 10, 15);
  return (bits & 0x8000U) != 0 ? -magnitude : magnitude;
}

/// OCP E4M3: largest value 448; saturates.
HEADWAY_BOTH std::uint8_t to_fp8(float value) {
  const std::uint32_t sign = float_bits(value) >> 31;
  const float magnitude = fabsf(value) > 448.0F ? 448.0F : fabsf(value);
  return static_cast<std::uint8_t>((sign << 7) | to_small_float(magnitude, 3, 7));
}
HEADWAY_BOTH float from_fp8(std::uint8_t bits) {
  const float magnitude = from_small_float(bits & 0x7FU, 3, 7);
  return (bits & 0x80U) != 0 ? -magnitude : magnitude;
}

/// `value` rounded to `format`.
HEADWAY_BOTH float rounded_to(Format format, float value) {
  switch (format) {
    case Format::tf32:
      return to_tf32(value);
    case Format::bf16:
      return from_bf16(to_bf16(value));
    case Format::fp16:
      return from_fp16(to_fp16(value));
    case Format::fp8_e4m3:
      return from_fp8(to_fp8(value));
    default:
      return value;
  }
}

/// Writes `value` as element `index` of an array of `format`.
HEADWAY_BOTH void store(Format format, void* array, std::uint64_t index, float value) {
  switch (format) {
    case Format::bf16:
      static_cast<std::uint16_t*>(array)[index] = to_bf16(value);
      break;
    case Format::fp16:
      static_cast<std::uint16_t*>(array)[index] = to_fp16(value);
      break;
    case Format::fp8_e4m3:
      static_cast<std::uint8_t*>(array)[index] = to_fp8(value);
      break;
    case Format::tf32:
      static_cast<float*>(array)[index] = to_tf32(value);
      break;
    case Format::fp32:
      static_cast<float*>(array)[index] = value;
      break;
  }
}

/// Element `index` of an array of `format`.
HEADWAY_BOTH float load(Format format, const void* array, std::uint64_t index) {
  switch (format) {
    case Format::bf16:
      return from_bf16(static_cast<const std::uint16_t*>(array)[index]);
    case Format::fp16:
      return from_fp16(static_cast<const std::uint16_t*>(array)[index]);
    case Format::fp8_e4m3:
      return from_fp8(static_cast<const std::uint8_t*>(array)[index]);
    default:
      return static_cast<const float*>(array)[index];
  }
}

/// 64 well mixed bits of (seed, index). Source: splitmix64, Steele et al., OOPSLA 2014.
HEADWAY_BOTH std::uint64_t mixed_bits(std::uint64_t seed, std::uint64_t index) {
  std::uint64_t z = (seed * 0xD1342543DE82EF95ULL) + (index + 1) * 0x9E3779B97F4A7C15ULL;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  return z ^ (z >> 31);
}

/// Random value `index` of the array `seed`: mean 0, variance 1, nearly normal (sum of four
/// uniforms), never 0. The power a tensor core draws, and so its clock, depends on the bits it
/// multiplies: zeros or constants would flatter it.
HEADWAY_BOTH float random_value(std::uint64_t seed, std::uint64_t index) {
  const std::uint64_t bits = mixed_bits(seed, index);
  const int sum = static_cast<int>(bits & 0xFFFFU) + static_cast<int>((bits >> 16) & 0xFFFFU) +
                  static_cast<int>((bits >> 32) & 0xFFFFU) + static_cast<int>(bits >> 48);
  // Four uniforms of 16 bits: mean 2 x 65535, variance 4 x 65536^2 / 12. The half keeps it from 0.
  return (static_cast<float>(sum) - 131070.0F + 0.5F) * (1.7320508F / 65536.0F);
}

/// random_value as an array of `format` holds it.
HEADWAY_BOTH float stored_random_value(Format format, std::uint64_t seed, std::uint64_t index) {
  return rounded_to(format, random_value(seed, index));
}

}  // namespace headway::measure
