// Physical quantities whose dimensions the compiler checks: Bytes / BytesPerSecond is Seconds.
#pragma once

#include <compare>

namespace headway::core {

/// A number with dimensions; the exponents of second, byte, floating-point operation, dollar and
/// joule. Holds one double in SI units (bytes and operations count as units).
template <int time, int data, int work, int money, int energy>
class Quantity {
 public:
  constexpr Quantity() = default;
  /// @param in_si value in SI units: s, B, FLOP, USD, J and their products
  constexpr explicit Quantity(double in_si) : value_(in_si) {}

  /// Value in SI units.
  [[nodiscard]] constexpr double si() const { return value_; }

  constexpr Quantity& operator+=(Quantity other) { return value_ += other.value_, *this; }
  constexpr Quantity& operator-=(Quantity other) { return value_ -= other.value_, *this; }
  constexpr Quantity& operator*=(double factor) { return value_ *= factor, *this; }
  constexpr Quantity& operator/=(double divisor) { return value_ /= divisor, *this; }

  friend constexpr Quantity operator+(Quantity a, Quantity b) { return a += b; }
  friend constexpr Quantity operator-(Quantity a, Quantity b) { return a -= b; }
  friend constexpr Quantity operator-(Quantity a) { return Quantity(-a.value_); }
  friend constexpr Quantity operator*(Quantity a, double b) { return a *= b; }
  friend constexpr Quantity operator*(double a, Quantity b) { return b *= a; }
  friend constexpr Quantity operator/(Quantity a, double b) { return a /= b; }
  friend constexpr auto operator<=>(Quantity a, Quantity b) = default;

 private:
  double value_ = 0;
};

/// Product; a product without dimensions is a plain double.
template <int t1, int d1, int w1, int m1, int e1, int t2, int d2, int w2, int m2, int e2>
constexpr auto operator*(Quantity<t1, d1, w1, m1, e1> a, Quantity<t2, d2, w2, m2, e2> b) {
  if constexpr (t1 + t2 == 0 && d1 + d2 == 0 && w1 + w2 == 0 && m1 + m2 == 0 && e1 + e2 == 0) {
    return a.si() * b.si();
  } else {
    return Quantity<t1 + t2, d1 + d2, w1 + w2, m1 + m2, e1 + e2>(a.si() * b.si());
  }
}

/// Quotient; a quotient of equal dimensions is a plain double.
template <int t1, int d1, int w1, int m1, int e1, int t2, int d2, int w2, int m2, int e2>
constexpr auto operator/(Quantity<t1, d1, w1, m1, e1> a, Quantity<t2, d2, w2, m2, e2> b) {
  if constexpr (t1 == t2 && d1 == d2 && w1 == w2 && m1 == m2 && e1 == e2) {
    return a.si() / b.si();
  } else {
    return Quantity<t1 - t2, d1 - d2, w1 - w2, m1 - m2, e1 - e2>(a.si() / b.si());
  }
}

template <int t, int d, int w, int m, int e>
constexpr auto operator/(double a, Quantity<t, d, w, m, e> b) {
  return Quantity<-t, -d, -w, -m, -e>(a / b.si());
}

using Seconds = Quantity<1, 0, 0, 0, 0>;
using PerSecond = Quantity<-1, 0, 0, 0, 0>;
using Bytes = Quantity<0, 1, 0, 0, 0>;
using BytesPerSecond = Quantity<-1, 1, 0, 0, 0>;
using Flops = Quantity<0, 0, 1, 0, 0>;
using FlopsPerSecond = Quantity<-1, 0, 1, 0, 0>;
using Dollars = Quantity<0, 0, 0, 1, 0>;
using DollarsPerSecond = Quantity<-1, 0, 0, 1, 0>;
using DollarsPerByte = Quantity<0, -1, 0, 1, 0>;
using DollarsPerByteSecond = Quantity<-1, -1, 0, 1, 0>;
using DollarsPerJoule = Quantity<0, 0, 0, 1, -1>;
using Joules = Quantity<0, 0, 0, 0, 1>;
using Watts = Quantity<-1, 0, 0, 0, 1>;

inline namespace literals {
constexpr Seconds operator""_ps(long double v) { return Seconds(static_cast<double>(v) * 1e-12); }
constexpr Seconds operator""_ps(unsigned long long v) {
  return Seconds(static_cast<double>(v) * 1e-12);
}
constexpr Seconds operator""_us(long double v) { return Seconds(static_cast<double>(v) * 1e-6); }
constexpr Seconds operator""_us(unsigned long long v) {
  return Seconds(static_cast<double>(v) * 1e-6);
}
constexpr Seconds operator""_ms(long double v) { return Seconds(static_cast<double>(v) * 1e-3); }
constexpr Seconds operator""_ms(unsigned long long v) {
  return Seconds(static_cast<double>(v) * 1e-3);
}
constexpr Seconds operator""_s(long double v) { return Seconds(static_cast<double>(v)); }
constexpr Seconds operator""_s(unsigned long long v) { return Seconds(static_cast<double>(v)); }
constexpr Seconds operator""_min(unsigned long long v) {
  return Seconds(static_cast<double>(v) * 60);
}
constexpr Seconds operator""_h(long double v) { return Seconds(static_cast<double>(v) * 3600); }
constexpr Seconds operator""_h(unsigned long long v) {
  return Seconds(static_cast<double>(v) * 3600);
}
constexpr Seconds operator""_days(unsigned long long v) {
  return Seconds(static_cast<double>(v) * 86400);
}
constexpr Bytes operator""_B(unsigned long long v) { return Bytes(static_cast<double>(v)); }
constexpr Bytes operator""_KiB(unsigned long long v) {
  return Bytes(static_cast<double>(v) * 1024);
}
constexpr Bytes operator""_MiB(unsigned long long v) {
  return Bytes(static_cast<double>(v) * 1048576);
}
constexpr Bytes operator""_GiB(unsigned long long v) {
  return Bytes(static_cast<double>(v) * 1073741824);
}
constexpr Bytes operator""_GB(unsigned long long v) { return Bytes(static_cast<double>(v) * 1e9); }
constexpr BytesPerSecond operator""_GBps(long double v) {
  return BytesPerSecond(static_cast<double>(v) * 1e9);
}
constexpr BytesPerSecond operator""_GBps(unsigned long long v) {
  return BytesPerSecond(static_cast<double>(v) * 1e9);
}
constexpr BytesPerSecond operator""_Gbps(unsigned long long v) {
  return BytesPerSecond(static_cast<double>(v) * 1e9 / 8);
}
constexpr FlopsPerSecond operator""_TFLOPs(long double v) {
  return FlopsPerSecond(static_cast<double>(v) * 1e12);
}
constexpr FlopsPerSecond operator""_TFLOPs(unsigned long long v) {
  return FlopsPerSecond(static_cast<double>(v) * 1e12);
}
}  // namespace literals

}  // namespace headway::core
