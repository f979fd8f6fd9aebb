#include "sim/analytic/costs.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>
#include <utility>

#include "sim/analytic/encoder_costs.h"
#include "sim/analytic/few_stages.h"
#include "sim/analytic/probe.h"
#include "sim/analytic/teacher_costs.h"
#include "sim/core/error.h"
#include "sim/workload/blocks/build.h"
#include "sim/workload/blocks/data_parallel_blocks.h"
#include "sim/workload/blocks/layer_kind.h"
#include "sim/workload/layout.h"
#include "sim/workload/memory/activation_memory.h"
#include "sim/workload/memory/rank_parameters.h"
#include "sim/workload/schedule/end_blocks.h"

namespace headway::analytic {

using training::Scenario;

namespace {

using workload::Block;
using workload::Call;
using workload::CallKind;
using workload::OperationKind;
using workload::ParallelismSpec;
using workload::ScheduleKind;

std::vector<Call> reversed(std::vector<Call> calls) {
  std::reverse(calls.begin(), calls.end());
  return calls;
}

/// @param ahead  stages in front of the language model's
void read_message(const Probe& probe, int stage, int ahead, RankCosts& costs) {
  constexpr int kMiddle = 1;
  for (const Call& call : probe.stage_calls(stage)) {
    if (!of_pass(call, CallKind::forward, kMiddle) || probe.role(call) != BlockRole::message) {
      continue;
    }
    const Block& block = probe.block(call);
    for (std::size_t i = 0; i < block.operations.size(); ++i) {
      const auto& o = block.operations[i];
      if (o.kind == OperationKind::send) {
        (stage < ahead ? costs.images_message : costs.message) = o.bytes;
        costs.send_blocks = block.operations.size() > i + 1;  // something waits for it
      }
      if (o.kind == OperationKind::receive) {
        (stage <= ahead ? costs.receive_images : costs.receive) = probe.seconds(call);
      }
    }
  }
}

/// Which part of a pass a compute call is, told by how many runs of the pass are left.
/// @param teacher  of the same ranks; empty without one
std::vector<PassPart> parts_of(const Probe& probe,
                               const std::vector<Call>& calls,
                               const workload::ChunkLayout& chunk,
                               const workload::ChunkLayout& teacher,
                               bool forward) {
  int all = 0;
  for (const Call& call : calls) {
    const auto& block = probe.block(call);
    const bool own = probe.role(call) == BlockRole::compute && !block.teacher && !block.encoder;
    all += own ? call.repeat : 0;
  }
  const int heads = all - chunk.layers - (chunk.embedding ? 1 : 0);
  HEADWAY_CHECK(heads >= 0, "a pass of {} runs through a chunk of {} layers", all, chunk.layers);
  std::vector<PassPart> parts;
  parts.reserve(calls.size());
  int at = forward ? 0 : all;  // backward counts down, so that runs have the forward's numbers
  int taught = 0;
  int seen = 0;
  for (const Call& call : calls) {
    PassPart part;
    if (probe.role(call) == BlockRole::traffic) {
      part.block = call.block;
      part.reduces = probe.launches_reduction(call);
    } else if (probe.role(call) == BlockRole::message) {
      continue;
    } else if (probe.block(call).teacher) {
      part = teacher_part(chunk, teacher, taught, call.repeat);
      taught += call.repeat;
    } else if (probe.block(call).encoder) {
      part = encoder_part(seen, call.repeat);
      seen += call.repeat;
    } else {
      const int begin = forward ? at : at - call.repeat;
      const int first_layer = chunk.embedding ? 1 : 0;
      part.embedding = chunk.embedding && begin == 0;
      part.head = begin >= first_layer + chunk.layers;
      if (!part.embedding && !part.head) {
        part.first_layer = begin - first_layer;
        part.layers = call.repeat;
      }
      at += forward ? call.repeat : -call.repeat;
      if (part.head && !parts.empty() && parts.back().head) {
        continue;  // several blocks make one head
      }
    }
    parts.push_back(part);
  }
  return parts;
}

/// Whether a pass has traffic beside it.
bool has_traffic(const Probe& probe, int stage, CallKind kind, int micro_batch) {
  const auto& calls = probe.stage_calls(stage);
  return std::any_of(calls.begin(), calls.end(), [&](const Call& call) {
    return of_pass(call, kind, micro_batch) && probe.role(call) == BlockRole::traffic;
  });
}

/// What the reductions of a backward take: over the NICs one after another, inside the NVLink
/// domain each group for itself.
double reduction_time(const Probe& probe, const std::vector<PassPart>& parts) {
  double network = 0;
  std::vector<double> inside;  // by place in the block: each group has its own
  for (const PassPart& part : parts) {
    if (!part.reduces) {
      continue;
    }
    const auto& operations = probe.blocks[static_cast<std::size_t>(part.block)].operations;
    inside.resize(std::max(inside.size(), operations.size()), 0);
    for (std::size_t i = 0; i < operations.size(); ++i) {
      const bool reduction = operations[i].ticket == workload::kGradientTicket;
      (operations[i].shares_network ? network : inside[i]) +=
          reduction ? operations[i].seconds : 0.0;
    }
  }
  return std::accumulate(inside.begin(), inside.end(), network,
                         [](double a, double b) { return std::max(a, b); });
}

/// Whether the blocks of a pass that reduce, or those that gather, send over the NICs.
bool uses_network(const Probe& probe, const std::vector<PassPart>& parts, bool reduces) {
  return std::any_of(parts.begin(), parts.end(), [&](const PassPart& part) {
    if (part.block < 0 || part.reduces != reduces) {
      return false;
    }
    const auto& operations = probe.blocks[static_cast<std::size_t>(part.block)].operations;
    return std::any_of(operations.begin(), operations.end(),
                       [](const TimedOperation& o) { return o.shares_network; });
  });
}

ChunkClass read_chunk(const Probe& probe,
                      const workload::ChunkLayout& chunk,
                      const workload::ChunkLayout& teacher,
                      int position) {
  constexpr int kFirst = 0, kLast = 1;  // of two micro-batches
  ChunkClass made;
  made.layers = chunk.layers;
  made.teacher_layers = teacher.layers;
  made.embedding = chunk.embedding;
  made.head = chunk.head;
  made.encoder = chunk.encoder;
  for (const Call& call : probe.stage_calls(position)) {
    if (of_pass(call, CallKind::prologue, -1)) {
      made.prologue.push_back(call.block);
    }
  }
  const auto traffic = [&](CallKind kind, int micro_batch) {
    return has_traffic(probe, position, kind, micro_batch);
  };
  made.forward =
      parts_of(probe, probe.calls(position, CallKind::forward, kFirst), chunk, teacher, true);
  made.backward =
      parts_of(probe, probe.calls(position, CallKind::backward, kLast), chunk, teacher, false);
  made.forward_always = traffic(CallKind::forward, kLast);
  made.backward_always = traffic(CallKind::backward, kFirst);
  if (made.backward_always) {
    made.reduction = reduction_time(probe, made.backward);
  }
  made.gathers_wait =
      made.forward_always && uses_network(probe, made.backward, true) &&
      (uses_network(probe, made.forward, false) || uses_network(probe, made.backward, false));
  made.has_traffic = traffic(CallKind::forward, kFirst) || traffic(CallKind::backward, kLast);
  return made;
}

/// What a chunk runs, by block: chunks that run the same are of one class.
std::vector<int> signature(const Probe& probe, int position) {
  constexpr std::size_t kNumbers = 4;  // of a call
  const auto& calls = probe.stage_calls(position);
  std::vector<int> runs;
  runs.reserve(kNumbers * calls.size());
  for (const Call& call : calls) {
    if (probe.role(call) != BlockRole::message && call.kind != CallKind::epilogue) {
      runs.insert(runs.end(),
                  {call.block, call.repeat, static_cast<int>(call.kind), call.micro_batch});
    }
  }
  return runs;
}

/// Chunks in the order of the model; of two directions those of the first.
std::vector<workload::ChunkLayout> in_order(const workload::StageLayout& layout, int copies) {
  std::vector<workload::ChunkLayout> chunks;
  chunks.reserve(static_cast<std::size_t>(layout.stages() * layout.chunks() / copies));
  for (int stage = 0; stage < layout.stages(); ++stage) {
    for (int chunk = 0; chunk < layout.chunks() / copies; ++chunk) {
      chunks.push_back(layout.at(stage, chunk));
    }
  }
  const auto place = [](const workload::ChunkLayout& c) {
    // A chunk without layers comes before the one that begins with the same layer, that of the head
    // last; an encoder's own before all.
    return 4 * c.first_layer + (c.layers > 0 ? 1 : 0) + (c.layers == 0 && c.embedding ? -2 : 0) +
           (c.layers == 0 && c.head ? 2 : 0) - (c.encoder && !c.embedding ? 4 : 0);
  };
  std::sort(chunks.begin(), chunks.end(),
            [&](const auto& a, const auto& b) { return place(a) < place(b); });
  return chunks;
}

void read_classes(const Probe& probe,
                  const FewStages& few,
                  const std::vector<workload::ChunkLayout>& chunks,
                  const std::vector<workload::ChunkLayout>& teachers,
                  const workload::StageLayout& stages,
                  DataCosts& costs) {
  std::map<std::vector<int>, int> known;
  std::vector<int> class_of_stage(probe.graph.stages.size(), -1);
  const bool both = chunks.size() < static_cast<std::size_t>(stages.stages() * stages.chunks());
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    const workload::ChunkLayout& chunk = chunks[i];
    const auto teacher = teachers.empty() ? workload::ChunkLayout{} : teachers[i];
    const int stage = few.stage_of[i];
    int& found = class_of_stage[static_cast<std::size_t>(stage)];
    if (found < 0) {
      const auto [place, fresh] =
          known.try_emplace(signature(probe, stage), static_cast<int>(costs.classes.size()));
      if (fresh) {
        costs.classes.push_back(read_chunk(probe, chunk, teacher, stage));
      }
      found = place->second;
    }
    const auto position = [&](int of_stage, int of_chunk) {
      return of_stage * stages.chunks() + of_chunk;
    };
    const int mirrored = both ? position(stages.stages() - 1 - chunk.stage, 1) : -1;
    costs.chunks.push_back({position(chunk.stage, chunk.chunk),
                            mirrored,
                            found,
                            {chunk.first_layer, teacher.first_layer}});
  }
}

std::vector<int> sizes_of(const std::vector<workload::ChunkLayout>& chunks) {
  std::vector<int> sizes;
  sizes.reserve(chunks.size());
  for (const auto& chunk : chunks) {
    sizes.push_back(chunk.layers);
  }
  return sizes;
}

/// Operations first .. end of a block by themselves [s].
double seconds_of(const TimedBlock& block, std::ptrdiff_t first, std::ptrdiff_t end) {
  Timeline line;
  line.run(block, static_cast<std::size_t>(first), static_cast<std::size_t>(end));
  return line.now;
}

StepEnd read_end(const TimedBlock& block) {
  const auto& operations = block.operations;
  const auto place = [&](auto is) {
    return std::find_if(operations.begin(), operations.end(), is) - operations.begin();
  };
  const auto awaits = place([](const TimedOperation& o) { return !o.await.empty(); });
  const auto world = place([](const TimedOperation& o) { return o.world; });
  const auto wait = std::min(awaits, world);
  return {seconds_of(block, 0, wait), seconds_of(block, wait, world),
          seconds_of(block, world, std::ssize(operations))};
}

}  // namespace

