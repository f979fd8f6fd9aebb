// The failures of one population of equal parts that age, in order of time, without a clock for
// each part.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/core/random.h"
#include "sim/core/units.h"
#include "sim/failures/law.h"
#include "sim/failures/law_spec.h"

namespace headway::failures {

/// `parts` equal parts of the same age at time 0.
///
/// As the cumulative hazards at which parts fail are exponential with mean 1, those of the first
/// generation come in order as sums of e_i / (parts left) (Renyi 1953): one draw a failure, however
/// many parts there are. `renewed`: a new part takes the place of the failed one; its life is a
/// draw of its own stream. `as_old`: the mended part goes on ageing; failures form a Poisson
/// process of rate parts x h(t).
class AgeingPopulation {
 public:
  AgeingPopulation(const Law& law,
                   std::int64_t parts,
                   core::Seconds age,
                   AfterFailure after_failure,
                   core::RandomStream stream);

  /// Time of the next failure; infinite if there is none.
  [[nodiscard]] core::Seconds next() const;
  /// Lets that failure happen.
  void advance();

 private:
  /// A part of a later generation.
  struct Renewed {
    double time = 0;  ///< of its failure [s]
    std::uint64_t part = 0;
    std::uint64_t generation = 0;
    friend bool operator>(const Renewed& a, const Renewed& b) {
      return a.time != b.time ? a.time > b.time : a.part > b.part;
    }
  };

  void draw_next_original();
  void renew(std::uint64_t part, std::uint64_t generation, double now);

  Law law_;
  double hazard_now_;   // cumulative hazard of the originals' next failure
  double age_;          // [s]
  std::uint64_t left_;  // originals that have not failed
  AfterFailure after_failure_;
  core::RandomStream stream_;
  std::uint64_t event_ = 0;
  double original_ = 0;           // time of the originals' next failure [s]
  std::vector<Renewed> renewed_;  // a heap, earliest first
};

}  // namespace headway::failures
