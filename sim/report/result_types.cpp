#include "sim/report/result_types.h"

#include <algorithm>
#include <string>

#include "sim/study/check.h"
#include "sim/study/collective.h"
#include "sim/study/compare.h"
#include "sim/study/diagnose/diagnose.h"
#include "sim/study/drill_figures.h"
#include "sim/study/estimate.h"
#include "sim/study/expect/expect.h"
#include "sim/study/packets/stress.h"
#include "sim/study/placement/placement.h"
#include "sim/study/plan.h"
#include "sim/study/points/solve.h"
#include "sim/study/points/sweep.h"
#include "sim/study/profile/compare_profile.h"
#include "sim/study/profile/profile_comparison.h"
#include "sim/study/replay/replay.h"
#include "sim/study/run_report.h"
#include "sim/study/topo.h"
#include "sim/study/validate.h"

namespace headway::report {

namespace {

template <class Result>
ResultType type(std::string_view schema, std::string_view command, std::string_view preface) {
  return {schema, command, preface, core::figures_of_type<Result>()};
}

}  // namespace

const std::vector<ResultType>& result_types() {
  static const std::vector<ResultType> types{
      type<study::RunReport>("headway.run/1", "headway run",
                             "Quantiles `p5`, `p50`, `p95` and `mean` are over the trials."),
      type<study::PlanReport>(
          "headway.plan/1", "headway plan",
          "`step`, `memory`, `campaign` and `cost` of a plan are those of `headway run` on its "
          "layout."),
      type<study::PlacementReport>("headway.placement/1", "headway plan --placement",
                                   "Which of a partly occupied fabric's free nodes to take: "
                                   "[`docs/placement.md`](placement.md)."),
      type<study::CompareReport>(
          "headway.compare/1", "headway compare",
          "Each side, and with `--layers` each mixture of both, is one prediction with the same "
          "random draws. `a` is the first file, `b` the second."),
      type<study::ProfileReport>("headway.compare-profile/1", "headway compare SCENARIO PROFILE",
                                 "A profile of torch.profiler beside the prediction: "
                                 "[`docs/profiles.md`](profiles.md)."),
      type<study::SweepReport>("headway.sweep/1", "headway sweep",
                               "One row a point; figures are those of `headway run`."),
      type<study::SolveReport>("headway.solve/1", "headway solve",
                               "Which value of a field meets a condition: "
                               "[`docs/solve.md`](solve.md)."),
      type<study::DrillReport>("headway.drill/1", "headway drill",
                               "Times count from the fault. Model: "
                               "[`docs/models/drill.md`](models/drill.md)."),
      type<study::TopoReport>("headway.topo/1", "headway topo", ""),
      type<study::StressReport>("headway.topo-stress/1", "headway topo --stress",
                                "Model: [`docs/models/packet.md`](models/packet.md)."),
      type<study::CollectiveReport>("headway.collective/1", "headway collective", ""),
      type<study::ReplayReport>("headway.replay/1", "headway replay",
                                "Execution traces on another machine: "
                                "[`docs/chakra.md`](chakra.md)."),
      type<study::RunsReport>("headway.validate/1", "headway validate --runs",
                              "One row a published measurement."),
      type<study::AnchorReport>("headway.validate-anchor/1", "headway validate --anchor", ""),
      type<study::GoodputReport>("headway.validate-goodput/1", "headway validate --goodput", ""),
      type<study::CollectivesReport>("headway.validate-collectives/1",
                                     "headway validate --collectives", ""),
      type<study::FlowModelReport>("headway.validate-flow-model/1", "headway validate --flow-model",
                                   ""),
      type<study::ProfileComparison>("headway.calibrate-compare/1", "headway calibrate compare",
                                     ""),
      type<study::ExpectReport>("headway.expect/1", "headway expect",
                                "What a sound cluster must reach: "
                                "[`docs/diagnose.md`](diagnose.md)."),
      type<study::DiagnoseReport>("headway.diagnose/1", "headway diagnose",
                                  "Why a job is slower than it should be: "
                                  "[`docs/diagnose.md`](diagnose.md)."),
      type<study::Estimate>("headway.estimate/1", "headway serve",
                            "What the page shows while somebody types: a step without events. "
                            "Model: [`docs/models/workload.md`](models/workload.md), part "
                            "\"analytic tier\"."),
      type<study::CheckReport>("headway.check/1", "headway check", "")};
  return types;
}

std::string schema_file(std::string_view schema) {
  std::string name(schema);
  std::replace(name.begin(), name.end(), '/', '-');
  return name + ".json";
}

}  // namespace headway::report
