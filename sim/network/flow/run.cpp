#include "sim/network/flow/compiled.h"
#include "sim/network/flow/engine.h"
#include "sim/network/flow/fold.h"
#include "sim/network/flow/unfold.h"
#include "sim/network/problem.h"

namespace headway::network {

RunResult run(const Problem& problem, const RunOptions& options) {
  if (options.fold) {
    check_problem(problem, compile_programs(problem));
    if (!problem.link_changes.empty() && !options.trace) {
      return run_unfolding(problem, options);
    }
    const Folding folding = fold(problem);
    if (folding.folded) {
      return unfold_result(folding, Engine(folding.problem, options).run());
    }
  }
  return Engine(problem, options).run();
}

}  // namespace headway::network
