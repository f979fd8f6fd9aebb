#include "sim/import/network/nvlink_domain.h"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>

namespace headway::import {

namespace {

using gpu::Architecture;

/// GPUs that hang together by direct links, counted from each GPU.
std::vector<int> domain_sizes(const LinkMatrix& links) {
  const std::size_t n = links.peer.size();
  std::vector<int> sizes(n, 0);
  for (std::size_t start = 0; start < n; ++start) {
    std::vector<bool> seen(n, false);
    std::vector<std::size_t> stack{start};
    seen[start] = true;
    while (!stack.empty()) {
      const std::size_t at = stack.back();
      stack.pop_back();
      ++sizes[start];
      for (std::size_t to = 0; to < n; ++to) {
        if (!seen[to] && links.peer[at][to] > 0) {
          seen[to] = true;
          stack.push_back(to);
        }
      }
    }
  }
  return sizes;
}

/// Links each GPU has to other GPUs.
std::vector<int> totals(const LinkMatrix& links) {
  std::vector<int> sums;
  for (const std::vector<int>& row : links.peer) {
    sums.push_back(std::accumulate(row.begin(), row.end(), 0));
  }
  return sums;
}

bool all_equal(const std::vector<int>& values) {
  return std::adjacent_find(values.begin(), values.end(), std::not_equal_to<>()) == values.end();
}

int least(const std::vector<int>& values) {
  return *std::min_element(values.begin(), values.end());
}

/// NVSwitches reduce from the third generation on, that of Hopper.
void use_switch(int links,
                core::BytesPerSecond link,
                Architecture architecture,
                ImportedNode& node) {
  node.scale_up.kind = network::ScaleUpKind::nvswitch;
  node.scale_up.bandwidth = link * links;
  node.scale_up.domain_gpus = node.gpus;
  node.scale_up.in_switch_reduction =
      architecture == Architecture::hopper || architecture == Architecture::blackwell;
}

void use_mesh(const LinkMatrix& links, core::BytesPerSecond link, ImportedNode& node) {
  const std::vector<int> sizes = domain_sizes(links);
  const std::vector<int> sums = totals(links);
  if (!all_equal(sizes) || !all_equal(sums)) {
    node.warnings.push_back(
        fmt::format("GPUs differ in their links ({} to {}); the fewest are taken for all",
                    least(sums), *std::max_element(sums.begin(), sums.end())));
  }
  node.scale_up.kind = network::ScaleUpKind::mesh;
  node.scale_up.bandwidth = link * least(sums);
  node.scale_up.domain_gpus = least(sizes);
}

}  // namespace

core::BytesPerSecond link_rate(Architecture architecture) {
  switch (architecture) {
    case Architecture::volta:
    case Architecture::turing:
    case Architecture::ampere:
    case Architecture::ada:
    case Architecture::hopper:
      return core::BytesPerSecond(25e9);
    case Architecture::blackwell:
    case Architecture::cdna2:
      return core::BytesPerSecond(50e9);
    case Architecture::cdna3:
      return core::BytesPerSecond(64e9);
    case Architecture::cdna4:
      return core::BytesPerSecond(76.8e9);
  }
  return core::BytesPerSecond(25e9);
}

int links_of_gpu(Architecture architecture) {
  switch (architecture) {
    case Architecture::volta:
      return 6;
    case Architecture::turing:
    case Architecture::ada:  // boards for workstations have at most one bridge
      return 1;
    case Architecture::ampere:
      return 12;
    case Architecture::hopper:
    case Architecture::blackwell:
      return 18;
    case Architecture::cdna2:
    case Architecture::cdna3:
    case Architecture::cdna4:
      return 7;
  }
  return 12;
}

void describe_scale_up(const LinkMatrix& links,
                       Architecture architecture,
                       core::BytesPerSecond link,
                       core::BytesPerSecond pcie,
                       ImportedNode& node) {
  const std::vector<int> sums = totals(links);
  if (!links.to_switch.empty() && least(links.to_switch) > 0) {
    use_switch(least(links.to_switch), link, architecture, node);
  } else if (sums.empty() || least(sums) == 0) {
    node.scale_up.kind = network::ScaleUpKind::pcie;
    node.scale_up.bandwidth = pcie;
    node.scale_up.domain_gpus = node.gpus;
    if (!sums.empty() && *std::max_element(sums.begin(), sums.end()) > 0) {
      node.warnings.emplace_back(
          "only some GPUs have links to others; all are taken as joined by PCIe");
    }
  } else if (least(sums) > links_of_gpu(architecture)) {
    // Every pair is listed with all links of a GPU: they pass a switch. The busiest pair tells how
    // many.
    int most = 0;
    for (const std::vector<int>& row : links.peer) {
      most = std::max(most, *std::max_element(row.begin(), row.end()));
    }
    use_switch(most, link, architecture, node);
  } else {
    use_mesh(links, link, node);
  }
}

}  // namespace headway::import
