#include "sim/training/step/critical_path.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "sim/core/error.h"

namespace headway::training {

namespace {

using core::Activity;
using core::Tick;
using network::TraceEntry;

/// One actor of each class; the trace speaks of classes.
std::vector<std::uint32_t> representatives(const network::RunResult& result) {
  std::vector<std::uint32_t> of_class(result.multiplicity.size(), 0);
  for (std::size_t a = result.class_of_actor.size(); a-- > 0;) {
    of_class[result.class_of_actor[a]] = static_cast<std::uint32_t>(a);
  }
  return of_class;
}

/// The trace of each class, in time order: the trace as a whole is.
std::vector<std::vector<const TraceEntry*>> by_class(const network::RunResult& result) {
  std::vector<std::size_t> counts(result.multiplicity.size(), 0);
  for (const auto& entry : result.trace) {
    ++counts[entry.actor];
  }
  std::vector<std::vector<const TraceEntry*>> entries(counts.size());
  for (std::size_t c = 0; c < counts.size(); ++c) {
    entries[c].reserve(counts[c]);
  }
  for (const auto& entry : result.trace) {
    if (entry.end > entry.begin) {
      auto& list = entries[entry.actor];
      HEADWAY_CHECK(list.empty() || list.back()->end < entry.end,
                    "the trace of class {} is not in time order", entry.actor);
      list.push_back(&entry);
    }
  }
  return entries;
}

/// The last entry of the actor that ended at or before `at`.
const TraceEntry* last_before(const std::vector<const TraceEntry*>& entries, Tick at) {
  const auto after =
      std::upper_bound(entries.begin(), entries.end(), at,
                       [](Tick t, const TraceEntry* entry) { return t < entry->end; });
  return after == entries.begin() ? nullptr : *(after - 1);
}

/// The instructions of an entry that covers several, from its end to its beginning.
void add_run(const network::Problem& problem,
             std::uint32_t member,
             const TraceEntry& entry,
             std::vector<PathSegment>& segments) {
  const network::Actor& rank = problem.actors[member];
  Tick sum = 0;
  for (std::uint32_t i = entry.step + entry.steps; i-- > entry.step;) {
    const auto& step = problem.programs[rank.program][i];
    const bool computes = step.code == network::StepCode::compute;
    const bool waits = step.code == network::StepCode::wait;
    const Tick ticks = computes ? network::slowed(step.ticks, rank.slowdown_ppm)
                       : waits  ? problem.groups[rank.groups[step.slot]].delay
                                : 0;
    sum += ticks;
    if (ticks > 0) {
      segments.push_back({member, i, ticks, waits ? ticks : 0});
    }
  }
  HEADWAY_CHECK(sum == entry.end - entry.begin, "{} instructions of actor {} took {} ticks, not {}",
                entry.steps, member, entry.end - entry.begin, sum);
}

}  // namespace

std::vector<PathSegment> critical_segments(const network::Problem& problem,
                                           const network::RunResult& result) {
  std::vector<PathSegment> segments;
  const auto last = std::find_if(result.trace.begin(), result.trace.end(),
                                 [&](const TraceEntry& entry) { return entry.end == result.end; });
  HEADWAY_CHECK(last != result.trace.end(), "no trace entry ends at the run's end, tick {}",
                result.end);
  std::uint32_t actor = last->actor;
  const auto of_class = representatives(result);
  const auto entries = by_class(result);
  Tick now = result.end;
  while (now > 0) {
    const TraceEntry* entry = last_before(entries[actor], now);
    HEADWAY_CHECK(entry != nullptr, "actor {} did nothing before tick {}", actor, now);
    // An actor is always busy or blocked, so its last entry ends just now.
    HEADWAY_CHECK(entry->end == now, "actor {} has a gap from tick {} to {}", actor, entry->end,
                  now);
    const std::uint32_t member = of_class[entry->actor];
    if (entry->steps > 1) {
      add_run(problem, member, *entry, segments);
      now = entry->begin;
      continue;
    }
    const auto& step = problem.programs[problem.actors[member].program][entry->step];
    const bool computes = step.code == network::StepCode::compute;
    const Tick begin = computes ? entry->begin : entry->launched;
    segments.push_back(
        {member, entry->step, now - begin, computes ? 0 : now - std::max(begin, entry->begin)});
    now = begin;
    actor = computes ? actor : entry->last_arriver;
  }
  return segments;
}

core::ByActivity<Tick> critical_path(const network::RunResult& result) {
  const network::ActorPath* last = nullptr;
  for (const network::ActorPath& path : result.paths) {
    const auto& times = path.times.values;
    const bool to_the_end = std::accumulate(times.begin(), times.end(), Tick{0}) == result.end;
    if (to_the_end && (last == nullptr || path.order < last->order)) {
      last = &path;
    }
  }
  HEADWAY_CHECK(last != nullptr, "no path ends at the run's end, tick {}", result.end);
  return last->times;
}

core::ByActivity<Tick> critical_path(const network::Problem& problem,
                                     const network::RunResult& result,
                                     const LaunchTicks& launch) {
  core::ByActivity<Tick> path;
  for (const PathSegment& segment : critical_segments(problem, result)) {
    const auto& rank = problem.actors[segment.actor];
    const auto& step = problem.programs[rank.program][segment.step];
    const bool computes = step.code == network::StepCode::compute;
    const Tick by_cpu = computes && !launch.empty()
                            ? network::slowed(launch[rank.program][segment.step], rank.slowdown_ppm)
                            : 0;
    path[computes ? step.activity : problem.groups[rank.groups[step.slot]].activity] +=
        segment.ticks - by_cpu;
    path[Activity::launch] += by_cpu;
  }
  return path;
}

}  // namespace headway::training
