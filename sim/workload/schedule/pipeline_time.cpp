#include "sim/workload/schedule/pipeline_time.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <utility>

#include "sim/core/error.h"
#include "sim/workload/layout.h"
#include "sim/workload/schedule/schedule.h"

namespace headway::workload {

namespace {

/// Whether groups of p micro-batches follow one another all alike.
bool repeats(ScheduleKind schedule) {
  return schedule == ScheduleKind::one_f_one_b || schedule == ScheduleKind::interleaved ||
         schedule == ScheduleKind::gpipe;
}

/// Four numbers side by side: one instruction works on them where the processor has AVX2, two where
/// it has not.
using Four = double __attribute__((vector_size(32)));

/// When a pass ends, of one layout or of several side by side: Numbers. Places are in bytes of one
/// layout's table. Inside the loops below, each for its own processors.
template <class Numbers>
[[gnu::always_inline]] inline void end_pass(
    const double* end, const double* sent, const double* duration, const auto& item, double* out) {
  constexpr std::size_t kLayouts = sizeof(Numbers) / sizeof(double);
  const auto read = [](const double* table, std::size_t bytes, Numbers& numbers) {
    std::memcpy(&numbers, reinterpret_cast<const char*>(table) + kLayouts * bytes, sizeof numbers);
  };
  Numbers before{};
  Numbers arrives{};
  Numbers message{};
  Numbers takes{};
  read(end, item.previous, before);
  read(end, item.needs, arrives);
  read(sent, item.message, message);
  read(duration, item.pass, takes);
  arrives += message;
  const Numbers now = (before < arrives ? arrives : before) + takes;
  std::memcpy(out, &now, sizeof now);
}

}  // namespace

int evaluated_micro_batches(ScheduleKind schedule, int stages, int micro_batches) {
  // Two rounds of the pipeline, at least 16 micro-batches, and what is left of a round.
  constexpr int kFewest = 16;
  const int whole = std::max(2 * stages, kFewest / stages * stages) + micro_batches % stages;
  return repeats(schedule) ? std::min(micro_batches, whole) : micro_batches;
}

/// Puts the passes of all stages into one order.
class PipelineOrder::Builder {
 public:
  Builder(PipelineOrder& out, ScheduleKind schedule, int virtual_stages, int micro_batches)
      : out_(out),
        schedule_(schedule),
        micro_batches_(micro_batches),
        stages_(pipeline_schedule(schedule, out.stages_, virtual_stages, micro_batches)),
        done_(stages_.size(), 0),
        next_end_(static_cast<std::uint32_t>(stages_.size())) {
    const std::size_t places = stages_.size() * static_cast<std::size_t>(out.chunks_);
    ends_.resize(kKinds * places * static_cast<std::size_t>(micro_batches));
    places_.reserve(places);
    for (int stage = 0; stage < out_.stages_; ++stage) {
      out_.last_.push_back(static_cast<std::uint32_t>(stage));
      out_.first_backward_.push_back(0);
      for (int chunk = 0; chunk < out_.chunks_; ++chunk) {
        add_place({stage, chunk});
      }
    }
  }

  void build() {
    std::size_t left = 0;
    for (const auto& items : stages_) {
      left += items.size();
    }
    out_.items_.reserve(left);
    // In rounds of at most one pass a stage, none of which needs another of its round: neighbours
    // in the order do not wait for each other, so the processor evaluates several at a time.
    while (left > 0) {
      const std::size_t before = left;
      round_ = next_end_;
      for (int stage = 0; stage < out_.stages_; ++stage) {
        auto& next = done_[static_cast<std::size_t>(stage)];
        const auto& items = stages_[static_cast<std::size_t>(stage)];
        if (next < items.size()) {
          const std::size_t added = add_next(stage, items, next);
          next += added;
          left -= added;
        }
      }
      HEADWAY_CHECK(left < before, "schedule {} waits for itself", core::to_word(schedule_));
    }
    if (repeats(schedule_) && micro_batches_ > out_.stages_) {
      const int last = out_.stages_ * out_.chunks_ - 1;
      const std::uint32_t* const forwards = ends_of(WorkKind::forward, last);
      out_.late_ = forwards[micro_batches_ - 1];
      out_.early_ = forwards[micro_batches_ - 1 - out_.stages_];
    }
  }

