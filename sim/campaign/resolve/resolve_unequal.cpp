#include "sim/campaign/resolve/resolve_unequal.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>
#include <string>
#include <vector>

#include "sim/campaign/unequal_form.h"
#include "sim/storage/closed_form.h"
#include "sim/training/degraded/broken_replica.h"

namespace headway::campaign {

using namespace core::literals;
using core::Seconds;
using training::NarrowReplica;

namespace {

constexpr const char* kBrokenReplica = "run.recovery.elastic.broken_replica";

/// A tensor group that lost more than so many nodes (or GPUs) leaves. Source: chosen; so many in
/// one group within one repair are rare.
constexpr int kMostParts = 4;

/// How many ranks a tensor group can have lost, as far as it goes on.
std::vector<int> losses(const training::Scenario& scenario) {
  const int t = scenario.parallelism.tensor;
  const int node = scenario.cluster.node.gpus;
  std::set<int> counts;
  for (int parts = 1; parts <= kMostParts; ++parts) {
    if (scenario.run.recovery.eviction == failures::Eviction::gpu) {
      counts.insert(parts);
    }
    if (t > node) {
      counts.insert(parts * node);
    }
  }
  std::vector<int> list;
  std::copy_if(counts.begin(), counts.end(), std::back_inserter(list),
               [t](int lost) { return lost < t; });
  return list;
}

std::string in_words(const NarrowReplica& replica, int whole, Seconds moved) {
  const std::string with = fmt::format("with {} of {} tensor ranks", replica.left, whole);
  const std::string memory =
      fmt::format("{:.1f} of {:.1f} GiB", replica.peak / 1_GiB, replica.capacity / 1_GiB);
  if (replica.peak.si() > 0 && !replica.fits) {
    return fmt::format("{} it leaves, for it would need {}", with, memory);
  }
  if (replica.micro_batches == 0) {
    return fmt::format(
        "{} it leaves, for no number of micro-batches that its schedule takes keeps "
        "pace",
        with);
  }
  return fmt::format(
      "{} it does {} of {} micro-batches, in {:.3f} of the healthy step, {}, after "
      "{:.3g} s of taking over what the lost ranks held",
      with, replica.micro_batches, replica.of, replica.stretch, memory, moved.si());
}

void set_narrowed(const training::CheckedScenario& checked,
                  const storage::ShardLayout& layout,
                  Seconds healthy,
                  ResolvedJob& resolved) {
  const auto& scenario = checked.scenario();
  JobModel& job = resolved.job;
  const Seconds all =
      storage::peer_load_time(layout, scenario.run.checkpoint, node_network(checked));
  job.dealt_anew = all;
  std::vector<std::string> words;
  for (const int lost : losses(scenario)) {
    const NarrowReplica replica = training::narrow_replica(checked, healthy, lost);
    // Each rank that is left gets its share of what the lost ones held, over its network card.
    const Seconds moved = all * (static_cast<double>(lost) / replica.left);
    // A group that lost fewer, between two of these counts, is taken as this one.
    job.narrowed.resize(static_cast<std::size_t>(lost), {replica.share(), replica.stretch, moved});
    words.push_back(in_words(replica, job.tensor, moved));
    if (replica.micro_batches == 0) {
      break;
    }
  }
  resolved.assumptions.push_back(
      {kBrokenReplica, "narrows",
       fmt::format("until it is mended a replica's tensor groups go on with the ranks left, whole "
                   "heads and columns to a rank: {}; the others do the rest of the batch; {}",
                   fmt::join(words, "; "),
                   "of a replica the group that lost most decides; whoever lost more leaves")});
  if (scenario.run.recovery.elastic->pack) {
    resolved.assumptions.push_back(
        {"run.recovery.elastic.pack", fmt::format("{:.3g} s at each fault", all.si()),
         "groups that lost ranks share replicas, the worst together; one changes places with a "
         "whole group, and each loads from another replica what its new place holds"});
  }
  if (scenario.run.recovery.elastic->boost > 1) {
    const double boost = scenario.run.recovery.elastic->boost;
    resolved.assumptions.push_back(
        {"run.recovery.elastic.boost",
         fmt::format("{:.0f} W a board of a narrowed replica",
                     (boost * scenario.cluster.node.gpu.power).si()),
         fmt::format("products and attention go as the root of what is above idle; racks are taken "
                     "to feed and cool it: {} boards of {} draw {:.3g} of what all drew; the "
                     "energy of the run leaves it out",
                     job.tensor - losses(scenario).front(), job.tensor,
                     boost * (job.tensor - losses(scenario).front()) / job.tensor)});
  }
}

void set_rerouted(const training::CheckedScenario& checked, ResolvedJob& resolved) {
  JobModel& job = resolved.job;
  int most = 0;
  while (most + 1 < job.replicas && training::rerouting_fits(checked, most + 1)) {
    ++most;
  }
  job.most_rerouted = most;
  const LostPeers one{static_cast<double>(checked.micro_batches()),
                      static_cast<double>(checked.scenario().parallelism.pipeline),
                      static_cast<double>(job.replicas), 1};
  resolved.assumptions.push_back(
      {kBrokenReplica, "reroutes",
       fmt::format("until it is mended the {} peers of a lost stage do its micro-batches, so that "
                   "each pass of that stage is simulated as {:.4g} times as long (d / (d - f), f "
                   "lost of d); memory lets up to {} be lost of one stage; nothing is put into "
                   "bubbles (backward in two parts, an optimizer that does not wait): of equal "
                   "stages the step is {:.4g} times the healthy one, with all bubbles filled it "
                   "could be {:.4g}; activations go to other nodes at the cost of those of the own "
                   "replica",
                   job.replicas - 1, one.each() / one.micro_batches, most, rerouted_step(one),
                   rerouted_into_bubbles(one))});
  if (most == 0) {
    resolved.warnings.push_back(fmt::format(
        "{}: no rank has room for the activations of one more micro-batch, so a job that lost a "
        "stage stops; recompute more, use smaller micro-batches, or write 'leaves'",
        kBrokenReplica));
  }
}

}  // namespace

void set_unequal(const training::CheckedScenario& checked,
                 const storage::ShardLayout& layout,
                 Seconds healthy,
                 ResolvedJob& resolved) {
  const auto& scenario = checked.scenario();
  resolved.job.tensor = scenario.parallelism.tensor;
  const auto& elastic = scenario.run.recovery.elastic;
  if (!elastic || !scenario.run.failures) {
    return;
  }
  if (elastic->broken_replica == failures::BrokenReplica::narrows) {
    set_narrowed(checked, layout, healthy, resolved);
  } else if (elastic->broken_replica == failures::BrokenReplica::reroutes) {
    set_rerouted(checked, resolved);
  }
}

}  // namespace headway::campaign