ParallelismSpec rank_key(const workload::FrameworkSpec& framework,
                         const ParallelismSpec& layout,
                         bool splits) {
  ParallelismSpec key = layout;
  key.pipeline = 2;
  key.virtual_stages = 1;
  key.first_stage_layers = 1;
  key.last_stage_layers = 0;
  key.chunk_layers.clear();
  key.chunk_recompute.clear();
  key.data = {};
  key.sequence = key.sequence && key.tensor > 1;
  // Of sharding a pass notices only whether its weight gradients are added to or written.
  const bool sharded = workload::reduces_every_micro_batch(framework, layout);
  key.sharding = sharded ? workload::Sharding::zero2 : workload::Sharding::zero0;
  key.shard_group_size = 0;
  key.reshard = true;
  // Tensor and context ranks are innermost; how those of experts lie is looked up beside the key.
  key.rank_order = workload::RankOrder::data_first;
  if (key.context == 1) {
    key.context_kind = workload::ContextKind::ring;
  }
  const bool copies = workload::offloads_activations(layout.offload);
  key.offload = copies ? workload::Offload::activations : workload::Offload::none;
  key.schedule = splits ? ScheduleKind::zero_bubble_h1 : ScheduleKind::one_f_one_b;
  return key;
}

ParallelismSpec data_key(const ParallelismSpec& layout) {
  ParallelismSpec key = layout;
  // Of the schedule only where the chunks are counts.
  if (key.schedule == ScheduleKind::gpipe || key.schedule == ScheduleKind::zero_bubble_h1 ||
      key.schedule == ScheduleKind::zero_bubble_h2) {
    key.schedule = ScheduleKind::one_f_one_b;
  } else if (key.schedule == ScheduleKind::dual_pipe_v) {
    key.schedule = ScheduleKind::zero_bubble_v;
  }
  key.micro_batch = 1;
  key.sequence = false;  // gradients of what it makes ranks hold whole are summed at the end
  key.recompute = workload::Recompute::none;
  key.recompute_parts.clear();
  key.recompute_layers = 1;
  key.recompute_period = 1;
  key.chunk_recompute.clear();
  key.data = {};
  if (key.context == 1) {
    key.context_kind = workload::ContextKind::ring;
  }
  key.offload = workload::Offload::none;
  key.offload_layers = {};
  return key;
}

