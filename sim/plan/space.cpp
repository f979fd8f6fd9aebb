#include "sim/plan/space.h"

#include <algorithm>
#include <utility>

#include "sim/core/error.h"
#include "sim/plan/proportion.h"
#include "sim/training/unequal/node_kinds.h"
#include "sim/workload/layout.h"
#include "sim/workload/mixer/mixer_problems.h"
#include "sim/workload/schedule/schedule.h"

namespace headway::plan {

using training::SearchAxis;
using workload::ContextKind;
using workload::Offload;
using workload::RankOrder;
using workload::Recompute;
using workload::RecomputePart;
using workload::ScheduleKind;
using workload::Sharding;

namespace {

std::vector<int> divisors(std::int64_t number, std::int64_t most) {
  std::vector<int> list;
  for (int i = 1; i <= std::min(number, most); ++i) {
    if (number % i == 0) {
      list.push_back(i);
    }
  }
  return list;
}

template <class T>
bool contains(const std::vector<T>& list, const T& value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

template <class T>
void add_once(std::vector<T>& list, const T& value) {
  if (!contains(list, value)) {
    list.push_back(value);
  }
}

template <class E>
std::vector<E> all_words() {
  std::vector<E> all;
  for (const auto& entry : enum_words(E{})) {
    all.push_back(entry.value);
  }
  return all;
}

/// Layers of the first and of the last stage; 0: as the others.
using Ends = std::pair<int, int>;

/// Even stages, and stages of which both ends, or one, hold fewer: they also hold the embedding and
/// the head. Of L layers over p stages the others hold m = ceil(L / p) or one more, both ends
/// (L - m (p - 2)) / 2, or one L - m (p - 1). (126 layers on 16 stages: 7, 14 times 8, 7, the
/// published layout of a 405B model.)
std::vector<Ends> stage_ends(int layers, int stages) {
  std::vector<Ends> list;
  if (layers % stages == 0) {
    list.emplace_back(0, 0);
  }
  const int even = (layers + stages - 1) / stages;
  for (int others = even; others <= even + 1 && stages > 1; ++others) {
    const int both = layers - others * (stages - 2);
    if (stages > 2 && both >= 2 && both % 2 == 0 && both / 2 < others) {
      add_once(list, Ends(both / 2, both / 2));
    }
    const int one = layers - others * (stages - 1);
    if (one >= 1 && one < others) {
      add_once(list, Ends(0, one));
      add_once(list, Ends(one, 0));
    }
  }
  return list;
}

/// Kinds of recompute that the software has, with their parts, the least first, and the scenario's
/// own.
std::vector<PassChoice> recompute_kinds(const training::Scenario& s) {
  const auto& own = s.parallelism;
  const auto choice = [](Recompute kind, std::vector<RecomputePart> parts = {}, int period = 1,
                         int layers = 1) {
    return PassChoice{kind, std::move(parts), period, layers, false, RankOrder::data_first};
  };
  const workload::RecomputeAbilitySpec& can = s.training.framework.recomputes;
  const auto lacks = [&](RecomputePart part) { return !can.has(part, s.model.moe.has_value()); };
  std::vector<PassChoice> list{choice(Recompute::none)};
  if (!lacks(RecomputePart::core_attention)) {
    list.push_back(choice(Recompute::selective));
  }
  std::vector<RecomputePart> parts{RecomputePart::norms, RecomputePart::activation,
                                   RecomputePart::mlp};
  std::vector<RecomputePart> light{RecomputePart::norms, RecomputePart::activation};
  if (s.model.latent) {
    parts.push_back(RecomputePart::latent_up);
    light.push_back(RecomputePart::latent_up);
  }
  if (s.model.moe) {
    parts.push_back(RecomputePart::experts);
  }
  if (!s.model.latent && !s.model.parallel_block && !s.model.attention_gate &&
      !s.model.native_sparse && s.model.layer_pattern.empty()) {
    parts.push_back(RecomputePart::operators);
  }
  std::erase_if(parts, lacks);
  std::erase_if(light, lacks);
  for (const RecomputePart part : parts) {
    list.push_back(choice(Recompute::selective, {part}));
  }
  if (light.size() > 1) {
    list.push_back(choice(Recompute::selective, light));
  }
  constexpr int kQuarters = 4;
  for (int quarters = 1; quarters < kQuarters; ++quarters) {
    const int period = quarters == 2 ? 2 : kQuarters, layers = quarters == 2 ? 1 : quarters;
    if (can.has_period(period, layers)) {
      list.push_back(choice(Recompute::full, {}, period, layers));
    }
  }
  list.push_back(choice(Recompute::full));
  const PassChoice mine =
      choice(own.recompute, own.recompute_parts, own.recompute_period, own.recompute_layers);
  const bool known = std::any_of(list.begin(), list.end(), [&](const PassChoice& other) {
    return other.recompute == mine.recompute && other.parts == mine.parts &&
           other.period == mine.period && other.layers == mine.layers;
  });
  if (!known) {
    list.push_back(mine);
  }
  return list;
}

/// Divisors of the sequences of a replica: powers of two, and three times them.
std::vector<int> micro_batches_of(int batch) {
  std::vector<int> list;
  for (const int size : divisors(batch, batch)) {
    int odd = size;
    while (odd % 2 == 0) {
      odd /= 2;
    }
    if (odd <= 3) {
      list.push_back(size);
    }
  }
  return list;
}

/// Model chunks of a stage of so many layers: all up to a few, beyond these what divides the
/// layers.
std::vector<int> chunk_counts(int layers) {
  std::vector<int> list;
  for (int chunks = 2; chunks <= layers; ++chunks) {
    if (chunks <= kMostChunks || layers % chunks == 0) {
      list.push_back(chunks);
    }
  }
  return list;
}

/// What a software has; of one that does not say all there is.
template <class Kind>
std::vector<Kind> had(const std::vector<Kind>& of_framework) {
  return of_framework.empty() ? all_words<Kind>() : of_framework;
}

}  // namespace

void PassChoice::apply(ParallelismSpec& p) const {
  p.recompute = recompute;
  p.recompute_parts = parts;
  p.recompute_period = period;
  p.recompute_layers = layers;
  p.rank_order = order;
  p.offload = !offload                          ? p.offload
              : p.offload == Offload::optimizer ? Offload::all
                                                : Offload::activations;
}

void StateChoice::apply(ParallelismSpec& p) const {
  p.sharding = sharding;
  p.shard_group_size = group;
  p.reshard = reshard;
  p.offload = !offload                            ? p.offload
              : p.offload == Offload::activations ? Offload::all
                                                  : Offload::optimizer;
}

bool varies(const training::SearchSpec& search, SearchAxis axis) {
  return (search.vary.empty() || contains(search.vary, axis)) && !contains(search.hold, axis);
}

bool varies_groups(const training::Scenario& scenario) {
  const training::SearchSpec& search = scenario.search;
  const bool shardings = !search.sharding.empty() || varies(search, SearchAxis::sharding);
  const bool held = contains(search.hold, SearchAxis::shard_group_size);
  return varies(search, SearchAxis::shard_group_size) ||
         (shardings && !held && scenario.parallelism.shard_group_size == 0);
}

bool Space::asked(const PassChoice& pass, const StateChoice& state) const {
  const auto& list = scenario_.search.offload;
  return list.empty() || std::any_of(list.begin(), list.end(), [&](Offload offload) {
           return workload::offloads_activations(offload) == pass.offload &&
                  workload::offloads_optimizer(offload) == state.offload;
         });
}

bool Space::trims_recompute() const {
  const auto& asked = scenario_.search.recompute;
  return asked.empty() ? varies(SearchAxis::recompute) : contains(asked, Recompute::none);
}

bool Space::tries_fewest(const PassChoice& pass) const {
  const auto& asked = scenario_.search.recompute;
  const bool full =
      asked.empty() ? varies(SearchAxis::recompute) : contains(asked, Recompute::full);
  return full && pass.recompute == Recompute::none && !pass.offload;
}

bool Space::varies(SearchAxis axis) const { return plan::varies(scenario_.search, axis); }

/// What is asked for; else, of a held axis the scenario's own, of another all.
template <class T>
std::vector<T> Space::choose(SearchAxis axis,
                             const std::vector<T>& asked,
                             const T& own,
                             std::vector<T> all) const {
  if (!asked.empty()) {
    return asked;
  }
  return varies(axis) ? std::move(all) : std::vector<T>{own};
}

Space::Space(const training::Scenario& scenario)
    : scenario_(scenario),
      gpus_(std::int64_t{scenario.cluster.nodes} * scenario.cluster.node.gpus) {
  list_passes();
  if (training::unequal(scenario.cluster)) {
    tier_ = std::make_unique<analytic::AnalyticTier>(scenario);
  }
  const int domain = scenario.cluster.node.scale_up.domain_gpus;
  for (const int tensor : choose(SearchAxis::tensor, scenario.search.tensor,
                                 scenario.parallelism.tensor, divisors(gpus_, domain))) {
    const bool heads_divide = scenario.model.heads % tensor == 0;
    if (gpus_ % tensor == 0 && (heads_divide || !workload::has_attention(scenario.model))) {
      add_contexts(tensor);
    }
  }
  first_.push_back(0);
  for (const Shape& shape : shapes_) {
    first_.push_back(first_.back() + layouts(shape));
  }
}

void Space::add_contexts(int tensor) {
  const auto& s = scenario_;
  const auto& own = s.parallelism;
  ParallelismSpec layout = own;
  layout.tensor = tensor;
  layout.chunk_layers.clear();  // of the scenario's own stages and chunks
  layout.chunk_recompute.clear();
  const std::int64_t most = std::max(1, s.training.sequence_length / kFewestTokens);
  std::vector<int> degrees;
  for (std::int64_t degree = 1; degree <= most; degree *= 2) {
    degrees.push_back(static_cast<int>(degree));
  }
  for (const int context :
       choose(SearchAxis::context, s.search.context, own.context, std::move(degrees))) {
    if (gpus_ / tensor % context != 0) {
      continue;
    }
    layout.context = context;
    const auto kinds = choose(SearchAxis::context_kind, s.search.context_kind, own.context_kind,
                              had(s.training.framework.context_kinds));
    for (const ContextKind kind : context == 1 ? std::vector{own.context_kind} : kinds) {
      layout.context_kind = kind;
      add_pipelines(layout);
    }
  }
}

void Space::add_pipelines(ParallelismSpec layout) {
  const auto& s = scenario_;
  const std::int64_t left = gpus_ / layout.tensor / layout.context;
  for (const int pipeline : choose(SearchAxis::pipeline, s.search.pipeline, s.parallelism.pipeline,
                                   divisors(left, s.model.layers))) {
    const int of_layers = pipeline - workload::encoder_stages(s.model);
    if (left % pipeline == 0 && of_layers >= 1 && of_layers <= s.model.layers) {
      layout.pipeline = pipeline;
      add_experts(layout, static_cast<int>(left / pipeline));
    }
  }
}

void Space::add_experts(ParallelismSpec layout, int data) {
  const auto& s = scenario_;
  if (!s.model.moe) {
    layout.expert = layout.expert_tensor = 1;
    add_schedules(layout, data);
    return;
  }
  const std::int64_t ranks = std::int64_t{layout.tensor} * layout.context * data;
  for (const int experts : choose(SearchAxis::expert, s.search.expert, s.parallelism.expert,
                                  divisors(s.model.moe->experts, ranks))) {
    for (const int tensor :
         choose(SearchAxis::expert_tensor, s.search.expert_tensor, s.parallelism.expert_tensor,
                divisors(layout.tensor, layout.tensor))) {
      if (ranks % (std::int64_t{experts} * tensor) == 0) {
        layout.expert = experts;
        layout.expert_tensor = tensor;
        add_schedules(layout, data);
      }
    }
  }
}

void Space::add_schedules(const ParallelismSpec& layout, int data) {
  const auto& s = scenario_;
  ParallelismSpec p = layout;
  p.virtual_stages = 1;
  if (layout.pipeline == 1) {  // all schedules are one forward, one backward
    p.schedule = ScheduleKind::one_f_one_b;
    add_stages(p, data);
    return;
  }
  const auto own = workload::effective_schedule(s.parallelism);
  for (const ScheduleKind schedule :
       choose(SearchAxis::schedule, s.search.schedule, own, had(s.training.framework.schedules))) {
    p.schedule = schedule;
    p.virtual_stages = 1;
    if (schedule != ScheduleKind::interleaved) {
      add_stages(p, data);
      continue;
    }
    const int layers = (s.model.layers + p.pipeline - 1) / p.pipeline;
    for (const int chunks : choose(SearchAxis::virtual_stages, s.search.virtual_stages,
                                   s.parallelism.virtual_stages, chunk_counts(layers))) {
      if (chunks > 1) {
        p.virtual_stages = chunks;
        add_stages(p, data);
      }
    }
  }
}

void Space::add_stages(ParallelismSpec p, int data) {
  const auto& own = scenario_.parallelism;
  const auto ends = choose(
      SearchAxis::stage_layers, {}, Ends(own.first_stage_layers, own.last_stage_layers),
      stage_ends(scenario_.model.layers, p.pipeline - workload::encoder_stages(scenario_.model)));
  PassChoice{}.apply(p);
  StateChoice{}.apply(p);
  p.offload = Offload::none;
  p.offload_layers = {};
  p.data = data;
  for (const auto& [first, last] : ends) {
    p.first_stage_layers = first;
    p.last_stage_layers = last;
    add_shape(p, data);
  }
  if (tier_ != nullptr && varies(SearchAxis::stage_layers)) {
    add_proportions(std::move(p), data);
  }
}

void Space::add_shape(const ParallelismSpec& layout, int data) {
  if (!workload::layout_problem(scenario_.model, layout)) {
    shapes_.push_back({layout, data, states(layout, data)});
    add_cuts(shapes_.back());
  }
}

/// Which stages are on which GPUs depends on the order of the ranks.
void Space::add_proportions(ParallelismSpec p, int data) {
  p.first_stage_layers = 0;
  p.last_stage_layers = 0;
  std::vector<std::vector<int>> lists;
  for (const RankOrder order : {RankOrder::data_first, RankOrder::pipeline_first}) {
    p.rank_order = order;
    for (const auto& list : layers_in_proportion(scenario_, p, data, *tier_)) {
      add_once(lists, list);
    }
  }
  p.rank_order = PassChoice{}.order;
  for (const auto& list : lists) {
    p.chunk_layers = list;
    add_shape(p, data);
  }
}

int Space::replica_batch(int data) const {
  const int batch = scenario_.training.global_batch;
  return batch % data == 0 ? batch / data : 1;
}

void Space::add_cuts(const Shape& shape) {
  const auto& s = scenario_;
  const int batch = replica_batch(shape.data);
  const bool split = shape.layout.tensor > 1;
  const auto [place, fresh] = cuts_.try_emplace({batch, split});
  if (!fresh) {
    return;
  }
  const bool both = split && varies(SearchAxis::sequence);
  for (const int size : choose(SearchAxis::micro_batch, s.search.micro_batch,
                               s.parallelism.micro_batch, micro_batches_of(batch))) {
    if (both) {
      place->second.push_back({size, true});
    }
    // A mixture's tensor ranks route tokens of their own.
    if (!both || !s.model.moe) {
      place->second.push_back({size, both ? false : s.parallelism.sequence});
    }
  }
}

void Space::list_passes() {
  const auto& s = scenario_;
  const auto& own = s.parallelism;
  const auto orders = choose(SearchAxis::rank_order, s.search.rank_order, own.rank_order,
                             {RankOrder::data_first, RankOrder::pipeline_first});
  const auto offloads =
      choose(SearchAxis::offload, s.search.offload, own.offload, all_words<Offload>());
  for (const PassChoice& kind : recompute_kinds(s)) {
    const bool mine = kind.recompute == own.recompute && kind.parts == own.recompute_parts &&
                      kind.period == own.recompute_period && kind.layers == own.recompute_layers;
    const bool wanted = !s.search.recompute.empty() ? contains(s.search.recompute, kind.recompute)
                                                    : varies(SearchAxis::recompute) || mine;
    if (!wanted) {
      continue;
    }
    for (const bool offload : {false, true}) {
      if (std::none_of(offloads.begin(), offloads.end(),
                       [&](Offload o) { return workload::offloads_activations(o) == offload; })) {
        continue;
      }
      PassChoice choice = kind;
      choice.offload = offload;
      for (const RankOrder order : orders) {
        choice.order = order;
        passes_.push_back(choice);
        if (order == orders.front()) {
          unordered_.push_back(choice);
        }
      }
    }
  }
}

/// Ranks that hold one copy: those of an NVLink domain, twice as many, and so on.
std::vector<int> Space::group_sizes(const ParallelismSpec& p, int data) const {
  const auto& own = scenario_.parallelism;
  const std::int64_t ranks = std::int64_t{p.context} * data;
  const int domain = std::max(2, scenario_.cluster.node.scale_up.domain_gpus / p.tensor);
  std::vector<int> all;
  for (std::int64_t size = domain; size < ranks; size *= 2) {
    all.push_back(static_cast<int>(size));
  }
  const auto& asked = scenario_.search.shard_group_size;
  auto sizes = !asked.empty()             ? asked
               : varies_groups(scenario_) ? std::move(all)
                                          : std::vector{own.shard_group_size};
  std::erase_if(sizes, [&](int size) { return size < 1 || size > ranks || ranks % size != 0; });
  return sizes;
}

std::vector<StateChoice> Space::states(const ParallelismSpec& p, int data) const {
  const auto& s = scenario_;
  const auto& own = s.parallelism;
  auto shardings = choose(SearchAxis::sharding, s.search.sharding, own.sharding,
                          had(s.training.framework.shardings));
  const bool alone = std::int64_t{p.context} * data == 1;
  if (alone && s.search.sharding.empty() && varies(SearchAxis::sharding)) {
    shardings = {Sharding::zero0};  // there is nobody to share with
  }
  const auto offloads =
      choose(SearchAxis::offload, s.search.offload, own.offload, all_words<Offload>());
  std::vector<StateChoice> list;
  for (const Sharding sharding : shardings) {
    const bool weights = sharding == Sharding::zero3 || sharding == Sharding::hsdp;
    const auto groups = sharding == Sharding::hsdp ? group_sizes(p, data) : std::vector{0};
    for (const int group : groups) {
      for (const bool reshard : {true, false}) {
        const bool held = !varies(SearchAxis::reshard) && weights && reshard != own.reshard;
        if (held || (!weights && !reshard)) {
          continue;
        }
        for (const bool offload : {false, true}) {
          if (std::any_of(offloads.begin(), offloads.end(),
                          [&](Offload o) { return workload::offloads_optimizer(o) == offload; })) {
            list.push_back({sharding, group, reshard, offload});
          }
        }
      }
    }
  }
  return list;
}

const std::vector<Cut>& Space::cuts(const Shape& shape) const {
  return cuts_.at({replica_batch(shape.data), shape.layout.tensor > 1});
}

const std::vector<PassChoice>& Space::passes(const Shape& shape) const {
  return shape.layout.pipeline > 1 && shape.data > 1 ? passes_ : unordered_;
}

std::int64_t Space::layouts(const Shape& shape) const {
  return std::ssize(cuts(shape)) * std::ssize(passes(shape)) * std::ssize(shape.states);
}

Space::Place Space::place(std::int64_t number) const {
  const auto after = std::upper_bound(first_.begin(), first_.end(), number);
  const Shape& shape = shapes_[static_cast<std::size_t>(after - first_.begin() - 1)];
  return {&shape, static_cast<std::size_t>((number - *(after - 1)) % std::ssize(shape.states))};
}

const PassChoice& Space::passes_of(std::int64_t number) const {
  const Shape& shape = *place(number).shape;
  const std::int64_t within = number - first_[static_cast<std::size_t>(&shape - shapes_.data())];
  const auto choice = within / std::ssize(shape.states) % std::ssize(passes(shape));
  return passes(shape)[static_cast<std::size_t>(choice)];
}

ParallelismSpec Space::layout(std::int64_t number) const {
  const Shape& shape = *place(number).shape;
  return layout(shape, number - first_[static_cast<std::size_t>(&shape - shapes_.data())]);
}

ParallelismSpec Space::layout(const Shape& shape, std::int64_t number) const {
  const auto states = std::ssize(shape.states), choices = std::ssize(passes(shape));
  const auto at = [](const auto& list, std::int64_t place) {
    return list[static_cast<std::size_t>(place)];
  };
  return layout(shape, at(cuts(shape), number / states / choices),
                at(passes(shape), number / states % choices), at(shape.states, number % states));
}

ParallelismSpec Space::layout(const Shape& shape,
                              const Cut& cut,
                              const PassChoice& pass,
                              const StateChoice& state) const {
  ParallelismSpec p = shape.layout;
  p.micro_batch = cut.micro_batch;
  p.sequence = cut.sequence;
  pass.apply(p);
  state.apply(p);
  if (workload::offloads_activations(p.offload) &&
      workload::offloads_activations(scenario_.parallelism.offload)) {
    p.offload_layers = scenario_.parallelism.offload_layers;
  }
  return p;
}

}  // namespace headway::plan
