#include "sim/core/math.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace headway::core {

namespace {

constexpr double kLn2High =
    6.93147180369123816490e-01;  // 32 bits, so that an exponent times it is exact
constexpr double kLn2Low = 1.90821492927058770002e-10;
constexpr double kInverseLn2 = 1.44269504088896338700e+00;
constexpr std::uint64_t kMantissa = 0x000fffffffffffffU;
constexpr std::uint64_t kOne = 0x3ff0000000000000U;

/// 2 to the k, for exponents of normal numbers.
double power_of_two(int k) {
  return std::bit_cast<double>(static_cast<std::uint64_t>(k + 1023) << 52);
}

/// Polynomial with the constant term first.
template <std::size_t n>
double polynomial(const std::array<double, n>& coefficients, double x) {
  double value = coefficients[n - 1];
  for (std::size_t i = n - 1; i-- > 0;) {
    value = value * x + coefficients[i];
  }
  return value;
}

}  // namespace

double portable_log(double x) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (!(x > 0) || x == kInfinity) [[unlikely]] {
    return x == 0 ? -kInfinity : (x == kInfinity ? x : std::numeric_limits<double>::quiet_NaN());
  }
  int k = 0;
  if (x < std::numeric_limits<double>::min()) [[unlikely]] {
    x *= 18014398509481984.0;  // 2^54: subnormal to normal
    k = -54;
  }
  // x = 2^k m with m in [sqrt(1/2), sqrt(2)): raise the mantissa so that it carries at sqrt(2).
  const auto word = std::bit_cast<std::uint64_t>(x);
  const std::uint64_t carry = ((word & kMantissa) + 0x00095f6400000000U) & ~kMantissa;
  k += static_cast<int>((word + carry) >> 52) - 1023;
  const double m = std::bit_cast<double>((word & kMantissa) | (kOne - carry));

  // log(1 + f) = 2 atanh(s) with s = f / (2 + f), arranged so that the large terms are exact.
  const double f = m - 1;
  const double s = f / (2 + f);
  const double z = s * s;
  const double w = z * z;
  const double even = w * (3.999999999940941908e-01 +
                           w * (2.222219843214978396e-01 + w * 1.531383769920937332e-01));
  const double odd = z * (6.666666666666735130e-01 +
                          w * (2.857142874366239149e-01 +
                               w * (1.818357216161805012e-01 + w * 1.479819860511658591e-01)));
  const double half_square = 0.5 * f * f;
  const double exponent = k;
  return exponent * kLn2High -
         ((half_square - (s * (half_square + (even + odd)) + exponent * kLn2Low)) - f);
}

double portable_exp(double x) {
  if (!(x > -745.2 && x < 709.8)) [[unlikely]] {
    return x != x ? x : (x < 0 ? 0.0 : std::numeric_limits<double>::infinity());
  }
  // x = k ln 2 + r with |r| <= ln(2) / 2, in two parts.
  const int k = static_cast<int>(kInverseLn2 * x + (x < 0 ? -0.5 : 0.5));
  const double high = x - k * kLn2High;
  const double low = k * kLn2Low;
  const double r = high - low;
  const double z = r * r;
  constexpr std::array kTerms{1.66666666666666019037e-01, -2.77777777770155933842e-03,
                              6.61375632143793436117e-05, -1.65339022054652515390e-06,
                              4.13813679705723846039e-08};
  const double c = r - z * polynomial(kTerms, z);
  const double y = 1 - ((low - (r * c) / (2 - c)) - high);
  // In two steps, since 2^k alone may be too large or too small for a normal number.
  const int half = k / 2;
  return y * power_of_two(half) * power_of_two(k - half);
}

double portable_pow(double x, double y) {
  return x == 0 && y == 0 ? 1.0 : portable_exp(y * portable_log(x));
}

double normal_quantile(double probability) {
  constexpr std::array kCentre{3.3871328727963666080e0,  1.3314166789178437745e+2,
                               1.9715909503065514427e+3, 1.3731693765509461125e+4,
                               4.5921953931549871457e+4, 6.7265770927008700853e+4,
                               3.3430575583588128105e+4, 2.5090809287301226727e+3};
  constexpr std::array kCentreBelow{1.0,
                                    4.2313330701600911252e+1,
                                    6.8718700749205790830e+2,
                                    5.3941960214247511077e+3,
                                    2.1213794301586595867e+4,
                                    3.9307895800092710610e+4,
                                    2.8729085735721942674e+4,
                                    5.2264952788528545610e+3};
  constexpr std::array kTail{1.42343711074968357734e0,  4.63033784615654529590e0,
                             5.76949722146069140550e0,  3.64784832476320460504e0,
                             1.27045825245236838258e0,  2.41780725177450611770e-1,
                             2.27238449892691845833e-2, 7.74545014278341407640e-4};
  constexpr std::array kTailBelow{1.0,
                                  2.05319162663775882187e0,
                                  1.67638483018380384940e0,
                                  6.89767334985100004550e-1,
                                  1.48103976427480074590e-1,
                                  1.51986665636164571966e-2,
                                  5.47593808499534494600e-4,
                                  1.05075007164441684324e-9};
  constexpr std::array kFar{6.65790464350110377720e0,  5.46378491116411436990e0,
                            1.78482653991729133580e0,  2.96560571828504891230e-1,
                            2.65321895265761230930e-2, 1.24266094738807843860e-3,
                            2.71155556874348757815e-5, 2.01033439929228813265e-7};
  constexpr std::array kFarBelow{1.0,
                                 5.99832206555887937690e-1,
                                 1.36929880922735805310e-1,
                                 1.48753612908506148525e-2,
                                 7.86869131145613259100e-4,
                                 1.84631831751005468180e-5,
                                 1.42151175831644588870e-7,
                                 2.04426310338993978564e-15};
  const double q = probability - 0.5;
  if (std::abs(q) <= 0.425) {
    const double r = 0.180625 - q * q;
    return q * polynomial(kCentre, r) / polynomial(kCentreBelow, r);
  }
  const double r = std::sqrt(-portable_log(q < 0 ? probability : 1 - probability));
  const double distance = r <= 5 ? polynomial(kTail, r - 1.6) / polynomial(kTailBelow, r - 1.6)
                                 : polynomial(kFar, r - 5) / polynomial(kFarBelow, r - 5);
  return q < 0 ? -distance : distance;
}

double expected_maximum(double count) {
  return count > 1 ? normal_quantile((count - 0.375) / (count + 0.25)) : 0;
}

}  // namespace headway::core
