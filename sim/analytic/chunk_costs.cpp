#include "sim/analytic/chunk_costs.h"

#include <algorithm>
#include <utility>

#include "sim/analytic/offload.h"

namespace headway::analytic {

using workload::Pass;
using workload::PassTimes;

namespace {

double& time_of(ChunkCosts& costs, Pass pass) {
  return costs.passes[static_cast<std::size_t>(pass)];
}

double sum(const std::vector<double>& table, int first, int layers) {
  return table[static_cast<std::size_t>(first + layers)] - table[static_cast<std::size_t>(first)];
}

/// A teacher's forward by itself.
double teacher_time(const ChunkClass& chunk, int first, const RankCosts& rank) {
  return sum(rank.teacher, first, chunk.teacher_layers) +
         (chunk.embedding ? rank.teacher_embedding : 0) + (chunk.head ? rank.teacher_head : 0);
}

/// An encoder by itself, where the chunk has it.
double encoder_time(const ChunkClass& chunk, const RankCosts& rank, bool forward) {
  return !chunk.encoder ? 0 : (forward ? rank.encoder_forward : rank.encoder_backward).back();
}

/// A chunk's layers by themselves.
double layers_time(const ChunkClass& chunk,
                   int first,
                   const RankCosts& rank,
                   const workload::CopySteps& copies,
                   bool forward) {
  double now = 0;
  CopyLine(rank, copies, first, forward).run(0, chunk.layers, now);
  return now;
}

/// @param taught  the first layer of a teacher
void compute(const PassPart& part,
             int taught,
             const RankCosts& rank,
             bool forward,
             CopyLine& copies,
             double& now) {
  if (part.layers > 0 && !part.teacher && !part.encoder) {
    copies.run(part.first_layer, part.layers, now);
  } else if (part.teacher) {
    now += part.embedding ? rank.teacher_embedding
           : part.head    ? rank.teacher_head
                          : sum(rank.teacher, taught + part.first_layer, part.layers);
  } else if (part.encoder) {
    now +=
        sum(forward ? rank.encoder_forward : rank.encoder_backward, part.first_layer, part.layers);
  } else if (part.embedding) {
    now += forward ? rank.embedding_forward : rank.embedding_backward;
  } else if (part.head) {
    now += forward ? rank.head_forward : rank.head_backward;
  }
}

void run_parts(const ChunkClass& chunk,
               const FirstLayers& first,
               bool forward,
               const RankCosts& rank,
               const DataCosts& data,
               ChunkScratch& scratch) {
  Timeline& line = scratch.line;
  // Where the halves of backward run apart, reductions follow the second, which passes nothing
  // on.
  const bool halves = !forward && rank.weight_gradient.back() > 0;
  const auto& parts = forward ? chunk.forward : chunk.backward;
  CopyLine copies(rank, scratch.copies, first.own, forward);
  for (const PassPart& part : parts) {
    if (part.block < 0) {
      compute(part, first.teacher, rank, forward, copies, line.now);
    } else if (!halves || !part.reduces) {
      line.run(data.steps_of(part.block));
    }
  }
  if (!halves) {
    return;
  }
  for (const PassPart& part : parts) {
    if (part.encoder) {
      continue;  // whole in the first half
    }
    if (part.block < 0) {
      line.now += sum(rank.weight_gradient, first.own + part.first_layer, part.layers);
    } else if (part.reduces) {
      line.run(data.steps_of(part.block));
    }
  }
}

/// Runs the passes that have traffic beside them on a timeline.
void add_traffic(const ChunkClass& chunk,
                 const FirstLayers& first,
                 const RankCosts& rank,
                 const DataCosts& data,
                 std::pair<double, double> before,
                 ChunkScratch& scratch,
                 ChunkCosts& costs) {
  Timeline& line = scratch.line;
  line.reset();
  line.make_room(data.tickets);
  for (const int block : chunk.prologue) {
    line.run(data.steps_of(block));
  }
  line.await_all();
  costs.ready = line.now;
  const auto pass = [&](bool forward) {
    const double begin = line.now;
    line.now += forward ? before.first : before.second;
    run_parts(chunk, first, forward, rank, data, scratch);
    return line.now - begin;
  };
  PassTimes& times = costs.passes;
  double& forward = times[static_cast<std::size_t>(Pass::forward)];
  double& backward = times[static_cast<std::size_t>(Pass::backward)];
  double& weights = times[static_cast<std::size_t>(Pass::weight_gradient)];
  times[static_cast<std::size_t>(Pass::first_forward)] = pass(true);
  line.reset();
  line.make_room(data.tickets);
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

}  // namespace

ChunkCosts chunk_costs(const ChunkClass& chunk,
                       const FirstLayers& first,
                       const RankCosts& rank,
                       const DataCosts& data,
                       ChunkScratch& scratch) {
  const int most = std::max(0, chunk.layers - 1);  // backward needs the last at once
  scratch.copies.set({chunk.layers, std::min(rank.most_offloaded, most)});
  const bool in_front = chunk.encoder && !chunk.embedding;  // an encoder's own stage
  const double before_forward = in_front ? 0 : chunk.embedding ? rank.receive_images : rank.receive;
  const double before_backward = chunk.head ? 0 : in_front ? rank.receive_images : rank.receive;
  const double forward =
      before_forward + teacher_time(chunk, first.teacher, rank) + encoder_time(chunk, rank, true) +
      layers_time(chunk, first.own, rank, scratch.copies, true) +
      (chunk.embedding ? rank.embedding_forward : 0) + (chunk.head ? rank.head_forward : 0);
  const double backward =
      before_backward + layers_time(chunk, first.own, rank, scratch.copies, false) +
      encoder_time(chunk, rank, false) + (chunk.embedding ? rank.embedding_backward : 0) +
      (chunk.head ? rank.head_backward : 0);
  const double weights = sum(rank.weight_gradient, first.own, chunk.layers);
  ChunkCosts costs{{forward, backward, weights, forward, backward, 0, 0}, 0, 0};
  if (chunk.has_traffic) {
    add_traffic(chunk, first, rank, data, {before_forward, before_backward}, scratch, costs);
  }
  time_of(costs, Pass::whole_backward) =
      time_of(costs, Pass::backward) + time_of(costs, Pass::weight_gradient);
  return costs;
}

}  // namespace headway::analytic
