#include "sim/analytic/analytic.h"

#include <algorithm>
#include <array>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "sim/analytic/added_times.h"
#include "sim/analytic/chunk_costs.h"
#include "sim/analytic/costs.h"
#include "sim/analytic/known_costs.h"
#include "sim/analytic/layout_key.h"
#include "sim/analytic/layout_times.h"
#include "sim/core/error.h"
#include "sim/training/step/placement.h"
#include "sim/training/unequal/node_kinds.h"
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

using workload::splits_backward;

}  // namespace

class AnalyticTier::Evaluator {
 public:
  explicit Evaluator(const Scenario& scenario) : scenario_(scenario), known_(scenario_) {}

  [[nodiscard]] const Scenario& scenario() const { return scenario_; }
  RankWaits& waits() { return waits_; }

  AnalyticStep evaluate(const ParallelismSpec& layout, int data_parallel, int micro_batches) {
    fill(layout, data_parallel);
    return run(times_, layout, micro_batches);
  }

  /// Those next to each other that share an order of passes go through it together.
  void evaluate(std::span<const LayoutAsked> asked, std::span<AnalyticStep> steps) {
    for (std::size_t i = 0; i < asked.size();) {
      std::size_t end = i + 1;
      while (end < asked.size() && end < i + kTogether && share_order(asked[i], asked[end])) {
        ++end;
      }
      if (end == i + kTogether) {
        evaluate_together(asked.subspan(i, kTogether), steps.subspan(i, kTogether));
        i = end;
      }
      for (; i < end; ++i) {
        steps[i] = evaluate(*asked[i].layout, asked[i].data_parallel, asked[i].micro_batches);
      }
    }
  }

  core::Seconds least(const ParallelismSpec& layout, int data_parallel, int micro_batches) {
    fill_least(layout, data_parallel);
    const OrderKey order{workload::effective_schedule(layout), layout.pipeline,
                         layout.virtual_stages, micro_batches};
    // Searches ask of both orders of ranks in turn, whose messages often take the same.
    if (order != least_order_ || times_.send_blocks != least_sends_ ||
        times_.passes != least_passes_) {
      least_order_.reset();
      least_sends_ = times_.send_blocks;
      least_passes_ = times_.passes;
      least_ = least_of(times_, layout, micro_batches);
      least_order_ = order;
    }
    return least_;
  }

  /// What the passes and the ends of a layout take on GPUs of this kind.
  const LayoutTimes& fill(const ParallelismSpec& layout, int data_parallel) {
    known_.bound();
    return fill_known(layout, data_parallel);
  }

  /// The same, forgetting nothing.
  const LayoutTimes& fill_known(const ParallelismSpec& layout, int data_parallel) {
    const ScheduleKind schedule = workload::effective_schedule(layout);
    const RankCosts& rank = known_.rank(layout, data_parallel, splits_backward(schedule));
    const DataCosts& data = known_.data(layout, data_parallel);
    times_.ends = &known_.ends(layout, data_parallel);
    fill_messages(layout, data_parallel, rank);
    const ChunkKinds& kinds = known_.kinds(layout, data);
    fill_passes(layout, schedule, rank, data, kinds);
    fill_reductions(data, kinds, splits_backward(schedule));
    return times_;
  }

  /// The same of passes and messages alone.
  const LayoutTimes& fill_least(ParallelismSpec layout, int data_parallel) {
    known_.bound();
    layout.sharding = workload::Sharding::zero2;  // weight gradients are written, not added
    layout.shard_group_size = 0;
    layout.reshard = true;
    const ScheduleKind schedule = workload::effective_schedule(layout);
    const RankCosts& rank = known_.rank(layout, data_parallel, splits_backward(schedule));
    times_.ends = nullptr;
    fill_messages(layout, data_parallel, rank);
    const DataCosts& data = without_traffic(layout);
    fill_passes(layout, schedule, rank, data, data.kinds);
    return times_;
  }

