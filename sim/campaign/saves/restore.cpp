#include "sim/campaign/saves/restore.h"

#include <algorithm>
#include <cmath>

#include "sim/core/error.h"

namespace headway::campaign {

using core::Tick;

std::int64_t archived_every(const JobModel& job) {
  if (job.archive.si() <= 0 || job.interval.si() <= 0) {
    return 0;
  }
  return std::max<std::int64_t>(1, std::llround(job.archive / effective_interval(job)));
}

SaveHistory::SaveHistory(const JobModel& model, Tick archive)
    : count_(model.near.size() + 1), keep_(model.keep), archive_(archive) {
  for (std::size_t l = 0; l + 1 < count_; ++l) {
    survives_[l] = model.near[l].survives;
    newest_[l] = -1;
  }
  survives_[count_ - 1] = Reach::domain;
}

void SaveHistory::note(const SaveTicks& saves, const Cursor& cursor, Tick base) {
  HEADWAY_CHECK(saves.count == count_, "{} levels of {}", saves.count, count_);
  for (std::size_t l = 0; l < count_; ++l) {
    const Tick work = cursor.durable(l);
    if (work > 0) {
      newest_[l] = std::max(newest_[l], base + work);
    }
  }
}

void SaveHistory::complete(Tick work) { newest_[count_ - 1] = work; }

RestorePoint SaveHistory::restore(Reach reach) {
  RestorePoint best{-1, 0};
  for (std::size_t l = 0; l < count_; ++l) {
    if (survives_[l] < reach) {
      newest_[l] = -1;
    }
    if (newest_[l] > best.work) {
      best = {newest_[l], l};
    }
  }
  HEADWAY_CHECK(best.work >= 0, "not even the beginning of the run is left");
  return best;
}

Tick SaveHistory::earlier(RestorePoint point, std::int64_t bad, Tick spacing) const {
  if (bad == 0) {
    return point.work;
  }
  const Tick left = std::max<Tick>(0, point.work - bad * spacing);
  return keep_ > 0 && bad >= keep_ ? archived(left) : left;
}

/// The newest archived save of at most so much work.
Tick SaveHistory::archived(Tick work) const {
  return archive_ > 0 ? work / archive_ * archive_ : 0;
}

Tick SaveHistory::forget_after(Tick work, Tick spacing) {
  Tick& stored = newest_[count_ - 1];
  const std::int64_t newer = (stored - work + spacing - 1) / spacing;
  const bool deleted = keep_ > 0 && newer >= keep_;
  const Tick good = stored <= work ? stored : (deleted ? archived(work) : work);
  for (std::size_t l = 0; l + 1 < count_; ++l) {
    newest_[l] = newest_[l] > work ? -1 : newest_[l];
  }
  stored = std::min(stored, good);
  return stored;
}

}  // namespace headway::campaign
