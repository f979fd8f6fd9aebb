#include "sim/study/diagnose/next_step.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "sim/core/error.h"
#include "sim/core/text.h"
#include "sim/study/diagnose/prior.h"

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
/// What memory a program counts is often another (of which rank, with which buffers, what its
/// allocator keeps), which a line does not say; then it may be off by so much: of known software
/// one row in ten is by 13 to 29 % (docs/validation.md). Judged.
constexpr double kOtherCounting = 0.3, kErrorOfOtherCounting = 0.4;
/// A monitor's clock is seldom of another time or node than the job's steps. Judged.
constexpr double kOtherClock = 0.1, kErrorOfOtherClock = 0.4;
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

bool crosses_nodes(const Observation& observation, int gpus_of_node) {
  return observation.call && observation.call->gpus > gpus_of_node;
}

/// The nodes that files name, those first that were in the fastest calls: a call of two nodes that
/// may both be slow tells little of either. Nodes of no call come last.
std::vector<std::string> soundest_first(const Evidence& evidence, int gpus_of_node) {
  const auto fastest = [&](const std::string& node) {
    double rate = 0;
    for (const Observation& o : evidence.observations) {
      const bool has = std::find(o.nodes.begin(), o.nodes.end(), node) != o.nodes.end();
      rate = has && crosses_nodes(o, gpus_of_node) ? std::max(rate, o.measured) : rate;
    }
    return rate;
  };
  std::vector<std::string> nodes = evidence.nodes;
  std::stable_sort(nodes.begin(), nodes.end(), [&](const std::string& a, const std::string& b) {
    return fastest(a) > fastest(b);
  });
  return nodes;
}

/// A node that a suspect names beside another: one that no call has together with it, else one
/// that no call of two has. None where all such pairs were measured.
std::optional<std::vector<std::string>> pair_for(const std::string& suspect,
                                                 const Evidence& evidence,
                                                 int gpus_of_node) {
  const auto together = [&](const std::string& other, std::size_t nodes) {
    return std::any_of(evidence.observations.begin(), evidence.observations.end(),
                       [&](const Observation& o) {
                         const auto has = [&o](const std::string& node) {
                           return std::find(o.nodes.begin(), o.nodes.end(), node) != o.nodes.end();
                         };
                         return crosses_nodes(o, gpus_of_node) && o.nodes.size() <= nodes &&
                                has(suspect) && has(other);
                       });
  };
  for (const std::size_t nodes : {evidence.nodes.size(), std::size_t{2}}) {
    for (const std::string& other : soundest_first(evidence, gpus_of_node)) {
      if (other != suspect && !together(other, nodes)) {
        return std::vector{suspect, other};
      }
    }
  }
  return std::nullopt;
}

/// Nodes on which a call tells whether the card of the suspect is slow: of a few places that are
/// not told apart the first beside another node, of many every second one.
std::optional<std::vector<std::string>> nodes_for(const Hypothesis& card,
                                                  const Evidence& evidence,
                                                  int gpus_of_node) {
  constexpr std::size_t kFew = 3;
  std::vector<std::string> tied{card.node};
  for (const std::string& node : card.not_told_apart) {
    if (!node.empty()) {
      tied.push_back(node);
    }
  }
  if (tied.size() <= kFew) {
    return pair_for(card.node, evidence, gpus_of_node);
  }
  std::vector<std::string> half;
  for (std::size_t i = 0; i < tied.size(); i += 2) {
    half.push_back(tied[i]);
  }
  return half;
}

/// What may be measured next: every figure that no file shows, and a pair of nodes that none ran.
std::vector<Observation> not_measured(const Laboratory& laboratory,
                                      const Evidence& evidence,
                                      const std::array<Hypothesis, 2>& likeliest) {
  const auto& cluster = laboratory.checked().scenario().cluster;
  const Hypothesis* suspect = nullptr;
  for (const Hypothesis& one : likeliest) {
    const Hypothesis* card = part_of(one, Cause::half_rate_nic);
    suspect = suspect == nullptr && card != nullptr && !card->node.empty() ? card : suspect;
  }
  std::vector<Observation> out;
  for (const auto& [feature, word] : enum_words(Feature{})) {
    const bool known = std::any_of(evidence.observations.begin(), evidence.observations.end(),
                                   [f = feature](const auto& o) { return o.feature == f; });
    if (!known) {
      out.push_back(feature == Feature::bus_bandwidth ? pair_of_nodes(laboratory)
                                                      : Observation{feature, ""});
    } else if (feature == Feature::bus_bandwidth && cluster.nodes > 1 && suspect != nullptr) {
      if (auto nodes = nodes_for(*suspect, evidence, cluster.node.gpus)) {
        out.push_back(pair_of_nodes(laboratory));
        out.back().call->gpus = static_cast<int>(nodes->size()) * cluster.node.gpus;
        out.back().nodes = *nodes;
      }
    }
  }
  return out;
}