 private:
  static constexpr std::size_t kKinds = 4;

  /// What a pass through a chunk waits for.
  struct Need {
    const std::uint32_t* ends = nullptr;  ///< of these passes, by micro-batch; nothing: waits not
    std::uint32_t message = 0;            ///< number of the message between, from 1 on; 0: none
  };

  /// A chunk of a stage, and what of it is in the order.
  struct Place {
    std::array<Need, kKinds> needs;           ///< by kind of work, as the next
    std::array<std::uint32_t*, kKinds> ends;  ///< of its passes
    bool forward = false;                     ///< a forward
    int completed = 0;                        ///< backwards
  };

  /// The passes of a kind through the chunk that another one's input or output comes from or goes
  /// to.
  Need need_of(WorkKind kind, StageChunk here, StageChunk other) {
    Need found{ends_of(kind, other.stage * out_.chunks_ + other.chunk), 0};
    if (other.stage != here.stage) {
      const int gap = std::abs(other.stage - here.stage);
      const int lower = std::min(other.stage, here.stage);
      found.message = static_cast<std::uint32_t>(1 + (gap == 1 ? lower : out_.stages_ - 1));
    }
    return found;
  }

  void add_place(StageChunk at) {
    const auto before = previous_chunk(schedule_, out_.stages_, out_.chunks_, at);
    const auto after = next_chunk(schedule_, out_.stages_, out_.chunks_, at);
    Place place;
    for (const WorkKind kind : {WorkKind::forward, WorkKind::backward, WorkKind::input_gradient,
                                WorkKind::weight_gradient}) {
      const auto k = static_cast<std::size_t>(kind);
      place.ends[k] = ends_of(kind, static_cast<int>(places_.size()));
      if (kind == WorkKind::forward) {
        place.needs[k] = before ? need_of(kind, at, *before) : Need{};
      } else if (kind == WorkKind::weight_gradient) {
        place.needs[k] = need_of(WorkKind::input_gradient, at, at);
      } else {
        place.needs[k] = after ? need_of(kind, at, *after) : need_of(WorkKind::forward, at, at);
      }
    }
    places_.push_back(place);
  }

  /// Where the ends of a chunk's passes are, by micro-batch; 0, a stage's start, while a pass is
  /// not in the order.
  std::uint32_t* ends_of(WorkKind kind, int place) {
    return ends_.data() +
           (static_cast<std::size_t>(place) * kKinds + static_cast<std::size_t>(kind)) *
               static_cast<std::size_t>(micro_batches_);
  }

  /// Adds a stage's next pass, or a forward with the backward that is one pass with it.
  /// @returns work items added: 0 if what they need is not in the order before this round
  std::size_t add_next(int stage, const StageSchedule& items, std::size_t next) {
    const WorkItem& work = items[next];
    Place& place = place_of(stage, work);
    Item item = at_end_of(stage);
    if (!set_need(place, work, item)) {
      return 0;
    }
    if (!work.with_next) {
      append(stage, place, work, item);
      return 1;
    }
    const WorkItem& second = items[next + 1];
    Place& of_second = place_of(stage, second);
    Item meeting = at_end_of(stage);
    if (!set_need(of_second, second, meeting)) {
      return 0;
    }
    append_pass(stage, of_second, Pass::meeting, meeting);
    item.previous = last_of(stage);
    append(stage, place, work, item);
    append(stage, of_second, second, at_end_of(stage));
    place.ends[static_cast<std::size_t>(work.kind)][work.micro_batch] = last_of(stage);
    return 2;
  }

  std::uint32_t& last_of(int stage) { return out_.last_[static_cast<std::size_t>(stage)]; }
  [[nodiscard]] Place& place_of(int stage, const WorkItem& work) {
    return places_[static_cast<std::size_t>(stage * out_.chunks_ + work.chunk)];
  }
  /// After the stage's last item, waiting for nothing else.
  Item at_end_of(int stage) { return {last_of(stage), last_of(stage), 0, 0}; }

