#include "sim/core/units.h"

#include <gtest/gtest.h>
#include <type_traits>

namespace headway::core {
namespace {

template <class A, class B>
concept Addable = requires(A a, B b) {
  a + b;
};
template <class A, class B>
concept Comparable = requires(A a, B b) {
  a < b;
};

// What must not compile is as much a part of the type as what must.
static_assert(Addable<Seconds, Seconds>);
static_assert(!Addable<Seconds, Bytes>);
static_assert(!Addable<Seconds, double>);
static_assert(!Comparable<Dollars, Joules>);
static_assert(Comparable<Dollars, Dollars>);
static_assert(!std::is_convertible_v<double, Seconds>);
static_assert(!std::is_convertible_v<Seconds, double>);
static_assert(sizeof(Seconds) == sizeof(double) && std::is_trivially_copyable_v<Seconds>);

static_assert(std::is_same_v<decltype(Bytes{} / BytesPerSecond{1}), Seconds>);
static_assert(std::is_same_v<decltype(Flops{} / Seconds{1}), FlopsPerSecond>);
static_assert(std::is_same_v<decltype(Watts{} * Seconds{}), Joules>);
static_assert(std::is_same_v<decltype(Joules{} * DollarsPerJoule{}), Dollars>);
static_assert(std::is_same_v<decltype(Bytes{} / Bytes{1}), double>);
static_assert(std::is_same_v<decltype(Seconds{} * PerSecond{}), double>);
static_assert(std::is_same_v<decltype(1.0 / Seconds{1}), PerSecond>);

TEST(Units, DivideBytesByBandwidthIntoSeconds) {
  // 64 MiB at 400 Gbps = 50e9 B/s: 67,108,864 / 50e9 = 1.34217728 ms.
  EXPECT_DOUBLE_EQ((64_MiB / 400_Gbps).si(), 1.34217728e-3);
}

TEST(Units, KeepBitsAndBytesApart) { EXPECT_EQ(400_Gbps, 50_GBps); }

TEST(Units, AddAndScaleWithinOneDimension) {
  Seconds t = 2_ms + 500_us;
  t *= 2;
  EXPECT_DOUBLE_EQ(t.si(), 5e-3);
  t -= 1_ms;
  t /= 4;
  EXPECT_DOUBLE_EQ(t.si(), 1e-3);
  EXPECT_EQ(-t + t, Seconds{});
  EXPECT_EQ(2.0 * t, t * 2.0);
}

TEST(Units, ReadLiteralsInSi) {
  EXPECT_DOUBLE_EQ((7_ps).si(), 7e-12);
  EXPECT_DOUBLE_EQ((1.5_us).si(), 1.5e-6);
  EXPECT_EQ((2_h).si(), 7200);
  EXPECT_EQ((1_days).si(), 86400);
  EXPECT_EQ((80_GiB).si(), 80.0 * 1024 * 1024 * 1024);
  EXPECT_EQ((3_KiB).si(), 3072);
  EXPECT_DOUBLE_EQ((989.5_TFLOPs).si(), 989.5e12);
}

}  // namespace
}  // namespace headway::core
