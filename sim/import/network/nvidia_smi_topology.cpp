#include "sim/import/network/nvidia_smi_topology.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "sim/core/error.h"
#include "sim/core/text.h"
#include "sim/import/network/nvlink_domain.h"
#include "sim/import/text_mark.h"

namespace headway::import {

namespace {

/// How far apart two devices are; smaller is nearer.
enum Distance : int { kSelf = 0, kPix = 1, kPxb = 2, kPhb = 3, kNode = 4, kSys = 5 };

/// One cell: NVLinks, or a distance over PCIe.
struct Cell {
  int nvlinks = 0;
  int distance = kSys;
};

std::optional<Cell> parse_cell(std::string_view word) {
  constexpr std::pair<std::string_view, int> kDistanceWords[] = {
      {"X", kSelf},    {"PIX", kPix}, {"PXB", kPxb}, {"PHB", kPhb},
      {"NODE", kNode}, {"SYS", kSys}, {"SOC", kSys}};
  for (const auto& [name, distance] : kDistanceWords) {
    if (word == name) {
      return Cell{0, distance};
    }
  }
  Cell cell;
  cell.nvlinks = word.starts_with("NV") ? core::whole_text_as<int>(word.substr(2)).value_or(0) : 0;
  return cell.nvlinks > 0 ? std::optional(cell) : std::nullopt;
}

/// A word and where it stands.
struct ShownWord {
  std::string_view text;
  std::size_t offset = 0;
};

/// The words of a line, without the terminal's underline codes.
std::vector<ShownWord> shown_words(std::string_view line, std::size_t offset) {
  std::vector<ShownWord> words;
  std::size_t at = 0;
  while (at < line.size()) {
    if (line[at] == '\x1b') {
      const std::size_t end = line.find('m', at);
      at = end == std::string_view::npos ? line.size() : end + 1;
      continue;
    }
    if (line[at] == ' ' || line[at] == '\t' || line[at] == '\r') {
      ++at;
      continue;
    }
    const std::size_t end = std::min(line.find_first_of(" \t\r\x1b", at), line.size());
    words.push_back({line.substr(at, end - at), offset + at});
    at = end;
  }
  return words;
}

bool is_gpu(std::string_view name) {
  return name.starts_with("GPU") && name.size() > 3 &&
         name.find_first_not_of("0123456789", 3) == std::string_view::npos;
}

/// Older drivers name cards mlx5_0, newer ones NIC0.
bool is_nic(std::string_view name) { return name.starts_with("NIC") || name.starts_with("mlx"); }

/// The matrix as written: a row for each GPU over all columns.
struct Matrix {
  std::vector<std::string_view> columns;
  std::vector<std::vector<Cell>> gpu_rows;
};

class SmiReader {
 public:
  SmiReader(std::string_view text, const std::string& file_name)
      : text_(text), file_name_(file_name) {}

  Matrix read() {
    std::size_t start = 0;
    while (start < text_.size()) {
      const std::size_t end = std::min(text_.find('\n', start), text_.size());
      const std::vector<ShownWord> words = shown_words(text_.substr(start, end - start), start);
      start = end + 1;
      if (words.empty()) {
        continue;
      }
      if (matrix_.columns.empty()) {
        read_header(words);
      } else if (is_gpu(words.front().text)) {
        read_row(words);
      }
    }
    check_rows();
    faults_.throw_if_any();
    return std::move(matrix_);
  }

 private:
  void read_header(const std::vector<ShownWord>& words) {
    if (!is_gpu(words.front().text)) {
      return;  // a prompt or a banner above the matrix
    }
    for (const ShownWord& word : words) {
      if (is_gpu(word.text) || is_nic(word.text)) {
        matrix_.columns.push_back(word.text);
      }
    }
  }

  void read_row(const std::vector<ShownWord>& words) {
    std::vector<Cell> row;
    for (std::size_t column = 0; column < matrix_.columns.size(); ++column) {
      if (column + 1 >= words.size()) {
        complain(words.front(),
                 fmt::format("the row of {} has {} cells for {} columns", words.front().text,
                             words.size() - 1, matrix_.columns.size()));
        return;
      }
      const ShownWord& word = words[column + 1];
      const auto cell = parse_cell(word.text);
      if (!cell) {
        complain(word,
                 fmt::format("'{}' is no connection; known are X, NV#, PIX, PXB, PHB, NODE and SYS",
                             word.text));
        return;
      }
      row.push_back(*cell);
    }
    matrix_.gpu_rows.push_back(std::move(row));
  }

