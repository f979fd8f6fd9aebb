// headway explain: what a key of a scenario, or a figure of a result, means.
#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/config/suggestions/suggest.h"
#include "sim/config/unit_text.h"
#include "sim/config/writer.h"
#include "sim/core/error.h"
#include "sim/core/shown_text.h"
#include "sim/core/text.h"
#include "sim/report/definitions.h"
#include "sim/report/wrap.h"

#include "apps/headway/measured/run_columns.h"
#include "apps/headway/options.h"
#include "apps/headway/output.h"
#include "apps/headway/verb.h"

namespace headway::apps {

namespace {

using config::Shape;
using config::SpecType;

/// "a list of bandwidths, as '400 Gbps'": what may be written.
std::string kind_of(const SpecType& type) {
  switch (type.shape) {
    case Shape::number:
      return "a number, also as 15T, 1.5B or 8Ki";
    case Shape::integer:
      return "a whole number, also as 8Ki";
    case Shape::flag:
      return "true or false";
    case Shape::text:
      return "text";
    case Shape::quantity:
      return fmt::format("{}, in {}", config::dimension_name(type.dimension),
                         fmt::join(config::unit_examples(type.dimension), ", "));
    case Shape::word:
      return fmt::format("one of {}", fmt::join(type.words, ", "));
    case Shape::optional:
      return kind_of(*type.element) + "; may be left out";
    case Shape::or_auto:
      return kind_of(*type.element) + ", or auto";
    case Shape::list:
      return "a list; each: " + kind_of(*type.element);
    case Shape::record:
      return type.catalogue.empty()
                 ? "a mapping"
                 : fmt::format("a mapping, or {{use: NAME}} of 'headway catalog list {}'",
                               type.catalogue);
  }
  return "";
}

/// What there is beyond a list, an optional or an auto.
const SpecType& innermost(const SpecType& type) {
  return type.element == nullptr ? type : innermost(*type.element);
}

/// What is taken where the key is left out; empty where that cannot be said in a word.
std::string default_of(const config::KeyPath& key) {
  if (key.field->required) {
    return "none: it must be written";
  }
  if (key.field->type->shape == Shape::optional) {
    return "";
  }
  for (const config::KeyPath& parent : config::scenario_keys()) {
    const SpecType& type = innermost(*parent.field->type);
    const std::size_t dot = key.path.rfind('.');
    const std::string above = dot == std::string::npos ? "" : key.path.substr(0, dot);
    const bool is_parent = above == parent.path || above == parent.path + "[]";
    if (is_parent && type.defaults != nullptr) {
      const auto tree = config::to_tree(*key.field->type, key.field->in(type.defaults), {});
      return tree.is_scalar() ? tree.text : "";
    }
  }
  return "";
}

/// Who reads a part of a scenario.
struct Reader {
  std::string_view part;
  const char* who;
};

/// The first whose part the key is in counts.
constexpr std::array<Reader, 15> kReaders{{
    {"cluster.storage", "saves, loads and input of the run (campaign); `headway drill`"},
    {"cluster.spares", "the run of weeks (campaign) and its cost; power of the cluster"},
    {"cluster.occupancy", "the step beside other jobs; `headway plan --placement`"},
    {"run.failures", "the run of weeks (campaign), and what is asked of it; `headway drill`"},
    {"run.prices", "cost of the run; `headway plan` by dollars, energy or a budget"},
    {"run", "the run of weeks (campaign), and what is asked of it: days, ETTR, cost; not the step"},
    {"search", "`headway plan`; other verbs pass over it"},
    {"sweep", "`headway sweep`; other verbs pass over it"},
    {"claim", "`headway run`: its warnings and whether the claim is possible"},
    {"assert", "`headway run`, after all is predicted: exit code 4"},
    {"calibration", "the step, in place of the catalogue; with it all that is built on it"},
    {"parallelism", "the step; with it all that is built on it. `headway plan` varies it"},
    {"headway", "the reader of files"},
    {"name", "reports"},
    {"", "the step; with it all that is built on it: memory, run, cost, plans"},
}};

std::string reader_of(std::string_view key) {
  const auto* const found =
      std::find_if(kReaders.begin(), kReaders.end(), [&](const Reader& reader) {
        return key.starts_with(reader.part) &&
               (reader.part.empty() || key.size() == reader.part.size() ||
                key[reader.part.size()] == '.' || key[reader.part.size()] == '[');
      });
  return found->who;
}

/// What a part is described by in place of its fields: keys that no field list has.
std::string explain_base(const std::string& text) {
  const std::size_t dot = text.rfind('.');
  const std::string key = text.substr(dot + 1);  // npos + 1: all of it
  std::string out;
  for (const auto& part : config::scenario_keys()) {
    const SpecType& type = innermost(*part.field->type);
    const bool has_key = (key == "use" && !type.catalogue.empty()) ||
                         (key == "huggingface" && type.catalogue == "models");
    if (!has_key || (dot != std::string::npos && part.path != text.substr(0, dot))) {
      continue;
    }
    out += fmt::format("{}.{}\n  {}\n  What to write: {}.\n", part.path, key,
                       key == "use" ? "What the part is, less what is written beside it."
                                    : "The model, read from a configuration of Hugging Face.",
                       key == "use" ? fmt::format("a name of 'headway catalog list {}', or a file "
                                                  "of your own",
                                                  type.catalogue)
                                    : "a config.json");
    out += fmt::format("  As an option: --set '{}.{}=...'\n", part.path, key);
  }
  return out;
}

/// Up to the first full stop, or a semicolon, outside brackets and quotes.
std::string_view first_sentence(std::string_view text) {
  int open = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    open += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
    quoted = quoted != (text[i] == '"');
    const bool ends = text[i] == '.' || text[i] == ';';
    if (ends && open == 0 && !quoted && (i + 1 == text.size() || text[i + 1] == ' ')) {
      return text.substr(0, i);
    }
  }
  return text;
}

/// What each key of a mapping means, in a line; empty for a value.
std::string keys_below(const config::KeyPath& parent) {
  if (innermost(*parent.field->type).shape != Shape::record) {
    return "";
  }
  const SpecType& type = *parent.field->type;
  const SpecType& value = type.shape == Shape::optional ? *type.element : type;
  const std::string above = parent.path + (value.shape == Shape::list ? "[]." : ".");
  std::string out;
  for (const auto& key : config::scenario_keys()) {
    const bool below =
        key.path.starts_with(above) && key.path.find('.', above.size()) == std::string::npos;
    if (below) {
      out += fmt::format("    {}{}: {}\n", key.path.substr(above.size()),
                         key.field->required ? " (must be written)" : "",
                         first_sentence(key.field->description));
    }
  }
  return out.empty() ? "" : "  Its keys, each explained by its path:\n" + out;
}

/// Figures of results that are called so, as screens print them ("ETTR") or as a path that ends in
/// a part of a distribution ("campaign.wall_days.p50").
std::string explain_figures(const std::string& text) {
  std::string name = core::lower_case(text);
  for (const std::string_view part : {".p5", ".p50", ".p95", ".mean"}) {
    if (name.ends_with(part)) {
      name.erase(name.size() - part.size());
    }
  }
  std::string out;
  for (const auto& section : report::definitions()) {
    for (const auto& d : section.definitions) {
      if (d.figure == name || d.figure.ends_with("." + name)) {
        out += fmt::format("{}{}\n  A figure of {}: {}.\n", d.figure,
                           d.unit.empty() ? "" : fmt::format(" [{}]", d.unit), section.title,
                           d.meaning);
      }
    }
  }
  return out;
}

std::string answer(const std::string& text) {
  const bool word = text.find_first_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ") != std::string::npos;
  std::string out = (word ? explain_figures(text) : "") + explain_base(text);
  for (const auto& key : config::find_keys(text)) {
    const auto& field = *key.field;
    out += fmt::format("{}\n  {}\n  What to write: {}.\n", key.path, field.description,
                       kind_of(*field.type));
    if (const std::string range = field.range.words; !range.empty()) {
      out += fmt::format("  It must be {}.\n", range);
    }
    if (const std::string value = default_of(key); !value.empty()) {
      out += fmt::format("  Default: {}\n", value);
    }
    out += keys_below(key);
    out += fmt::format("  Used by: {}.\n", reader_of(key.path));
    out += fmt::format("  Part of: {}. As an option: --set '{}=...'\n", key.record, key.path);
  }
  return out + (word ? "" : explain_figures(text));
}

/// Keys that may be given this word, as `zero1`; empty if none may.
std::string keys_with_word(const std::string& text) {
  std::vector<std::string> keys;
  for (const auto& key : config::scenario_keys()) {
    const SpecType& type = innermost(*key.field->type);
    if (std::find(type.words.begin(), type.words.end(), text) != type.words.end()) {
      keys.push_back(key.path);
    }
  }
  // Most mean one that is not deep.
  const auto place = [](const std::string& key) {
    return std::pair(std::count(key.begin(), key.end(), '.'), key);
  };
  std::sort(keys.begin(), keys.end(),
            [&](const std::string& a, const std::string& b) { return place(a) < place(b); });
  return keys.empty() ? "" : fmt::format("; it is a value of {}", fmt::join(keys, ", "));
}

std::string suggestion(const std::string& text) {
  if (const std::string keys = keys_with_word(text); !keys.empty()) {
    return keys;
  }
  std::vector<std::string> names;
  for (const auto& key : config::scenario_keys()) {
    names.push_back(key.path);
    names.emplace_back(key.field->name);
  }
  for (const auto& section : report::definitions()) {
    for (const auto& d : section.definitions) {
      names.push_back(d.figure);
    }
  }
  const auto near = config::is_other_name(text) ? std::nullopt : core::did_you_mean(text, names);
  const std::string meant =
      near ? fmt::format("; did you mean '{}'?", *near)
           : config::key_suggestion(text, *config::find_kind("scenarios")->type);
  return meant.empty() ? "; 'headway schema' prints all keys of a scenario" : meant;
}

}  // namespace

int run_explain(int argc, char** argv) {
  CLI::App app(
      "Tells what a key of a scenario means, what may be written and what its default is; or what "
      "a figure of a result means.");
  CommonOptions options;
  std::string key;
  describe(app, "explain",
           "  headway explain run.checkpoint.interval\n"
           "  headway explain mtbf\n"
           "  headway explain step.mfu");
  app.add_option("KEY", key, "A dotted path, the end of one, or a name alone")
      ->required()
      ->option_text(" ");
  if (const auto code = parse(app, argc, argv)) {
    return *code;
  }
  std::string text = answer(key);
  const std::string column = explain_run_column(key);
  if (text.empty()) {
    const std::string none = fmt::format("there is no key or figure '{}'{}", core::shortened(key),
                                         suggestion(core::shortened(key)));
    if (column.empty()) {
      throw core::Error(none);
    }
    text = fmt::format("Of scenarios and results {}\n", none);
  }
  text += column;
  const auto page = page_of(options);
  std::string shown;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::string indent(line.find_first_not_of(' '), ' ');
    shown += report::paragraph(line.substr(indent.size()), page.width, indent);
  }
  deliver(options, shown);
  return 0;
}

}  // namespace headway::apps
