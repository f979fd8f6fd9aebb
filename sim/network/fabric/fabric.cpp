#include "sim/network/fabric/fabric.h"

#include <algorithm>
#include <utility>

#include "sim/core/error.h"

namespace headway::network {
namespace {

using core::LinkId;

std::uint32_t side(bool up) { return up ? 0 : 1; }

/// Rail ports plugged into a leaf: the last leaf of a tree may be part empty.
std::uint32_t attached_ports(const FabricShape& s, std::uint32_t leaf) {
  const std::uint32_t in_tree = leaf % s.leaves_per_tree;
  const bool rails_joined = s.rail_leaves && s.rails_joined();
  const std::uint32_t group = rails_joined ? in_tree / s.rails : in_tree;
  const std::uint32_t ports = s.rail_leaves ? s.nodes_per_site : s.nodes_per_site * s.rails;
  return std::min(s.ports_per_leaf, ports - std::min(ports, group * s.ports_per_leaf));
}

bool carries(core::BytesPerSecond capacity, core::BytesPerSecond feeders) {
  return capacity.si() >= feeders.si() * (1 - 1e-9);
}

}  // namespace

core::Checked count_links(const FabricInput& input, const FabricShape& s) {
  using core::Checked;
  const bool pooled = input.fabric.routing == Routing::adaptive;
  const bool mesh = input.scale_up.kind == ScaleUpKind::mesh;
  const Checked pods = Checked(s.pods_per_tree) * s.trees;
  const Checked inside =
      s.domain_gpus == 1 ? Checked(0) : Checked(s.gpus) * (mesh ? s.domain_gpus - 1 : 2U);
  const Checked nics = Checked(s.nodes) * s.rails * s.planes;
  const Checked leaf = s.spines == 0 ? Checked(0) : Checked(s.leaves) * (pooled ? 1U : s.uplinks);
  const Checked spine =
      s.cores == 0 ? Checked(0)
                   : pods * (pooled ? Checked(1) : Checked(s.spines_per_pod) * s.spine_uplinks);
  const Checked groups = s.dragonfly ? Checked(s.leaves) * 2 + pods * s.pods_per_tree : Checked(0);
  const Checked sites = s.sites > 1 ? Checked(s.sites) : Checked(0);
  return inside + (Checked(s.gpus) + nics + leaf + spine + s.storage_targets + sites) * 2 + groups;
}

std::string_view tier_name(Tier tier, ScaleUpKind scale_up) {
  const bool links = tier == Tier::scale_up && scale_up != ScaleUpKind::nvswitch;
  return links ? core::to_word(scale_up) : core::to_word(tier);
}

Fabric::Fabric(FabricInput input) : input_(std::move(input)), shape_(make_shape(input_)) {
  pooled_ = input_.fabric.routing == Routing::adaptive;
  number_links();
  build_links();
  mark_never_binding();
}

void Fabric::number_links() {
  const auto& s = shape_;
  const auto count = count_links(input_, s);
  if (!count.as<std::uint32_t>()) {
    throw core::Error(fmt::format(
        "the fabric has {} links, and at most {} can be numbered: take fewer nodes or planes",
        count, UINT32_MAX));
  }
  const std::uint32_t pods = s.pods_per_tree * s.trees;
  const bool mesh = input_.scale_up.kind == ScaleUpKind::mesh;
  links_per_leaf_ = s.spines == 0 ? 0 : 2 * (pooled_ ? 1 : s.uplinks);
  links_per_spine_ = s.cores == 0 || pooled_ ? 0 : 2 * s.spine_uplinks;
  links_per_pod_ = s.cores == 0 ? 0 : (pooled_ ? 2 : s.spines_per_pod * links_per_spine_);
  first_host_ = s.domain_gpus == 1 ? 0 : s.gpus * (mesh ? s.domain_gpus - 1 : 2);
  first_nic_ = first_host_ + 2 * s.gpus;
  first_leaf_ = first_nic_ + 2 * s.nodes * s.rails * s.planes;
  first_spine_ = first_leaf_ + links_per_leaf_ * s.leaves;
  first_local_ = first_spine_ + links_per_pod_ * pods;
  first_global_ = first_local_ + (s.dragonfly ? 2 * s.leaves : 0);
  first_storage_ = first_global_ + (s.dragonfly ? pods * s.pods_per_tree : 0);
  first_site_ = first_storage_ + 2 * s.storage_targets;
  links_ = std::size_t{first_site_} + (s.sites > 1 ? 2 * std::size_t{s.sites} : 0);
  kind_of_ = LinkTable(links_);
}

void Fabric::build_links() {
  const auto& s = shape_;
  const auto fill = [&](std::uint32_t last, Tier tier, core::BytesPerSecond cable,
                        std::uint32_t cables, core::Seconds latency) {
    const auto rate = cable * static_cast<double>(cables);
    Link link{rate, rate, latency, cables, tier};
    // A NIC carries no more than its GPUs' host links do, and all their users pass the NIC.
    link.never_binds = tier == Tier::host;
    kinds_.push_back(link);
    tier_ends_.push_back(last);
  };
  const auto hop = input_.fabric.link_latency;
  const bool mesh = input_.scale_up.kind == ScaleUpKind::mesh;
  const auto scale_up =
      mesh ? s.scale_up_rate / std::max(1.0, s.domain_gpus - 1.0) : s.scale_up_rate;
  const std::uint32_t nics = std::max(1U, s.nics_per_node / s.rails);
  const auto nic = s.port_rate / nics;
  fill(first_host_, Tier::scale_up, scale_up, 1, input_.scale_up.latency * (mesh ? 1.0 : 0.5));
  fill(first_nic_, Tier::host, s.port_rate * static_cast<double>(s.planes), 1, input_.nic.latency);
  fill(first_leaf_, Tier::nic, nic, nics, hop);
  fill(first_spine_, Tier::leaf_spine, s.cable_rate, pooled_ ? s.uplinks : 1, hop);
  fill(first_local_, Tier::spine_core, s.cable_rate,
       pooled_ ? s.spine_uplinks * s.spines_per_pod : 1, hop);
  fill(first_global_, Tier::local, s.cable_rate, s.local_cables * (s.leaves_per_pod - 1), hop);
  fill(first_storage_, Tier::global, s.cable_rate, s.global_cables, hop);
  for (std::uint32_t target = 0; target < s.storage_targets; ++target) {
    const auto& storage = input_.storage;
    set(storage_link(target, true), {storage.read, storage.read, hop, 1, Tier::storage});
    set(storage_link(target, false), {storage.write, storage.write, hop, 1, Tier::storage});
  }
  // Half of the way each, so that a route adds up to the latency from site to site.
  for (std::uint32_t site = 0; s.sites > 1 && site < s.sites; ++site) {
    for (const bool up : {true, false}) {
      set(site_link(site, up),
          {s.site_rate, s.site_rate, input_.sites->latency * 0.5, 1, Tier::site});
    }
  }
}

void Fabric::mark_never_binding() {
  const auto& s = shape_;
  const auto mark = [this](LinkId id, bool never_binds) {
    Link link = this->link(id);
    if (link.never_binds != never_binds) {
      link.never_binds = never_binds;
      set(id, link);
    }
  };
  if (!pooled_ || s.spines == 0) {
    return;  // single cables can be hit by several flows
  }
  for (std::uint32_t pod = 0; pod < s.pods_per_tree * s.trees; ++pod) {
    core::BytesPerSecond below_pod[2];  // up, down
    const std::uint32_t first = pod % s.pods_per_tree * s.leaves_per_pod;
    const std::uint32_t last = std::min(first + s.leaves_per_pod, s.leaves_per_tree);
    for (std::uint32_t i = first; i < last; ++i) {
      const std::uint32_t leaf = pod / s.pods_per_tree * s.leaves_per_tree + i;
      const auto hosts = s.port_rate * static_cast<double>(attached_ports(s, leaf));
      for (const bool up : {true, false}) {
        const LinkId uplink = leaf_link(leaf, 0, up);
        const auto below = hosts + attached_storage(leaf, up);
        below_pod[side(up)] += below;
        mark(uplink, carries(link(uplink).capacity, below));
      }
    }
    for (const bool up : {true, false}) {
      if (s.cores > 0) {
        const LinkId uplink = spine_link(pod, 0, 0, up);
        mark(uplink, carries(link(uplink).capacity, below_pod[side(up)]));
      }
    }
  }
}

std::uint32_t Fabric::kind(const Link& link) {
  const auto known = std::find(kinds_.rbegin(), kinds_.rend(), link);
  if (known != kinds_.rend()) {
    return static_cast<std::uint32_t>(kinds_.rend() - known - 1);
  }
  kinds_.push_back(link);
  return static_cast<std::uint32_t>(kinds_.size() - 1);
}

core::BytesPerSecond Fabric::attached_storage(std::uint32_t leaf, bool up) const {
  core::BytesPerSecond sum;
  for (std::uint32_t target = 0; target < shape_.storage_targets; ++target) {
    if (storage_leaf(target, leaf / shape_.leaves_per_tree) == leaf) {
      sum += link(storage_link(target, up)).capacity;
    }
  }
  return sum;
}

GpuPlace Fabric::place(core::GpuId gpu) const {
  const auto& s = shape_;
  HEADWAY_CHECK(gpu.index() < s.gpus, "GPU {} of {}", gpu.index(), s.gpus);
  const std::uint32_t local = gpu.index() % s.gpus_per_node;
  return {gpu.index() / s.gpus_per_node, local, gpu.index() / s.domain_gpus,
          local * s.rails / s.gpus_per_node};
}

LinkId Fabric::scale_up_link(std::uint32_t gpu, bool up) const {
  return LinkId(2 * gpu + side(up));
}

LinkId Fabric::mesh_link(std::uint32_t from_gpu, std::uint32_t to_gpu) const {
  const std::uint32_t d = shape_.domain_gpus;
  const std::uint32_t from = from_gpu % d;
  const std::uint32_t to = to_gpu % d;
  return LinkId(from_gpu * (d - 1) + (to < from ? to : to - 1));
}

LinkId Fabric::host_link(std::uint32_t gpu, bool up) const {
  return LinkId(first_host_ + 2 * gpu + side(up));
}

LinkId Fabric::nic_link(std::uint32_t node,
                        std::uint32_t rail,
                        std::uint32_t plane,
                        bool up) const {
  return LinkId(first_nic_ + 2 * ((node * shape_.rails + rail) * shape_.planes + plane) + side(up));
}

LinkId Fabric::leaf_link(std::uint32_t leaf, std::uint32_t cable, bool up) const {
  return LinkId(first_leaf_ + leaf * links_per_leaf_ + 2 * (pooled_ ? 0 : cable) + side(up));
}

LinkId Fabric::spine_link(std::uint32_t pod,
                          std::uint32_t spine,
                          std::uint32_t cable,
                          bool up) const {
  const std::uint32_t within = pooled_ ? 0 : spine * links_per_spine_ + 2 * cable;
  return LinkId(first_spine_ + pod * links_per_pod_ + within + side(up));
}

LinkId Fabric::local_link(std::uint32_t leaf, bool up) const {
  return LinkId(first_local_ + 2 * leaf + side(up));
}

LinkId Fabric::global_link(std::uint32_t from_pod, std::uint32_t to_pod) const {
  return LinkId(first_global_ + from_pod * shape_.pods_per_tree + to_pod % shape_.pods_per_tree);
}

LinkId Fabric::storage_link(std::uint32_t target, bool up) const {
  return LinkId(first_storage_ + 2 * target + side(up));
}

LinkId Fabric::site_link(std::uint32_t site, bool up) const {
  return LinkId(first_site_ + 2 * site + side(up));
}

std::uint32_t Fabric::storage_leaf(std::uint32_t target, std::uint32_t tree) const {
  const auto& s = shape_;
  const std::uint64_t in_tree = std::uint64_t{target} * s.leaves_per_tree / s.storage_targets;
  return tree * s.leaves_per_tree + static_cast<std::uint32_t>(in_tree);
}

std::uint32_t Fabric::leaf_of(std::uint32_t node, std::uint32_t rail, std::uint32_t plane) const {
  const auto& s = shape_;
  const std::uint32_t in_site = node % s.nodes_per_site;
  const std::uint32_t first = node / s.nodes_per_site * (s.trees / s.sites) * s.leaves_per_tree;
  if (!s.rail_leaves) {
    return first + plane * s.leaves_per_tree + (in_site * s.rails + rail) / s.ports_per_leaf;
  }
  const std::uint32_t group = in_site / s.ports_per_leaf;
  if (s.rails_joined()) {
    return first + plane * s.leaves_per_tree + group * s.rails + rail;
  }
  return first + (plane * s.rails + rail) * s.leaves_per_tree + group;
}

std::uint32_t Fabric::pod_of(std::uint32_t leaf) const {
  const auto& s = shape_;
  return leaf / s.leaves_per_tree * s.pods_per_tree + leaf % s.leaves_per_tree / s.leaves_per_pod;
}

std::uint32_t Fabric::leaves_in(std::uint32_t pod) const {
  const std::uint32_t first = pod % shape_.pods_per_tree * shape_.leaves_per_pod;
  return std::min(shape_.leaves_per_pod, shape_.leaves_per_tree - first);
}

std::uint32_t Fabric::leaf_in(std::uint32_t pod, std::uint32_t within) const {
  const std::uint32_t first = pod / shape_.pods_per_tree * shape_.leaves_per_tree;
  return first + pod % shape_.pods_per_tree * shape_.leaves_per_pod + within % leaves_in(pod);
}

std::uint32_t Fabric::gateway(std::uint32_t pod, std::uint32_t other, std::uint32_t k) const {
  const std::uint32_t to = other % shape_.pods_per_tree;
  const std::uint32_t turn = to < pod % shape_.pods_per_tree ? to : to - 1;
  return leaf_in(pod, turn * shape_.global_cables + k);
}

void Fabric::degrade(LinkId id, double factor, std::uint32_t cables) {
  HEADWAY_CHECK(id.index() < links_, "link {} of {}", id.index(), links_);
  HEADWAY_CHECK(factor >= 0 && factor <= 1, "factor {}", factor);
  Link link = this->link(id);
  const double hit = std::min(cables, link.cables) / static_cast<double>(link.cables);
  const double left = 1 - hit * (1 - factor);
  links_down_ -= link.state == LinkState::down ? 1 : 0;
  links_hit_ -= link.state == LinkState::up ? 0 : 1;
  link.capacity = link.nominal * left;
  link.state = left == 1 ? LinkState::up : (left > 0 ? LinkState::degraded : LinkState::down);
  links_down_ += link.state == LinkState::down ? 1 : 0;
  links_hit_ += link.state == LinkState::up ? 0 : 1;
  set(id, link);
  mark_never_binding();
}

LinkOwner Fabric::owner(LinkId id) const {
  const auto& s = shape_;
  const std::uint32_t i = id.index();
  if (i < first_host_) {
    const bool mesh = input_.scale_up.kind == ScaleUpKind::mesh;
    return {Tier::scale_up, i / (mesh ? s.domain_gpus - 1 : 2)};
  }
  if (i < first_nic_) {
    return {Tier::host, (i - first_host_) / 2};
  }
  if (i < first_leaf_) {
    return {Tier::nic, (i - first_nic_) / 2};
  }
  if (i < first_spine_) {
    return {Tier::leaf_spine, (i - first_leaf_) / links_per_leaf_};
  }
  if (i < first_local_) {
    return {Tier::spine_core, (i - first_spine_) / links_per_pod_};
  }
  if (i < first_global_) {
    return {Tier::local, (i - first_local_) / 2};
  }
  if (i < first_storage_) {
    return {Tier::global, i - first_global_};
  }
  return i < first_site_ ? LinkOwner{Tier::storage, (i - first_storage_) / 2}
                         : LinkOwner{Tier::site, (i - first_site_) / 2};
}

std::string Fabric::describe(LinkId id) const {
  const auto& s = shape_;
  const LinkOwner at = owner(id);
  const auto arrow = [](std::uint32_t offset, const std::string& low, const char* high) {
    return offset % 2 == 0 ? fmt::format("{} -> {}", low, high)
                           : fmt::format("{} -> {}", high, low);
  };
  switch (at.tier) {
    case Tier::scale_up:
      return input_.scale_up.kind == ScaleUpKind::mesh
                 ? fmt::format("GPU {} -> its neighbour {}", at.index,
                               id.index() % (s.domain_gpus - 1))
                 : arrow(id.index(), fmt::format("GPU {}", at.index), "its NVLink domain");
    case Tier::host:
      return arrow(id.index() - first_host_, fmt::format("GPU {}", at.index), "its NIC");
    case Tier::nic: {
      const std::uint32_t port = at.index / s.planes;
      return arrow(id.index() - first_nic_,
                   fmt::format("node {} rail {}", port / s.rails, port % s.rails), "leaf");
    }
    case Tier::leaf_spine:
      return arrow(id.index() - first_leaf_, fmt::format("leaf {}", at.index), "spines");
    case Tier::spine_core:
      return arrow(id.index() - first_spine_, fmt::format("spines of pod {}", at.index), "cores");
    case Tier::local:
      return arrow(id.index() - first_local_, fmt::format("leaf {}", at.index), "its group");
    case Tier::storage:
      return arrow(id.index() - first_storage_, fmt::format("storage target {}", at.index),
                   "its leaf");
    case Tier::site:
      return arrow(id.index() - first_site_, fmt::format("site {}", at.index), "the wide area");
    case Tier::global:
      break;
  }
  const std::uint32_t tree = at.index / s.pods_per_tree / s.pods_per_tree;
  return fmt::format("group {} -> group {}", at.index / s.pods_per_tree,
                     tree * s.pods_per_tree + at.index % s.pods_per_tree);
}

}  // namespace headway::network