ParallelismSpec end_key(const ParallelismSpec& layout) {
  ParallelismSpec key = data_key(layout);
  key.sequence = layout.sequence && layout.tensor > 1;
  key.offload = workload::offloads_optimizer(layout.offload) ? workload::Offload::optimizer
                                                             : workload::Offload::none;
  key.reshard = true;
  key.virtual_stages = 1;
  if (workload::copies_of_layers(layout) == 1) {
    key.schedule = ScheduleKind::one_f_one_b;
  }
  return key;
}

namespace {

/// The layout that passes are probed in: two stages with layers, or one of one layer.
ParallelismSpec probed_stages(const Scenario& s, const ParallelismSpec& layout, bool splits) {
  ParallelismSpec key = rank_key(s.training.framework, layout, splits);
  key.offload = workload::Offload::none;  // the pass adds the copies
  key.offload_layers = {};
  if (s.model.layers < 2) {
    key.pipeline = 1;
    key.first_stage_layers = 0;
    key.schedule = ScheduleKind::one_f_one_b;
  }
  return key;
}

}  // namespace

RankCosts rank_costs(const Scenario& s,
                     const ParallelismSpec& layout,
                     int data_parallel,
                     bool splits,
                     BlockTimer& timer) {
  constexpr int kMicroBatches = 3, kMiddle = 1;  // the middle one has nothing special about it
  ParallelismSpec key = probed_stages(s, layout, splits);
  workload::ModelSpec model = s.model;
  if (layers_alike(model) && key.recompute_period == 1) {
    model.layers = key.pipeline;  // the second layer stands for all after it
  }
  const int ahead = workload::encoder_stages(model);
  key.pipeline += ahead;
  workload::TrainingSpec training = probed_training(s, key.pipeline);
  // Passes are the same whatever the optimizer; one that owns matrices does not go with the key's
  // sharding.
  training.optimizer_state = workload::OptimizerState::adam_fp32;
  training.preconditioner.reset();
  training.muon.reset();
  const Probe probe = make_probe(model, training, key, layout, data_parallel, kMicroBatches, timer,
                                 ProbedBlocks::compute_and_messages);
  RankCosts costs;
  const int stages = key.pipeline;
  for (int stage = 0; stage < ahead; ++stage) {
    add_encoder(probe, stage, costs);
    read_message(probe, stage, ahead, costs);
  }
  for (int stage = ahead; stage < stages; ++stage) {
    const bool first = stage == ahead, last = stage + 1 == stages;
    const int layers = first && last ? model.layers : first ? 1 : model.layers - 1;
    const int each = first ? 1 : (s.model.layers - 1) / layers;
    const int before = first ? 1 : 0;  // the embedding is one block
    const auto forward = probe.compute_calls(stage, CallKind::forward, kMiddle);
    const auto backward = reversed(probe.compute_calls(stage, CallKind::backward, kMiddle));
    const auto weights = reversed(probe.compute_calls(stage, CallKind::weight_gradient, kMiddle));
    append_layers(probe, forward, before, before + layers, each, costs.forward);
    append_layers(probe, backward, before, before + layers, each, costs.backward);
    append_layers(probe, weights, 0, layers, each, costs.weight_gradient);
    if (first) {
      costs.embedding_forward = seconds_between(probe, forward, 0, before);
      costs.embedding_backward = seconds_between(probe, backward, 0, before);
    }
    if (last) {
      costs.head_forward = seconds_between(probe, forward, before + layers, repeats(forward));
      costs.head_backward = seconds_between(probe, backward, before + layers, repeats(backward));
    }
    add_teacher(s, probe, stage, stages, costs);
    add_encoder(probe, stage, costs);
    read_message(probe, stage, ahead, costs);
  }
  const auto sums = static_cast<std::size_t>(s.model.layers) + 1;
  HEADWAY_CHECK(costs.forward.size() == sums && costs.backward.size() == sums,
                "{} of {} layers found", costs.forward.size() - 1, s.model.layers);
  costs.weight_gradient.resize(sums, 0);
  return costs;
}

