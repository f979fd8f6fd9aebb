#include "sim/analytic/analytic.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sim/analytic/costs.h"
#include "sim/analytic/offload.h"
#include "sim/core/error.h"
#include "sim/training/sites/site_exchange.h"
#include "sim/training/step/placement.h"
#include "sim/workload/layout.h"
#include "sim/workload/schedule/pipeline_time.h"
#include "sim/workload/schedule/schedule.h"

namespace headway::analytic {

using training::CheckedScenario;
using training::Scenario;

namespace {

using workload::ParallelismSpec;
using workload::Pass;
using workload::PassTimes;
using workload::PipelineOrder;
using workload::ScheduleKind;

/// A layout with what it is looked up by; layouts that differ only in what a key fixes share an
/// entry.
struct LayoutKey {
  ParallelismSpec layout;
  int data = 1;
  bool pipelined = false;  ///< messages between stages hold up the CPUs
  bool operator==(const LayoutKey&) const = default;
};

struct OrderKey {
  ScheduleKind schedule{};
  int pipeline = 1, chunks = 1, micro_batches = 1;
  bool operator==(const OrderKey&) const = default;
};

std::size_t mixed(std::initializer_list<int> parts) {
  std::uint64_t hash = 0;
  for (const int part : parts) {
    hash = (hash ^ static_cast<std::uint64_t>(part)) * 0x9e3779b97f4a7c15ULL;
    hash ^= hash >> 31U;
  }
  return static_cast<std::size_t>(hash);
}

/// Small numbers, below 16 each.
int packed(std::initializer_list<int> parts) {
  unsigned all = 0;
  for (const int part : parts) {
    all = all << 4U | static_cast<unsigned>(part);
  }
  return static_cast<int>(all);
}

struct KeyHash {
  std::size_t operator()(const LayoutKey& key) const {
    const auto& p = key.layout;
    int parts = 0;
    for (const workload::RecomputePart part : p.recompute_parts) {
      parts |= 1 << static_cast<int>(part);
    }
    return mixed({p.tensor, p.context, p.expert, p.expert_tensor, p.pipeline, p.virtual_stages,
                  p.micro_batch, key.data, p.shard_group_size, p.first_stage_layers,
                  p.last_stage_layers, parts, p.recompute_period, p.recompute_layers,
                  packed({static_cast<int>(p.recompute), static_cast<int>(p.sharding),
                          static_cast<int>(p.schedule), static_cast<int>(p.context_kind),
                          static_cast<int>(p.rank_order), static_cast<int>(p.offload),
                          static_cast<int>(p.sequence), static_cast<int>(p.reshard)})});
  }
  std::size_t operator()(const OrderKey& key) const {
    return mixed({static_cast<int>(key.schedule), key.pipeline, key.chunks, key.micro_batches});
  }
};

/// What a tier remembers at most; some kilobytes each. Source: round values, 200 MB together.
constexpr std::size_t kMostRemembered = 20'000;
constexpr std::size_t kMostOrders = 500;

bool splits_backward(ScheduleKind schedule) {
  return schedule != ScheduleKind::gpipe && schedule != ScheduleKind::one_f_one_b &&
         schedule != ScheduleKind::interleaved;
}

/// What a chunk class takes in one layout.
struct ChunkCosts {
  PassTimes passes{};
  double ready = 0;  ///< of its first parameters, where it begins a stage
  double tail = 0;   ///< reductions that go on after its last backward
  double begun = 0;  ///< of the reductions of its first whole backward, done as that ends
};

}  // namespace

class AnalyticTier::Evaluator {
 public:
  explicit Evaluator(const Scenario& scenario) : scenario_(scenario), timer_(scenario_) {}

  [[nodiscard]] const Scenario& scenario() const { return scenario_; }

