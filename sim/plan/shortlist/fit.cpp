#include "sim/plan/shortlist/fit.h"

#include <algorithm>

#include "sim/training/step/step.h"
#include "sim/workload/layout.h"

namespace headway::plan {

namespace {

/// So many of the layers of every chunk, or all that it has.
std::vector<int> of_each_chunk(std::vector<int> chunks, int layers) {
  for (int& chunk : chunks) {
    chunk = std::min(chunk, layers);
  }
  return chunks;
}

}  // namespace

std::optional<Lack> lack(const Fullest& f, double headroom) {
  const core::Bytes room = f.gpu * (1 - training::kMemoryHeadroom);
  const core::Bytes asked = f.gpu * (1 - headroom);
  if (f.peak > room) {
    return Lack{Memory::gpu, f.peak, room, f.kind};
  }
  if (f.host > f.host_of_rank) {
    return Lack{Memory::host, f.host, f.host_of_rank, f.kind};
  }
  return f.peak > asked ? std::optional(Lack{Memory::headroom, f.peak, asked, f.kind})
                        : std::nullopt;
}

Fit::Fit(const training::Scenario& scenario, const Shape& shape, double headroom)
    : scenario_(scenario),
      shape_(shape),
      headroom_(headroom),
      data_(scenario.training.local_steps && scenario.cluster.sites
                ? shape.data / scenario.cluster.sites->count
                : shape.data),
      states_(shape.states.size()) {}

void Fit::set_micro_batches(int micro_batches) {
  const auto& p = shape_.layout;
  const auto schedule = workload::effective_schedule(p);
  const int enough = workload::peak_micro_batches(schedule, p.pipeline, micro_batches);
  if (enough != micro_batches_) {
    schedule_ = workload::pipeline_schedule(schedule, p.pipeline, p.virtual_stages, enough);
    micro_batches_ = enough;
  }
}

void Fit::set_passes(const ParallelismSpec& layout) {
  recomputing_.clear();
  activations_ =
      workload::stage_activations(scenario_.model, scenario_.training, layout, schedule_);
}

const std::vector<workload::StageStates>& Fit::states(const ParallelismSpec& layout,
                                                      std::size_t state) {
  auto& known = states_[state];
  if (known.empty()) {
    known = workload::stage_states(scenario_.model, scenario_.training, layout, data_);
  }
  return known;
}

bool Fit::recomputes_alike() const {
  return scenario_.training.framework.recomputes.layers == workload::RecomputeLayers::alike;
}

ParallelismSpec Fit::with_recomputed(ParallelismSpec layout, std::vector<int> layers) const {
  layout.chunk_layers = workload::layers_of_chunks(scenario_.model, layout);
  layout.first_stage_layers = 0;
  layout.last_stage_layers = 0;
  if (layout.recompute == workload::Recompute::none) {
    layout.recompute = workload::Recompute::full;
  }
  layout.chunk_recompute = recomputes_alike()
                               ? of_each_chunk(layout.chunk_layers, layers.front())
                               : workload::first_of_stages(layout, std::move(layers));
  return layout;
}

/// Activations where so many layers of each stage recompute, or all that it has.
const Fit::Stages& Fit::recomputing(const ParallelismSpec& layout, int layers) {
  const auto [place, fresh] = recomputing_.try_emplace(layers);
  if (fresh) {
    const std::vector<int> each(static_cast<std::size_t>(layout.pipeline), layers);
    place->second = workload::stage_activations(scenario_.model, scenario_.training,
                                                with_recomputed(layout, each), schedule_);
  }
  return place->second;
}

core::Bytes Fit::peak(const ParallelismSpec& layout,
                      const workload::StageActivations& activations,
                      const workload::StageStates& states) const {
  return training::rank_memory(scenario_.training.framework, layout, data_,
                               workload::at_peak(activations, states))
      .total();
}

/// By halving: a stage's memory falls with every layer that recomputes.
std::optional<int> Fit::fewest(const ParallelismSpec& layout,
                               std::size_t state,
                               std::size_t stage,
                               int most) {
  const double free = std::max(training::kMemoryHeadroom, headroom_);
  const core::Bytes room = rooms(layout)[stage].gpu * (1 - free);
  const auto fits = [&](int layers) {
    return peak(layout, recomputing(layout, layers)[stage], states(layout, state)[stage]) <= room;
  };
  if (!fits(most)) {
    return std::nullopt;
  }
  int least = 0;
  while (least < most) {
    const int middle = (least + most) / 2;
    if (fits(middle)) {
      most = middle;
    } else {
      least = middle + 1;
    }
  }
  return most;
}

/// By halving too: of every chunk as many, until the fullest stage fits.
std::optional<ParallelismSpec> Fit::fewest_alike(const ParallelismSpec& layout, std::size_t state) {
  if (layout.recompute == workload::Recompute::selective) {
    return std::nullopt;
  }
  const double free = std::max(training::kMemoryHeadroom, headroom_);
  const auto fits = [&](int layers) {
    const auto& activations = recomputing(layout, layers);
    for (std::size_t stage = 0; stage < activations.size(); ++stage) {
      const core::Bytes room = rooms(layout)[stage].gpu * (1 - free);
      if (peak(layout, activations[stage], states(layout, state)[stage]) > room) {
        return false;
      }
    }
    return true;
  };
  const auto chunks = workload::layers_of_chunks(scenario_.model, layout);
  int least = 0, most = *std::max_element(chunks.begin(), chunks.end());
  if (!fits(most)) {
    return std::nullopt;
  }
  while (least < most) {
    const int middle = (least + most) / 2;
    (fits(middle) ? most : least) = fits(middle) ? middle : middle + 1;
  }
  return with_recomputed(layout, std::vector<int>(static_cast<std::size_t>(layout.pipeline), most));
}

std::optional<ParallelismSpec> Fit::fewest_recomputed(const ParallelismSpec& layout,
                                                      std::size_t state) {
  if (workload::copies_of_layers(layout) > 1 ||
      !scenario_.training.framework.recomputes.has_fewest()) {
    return std::nullopt;
  }
  if (recomputes_alike()) {
    return fewest_alike(layout, state);
  }
  std::vector<int> layers;
  const workload::StageLayout stages(scenario_.model, layout);
  for (std::size_t stage = 0; stage < states(layout, state).size(); ++stage) {
    const auto least = fewest(layout, state, stage, stages.layers(static_cast<int>(stage)));
    if (!least) {
      return std::nullopt;
    }
    layers.push_back(*least);
  }
  return with_recomputed(layout, std::move(layers));
}

/// Which stages are on which nodes depends on the order of the ranks alone.
const std::vector<training::StageRoom>& Fit::rooms(const ParallelismSpec& layout) {
  auto& known = rooms_[layout.rank_order == workload::RankOrder::pipeline_first ? 1 : 0];
  if (known.empty()) {
    known = training::room_of_stages(scenario_.cluster, layout, shape_.data);
  }
  return known;
}

std::optional<Lack> Fit::lack(const ParallelismSpec& layout, std::size_t state) {
  const auto& held = states(layout, state);
  const auto& has = rooms(layout);
  const double gpus = scenario_.cluster.node.gpus;
  Fullest f{{}, has.front().gpu, {}, has.front().host / gpus, has.front().kind};
  for (std::size_t stage = 0; stage < held.size(); ++stage) {
    const core::Bytes peak = this->peak(layout, activations_[stage], held[stage]);
    if (peak / has[stage].gpu > f.peak / f.gpu) {
      f.peak = peak;
      f.gpu = has[stage].gpu;
      f.kind = has[stage].kind;
    }
    const core::Bytes offloaded = activations_[stage].host + held[stage].host;
    if (offloaded / (has[stage].host / gpus) > f.host / f.host_of_rank) {
      f.host = offloaded;
      f.host_of_rank = has[stage].host / gpus;
    }
  }
  return plan::lack(f, headroom_);
}

}  // namespace headway::plan
