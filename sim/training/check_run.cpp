// Rules of how a job is run.
#include <set>
#include <string>

#include "sim/core/checked.h"
#include "sim/core/text.h"
#include "sim/training/complaints.h"
#include "sim/training/degraded/broken_replica.h"

namespace headway::training {

using namespace core::literals;

namespace {

using core::Checked;

void check_ageing(const failures::HazardSpec& hazard,
                  const std::string& path,
                  Complaints& complaints) {
  if (hazard.law.kind != failures::LawKind::exponential && hazard.count) {
    complaints.add(
        path,
        "hazard '{}' ages by a {} law and needs mtbf; a count does not say how old the parts were",
        hazard.name, core::to_word(hazard.law.kind));
  }
  using failures::LawKind;
  const auto& law = hazard.law;
  const failures::LawSpec plain;
  const auto needs = [&](bool given, const char* key, LawKind kind) {
    if (given && law.kind != kind) {
      complaints.add(fmt::format("{}.law.{}", path, key),
                     "'{}' belongs to 'kind: {}'; the law here is {}", key, core::to_word(kind),
                     core::to_word(law.kind));
    }
  };
  needs(law.shape != plain.shape, "shape", LawKind::weibull);
  needs(law.sigma != plain.sigma, "sigma", LawKind::lognormal);
  needs(law.defective != plain.defective, "defective", LawKind::defects);
  needs(!law.factors.empty(), "factors", LawKind::piecewise);
  if (law.kind == LawKind::piecewise && law.factors.empty()) {
    complaints.add(
        path + ".law",
        "a piecewise law needs 'factors': until which age the rate is how many times 1 / mtbf");
  }
  core::Seconds last;
  for (std::size_t i = 0; i < hazard.law.factors.size(); ++i) {
    const auto until = hazard.law.factors[i].until;
    if (until <= last) {
      complaints.add(fmt::format("{}.law.factors[{}].until", path, i),
                     "the ages of a piecewise law must rise, but {} s does not come after {} s",
                     until.si(), last.si());
    }
    last = until;
  }
}

void check_effect(const failures::HazardSpec& hazard,
                  const std::string& path,
                  Complaints& complaints) {
  if (hazard.lasts && !failures::is_slow(hazard.effect) && !failures::is_of_a_way(hazard.effect)) {
    complaints.add(path + ".lasts", "only slow parts get well by themselves; effect '{}' does not",
                   core::to_word(hazard.effect));
  }
  if (hazard.keeps != failures::HazardSpec{}.keeps && !failures::is_slow(hazard.effect)) {
    complaints.add(path + ".keeps",
                   "only slow parts keep a share of their speed; effect '{}' does not",
                   core::to_word(hazard.effect));
  }
  if (hazard.notice.si() > 0 && hazard.effect != failures::Effect::preemption) {
    complaints.add(path + ".notice",
                   "only capacity that is taken back is announced; effect '{}' is not: leave "
                   "'notice' out, or write 'effect: preemption'",
                   core::to_word(hazard.effect));
  }
  if (hazard.latent && hazard.effect != failures::Effect::stop) {
    complaints.add(path + ".latent",
                   "a silent failure stops the job when it is noticed; it cannot have effect '{}'",
                   core::to_word(hazard.effect));
  }
}

void check_hazards(const failures::FailureSpec& f, Complaints& complaints) {
  std::set<std::string> names;
  for (std::size_t i = 0; i < f.hazards.size(); ++i) {
    const auto& hazard = f.hazards[i];
    const std::string path = fmt::format("run.failures.hazards[{}]", i);
    if (hazard.mtbf.has_value() == hazard.count.has_value()) {
      complaints.add(path, "hazard '{}' needs exactly one of 'mtbf' and 'count'", hazard.name);
    }
    if (hazard.count && !f.observed) {
      complaints.add(path,
                     "hazard '{}' has a 'count', so the list needs 'observed': how many GPUs were "
                     "watched for how long",
                     hazard.name);
    }
    if (!names.insert(hazard.name).second) {
      complaints.add(path,
                     "two hazards are named '{}'; names choose the random stream and must differ",
                     hazard.name);
    }
    check_ageing(hazard, path, complaints);
    check_effect(hazard, path, complaints);
  }
  if (f.maintenance && f.maintenance->lasts >= f.maintenance->every) {
    complaints.add("run.failures.maintenance",
                   "planned work lasts {} s and begins every {} s; leave time in between",
                   f.maintenance->lasts.si(), f.maintenance->every.si());
  }
}

void check_checkpoint(const storage::CheckpointSpec& c, Complaints& complaints) {
  if (c.levels.size() > 3) {
    complaints.add("run.checkpoint.levels", "{} levels beside the storage; at most 3 are modelled",
                   c.levels.size());
  }
  for (std::size_t i = 0; i < c.levels.size(); ++i) {
    const auto& level = c.levels[i];
    const std::string path = fmt::format("run.checkpoint.levels[{}]", i);
    if (i == 0 && level.every != 1) {
      complaints.add(
          path + ".every",
          "the first level takes the snapshot of every save; write 'every: 1' or leave it out");
    }
    if (level.place == storage::NearPlace::nvme && !level.write_bandwidth && !level.persist) {
      complaints.add(path,
                     "an nvme level needs 'write_bandwidth' (one node into its drives) or a "
                     "measured 'persist'");
    }
  }
  if (c.levels.empty() && c.every != 1) {
    complaints.add("run.checkpoint.every",
                   "without 'levels' every save goes to storage; lengthen the interval instead");
  }
}

void check_data(const storage::DataSpec& d, Complaints& complaints) {
  if (d.restart_moves > 0 && d.dataset.si() <= 0) {
    complaints.add("run.data.restart_moves",
                   "nothing is copied to another island without the size of the 'dataset'");
  }
  if (d.refill_cache && (d.node_cache.si() <= 0 || d.dataset.si() <= 0)) {
    complaints.add("run.data.refill_cache",
                   "a spare has nothing to fill without 'dataset' and 'node_cache'");
  }
}

}  // namespace

void check_run(const RunSpec& r, Complaints& complaints) {
  if (r.checkpoint.interval_steps && !r.checkpoint.interval.is_auto()) {
    complaints.add("run.checkpoint",
                   "'interval' and 'interval_steps' say the same thing twice; keep one");
  }
  if (r.until) {
    const int given =
        (r.until->tokens ? 1 : 0) + (r.until->steps ? 1 : 0) + (r.until->wall ? 1 : 0);
    if (given != 1) {
      complaints.add("run.until", "write exactly one of 'tokens', 'steps' and 'wall', not {}",
                     given);
    }
  }
  if (r.bring_up && r.bring_up->ramp.si() > 0 && r.until && r.until->wall) {
    complaints.add("run.bring_up.ramp",
                   "a ramp makes a run longer, and this one ends by the clock, after {} days; end "
                   "it by 'until.tokens' or 'until.steps'",
                   core::number(*r.until->wall / 1_days));
  }
  check_checkpoint(r.checkpoint, complaints);
  if (r.data) {
    check_data(*r.data, complaints);
  }
  if (r.failures) {
    check_hazards(*r.failures, complaints);
  }
}

namespace {

/// Ways between sites: only where there are sites, and nothing of a node's failure.
void check_way(const Scenario& s,
               const failures::HazardSpec& hazard,
               const std::string& path,
               Complaints& complaints) {
  const bool way = failures::is_of_a_way(hazard.effect);
  const bool by_site = hazard.per == failures::Population::site;
  if (!way && !by_site) {
    return;
  }
  if (!s.cluster.sites) {
    complaints.add(path,
                   "hazard '{}' strikes the way between sites, and this cluster is on one; "
                   "describe them under 'cluster.sites', or leave the hazard out",
                   hazard.name);
    return;
  }
  if (!way) {
    complaints.add(path + ".per",
                   "'per: site' belongs to effects slow_site and cut_site; what takes nodes of a "
                   "site is 'per: domain' with 'nodes_lost: {}', all of them",
                   s.cluster.nodes / s.cluster.sites->count);
    return;
  }
  if (!by_site) {
    complaints.add(path + ".per",
                   "effect {} strikes the way of a site, not a {}; write 'per: site'",
                   core::to_word(hazard.effect), core::to_word(hazard.per));
  }
  if (!hazard.lasts) {
    complaints.add(path,
                   "nobody in the job mends the way of a site; say under 'lasts' after how long "
                   "it is well again in the mean");
  }
  if (hazard.count) {
    complaints.add(path + ".count",
                   "'observed' does not say how many sites were watched; write 'mtbf'");
  }
  if (hazard.nodes_lost != failures::HazardSpec{}.nodes_lost) {
    complaints.add(path + ".nodes_lost",
                   "a way of a site takes no node with it; leave 'nodes_lost' out");
  }
}

/// Spares that are kept warm.
void check_standby(const Scenario& s, Complaints& complaints) {
  const auto& r = s.run.recovery;
  const char* const path = "run.recovery.standby";
  if (r.standby->nodes > s.cluster.spares) {
    complaints.add(std::string(path) + ".nodes",
                   "{} spares are kept warm, but cluster.spares has {}", r.standby->nodes,
                   s.cluster.spares);
  }
  const char* const other = r.rack_spares > 0 ? "rack_spares"
                            : r.elastic       ? "elastic"
                            : r.migration     ? "migration"
                                              : nullptr;
  if (other != nullptr) {
    complaints.add(path,
                   "takeover by a warm standby is a restart of the whole job, and is not modelled "
                   "beside '{}', which has times of its own; leave out one of the two",
                   other);
  }
}

/// Who may stand where, and what leaves for good.
void check_spares(const Scenario& s, Complaints& complaints) {
  const auto& r = s.run.recovery;
  const bool by_rack =
      r.eviction == failures::Eviction::rack || r.eviction == failures::Eviction::parallel_group;
  if (r.rack_spares > 0 && by_rack) {
    complaints.add("run.recovery.rack_spares",
                   "with eviction: {} whole groups of nodes leave, and the spares of a rack help "
                   "nobody; write 'eviction: node'",
                   core::to_word(r.eviction));
  }
  if (r.rack_spares > 0 && r.elastic) {
    complaints.add("run.recovery.rack_spares",
                   "spares that can stand in one rack only are not modelled for elastic jobs; "
                   "leave out one of the two");
  }
  if (r.rack_spares > 0 && r.rack_nodes == 1) {
    complaints.add("run.recovery.rack_spares",
                   "a rack of one node has no other node to stand in for; set 'rack_nodes', the "
                   "nodes of the job in a rack (16 of 18 trays of an NVL72)");
  }
  if (r.retired_back && r.retire_after == 0 && !r.retire_score) {
    complaints.add("run.recovery.retired_back",
                   "no node is retired without 'retire_after', so none comes back");
  }
  if (r.retire_score &&
      r.retire_score->window.has_value() == r.retire_score->half_life.has_value()) {
    complaints.add("run.recovery.retire_score",
                   "a score forgets failures in one way: write 'window: 7 d' (older ones do not "
                   "count) or 'half_life: 7 d' (they count half as much each 7 days)");
  }
  if (r.standby) {
    check_standby(s, complaints);
  }
  if (r.step_tax && r.step_tax->exchange_bandwidth &&
      s.parallelism.sharding != workload::Sharding::zero0 &&
      s.parallelism.sharding != workload::Sharding::hsdp) {
    complaints.add("run.recovery.step_tax",
                   "with sharding {} no two ranks hold the same gradients, so replicas have none "
                   "to exchange through hosts; write 'sharding: hsdp' or 'zero0'",
                   core::to_word(s.parallelism.sharding));
  }
}

}  // namespace

void check_ways(const Scenario& s, Complaints& complaints) {
  if (!s.run.failures) {
    return;
  }
  for (std::size_t i = 0; i < s.run.failures->hazards.size(); ++i) {
    check_way(s, s.run.failures->hazards[i], fmt::format("run.failures.hazards[{}]", i),
              complaints);
  }
}

void check_recovery(const Scenario& s, int data, Complaints& complaints) {
  const auto& r = s.run.recovery;
  if (r.detectors && !r.detectors->watchdog && !r.detectors->heartbeat && s.run.failures) {
    for (const auto& hazard : s.run.failures->hazards) {
      const bool cut = hazard.effect == failures::Effect::cut_site;
      const bool hang = hazard.effect == failures::Effect::hang && !r.detectors->health_check;
      if (cut || hang) {
        complaints.add("run.recovery.detectors", "nothing detects the hang '{}'; add a watchdog{}",
                       hazard.name, cut ? " or a heartbeat" : ", a heartbeat or a health_check");
      }
    }
  }
  check_spares(s, complaints);
  const bool without_saves = r.state_from == failures::StateSource::peers || r.elastic ||
                             (r.migration && r.migration->foreseen < 1);
  const auto& p = s.parallelism;
  const bool copies = p.sharding == workload::Sharding::zero0 ||
                      (p.sharding == workload::Sharding::hsdp &&
                       (data == 0 || Checked(data) * p.context > p.shard_group_size));
  if (without_saves && !copies) {
    const char* const key = r.elastic     ? "run.recovery.elastic"
                            : r.migration ? "run.recovery.migration"
                                          : "run.recovery.state_from";
    complaints.add(key,
                   "with sharding {}{} the lost node's part of the state is nowhere else; write "
                   "'sharding: zero0' or 'hsdp' with two groups or more, or leave it out",
                   core::to_word(p.sharding),
                   p.sharding == workload::Sharding::hsdp ? " in a single group" : "");
  }
  check_broken_replica(s, data, complaints);
}

}  // namespace headway::training