  AnalyticStep evaluate(const ParallelismSpec& layout, int data_parallel, int micro_batches) {
    const ScheduleKind schedule = workload::effective_schedule(layout);
    const RankCosts& rank = rank_of(layout, data_parallel, splits_backward(schedule));
    const DataCosts& data = data_of(layout, data_parallel);
    const StepEnds& ends = ends_of(layout, data_parallel);
    const int few = workload::evaluated_micro_batches(schedule, layout.pipeline, micro_batches);
    const PipelineOrder& order = order_of(schedule, layout, few);
    fill_messages(layout, data_parallel, rank.message);
    fill_passes(layout, schedule, rank, data);
    order.stage_ends(times_, micro_batches - few, scratch_, stage_ends_);
    lengthen_tails(order, data, micro_batches, splits_backward(schedule));
    return finish(ends);
  }

  core::Seconds least(ParallelismSpec layout, int data_parallel, int micro_batches) {
    layout.sharding = workload::Sharding::zero2;  // weight gradients are written, not added
    layout.shard_group_size = 0;
    layout.reshard = true;
    const ScheduleKind schedule = workload::effective_schedule(layout);
    const RankCosts& rank = rank_of(layout, data_parallel, splits_backward(schedule));
    const int few = workload::evaluated_micro_batches(schedule, layout.pipeline, micro_batches);
    const PipelineOrder& order = order_of(schedule, layout, few);
    fill_messages(layout, data_parallel, rank.message);
    fill_passes(layout, schedule, rank, without_traffic(layout));
    order.stage_ends(times_, micro_batches - few, scratch_, stage_ends_);
    return core::Seconds(*std::max_element(stage_ends_.begin(), stage_ends_.end()));
  }

 private:
  /// Chunks by the layers they hold.
  const DataCosts& without_traffic(const ParallelismSpec& layout) {
    const workload::StageLayout stages(scenario_.model, layout);
    bare_.classes.clear();
    bare_.class_of.clear();
    for (int stage = 0; stage < stages.stages(); ++stage) {
      for (int chunk = 0; chunk < stages.chunks(); ++chunk) {
        const auto& at = stages.at(stage, chunk);
        bare_.class_of.push_back(static_cast<int>(bare_.classes.size()));
        ChunkClass& made = bare_.classes.emplace_back();
        made.first_layer = at.first_layer;
        made.layers = at.layers;
        made.embedding = at.embedding;
        made.head = at.head;
      }
    }
    return bare_;
  }

  /// Forgets all if there is much.
  template <class Remembered>
  static void bound(Remembered& map, std::size_t most) {
    if (map.size() >= most) {
      map.clear();
    }
  }

  const RankCosts& rank_of(const ParallelismSpec& layout, int data_parallel, bool splits) {
    // Experts are spread over data-parallel ranks; nothing else of a pass depends on how many there
    // are.
    const int data = layout.expert * layout.expert_tensor > 1 ? data_parallel : 1;
    bound(ranks_, kMostRemembered);
    const auto [place, fresh] = ranks_.try_emplace(
        {rank_key(scenario_.training.framework, layout, splits), data, layout.pipeline > 1});
    if (fresh) {
      place->second = rank_costs(scenario_, layout, data, splits, timer_);
    }
    return place->second;
  }

  const DataCosts& data_of(const ParallelismSpec& layout, int data_parallel) {
    bound(data_, kMostRemembered);
    const auto [place, fresh] = data_.try_emplace({data_key(layout), data_parallel, false});
    if (fresh) {
      place->second = data_costs(scenario_, layout, data_parallel, timer_);
    }
    return place->second;
  }

  const StepEnds& ends_of(const ParallelismSpec& layout, int data_parallel) {
    bound(ends_, kMostRemembered);
    const auto [place, fresh] = ends_.try_emplace({end_key(layout), data_parallel, false});
    if (fresh) {
      place->second = step_ends(scenario_, layout, data_parallel, timer_);
    }
    return place->second;
  }

  const PipelineOrder& order_of(ScheduleKind schedule,
                                const ParallelismSpec& layout,
                                int micro_batches) {
    const OrderKey key{schedule, layout.pipeline, layout.virtual_stages, micro_batches};
    const auto found = orders_.find(key);
    if (found != orders_.end()) {
      return found->second;
    }
    bound(orders_, kMostOrders);
    return orders_.try_emplace(key, schedule, layout.pipeline, layout.virtual_stages, micro_batches)
        .first->second;
  }

