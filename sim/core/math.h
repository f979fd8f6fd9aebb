// Logarithm, exponential and normal quantile that give the same bits with every compiler and C
// library.
//
// They use only the operations that IEEE 754 defines exactly (+ - * / sqrt) and need
// -ffp-contract=off, which the build sets. Random draws go through these; std::log may differ in
// its last bit between libraries.
#pragma once

namespace headway::core {

/// Natural logarithm, within 1 ulp.
/// @param x  zero gives -infinity, a negative number or NaN gives NaN
/// Method and coefficients: fdlibm e_log.c (Sun Microsystems, 1993).
double portable_log(double x);

/// e to the x, within 1 ulp where the result is normal.
/// @param x  above 709.78 gives infinity, below -745.13 gives zero
/// Method and coefficients: fdlibm e_exp.c (Sun Microsystems, 1993).
double portable_exp(double x);

/// x to the y as exp(y log x); the relative error is about (1 + |y log x|) 2^-53.
/// @param x  positive or zero
double portable_pow(double x, double y);

/// The x below which a standard normal variable lies with the given probability; relative error
/// about 1e-15.
/// @param probability  above 0 and below 1
/// Source: Wichura, "Algorithm AS 241: the percentage points of the normal distribution", Applied
/// Statistics 1988.
double normal_quantile(double probability);

/// Expected largest of `count` independent standard normal numbers; 0 for one. Source: Blom,
/// Statistical Estimates and Transformed Beta-Variables, 1958: the quantile at (n - 3/8)/(n + 1/4).
double expected_maximum(double count);

}  // namespace headway::core
