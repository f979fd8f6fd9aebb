#include "sim/plan/shortlist/class_miss.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <functional>
#include <oneapi/tbb/enumerable_thread_specific.h>
#include <oneapi/tbb/parallel_for.h>
#include <set>
#include <utility>

#include "sim/core/progress/joint_progress.h"
#include "sim/core/progress/spread_order.h"
#include "sim/core/text.h"

namespace headway::plan {

using core::Seconds;

namespace {

/// Most shapes of one class that are opened though they may hold a layout that fits: some
/// milliseconds each. Source: round value.
constexpr int kMostOpened = 24;
/// Most of them that are like the shape of plan 1, and most that are tried at all, with those whose
/// layouts with the least memory do not fit: a tenth of a millisecond each. Source: round values.
constexpr std::size_t kMostNear = 8, kMostTried = 4096;
/// Layouts that are timed for a class whatever the search has timed. Source: round value.
constexpr std::int64_t kLeastTimed = 16;
/// Choices of degrees of which a shape is opened, and shapes with the least bounds, whatever was
/// timed before: the fastest of a class is likely among them. Source: round values.
constexpr std::size_t kMostDegrees = 16;
constexpr int kLeastOpened = 4;

/// A field by whose values layouts fall into classes.
struct ClassField {
  const char* name;
  /// Its value in a layout, in words.
  std::string (*value)(const ParallelismSpec&);
  bool of_shape;  ///< all layouts of a shape have the same
};

/// Of a layout that recomputes as few layers as let it fit: none, where those are none.
std::string recompute_value(const ParallelismSpec& p) {
  const auto& layers = p.chunk_recompute;
  const bool none =
      !layers.empty() && std::all_of(layers.begin(), layers.end(), [](int n) { return n == 0; });
  return std::string(core::to_word(none ? workload::Recompute::none : p.recompute));
}

const std::array<ClassField, 8> kClassFields{{
    {"schedule", [](const ParallelismSpec& p) { return std::string(core::to_word(p.schedule)); },
     true},
    {"sharding", [](const ParallelismSpec& p) { return std::string(core::to_word(p.sharding)); },
     false},
    {"tensor", [](const ParallelismSpec& p) { return fmt::format("{}", p.tensor); }, true},
    {"pipeline", [](const ParallelismSpec& p) { return fmt::format("{}", p.pipeline); }, true},
    {"context", [](const ParallelismSpec& p) { return fmt::format("{}", p.context); }, true},
    {"expert", [](const ParallelismSpec& p) { return fmt::format("{}", p.expert); }, true},
    {"micro_batch", [](const ParallelismSpec& p) { return fmt::format("{}", p.micro_batch); },
     false},
    {"recompute", recompute_value, false},
}};

/// Layouts with one value of a field.
struct LayoutClass {
  const ClassField* field = nullptr;
  std::string value;
  OnlyLayouts only;
  std::int64_t layouts = 0;

  [[nodiscard]] bool has(const ParallelismSpec& layout) const {
    return field->value(layout) == value;
  }
  /// Whether a shape, with these cuts, may have layouts of it.
  [[nodiscard]] bool has(const Shape& shape, const std::vector<Cut>& cuts) const {
    const auto any = [&](const auto& choices) {
      return std::any_of(choices.begin(), choices.end(),
                         [&](const auto& choice) { return only.has(choice); });
    };
    return field->of_shape ? has(shape.layout) : any(shape.states) && any(cuts);
  }
};

/// Gathers classes and counts their layouts.
class ClassList {
 public:
  explicit ClassList(const Space& space) : space_(space) {
    for (const Shape& shape : space.shapes()) {
      for (const ClassField& field : kClassFields) {
        if (field.of_shape) {
          add(field, shape.layout, {}, space.layouts(shape));
        }
      }
      add_choices(shape);
    }
  }

  /// In the order of fields and of values, of fields that have several.
  [[nodiscard]] std::vector<LayoutClass> take() {
    std::vector<LayoutClass> out;
    for (const ClassField& field : kClassFields) {
      const auto of_field = [&](const LayoutClass& one) { return one.field == &field; };
      if (std::count_if(list_.begin(), list_.end(), of_field) > 1) {
        std::copy_if(list_.begin(), list_.end(), std::back_inserter(out), of_field);
      }
    }
    return out;
  }

 private:
  void add(const ClassField& field,
           const ParallelismSpec& layout,
           const OnlyLayouts& only,
           std::int64_t layouts) {
    const std::string value = field.value(layout);
    const auto same = std::find_if(list_.begin(), list_.end(), [&](const LayoutClass& one) {
      return one.field == &field && one.value == value;
    });
    if (same != list_.end()) {
      same->layouts += layouts;
    } else {
      list_.push_back({&field, value, only, layouts});
    }
  }

