#include "calibrate/measure/host/nvml.h"

#include <stdexcept>

#include "calibrate/measure/host/dynamic_library.h"

namespace headway::measure {

namespace {

// The part of nvml.h that is used; the header is not in every CUDA toolkit. Names as in nvml.h.
using Device = struct nvmlDevice_st*;
constexpr int kSuccess = 0;
constexpr int kClockSm = 1;
constexpr int kClockMemory = 2;
constexpr int kTemperatureGpu = 0;

struct Functions {
  int (*init)() = nullptr;
  const char* (*error_string)(int) = nullptr;
  int (*by_bus_id)(const char*, Device*) = nullptr;
  int (*clock)(Device, int, unsigned*) = nullptr;
  int (*maximum_clock)(Device, int, unsigned*) = nullptr;
  int (*power)(Device, unsigned*) = nullptr;
  int (*power_limit)(Device, unsigned*) = nullptr;
  int (*temperature)(Device, int, unsigned*) = nullptr;
  int (*energy)(Device, unsigned long long*) = nullptr;
  int (*reasons)(Device, unsigned long long*) = nullptr;
  int (*driver)(char*, unsigned) = nullptr;
};

Functions load_functions() {
  const DynamicLibrary library({"libnvidia-ml.so.1", "libnvidia-ml.so"});
  Functions f;
  library.load(f.init, "nvmlInit_v2");
  library.load(f.error_string, "nvmlErrorString");
  library.load(f.by_bus_id, "nvmlDeviceGetHandleByPciBusId_v2");
  library.load(f.clock, "nvmlDeviceGetClockInfo");
  library.load(f.maximum_clock, "nvmlDeviceGetMaxClockInfo");
  library.load(f.power, "nvmlDeviceGetPowerUsage");
  library.load(f.power_limit, "nvmlDeviceGetEnforcedPowerLimit");
  library.load(f.temperature, "nvmlDeviceGetTemperature");
  library.load(f.driver, "nvmlSystemGetDriverVersion");
  library.load_optional(f.energy, "nvmlDeviceGetTotalEnergyConsumption");
  library.load_optional(f.reasons, "nvmlDeviceGetCurrentClocksEventReasons");
  if (f.reasons == nullptr) {  // its name before driver 535
    library.load(f.reasons, "nvmlDeviceGetCurrentClocksThrottleReasons");
  }
  return f;
}

class NvmlTelemetry final : public Telemetry {
 public:
  explicit NvmlTelemetry(const std::string& pci_bus_id) : functions_(load_functions()) {
    check(functions_.init(), "nvmlInit_v2");
    check(functions_.by_bus_id(pci_bus_id.c_str(), &device_), "nvmlDeviceGetHandleByPciBusId_v2");
  }

  // A reading that the GPU or its hypervisor refuses stays 0, "not recorded".
  Reading read() override {
    Reading reading;
    reading.clock_hz = 1e6 * asked(functions_.clock, kClockSm);
    reading.memory_clock_hz = 1e6 * asked(functions_.clock, kClockMemory);
    reading.temperature_c = asked(functions_.temperature, kTemperatureGpu);
    unsigned milliwatts = 0;
    if (functions_.power(device_, &milliwatts) == kSuccess) {
      reading.power_w = 1e-3 * milliwatts;
    }
    unsigned long long millijoules = 0;
    if (functions_.energy != nullptr && functions_.energy(device_, &millijoules) == kSuccess) {
      reading.energy_j = 1e-3 * static_cast<double>(millijoules);
    }
    unsigned long long reasons = 0;
    if (functions_.reasons(device_, &reasons) == kSuccess) {
      reading.reasons = reasons;
    }
    return reading;
  }

  BoardFacts facts() override {
    BoardFacts facts;
    char text[96] = {};
    check(functions_.driver(text, sizeof text), "nvmlSystemGetDriverVersion");
    facts.driver = text;
    unsigned milliwatts = 0;
    if (functions_.power_limit(device_, &milliwatts) == kSuccess) {
      facts.power_limit_w = 1e-3 * milliwatts;
    }
    facts.maximum_clock_hz = 1e6 * asked(functions_.maximum_clock, kClockSm);
    return facts;
  }

 private:
  void check(int code, const char* call) const {
    if (code != kSuccess) {
      throw std::runtime_error(std::string(call) + ": " + functions_.error_string(code));
    }
  }
  [[nodiscard]] double asked(int (*function)(Device, int, unsigned*), int which) const {
    unsigned value = 0;
    return function(device_, which, &value) == kSuccess ? static_cast<double>(value) : 0;
  }

  Functions functions_;
  Device device_ = nullptr;
};

}  // namespace

std::unique_ptr<Telemetry> open_nvml(const std::string& pci_bus_id) {
  return std::make_unique<NvmlTelemetry>(pci_bus_id);
}

void ReadingMean::add(const Reading& reading, double time_s) {
  if (count_ == 0) {
    first_ = reading;
    first_s_ = time_s;
  }
  last_ = reading;
  last_s_ = time_s;
  sum_.clock_hz += reading.clock_hz;
  sum_.memory_clock_hz += reading.memory_clock_hz;
  sum_.power_w += reading.power_w;
  sum_.temperature_c += reading.temperature_c;
  reasons_ |= reading.reasons;
  ++count_;
}

Reading ReadingMean::mean() const {
  Reading mean;
  if (count_ == 0) {
    return mean;
  }
  mean.clock_hz = sum_.clock_hz / count_;
  mean.memory_clock_hz = sum_.memory_clock_hz / count_;
  mean.power_w = sum_.power_w / count_;
  mean.temperature_c = sum_.temperature_c / count_;
  mean.energy_j = last_.energy_j - first_.energy_j;
  if (mean.energy_j > 0 && last_s_ - first_s_ >= kEnergyWindow) {
    mean.power_w = mean.energy_j / (last_s_ - first_s_);
  }
  mean.reasons = reasons_;
  return mean;
}

}  // namespace headway::measure
