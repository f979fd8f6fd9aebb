// What the way between sites carries, given how many packets it loses and what carries them.
#pragma once

#include "sim/core/units.h"
#include "sim/network/spec.h"

namespace headway::network {

/// Payload rates between sites.
struct WideAreaRates {
  core::BytesPerSecond site;    ///< of all connections of a site together, one direction
  core::BytesPerSecond sender;  ///< of the connections of one network card
};

/// What a packet has beside its payload. Source: IEEE 802.3 (preamble 8, header 14, check 4, gap
/// 12), RFC 791 (IP 20), RFC 9293 (TCP 20; UDP, BTH and ICRC of RoCEv2 are 24).
inline constexpr double kPacketOverhead = 78;

/// Whether loss closes the window of a connection.
bool is_tcp(WideAreaTransport transport);

/// Packets that one connection has under way on average while packets are lost with probability p
/// at a round trip R:
///     tcp-reno    sqrt(3 / (2 p))                      Mathis, Semke, Mahdavi, Ott, CCR 1997
///     tcp-cubic   max(reno, (0.4 (3 + 0.7) / (4 (1 - 0.7)))^(1/4) (R / p)^(3/4))   RFC 9438, 5.1
/// @returns infinity without loss, and for RDMA, whose window loss does not close
double packets_under_way(WideAreaTransport transport, double loss, core::Seconds round_trip);

/// Useful packets / packets sent.
///     tcp, rdma-selective-repeat  1 - p
///     rdma-go-back-n              (1 - p) / (1 - p + p W),  W packets under way
/// Source: Bertsekas and Gallager, Data Networks, 2.4.
double useful_share(WideAreaTransport transport, double loss, double packets_under_way);

/// One connection has W = min(window, law of its transport) under way, so
///     sender = min(card, connections W packet / R) x useful share
///     site   = bandwidth x packet / (packet + 78 B) x useful share
/// with R twice the latency: queues along the way are not modelled.
/// @param card  payload rate of a network card
WideAreaRates wide_area_rates(const SitesSpec& sites, core::BytesPerSecond card);

}  // namespace headway::network