  /// Neighbour stages are as many ranks apart as a stage has, or as a replica's stage has; where
  /// some ranks' messages leave the NVLink domain, all wait for those.
  void fill_messages(const ParallelismSpec& p, int data_parallel, core::Bytes bytes) {
    const std::int64_t slice = std::int64_t{p.tensor} * p.context;
    const bool packed = p.rank_order == workload::RankOrder::pipeline_first;
    const std::int64_t stride = packed ? slice : slice * data_parallel;
    const std::int64_t last =
        packed ? slice * p.pipeline * (data_parallel - 1) : slice * (data_parallel - 1);
    times_.message.assign(static_cast<std::size_t>(p.pipeline), 0);
    if (p.pipeline == 1) {
      return;
    }
    const double near = timer_.message(bytes, false);
    const double far = timer_.message(bytes, true);
    // NVLink domains of a stage's first ranks in the first and in the last replica.
    const std::int64_t domain = timer_.fabric().shape().domain_gpus;
    const auto domains = [&](std::int64_t stage) {
      return std::pair{stride * stage / domain, (stride * stage + last) / domain};
    };
    const auto first = domains(0);
    auto here = first;
    for (int stage = 0; stage + 1 < p.pipeline; ++stage) {
      const auto next = domains(stage + 1);
      const bool crosses = here.first != next.first || here.second != next.second;
      times_.message[static_cast<std::size_t>(stage)] = crosses ? far : near;
      here = next;
    }
    const bool crosses = first.first != here.first || first.second != here.second;
    times_.message.back() = crosses ? far : near;
  }

  void fill_passes(const ParallelismSpec& layout,
                   ScheduleKind schedule,
                   const RankCosts& rank,
                   const DataCosts& data) {
    classes_.clear();
    for (const ChunkClass& chunk : data.classes) {
      classes_.push_back(chunk_costs(chunk, rank, data));
    }
    const auto chunks =
        static_cast<std::size_t>(workload::chunks_per_stage(schedule, layout.virtual_stages));
    times_.chunks.clear();
    times_.ready.clear();
    tails_.clear();
    for (const int found : data.class_of) {
      times_.chunks.push_back(classes_[static_cast<std::size_t>(found)].passes);
    }
    for (std::size_t place = 0; place < data.class_of.size(); place += chunks) {
      times_.ready.push_back(classes_[static_cast<std::size_t>(data.class_of[place])].ready);
      tails_.push_back(tail_of_stage(data, place, chunks, layout.pipeline));
      if (scenario_.cluster.sites) {
        gather_meanwhile(place, times_.ready.back());
      }
    }
    if (rank.send_blocks) {
      add_sends(layout.pipeline, schedule, static_cast<int>(chunks));
    }
  }

  /// Weights that come from other sites come while the stages before a stage have their first
  /// pass: its own is as long as any other, and does not begin before it would end with the last
  /// of them.
  void gather_meanwhile(std::size_t place, double& ready) {
    double& first = times_.chunks[place][static_cast<std::size_t>(Pass::first_forward)];
    const double any = times_.chunks[place][static_cast<std::size_t>(Pass::forward)];
    ready += std::max(0.0, first - any);
    first = std::min(first, any);
  }

  /// Where a sender waits until its message has left, passes end as the messages arrive, and
  /// reductions go on meanwhile.
  void add_sends(int stages, ScheduleKind schedule, int chunks) {
    const auto sent = [&](int stage, const std::optional<workload::StageChunk>& to) {
      if (!to || to->stage == stage) {
        return 0.0;
      }
      const bool neighbours = std::abs(to->stage - stage) == 1;
      const int link = neighbours ? std::min(to->stage, stage) : stages - 1;
      return times_.message[static_cast<std::size_t>(link)];
    };
    for (int place = 0; place < stages * chunks; ++place) {
      const workload::StageChunk at{place / chunks, place % chunks};
      const double on = sent(at.stage, workload::next_chunk(schedule, stages, chunks, at));
      const double back = sent(at.stage, workload::previous_chunk(schedule, stages, chunks, at));
      PassTimes& passes = times_.chunks[static_cast<std::size_t>(place)];
      for (const Pass pass : {Pass::forward, Pass::first_forward}) {
        passes[static_cast<std::size_t>(pass)] += on;
      }
      for (const Pass pass : {Pass::backward, Pass::last_backward, Pass::whole_backward}) {
        passes[static_cast<std::size_t>(pass)] += back;
      }
      if (at.chunk == 0) {
        double& tail = tails_[static_cast<std::size_t>(at.stage)];
        tail = std::max(0.0, tail - back);
      }
    }
    std::fill(times_.message.begin(), times_.message.end(), 0.0);
  }

