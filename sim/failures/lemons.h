// Nodes that fail more often than their neighbours, each with a stream of its own, wherever they
// are.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/core/random.h"
#include "sim/core/tick.h"
#include "sim/core/units.h"
#include "sim/failures/law_spec.h"

namespace headway::failures {

/// Lemons as one job sees them.
struct LemonModel {
  double share = 0;
  core::PerSecond extra_rate;  ///< of one lemon, beyond the rate of a good node
  int evict_after = 0;         ///< failures after which a good node takes its place; 0: never
  double cured = 0;            ///< chance that a repair makes it a good node
  std::int64_t nodes = 1;      ///< slots of the job
  std::int64_t spares = 0;     ///< nodes ready at the start
};

/// A node as the spare pool knows it: good, or which lemon, and how often it has failed.
struct Node {
  static constexpr std::uint32_t kGood = 0xffffffffU;
  std::uint32_t lemon = kGood;
  std::uint32_t failures = 0;  ///< counted only where somebody asks
  std::uint32_t record = 0;    ///< what a score remembers of it, where there is one; 0: nothing
  [[nodiscard]] bool good() const { return lemon == kGood; }
};

/// The lemons of one trial. Good nodes have no identity: they are all alike.
///
/// A lemon in the job strikes at its extra rate on the exposed clock; outside it does not. As its
/// law is exponential, the time left is drawn anew when it comes back into the job, and when it has
/// struck: it stays where another node is blamed.
class LemonNodes {
 public:
  LemonNodes(const LemonModel& model, core::RandomStream stream, core::Clock clock);

  /// Exposed tick of the next strike of a lemon in the job; `core::kEndOfTime` if none is there.
  [[nodiscard]] core::Tick next() const;
  /// Slot of the lemon that strikes next; there must be one.
  [[nodiscard]] std::uint64_t next_slot() const;

  /// The lemon that strikes next has struck; draws its next strike.
  void take();

  /// The node in `slot` leaves the job.
  Node remove(std::uint64_t slot);
  /// `node` takes `slot` at `exposed`.
  void insert(Node node, std::uint64_t slot, core::Tick exposed);
  /// The `index`-th of the spares that are ready at the start; asked before any node moves.
  [[nodiscard]] Node initial_spare(std::uint64_t index) const;
  [[nodiscard]] const LemonModel& model() const { return model_; }

 private:
  struct Lemon {
    std::uint64_t slot = 0;  ///< in the job; of a spare: nodes + its index
    core::Tick strike = 0;
    std::uint64_t draws = 0;
    bool in_job = false;
  };

  [[nodiscard]] std::uint32_t earliest() const;
  void draw_strike(std::uint32_t lemon, core::Tick exposed);

  LemonModel model_;
  core::RandomStream stream_;
  core::Clock clock_;
  std::vector<Lemon> lemons_;
};

}  // namespace headway::failures
