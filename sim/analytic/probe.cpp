#include "sim/analytic/probe.h"

#include <algorithm>

#include "sim/workload/blocks/build.h"

namespace headway::analytic {

namespace {

using workload::Block;
using workload::Call;
using workload::Operation;
using workload::OperationKind;

template <class Is>
bool any_operation(const Block& block, Is is) {
  return std::any_of(block.operations.begin(), block.operations.end(), is);
}

bool is_message(const Block& block) {
  return any_operation(block, [](const Operation& o) { return o.peer_stage >= 0; });
}

bool is_traffic(const Block& block) {
  return any_operation(block, [](const Operation& o) {
    return o.ticket >= 0 || !o.await.empty() ||
           (o.kind == OperationKind::collective && o.activity == core::Activity::data);
  });
}

BlockRole role_of(const Block& block) {
  return is_traffic(block)   ? BlockRole::traffic
         : is_message(block) ? BlockRole::message
                             : BlockRole::compute;
}

}  // namespace

bool Probe::launches_reduction(const Call& call) const {
  return any_operation(block(call), [](const Operation& o) {
    return o.kind == OperationKind::collective && o.activity == core::Activity::data &&
           o.collective != core::CollectiveKind::all_gather;
  });
}

double Probe::seconds(const Call& call) const {
  Timeline line;
  line.run(blocks[static_cast<std::size_t>(call.block)]);
  return line.now;
}

std::vector<Call> Probe::calls(int stage, workload::CallKind kind, int micro_batch) const {
  const auto& all = stage_calls(stage);
  const auto wanted = [&](const Call& call) { return of_pass(call, kind, micro_batch); };
  std::vector<Call> found(static_cast<std::size_t>(std::count_if(all.begin(), all.end(), wanted)));
  std::copy_if(all.begin(), all.end(), found.begin(), wanted);
  return found;
}

std::vector<Call> Probe::compute_calls(int stage, workload::CallKind kind, int micro_batch) const {
  auto found = calls(stage, kind, micro_batch);
  std::erase_if(found, [&](const Call& call) {
    return role(call) != BlockRole::compute || block(call).teacher || block(call).encoder;
  });
  return found;
}

std::vector<Call> Probe::encoder_calls(int stage, workload::CallKind kind, int micro_batch) const {
  auto found = calls(stage, kind, micro_batch);
  std::erase_if(found, [&](const Call& call) { return !block(call).encoder; });
  return found;
}

std::vector<Call> Probe::teacher_calls(int stage, int micro_batch) const {
  auto found = calls(stage, workload::CallKind::forward, micro_batch);
  std::erase_if(found, [&](const Call& call) { return !block(call).teacher; });
  return found;
}

Probe make_probe(const workload::ModelSpec& model,
                 const workload::TrainingSpec& training,
                 const workload::ParallelismSpec& probe,
                 const workload::ParallelismSpec& groups,
                 int data_parallel,
                 int micro_batches,
                 BlockTimer& timer,
                 ProbedBlocks wanted) {
  const bool traffic = wanted == ProbedBlocks::traffic;
  Probe made;
  made.graph = workload::build_step_graph(
      model, training, probe, data_parallel, micro_batches,
      timer.expert_domains(groups, data_parallel),
      traffic ? workload::GraphDetail::traffic : workload::GraphDetail::passes);
  for (const Block& block : made.graph.blocks) {
    made.roles.push_back(role_of(block));
  }
  const auto computes = [](const Block& block) { return !is_traffic(block); };
  made.blocks =
      timer.time_blocks(made.graph.blocks, groups, data_parallel, traffic ? is_traffic : +computes);
  return made;
}

int repeats(const std::vector<Call>& calls) {
  int sum = 0;
  for (const Call& call : calls) {
    sum += call.repeat;
  }
  return sum;
}

double seconds_between(const Probe& probe, const std::vector<Call>& calls, int begin, int end) {
  double sum = 0;
  int at = 0;
  for (const Call& call : calls) {
    const int runs = std::max(0, std::min(end, at + call.repeat) - std::max(begin, at));
    sum += runs > 0 ? runs * probe.seconds(call) : 0.0;
    at += call.repeat;
  }
  return sum;
}

void append_layers(const Probe& probe,
                   const std::vector<Call>& calls,
                   int begin,
                   int end,
                   int layers,
                   std::vector<double>& table) {
  int at = 0;
  for (const Call& call : calls) {
    const double each = probe.seconds(call);
    const int runs = std::max(0, std::min(end, at + call.repeat) - std::max(begin, at));
    for (int i = 0; i < runs * layers; ++i) {
      table.push_back(table.back() + each);
    }
    at += call.repeat;
  }
}

bool layers_alike(const workload::ModelSpec& model) {
  return !model.moe && model.window == 0 && model.layer_pattern.empty() &&
         model.multi_token_prediction == 0 && !(model.frozen && model.frozen->layers > 0) &&
         !model.sixteen_bit_layers && !(model.sparse && model.sparse->period > 1);
}

}  // namespace headway::analytic