  LayerTimes layer_times(const ParallelismSpec& layout, int data_parallel) {
    const RankCosts& rank = known_.rank(layout, data_parallel, false);
    const double layers = scenario_.model.layers;
    return {core::Seconds((rank.forward.back() + rank.backward.back()) / layers),
            core::Seconds(rank.embedding_forward + rank.embedding_backward),
            core::Seconds(rank.head_forward + rank.head_backward)};
  }

  /// Runs the schedule of a layout.
  /// @param times  of `fill`, or of several kinds of GPUs mixed; changed
  AnalyticStep run(LayoutTimes& times, const ParallelismSpec& layout, int micro_batches) {
    const PipelineOrder& order = run_passes(times, layout, micro_batches);
    lengthen_tails(order, micro_batches, stage_ends_, {1, 0}, times);
    return finish(times, stage_ends_);
  }

  core::Seconds least_of(LayoutTimes& times, const ParallelismSpec& layout, int micro_batches) {
    run_passes(times, layout, micro_batches);
    return core::Seconds(*std::max_element(stage_ends_.begin(), stage_ends_.end()));
  }

 private:
  const PipelineOrder& run_passes(LayoutTimes& times,
                                  const ParallelismSpec& layout,
                                  int micro_batches) {
    const ScheduleKind schedule = workload::effective_schedule(layout);
    const int few = workload::evaluated_micro_batches(schedule, layout.pipeline, micro_batches);
    const PipelineOrder& order = known_.order(schedule, layout, few);
    if (times.send_blocks) {
      add_sends(schedule, times);
    }
    order.stage_ends(times.passes, micro_batches - few, scratch_, stage_ends_);
    return order;
  }

  static constexpr std::size_t kTogether = PipelineOrder::kTogether;

  static bool share_order(const LayoutAsked& a, const LayoutAsked& b) {
    return a.micro_batches == b.micro_batches && a.layout->pipeline == b.layout->pipeline &&
           a.layout->virtual_stages == b.layout->virtual_stages &&
           workload::effective_schedule(*a.layout) == workload::effective_schedule(*b.layout);
  }

  /// Whether layouts differ in nothing but where the optimizer runs.
  static bool share_passes(const LayoutAsked& a, const LayoutAsked& b) {
    const auto few = [](const LayoutAsked& one) {
      return std::tuple(one.data_parallel, one.layout->micro_batch, one.layout->sequence,
                        one.layout->sharding, one.layout->shard_group_size, one.layout->reshard,
                        workload::offloads_activations(one.layout->offload));
    };
    if (few(a) != few(b)) {
      return false;
    }
    ParallelismSpec other = *b.layout;
    other.offload = a.layout->offload;
    return *a.layout == other;
  }

  /// `kTogether` layouts that share an order.
  void evaluate_together(std::span<const LayoutAsked> asked, std::span<AnalyticStep> steps) {
    const ParallelismSpec& first = *asked.front().layout;
    const int micro_batches = asked.front().micro_batches;
    const ScheduleKind schedule = workload::effective_schedule(first);
    known_.bound();
    std::array<const workload::PipelineTimes*, kTogether> passes{};
    for (std::size_t k = 0; k < kTogether; ++k) {
      if (k > 0 && share_passes(asked[k - 1], asked[k])) {
        together_[k] = together_[k - 1];
        together_[k].ends = &known_.ends(*asked[k].layout, asked[k].data_parallel);
      } else {
        fill_known(*asked[k].layout, asked[k].data_parallel);
        std::swap(times_, together_[k]);
      }
      passes[k] = &together_[k].passes;
    }
    for (LayoutTimes& times : together_) {
      if (times.send_blocks) {
        add_sends(schedule, times);
      }
    }
    const int few = workload::evaluated_micro_batches(schedule, first.pipeline, micro_batches);
    const PipelineOrder& order = known_.order(schedule, first, few);
    order.stage_ends(passes, micro_batches - few, scratch_, stage_ends_);
    const auto stages = static_cast<std::size_t>(first.pipeline);
    for (std::size_t k = 0; k < kTogether; ++k) {
      const auto ends = std::span(stage_ends_).subspan(k * stages, stages);
      lengthen_tails(order, micro_batches, ends, {kTogether, k}, together_[k]);
      steps[k] = finish(together_[k], ends);
    }
  }

