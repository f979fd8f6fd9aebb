// One micro-batch's mixture of experts on one rank: how many tokens travel and how many each expert
// multiplies.
#pragma once

#include <cstdint>

#include "sim/workload/rank_shape.h"
#include "sim/workload/spec.h"

namespace headway::workload {

/// Distinct places (GPUs, NVLink domains) that the experts of one token lie on, on average, where
/// each of `places` holds the same number of a layer's E experts and the k chosen ones are equally
/// likely:
///     places (1 - C(E - E/places, k) / C(E, k))
/// Z experts that do nothing lie nowhere: E + Z stands in place of both E outside E/places.
/// With routing limited to some groups of experts, the mean over which of the chosen groups a place
/// holds, whole or in part. Source: FIELD notes 3.5; DeepSeek-V3 report, section 2.1.2 (limited
/// routing).
double expected_places(const ExpertsSpec& moe, int places);

/// Expected load of the busiest of e expert ranks / mean, where the loads of E experts spread about
/// their mean by `load_spread` s, each apart from the others:
///     1 + z(e) s / sqrt(E/e),  z the expected maximum of e standard normals
/// One rank has all tokens: 1. As many ranks as experts: 1 + z(E) s.
double busiest_load(const ExpertsSpec& moe, int expert_ranks);

/// Experts that the router chooses from: routed ones and those that do nothing.
int scored_experts(const ExpertsSpec& moe);
/// Routed experts with work that a token visits in the mean, where E of them and Z that do nothing
/// are chosen alike: k E / (E + Z). LongCat-Flash holds it there by biases of the router (arXiv
/// 2509.01322, section 2.1.1).
double visited_experts(const ExpertsSpec& moe);
/// Width of what routed experts read and write: the latent one, or the model's.
int routed_width(const ModelSpec& model);

/// The matrices of experts have biases: the model's others do, or theirs alone.
bool expert_biases(const ModelSpec& model);

/// Sizes of one rank.
struct ExpertShape {
  std::int64_t tokens = 0;         ///< tokens this rank routes
  double visited = 1;              ///< experts with work that a token visits
  std::int64_t scored = 0;         ///< experts of a layer that the router scores
  std::int64_t nulls = 0;          ///< those of them that do nothing
  std::int64_t width = 0;          ///< of a row that experts read, write and send
  std::int64_t latent = 0;         ///< the same where it is not the model's; else 0
  std::int64_t local_experts = 0;  ///< routed experts on this rank
  std::int64_t rows_each = 0;      ///< rows that each of them multiplies on the busiest rank
  std::int64_t ffn = 0;            ///< columns of one expert on this rank
  std::int64_t shared_ffn = 0;     ///< columns of all shared experts on this rank
  int expert_parallel = 1;
  int expert_tensor = 1;
  int domains = 1;  ///< NVLink domains that an expert group lies in, equally many ranks in each
  double load = 1;  ///< rows of the busiest rank / mean
  double distinct_ranks = 1;    ///< ranks that one token visits
  double distinct_domains = 1;  ///< domains that one token visits
  ExpertDispatch dispatch = ExpertDispatch::all_to_all;

  /// Copies of this rank's tokens, one for each expert.
  [[nodiscard]] double copies() const { return static_cast<double>(tokens) * visited; }
  /// Rows that this rank's experts multiply.
  [[nodiscard]] double rows() const { return static_cast<double>(local_experts * rows_each); }
  /// Rows this rank sends to its expert group; equally many arrive, but `load` times on the busiest
  /// rank. Of an all-gather: the tokens of the whole group, which each rank has then.
  [[nodiscard]] double sent() const;
  /// Rows that arrive at the busiest rank.
  [[nodiscard]] double arrived() const {
    return dispatch == ExpertDispatch::all_gather ? sent() : load * sent();
  }
  /// Rows that stand for a token in the arrays that travel are in the order of its experts.
  [[nodiscard]] bool sorted_by_sender() const { return dispatch == ExpertDispatch::all_to_all; }
};

/// @param expert_domains  NVLink domains that an expert group lies in
ExpertShape expert_shape(const ModelSpec& model,
                         const TrainingSpec& training,
                         const ParallelismSpec& parallelism,
                         const RankShape& rank,
                         int expert_domains);

/// Bytes that one rank's tokens make on the way to their experts (or back) in one layer and
/// micro-batch, as whole arrays of an all-to-all or all-gather; the busiest rank's load is applied.
struct DispatchBytes {
  core::Bytes group;   ///< over the expert group, if neither of the others
  core::Bytes domain;  ///< inside NVLink domains, beside `rail`
  core::Bytes rail;    ///< between domains: one copy for each domain
};

/// Row width h (latent experts: theirs), `element` bytes each, k experts with work a token:
///     all-to-all:    group = load T k h
///     deduplicated:  group = load T n_r h with n_r distinct ranks; in several domains instead
///                    rail = load T n_d h and domain = load T n_r h, both at once (the copies that
///                    come over a rail are passed on as they arrive; DeepEP)
///     all-gather:    group = T e h with e ranks, whatever k and load are; back as a reduce-scatter
DispatchBytes dispatch_bytes(const ExpertShape& shape, double element);

}  // namespace headway::workload
