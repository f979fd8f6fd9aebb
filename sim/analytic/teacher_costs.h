// A teacher's forward in the analytic tier: read off the probes of its student.
#pragma once

#include <vector>

#include "sim/analytic/costs.h"
#include "sim/analytic/probe.h"
#include "sim/workload/layout.h"

namespace headway::analytic {

/// A teacher's layers of each stage; empty without one.
std::vector<workload::ChunkLayout> teacher_chunks(const training::Scenario& scenario,
                                                  const workload::ParallelismSpec& layout);

/// Which part of a teacher's forward a call is.
/// @param run     of its runs on the chunk, embedding and head included
/// @param repeat  of the call
PassPart teacher_part(const workload::ChunkLayout& chunk,
                      const workload::ChunkLayout& teacher,
                      int run,
                      int repeat);

/// The recipe of a probe of so many stages, of which the first of two holds one layer of a teacher
/// too; where its layers are alike, one stands for all others.
workload::TrainingSpec probed_training(const training::Scenario& scenario, int stages);

/// A teacher's forward on one stage of such a probe; nothing without one.
void add_teacher(const training::Scenario& scenario,
                 const Probe& probe,
                 int stage,
                 int stages,
                 RankCosts& costs);

}  // namespace headway::analytic
