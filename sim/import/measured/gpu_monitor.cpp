#include "sim/import/measured/gpu_monitor.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <utility>

#include "sim/core/error.h"
#include "sim/import/text_mark.h"

namespace headway::import {

namespace {

/// Of a pair such as `power` and `mean_power` the second counts where the first is not there.
enum class MonitorColumn {
  other,
  node,
  gpu,
  model,
  power,
  mean_power,
  clock,
  graphics_clock,
  temperature
};

MonitorColumn column_of(std::string_view name) {
  static const std::map<std::string_view, MonitorColumn> kNames{
      {"gpu", MonitorColumn::gpu},
      {"Entity", MonitorColumn::gpu},
      {"index", MonitorColumn::gpu},
      {"uuid", MonitorColumn::gpu},
      {"name", MonitorColumn::model},
      {"gpu_name", MonitorColumn::model},
      {"modelName", MonitorColumn::model},
      {"hostname", MonitorColumn::node},
      {"Hostname", MonitorColumn::node},
      {"host", MonitorColumn::node},
      {"node", MonitorColumn::node},
      {"pwr", MonitorColumn::power},
      {"POWER", MonitorColumn::power},
      {"power.draw [W]", MonitorColumn::power},
      {"power.draw.instant [W]", MonitorColumn::power},
      {"power.draw.average [W]", MonitorColumn::mean_power},
      {"DCGM_FI_DEV_POWER_USAGE", MonitorColumn::power},
      {"pclk", MonitorColumn::clock},
      {"SMCLK", MonitorColumn::clock},
      {"clocks.sm [MHz]", MonitorColumn::clock},
      {"clocks.current.sm [MHz]", MonitorColumn::clock},
      {"clocks.gr [MHz]", MonitorColumn::graphics_clock},
      {"clocks.current.graphics [MHz]", MonitorColumn::graphics_clock},
      {"DCGM_FI_DEV_SM_CLOCK", MonitorColumn::clock},
      {"gtemp", MonitorColumn::temperature},
      {"TMPTR", MonitorColumn::temperature},
      {"temperature.gpu", MonitorColumn::temperature},
      {"DCGM_FI_DEV_GPU_TEMP", MonitorColumn::temperature}};
  const auto found = kNames.find(name);
  return found == kNames.end() ? MonitorColumn::other : found->second;
}

std::string_view trimmed_cell(std::string_view cell) {
  const auto begin = cell.find_first_not_of(" \t\r\"");
  return begin == std::string_view::npos
             ? std::string_view{}
             : cell.substr(begin, cell.find_last_not_of(" \t\r\"") - begin + 1);
}

/// Cells by commas where there are any, else by blanks; "GPU 0" of dcgmi is one cell.
std::vector<std::string> cells_of(std::string_view line) {
  std::vector<std::string> cells;
  const bool commas = line.find(',') != std::string_view::npos;
  const std::string_view separators = commas ? "," : " \t\r";
  for (std::size_t at = 0; at <= line.size();) {
    const std::size_t end = std::min(line.find_first_of(separators, at), line.size());
    const auto cell = trimmed_cell(line.substr(at, end - at));
    if (commas || !cell.empty()) {
      if (!commas && cells.size() == 1 && cells[0] == "GPU") {
        cells[0] += " " + std::string(cell);
      } else {
        cells.emplace_back(cell);
      }
    }
    at = end + 1;
  }
  return cells;
}

/// A column stands for another where that is not there, else for nothing.
void settle(MonitorColumn spare, MonitorColumn wanted, std::vector<MonitorColumn>& columns) {
  const bool there = std::find(columns.begin(), columns.end(), wanted) != columns.end();
  std::replace(columns.begin(), columns.end(), spare, there ? MonitorColumn::other : wanted);
}

/// The columns of a heading; empty if the line is none: it names a GPU and a power or a clock.
std::vector<MonitorColumn> heading_of(std::string_view line) {
  const auto begin = line.find_first_not_of("# \t");
  std::vector<MonitorColumn> columns;
  if (begin == std::string_view::npos) {
    return {};
  }
  for (const auto& cell : cells_of(line.substr(begin))) {
    columns.push_back(column_of(cell));
  }
  settle(MonitorColumn::mean_power, MonitorColumn::power, columns);
  settle(MonitorColumn::graphics_clock, MonitorColumn::clock, columns);
  const auto has = [&](MonitorColumn column) {
    return std::find(columns.begin(), columns.end(), column) != columns.end();
  };
  const bool figure = has(MonitorColumn::power) || has(MonitorColumn::clock);
  return has(MonitorColumn::gpu) && figure ? columns : std::vector<MonitorColumn>{};
}

/// "412.5", "412.5 W", "1980 MHz"; nothing for "-" and "N/A" and "[N/A]".
std::optional<std::optional<double>> figure_of(const std::string& cell) {
  if (cell.empty() || cell == "-" || cell.find("N/A") != std::string::npos) {
    return std::optional<double>();
  }
  double value = 0;
  const auto result = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  const std::string_view rest(result.ptr,
                              static_cast<std::size_t>(cell.data() + cell.size() - result.ptr));
  if (result.ec != std::errc{} || !std::isfinite(value) || value < 0 ||
      (!rest.empty() && rest.front() != ' ')) {
    return std::nullopt;
  }
  return std::optional(value);
}

struct MonitorSample {
  double power = 0, clock = 0, temperature = 0;
  std::string model;
  int line = 0;
};

class MonitorReader {
 public:
  MonitorReader(std::string_view text,
                const std::string& file_name,
                std::vector<std::string>* remarks)
      : text_(text), file_name_(file_name), remarks_(remarks) {}

