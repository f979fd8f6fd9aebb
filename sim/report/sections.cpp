#include "sim/report/sections.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>

namespace headway::report {

Document shown(SectionedDocument document,
               const std::vector<std::string>& show,
               const std::function<std::string(std::string_view)>& why) {
  Document out{std::move(document.title), std::move(document.opening), {}, {}};
  std::vector<std::string> absent = show;
  const auto pick = [&](auto& parts, auto& to) {
    for (auto& [section, part] : parts) {
      std::erase(absent, section);
      if (show.empty() || section.empty() ||
          std::find(show.begin(), show.end(), section) != show.end()) {
        to.push_back(std::move(part));
      }
    }
  };
  std::vector<std::string> sentences;
  pick(document.tables, out.tables);
  pick(document.charts, out.charts);
  pick(document.closing, sentences);
  for (const std::string& section : absent) {
    out.closing.push_back(fmt::format("No {} here{}.", section, why ? why(section) : ""));
  }
  std::move(sentences.begin(), sentences.end(), std::back_inserter(out.closing));
  return out;
}

}  // namespace headway::report
