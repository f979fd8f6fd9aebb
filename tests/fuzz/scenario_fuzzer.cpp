// libFuzzer target: any bytes as a scenario must be read or refused with core::Error.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "sim/config/load.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  try {
    headway::config::load_scenario_text({reinterpret_cast<const char*>(bytes), size}, "fuzz.yaml");
  } catch (const headway::core::Error&) {
    return 0;  // refused in words, as it should be
  }
  return 0;
}
