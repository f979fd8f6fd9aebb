#include "sim/training/degraded/broken_replica.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "sim/core/error.h"
#include "sim/training/power/power_fit.h"
#include "sim/training/step/step.h"
#include "sim/training/unequal/node_kinds.h"
#include "sim/workload/layout.h"

namespace headway::training {

namespace {

using failures::BrokenReplica;

constexpr const char* kKey = "run.recovery.elastic.broken_replica";

/// Columns and rows are dealt in pieces of 16 bytes where a whole group has them so: kernels for
/// other widths are several times slower (`alignment_share` of the gpu room). Source: NVIDIA
/// DU-09799, section 2: 8 elements of 16 bits.
constexpr int kAligned = 8;

int divided_up(int value, int parts) { return (value + parts - 1) / parts; }

/// What holds for both ways to go on with a broken replica.
void check_unequal_replicas(const Scenario& s, const char* word, Complaints& complaints) {
  const auto& r = s.run.recovery;
  if (s.parallelism.sharding != workload::Sharding::zero0) {
    complaints.add(kKey,
                   "with sharding {} the ranks that are left do not hold all of their state; with "
                   "'broken_replica: {}' write 'sharding: zero0', else 'leaves'",
                   core::to_word(s.parallelism.sharding), word);
  }
  if (r.eviction == failures::Eviction::rack || r.eviction == failures::Eviction::parallel_group) {
    complaints.add(kKey,
                   "with eviction: {} whole groups of nodes leave with the one that broke, so "
                   "nothing is left that {}; write 'eviction: node' or 'broken_replica: leaves'",
                   core::to_word(r.eviction), word);
  }
  if (s.cluster.sites || !s.cluster.other_nodes.empty()) {
    complaints.add(kKey,
                   "a broken replica that {} is not modelled {}; write 'broken_replica: leaves'",
                   word, s.cluster.sites ? "over several sites" : "on nodes of several kinds");
  }
}

void check_rerouting(const Scenario& s, int data, Complaints& complaints) {
  const auto& p = s.parallelism;
  if (p.pipeline == 1) {
    complaints.add(kKey,
                   "a replica of one stage has no other stages that could go on; write "
                   "'broken_replica: leaves', which is the same");
    return;
  }
  if (p.expert > 1) {
    complaints.add(kKey,
                   "experts lie on ranks of several replicas, so a lost one breaks its peers, too, "
                   "and 'broken_replica: reroutes' is not modelled; write 'leaves'");
  }
  if (workload::copies_of_layers(p) > 1) {
    complaints.add(
        kKey,
        "with schedule {} a rank has two stages, which 'broken_replica: reroutes' is not "
        "modelled for; write 'leaves' or another schedule",
        core::to_word(p.schedule));
  }
  const bool data_first = p.rank_order == workload::RankOrder::data_first;
  const std::int64_t in_a_row = std::int64_t{p.tensor} * p.context * (data_first ? data : 1);
  if (in_a_row % s.cluster.node.gpus != 0) {
    complaints.add(kKey,
                   "a node of {} GPUs has ranks of several stages, so a lost one leaves nothing "
                   "that 'reroutes'; write 'broken_replica: leaves'",
                   s.cluster.node.gpus);
  }
}

void check_narrowing(const Scenario& s, Complaints& complaints) {
  const auto& model = s.model;
  const int t = s.parallelism.tensor;
  const bool by_gpu = s.run.recovery.eviction == failures::Eviction::gpu;
  if (t == 1 || (!by_gpu && t <= s.cluster.node.gpus)) {
    complaints.add(kKey,
                   "tensor {}: a lost {} takes whole tensor groups with it, and nothing is left "
                   "that 'narrows'; write {}'broken_replica: leaves'",
                   t, by_gpu ? "GPU" : "node", t > 1 ? "'eviction: gpu' or " : "");
  }
  const bool dense = !model.moe && !model.mixer && !model.vision && !model.adapters &&
                     !model.frozen && !model.latent && !model.full_attention &&
                     !s.training.distillation;
  if (!dense) {
    complaints.add(kKey,
                   "'broken_replica: narrows' is modelled for dense decoders with multi-head or "
                   "grouped-query attention (no experts, mixers, latent attention, "
                   "'full_attention', encoders, "
                   "adapters, frozen parts or teachers); write 'leaves'");
  }
}

/// Attention on the fullest rank of a group.
struct RankHeads {
  int query = 1, key_value = 1;
};

/// As many query heads as in even shares, or so many more that heads of keys and values, no fewer
/// than in a whole group and no more than in even shares of this one, divide them.
RankHeads heads_of_rank(const workload::ModelSpec& model, int whole, int left) {
  const int least = model.key_value_heads / whole;
  const int most = divided_up(model.key_value_heads, left);
  for (int query = divided_up(model.heads, left);; ++query) {
    for (int n = most; n >= least; --n) {
      if (query % n == 0) {
        return {query, n};
      }
    }
  }
}

/// The limits at which shares hold stay what they were.
void boost_boards(Scenario& scenario, double boost) {
  auto& gpu = scenario.cluster.node.gpu;
  const auto hold = [&](gpu::SustainedShares& shares) {
    shares.power = shares.power.si() > 0 ? shares.power : gpu.power;
  };
  hold(gpu.sustained);
  if (scenario.calibration.kernels) {
    hold(*scenario.calibration.kernels);
  }
  gpu.power = boost * gpu.power;
}

/// Memory of a rank of a narrow group. What is split along the sequence (norms, residuals) is over
/// fewer ranks, too, so its activations are at least those of a whole replica times whole / left.
MemoryResult narrow_memory(const CheckedScenario& whole, const CheckedScenario& narrow, int lost) {
  MemoryResult memory = predict_memory(narrow);
  const auto before = memory_of_stages(whole);
  const auto after = memory_of_stages(narrow);
  const double t = whole.scenario().parallelism.tensor;
  memory.peak = core::Bytes(0);
  for (std::size_t stage = 0; stage < after.size(); ++stage) {
    const core::Bytes activations =
        std::max(after[stage].activations, before[stage].activations * (t / (t - lost)));
    memory.peak =
        std::max(memory.peak, after[stage].total() - after[stage].activations + activations);
  }
  memory.fits = memory.peak <= memory.capacity && memory.host_peak <= memory.host_capacity;
  return memory;
}

}  // namespace

namespace {

/// Boards of a narrowed replica that are boosted have to be fed: all nodes of a rack may be of it.
void check_boost(const Scenario& s, int data, Complaints& complaints) {
  const double more = s.run.recovery.elastic->boost - 1;
  const auto fit = power_fit(s);
  if (more <= 0 || !fit || unequal(s.cluster)) {
    return;
  }
  const auto check_feed = [&](const Feed& feed, double gpus, const char* of) {
    const core::Watts drawn = feed.pue * gpus * more * fit->boards.front().board;
    if (drawn > feed.headroom()) {
      complaints.add("run.recovery.elastic.boost",
                     "boards of a narrowed replica draw {} more, and what feeds {} has {} left; "
                     "feed more, boost less or leave 'boost' out",
                     power_in_words(drawn), of, power_in_words(feed.headroom()));
    }
  };
  if (const auto rack = fit->rack()) {
    check_feed(*rack, rack->gpus, "a rack");
  }
  if (fit->facility && data > 0) {
    check_feed(*fit->facility, fit->facility->gpus / data, "the building");
  }
}

}  // namespace

void check_broken_replica(const Scenario& scenario, int data, Complaints& complaints) {
  const auto& elastic = scenario.run.recovery.elastic;
  if (!elastic) {
    return;
  }
  if (elastic->boost > 1 && elastic->broken_replica != BrokenReplica::narrows) {
    complaints.add("run.recovery.elastic.boost",
                   "boards are boosted where a replica is narrowed; write 'broken_replica: "
                   "narrows' or leave 'boost' out");
  }
  check_boost(scenario, data, complaints);
  if (elastic->pack && elastic->broken_replica != BrokenReplica::narrows) {
    complaints.add("run.recovery.elastic.pack",
                   "tensor groups that lost ranks are packed into few replicas where they go on; "
                   "write 'broken_replica: narrows' or leave 'pack' out");
  }
  if (elastic->broken_replica == BrokenReplica::leaves) {
    return;
  }
  const bool reroutes = elastic->broken_replica == BrokenReplica::reroutes;
  check_unequal_replicas(scenario, reroutes ? "reroutes" : "narrows", complaints);
  if (reroutes) {
    check_rerouting(scenario, data, complaints);
  } else {
    check_narrowing(scenario, complaints);
  }
}

Scenario narrowed(const CheckedScenario& checked, int lost, int micro_batches) {
  Scenario s = checked.scenario();
  const int t = s.parallelism.tensor;
  HEADWAY_CHECK(lost > 0 && lost < t, "{} of {} tensor ranks lost", lost, t);
  const int left = t - lost;
  const double boost = s.run.recovery.elastic ? s.run.recovery.elastic->boost : 1;
  const auto whole = [&](int value) {
    const int most = divided_up(value, left);
    const bool aligned = value % (kAligned * t) == 0;
    return (aligned ? divided_up(most, kAligned) * kAligned : most) * t;
  };
  if (s.model.key_value_heads >= t) {
    const RankHeads heads = heads_of_rank(s.model, t, left);
    s.model.heads = heads.query * t;
    s.model.key_value_heads = heads.key_value * t;
  } else {
    s.model.heads = whole(s.model.heads);
  }
  s.model.ffn = whole(s.model.ffn);
  s.model.vocabulary = whole(s.model.vocabulary);
  s.training.global_batch = checked.data_parallel() * s.parallelism.micro_batch * micro_batches;
  s.parallelism.data.value = checked.data_parallel();
  const std::int64_t seed = s.run.seed;
  s.run = RunSpec{};
  s.run.seed = seed;
  s.cluster.power.reset();  // the GPUs that are lost leave theirs to the others
  if (boost > 1) {
    boost_boards(s, boost);
  }
  return s;
}

NarrowReplica narrow_replica(const CheckedScenario& checked, core::Seconds healthy, int lost) {
  const int m = checked.micro_batches();
  NarrowReplica replica;
  replica.left = checked.scenario().parallelism.tensor - lost;
  replica.of = m;
  std::vector<int> possible;  // schedules may ask for multiples of the stages
  for (int k = 1; k <= m; ++k) {
    try {
      check(narrowed(checked, lost, k));
      possible.push_back(k);
    } catch (const core::Error&) {
      continue;
    }
  }
  if (possible.empty()) {
    return replica;
  }
  const auto memory = narrow_memory(checked, check(narrowed(checked, lost, possible.back())), lost);
  replica.fits = memory.fits;
  replica.peak = memory.peak;
  replica.capacity = memory.capacity;
  if (!replica.fits) {
    return replica;
  }
  const auto stretch = [&](int k) {
    const auto narrow = check(narrowed(checked, lost, k));
    return simulate_step(narrow, {.trace = false, .hash_draws = 0}).time / healthy;
  };
  constexpr double kNoLonger = 1 + 1e-9;  // Source: chosen; rounding of ticks
  const auto first_longer = std::partition_point(possible.begin(), possible.end(),
                                                 [&](int k) { return stretch(k) <= kNoLonger; });
  replica.micro_batches = first_longer == possible.begin() ? 0 : *(first_longer - 1);
  if (first_longer != possible.end()) {
    const auto replicas = static_cast<double>(checked.data_parallel());
    const auto slowness = [&](int k, double longer) {
      const double share = static_cast<double>(k) / m;
      return longer * replicas / (replicas - 1 + share);
    };
    const double waits = stretch(*first_longer);
    if (slowness(*first_longer, waits) < slowness(replica.micro_batches, 1)) {
      replica.micro_batches = *first_longer;
      replica.stretch = std::max(1.0, waits);
    }
  }
  return replica;
}

bool rerouting_fits(const CheckedScenario& checked, int gone) {
  const auto& p = checked.scenario().parallelism;
  const int peers = checked.data_parallel();
  HEADWAY_CHECK(gone > 0 && gone < peers, "{} of {} peers gone", gone, peers);
  const auto stages = memory_of_stages(checked);
  const core::Bytes capacity = predict_memory(checked).capacity;
  const int m = checked.micro_batches();
  for (std::size_t stage = 0; stage < stages.size(); ++stage) {
    const int depth = p.pipeline - static_cast<int>(stage);
    const int in_flight = p.schedule == workload::ScheduleKind::gpipe ? m : std::min(m, depth);
    const double more = std::ceil(static_cast<double>(in_flight) * gone / (peers - gone));
    const core::Bytes needed =
        stages[stage].total() + stages[stage].activations * (more / static_cast<double>(in_flight));
    if (needed > capacity) {
      return false;
    }
  }
  return true;
}

}  // namespace headway::training