  /// Reductions of a stage's later chunks are launched earlier: what they leave over delays those
  /// of the first.
  double tail_of_stage(const DataCosts& data,
                       std::size_t place,
                       std::size_t chunks,
                       int stages) const {
    double left = 0;
    for (std::size_t chunk = chunks; chunk-- > 0;) {
      const ChunkCosts& costs = classes_[static_cast<std::size_t>(data.class_of[place + chunk])];
      const double backward = costs.passes[static_cast<std::size_t>(Pass::backward)];
      left = std::max(0.0, left - backward) + costs.tail;
      if (chunk > 0) {
        left = std::max(0.0, left - (stages - 1) * backward);
      }
    }
    return left;
  }

  /// Reductions after every micro-batch that together take longer than the passes from the first
  /// backward on. Where gathers for every pass wait for the reductions before them, whole backwards
  /// wait for the gathers; halves pass on what the stage before waits for at once.
  void lengthen_tails(const PipelineOrder& order,
                      const DataCosts& data,
                      int micro_batches,
                      bool halves) {
    const std::size_t chunks = data.class_of.size() / stage_ends_.size();
    for (std::size_t stage = 0; stage < stage_ends_.size(); ++stage) {
      double each = 0;
      for (std::size_t chunk = 0; chunk < chunks; ++chunk) {
        const int found = data.class_of[stage * chunks + chunk];
        const ChunkClass& made = data.classes[static_cast<std::size_t>(found)];
        each += halves || !made.gathers_wait ? made.reduction : 0.0;
      }
      const int last = data.class_of[stage * chunks + chunks - 1];  // goes backward first
      const double begun = halves ? 0.0 : classes_[static_cast<std::size_t>(last)].begun;
      const double begin = order.first_backward_end(scratch_, static_cast<int>(stage));
      const double left = begin + each * micro_batches - begun - stage_ends_[stage];
      tails_[stage] = std::max(tails_[stage], each > 0 ? left : 0.0);
    }
  }

  static double& time_of(ChunkCosts& costs, Pass pass) {
    return costs.passes[static_cast<std::size_t>(pass)];
  }

  static double sum(const std::vector<double>& table, int first, int layers) {
    return table[static_cast<std::size_t>(first + layers)] - table[static_cast<std::size_t>(first)];
  }

  /// A chunk's layers by themselves.
  static double layers_time(const ChunkClass& chunk, const RankCosts& rank, bool forward) {
    double now = 0;
    CopyLine(rank, chunk, forward).run(chunk.first_layer, chunk.layers, now);
    return now;
  }

  ChunkCosts chunk_costs(const ChunkClass& chunk, const RankCosts& rank, const DataCosts& data) {
    const double before_forward = chunk.embedding ? 0 : rank.receive;
    const double before_backward = chunk.head ? 0 : rank.receive;
    const double forward = before_forward + layers_time(chunk, rank, true) +
                           (chunk.embedding ? rank.embedding_forward : 0) +
                           (chunk.head ? rank.head_forward : 0);
    const double backward = before_backward + layers_time(chunk, rank, false) +
                            (chunk.embedding ? rank.embedding_backward : 0) +
                            (chunk.head ? rank.head_backward : 0);
    const double weights = sum(rank.weight_gradient, chunk.first_layer, chunk.layers);
    ChunkCosts costs{{forward, backward, weights, forward, backward, 0, 0}, 0, 0};
    if (chunk.has_traffic) {
      add_traffic(chunk, rank, data, {before_forward, before_backward}, costs);
    }
    time_of(costs, Pass::whole_backward) =
        time_of(costs, Pass::backward) + time_of(costs, Pass::weight_gradient);
    return costs;
  }

