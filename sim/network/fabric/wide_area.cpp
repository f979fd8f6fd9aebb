#include "sim/network/fabric/wide_area.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace headway::network {
namespace {

constexpr double kCubicGrowth = 0.4;    ///< C. Source: RFC 9438, 5
constexpr double kCubicDecrease = 0.7;  ///< beta_cubic. Source: RFC 9438, 4.6

}  // namespace

bool is_tcp(WideAreaTransport transport) {
  return transport == WideAreaTransport::tcp_reno || transport == WideAreaTransport::tcp_cubic;
}

double packets_under_way(WideAreaTransport transport, double loss, core::Seconds round_trip) {
  if (!is_tcp(transport) || loss == 0) {
    return std::numeric_limits<double>::infinity();
  }
  const double reno = std::sqrt(1.5 / loss);
  if (transport == WideAreaTransport::tcp_reno) {
    return reno;
  }
  const double growth =
      std::pow(kCubicGrowth * (3 + kCubicDecrease) / (4 * (1 - kCubicDecrease)), 0.25);
  return std::max(reno, growth * std::pow(round_trip.si() / loss, 0.75));
}

double useful_share(WideAreaTransport transport, double loss, double packets_under_way) {
  return transport == WideAreaTransport::rdma_go_back_n
             ? (1 - loss) / (1 - loss + loss * packets_under_way)
             : 1 - loss;
}

WideAreaRates wide_area_rates(const SitesSpec& sites, core::BytesPerSecond card) {
  const core::Seconds round_trip = 2.0 * sites.latency;
  const double window = std::max(1.0, sites.window / sites.packet);
  const double allowed =
      std::min(window, std::max(1.0, packets_under_way(sites.transport, sites.loss, round_trip)));
  const double connections = sites.connections;
  // Of a window larger than the card fills in a round trip only that part is under way.
  const double filled = std::max(1.0, (card * round_trip) / sites.packet / connections);
  const double under_way = std::min(allowed, filled);
  const double useful = useful_share(sites.transport, sites.loss, under_way);
  const double wire = sites.packet.si() / (sites.packet.si() + kPacketOverhead);
  WideAreaRates rates;
  rates.site = sites.bandwidth * (wire * useful);
  rates.sender = round_trip.si() > 0
                     ? std::min(card, sites.packet * (connections * allowed) / round_trip)
                     : card;
  rates.sender = rates.sender * useful;
  return rates;
}

}  // namespace headway::network
