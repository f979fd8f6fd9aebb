// libFuzzer target: any bytes as a launch file of any framework must be read or refused with
// core::Error. The first byte chooses the framework.
#include <cstddef>
#include <cstdint>
#include <string>

#include "sim/config/launch/launch_scenario.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  if (size == 0) {
    return 0;
  }
  const auto tables = headway::import::launch_tables();
  const auto& table = *tables[bytes[0] % tables.size()];
  const std::string text(reinterpret_cast<const char*>(bytes) + 1, size - 1);
  try {
    const auto settings = headway::config::read_launch_settings(table.syntax, text, "fuzz");
    headway::import::LaunchRun start;
    start.gpus = 64;
    headway::import::read_launch(table, settings, start);
  } catch (const headway::core::Error&) {
    return 0;  // refused in words, as it should be
  }
  return 0;
}