  void add_choices(const Shape& shape) {
    const auto& cuts = space_.cuts(shape);
    const auto& passes = space_.passes(shape);
    const std::int64_t all = space_.layouts(shape);
    for (const ClassField& field : kClassFields) {
      const std::string_view name = field.name;
      ParallelismSpec layout = shape.layout;
      if (name == "sharding") {
        for (const StateChoice& state : shape.states) {
          layout.sharding = state.sharding;
          add(field, layout, {{}, {}, state.sharding}, all / std::ssize(shape.states));
        }
      } else if (name == "micro_batch") {
        for (const Cut& cut : cuts) {
          layout.micro_batch = cut.micro_batch;
          add(field, layout, {cut.micro_batch, {}, {}}, all / std::ssize(cuts));
        }
      } else if (name == "recompute") {
        for (const PassChoice& pass : passes) {
          layout.recompute = pass.recompute;
          add(field, layout, {{}, pass.recompute, {}}, all / std::ssize(passes));
        }
      }
    }
  }

  const Space& space_;
  std::vector<LayoutClass> list_;
};

/// Looks for the fastest of one class.
class ClassSearch {
 public:
  ClassSearch(const training::Scenario& scenario,
              const Space& space,
              const ClassesAsked& asked,
              std::int64_t classes,
              const core::JointProgress& progress)
      : s_(scenario),
        space_(space),
        asked_(asked),
        most_timed_(
            std::max(kLeastTimed, asked.estimated / std::max(std::int64_t{1}, 4 * classes))),
        look_([&progress] { progress.look(); }) {}

  ClassMiss find(const LayoutClass& one, Tier& tier) const {
    ClassMiss miss;
    miss.field = one.field->name;
    miss.value = one.value;
    miss.layouts = one.layouts;
    for (const TimedLayout& timed : *asked_.simulated) {
      if (one.has(timed.layout) && (!miss.step || timed.time.si() < *miss.step)) {
        miss.step = timed.time.si();
        miss.simulated = true;
        miss.behind = timed.time / asked_.step - 1;
        miss.nearest = layout_text(timed.layout);
      }
    }
    if (!miss.step) {
      open_shapes(one, tier, miss);
    }
    return miss;
  }

 private:
  /// A shape that may have layouts of a class, and the least time of any of them.
  struct Member {
    std::size_t shape = 0;
    Seconds bound;
  };

  /// What has been found of a class.
  struct Found {
    std::optional<Estimate> best;
    Opened all;
    std::set<std::size_t> shapes;  ///< that were tried
    int counted = 0;               ///< of these, with layouts that keep the rules
    std::int64_t timed = 0;        ///< layouts

    [[nodiscard]] Seconds limit() const { return best ? best->time : Seconds(kNever); }
  };

  [[nodiscard]] ShapeSearch search_of(const LayoutClass& one,
                                      std::size_t shape,
                                      bool leanest,
                                      Tier& tier) const {
    ShapeSearch search(s_, space_, space_.shapes()[shape], space_.first(shape), asked_.headroom,
                       tier);
    search.call_often(look_);
    OnlyLayouts only = one.only;
    only.leanest = leanest;
    search.look_only_at(only);
    return search;
  }

  /// The shapes of a class from the least bound up; those none of whose layouts keeps the rules
  /// last. Bounds are of all layouts of a shape; of a class with one micro-batch, of those with it.
  [[nodiscard]] std::vector<Member> members(const LayoutClass& one, Tier& tier) const {
    std::vector<Member> list;
    for (std::size_t i = 0; i < space_.shapes().size(); ++i) {
      const Shape& shape = space_.shapes()[i];
      if (one.has(shape, space_.cuts(shape))) {
        const bool own = one.only.micro_batch && (*asked_.bounds)[i] < Seconds(kNever);
        list.push_back({i, own ? search_of(one, i, false, tier).bound() : (*asked_.bounds)[i]});
      }
    }
    std::stable_sort(list.begin(), list.end(),
                     [](const Member& a, const Member& b) { return a.bound < b.bound; });
    return list;
  }

  static void add_missed_and_rejected(const Opened& here, Found& found) {
    found.all.rejected.add(here.rejected);
    for (const auto& [memory, missed] : here.missed) {
      add_missed(missed, found.all.missed);
    }
  }

  /// Looks at the layouts of a shape that recompute most, and at all if one of these fits, or none
  /// says that it does not.
  void open(const LayoutClass& one, const Member& member, Tier& tier, Found& found) const {
    if (member.bound > found.limit() || !found.shapes.insert(member.shape).second) {
      return;
    }
    const Opened lean = search_of(one, member.shape, true, tier).open(found.limit(), 1);
    if (!lean.any_fits && !lean.missed.empty() && lean.rejected.count(kSlower) == 0) {
      add_missed_and_rejected(lean, found);
      return;
    }
    const Opened here = search_of(one, member.shape, false, tier).open(found.limit(), 1);
    found.timed += here.estimated;
    found.counted += here.estimated > 0 || !here.missed.empty() ? 1 : 0;
    if (!here.best.empty() && (!found.best || better(here.best.front(), *found.best))) {
      found.best = here.best.front();
    }
    add_missed_and_rejected(here, found);
  }