  void append_pass(int stage, const Place& place, Pass pass, const Item& item) {
    constexpr std::uint32_t kBytes = sizeof(double);
    const auto number = static_cast<std::size_t>(&place - places_.data());
    last_of(stage) = next_end_++;
    out_.items_.push_back(
        {kBytes * item.previous, kBytes * item.needs, kBytes * item.message,
         kBytes * static_cast<std::uint32_t>(number * kPasses + static_cast<std::size_t>(pass))});
  }

  void append(int stage, Place& place, const WorkItem& work, const Item& item) {
    const std::uint32_t end = next_end_;
    append_pass(stage, place, pass_of(place, work), item);
    const auto ends = [&](WorkKind kind) -> std::uint32_t& {
      return place.ends[static_cast<std::size_t>(kind)][work.micro_batch];
    };
    ends(work.kind) = end;
    if (work.kind == WorkKind::forward) {
      return;
    }
    if (work.kind == WorkKind::backward && mixes_) {  // of which the input half is a part
      ends(WorkKind::input_gradient) = end;
    } else if (work.kind == WorkKind::input_gradient) {
      ends(WorkKind::backward) = end;
    }
    std::uint32_t& first_backward = out_.first_backward_[static_cast<std::size_t>(stage)];
    if (first_backward == 0) {
      first_backward = end;
    }
  }

  /// @returns whether what the pass waits for is in the order before this round
  bool set_need(const Place& place, const WorkItem& work, Item& item) const {
    const Need& need = place.needs[static_cast<std::size_t>(work.kind)];
    if (need.ends == nullptr) {
      return true;
    }
    item.message = need.message;
    item.needs = need.ends[work.micro_batch];
    return item.needs > 0 && item.needs < round_;
  }

  Pass pass_of(Place& at, const WorkItem& work) const {
    if (work.kind == WorkKind::forward) {
      return std::exchange(at.forward, true) ? Pass::forward : Pass::first_forward;
    }
    const bool completes = work.kind != WorkKind::input_gradient;
    const bool last = completes && ++at.completed == micro_batches_;
    if (work.kind == WorkKind::weight_gradient) {
      return Pass::weight_gradient;
    }
    if (mixes_) {
      return work.kind == WorkKind::backward ? Pass::whole_backward : Pass::backward;
    }
    return last ? Pass::last_backward : Pass::backward;
  }