  /// Chunks by the layers they hold.
  const DataCosts& without_traffic(const ParallelismSpec& layout) {
    const workload::StageLayout stages(scenario_.model, layout);
    bare_.classes.clear();
    bare_.kinds.kinds.clear();
    bare_.kinds.kind_of.clear();
    for (int stage = 0; stage < stages.stages(); ++stage) {
      for (int chunk = 0; chunk < stages.chunks(); ++chunk) {
        const auto& at = stages.at(stage, chunk);
        const auto found = static_cast<int>(bare_.classes.size());
        bare_.kinds.kinds.push_back({found, {at.first_layer, 0}});
        bare_.kinds.kind_of.push_back(found);
        ChunkClass& made = bare_.classes.emplace_back();
        made.layers = at.layers;
        made.embedding = at.embedding;
        made.head = at.head;
        made.encoder = at.encoder;
      }
    }
    return bare_;
  }

  /// Neighbour stages are as many ranks apart as a stage has, or as a replica's stage has; where
  /// some ranks' messages leave the NVLink domain, all wait for those.
  void fill_messages(const ParallelismSpec& p, int data_parallel, const RankCosts& rank) {
    times_.passes.message.assign(static_cast<std::size_t>(p.pipeline), 0);
    if (p.pipeline == 1) {
      return;
    }
    const int ahead = workload::encoder_stages(scenario_.model);
    time_message(rank.message, between_stages_);
    if (ahead > 0) {
      time_message(rank.images_message, of_images_);
    }
    find_crossings(p, data_parallel);
    const auto time = [&](int stage, bool crosses) {
      const MessageTimes& message = stage < ahead ? of_images_ : between_stages_;
      return crosses ? message.far : message.near;
    };
    for (int stage = 0; stage + 1 < p.pipeline; ++stage) {
      const auto s = static_cast<std::size_t>(stage);
      times_.passes.message[s] = time(stage, crossings_[s]);
    }
    times_.passes.message.back() = time(p.pipeline, crossings_.back());
  }

  /// Which messages, as PipelineTimes::message has them, leave an NVLink domain.
  void find_crossings(const ParallelismSpec& p, int data_parallel) {
    const std::int64_t slice = std::int64_t{p.tensor} * p.context;
    const bool packed = p.rank_order == workload::RankOrder::pipeline_first;
    const std::int64_t stride = packed ? slice : slice * data_parallel;
    const std::int64_t last =
        packed ? slice * p.pipeline * (data_parallel - 1) : slice * (data_parallel - 1);
    const auto asked = std::tuple(p.pipeline, stride, last);
    if (asked == crossings_of_) {
      return;
    }
    crossings_of_ = asked;
    // NVLink domains of a stage's first ranks in the first and in the last replica.
    const std::int64_t domain = known_.timer().fabric().shape().domain_gpus;
    const auto domains = [&](std::int64_t stage) {
      return std::pair{stride * stage / domain, (stride * stage + last) / domain};
    };
    crossings_.clear();
    const auto first = domains(0);
    auto here = first;
    for (int stage = 1; stage < p.pipeline; ++stage) {
      const auto next = domains(stage);
      crossings_.push_back(here != next);
      here = next;
    }
    crossings_.push_back(first != here);
  }

  /// A message, and what it takes inside an NVLink domain and between two [s].
  struct MessageTimes {
    std::optional<core::Bytes> bytes;
    double near = 0, far = 0;
  };

  void time_message(core::Bytes bytes, MessageTimes& message) {
    if (bytes != message.bytes) {
      message = {bytes, known_.timer().message(bytes, false), known_.timer().message(bytes, true)};
    }
  }

