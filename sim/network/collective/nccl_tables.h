// NCCL's published cost constants. Source: NCCL 2.30.7, src/graph/tuning.cc and topo.h, commit
// 5067397.
//
// They choose the algorithm and protocol ("what would NCCL pick"); collective.cpp turns the choice
// into a time.
#pragma once

#include <array>
#include <cstddef>

#include "sim/network/collective/collective_call.h"

namespace headway::network::nccl {

/// One figure each for LL, LL128 and Simple.
struct ByProtocol {
  double ll = 0, ll128 = 0, simple = 0;
  [[nodiscard]] constexpr double operator[](Protocol p) const {
    return p == Protocol::ll ? ll : (p == Protocol::ll128 ? ll128 : simple);
  }
};

/// One figure for groups of 1, 2 and 4 or more nodes.
struct ByNodes {
  double one = 0, two = 0, more = 0;
  [[nodiscard]] constexpr double at(int nodes) const {
    return nodes <= 1 ? one : (nodes == 2 ? two : more);
  }
};

/// One figure a generation: volta, ampere, hopper, blackwell.
template <class T>
using ByGeneration = std::array<T, 4>;

template <class T>
constexpr const T& of(const ByGeneration<T>& table, NcclGeneration g) {
  return table[static_cast<std::size_t>(g)];
}

// Latencies [us]: `baseLatencies` and `hwLatencies`.
inline constexpr ByProtocol kBaseTree{6.8, 14.0, 8.4};
inline constexpr ByProtocol kBaseRing{6.6, 14.0, 8.4};
inline constexpr double kBasePat = 8.0;
inline constexpr ByProtocol kNvlinkTree{0.6, 1.25, 4.0};
inline constexpr ByProtocol kNvlinkRing{0.6, 1.9, 3.4};
inline constexpr ByProtocol kPcieTree{1.0, 1.9, 4.0};
inline constexpr ByProtocol kPcieRing{1.0, 2.5, 5.7};
inline constexpr ByProtocol kNetTree{5.0, 8.5, 14.0};
inline constexpr ByProtocol kNetRing{2.7, 4.0, 14.0};
inline constexpr double kNvlinkCollnet = 2.8, kNetCollnet = 30.0;  // chain
inline constexpr double kNvlinkNvls = 25.0, kNetNvlsTree = 20.9;
inline constexpr double kNetPat = 14.0;

// Bandwidths [GB/s].
/// LL, all channels together, one node.
inline constexpr ByGeneration<double> kLlMaxOneNode{39.0, 87.7, 141.0, 282.0};
/// LL, more nodes. The row is picked by CPU vendor, not generation; the Intel row: 39 / 20.4 for 2
/// / 4 and more.
inline constexpr ByNodes kLlMaxNodes{0, 39.0, 20.4};
inline constexpr ByGeneration<ByNodes> kLl128RingChannel{
    {{20, 20, 20}, {20, 20, 20}, {36.7, 36.7, 36.7}, {40, 40, 40}}};
inline constexpr ByGeneration<ByNodes> kLl128TreeChannel{
    {{20, 20, 20}, {20, 20, 20}, {36.7, 36.7, 29.0}, {55.6, 31.7, 20.0}}};
inline constexpr ByGeneration<ByNodes> kTreeChannel{
    {{26.5, 18.5, 10.0}, {24.0, 23.6, 17.8}, {38.7, 41.4, 36.0}, {70.0, 42.8, 24.0}}};
inline constexpr ByGeneration<ByNodes> kNvlsTreeChannel{
    {{26.5, 18.5, 10.0}, {24.0, 23.6, 17.8}, {0, 57.7, 45.5}, {0, 96.0, 80.0}}};
/// Share of the NVLink rate that in-switch reduction reaches.
inline constexpr ByGeneration<double> kNvlsEfficiency{0, 0, 0.85, 0.74};

/// Share of a link's line rate that payload reaches: `topo.h` says 20, 20, 20.6, 40.1 GB/s for
/// links of 25, 25, 25, 50.
inline constexpr ByGeneration<double> kNvlinkPayload{0.8, 0.8, 20.6 / 25, 40.1 / 50};
/// Channels of a ring after NCCL doubles them (logged by NCCL on DGX machines: 24, 24, 16 and 16).
inline constexpr ByGeneration<int> kChannels{24, 24, 16, 16};

inline constexpr double kRingLlShare = 0.5;  ///< ring LL at most half of the bus bandwidth
inline constexpr double kRingLl128Share = 0.92;
inline constexpr double kTreeShare = 0.92;  ///< tree all-reduce
inline constexpr double kTreeLlDivisor = 3.8;
inline constexpr ByNodes kTreeLl128Share{7.0 / 9, 120.0 / 128, 120.0 / 128};
inline constexpr double kPatShare = 0.75;
/// Simple ring all-reduce over several nodes with at least 64 B per channel and rank waits this
/// much longer a step.
inline constexpr double kRingPlateau = 1.4, kRingPlateauOld = 1.9;
inline constexpr double kNetPostOverhead = 1.0;  ///< [us] Intel host; three times this for Simple

}  // namespace headway::network::nccl
