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
/// With routing limited to some groups of experts, the mean over how many of the chosen groups a
/// place holds. Source: FIELD notes 3.5; DeepSeek-V3 report, section 2.1.2 (limited routing).
double expected_places(const ExpertsSpec& moe, int places);

/// Expected load of the busiest of e expert ranks / mean, where the loads of E experts spread about
/// their mean by `load_spread` s, each apart from the others:
///     1 + z(e) s / sqrt(E/e),  z the expected maximum of e standard normals
/// One rank has all tokens: 1. As many ranks as experts: 1 + z(E) s.
double busiest_load(const ExpertsSpec& moe, int expert_ranks);

/// The matrices of experts have biases: the model's others do, or theirs alone.
bool expert_biases(const ModelSpec& model);

/// Sizes of one rank.
struct ExpertShape {
  std::int64_t tokens = 0;  ///< tokens this rank routes
  std::int64_t top_k = 1;
  std::int64_t experts = 0;        ///< routed experts of a layer
  std::int64_t local_experts = 0;  ///< those on this rank
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
  [[nodiscard]] double copies() const { return static_cast<double>(tokens * top_k); }
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

/// Row width h, `element` bytes each:
///     all-to-all:    group = load T k h
///     deduplicated:  group = load T n_r h with n_r distinct ranks; in several domains instead
///                    rail = load T n_d h and domain = load T n_r h, both at once (the copies that
///                    come over a rail are passed on as they arrive; DeepEP)
///     all-gather:    group = T e h with e ranks, whatever k and load are; back as a reduce-scatter
DispatchBytes dispatch_bytes(const ExpertShape& shape, std::int64_t hidden, double element);

}  // namespace headway::workload
