#include "sim/network/constants.h"

#include <array>
#include <string>

#include "sim/network/collective/nccl_measured.h"

namespace headway::network {
namespace {

constexpr const char* kFit =
    "least squares over the public NCCL tables of ai-dynamo/aiconfigurator, 2 to 8 GPUs, NCCL "
    "2.27-2.29";
constexpr const char* kNccl = "NCCL 2.30.7, src/graph/tuning.cc and topo.h, commit 5067397";

struct Generation {
  NcclGeneration generation;
  const char* name;
  // Standard errors of the fit.
  double base_ll, base_simple, hop_ll, hop_simple, peer_ll, peer_simple, own;
};

constexpr std::array kFitted{
    Generation{NcclGeneration::ampere, "ampere", 0.03, 0.18, 0.06, 0.19, 0.28, 0.68, 0.07},
    Generation{NcclGeneration::hopper, "hopper", 0.01, 0.11, 0.03, 0.12, 0.16, 0.31, 0.04},
    Generation{NcclGeneration::blackwell, "blackwell", 0.01, 0.09, 0.03, 0.10, 0.13, 0.29, 0.06},
};

void add_generation(const Generation& g, std::vector<ModelConstant>& list) {
  const auto add = [&](const char* name, double value, const char* unit, double error) {
    list.push_back({std::string("network.") + g.name + "." + name, value, unit, error, kFit});
  };
  const auto& base = nccl::of(nccl::kBaseRatio, g.generation);
  const auto& hop = nccl::of(nccl::kHopRatio, g.generation);
  add("base_latency_ratio_ll", base.ll, "", g.base_ll);
  add("base_latency_ratio_simple", base.simple, "", g.base_simple);
  add("hop_latency_ratio_ll", hop.ll, "", g.hop_ll);
  add("hop_latency_ratio_simple", hop.simple, "", g.hop_simple);
  add("all_to_all_latency_ll", nccl::of(nccl::kPeerLl, g.generation), "us", g.peer_ll);
  add("all_to_all_latency_simple", nccl::of(nccl::kPeerSimple, g.generation), "us", g.peer_simple);
  add("all_to_all_own_part", nccl::of(nccl::kOwnPart, g.generation), "", g.own);
  list.push_back({std::string("network.") + g.name + ".nvlink_payload",
                  nccl::of(nccl::kNvlinkPayload, g.generation), "", 0, kNccl});
  list.push_back({std::string("network.") + g.name + ".nvls_efficiency",
                  nccl::of(nccl::kNvlsEfficiency, g.generation), "", 0, kNccl});
}

}  // namespace

std::vector<ModelConstant> model_constants() {
  std::vector<ModelConstant> list;
  for (const auto& generation : kFitted) {
    add_generation(generation, list);
  }
  list.push_back({"network.ring_copies", nccl::kRingCopies, "", 0.015, kFit});
  list.push_back({"network.nvls_exponent", nccl::kNvlsExponent, "", 0.02, kFit});
  list.push_back({"network.hopper.nvls_latency_per_rank",
                  nccl::of(nccl::kNvlsPerRank, NcclGeneration::hopper), "us", 0.18, kFit});
  list.push_back({"network.blackwell.nvls_latency",
                  nccl::of(nccl::kNvlsBase, NcclGeneration::blackwell), "us", 2.1, kFit});
  list.push_back({"network.half_of_nodes", nccl::kHalfOfNodesBytes, "B", 8e6,
                  "all-reduce over 2 nodes on EFA, awsome-distributed-training, nccl-tests README; "
                  "round value"});
  list.push_back({"network.all_to_all_exponent", nccl::kPeerExponent, "", 0.02, kFit});
  list.push_back({"network.all_to_all_share", nccl::kPeerShare, "", 0.02, kFit});
  return list;
}

}  // namespace headway::network