/// All-reduce on the nodes that are asked for, or on two of those that files name.
std::string command_for_call(const Observation& call, const Evidence& evidence, int gpus) {
  std::vector<std::string> nodes = call.nodes.empty() ? evidence.nodes : call.nodes;
  if (nodes.size() < 2) {
    nodes = {"NODE_A", "NODE_B"};
  }
  nodes.resize(call.nodes.empty() ? 2 : nodes.size());
  std::vector<std::string> hosts;
  for (const std::string& node : nodes) {
    hosts.push_back(fmt::format("{}:{}", node, gpus));
  }
  return fmt::format("mpirun -np {} --host {} all_reduce_perf -b 1G -e 8G -f 2 -g 1{}",
                     hosts.size() * static_cast<std::size_t>(gpus), fmt::join(hosts, ","),
                     call.nodes.empty() ? ", on every pair of neighbours in turn" : "");
}

constexpr const char* kTimersOfAllRanks =
    "fifty steps with timers of all ranks: --timing-log-level 2 --timing-log-option minmax "
    "(Megatron-LM)";

std::string command_for(const Observation& further,
                        const Evidence& evidence,
                        const Laboratory& laboratory) {
  switch (further.feature) {
    case Feature::bus_bandwidth:
      return command_for_call(further, evidence, laboratory.checked().scenario().cluster.node.gpus);
    case Feature::clock_ratio:
    case Feature::power:
      return "nvidia-smi dmon -s pc -d 5 -c 60 > NODE.txt on every node while the job runs";
    case Feature::rank_ratio:  // DeepSpeed has timers of rank 0 alone
      return kTimersOfAllRanks;
    case Feature::forward:
    case Feature::backward:
    case Feature::stage_waits:
    case Feature::data:
    case Feature::optimizer:
      return std::string(kTimersOfAllRanks) +
             ", or \"wall_clock_breakdown\": true (DeepSpeed, rank 0)";
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

const std::array<Doubt, 2>& doubts() {
  static constexpr std::array<Doubt, 2> list{
      {{{Feature::memory, Feature::reserved_memory}, kOtherCounting, kErrorOfOtherCounting},
       {{Feature::clock_ratio, Feature::clock_ratio}, kOtherClock, kErrorOfOtherClock}}};
  return list;
}

bool shares_kernel_error(Feature feature) {
  return feature == Feature::step_time || feature == Feature::forward ||
         feature == Feature::backward || feature == Feature::products;
}

namespace {

/// The two likeliest causes that are listed, come true with all passes, and what tells them apart.
class Rivals {
 public:
  Rivals(const Laboratory& laboratory,
         const Evidence& evidence,
         const std::array<Hypothesis, 2>& two,
         bool unlisted_leads,
         const core::Count& count)
      : laboratory_(laboratory), evidence_(evidence), two_(two), unlisted_leads_(unlisted_leads) {
    const Laboratory whole(laboratory.checked(), true, count);
    for (std::size_t i = 0; i < two.size(); ++i) {
      imagined_[i] = whole.imagine(two[i], network::in_parts(count));
    }
  }

  [[nodiscard]] std::optional<NextStep> best() const {
    NextStep best;
    NextStep surest;  // of the first beside what is not listed
    for (const Observation& further : not_measured(laboratory_, evidence_, two_)) {
      const bool share =
          further.feature == Feature::pauses || further.feature == Feature::regularity;
      const double scale =
          share || is_ratio(further.feature) ? 1 : laboratory_.healthy().step.time.si();
      std::array<double, 2> figures{}, errors{};
      for (std::size_t i = 0; i < 2; ++i) {
        figures[i] = predicted(laboratory_, imagined_[i], two_[i], further);
        const bool slow = part_of(two_[i], Cause::slow_node) != nullptr;
        errors[i] =
            own_error(further.feature, figures[i] / scale, slow ? Cause::slow_node : two_[i].cause);
      }
      const double distance = is_ratio(further.feature) ? std::log(figures[0] / figures[1])
                                                        : (figures[0] - figures[1]) / scale;
      keep_larger(std::abs(distance) / std::hypot(errors[0], errors[1]), further, figures, best);
      keep_larger(own_error(further.feature, 0, Cause::unlisted) / errors[0], further, figures,
                  surest);
    }
    if (best.deviations >= 1) {
      return best;
    }
    return unlisted_leads_ && surest.deviations >= 1 ? std::optional(surest) : std::nullopt;
  }

 private:
  void keep_larger(double deviations,
                   const Observation& further,
                   const std::array<double, 2>& figures,
                   NextStep& kept) const {
    if (deviations <= kept.deviations) {
      return;
    }
    const Feature feature = further.feature;
    const bool pair = !further.nodes.empty();
    kept = {feature, command_for(further, evidence_, laboratory_),
            fmt::format("{}{}: {} if {}, {} if {}{}", in_words(feature),
                        pair ? fmt::format(" of {}", fmt::join(further.nodes, " and ")) : "",
                        shown(feature, figures[0]), two_[0].words, shown(feature, figures[1]),
                        pair && two_[1].cause == Cause::none ? further.nodes[0] + " is sound"
                                                             : two_[1].words,
                        unlisted_leads_ ? ", any other if it is something that is not listed" : ""),
            deviations};
  }

  const Laboratory& laboratory_;
  const Evidence& evidence_;
  std::array<Hypothesis, 2> two_;
  bool unlisted_leads_;
  std::array<Imagined, 2> imagined_;
};

}  // namespace

namespace {

/// The first suspect, a card, at two places that nothing tells apart yet, where a call of nodes
/// would; none: it is no card, not likely enough to be looked for, or no call tells.
std::optional<std::array<Hypothesis, 2>> two_places(const Laboratory& laboratory,
                                                    const Evidence& evidence,
                                                    const Suspect& first) {
  constexpr double kLikely = 0.5;
  const int gpus = laboratory.checked().scenario().cluster.node.gpus;
  const bool called = std::any_of(evidence.observations.begin(), evidence.observations.end(),
                                  [&](const Observation& o) { return crosses_nodes(o, gpus); });
  if (first.best.cause != Cause::half_rate_nic || !first.parts.empty() || !called ||
      first.probability < kLikely || first.best.node.empty()) {
    return std::nullopt;
  }
  const auto nodes = nodes_for(first.best, evidence, gpus);
  const auto& tied = first.best.not_told_apart;
  const auto other = std::find_if(tied.begin(), tied.end(), [&](const std::string& node) {
    return !node.empty() && nodes && std::find(nodes->begin(), nodes->end(), node) == nodes->end();
  });
  if (other == tied.end()) {
    return std::nullopt;
  }
  std::array<Hypothesis, 2> two{first.best, first.best};
  two[0].words = nodes->size() == 2 ? fmt::format("the slow card is of {}", first.best.node)
                                    : "the slow card is of one of these";
  two[1].node = *other;
  two[1].words = "it is of another";
  return two;
}

}  // namespace

std::optional<NextStep> next_step(const Laboratory& laboratory,
                                  const Evidence& evidence,
                                  const std::vector<Suspect>& suspects,
                                  const core::Count& count) {
  std::vector<Hypothesis> listed;
  for (const Suspect& suspect : suspects) {
    // A pair that does not lead is often the leading cause and one more.
    const bool lesser_pair = !suspect.parts.empty() && &suspect != &suspects.front();
    if (suspect.best.cause == Cause::unlisted || lesser_pair) {
      continue;
    }
    listed.push_back(suspect.best);
    if (suspect.parts.empty() && !suspect.best.not_told_apart.empty()) {
      listed.back().not_told_apart.clear();  // it is measured at one place
      listed.back().words = words_of(listed.back());
    }
  }
  if (listed.size() < 2) {
    return std::nullopt;
  }
  if (const auto two = two_places(laboratory, evidence, suspects.front())) {
    if (auto step = Rivals(laboratory, evidence, *two, false, count).best()) {
      step->of_places = true;
      return step;
    }
  }
  const bool unlisted_leads = suspects.front().best.cause == Cause::unlisted;
  return Rivals(laboratory, evidence, {listed[0], listed[1]}, unlisted_leads, count).best();
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
  out.push_back({"study.pair_of_causes", kPairOfCauses, "", 0,
                 "judged: how likely two causes at once are, any two, beside a single one"});
  out.push_back({"study.setting_that_starts_midway", kSettingMidway, "", 0,
                 "judged: how likely a setting of the software is where steps became slower on the "
                 "way, beside what can begin then"});
  out.push_back({"study.clock_of_a_slow_node", kClockOfSlowNode, "", 0,
                 "judged: a node may be slow for other reasons than its clock"});
  out.push_back({"study.other_counting_of_memory", kOtherCounting, "", 0,
                 "judged: how likely a log's memory is counted otherwise than is predicted"});
  out.push_back({"study.error_of_other_counting_of_memory", kErrorOfOtherCounting, "", 0,
                 "judged: then, of the logarithm"});
  out.push_back({"study.other_clock", kOtherClock, "", 0,
                 "judged: how likely a monitor's clock is of another time or node than the steps"});
  out.push_back(
      {"study.error_of_other_clock", kErrorOfOtherClock, "", 0, "judged: then, of the logarithm"});
  out.push_back(
      {"study.error_of_what_is_unlisted", kUnlisted, "", 0,
       "judged: what is not listed moves any figure by so much, or 2, 4, 8 or 16 times that"});
  return out;
}

}  // namespace headway::study
