#include "sim/training/unused.h"

#include <fmt/format.h>

#include "sim/gpu/closed_form.h"

namespace headway::training {

namespace {

void add_storage(const storage::StorageSpec& s, std::vector<std::string>& list) {
  if (s.servers && s.path == storage::StoragePath::dual) {
    list.emplace_back(
        "cluster.storage.servers counts only on the compute fabric; write 'path: shared' or leave "
        "it out");
  }
}

void add_context(const workload::ParallelismSpec& p, std::vector<std::string>& list) {
  if (p.context == 1 && p.context_kind != workload::ParallelismSpec{}.context_kind) {
    list.push_back(
        fmt::format("parallelism.context_kind: {} does nothing with context 1; choose a context "
                    "degree or leave it out",
                    core::to_word(p.context_kind)));
  }
}

/// Above the limit at which shares of the peak were measured they are extrapolated, and nothing
/// says that the board can draw so much.
void add_power(const Scenario& s, std::vector<std::string>& list) {
  const auto& gpu = s.cluster.node.gpu;
  const auto shares = s.calibration.kernels.value_or(gpu.sustained);
  if (shares.power > gpu.idle_power && gpu.power > shares.power) {
    list.push_back(fmt::format(
        "cluster.node.gpu.power of {:g} W is above the {:g} W at which the shares of the {}'s "
        "peaks hold (sustained.power): products and attention are taken to be {:.3g} times as "
        "fast, which no measurement covers",
        gpu.power.si(), shares.power.si(), gpu.name, gpu::power_share(gpu, shares)));
  }
}

}  // namespace

std::vector<std::string> unused_fields(const CheckedScenario& checked) {
  const Scenario& s = checked.scenario();
  std::vector<std::string> list;
  add_storage(s.cluster.storage, list);
  add_context(s.parallelism, list);
  add_power(s, list);
  return list;
}

}  // namespace headway::training