void add_copies(const Scenario& s,
                const ParallelismSpec& layout,
                const BlockTimer& timer,
                RankCosts& costs) {
  costs.most_offloaded = layout.offload_layers.value.value_or(s.model.layers);
  std::map<workload::LayerKind, double> known;
  for (int layer = 0; layer < s.model.layers; ++layer) {
    const workload::LayerKind kind = workload::layer_kind(s.model, layout, layer);
    const auto [place, fresh] = known.try_emplace(kind, 0.0);
    if (fresh) {
      place->second = timer.host_copy(workload::saved_per_layer(s.model, s.training, layout, kind));
    }
    costs.copy.push_back(place->second);
  }
}

void join_costs(const workload::ModelSpec& model,
                const ParallelismSpec& layout,
                const RankCosts& again,
                const RankCosts& kept,
                RankCosts& costs) {
  costs = kept;
  costs.encoder_forward = again.encoder_forward;  // recomputes as the layout says
  costs.encoder_backward = again.encoder_backward;
  std::size_t first = 0;
  for (const workload::LayerRun& run : workload::layer_runs(model, layout, 0, model.layers)) {
    const RankCosts& own = run.kind.keeps ? kept : again;
    const std::size_t end = first + static_cast<std::size_t>(run.layers);
    const auto add = [first, end](const std::vector<double>& from, std::vector<double>& to) {
      for (std::size_t l = first; l < end; ++l) {
        to[l + 1] = to[l] + (from[l + 1] - from[l]);
      }
    };
    add(own.forward, costs.forward);
    add(own.backward, costs.backward);
    add(own.weight_gradient, costs.weight_gradient);
    for (std::size_t l = first; !costs.copy.empty() && l < end; ++l) {
      costs.copy[l] = own.copy[l];
    }
    first = end;
  }
  const bool last_again = !workload::prediction_kind(model, layout).keeps;
  costs.head_forward = last_again ? again.head_forward : kept.head_forward;  // predictions of more
  costs.head_backward = last_again ? again.head_backward : kept.head_backward;
}

