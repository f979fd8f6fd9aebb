// The errors that likelihoods are made with, and which further measurement would tell causes apart.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "sim/study/diagnose/diagnose.h"

namespace headway::study {

/// Standard deviation of what a simulation says of a feature beside the errors that features share:
/// of the logarithm of a ratio, else of the figure as a share of the healthy step.
/// @param figure  predicted, as such a share
double own_error(Feature feature, double figure, Cause cause);

/// What is not listed moves figures by own_error times one of these, all as likely: from a quarter
/// to a factor of 50. Source: judged; with the quarter alone a bus bandwidth of a thirtieth was put
/// down to a card at a tenth of its rate, though that explains a tenth (NVIDIA/nccl, issue 1453).
inline constexpr std::array kReachOfUnlisted{1.0, 2.0, 4.0, 8.0, 16.0};

/// A witness that may be of something else than is predicted, all its figures together.
struct Doubt {
  std::array<Feature, 2> features;
  double share = 0;      ///< how likely that is
  double deviation = 0;  ///< of the logarithm then

  [[nodiscard]] bool is_of(Feature feature) const {
    return feature == features[0] || feature == features[1];
  }
};
const std::array<Doubt, 2>& doubts();

/// Whether it is as wrong as the speed of kernels is.
bool shares_kernel_error(Feature feature);

/// Of all features that no file shows, and of a suspected node beside one that it was not measured
/// with, the one by which the two likeliest causes that are listed differ most; none where they
/// differ by less than one standard deviation. Where what is not listed is likelier than both, the
/// figure that the first of them says more surely than what is not listed does is given then.
/// @param count  told how much of what is simulated is done; may be empty
std::optional<NextStep> next_step(const Laboratory& laboratory,
                                  const Evidence& evidence,
                                  const std::vector<Suspect>& suspects,
                                  const core::Count& count = {});

}  // namespace headway::study
