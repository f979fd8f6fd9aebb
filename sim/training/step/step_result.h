// What is known about one training step, healthy.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/core/activity.h"
#include "sim/core/units.h"
#include "sim/training/packets/network_calls.h"
#include "sim/training/packets/packet_step.h"

namespace headway::training {

/// One assumption the prediction rests on; printed with every result.
struct Assumption {
  std::string key;  ///< dotted path of the field, or a name
  std::string value;
  std::string why;
  bool operator==(const Assumption&) const = default;

  template <class V>
  void fields(V& v) const {
    v.part("key", key, "field of the scenario, or a name");
    v.part("value", value, "what was taken");
    v.part("why", why, "why, and where it is from");
  }
};

/// Bytes on the fullest GPU of the fullest stage, at the peak of the step.
struct MemoryByKind {
  core::Bytes weights, gradients, optimizer, activations, logits, buffers, slack;
  [[nodiscard]] core::Bytes total() const {
    return weights + gradients + optimizer + activations + logits + buffers + slack;
  }
  bool operator==(const MemoryByKind&) const = default;

  template <class V>
  void fields(V& v) const {
    v.figure("weights", weights, "", "parameters in the precision of training");
    v.figure("gradients", gradients, "", "gradients, accumulated");
    v.figure("optimizer", optimizer, "", "state of the optimizer, master weights included");
    v.figure("activations", activations, "", "what the backward pass needs of the forward passes");
    v.figure("logits", logits, "", "output of the last layer and its gradient");
    v.figure("buffers", buffers, "", "communication buffers, gathered weights, workspaces");
    v.figure("slack", slack, "", "fragmentation of the allocator");
  }
};

struct MemoryResult {
  bool fits = false;
  core::Bytes peak, capacity;
  int peak_stage = 0;
  core::Bytes allocated;                ///< tensors of the peak stage's rank
  core::Bytes reserved;                 ///< with what its allocator holds beside
  MemoryByKind by_kind;                 ///< of the peak stage
  std::vector<core::Bytes> stage_peak;  ///< one a stage
  std::vector<core::Bytes> stage_allocated, stage_reserved;  ///< of the same ranks
  core::Bytes host_peak, host_capacity;  ///< of one node: what is offloaded, and its memory

  template <class V>
  void fields(V& v) const {
    v.part("fits", fits, "the peak is at most the capacity");
    v.figure("peak_bytes", peak, "B", "largest sum of all live bytes during the step",
             core::non_negative);
    v.figure("capacity_bytes", capacity, "B",
             "memory of the GPU, what is reserved for the driver taken off", core::non_negative);
    v.figure("peak_stage", peak_stage, "", "pipeline stage of that GPU, from 0",
             core::non_negative);
    v.figure("by_kind_bytes", by_kind, "B", "the peak by what the bytes hold; adds up to it",
             core::non_negative);
    v.figure("stage_peak_bytes", stage_peak, "B", "the peak of each pipeline stage",
             core::non_negative);
    v.figure("host_peak_bytes", host_peak, "B", "what is offloaded to the memory of one node",
             core::non_negative);
    v.figure("host_capacity_bytes", host_capacity, "B", "memory of one node", core::non_negative);
    v.figure("allocated_bytes", allocated, "B",
             "of the peak, what tensors have (PyTorch: max_memory_allocated)", core::non_negative);
    v.figure("reserved_bytes", reserved, "B",
             "of the peak, tensors and what the allocator holds beside (max_memory_reserved)",
             core::non_negative);
  }
};

/// How busy one tier of links was.
struct LinkUse {
  std::string tier;    ///< "nvlink" ("mesh", "pcie"), "nic", "leaf-spine", "spine-core"
  double mean = 0;     ///< bytes carried / (capacity x step), over the tier
  double busiest = 0;  ///< the same for its busiest link

  template <class V>
  void fields(V& v) const {
    v.part("tier", tier, "nvlink (mesh, pcie), nic, leaf-spine, spine-core");
    v.figure("mean", mean, "1", "mean over the links of the tier that are used",
             core::non_negative);
    v.figure("busiest", busiest, "1", "the same of the busiest one", core::non_negative);
  }
};

/// Sites that train apart: what they exchange, of one fragment and on average of a step.
struct ExchangeResult {
  core::Bytes bytes;
  core::Seconds kernels, transfer, step_kernels, step_wait;
  core::BytesPerSecond rate_to_hide;

