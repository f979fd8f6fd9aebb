#include "sim/campaign/job/incident.h"

#include "sim/core/error.h"

namespace headway::campaign {

using core::Tick;

Tick time_in(const Incident& incident, Stage stage) {
  Tick sum = 0;
  for (const auto& time : incident.stages) {
    sum += time.stage == stage ? time.end - time.begin : 0;
  }
  return sum;
}

void IncidentLog::open(Incident incident) {
  if (has_current()) {
    const auto& stages = current().stages;
    // A fault that nobody has noticed goes on beside the new one.
    if (!stages.empty() && stages.back().stage != Stage::unnoticed) {
      leave(incident.struck);
    }
  }
  incidents_.push_back(std::move(incident));
  open_.push_back(false);
  current_ = incidents_.size() - 1;
}

void IncidentLog::enter(Stage stage, Tick now) {
  leave(now);
  current().stages.push_back({stage, now, now});
  open_[current_] = true;
}

void IncidentLog::add(Stage stage, Tick begin, Tick end) {
  leave(begin);
  if (end > begin) {
    current().stages.push_back({stage, begin, end});
  }
}

void IncidentLog::end(std::size_t number, Tick now) {
  close(number, now);
  Incident& incident = at(number);
  incident.resumed = incident.resumed.value_or(now);
}

void IncidentLog::leave(Tick now) { close(current_, now); }

void IncidentLog::close(std::size_t number, Tick now) {
  HEADWAY_CHECK(number < incidents_.size(), "incident {} of {}", number, incidents_.size());
  if (!open_[number]) {
    return;
  }
  auto& stages = incidents_[number].stages;
  HEADWAY_CHECK(now >= stages.back().begin, "a stage ends at {} before it begins", now);
  stages.back().end = now;
  if (stages.back().end == stages.back().begin) {
    stages.pop_back();
  }
  open_[number] = false;
}

Incident& IncidentLog::current() {
  HEADWAY_CHECK(has_current(), "no incident among {}", incidents_.size());
  return incidents_[current_];
}

std::vector<Incident> IncidentLog::take(Tick now) {
  for (std::size_t i = 0; i < incidents_.size(); ++i) {
    close(i, now);
  }
  current_ = static_cast<std::size_t>(-1);
  return std::move(incidents_);
}

}  // namespace headway::campaign
