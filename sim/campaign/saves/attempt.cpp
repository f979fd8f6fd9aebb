#include "sim/campaign/saves/attempt.h"

#include <algorithm>
#include <cmath>

#include "sim/core/engine/event.h"

namespace headway::campaign {

using core::Tick;

namespace {

/// Number of the segment in which the goal's work ends, and how far into it.
struct Place {
  std::int64_t segment = 0;
  Tick into = 0;
};

Place place_of(const SaveTicks& saves, const Cursor& c, Goal goal) {
  if (goal.work >= core::kEndOfTime) {
    return {core::kEndOfTime / saves.interval, saves.interval};
  }
  const std::int64_t segment = goal.work > 0 ? (goal.work - 1) / saves.interval : 0;
  return {c.first + segment, goal.work - segment * saves.interval};
}

/// Ticks until the segment under way is over, its stall included.
Tick to_segment_end(const SaveTicks& saves, const Cursor& c, Pace pace) {
  return pace.wall_of(saves.interval - c.into) + saves.stall_after(c.segments + 1) - c.stood;
}

/// Ticks of the next `count` whole segments after segment number `after`.
Tick whole_segments(const SaveTicks& saves, Pace pace, std::int64_t after, std::int64_t count) {
  return count * pace.wall_of(saves.interval) + saves.stalls(after, after + count);
}

/// Most whole segments after number `after` that end within `wall`, at most `most`.
std::int64_t segments_within(
    const SaveTicks& saves, Pace pace, std::int64_t after, Tick wall, std::int64_t most) {
  std::int64_t low = 0;
  std::int64_t high = std::min(most, wall / pace.wall_of(saves.interval));
  while (low < high) {
    const std::int64_t middle = low + (high - low + 1) / 2;
    if (whole_segments(saves, pace, after, middle) <= wall) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low;
}

/// The saves of the segments `from` + 1 to `to` that lie behind: the last of
/// each level is being written or complete, those before it are complete.
/// @param first_end  attempt time at which segment `from` + 1 has ended
void note_saves(const SaveTicks& saves,
                Pace pace,
                std::int64_t from,
                std::int64_t to,
                Tick first_end,
                Cursor& c) {
  for (std::size_t l = 0; l < saves.count; ++l) {
    const auto& level = saves.levels[l];
    auto& it = c.levels[l];
    const std::int64_t last = to / level.every * level.every;
    if (last <= from) {
      continue;
    }
    const Tick at = first_end + whole_segments(saves, pace, from + 1, last - from - 1);
    if (last - level.every > from) {
      it.durable = (last - level.every - c.first) * saves.interval;
      it.pending = -1;
    } else if (it.pending >= 0) {
      if (it.pending_at > at) {
        continue;  // the one before is still being written: this one is skipped
      }
      it.durable = it.pending;
    }
    it.pending = (last - c.first) * saves.interval;
    it.pending_at = at + level.persist;
  }
}

/// Up to `wall` ticks of work, up to `into` in this segment; then the stall.
/// Returns what is left.
Tick work_on(Pace pace, Tick into, Tick wall, Cursor& c) {
  const Tick needed = pace.wall_of(into - c.into);
  const Tick worked = std::min(wall, needed);
  c.into = worked == needed ? into : std::min(into, c.into + pace.work_of(worked));
  c.stepping += worked;
  c.time += worked;
  return wall - worked;
}

void stand(Tick wall, Cursor& c) {
  c.stood += wall;
  c.checkpoint += wall;
  c.time += wall;
}

/// Ends the segment under way.
void end_segment(const SaveTicks& saves, Pace pace, Cursor& c) {
  work_on(pace, saves.interval, core::kEndOfTime, c);
  stand(saves.stall_after(c.segments + 1) - c.stood, c);
  note_saves(saves, pace, c.segments, c.segments + 1, c.time, c);
  ++c.segments;
  c.into = 0;
  c.stood = 0;
}

}  // namespace

Tick SaveTicks::stall_after(std::int64_t segment) const {
  Tick sum = 0;
  for (std::size_t l = 0; l < count; ++l) {
    sum += segment % levels[l].every == 0 ? levels[l].stall : 0;
  }
  return sum;
}

Tick SaveTicks::last_stall(std::int64_t segment) const {
  return stall_after(segment) + (segment % storage().every == 0 ? 0 : storage().stall);
}

Tick SaveTicks::stalls(std::int64_t from, std::int64_t to) const {
  Tick sum = 0;
  for (std::size_t l = 0; l < count; ++l) {
    sum += (to / levels[l].every - from / levels[l].every) * levels[l].stall;
  }
  return sum;
}

Tick Pace::wall_of(Tick work) const {
  return slowness == 1 ? work
                       : static_cast<Tick>(std::llround(static_cast<double>(work) * slowness));
}

Tick Pace::work_of(Tick wall) const {
  return slowness == 1 ? wall : static_cast<Tick>(std::floor(static_cast<double>(wall) / slowness));
}

Tick time_to_work(const SaveTicks& saves, const Cursor& c, Pace pace, Tick work) {
  const Place place = place_of(saves, c, {work});
  if (c.segments >= place.segment) {
    return pace.wall_of(std::max<Tick>(0, work - c.work(saves)));
  }
  return to_segment_end(saves, c, pace) +
         whole_segments(saves, pace, c.segments + 1, place.segment - c.segments - 1) +
         pace.wall_of(place.into);
}

Tick time_to(const SaveTicks& saves, const Cursor& c, Pace pace, Goal goal) {
  const Place place = place_of(saves, c, goal);
  const Tick last = saves.last_stall(place.segment + 1) + saves.storage().persist;
  if (c.segments >= place.segment) {
    return pace.wall_of(place.into - c.into) + last - c.stood;
  }
  return time_to_work(saves, c, pace, goal.work) + last;
}

Tick time_to_storage_save(const SaveTicks& saves, const Cursor& c, Pace pace, Goal goal) {
  const Place last = place_of(saves, c, goal);
  const std::int64_t every = saves.storage().every;
  // Segments that are done when the save begins, and work in the next one.
  std::int64_t done = c.segments / every * every + every - 1;
  Tick into = saves.interval;
  if (last.segment <= done) {  // the last save goes to storage in any case
    into = last.segment < done ? last.into : std::min(into, last.into);
    done = last.segment;
  }
  if (c.segments >= done) {
    return pace.wall_of(std::max<Tick>(0, into - c.into));
  }
  return to_segment_end(saves, c, pace) +
         whole_segments(saves, pace, c.segments + 1, done - c.segments - 1) + pace.wall_of(into);
}

Goal goal_within(
    const SaveTicks& saves, const Cursor& c, Pace pace, Tick work_left, Tick wall, Tick step) {
  const Tick usable = wall - saves.storage().persist;
  const Tick this_segment = to_segment_end(saves, c, pace);
  std::int64_t segment = c.segments;
  Tick into = c.into;
  Tick rest = usable + c.stood - saves.last_stall(c.segments + 1);
  if (usable > this_segment) {
    const Tick left = usable - this_segment;
    const std::int64_t whole =
        segments_within(saves, pace, c.segments + 1, left - 1, core::kEndOfTime);
    segment = c.segments + 1 + whole;
    into = 0;
    rest =
        left - whole_segments(saves, pace, c.segments + 1, whole) - saves.last_stall(segment + 1);
  } else if (rest < 0) {
    return {};
  }
  const Tick more = std::min(saves.interval - into, pace.work_of(std::max<Tick>(0, rest)));
  const Tick work = ((segment - c.first) * saves.interval + into + more) / step * step;
  const Tick done = c.work(saves);
  return {std::min(std::max(work, done), work_left)};
}

Goal goal_now(const SaveTicks& saves, const Cursor& c, Tick step) {
  const Tick work = c.work(saves);
  return {(work + step - 1) / step * step};
}

std::vector<SaveMoment> saves_within(
    const SaveTicks& saves, Pace pace, Goal goal, Tick wall, Cursor c) {
  const Place place = place_of(saves, c, goal);
  std::vector<SaveMoment> made;
  for (Tick end = to_segment_end(saves, c, pace); c.segments < place.segment && end <= wall;
       end = to_segment_end(saves, c, pace)) {
    wall -= end;
    end_segment(saves, pace, c);
    std::size_t level = saves.count;
    while (level > 0 && c.segments % saves.levels[level - 1].every != 0) {
      --level;
    }
    if (level > 0) {
      made.push_back({c.time - saves.stall_after(c.segments), c.time, level - 1});
    }
  }
  return made;
}

void advance(const SaveTicks& saves, Pace pace, Goal goal, Tick wall, Cursor& c) {
  const Place place = place_of(saves, c, goal);
  if (c.segments < place.segment) {
    const Tick end = to_segment_end(saves, c, pace);
    if (wall < end) {
      stand(work_on(pace, saves.interval, wall, c), c);
      return;
    }
    end_segment(saves, pace, c);
    wall -= end;
    const std::int64_t whole =
        segments_within(saves, pace, c.segments, wall, place.segment - c.segments);
    if (whole > 0) {
      const Tick work = pace.wall_of(saves.interval);
      const Tick stalls = saves.stalls(c.segments, c.segments + whole);
      const Tick first_end = c.time + work + saves.stall_after(c.segments + 1);
      c.time += whole * work + stalls;
      c.stepping += whole * work;
      c.checkpoint += stalls;
      note_saves(saves, pace, c.segments, c.segments + whole, first_end, c);
      c.segments += whole;
      wall -= whole * work + stalls;
    }
    if (c.segments < place.segment) {
      stand(work_on(pace, saves.interval, wall, c), c);
      return;
    }
  }
  stand(work_on(pace, place.into, wall, c), c);
}

}  // namespace headway::campaign
