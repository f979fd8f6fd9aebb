#include <utility>

#include "sim/network/flow/compiled.h"
#include "sim/network/flow/engine.h"
#include "sim/network/flow/problem.h"
#include "sim/network/fold/fold.h"
#include "sim/network/fold/unfold.h"

namespace headway::network {

std::function<void(double share)> in_parts(
    std::function<void(std::size_t done, std::size_t total)> count) {
  if (!count) {
    return {};
  }
  return [count = std::move(count)](double share) {
    constexpr std::size_t kParts = 1000;
    count(static_cast<std::size_t>(share * static_cast<double>(kParts)), kParts);
  };
}

RunResult run(const Problem& problem, const RunOptions& options) {
  if (options.fold) {
    CompiledPrograms programs = compile_programs(problem);
    check_problem(problem, programs);
    const bool recorded = options.trace || options.transfers || options.rates || options.paths;
    if (!problem.link_changes.empty() && !recorded) {
      return run_unfolding(problem, options);
    }
    const Folding folding = fold(problem, programs);
    if (folding.folded) {
      return unfold_result(folding, Engine(folding.problem, options, std::move(programs)).run());
    }
    return Engine(problem, options, std::move(programs)).run();
  }
  return Engine(problem, options).run();
}

}  // namespace headway::network