  /// Runs the passes that have traffic beside them on a timeline.
  void add_traffic(const ChunkClass& chunk,
                   const RankCosts& rank,
                   const DataCosts& data,
                   std::pair<double, double> before,
                   ChunkCosts& costs) {
    Timeline& line = line_;
    line.reset();
    for (const int block : chunk.prologue) {
      line.run(data.blocks[static_cast<std::size_t>(block)]);
    }
    for (const double done : line.tickets) {
      line.now = std::max(line.now, done);
    }
    costs.ready = line.now;
    const auto pass = [&](bool forward) {
      const double begin = line.now;
      line.now += forward ? before.first : before.second;
      run_parts(chunk, forward, rank, data, line);
      return line.now - begin;
    };
    PassTimes& times = costs.passes;
    double& forward = times[static_cast<std::size_t>(Pass::forward)];
    double& backward = times[static_cast<std::size_t>(Pass::backward)];
    double& weights = times[static_cast<std::size_t>(Pass::weight_gradient)];
    times[static_cast<std::size_t>(Pass::first_forward)] = pass(true);
    line.reset();
    double whole = backward + weights;
    for (int round = 0; round < 2;
         ++round) {  // the second round has the first one's traffic behind it
      if (chunk.forward_always) {
        forward = pass(true);
      } else {
        line.now += forward;
      }
      if (chunk.backward_always || round == 1) {
        whole = pass(false);
      } else {
        line.now += whole;
      }
      if (round == 0) {
        costs.begun = std::max(0.0, chunk.reduction - std::max(0.0, line.ticket(0) - line.now));
      }
    }
    // Where the halves run apart, the traffic is beside the second.
    const double last = weights > 0 ? backward : whole;
    if (chunk.backward_always) {
      weights = weights > 0 ? std::max(weights, whole - backward) : 0;
      backward = last;
    }
    times[static_cast<std::size_t>(Pass::last_backward)] = last;
    costs.tail = std::max(0.0, line.ticket(0) - line.now);
  }

  static void compute(
      const PassPart& part, const RankCosts& rank, bool forward, CopyLine& copies, double& now) {
    if (part.embedding) {
      now += forward ? rank.embedding_forward : rank.embedding_backward;
    } else if (part.head) {
      now += forward ? rank.head_forward : rank.head_backward;
    } else {
      copies.run(part.first_layer, part.layers, now);
    }
  }

  static void run_parts(const ChunkClass& chunk,
                        bool forward,
                        const RankCosts& rank,
                        const DataCosts& data,
                        Timeline& line) {
    // Where the halves of backward run apart, reductions follow the second, which passes nothing
    // on.
    const bool halves = !forward && rank.weight_gradient.back() > 0;
    const auto& parts = forward ? chunk.forward : chunk.backward;
    CopyLine copies(rank, chunk, forward);
    for (const PassPart& part : parts) {
      if (part.block < 0) {
        compute(part, rank, forward, copies, line.now);
      } else if (!halves || !part.reduces) {
        line.run(data.blocks[static_cast<std::size_t>(part.block)]);
      }
    }
    if (!halves) {
      return;
    }
    for (const PassPart& part : parts) {
      if (part.block < 0) {
        line.now += sum(rank.weight_gradient, part.first_layer, part.layers);
      } else if (part.reduces) {
        line.run(data.blocks[static_cast<std::size_t>(part.block)]);
      }
    }
  }

