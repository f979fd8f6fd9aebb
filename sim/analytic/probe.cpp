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
  std::erase_if(found, [&](const Call& call) { return role(call) != BlockRole::compute; });
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
      traffic ? workload::GraphDetail::traffic : workload::GraphDetail::whole);
  for (const Block& block : made.graph.blocks) {
    made.roles.push_back(role_of(block));
  }
  const auto computes = [](const Block& block) { return !is_traffic(block); };
  made.blocks =
      timer.time_blocks(made.graph.blocks, groups, data_parallel, traffic ? is_traffic : +computes);
  return made;
}

}  // namespace headway::analytic
