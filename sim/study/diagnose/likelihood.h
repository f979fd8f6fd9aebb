// How well a prediction explains figures: a normal distribution with errors that figures share.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

namespace headway::study {

/// Errors that several figures share.
inline constexpr std::size_t kSharedErrors = 2;

/// One figure as the likelihood sees it.
struct Residual {
  double difference = 0;  ///< measured less predicted
  double deviation = 0;   ///< its own standard deviation: noise and own error of the prediction
  std::array<double, kSharedErrors> shared{};  ///< what it has of each shared error
};

/// log of the normal density of all residuals, less the constant n/2 log(2 pi):
///     -1/2 (r' C^-1 r + log det C),  C = diag(d^2) + U U'
/// by Woodbury's identity and the determinant lemma for the two columns of U.
/// @pre every deviation is above zero
double log_likelihood(const std::vector<Residual>& residuals);

/// log of the mean of exp(values); the values may be far from zero.
double log_mean(const std::vector<double>& values);
/// The same where each counts by its weight.
/// @pre as many weights as values, none below zero and one above it
double log_mean(const std::vector<double>& values, const std::vector<double>& weights);

}  // namespace headway::study
