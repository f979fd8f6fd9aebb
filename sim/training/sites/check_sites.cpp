// Rules of clusters that are spread over several sites.
#include "sim/training/sites/check_sites.h"

#include <algorithm>
#include <cstdint>
#include <fmt/format.h>

#include "sim/training/step/placement.h"

namespace headway::training {

namespace {

using workload::Violations;

/// Groups of ranks that exchange in the middle of a pass have no time for the way between sites.
void add_layout(const ClusterSpec& cluster,
                const workload::ParallelismSpec& p,
                int data,
                Violations& list) {
  const int sites = cluster.sites->count;
  if (data % sites != 0) {
    list.push_back({"parallelism.data",
                    fmt::format("data {} cannot be divided over {} sites: tensor, context, "
                                "pipeline and expert groups between sites are not modelled, so "
                                "every site holds whole replicas",
                                data, sites)});
    return;
  }
  const std::int64_t of_stage = std::int64_t{p.tensor} * p.context * (data / sites);
  const bool in_order = p.pipeline == 1 || p.rank_order == workload::RankOrder::pipeline_first ||
                        (cluster.placement == Placement::rack && of_stage % cluster.node.gpus == 0);
  if (!in_order) {
    list.push_back(
        {"parallelism.rank_order",
         "ranks in the order tp-cp-dp-pp put stages of one pipeline on different sites, which is "
         "not modelled; write 'rank_order: tp-cp-pp-dp', or 'placement: rack' where a site's ranks "
         "of a stage fill whole nodes"});
  }
  const std::int64_t experts = std::int64_t{p.expert} * p.expert_tensor;
  if (of_stage % experts != 0) {
    list.push_back({"parallelism.expert",
                    fmt::format("expert {} x expert_tensor {} = {} ranks do not divide the {} "
                                "ranks of a stage on one site: expert groups between sites are "
                                "not modelled",
                                p.expert, p.expert_tensor, experts, of_stage)});
  }
  // Of a domain the job may fill a part only, and that is what has to lie on one site.
  const int domain = filled_domain(cluster, p);
  const std::int64_t gpus = std::int64_t{cluster.nodes} / sites * cluster.node.gpus;
  if (cluster.nodes % sites == 0 && domain > cluster.node.gpus && gpus % domain != 0) {
    list.push_back({"cluster.node.scale_up.domain_gpus",
                    fmt::format("NVLink domains of {} GPUs do not divide the {} GPUs of a site: "
                                "a domain between sites is not modelled; write a 'domain_gpus' "
                                "that divides them, or other 'nodes'",
                                domain, gpus)});
  }
  const int shards = p.shard_group_size;
  if (shards > 0 && std::int64_t{p.context} * (data / sites) % shards != 0) {
    list.push_back({"parallelism.shard_group_size",
                    fmt::format("shard groups of {} ranks do not divide the {} data ranks of a "
                                "site: a copy of the weights lies on one site",
                                shards, p.context * (data / sites))});
  }
}

void add_local_steps(const workload::LocalStepsSpec& local, Violations& list) {
  if (local.fragments > local.steps) {
    list.push_back({"training.local_steps.fragments",
                    fmt::format("{} fragments do not come in turn in {} steps; use at most as "
                                "many fragments as steps",
                                local.fragments, local.steps)});
  }
  if (std::int64_t{local.overlap_steps} * local.fragments > local.steps) {
    list.push_back(
        {"training.local_steps.overlap_steps",
         fmt::format("an exchange beside {} steps is not over when the next fragment's begins, {} "
                     "steps later; use fewer",
                     local.overlap_steps, local.steps / local.fragments)});
  }
}

void add_cluster(const ClusterSpec& c, Violations& list) {
  if (c.placement != Placement::packed && c.placement != Placement::rack) {
    list.push_back({"cluster.placement",
                    fmt::format("placement '{}' on several sites is not modelled; write packed "
                                "or rack",
                                core::to_word(c.placement))});
  }
  if (on_compute_fabric(c)) {
    list.push_back({"cluster.storage.path",
                    "storage on the fabrics of several sites is not modelled; write 'path: dual'"});
  }
  if (c.nodes % c.sites->count != 0) {
    list.push_back({"cluster.sites.count",
                    fmt::format("{} sites do not divide the {} nodes", c.sites->count, c.nodes)});
  }
  if (c.sites->gradient_bits > 0 && c.sites->collective == network::CrossSite::flat) {
    list.push_back({"cluster.sites.gradient_bits",
                    "a flat ring has no values of its own between sites; write 'collective: "
                    "hierarchical' or leave gradient_bits out"});
  }
}

void add_compression(const Scenario& s, Violations& list) {
  const double from = 8 * s.training.framework.reduce_bytes;
  if (s.cluster.sites->gradient_bits > from) {
    list.push_back({"cluster.sites.gradient_bits",
                    fmt::format("gradients are reduced in {:g} bits, and {:g} between sites are "
                                "more; leave it out",
                                from, s.cluster.sites->gradient_bits)});
  }
  if (s.cluster.sites->gradient_bits > 0 && s.training.local_steps) {
    list.push_back({"cluster.sites.gradient_bits",
                    "with local_steps no gradients pass between sites; write "
                    "'training.local_steps.exchange_bits'"});
  }
}

}  // namespace

Violations site_violations(const Scenario& s) {
  Violations list;
  if (!s.cluster.sites) {
    if (s.training.local_steps) {
      list.push_back({"training.local_steps",
                      "local steps are of sites that train apart; write 'cluster.sites'"});
    }
    return list;
  }
  add_cluster(s.cluster, list);
  add_compression(s, list);
  if (s.training.local_steps) {
    add_local_steps(*s.training.local_steps, list);
  }
  return list;
}

Violations site_layout_violations(const Scenario& s,
                                  const workload::ParallelismSpec& layout,
                                  int data_parallel) {
  Violations list;
  if (s.cluster.sites) {
    add_layout(s.cluster, layout, data_parallel, list);
  }
  return list;
}

}  // namespace headway::training