void DataCosts::add(const TimedBlock& block) {
  HEADWAY_CHECK(!block.inner, "a block of {} operations of traffic waits inside",
                block.operations.size());
  for (const TimedOperation& o : block.operations) {
    for (std::size_t i = 0; i + 1 < o.await.size(); ++i) {
      steps.push_back({{.kind = OperationKind::delay}, o.await[i]});
    }
    const TimedStep& step = o;  // what waits and meets is of the graph alone
    steps.push_back({step, o.await.empty() ? -1 : o.await.back()});
  }
  ends.push_back(steps.size());
  tickets = std::max(tickets, block.tickets);
}

DataCosts data_costs(const Scenario& s,
                     const ParallelismSpec& layout,
                     int data_parallel,
                     BlockTimer& timer) {
  constexpr int kMicroBatches = 2;
  const workload::StageLayout stages(s.model, layout);
  const auto chunks = in_order(stages, workload::copies_of_layers(layout));
  const auto teachers = teacher_chunks(s, layout);
  ParallelismSpec key = data_key(layout);
  key.sequence = layout.sequence;  // what a mixture has to have with a tensor group
  FewStages few =
      few_stages(s.model, s.training, sizes_of(chunks), sizes_of(teachers), std::move(key));
  // The probe has a stage for each chunk: whether stages gather once is asked of the layout itself.
  few.training.framework.gather_once = workload::gathers_once(s.training.framework, layout);
  const Probe probe = make_probe(few.model, few.training, few.layout, layout, data_parallel,
                                 kMicroBatches, timer, ProbedBlocks::traffic);
  DataCosts costs;
  read_classes(probe, few, chunks, teachers, stages, costs);
  for (const TimedBlock& block : probe.blocks) {
    costs.add(block);
  }
  tell_kinds(costs.chunks, few.layout, costs.kinds);
  return costs;
}