  PipelineOrder& out_;
  ScheduleKind schedule_;
  /// Some backwards run whole, some in halves.
  bool mixes_ = schedule_ == ScheduleKind::dual_pipe || schedule_ == ScheduleKind::dual_pipe_v;
  int micro_batches_;
  std::uint32_t round_ = 0;  ///< the first end of this round
  std::vector<StageSchedule> stages_;
  std::vector<std::size_t> done_;    ///< per stage: passes in the order
  std::uint32_t next_end_;           ///< where the next item's end will be
  std::vector<Place> places_;        ///< by stage and chunk
  std::vector<std::uint32_t> ends_;  ///< by chunk, kind and micro-batch
};

PipelineOrder::PipelineOrder(ScheduleKind schedule,
                             int stages,
                             int virtual_stages,
                             int micro_batches)
    : stages_(stages), chunks_(chunks_per_stage(schedule, virtual_stages)) {
  alternates_ = schedule != ScheduleKind::gpipe;
  Builder(*this, schedule, virtual_stages, micro_batches).build();
}

double PipelineOrder::continued(const PipelineTimes& times, int more, double round) const {
  double most_forward = 0, most_backward = 0, most = 0;
  for (int stage = 0; stage < stages_; ++stage) {
    double forward = 0, backward = 0;
    for (int chunk = 0; chunk < chunks_; ++chunk) {
      const PassTimes& pass = times.chunks[static_cast<std::size_t>(stage * chunks_ + chunk)];
      forward += pass[static_cast<std::size_t>(Pass::forward)];
      backward += pass[static_cast<std::size_t>(Pass::backward)];
    }
    most_forward = std::max(most_forward, forward);
    most_backward = std::max(most_backward, backward);
    most = std::max(most, forward + backward);
  }
  if (!alternates_) {
    return more * (most_forward + most_backward);
  }
  HEADWAY_CHECK(early_ > 0, "{} stages need more than one round to be continued", stages_);
  return more * std::max(round / stages_, most);
}

void PipelineOrder::end_items(Tables t) const {
  for (const Item& item : items_) {
    end_pass<double>(t.end, t.message, t.duration, item, t.out++);
  }
}

/// Inlined into loops for processors of both kinds.
[[gnu::always_inline]] inline void PipelineOrder::end_items_side_by_side(Tables t) const {
  for (const Item& item : items_) {
    end_pass<Four>(t.end, t.message, t.duration, item, t.out);
    t.out += kTogether;
  }
}

#ifdef __x86_64__
[[gnu::target("avx2")]] void PipelineOrder::end_items_of_four_wide(Tables t) const {
  end_items_side_by_side(t);
}
#endif

void PipelineOrder::end_items_of_four(Tables t) const {
  static_assert(kTogether * sizeof(double) == sizeof(Four));
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx2") != 0) {
    end_items_of_four_wide(t);  // additions and choices alone: the same bits
    return;
  }
#endif
  end_items_side_by_side(t);
}

/// Tables have a number of each layout side by side, so that the compiler works on several at once.
template <std::size_t K>
void PipelineOrder::evaluate(const std::array<const PipelineTimes*, K>& times,
                             int more,
                             std::vector<double>& scratch,
                             std::vector<double>& ends) const {
  const std::size_t starts = times.front()->ready.size();
  const std::size_t links = times.front()->message.size();
  const std::size_t passes = K > 1 ? times.front()->chunks.size() * kPasses : 0;
  // The table of ends, then messages, of which the first stands for "nothing is sent", so that the
  // loop has no branch, then durations.
  const std::size_t items = items_.size();
  const std::size_t room = K * (starts + items + 1 + links + passes);
  scratch.resize(std::max(scratch.size(), room));  // grows only: all that is read is written first
  double* const end = scratch.data();
  double* const message = end + K * (starts + items);
  double* const side_by_side = message + K * (1 + links);
  std::fill_n(message, K, 0.0);
  for (std::size_t k = 0; k < K; ++k) {
    const PipelineTimes& one = *times[k];
    for (std::size_t stage = 0; stage < starts; ++stage) {
      end[stage * K + k] = one.ready[stage];
    }
    for (std::size_t link = 0; link < links; ++link) {
      message[(link + 1) * K + k] = one.message[link];
    }
    const double* const durations = one.chunks.front().data();
    for (std::size_t pass = 0; pass < passes; ++pass) {
      side_by_side[pass * K + k] = durations[pass];
    }
  }
  if constexpr (K == 1) {
    end_items({end, message, times.front()->chunks.front().data(), end + starts});
  } else {
    end_items_of_four({end, message, side_by_side, end + K * starts});
  }
  ends.clear();
  for (std::size_t k = 0; k < K; ++k) {
    const double rest =
        more == 0 ? 0 : continued(*times[k], more, end[late_ * K + k] - end[early_ * K + k]);
    for (const std::uint32_t last : last_) {
      ends.push_back(end[last * K + k] + rest);
    }
  }
}

void PipelineOrder::stage_ends(const PipelineTimes& times,
                               int more,
                               std::vector<double>& scratch,
                               std::vector<double>& ends) const {
  evaluate<1>({&times}, more, scratch, ends);
}

void PipelineOrder::stage_ends(const std::array<const PipelineTimes*, kTogether>& times,
                               int more,
                               std::vector<double>& scratch,
                               std::vector<double>& ends) const {
  evaluate<kTogether>(times, more, scratch, ends);
}

}  // namespace headway::workload
