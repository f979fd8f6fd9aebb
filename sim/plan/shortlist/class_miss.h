// Classes of layouts that no plan is of, such as all with one sharding: how near each came.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/core/progress/joint_progress.h"
#include "sim/core/result_fields.h"
#include "sim/core/units.h"
#include "sim/plan/shortlist/shape_search.h"
#include "sim/plan/space.h"
#include "sim/training/step/step.h"

namespace headway::plan {

/// Layouts that have one value of one field, and the best of them.
struct ClassMiss {
  std::string field;             ///< of `parallelism`
  std::string value;             ///< that all of the class have and no plan has
  std::int64_t layouts = 0;      ///< of the space
  std::optional<double> step;    ///< of its fastest [s]; absent: none fits, or keeps the rules
  bool simulated = false;        ///< `step` is of the simulation; else of the analytic tier
  std::optional<double> behind;  ///< by how much it is slower than plan 1, timed alike
  std::optional<double> least;   ///< no layout of it is faster by the tier; absent: `step` is
                                 ///< its fastest [s]
  std::string nearest;           ///< that layout, or what the nearest lacks

  bool operator==(const ClassMiss&) const = default;

  template <class V>
  void fields(V& v) const {
    v.part("field", field, "of `parallelism`");
    v.part("value", value, "that all layouts of the class have, and no plan has");
    v.figure("layouts", layouts, "", "of the space, with that value", core::non_negative);
    v.figure("step_s", step, "s",
             "of its fastest layout that was found; null where none fits or keeps the rules",
             core::positive);
    v.part("simulated", simulated, "`step_s` is of the simulation, not of the analytic tier");
    v.figure("behind", behind, "",
             "by how much that step is longer than that of plan 1, both timed in the same way",
             core::any_value);
    v.figure("least_step_s", least, "s",
             "no layout of the class is faster by the analytic tier; null where `step_s` is known "
             "to be its fastest",
             core::positive);
    v.part("nearest", nearest, "that layout; or what the nearest one lacks, or why there is none");
  }
};

/// A layout and the time of its step by simulation.
struct TimedLayout {
  ParallelismSpec layout;
  core::Seconds time;
};

/// What is known when layouts have been simulated.
struct ClassesAsked {
  const std::vector<core::Seconds>* bounds = nullptr;  ///< of the space's shapes (`Shortlist`)
  const std::vector<TimedLayout>* simulated = nullptr;
  std::vector<const ParallelismSpec*> plans;  ///< whose classes have not lost
  core::Seconds estimate;                     ///< of plan 1, by the tier; zero where it has none
  core::Seconds step;                         ///< of plan 1
  double headroom = training::kMemoryHeadroom;
  std::int64_t estimated = 0;  ///< layouts that the tier has timed: a quarter as many more are,
                               ///< and 16 a class
  core::Count progress;        ///< of classes; called often; what it throws ends the search
};

/// The classes that no plan is of: tensor, pipeline, context and expert degree, schedule, sharding,
/// micro-batch and recompute, where the space has several of them. Of a class that was simulated
/// the fastest; of others the fastest by the analytic tier: shapes are opened in the order of their
/// bounds, those whose leanest layouts lack memory being passed over, until no other can be faster,
/// or so many were opened that it would take long.
std::vector<ClassMiss> class_misses(const training::Scenario& scenario,
                                    const Space& space,
                                    const ClassesAsked& asked);

}  // namespace headway::plan
