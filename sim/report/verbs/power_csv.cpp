#include "sim/report/verbs/power_csv.h"

#include <fmt/format.h>
#include <iterator>

namespace headway::report {

std::string power_csv(const study::PowerReport& power) {
  constexpr double kKilo = 1e3;
  fmt::memory_buffer text;
  auto out = std::back_inserter(text);
  const bool racks = power.rack.size() == power.gpus.size();
  fmt::format_to(out, "time_s,gpu_kw,it_kw,facility_kw{}\n", racks ? ",rack_kw" : "");
  for (std::size_t i = 0; i < power.gpus.size(); ++i) {
    const double gpus = power.gpus[i].si() / kKilo;
    const double all = gpus + power.beside.si() / kKilo;
    fmt::format_to(out, "{:.9g},{:.9g},{:.9g},{:.9g}", static_cast<double>(i) * power.window.si(),
                   gpus, all, all * power.pue);
    if (racks) {
      fmt::format_to(out, ",{:.9g}", power.rack[i].si() / kKilo);
    }
    fmt::format_to(out, "\n");
  }
  return fmt::to_string(text);
}

}  // namespace headway::report