void tell_kinds(const std::vector<PlacedChunk>& chunks,
                const ParallelismSpec& layout,
                ChunkKinds& kinds) {
  const auto recomputed = [&](std::size_t i) {
    return layout.chunk_recompute.empty() ? chunks[i].first.own % layout.recompute_period
                                          : layout.chunk_recompute[i];
  };
  int most = 0, classes = 0;
  std::size_t positions = 0;
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    most = std::max(most, recomputed(i));
    classes = std::max(classes, chunks[i].found + 1);
    positions += chunks[i].mirrored < 0 ? 1 : 2;
  }
  std::vector<int> known(static_cast<std::size_t>(classes * (most + 1)), -1);
  kinds.kinds.clear();
  kinds.kind_of.assign(positions, 0);
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    const PlacedChunk& chunk = chunks[i];
    int& kind = known[static_cast<std::size_t>(chunk.found * (most + 1) + recomputed(i))];
    if (kind < 0) {
      kind = static_cast<int>(kinds.kinds.size());
      kinds.kinds.push_back({chunk.found, chunk.first});
    }
    kinds.kind_of[static_cast<std::size_t>(chunk.position)] = kind;
    if (chunk.mirrored >= 0) {
      kinds.kind_of[static_cast<std::size_t>(chunk.mirrored)] = kind;
    }
  }
}

StepEnds step_ends(const Scenario& s,
                   const ParallelismSpec& layout,
                   int data_parallel,
                   BlockTimer& timer) {
  const workload::StageLayout stages(s.model, layout);
  std::vector<int> sizes;
  sizes.reserve(static_cast<std::size_t>(stages.stages()));
  for (int stage = 0; stage < stages.stages(); ++stage) {
    // Of two directions a rank updates both, each with twice the ranks: as if it had one.
    const bool both = workload::copies_of_layers(layout) > 1;
    sizes.push_back(both ? stages.at(stage, 0).layers : stages.layers(stage));
  }
  const FewStages few = few_stages(s.model, s.training, sizes, {}, end_key(layout));
  const auto blocks =
      timer.time_blocks(workload::end_blocks(few.model, few.training, few.layout, data_parallel),
                        layout, data_parallel, [](const Block&) { return true; });
  StepEnds ends;
  for (const TimedBlock& block : blocks) {
    ends.ends.push_back(read_end(block));
  }
  ends.end_of = few.stage_of;
  return ends;
}

}  // namespace headway::analytic