  template <class V>
  void fields(V& v) const {
    v.figure("bytes", bytes, "B", "one site sends to others in the exchange of one fragment",
             core::non_negative);
    v.figure("kernels_s", kernels, "s",
             "kernels of one exchange: the change, its packing, the outer step",
             core::non_negative);
    v.figure("transfer_s", transfer, "s",
             "all else of one exchange, simulated: between sites, and new weights gathered inside",
             core::non_negative);
    v.figure("step_kernels_s", step_kernels, "s", "these kernels, mean over steps",
             core::non_negative);
    v.figure("step_wait_s", step_wait, "s",
             "transfers that no step runs beside, mean over steps; in `step.breakdown_s.data`",
             core::non_negative);
    v.figure("rate_to_hide_bytes_per_s", rate_to_hide, "B/s",
             "payload rate at which a site's bytes pass in `overlap_steps` steps, or in one",
             core::non_negative);
  }
};

/// A cluster that is spread over sites.
struct SitesResult {
  int sites = 1;
  core::BytesPerSecond site_rate, sender_rate;
  core::Bytes step_bytes;
  std::optional<ExchangeResult> exchange;

  template <class V>
  void fields(V& v) const {
    v.figure("count", sites, "", "sites", core::at_least_one);
    v.figure("payload_bytes_per_s", site_rate, "B/s",
             "of one site into the wide area, one direction, headers and lost packets taken off",
             core::positive);
    v.figure("card_bytes_per_s", sender_rate, "B/s",
             "that the connections of one network card reach between sites: windows, round trip "
             "and loss",
             core::positive);
    v.figure("step_bytes", step_bytes, "B", "one site sends to others in a step, mean over steps",
             core::non_negative);
    v.part("exchange", exchange, "of sites that train apart; null where every step is one of all");
  }
};

struct StepResult {
  core::Seconds time;
  core::Seconds interval_low, interval_high;  ///< 90 % prediction interval of the mean step
  double tokens_per_s = 0, tokens_per_s_per_gpu = 0;
  double mfu = 0, mfu_causal = 0, hfu = 0;
  core::FlopsPerSecond model_flops_per_gpu;     ///< the same convention as mfu
  core::FlopsPerSecond hardware_flops_per_gpu;  ///< the same convention as hfu
  core::ByActivity<core::Seconds> breakdown;    ///< mean over ranks; adds up to time
  /// In which kernels run, by kind of node the mean over its ranks: StepBreakdown::kernels.
  std::vector<core::Seconds> kernels;
  core::ByActivity<core::Seconds>
      critical_path;  ///< the same keys less the waits for other stages; adds up to time
  std::vector<core::Seconds> stage_work;  ///< one a stage: its own work, break_down has it
  std::vector<LinkUse> links;
  std::optional<SitesResult> sites;  ///< nothing where there is one site
  std::uint64_t event_digest = 0, result_digest = 0, events = 0;
  std::int64_t rank_classes = 0, ranks = 0;
  MemoryResult memory;
  std::optional<PacketStep> packets;  ///< where it was timed by packets
  std::vector<NetworkCall> calls;     ///< between NVLink domains
  std::vector<Assumption> assumptions;
  std::vector<std::string> warnings;

  template <class V>
  void fields(V& v) const {
    v.figure("time_s", time, "s", "wall time of one optimizer step, healthy cluster",
             core::positive);
    v.figure("time_interval_s", std::array{interval_low, interval_high}, "s",
             "90 % prediction interval of the mean step", core::non_negative);
    v.figure("tokens_per_s", tokens_per_s, "1/s", "`global batch x sequence length / time`",
             core::non_negative);
    v.figure("tokens_per_s_per_gpu", tokens_per_s_per_gpu, "1/s",
             "the same / GPUs of the job, spares not counted", core::non_negative);
    v.figure("mfu", mfu, "1",
             "model FLOPs per token (forward and backward, attention in full) x tokens per second "
             "per GPU / dense peak of the matrix format",
             core::non_negative);
    v.figure("mfu_causal", mfu_causal, "1",
             "the same with attention halved, as the causal mask allows", core::Range{0, 1.000001});
    v.figure("hfu", hfu, "1", "`mfu` with recomputed forwards added", core::non_negative);
    v.figure("model_tflops_per_gpu", model_flops_per_gpu.si() / 1e12, "10^12/s",
             "model FLOPs per second per GPU, convention of `mfu`", core::non_negative);
    v.figure("breakdown_s", breakdown, "s",
             "each instant of each rank has one cause; mean over ranks; adds up to the step");
    v.figure("critical_path_s", core::OnCriticalPath<core::Seconds>{critical_path}, "s",
             "causes along the chain from the end of the step to its start; adds up to the step");
    v.part("links", links, "of each tier of links, bytes carried / (capacity x step)");
    v.part("sites", sites, "of a cluster on several sites; null on one");
    v.part("event_digest", core::Hexadecimal{event_digest},
           "hash of all events in order: equal for any number of threads");
    v.part("result_digest", core::Hexadecimal{result_digest},
           "hash of what finished when: equal for folded and unfolded runs");
    v.on_request("packets", packets, "With `--network packet`: what packets say of the step.");
  }
};

}  // namespace headway::training
