#include "sim/plan/shortlist/shortlist.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <numeric>
#include <oneapi/tbb/enumerable_thread_specific.h>
#include <oneapi/tbb/parallel_for.h>
#include <tuple>
#include <utility>

#include "sim/core/text.h"
#include "sim/training/unequal/node_kinds.h"

namespace headway::plan {

using core::Seconds;
using namespace core::literals;

namespace {

auto family_of(const ParallelismSpec& p) {
  return std::tuple(p.tensor, p.context, p.pipeline, p.expert, p.expert_tensor);
}
using Family = decltype(family_of(ParallelismSpec{}));

std::string lack_text(const Lack& lack, const training::NodeSpec& node) {
  const double gib = node.gpu.memory / 1_GiB;
  const double share = 100 * (lack.has / node.gpu.memory);
  switch (lack.memory) {
    case Memory::gpu:
      return fmt::format("needs more than {:.0f} % of the {:.0f} GiB of a {}", share, gib,
                         node.gpu.name);
    case Memory::headroom:
      return fmt::format("leaves less than {} % of the {:.0f} GiB of a {} free",
                         core::number(100 - share), gib, node.gpu.name);
    case Memory::host:
      return fmt::format("moves more to the host than the {} GiB that it has for each GPU",
                         core::number(lack.has / 1_GiB));
  }
  return {};
}

/// Counts layouts that do not fit, and says which came closest.
void reject_missed(const std::map<Memory, Missed>& all,
                   const training::ClusterSpec& cluster,
                   Rejections& rejected) {
  for (const auto& [memory, missed] : all) {
    const std::string kind(core::to_word(memory));
    const auto& node = training::node_of_kind(cluster, missed.lack.kind);
    const std::string reason = lack_text(missed.lack, node);
    rejected.add(kind, reason, missed.count);
    rejected.set_nearest(kind, reason, missed.lack.beyond(), missed_text(missed));
  }
}

/// The best of all shapes so far.
class Kept {
 public:
  explicit Kept(const ShortlistOptions& options) : options_(options) {}

  void add(std::vector<Estimate> list) {
    if (list.empty()) {
      return;
    }
    for (Estimate& one : list) {
      const auto family = family_of(one.layout);
      families_.try_emplace(family, options_.of_family).first->second.add(std::move(one));
    }
    std::vector<double> times;
    for (const auto& [family, best] : families_) {
      for (const Estimate& one : best.list()) {
        times.push_back(one.time.si());
      }
    }
    slowest_ =
        times.empty() ? Seconds(kNever) : Seconds(*std::max_element(times.begin(), times.end()));
    if (times.size() >= options_.most) {
      const auto last = times.begin() + static_cast<std::ptrdiff_t>(options_.most) - 1;
      std::nth_element(times.begin(), last, times.end());
      limit_ = Seconds(*last);
    }
  }

  [[nodiscard]] Seconds limit() const { return limit_; }
  /// Where there is no limit yet, the slowest that is kept: more and faster ones will be.
  [[nodiscard]] Seconds likely_limit() const { return std::min(limit_, slowest_); }
  /// Of a family.
  [[nodiscard]] Seconds limit(const ParallelismSpec& layout) const {
    const auto found = families_.find(family_of(layout));
    return found == families_.end() ? limit_ : std::min(limit_, found->second.limit());
  }

  [[nodiscard]] std::vector<Estimate> all() const {
    std::vector<Estimate> list;
    for (const auto& [family, best] : families_) {
      list.insert(list.end(), best.list().begin(), best.list().end());
    }
    std::sort(list.begin(), list.end(), better);
    list.resize(std::min(list.size(), options_.most));
    return list;
  }

