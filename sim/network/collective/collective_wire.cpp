#include "sim/network/collective/collective_wire.h"

#include <algorithm>

#include "sim/network/collective/closed_form.h"

namespace headway::network {

double domains_sent_by_tree(int domains) { return domains <= 1 ? 0 : (domains == 2 ? 1 : 2); }

WireBytes wire_bytes(core::CollectiveKind kind,
                     Algorithm algorithm,
                     core::Bytes message,
                     const GroupShape& group) {
  const double n = group.ranks;
  const double r = group.ranks_per_domain;
  const double domains = group.domains;
  const double rails = std::max(1.0, r / group.ranks_per_rail);
  const bool apart = group.domains > 1;
  const double ring = 2 * (domains - 1) / domains;
  const double tree = domains_sent_by_tree(group.domains);
  switch (algorithm) {
    case Algorithm::none:
      return {};
    case Algorithm::pat:
    case Algorithm::recursive: {
      // Every rank sends for itself: over its own NIC once partners are in other domains.
      const double passes = kind == core::CollectiveKind::all_reduce ? 2 : 1;
      return {message * (passes * (r - 1) / n), message * (passes * (n - r) / n * r / rails)};
    }
    case Algorithm::ring: {
      const auto sent = message * bus_factor(kind, group.ranks);
      return {sent * (apart ? (r - 1) / r : 1.0), apart ? sent / rails : core::Bytes{}};
    }
    case Algorithm::hierarchical: {
      if (kind == core::CollectiveKind::all_to_all) {
        return {message * ((r - 1) / r), message * (ring / 2 * r / rails)};
      }
      const double passes = kind == core::CollectiveKind::all_reduce ? 2 : 1;
      return {message * (passes * (r - 1) / r), message * (passes * ring / 2 / rails)};
    }
    case Algorithm::tree:
      return {message * (2 * (r - 1) / r), message * tree / rails};
    case Algorithm::nvls:
    case Algorithm::nvls_tree:
      return {message * (1 + 1 / r), message * tree / rails};
    case Algorithm::collnet:
      return {message * (2 * (r - 1) / r), apart ? message / rails : core::Bytes{}};
    case Algorithm::pairwise:
      return {message * ((r - 1) / n), message * ((n - r) / n * r / rails)};
    case Algorithm::direct:
      return apart ? WireBytes{{}, message} : WireBytes{message, {}};
  }
  return {};
}

}  // namespace headway::network
