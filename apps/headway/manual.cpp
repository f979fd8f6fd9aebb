#include "apps/headway/manual.h"

#include <fmt/format.h>

namespace headway::apps {

namespace {

/// "-b, --begin SIZE" as bold names and what stands behind them.
std::string names_of(const CLI::Option& option) {
  std::string names;
  const auto add = [&names](const std::string& name) {
    names += fmt::format("{}\\fB{}\\fR", names.empty() ? "" : ", ", roff(name));
  };
  for (const auto& name : option.get_snames()) {
    add("-" + name);
  }
  for (const auto& name : option.get_lnames()) {
    add("--" + name);
  }
  const std::string text = names.empty() ? option.get_name(true) : option.get_option_text();
  return names + (names.empty() || text.empty() ? "" : " ") + roff(text);
}

}  // namespace

std::string roff(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool begins = i == 0 || text[i - 1] == '\n';
    out += begins && (text[i] == '.' || text[i] == '\'') ? "\\&" : "";
    out += text[i] == '\\' ? "\\e" : text[i] == '-' ? "\\-" : std::string(1, text[i]);
  }
  return out;
}

std::string manual_of(const CLI::App& app) {
  std::string out = roff(app.get_description()) + "\n";
  for (const bool positional : {true, false}) {
    for (const auto* option : app.get_options()) {
      if (option->get_positional() == positional && option != app.get_help_ptr()) {
        out += fmt::format(".TP\n{}\n{}\n", names_of(*option), roff(option->get_description()));
      }
    }
  }
  return out + fmt::format(".PP\n.nf\n{}\n.fi\n", roff(app.get_footer()));
}

}  // namespace headway::apps
