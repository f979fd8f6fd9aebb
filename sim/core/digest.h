// Hashes that are the same on every machine: for digests of runs and for naming random streams.
#pragma once

#include <cstdint>
#include <string_view>

namespace headway::core {

/// A bijection of 64 bits that spreads every input bit over the whole word.
/// Source: Stafford's variant 13 of the MurmurHash3 finalizer, as in SplitMix64 (Steele et al.,
/// OOPSLA 2014).
constexpr std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}

/// Folds `value` into a running digest; the order of the values matters.
constexpr std::uint64_t combine(std::uint64_t digest, std::uint64_t value) {
  return mix(digest * 0x9e3779b97f4a7c15U + value);
}

/// Both halves of the 128-bit product, one over the other: two words into one for a single
/// multiplication. Source: the mixing step of wyhash (Wang Yi, 2019).
constexpr std::uint64_t multiply_mix(std::uint64_t x, std::uint64_t y) {
  __extension__ using Product = unsigned __int128;
  const Product product = Product{x} * y;
  return static_cast<std::uint64_t>(product >> 64) ^ static_cast<std::uint64_t>(product);
}

/// Hash of a text: FNV-1a (Fowler, Noll, Vo) with a final mix.
constexpr std::uint64_t hash_text(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char c : text) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  }
  return mix(hash);
}

}  // namespace headway::core