  void fill_passes(const ParallelismSpec& layout,
                   ScheduleKind schedule,
                   const RankCosts& rank,
                   const DataCosts& data,
                   const ChunkKinds& kinds) {
    costs_.clear();
    for (const ChunkKind& kind : kinds.kinds) {
      const ChunkClass& chunk = data.classes[static_cast<std::size_t>(kind.found)];
      costs_.push_back(chunk_costs(chunk, kind.first, rank, data, scratch_of_chunks_));
    }
    const std::vector<int>& kind_of = kinds.kind_of;
    const auto chunks =
        static_cast<std::size_t>(workload::chunks_per_stage(schedule, layout.virtual_stages));
    times_.passes.chunks.resize(kind_of.size());
    times_.passes.ready.clear();
    times_.tails.clear();
    for (std::size_t place = 0; place < kind_of.size(); ++place) {
      times_.passes.chunks[place] = costs_[static_cast<std::size_t>(kind_of[place])].passes;
    }
    for (std::size_t place = 0; place < kind_of.size(); place += chunks) {
      times_.passes.ready.push_back(costs_[static_cast<std::size_t>(kind_of[place])].ready);
      times_.tails.push_back(tail_of_stage(kind_of, place, chunks, layout.pipeline));
      if (scenario_.cluster.sites) {
        gather_meanwhile(place, times_.passes.ready.back());
      }
    }
    times_.send_blocks = rank.send_blocks;
  }

  /// Weights that come from other sites come while the stages before a stage have their first
  /// pass: its own is as long as any other, and does not begin before it would end with the last
  /// of them.
  void gather_meanwhile(std::size_t place, double& ready) {
    double& first = times_.passes.chunks[place][static_cast<std::size_t>(Pass::first_forward)];
    const double any = times_.passes.chunks[place][static_cast<std::size_t>(Pass::forward)];
    ready += std::max(0.0, first - any);
    first = std::min(first, any);
  }

  /// Reductions of a stage's later chunks are launched earlier: what they leave over delays those
  /// of the first.
  double tail_of_stage(const std::vector<int>& kind_of,
                       std::size_t place,
                       std::size_t chunks,
                       int stages) const {
    double left = 0;
    for (std::size_t chunk = chunks; chunk-- > 0;) {
      const ChunkCosts& costs = costs_[static_cast<std::size_t>(kind_of[place + chunk])];
      const double backward = costs.passes[static_cast<std::size_t>(Pass::backward)];
      left = std::max(0.0, left - backward) + costs.tail;
      if (chunk > 0) {
        left = std::max(0.0, left - (stages - 1) * backward);
      }
    }
    return left;
  }

  /// Reductions that follow every micro-batch. Where gathers for every pass wait for the reductions
  /// before them, whole backwards wait for the gathers; halves pass on what the stage before waits
  /// for at once.
  void fill_reductions(const DataCosts& data, const ChunkKinds& kinds, bool halves) {
    const std::size_t stages = times_.passes.ready.size();
    const std::size_t chunks = kinds.kind_of.size() / stages;
    times_.reductions.assign(stages, 0);
    times_.begun.assign(stages, 0);
    for (std::size_t stage = 0; stage < stages; ++stage) {
      for (std::size_t chunk = 0; chunk < chunks; ++chunk) {
        const auto kind = static_cast<std::size_t>(kinds.kind_of[stage * chunks + chunk]);
        const auto found = static_cast<std::size_t>(kinds.kinds[kind].found);
        const ChunkClass& made = data.classes[found];
        times_.reductions[stage] += halves || !made.gathers_wait ? made.reduction : 0.0;
      }
      const int last = kinds.kind_of[stage * chunks + chunks - 1];  // goes backward first
      times_.begun[stage] = halves ? 0.0 : costs_[static_cast<std::size_t>(last)].begun;
    }
  }

