// Clock, power, temperature and throttle reasons of a GPU, through NVML opened at run time.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace headway::measure {

/// What the driver said at one instant.
struct Reading {
  double clock_hz = 0;  ///< SM clock
  double memory_clock_hz = 0;
  double power_w = 0;  ///< the driver's own average, up to 1 s long
  double temperature_c = 0;
  double energy_j = 0;        ///< since the driver was loaded; 0 if the GPU does not count it
  std::uint64_t reasons = 0;  ///< NVML's clock event reasons, a bit mask
};

/// Clock event reasons that mean: slower than the load asked for. Source: nvml.h, "Clock Event
/// Reasons": power cap 0x4, hardware slowdown 0x8, thermal 0x20 and 0x40, power brake 0x80.
constexpr std::uint64_t kThrottleReasons = 0x4 | 0x8 | 0x20 | 0x40 | 0x80;

/// Constant facts of the board.
struct BoardFacts {
  std::string driver;
  double power_limit_w = 0;
  double maximum_clock_hz = 0;
};

/// The driver's view of one GPU.
class Telemetry {
 public:
  virtual ~Telemetry() = default;
  virtual Reading read() = 0;
  virtual BoardFacts facts() = 0;
};

/// NVML's view of the GPU at `pci_bus_id` ("00000000:18:00.0").
/// @throws std::runtime_error with the reason if NVML cannot be opened or does not know the GPU
std::unique_ptr<Telemetry> open_nvml(const std::string& pci_bus_id);

/// Time over which the energy counter tells the power [s]: it moves every 20 to 100 ms (H200: 150
/// to 2,100 W over windows of some milliseconds at a steady 700 W).
constexpr double kEnergyWindow = 1;

/// Mean of several readings; power from the energy counter where first and last are a second apart.
class ReadingMean {
 public:
  /// @param time_s of the reading, on any clock that rises
  void add(const Reading& reading, double time_s);
  [[nodiscard]] bool empty() const { return count_ == 0; }
  [[nodiscard]] Reading mean() const;  ///< reasons: all that were ever set

 private:
  Reading sum_, first_, last_;
  double first_s_ = 0, last_s_ = 0;
  int count_ = 0;
  std::uint64_t reasons_ = 0;
};

}  // namespace headway::measure