  /// Each stage reduces what is left, then all ranks meet for the norm of the gradients and go on
  /// together.
  AnalyticStep finish(const StepEnds& ends) {
    const double pipeline = *std::max_element(stage_ends_.begin(), stage_ends_.end());
    double met = 0, reduced = pipeline, after = 0;
    for (std::size_t stage = 0; stage < stage_ends_.size(); ++stage) {
      const StepEnd& end = ends.ends[static_cast<std::size_t>(ends.end_of[stage])];
      const double reduced_here = stage_ends_[stage] + tails_[stage];
      reduced = std::max(reduced, reduced_here);
      met = std::max(met, std::max(stage_ends_[stage] + end.lead, reduced_here) + end.rest);
      after = std::max(after, end.after);
    }
    AnalyticStep step;
    step.time = core::Seconds(met + after);
    step.pipeline = core::Seconds(pipeline);
    step.reduction = core::Seconds(reduced - pipeline);
    step.update = core::Seconds(met + after - reduced);
    return step;
  }

  Scenario scenario_;
  BlockTimer timer_;
  // Looked up only, never iterated.
  std::unordered_map<LayoutKey, RankCosts, KeyHash> ranks_;
  std::unordered_map<LayoutKey, DataCosts, KeyHash> data_;
  std::unordered_map<LayoutKey, StepEnds, KeyHash> ends_;
  std::unordered_map<OrderKey, PipelineOrder, KeyHash> orders_;
  // Of the layout at hand; kept for their memory.
  workload::PipelineTimes times_;
  std::vector<ChunkCosts> classes_;
  DataCosts bare_;
  std::vector<double> tails_, scratch_, stage_ends_;
  Timeline line_;
};

AnalyticTier::AnalyticTier(const Scenario& scenario)
    : evaluator_(std::make_unique<Evaluator>(scenario)) {}
AnalyticTier::~AnalyticTier() = default;

namespace {

/// Data ranks that meet in every step: with local steps those of one site.
int synchronous(const Scenario& s, int data_parallel) {
  const bool apart = s.training.local_steps && s.cluster.sites;
  return apart ? std::max(1, data_parallel / s.cluster.sites->count) : data_parallel;
}

/// What exchanges between sites add to a step, by their closed form.
void add_exchanges(const Scenario& s,
                   const ParallelismSpec& layout,
                   int data_parallel,
                   AnalyticStep& step) {
  if (!s.training.local_steps || !s.cluster.sites) {
    return;
  }
  const auto time = training::exchange_closed_form(s, layout, data_parallel);
  const auto share = training::exchange_share(*s.training.local_steps, time, step.time);
  step.update += share.kernels + share.waited;
  step.time += share.kernels + share.waited;
}

}  // namespace

AnalyticStep AnalyticTier::evaluate(const ParallelismSpec& layout,
                                    int data_parallel,
                                    int micro_batches) {
  Evaluator& evaluator = on_domains_of(filled_domain(evaluator_->scenario().cluster, layout));
  const Scenario& s = evaluator.scenario();
  AnalyticStep step = evaluator.evaluate(layout, synchronous(s, data_parallel), micro_batches);
  add_exchanges(s, layout, data_parallel, step);
  return step;
}

core::Seconds AnalyticTier::least(const ParallelismSpec& layout,
                                  int data_parallel,
                                  int micro_batches) {
  Evaluator& evaluator = on_domains_of(filled_domain(evaluator_->scenario().cluster, layout));
  return evaluator.least(layout, synchronous(evaluator.scenario(), data_parallel), micro_batches);
}

AnalyticStep AnalyticTier::evaluate(const CheckedScenario& checked) {
  const Scenario& s = checked.scenario();
  AnalyticStep step =
      on_domains_of(s.cluster.node.scale_up.domain_gpus)
          .evaluate(s.parallelism, checked.synchronous_data(), checked.micro_batches());
  add_exchanges(s, s.parallelism, checked.data_parallel(), step);
  return step;
}

AnalyticTier::Evaluator& AnalyticTier::on_domains_of(int gpus) {
  if (gpus == evaluator_->scenario().cluster.node.scale_up.domain_gpus) {
    return *evaluator_;
  }
  auto& other = others_[gpus];
  if (!other) {
    Scenario scenario = evaluator_->scenario();
    scenario.cluster.node.scale_up.domain_gpus = gpus;
    other = std::make_unique<Evaluator>(scenario);
  }
  return *other;
}

}  // namespace headway::analytic
