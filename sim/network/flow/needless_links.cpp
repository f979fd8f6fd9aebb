#include "sim/network/flow/needless_links.h"

#include <algorithm>
#include <span>
#include <utility>

#include "sim/network/flow/integer.h"
#include "sim/network/flow/large_vector.h"

namespace headway::network {
namespace {

using Level = FairShare::Level;

constexpr std::size_t kFewLoads = 4;  ///< of a flow: most have no more

/// One flow of a link.
struct User {
  std::uint32_t flow = 0;
  std::uint32_t load = 0;
};

class Reduction {
 public:
  Reduction(FairShareTables tables, const std::vector<bool>& changing)
      : tables_(std::move(tables)), changing_(changing), needless_(tables_.capacity.size()) {
    collect_users();
  }

  FairShareTables result() {
    for (std::uint32_t flow = 0; flow < tables_.bound.size(); ++flow) {
      bound_by_links(flow);
    }
    for (std::uint32_t link = 0; link < needless_.size(); ++link) {
      needless_[link] = !changing_[link] && users(link).size() == 1;
    }
    // A link that is needless may still be what makes another one so.
    for (std::uint32_t link = 0; link < needless_.size(); ++link) {
      if (users(link).size() > 1 && !changing_[link]) {
        needless_[link] = bounds_fit(link) || needless_beside_another(link);
      }
    }
    drop();
    return std::move(tables_);
  }

 private:
  void collect_users() {
    first_user_.assign(tables_.capacity.size() + 1, 0);
    for (const FlowLoad& use : tables_.loads) {
      ++first_user_[use.link + std::size_t{1}];
    }
    for (std::size_t link = 1; link < first_user_.size(); ++link) {
      first_user_[link] += first_user_[link - 1];
    }
    users_.resize(tables_.loads.size());
    std::vector<std::uint32_t> next(first_user_.begin(), first_user_.end() - 1);
    for (std::uint32_t flow = 0; flow < tables_.bound.size(); ++flow) {
      for (const FlowLoad& use : loads(flow)) {
        users_[next[use.link]++] = {flow, use.load};
      }
    }
  }

  [[nodiscard]] std::span<const User> users(std::uint32_t link) const {
    return {users_.data() + first_user_[link], users_.data() + first_user_[link + std::size_t{1}]};
  }

  [[nodiscard]] std::span<const FlowLoad> loads(std::uint32_t flow) const {
    return {tables_.loads.data() + tables_.first_load[flow],
            tables_.loads.data() + tables_.first_load[flow + std::size_t{1}]};
  }

  /// Rule 1.
  void bound_by_links(std::uint32_t flow) {
    Level& bound = tables_.bound[flow];
    for (const FlowLoad& use : loads(flow)) {
      if (!changing_[use.link]) {
        const Level capacity = tables_.capacity[use.link];
        bound = std::min(bound, use.load == 1 ? capacity : capacity / use.load);  // 1: mostly
      }
    }
  }

  /// Rule 2.
  [[nodiscard]] bool bounds_fit(std::uint32_t link) const {
    const auto here = users(link);
    const Level first = tables_.bound[here.front().flow];
    Int128 most = 0, weight = 0;
    bool equal = true;
    for (const User& user : here) {
      const Level bound = tables_.bound[user.flow];
      equal = equal && bound == first;
      weight += user.load;
      most += static_cast<Int128>(bound) * user.load;
      if (most > tables_.capacity[link]) {
        return false;
      }
    }
    return equal || most + weight <= tables_.capacity[link];
  }

  /// Rule 3: the other link is one of every flow's, so of one with few or else the fewest.
  [[nodiscard]] bool needless_beside_another(std::uint32_t link) const {
    const auto here = users(link);
    auto chosen = std::find_if(here.begin(), here.end(), [this](const User& user) {
      return loads(user.flow).size() <= kFewLoads;
    });
    if (chosen == here.end()) {
      chosen = std::min_element(here.begin(), here.end(), [this](const User& a, const User& b) {
        return loads(a.flow).size() < loads(b.flow).size();
      });
    }
    const auto candidates = loads(chosen->flow);
    return std::any_of(candidates.begin(), candidates.end(), [&](const FlowLoad& other) {
      return other.link != link && !changing_[other.link] && covers(other.link, link) &&
             (other.link < link || !covers(link, other.link));
    });
  }

  /// Whether link a is needless beside link b.
  [[nodiscard]] bool covers(std::uint32_t b, std::uint32_t a) const {
    const auto wide = users(b), narrow = users(a);
    if (wide.size() < narrow.size()) {
      return false;
    }
    auto next = wide.begin();
    return std::all_of(narrow.begin(), narrow.end(), [&](const User& user) {
      next = std::lower_bound(next, wide.end(), user.flow,
                              [](const User& u, std::uint32_t flow) { return u.flow < flow; });
      return next != wide.end() && next->flow == user.flow &&
             static_cast<Int128>(tables_.capacity[b]) * user.load <=
                 static_cast<Int128>(tables_.capacity[a]) * next->load;
    });
  }

  void drop() {
    std::uint32_t kept = 0;
    std::uint32_t first = 0;
    for (std::size_t flow = 0; flow < tables_.bound.size(); ++flow) {
      const std::uint32_t end = tables_.first_load[flow + 1];
      for (std::uint32_t i = first; i < end; ++i) {
        if (!needless_[tables_.loads[i].link]) {
          tables_.loads[kept++] = tables_.loads[i];
        }
      }
      first = end;
      tables_.first_load[flow + 1] = kept;
    }
    tables_.loads.resize(kept);
  }

  FairShareTables tables_;
  const std::vector<bool>& changing_;
  std::vector<bool> needless_;
  std::vector<std::uint32_t> first_user_;
  LargeVector<User> users_;
};

}  // namespace

FairShareTables without_needless_links(FairShareTables tables, const std::vector<bool>& changing) {
  return Reduction(std::move(tables), changing).result();
}

}  // namespace headway::network