  /// Shapes of a class that differ from that of plan 1 in the fewest fields.
  [[nodiscard]] std::vector<Member> like_plan_1(std::vector<Member> near) const {
    const ParallelismSpec& own = *asked_.plans.front();
    const auto differences = [&](const Member& member) {
      const ParallelismSpec& p = space_.shapes()[member.shape].layout;
      return (p.tensor != own.tensor) + (p.pipeline != own.pipeline) +
             (p.virtual_stages != own.virtual_stages) + (p.schedule != own.schedule) +
             (p.context != own.context) + (p.context_kind != own.context_kind) +
             (p.expert != own.expert) + (p.expert_tensor != own.expert_tensor) +
             (p.first_stage_layers != own.first_stage_layers) +
             (p.last_stage_layers != own.last_stage_layers);
    };
    std::erase_if(near, [](const Member& member) { return member.bound == Seconds(kNever); });
    std::stable_sort(near.begin(), near.end(), [&](const Member& a, const Member& b) {
      return differences(a) < differences(b);
    });
    near.resize(std::min(near.size(), kMostNear));
    return near;
  }

  /// Opens of each choice of degrees the shape with the least bound, and the one with the plainest
  /// schedule: bounds know nothing of memory, and schedules of the same degrees mostly lack it
  /// alike.
  void open_degrees(const LayoutClass& one,
                    const std::vector<Member>& members,
                    Tier& tier,
                    Found& found) const {
    std::set<std::array<int, 5>> seen;
    for (const Member& member : members) {
      if (member.bound == Seconds(kNever) || member.bound > found.limit() ||
          seen.size() >= kMostDegrees) {
        return;
      }
      const ParallelismSpec& p = space_.shapes()[member.shape].layout;
      const int plain = p.schedule == workload::ScheduleKind::one_f_one_b ? 1 : 0;
      if (seen.insert({p.tensor, p.context, p.pipeline, p.expert, plain}).second) {
        open(one, member, tier, found);
      }
    }
  }

  void open_shapes(const LayoutClass& one, Tier& tier, ClassMiss& miss) const {
    const auto list = members(one, tier);
    Found found;
    for (const Member& member : like_plan_1(list)) {
      if (found.timed <= most_timed_ / 2) {
        open(one, member, tier, found);
      }
    }
    open_degrees(one, list, tier, found);
    const int before = found.counted;
    for (const Member& member : list) {
      if (member.bound == Seconds(kNever) || member.bound > found.limit()) {
        break;
      }
      if (found.shapes.count(member.shape) > 0) {
        continue;
      }
      const bool some = found.counted >= before + kLeastOpened;
      if (found.counted >= kMostOpened || found.shapes.size() >= kMostTried ||
          (found.timed > most_timed_ && some)) {
        miss.least = member.bound.si();
        break;
      }
      open(one, member, tier, found);
    }
    if (found.best) {
      miss.step = found.best->time.si();
      miss.nearest = layout_text(found.best->layout);
      if (asked_.estimate > Seconds(0)) {
        miss.behind = found.best->time / asked_.estimate - 1;
      }
      return;
    }
    if (found.shapes.empty() && !list.empty()) {  // none keeps the rules: the first says why
      open(one, list.front(), tier, found);
    }
    miss.nearest = why_none_works(found, miss.least ? list.size() : 0);
  }

  /// @param all  shapes of the class; 0: none was left untried
  static std::string why_none_works(const Found& found, std::size_t all) {
    const std::string none =
        all == 0 ? "none"
                 : fmt::format("none of {} shapes looked at, of {},",
                               core::count(static_cast<double>(found.shapes.size())),
                               core::count(static_cast<double>(all)));
    const auto& missed = found.all.missed;
    const auto nearest =
        std::min_element(missed.begin(), missed.end(), [](const auto& a, const auto& b) {
          return a.second.lack.beyond() < b.second.lack.beyond();
        });
    if (nearest != missed.end()) {
      return fmt::format("{} fits: {}", none, missed_text(nearest->second));
    }
    const auto& rejected = found.all.rejected.list();
    return none + " keeps the rules" + (rejected.empty() ? "" : ": " + why_none(rejected));
  }

  const training::Scenario& s_;
  const Space& space_;
  const ClassesAsked& asked_;
  std::int64_t most_timed_;  ///< for one class
  std::function<void()> look_;
};

}  // namespace

std::vector<ClassMiss> class_misses(const training::Scenario& scenario,
                                    const Space& space,
                                    const ClassesAsked& asked) {
  auto classes = ClassList(space).take();
  std::erase_if(classes, [&](const LayoutClass& one) {
    return std::any_of(asked.plans.begin(), asked.plans.end(),
                       [&](const ParallelismSpec* plan) { return one.has(*plan); });
  });
  core::JointProgress progress(asked.progress, classes.size());
  const ClassSearch search(scenario, space, asked, std::ssize(classes), progress);
  tbb::enumerable_thread_specific<Tier> tiers([&] { return Tier(scenario); });
  std::vector<ClassMiss> out(classes.size());
  const auto taken = core::spread_order(classes.size());
  tbb::parallel_for(std::size_t{0}, classes.size(), [&](std::size_t i) {
    out[taken[i]] = search.find(classes[taken[i]], tiers.local());
    if (const auto told = progress.piece()) {
      told(1);
    }
  });
  return out;
}

}  // namespace headway::plan