  void check_rows() {
    const auto gpus =
        static_cast<std::size_t>(std::count_if(matrix_.columns.begin(), matrix_.columns.end(),
                                               [](std::string_view c) { return is_gpu(c); }));
    if (gpus == 0) {
      faults_.add(mark_of_file(file_name_),
                  "no matrix of 'nvidia-smi topo -m' in this file: no line begins with GPU0");
    } else if (faults_.empty() && matrix_.gpu_rows.size() != gpus) {
      faults_.add(mark_of_file(file_name_),
                  fmt::format("the matrix has {} GPU columns and {} GPU rows; is the file cut?",
                              gpus, matrix_.gpu_rows.size()));
    }
  }

  void complain(const ShownWord& word, std::string message) {
    faults_.add(mark_at(text_, file_name_, word.offset, static_cast<int>(word.text.size())),
                std::move(message));
  }

  std::string_view text_;
  const std::string& file_name_;
  Matrix matrix_;
  core::Diagnostics faults_;
};

/// For each GPU the nearest card that is not yet another GPU's, so that equally near cards are
/// shared evenly. Cards behind a PCIe switch of some GPU count as compute cards; if no GPU has any,
/// all cards do.
void describe_cards(const Matrix& matrix, ImportedNode& node) {
  std::vector<std::size_t> cards;
  for (std::size_t c = 0; c < matrix.columns.size(); ++c) {
    if (is_nic(matrix.columns[c])) {
      cards.push_back(c);
    }
  }
  std::set<std::size_t> near;
  std::vector<int> users(matrix.columns.size(), 0);
  std::vector<std::size_t> chosen;
  for (const std::vector<Cell>& row : matrix.gpu_rows) {
    std::pair<int, int> best{std::numeric_limits<int>::max(), 0};
    std::size_t pick = 0;
    for (const std::size_t c : cards) {
      if (row[c].distance <= kPxb) {
        near.insert(c);
      }
      const std::pair<int, int> rank{row[c].distance, users[c]};
      if (rank < best) {
        best = rank;
        pick = c;
      }
    }
    if (!cards.empty()) {
      ++users[pick];
      chosen.push_back(pick);
    }
  }
  const std::vector<std::size_t> counted =
      near.empty() ? cards : std::vector<std::size_t>(near.begin(), near.end());
  node.nic.count = std::max<int>(1, static_cast<int>(counted.size()));
  for (const std::size_t pick : chosen) {
    const auto place = std::find(counted.begin(), counted.end(), pick);
    node.nic_of_gpu.push_back(place == counted.end() ? 0
                                                     : static_cast<int>(place - counted.begin()));
  }
  if (cards.empty()) {
    node.warnings.emplace_back("the matrix shows no network card; one is assumed");
  } else if (counted.size() < cards.size()) {
    node.warnings.push_back(
        fmt::format("{} of {} network cards sit behind no GPU's PCIe switch and do not count",
                    cards.size() - counted.size(), cards.size()));
  }
}

/// Payload of 16 lanes, one direction, about 80 % of the line rate: generation 3 up to Turing, 4
/// for Ampere, Ada and CDNA 2, 5 after them.
core::BytesPerSecond pcie_payload(gpu::Architecture architecture) {
  switch (architecture) {
    case gpu::Architecture::volta:
    case gpu::Architecture::turing:
      return core::BytesPerSecond(12.5e9);
    case gpu::Architecture::ampere:
    case gpu::Architecture::ada:
    case gpu::Architecture::cdna2:
      return core::BytesPerSecond(25e9);
    case gpu::Architecture::hopper:
    case gpu::Architecture::blackwell:
    case gpu::Architecture::cdna3:
    case gpu::Architecture::cdna4:
      return core::BytesPerSecond(50e9);
  }
  return core::BytesPerSecond(25e9);
}

}  // namespace

ImportedNode read_nvidia_smi_topology(std::string_view text,
                                      const std::string& file_name,
                                      gpu::Architecture architecture,
                                      core::BytesPerSecond nic) {
  const Matrix matrix = SmiReader(text, file_name).read();
  ImportedNode node;
  node.gpus = static_cast<int>(matrix.gpu_rows.size());
  LinkMatrix links;
  for (const std::vector<Cell>& row : matrix.gpu_rows) {
    std::vector<int> counts;
    for (std::size_t c = 0; c < row.size(); ++c) {
      if (is_gpu(matrix.columns[c])) {
        counts.push_back(row[c].nvlinks);
      }
    }
    links.peer.push_back(std::move(counts));
  }
  const core::BytesPerSecond pcie = pcie_payload(architecture);
  describe_scale_up(links, architecture, link_rate(architecture), pcie, node);
  describe_cards(matrix, node);
  node.nic.bandwidth = nic;
  return node;
}

}  // namespace headway::import
