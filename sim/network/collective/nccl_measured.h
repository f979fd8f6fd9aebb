// What NCCL's cost model leaves out, measured: constants that turn its choice into the time a
// machine takes.
//
// Source of every figure: least squares (log of the time, soft-L1) over the public 2, 4 and 8 GPU
// tables of ai-dynamo/aiconfigurator (Apache-2.0, NCCL 2.27 to 2.29, A100, H100, H200, B200, B300,
// GB200, GB300 SXM; 512 B to 512 MiB): all-reduce, all-gather and reduce-scatter together (2,394
// rows), all-to-all (798 rows). No figure belongs to one row, one machine or one message size;
// nothing was fitted to a cluster. Median residual 5 % from 1 MiB up and 6 % below. NCCL's
// bandwidths needed no correction: fitted freely they came out within 2 % of the published ones.
// Standard errors (of least squares, rows taken as independent) stand behind +-.
#pragma once

#include "sim/network/collective/nccl_tables.h"

namespace headway::network::nccl {

/// Launch of a call / NCCL's base latency, for LL and for Simple. LL128 was seen too seldom to be
/// fitted alone and takes LL's. Volta takes Ampere's. +- 0.03, 0.01, 0.01 (LL of Ampere, Hopper,
/// Blackwell); 0.18, 0.11, 0.09 (Simple).
inline constexpr ByGeneration<ByProtocol> kBaseRatio{
    {{1.48, 1.48, 2.67}, {1.48, 1.48, 2.67}, {0.765, 0.765, 1.31}, {1.25, 1.25, 1.59}}};
/// A hop inside a domain / NCCL's hop latency. +- 0.06, 0.03, 0.03 (LL); 0.19, 0.12, 0.10 (Simple).
inline constexpr ByGeneration<ByProtocol> kHopRatio{
    {{1.45, 1.45, 2.25}, {1.45, 1.45, 2.25}, {1.40, 1.40, 1.21}, {2.07, 2.07, 2.01}}};

/// A Simple ring handles this part of one more chunk than it sends: the first send and the last
/// receive of a rank (own chunk copied from input, last chunk copied to output) overlap only in
/// part. +- 0.015.
inline constexpr double kRingCopies = 0.62;

/// NVLS: time^q = latency^q + wire^q; q < 1 says that small messages do not fill its channels. q is
/// held at the best median (free: 0.54 +- 0.02).
inline constexpr double kNvlsExponent = 0.6;
inline constexpr ByGeneration<double> kNvlsBase{0, 0, 0, 30.5};     ///< [us] +- 2.1
inline constexpr ByGeneration<double> kNvlsPerRank{0, 0, 2.24, 0};  ///< [us] +- 0.18

/// Message at which half of `FabricSpec::node_latency` is felt: smaller ones travel in fewer,
/// smaller chunks. Source: all-reduce over 2 nodes on EFA, 2 MiB to 256 MiB, against the model
/// without it (awsome-distributed-training, nccl-tests README): 0.06, 0.07, 0.19, 0.21, 0.3 ms;
/// round value.
inline constexpr double kHalfOfNodesBytes = 16e6;

/// All-to-all: LL up to 16 KiB a peer (Source: NCCL_P2P_LL_THRESHOLD), then Simple; the own part is
/// copied too, at the speed of kOwnPart of a part; send/receive is a pair of such peers.
inline constexpr double kPeerLlBytes = 16384;
inline constexpr double kPeerExponent = 0.775;  ///< +- 0.02
inline constexpr double kPeerShare = 0.868;     ///< of NCCL's NVLink rate, +- 0.02
inline constexpr ByGeneration<double> kPeerLl{12.7, 12.7, 7.6, 10.6};  ///< [us] +- 0.3, 0.2, 0.1
inline constexpr ByGeneration<double> kPeerSimple{15.4, 15.4, 11.3,
                                                  14.5};                 ///< [us] +- 0.7, 0.3, 0.3
inline constexpr ByGeneration<double> kOwnPart{0.33, 0.33, 0.09, 0.65};  ///< +- 0.07, 0.04, 0.06

}  // namespace headway::network::nccl
