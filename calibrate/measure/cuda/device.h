// Which GPU there is, what is missing if none is usable, and the circumstances of a measurement.
#pragma once

#include <stdexcept>

#include "calibrate/measure/host/bench.h"

namespace headway::measure {

/// No GPU can be measured; the message names the missing part. Exit code 2.
class NoGpu : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Selects the GPU `device` of this process and proves with one kernel that it can be used.
/// @throws NoGpu naming what is missing: the driver, a GPU, that GPU, code for it
DeviceFacts open_device(int device);

/// The GPU's place on the PCI bus as NVML wants it.
std::string pci_bus_id(int device);

/// Records device, driver, clocks, versions, host, date and program among the facts.
void record_circumstances(Bench& bench);

}  // namespace headway::measure
