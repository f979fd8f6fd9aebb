#include "sim/config/unit_text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <string>

namespace headway::config {
namespace {

constexpr Dimension kTime{1, 0, 0, 0, 0};
constexpr Dimension kData{0, 1, 0, 0, 0};
constexpr Dimension kBandwidth{-1, 1, 0, 0, 0};
constexpr Dimension kRate{-1, 0, 1, 0, 0};
constexpr Dimension kWork{0, 0, 1, 0, 0};
constexpr Dimension kMoney{0, 0, 0, 1, 0};
constexpr Dimension kMoneyPerTime{-1, 0, 0, 1, 0};
constexpr Dimension kMoneyPerData{0, -1, 0, 1, 0};
constexpr Dimension kMoneyPerDataTime{-1, -1, 0, 1, 0};
constexpr Dimension kMoneyPerEnergy{0, 0, 0, 1, -1};
constexpr Dimension kEnergy{0, 0, 0, 0, 1};
constexpr Dimension kPower{-1, 0, 0, 0, 1};
constexpr Dimension kFrequency{-1, 0, 0, 0, 0};

double si(const std::string& text, Dimension dimension) {
  std::string why;
  const auto value = parse_quantity(text, dimension, why);
  EXPECT_TRUE(value.has_value()) << text << ": " << why;
  return value.value_or(std::numeric_limits<double>::quiet_NaN());
}

std::string complaint(const std::string& text, Dimension dimension) {
  std::string why;
  EXPECT_FALSE(parse_quantity(text, dimension, why).has_value()) << text;
  return why;
}

struct Example {
  const char* text;
  Dimension dimension;
  double si;
};

constexpr std::array kExamples{
    Example{"3 ps", kTime, 3e-12},
    Example{"3 ns", kTime, 3e-9},
    Example{"5 us", kTime, 5e-6},
    Example{"7 ms", kTime, 7e-3},
    Example{"2 s", kTime, 2},
    Example{"2 second", kTime, 2},
    Example{"2 seconds", kTime, 2},
    Example{"3 min", kTime, 180},
    Example{"1 minute", kTime, 60},
    Example{"3 minutes", kTime, 180},
    Example{"1.5 h", kTime, 5400},
    Example{"1 hour", kTime, 3600},
    Example{"2 hours", kTime, 7200},
    Example{"2 d", kTime, 172800},
    Example{"1 day", kTime, 86400},
    Example{"54 days", kTime, 54.0 * 86400},
    Example{"1 week", kTime, 604800},
    Example{"2 weeks", kTime, 1209600},
    Example{"1 month", kTime, 730.0 * 3600},
    Example{"2 months", kTime, 1460.0 * 3600},
    Example{"1 year", kTime, 365.0 * 86400},
    Example{"3 years", kTime, 1095.0 * 86400},
    Example{"3 Hz", kFrequency, 3},
    Example{"3 kHz", kFrequency, 3e3},
    Example{"3 MHz", kFrequency, 3e6},
    Example{"3 GHz", kFrequency, 3e9},
    Example{"7 B", kData, 7},
    Example{"7 kB", kData, 7e3},
    Example{"7 KB", kData, 7e3},
    Example{"7 MB", kData, 7e6},
    Example{"7 GB", kData, 7e9},
    Example{"7 TB", kData, 7e12},
    Example{"7 PB", kData, 7e15},
    Example{"7 EB", kData, 7e18},
    Example{"3 KiB", kData, 3072},
    Example{"1 MiB", kData, 1048576},
    Example{"80 GiB", kData, 85899345920},
    Example{"1 TiB", kData, 1099511627776},
    Example{"1 PiB", kData, 1125899906842624},
    Example{"1 EiB", kData, 1152921504606846976},
    Example{"8 bit", kData, 1},
    Example{"8 kbit", kData, 1e3},
    Example{"8 Mbit", kData, 1e6},
    Example{"8 Gbit", kData, 1e9},
    Example{"8 Tbit", kData, 1e12},
    Example{"8 bps", kBandwidth, 1},
    Example{"8 kbps", kBandwidth, 1e3},
    Example{"8 Mbps", kBandwidth, 1e6},
    Example{"400 Gbps", kBandwidth, 50e9},
    Example{"1.6 Tbps", kBandwidth, 200e9},
    Example{"400 Gbit/s", kBandwidth, 50e9},
    Example{"50 GB/s", kBandwidth, 50e9},
    Example{"3.35 TB/s", kBandwidth, 3.35e12},
    Example{"1 GiB/s", kBandwidth, 1073741824},
    Example{"60 GB/min", kBandwidth, 1e9},
    Example{"2 FLOP", kWork, 2},
    Example{"2 MFLOP", kWork, 2e6},
    Example{"2 GFLOP", kWork, 2e9},
    Example{"2 TFLOP", kWork, 2e12},
    Example{"2 PFLOP", kWork, 2e15},
    Example{"2 EFLOP", kWork, 2e18},
    Example{"2 ZFLOP", kWork, 2e21},
    Example{"989.4 TFLOP/s", kRate, 989.4e12},
    Example{"2 PFLOP/s", kRate, 2e15},
    Example{"2 GFLOPs", kRate, 2e9},
    Example{"2 TFLOPs", kRate, 2e12},
    Example{"2 PFLOPs", kRate, 2e15},
    Example{"2 EFLOPs", kRate, 2e18},
    Example{"2 GFLOPS", kRate, 2e9},
    Example{"2 TFLOPS", kRate, 2e12},
    Example{"2 PFLOPS", kRate, 2e15},
    Example{"2 EFLOPS", kRate, 2e18},
    Example{"700 W", kPower, 700},
    Example{"1.2 kW", kPower, 1200},
    Example{"3 MW", kPower, 3e6},
    Example{"1 GW", kPower, 1e9},
    Example{"2 J/s", kPower, 2},
    Example{"2 J", kEnergy, 2},
    Example{"2 kJ", kEnergy, 2e3},
    Example{"2 MJ", kEnergy, 2e6},
    Example{"1 Wh", kEnergy, 3600},
    Example{"1 kWh", kEnergy, 3.6e6},
    Example{"1 MWh", kEnergy, 3.6e9},
    Example{"1 GWh", kEnergy, 3.6e12},
    Example{"5 USD", kMoney, 5},
    Example{"3.6 USD/h", kMoneyPerTime, 0.001},
    Example{"2 USD/TB", kMoneyPerData, 2e-12},
    // 30 USD per 10^12 bytes and 730 hours
    Example{"30 USD/TB/month", kMoneyPerDataTime, 30.0 / (1e12 * 730 * 3600)},
    Example{"0.36 USD/kWh", kMoneyPerEnergy, 1e-7},
};

TEST(UnitText, ReadsEveryUnit) {
  for (const Example& example : kExamples) {
    EXPECT_DOUBLE_EQ(si(example.text, example.dimension), example.si) << example.text;
  }
}

TEST(UnitText, HasAnExampleOfEverySingleUnit) {
  for (const Dimension dimension :
       {kTime, kData, kBandwidth, kRate, kWork, kMoney, kEnergy, kPower, kFrequency}) {
    for (const std::string& spelling : unit_spellings(dimension)) {
      const bool shown =
          std::any_of(kExamples.begin(), kExamples.end(), [&](const Example& example) {
            return example.dimension == dimension &&
                   std::string(example.text).ends_with(" " + spelling);
          });
      EXPECT_TRUE(shown) << spelling;
    }
  }
}

TEST(UnitText, RoundsOnceSoThatADecimalIsTheNearestDouble) {
  EXPECT_EQ(si("5 us", kTime), 5e-6);
  EXPECT_EQ(si("0.3 ms", kTime), 0.3e-3);
  EXPECT_EQ(si("7 ps", kTime), 7e-12);
}

TEST(UnitText, TakesTheUnitWithOrWithoutASpace) {
  EXPECT_EQ(si("400Gbps", kBandwidth), si("400 Gbps", kBandwidth));
  EXPECT_EQ(si("2e3 GB / s", kBandwidth), 2e12);
  EXPECT_EQ(si("+.5 h", kTime), 1800);
  EXPECT_EQ(si("1e3B", kData), 1000);
}

TEST(UnitText, SuggestsUnitsForABareNumber) {
  EXPECT_EQ(complaint("400", kBandwidth), "'400' has no unit; write '400 Gbps' or '50 GB/s'");
  EXPECT_EQ(complaint("80", kData), "'80' has no unit; write '80 GiB' or '80 GB'");
  EXPECT_EQ(complaint("0", kTime), "'0' has no unit; write '0 s' or '0 min'");
  EXPECT_EQ(complaint("989", kRate), "'989' has no unit; write '989 TFLOP/s' or '989 PFLOP/s'");
  EXPECT_EQ(complaint("3", kMoney), "'3' has no unit; write '3 USD'");
}

TEST(UnitText, NamesTheKindOfAWrongUnit) {
  EXPECT_EQ(complaint("80 Gbps", kData), "'80 Gbps' is a bandwidth, not a size; write it in GiB");
  EXPECT_EQ(complaint("2 USD", kMoneyPerTime),
            "'2 USD' is an amount of money, not a price per time; write it in USD/h");
  EXPECT_EQ(complaint("2 s/B", kBandwidth),
            "'2 s/B' is of another kind, not a bandwidth; write it in Gbps");
}

TEST(UnitText, DoesNotGuessBetweenBitsAndBytes) {
  EXPECT_EQ(complaint("400 Gb/s", kBandwidth),
            "'400 Gb/s': 'Gb/s' is easily misread; write 'Gbps' for bits or 'GB/s' for bytes");
}

TEST(UnitText, RefusesWhatIsNoFiniteNumber) {
  EXPECT_EQ(complaint("nan GiB", kData),
            "'nan GiB' is not a number; write digits, as 8, 0.5 or 1e9");
  EXPECT_EQ(complaint("inf s", kTime), "'inf s' is not a number; write digits, as 8, 0.5 or 1e9");
  EXPECT_EQ(complaint("1e308 PB", kData), "'1e308 PB' lies beyond what a number can hold");
  EXPECT_EQ(complaint("1e999 s", kTime), "'1e999 s' lies beyond what a number can hold");
  EXPECT_EQ(complaint("1_000 s", kTime),
            "'1_000 s' has a '_' in it; write the digits alone, or 1.5e6");
  EXPECT_EQ(complaint("1,5 s", kTime), "'1,5 s' has a ',' in it; write the digits alone, or 1.5e6");
  EXPECT_EQ(complaint("", kTime), "'' is not a number; write digits, as 8, 0.5 or 1e9");
  EXPECT_EQ(complaint("+-1 s", kTime), "'+-1 s' is not a number; write digits, as 8, 0.5 or 1e9");
  EXPECT_EQ(complaint("GiB", kData), "'GiB' is not a number; write digits, as 8, 0.5 or 1e9");
}

TEST(UnitText, WritesTheShortestTextThatReadsBackToTheSameBits) {
  EXPECT_EQ(write_quantity(50e9, kBandwidth), "50 GB/s");
  EXPECT_EQ(write_quantity(85899345920.0, kData), "80 GiB");
  EXPECT_EQ(write_quantity(5e-6, kTime), "5 us");
  EXPECT_EQ(write_quantity(0, kTime), "0 s");
  EXPECT_EQ(write_quantity(2.75 / 3600, kMoneyPerTime), "2.75 USD/h");
  for (const double value : {1.0 / 3, 0.1, 123456789.123, 6.02e23, 1e-300, 4.9e-324}) {
    EXPECT_EQ(si(write_quantity(value, kTime), kTime), value);
    EXPECT_EQ(si(write_quantity(value, kMoneyPerDataTime), kMoneyPerDataTime), value);
  }
}

TEST(UnitText, TakesMagnitudesOfPlainNumbers) {
  std::string why;
  const auto count = [&](const char* text) {
    const auto number = parse_count(text, why);
    return number && number->rest.empty() ? number->value : -1;
  };
  EXPECT_EQ(count("15T"), 15e12);
  EXPECT_EQ(count("1.5 B"), 1.5e9);
  EXPECT_EQ(count("8Ki"), 8192);
  EXPECT_EQ(count("4Mi"), 4.0 * 1024 * 1024);
  EXPECT_EQ(count("8192"), 8192);
  EXPECT_EQ(count("8 nodes"), -1);  // left to who asks
  EXPECT_EQ(parse_count("8 nodes", why)->rest, " nodes");
}

// 2^53 + 1 would be rounded to 2^53, which a limit there lets through.
TEST(UnitText, WhatIsAboveTheLastWholeNumberThatIsKeptStaysAbove) {
  std::string why;
  for (const auto* text : {"9007199254740993", "+9007199254740993", "9007199254740993 B/s",
                           "9.007199254740993e15", "9007199254740992.5", "18446744073709551616"}) {
    EXPECT_GT(parse_number(text, why)->value, kExactIntegers) << text;
  }
  EXPECT_LT(parse_count("-9007199254740993", why)->value, -kExactIntegers);
  for (const auto* text : {"9007199254740992", "9.007199254740992e15", "9007199254740992.0"}) {
    EXPECT_EQ(parse_number(text, why)->value, kExactIntegers) << text;
  }
  EXPECT_EQ(parse_number("9007199254740991", why)->value, kExactIntegers - 1);
}

TEST(UnitText, DoesNotGuessWhatAThousandIs) {
  std::string why;
  for (const auto* text : {"8k", "8 K"}) {
    EXPECT_FALSE(parse_count(text, why).has_value());
    EXPECT_EQ(why, fmt::format("'{}' may be 8000 or 8192; write one of them", text));
  }
  EXPECT_FALSE(parse_count("0.5M", why).has_value());
  EXPECT_EQ(why, "'0.5M' may be 500000 or 524288; write one of them");
  EXPECT_FALSE(parse_count("1e300T", why).has_value());
  EXPECT_EQ(why, "'1e300T' lies beyond what a number can hold");
}

TEST(UnitText, DescribesItsUnitsToTheSchema) {
  EXPECT_EQ(unit_pattern(kPower),
            "((W|kW|MW|GW)|(J|kJ|MJ|Wh|kWh|MWh|GWh)/" + unit_pattern(kTime) + ")");
  EXPECT_EQ(unit_pattern(kMoneyPerTime), "(USD)/" + unit_pattern(kTime));
}

}  // namespace
}  // namespace headway::config