 private:
  const ShortlistOptions& options_;
  std::map<Family, Best> families_;
  Seconds limit_{kNever};
  Seconds slowest_{kNever};
};

/// How many shapes, from one place on, will be opened as far as is known now.
std::size_t to_open(std::size_t from,
                    const Kept& kept,
                    const std::vector<Shape>& shapes,
                    const std::vector<Seconds>& bounds,
                    const std::vector<std::size_t>& order) {
  const auto first = order.begin() + static_cast<std::ptrdiff_t>(from);
  const Seconds limit = kept.likely_limit();
  const auto beyond = std::partition_point(first, order.end(), [&](std::size_t i) {
    return bounds[i] <= limit && bounds[i] < Seconds(kNever);
  });
  return static_cast<std::size_t>(std::count_if(
      first, beyond, [&](std::size_t i) { return bounds[i] <= kept.limit(shapes[i].layout); }));
}

/// One shape fewer is left; several threads say so. No more is told once none is.
void tell_one_less(std::atomic<std::size_t>& left, const std::function<void(std::size_t)>& tell) {
  std::size_t now = left;
  while (now > 0 && !left.compare_exchange_weak(now, now - 1)) {
  }
  if (now > 0) {
    tell(now - 1);
  }
}

/// What a layout that was left out for being slower would have had to reach.
void name_nearest(Seconds limit,
                  const ShortlistOptions& options,
                  const workload::TrainingSpec& training,
                  Rejections& rejected) {
  if (std::isfinite(limit.si())) {
    rejected.set_nearest(
        kSlower, kManyFaster, limit.si() / training.global_batch / training.sequence_length,
        fmt::format("the slowest of the {} that were kept, at most {} with the same degrees, takes "
                    "{} s by the analytic tier",
                    options.most, options.of_family, core::number(limit.si())));
  }
}

}  // namespace

bool same_family(const ParallelismSpec& a, const ParallelismSpec& b) {
  return family_of(a) == family_of(b);
}

Shortlist make_shortlist(const training::Scenario& scenario,
                         const Space& space,
                         const ShortlistOptions& options) {
  tbb::enumerable_thread_specific<Tier> tiers([&] { return Tier(scenario); });
  const auto& shapes = space.shapes();
  const auto search_of = [&](std::size_t i) {
    ShapeSearch search(scenario, space, shapes[i], space.first(i), options.headroom, tiers.local());
    search.call_often(options.look);
    return search;
  };
  std::vector<Seconds> bounds(shapes.size());
  tbb::parallel_for(std::size_t{0}, shapes.size(),
                    [&](std::size_t i) { bounds[i] = search_of(i).bound(); });
  const std::vector<std::size_t> order = rising(bounds);
  Shortlist out;
  Kept kept(options);
  // A wave's limits are those before it, so that the same is opened whatever the threads.
  constexpr std::size_t kWave = 16;
  for (std::size_t begin = 0; begin < order.size(); begin += kWave) {
    const std::size_t end = std::min(begin + kWave, order.size());
    std::vector<Opened> opened(end - begin);
    std::atomic<std::size_t> left = to_open(begin, kept, shapes, bounds, order);
    tbb::parallel_for(begin, end, [&](std::size_t i) {
      const std::size_t shape = order[i];
      const Seconds limit = kept.limit(shapes[shape].layout);
      if (bounds[shape] == Seconds(kNever) || bounds[shape] <= limit) {
        opened[i - begin] = search_of(shape).open(limit, options.of_family);
        if (options.left && bounds[shape] < Seconds(kNever)) {
          tell_one_less(left, options.left);
        }
      } else {
        ShapeSearch::add_slower(opened[i - begin].rejected, space.layouts(shapes[shape]));
      }
    });
    for (Opened& one : opened) {
      out.rejected.add(one.rejected);
      out.estimated += one.estimated;
      for (const auto& [memory, missed] : one.missed) {
        add_missed(missed, out.missed);
      }
      kept.add(std::move(one.best));
    }
  }
  reject_missed(out.missed, scenario.cluster, out.rejected);
  out.layouts = kept.all();
  const std::int64_t dropped = space.layouts() - out.rejected.total() - std::ssize(out.layouts);
  ShapeSearch::add_slower(out.rejected, dropped);
  name_nearest(kept.limit(), options, scenario.training, out.rejected);
  out.bounds = std::move(bounds);
  return out;
}

}  // namespace headway::plan