  std::vector<WatchedGpu> read() {
    for (std::size_t at = 0; at < text_.size();) {
      const std::size_t end = std::min(text_.find('\n', at), text_.size());
      ++line_;
      last_ = text_.find_first_not_of(" \t\r\n", end) == std::string_view::npos;
      ended_ = end < text_.size();
      read_line(text_.substr(at, end - at), at);
      at = end + 1;
    }
    if (columns_.empty()) {
      faults_.add(mark_of_file(file_name_),
                  "no heading with a GPU and its power or clock, as '# gpu pwr gtemp ... pclk' of "
                  "nvidia-smi dmon or 'index, power.draw [W], clocks.sm [MHz]'");
    } else if (samples_.empty() && faults_.empty()) {
      faults_.add(mark_of_file(file_name_), "no sample of a GPU");
    }
    faults_.throw_if_any();
    std::vector<WatchedGpu> gpus;
    for (const auto& [name, samples] : samples_) {
      gpus.push_back(watched(name, samples));
    }
    return gpus;
  }

 private:
  void read_line(std::string_view line, std::size_t offset) {
    if (auto heading = heading_of(line); !heading.empty()) {
      columns_ = std::move(heading);
      return;
    }
    if (columns_.empty() || line.find_first_not_of(" \t\r") == std::string_view::npos ||
        line.front() == '#') {
      return;
    }
    const auto cells = cells_of(line);
    // The line of units of dcgmi dmon: "ID  W  MHz", or "Id" alone (dcgmi of DCGM 3 and 4).
    if (!cells.empty() && (cells.front() == "ID" || cells.front() == "Id")) {
      return;
    }
    if (last_ && cells.size() < columns_.size()) {
      leave_out_last();
      return;
    }
    if (cells.size() != columns_.size()) {
      faults_.add(
          mark_at(text_, file_name_, offset),
          fmt::format("the line has {} cells, the heading {}", cells.size(), columns_.size()));
      return;
    }
    add_sample(cells, offset);
  }

  void add_sample(const std::vector<std::string>& cells, std::size_t offset) {
    std::pair<std::string, std::string> name;
    MonitorSample sample;
    sample.line = line_;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (columns_[i] == MonitorColumn::node) {
        name.first = cells[i];
      } else if (columns_[i] == MonitorColumn::gpu) {
        name.second += (name.second.empty() ? "" : " ") + cells[i];
      } else if (columns_[i] == MonitorColumn::model) {
        sample.model = cells[i];
      } else if (columns_[i] != MonitorColumn::other) {
        const auto figure = figure_of(cells[i]);
        if (!figure) {
          faults_.add(mark_at(text_, file_name_, offset),
                      fmt::format("'{}' is no figure of a GPU", cells[i]));
          return;
        }
        (columns_[i] == MonitorColumn::power   ? sample.power
         : columns_[i] == MonitorColumn::clock ? sample.clock
                                               : sample.temperature) = figure->value_or(0);
      }
    }
    // Without the end of its line the last figure may lack digits; a GPU's only sample is kept.
    if (last_ && !ended_ && samples_.contains(name)) {
      leave_out_last();
      return;
    }
    samples_[name].push_back(sample);
  }

  void leave_out_last() {
    if (remarks_ != nullptr) {
      remarks_->push_back(
          fmt::format("{}:{}: the last line is cut off; it is left out", file_name_, line_));
    }
  }

  static WatchedGpu watched(const std::pair<std::string, std::string>& name,
                            const std::vector<MonitorSample>& samples) {
    double most = 0;
    for (const MonitorSample& sample : samples) {
      most = std::max(most, sample.power);
    }
    WatchedGpu gpu{name.first, name.second};
    gpu.model = samples.front().model;
    gpu.model_line = samples.front().line;
    for (const MonitorSample& sample : samples) {
      if (sample.power >= most / 2) {
        gpu.power_w += sample.power;
        gpu.sm_clock_mhz += sample.clock;
        gpu.temperature_c += sample.temperature;
        ++gpu.samples;
      }
    }
    gpu.power_w /= gpu.samples;
    gpu.sm_clock_mhz /= gpu.samples;
    gpu.temperature_c /= gpu.samples;
    return gpu;
  }

  std::string_view text_;
  const std::string& file_name_;
  std::vector<std::string>* remarks_;
  int line_ = 0;
  bool last_ = false, ended_ = true;
  std::vector<MonitorColumn> columns_;
  std::map<std::pair<std::string, std::string>, std::vector<MonitorSample>> samples_;
  core::Diagnostics faults_;
};

}  // namespace

std::vector<WatchedGpu> read_gpu_monitor(std::string_view text,
                                         const std::string& file_name,
                                         std::vector<std::string>* remarks) {
  return MonitorReader(text, file_name, remarks).read();
}

bool is_gpu_monitor(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    if (!heading_of(text.substr(at, end - at)).empty()) {
      return true;
    }
    at = end + 1;
  }
  return false;
}

}  // namespace headway::import
