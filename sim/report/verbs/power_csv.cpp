#include "sim/report/verbs/power_csv.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <fmt/format.h>
#include <iterator>

namespace headway::report {

namespace {

constexpr double kKilowatt = 1e3;

class PowerLines {
 public:
  explicit PowerLines(const study::PowerReport& power)
      : power_(power), racks_(power.rack.size() == power.gpus.size()) {
    fmt::format_to(out_, "time_s,gpu_kw,it_kw,facility_kw{},state\n", racks_ ? ",rack_kw" : "");
  }

  /// The windows of a step from `begin` on, the first `count` of them.
  void add_step(double begin, std::size_t count, const char* state) {
    for (std::size_t i = 0; i < count; ++i) {
      add(begin + static_cast<double>(i) * power_.window.si(), power_.gpus[i],
          racks_ ? power_.rack[i] : core::Watts(), state);
    }
  }

  /// Boards that wait for so long.
  void add_stall(double begin, double stall) {
    const core::Watts gpus = power_.standing - power_.beside;
    add(begin, gpus, power_.rack_standing, "save");
    if (stall > 2 * power_.window.si()) {
      add(begin + stall - power_.window.si(), gpus, power_.rack_standing, "save");
    }
  }

  [[nodiscard]] std::string take() const { return fmt::to_string(text_); }

 private:
  void add(double time, core::Watts gpus, core::Watts rack, const char* state) {
    const double all = (gpus + power_.beside).si() / kKilowatt;
    fmt::format_to(out_, "{:.9g},{:.9g},{:.9g},{:.9g}", time, gpus.si() / kKilowatt, all,
                   all * power_.pue);
    if (racks_) {
      fmt::format_to(out_, ",{:.9g}", rack.si() / kKilowatt);
    }
    fmt::format_to(out_, ",{}\n", state);
  }

  const study::PowerReport& power_;
  bool racks_;
  fmt::memory_buffer text_;
  std::back_insert_iterator<fmt::memory_buffer> out_ = std::back_inserter(text_);
};

}  // namespace

std::string power_csv(const study::PowerReport& power) {
  PowerLines lines(power);
  const std::size_t windows = power.gpus.size();
  const double step = static_cast<double>(windows) * power.window.si();
  lines.add_step(0, windows, "step");
  if (power.save) {
    const double stall = power.save->stall.si();
    lines.add_stall(step, stall);
    const double beside = std::ceil(power.save->beside / power.window);
    lines.add_step(step + stall,
                   static_cast<std::size_t>(std::min(beside, static_cast<double>(windows))),
                   "save_beside");
  }
  return lines.take();
}

}  // namespace headway::report