  /// Reductions after every micro-batch that together take longer than the passes from the first
  /// backward on.
  /// @param place  among how many layouts evaluated together it is which
  void lengthen_tails(const PipelineOrder& order,
                      int micro_batches,
                      std::span<const double> ends,
                      std::pair<std::size_t, std::size_t> place,
                      LayoutTimes& times) const {
    for (std::size_t stage = 0; stage < ends.size(); ++stage) {
      const double each = times.reductions[stage];
      const double begin =
          order.first_backward_end(scratch_, static_cast<int>(stage), place.first, place.second);
      const double left = begin + each * micro_batches - times.begun[stage] - ends[stage];
      times.tails[stage] = std::max(times.tails[stage], each > 0 ? left : 0.0);
    }
  }

  /// Each stage reduces what is left, then all ranks meet for the norm of the gradients and go on
  /// together.
  static AnalyticStep finish(const LayoutTimes& times, std::span<const double> ends) {
    const double pipeline = *std::max_element(ends.begin(), ends.end());
    double met = 0, reduced = pipeline, after = 0;
    for (std::size_t stage = 0; stage < ends.size(); ++stage) {
      const StepEnd end = times.end(stage);
      const double reduced_here = ends[stage] + times.tails[stage];
      reduced = std::max(reduced, reduced_here);
      met = std::max(met, std::max(ends[stage] + end.lead, reduced_here) + end.rest);
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
  KnownCosts known_;
  RankWaits waits_;
  MessageTimes between_stages_, of_images_;  ///< the last ones
  std::vector<bool> crossings_;              ///< the last ones too, of so many stages, ranks apart
  std::tuple<int, std::int64_t, std::int64_t> crossings_of_{};
  // Of the layout at hand; kept for their memory.
  LayoutTimes times_;
  std::array<LayoutTimes, kTogether> together_;
  std::vector<ChunkCosts> costs_;  ///< by kind of chunks
  // What `least` was asked last, and the answer.
  std::optional<OrderKey> least_order_;
  bool least_sends_ = false;
  workload::PipelineTimes least_passes_;
  core::Seconds least_;
  DataCosts bare_;
  std::vector<double> scratch_, stage_ends_;
  ChunkScratch scratch_of_chunks_;
};

AnalyticTier::AnalyticTier(const Scenario& scenario)
    : cluster_(scenario.cluster),
      evaluator_(std::make_unique<Evaluator>(training::of_one_kind(scenario, 0))) {
  for (int kind = 1; kind < training::node_kinds(cluster_); ++kind) {
    other_kinds_.push_back(std::make_unique<Evaluator>(training::of_one_kind(scenario, kind)));
  }
}
AnalyticTier::~AnalyticTier() = default;

AnalyticStep AnalyticTier::evaluate(const ParallelismSpec& layout,
                                    int data_parallel,
                                    int micro_batches) {
  if (!other_kinds_.empty()) {
    return evaluate_kinds(layout, data_parallel, micro_batches);
  }
  Evaluator& evaluator = on_domains_of(filled_domain(cluster_, layout));
  const Scenario& s = evaluator.scenario();
  AnalyticStep step = evaluator.evaluate(layout, synchronous(s, data_parallel), micro_batches);
  add_exchanges(s, layout, data_parallel, step);
  evaluator.waits().add(s, layout, synchronous(s, data_parallel), micro_batches, step);
  return step;
}

void AnalyticTier::evaluate(std::span<const LayoutAsked> asked, std::span<AnalyticStep> steps) {
  HEADWAY_CHECK(asked.size() == steps.size(), "{} layouts, room for {}", asked.size(),
                steps.size());
  const int domain = asked.empty() ? 0 : filled_domain(cluster_, *asked.front().layout);
  const bool alike = std::all_of(asked.begin(), asked.end(), [&](const LayoutAsked& one) {
    return filled_domain(cluster_, *one.layout) == domain;
  });
  if (alike && !asked.empty() && other_kinds_.empty() && !cluster_.sites) {
    Evaluator& evaluator = on_domains_of(domain);
    evaluator.evaluate(asked, steps);
    for (std::size_t i = 0; i < asked.size(); ++i) {
      evaluator.waits().add(evaluator.scenario(), *asked[i].layout, asked[i].data_parallel,
                            asked[i].micro_batches, steps[i]);
    }
    return;
  }
  for (std::size_t i = 0; i < asked.size(); ++i) {
    steps[i] = evaluate(*asked[i].layout, asked[i].data_parallel, asked[i].micro_batches);
  }
}

core::Seconds AnalyticTier::least(const ParallelismSpec& layout,
                                  int data_parallel,
                                  int micro_batches) {
  if (!other_kinds_.empty()) {
    return least_of_kinds(layout, data_parallel, micro_batches);
  }
  Evaluator& evaluator = on_domains_of(filled_domain(cluster_, layout));
  return evaluator.least(layout, synchronous(evaluator.scenario(), data_parallel), micro_batches);
}

AnalyticStep AnalyticTier::evaluate(const CheckedScenario& checked) {
  const Scenario& s = checked.scenario();
  if (!other_kinds_.empty()) {
    return evaluate_kinds(s.parallelism, checked.data_parallel(), checked.micro_batches());
  }
  Evaluator& evaluator = on_domains_of(s.cluster.node.scale_up.domain_gpus);
  AnalyticStep step =
      evaluator.evaluate(s.parallelism, checked.synchronous_data(), checked.micro_batches());
  add_exchanges(s, s.parallelism, checked.data_parallel(), step);
  evaluator.waits().add(s, s.parallelism, checked.synchronous_data(), checked.micro_batches(),
                        step);
  return step;
}

std::vector<LayoutTimes> AnalyticTier::replicas(const ParallelismSpec& layout,
                                                int data_parallel,
                                                bool whole) {
  const auto fill = [&](Evaluator& evaluator) {
    return whole ? evaluator.fill(layout, data_parallel)
                 : evaluator.fill_least(layout, data_parallel);
  };
  std::vector<LayoutTimes> of_kind{fill(*evaluator_)};
  for (const auto& evaluator : other_kinds_) {
    of_kind.push_back(fill(*evaluator));
  }
  if (layout.expert * layout.expert_tensor > 1) {  // replicas meet in the middle of passes
    return {mixed(of_kind, kinds_of_stages(cluster_, layout, data_parallel))};
  }
  std::vector<LayoutTimes> list;
  for (const auto& stages : replicas_by_kind(cluster_, layout, data_parallel)) {
    std::vector<std::vector<int>> kinds;
    for (const int kind : stages) {
      kinds.push_back({kind});
    }
    list.push_back(mixed(of_kind, kinds));
  }
  return list;
}

AnalyticStep AnalyticTier::evaluate_kinds(const ParallelismSpec& layout,
                                          int data_parallel,
                                          int micro_batches) {
  AnalyticStep slowest;
  for (LayoutTimes& times : replicas(layout, data_parallel, true)) {
    const AnalyticStep step = evaluator_->run(times, layout, micro_batches);
    slowest = step.time > slowest.time ? step : slowest;
  }
  evaluator_->waits().add(evaluator_->scenario(), layout, data_parallel, micro_batches, slowest);
  return slowest;
}

core::Seconds AnalyticTier::least_of_kinds(const ParallelismSpec& layout,
                                           int data_parallel,
                                           int micro_batches) {
  core::Seconds least;
  for (LayoutTimes& times : replicas(layout, data_parallel, false)) {
    least = std::max(least, evaluator_->least_of(times, layout, micro_batches));
  }
  return least;
}

std::vector<LayerTimes> AnalyticTier::layer_times(const ParallelismSpec& layout,
                                                  int data_parallel) {
  std::vector<LayerTimes> list{evaluator_->layer_times(layout, data_parallel)};
  for (const auto& evaluator : other_kinds_) {
    list.push_back(evaluator->layer_times(layout, data_parallel));
  }
  return list;
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
