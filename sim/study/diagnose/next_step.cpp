#include "sim/study/diagnose/next_step.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "sim/core/error.h"
#include "sim/core/text.h"

namespace headway::study {

namespace {

/// What a simulation of one step says of a figure is off by so much beside errors that figures
/// share: a part that does not grow with the figure, and a share of it. Judged: runs that print
/// their parts are too few to measure it.
struct OwnError {
  Feature feature;
  double fixed = 0, share = 0;
};
constexpr std::array<OwnError, 19> kOwnErrors{{{Feature::step_time, 0.02},
                                               {Feature::spread, 0.6},
                                               {Feature::pauses, 0.01, 0.3},
                                               {Feature::regularity, 0.2},
                                               {Feature::forward, 0.05},
                                               {Feature::backward, 0.05},
                                               {Feature::rank_ratio, 0.03},
                                               {Feature::stage_waits, 0.03, 0.3},
                                               {Feature::data, 0.03, 0.4},
                                               {Feature::optimizer, 0.02, 0.4},
                                               {Feature::input, 0.01, 0.1},
                                               {Feature::memory, 0.08},
                                               {Feature::reserved_memory, 0.1},
                                               {Feature::bus_bandwidth, 0.03},
                                               {Feature::clock_ratio, 0.02},
                                               {Feature::power, 0.1},
                                               {Feature::products, 0.03},
                                               {Feature::save, 0.2},
                                               {Feature::load, 0.2}}};
/// A node may be slow for other reasons than its clock.
constexpr double kClockOfSlowNode = 0.15;
/// What is not listed may move any figure by so much.
constexpr double kUnlisted = 0.25;

constexpr std::uint64_t kLargeMessage = std::uint64_t{4} << 30;

/// An all-reduce of the first two nodes, which any two may run.
Observation pair_of_nodes(const Laboratory& laboratory) {
  const auto& cluster = laboratory.checked().scenario().cluster;
  Observation pair{Feature::bus_bandwidth, ""};
  pair.call = MeasuredCall{core::CollectiveKind::all_reduce,
                           cluster.node.gpus * std::min(2, cluster.nodes),
                           cluster.node.gpus,
                           {kLargeMessage}};
  return pair;
}

std::string nodes_for_pairs(const Evidence& evidence, const Laboratory& laboratory) {
  const int gpus = laboratory.checked().scenario().cluster.node.gpus;
  if (evidence.nodes.size() >= 2) {
    return fmt::format("--host {}:{},{}:{}", evidence.nodes[0], gpus, evidence.nodes[1], gpus);
  }
  return fmt::format("--host NODE_A:{},NODE_B:{}", gpus, gpus);
}

std::string command_for(Feature feature, const Evidence& evidence, const Laboratory& laboratory) {
  const int gpus = laboratory.checked().scenario().cluster.node.gpus;
  switch (feature) {
    case Feature::bus_bandwidth:
      return fmt::format(
          "mpirun -np {} {} all_reduce_perf -b 1G -e 8G -f 2 -g 1, on every pair of neighbours in "
          "turn",
          2 * gpus, nodes_for_pairs(evidence, laboratory));
    case Feature::clock_ratio:
    case Feature::power:
      return "nvidia-smi dmon -s pc -d 5 -c 60 > NODE.txt on every node while the job runs";
    case Feature::forward:
    case Feature::backward:
    case Feature::rank_ratio:
    case Feature::stage_waits:
    case Feature::data:
    case Feature::optimizer:
      return "fifty steps with timers of all ranks: --timing-log-level 2 --timing-log-option "
             "minmax "
             "(Megatron-LM), wall_clock_breakdown (DeepSpeed)";
    case Feature::input:
      return "fifty steps on made-up data (--mock-data), or with timers of the data loader";
    case Feature::reserved_memory:
      return "the peak of reserved memory: torch.cuda.max_memory_reserved() after ten steps";
    case Feature::memory:
      return "the peak of allocated memory: torch.cuda.max_memory_allocated() after ten steps";
    case Feature::spread:
    case Feature::pauses:
    case Feature::regularity:
    case Feature::step_time:
      return "two hundred steps with a line each (--log-interval 1)";
    case Feature::save:
    case Feature::load:
      return "a save and a load with their times: the timers save-checkpoint and load-checkpoint "
             "(Megatron-LM), the lines of NeMo and torchtitan about checkpoints";
    case Feature::products:
      return "a trace of three steps by torch.profiler with record_shapes=True";
  }
  return "";
}

}  // namespace

double own_error(Feature feature, double figure, Cause cause) {
  if (cause == Cause::unlisted) {
    return feature == Feature::spread ? 1.5 : kUnlisted;
  }
  if (cause == Cause::slow_node && feature == Feature::clock_ratio) {
    return kClockOfSlowNode;
  }
  const auto found = std::find_if(kOwnErrors.begin(), kOwnErrors.end(),
                                  [&](const OwnError& e) { return e.feature == feature; });
  HEADWAY_CHECK(found != kOwnErrors.end(), "feature {}", core::to_word(feature));
  return is_ratio(feature) ? found->fixed : std::hypot(found->fixed, found->share * figure);
}

bool shares_kernel_error(Feature feature) {
  return feature == Feature::step_time || feature == Feature::forward ||
         feature == Feature::backward || feature == Feature::products;
}

std::optional<NextStep> next_step(const Laboratory& laboratory,
                                  const Evidence& evidence,
                                  const std::vector<Suspect>& suspects,
                                  const core::Count& count) {
  std::vector<const Suspect*> two;
  for (const Suspect& suspect : suspects) {
    if (suspect.best.cause != Cause::unlisted && two.size() < 2) {
      two.push_back(&suspect);
    }
  }
  if (two.size() < 2) {
    return std::nullopt;
  }
  const Laboratory whole(laboratory.checked(), true, count);
  const Imagined first = whole.imagine(two[0]->best, network::in_parts(count));
  const Imagined second = whole.imagine(two[1]->best, network::in_parts(count));
  const double step = laboratory.healthy().step.time.si();
  NextStep best;
  for (const auto& [feature, word] : enum_words(Feature{})) {
    const bool known = std::any_of(evidence.observations.begin(), evidence.observations.end(),
                                   [f = feature](const auto& o) { return o.feature == f; });
    const Observation pair =
        feature == Feature::bus_bandwidth ? pair_of_nodes(laboratory) : Observation{feature, ""};
    if (known) {
      continue;
    }
    const double a = predicted(laboratory, first, two[0]->best, pair);
    const double b = predicted(laboratory, second, two[1]->best, pair);
    const bool share = feature == Feature::pauses || feature == Feature::regularity;
    const double scale = share || is_ratio(feature) ? 1 : step;
    const double distance = is_ratio(feature) ? std::log(a / b) : (a - b) / scale;
    const double error = std::hypot(own_error(feature, a / scale, two[0]->best.cause),
                                    own_error(feature, b / scale, two[1]->best.cause));
    if (std::abs(distance) / error > best.deviations) {
      best = {feature, command_for(feature, evidence, laboratory),
              fmt::format("{}: {} if {}, {} if {}", in_words(feature), shown(feature, a),
                          two[0]->best.words, shown(feature, b), two[1]->best.words),
              std::abs(distance) / error};
    }
  }
  return best.deviations >= 1 ? std::optional(best) : std::nullopt;
}

std::vector<core::ModelConstant> diagnose_constants() {
  std::vector<core::ModelConstant> out;
  for (const OwnError& e : kOwnErrors) {
    const std::string name = "study.own_error_of_" + std::string(core::to_word(e.feature));
    const std::string of =
        is_ratio(e.feature) ? "of the logarithm" : "as a share of the step, or of one";
    out.push_back({name, e.fixed, "", 0, "judged; the part that does not grow, " + of});
    if (e.share > 0) {
      out.push_back(
          {name + "_share", e.share, "", 0, "judged; the part that grows with the figure"});
    }
  }
  out.push_back({"study.clock_of_a_slow_node", kClockOfSlowNode, "", 0,
                 "judged: a node may be slow for other reasons than its clock"});
  out.push_back(
      {"study.error_of_what_is_unlisted", kUnlisted, "", 0,
       "judged: what is not listed moves any figure by so much, or 2, 4, 8 or 16 times that"});
  return out;
}

}  // namespace headway::study
